/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_STORE_H
#define KWHY_BENCH_PAIRS_STORE_H

#include "base/text.h"
#include "bench/pairs/plan.h"

/*
 * Samples in a folder as they come (docs/formats/pairs.md): samples.csv with everything, execution_log.csv
 * and temperatures.csv as the tools of others name them, energies.csv and pinning.csv once there are some,
 * clocks.csv at the end. All but the log are read again.
 */
#define KWHY_PAIR_ROWS_MARK "# kwhy.pairs.samples/1"

struct kwhy_pair_store;

/*
 * Makes the folder and those above it if need be. KWHY_E_USAGE where it holds samples already and `resume` is
 * not asked, or was begun with other settings.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_open(const char *folder, bool resume, struct kwhy_pairs *pairs,
	struct kwhy_pair_store **out, struct kwhy_error *error);
/* The samples of a configuration from the one of this number on; they are written when it returns. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_add(struct kwhy_pair_store *store,
	const struct kwhy_pairs *pairs, size_t config, size_t from, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_add_reading(
	struct kwhy_pair_store *store, const struct kwhy_pair_reading *reading, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_add_energy(
	struct kwhy_pair_store *store, const struct kwhy_pair_energy *energy, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_add_pinning(
	struct kwhy_pair_store *store, const struct kwhy_pair_pinning *pinning, struct kwhy_error *error);
/* How clocks ran over the run; again in place of what was there. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_clocks(
	struct kwhy_pair_store *store, const struct kwhy_pairs *pairs, struct kwhy_error *error);
void kwhy_pair_store_close(struct kwhy_pair_store *store);

/* What a folder holds. KWHY_E_INPUT for anything else. End with kwhy_pairs_free(). */
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_read(
	const char *folder, struct kwhy_pairs **out, struct kwhy_error *error);

/* Whether the folder holds samples of pairs. */
bool kwhy_pair_store_is_one(const char *folder);

/* A row of samples.csv into the configurations; pure. `add`: configurations are made as they come. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_rows_read(const char *path, const struct kwhy_text *file, bool add,
	struct kwhy_pairs *pairs, struct kwhy_error *error);
void kwhy_pair_row_write(const struct kwhy_pairs *pairs, size_t id, size_t sample, struct kwhy_text *out);

/* Rows of energies.csv into the energies; pure. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_energy_rows_read(
	const char *path, const struct kwhy_text *file, struct kwhy_pairs *pairs, struct kwhy_error *error);
void kwhy_pair_energy_row_write(const struct kwhy_pair_energy *energy, struct kwhy_text *out);

/* Rows of temperatures.csv into the readings; pure. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_reading_rows_read(
	const char *path, const struct kwhy_text *file, struct kwhy_pairs *pairs, struct kwhy_error *error);
void kwhy_pair_reading_row_write(const struct kwhy_pair_reading *reading, struct kwhy_text *out);

/* Rows of pinning.csv; pure. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_pinning_rows_read(
	const char *path, const struct kwhy_text *file, struct kwhy_pairs *pairs, struct kwhy_error *error);
void kwhy_pair_pinning_row_write(const struct kwhy_pair_pinning *row, struct kwhy_text *out);

/* Rows of clocks.csv; pure. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_clock_rows_read(
	const char *path, const struct kwhy_text *file, struct kwhy_pairs *pairs, struct kwhy_error *error);
void kwhy_pair_clock_row_write(const struct kwhy_pairs *pairs, uint32_t gpu, struct kwhy_text *out);

/* "# key: value" lines that samples must share to belong together. */
void kwhy_pair_settings_write(const struct kwhy_pairs *pairs, struct kwhy_text *out);

/* "# route: ..." lines of those that are known, and why the others are not. */
void kwhy_pair_routes_write(const struct kwhy_pairs *pairs, struct kwhy_text *out);

extern const char kwhy_pair_row_names[], kwhy_pair_energy_row_names[], kwhy_pair_reading_row_names[],
	kwhy_pair_pinning_row_names[], kwhy_pair_clock_row_names[];

#endif
