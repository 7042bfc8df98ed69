/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_STORE_H
#define KWHY_BENCH_PAIRS_STORE_H

#include "base/text.h"
#include "bench/pairs/plan.h"

/*
 * Writes samples to a folder as they are taken (docs/formats/pairs.md). samples.csv has all samples. The
 * names execution_log.csv and temperatures.csv are those that other tools expect. energies.csv and
 * pinning.csv are made when their first row is written, clocks.csv is made at the end of a run. kwhy reads
 * all of these files except execution_log.csv.
 */
#define KWHY_PAIR_ROWS_MARK "# kwhy.pairs.samples/1"

struct kwhy_pair_store;

/*
 * Opens the folder; makes it and its parents where they do not exist. KWHY_E_USAGE: the folder has samples
 * and `resume` is false, or the samples were taken with other settings.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_open(const char *folder, bool resume, struct kwhy_pairs *pairs,
	struct kwhy_pair_store **out, struct kwhy_error *error);
/* Appends a configuration's samples from number `from` on. When it returns, they are in the file. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_add(struct kwhy_pair_store *store,
	const struct kwhy_pairs *pairs, size_t config, size_t from, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_add_reading(
	struct kwhy_pair_store *store, const struct kwhy_pair_reading *reading, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_add_energy(
	struct kwhy_pair_store *store, const struct kwhy_pair_energy *energy, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_add_pinning(
	struct kwhy_pair_store *store, const struct kwhy_pair_pinning *pinning, struct kwhy_error *error);
/* Writes clocks.csv anew: how the clocks drifted during the run. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_clocks(
	struct kwhy_pair_store *store, const struct kwhy_pairs *pairs, struct kwhy_error *error);
void kwhy_pair_store_close(struct kwhy_pair_store *store);

/*
 * Reads a folder. KWHY_E_INPUT: it holds something other than samples of pairs. End with kwhy_pairs_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_read(
	const char *folder, struct kwhy_pairs **out, struct kwhy_error *error);

/* Whether the folder holds samples of pairs. */
bool kwhy_pair_store_is_one(const char *folder);

/*
 * Reads the rows of samples.csv into pairs->configs. If `add`, makes configurations that do not exist yet.
 * Pure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_rows_read(const char *path, const struct kwhy_text *file, bool add,
	struct kwhy_pairs *pairs, struct kwhy_error *error);
void kwhy_pair_row_write(const struct kwhy_pairs *pairs, size_t id, size_t sample, struct kwhy_text *out);

/* Reads and writes rows of energies.csv. Pure. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_energy_rows_read(
	const char *path, const struct kwhy_text *file, struct kwhy_pairs *pairs, struct kwhy_error *error);
void kwhy_pair_energy_row_write(const struct kwhy_pair_energy *energy, struct kwhy_text *out);

/* Reads and writes rows of temperatures.csv. Pure. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_reading_rows_read(
	const char *path, const struct kwhy_text *file, struct kwhy_pairs *pairs, struct kwhy_error *error);
void kwhy_pair_reading_row_write(const struct kwhy_pair_reading *reading, struct kwhy_text *out);

/* Reads and writes rows of pinning.csv. Pure. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_pinning_rows_read(
	const char *path, const struct kwhy_text *file, struct kwhy_pairs *pairs, struct kwhy_error *error);
void kwhy_pair_pinning_row_write(const struct kwhy_pair_pinning *row, struct kwhy_text *out);

/* Reads and writes rows of clocks.csv. Pure. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_clock_rows_read(
	const char *path, const struct kwhy_text *file, struct kwhy_pairs *pairs, struct kwhy_error *error);
void kwhy_pair_clock_row_write(const struct kwhy_pairs *pairs, uint32_t gpu, struct kwhy_text *out);

/* Writes the settings that all samples of a folder must share, as lines "# key: value". */
void kwhy_pair_settings_write(const struct kwhy_pairs *pairs, struct kwhy_text *out);

/* Writes the known routes as lines "# route: ...", and why other routes are unknown. */
void kwhy_pair_routes_write(const struct kwhy_pairs *pairs, struct kwhy_text *out);

extern const char kwhy_pair_row_names[], kwhy_pair_energy_row_names[], kwhy_pair_reading_row_names[],
	kwhy_pair_pinning_row_names[], kwhy_pair_clock_row_names[];

#endif
