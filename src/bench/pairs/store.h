/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_STORE_H
#define KWHY_BENCH_PAIRS_STORE_H

#include "base/text.h"
#include "bench/pairs/plan.h"

/*
 * Writes samples to a folder as they are taken (docs/formats/pairs.md). samples.csv has all samples.
 * execution_log.csv has their times for other tools, and temperatures.csv the readings of the gauges; both
 * names are those that such tools expect. energies.csv and pinning.csv are made when their first row is
 * written, clocks.csv is made at the end of a run. kwhy reads all of these files except execution_log.csv.
 */
#define KWHY_PAIR_ROWS_MARK "# kwhy.pairs.samples/1"

struct kwhy_pair_store;

/*
 * Opens the folder; makes it and its parents where they do not exist. With `resume`, reads the samples and
 * results in it into `pairs`. KWHY_E_USAGE: the folder has samples and `resume` is false, or it has none or
 * some with other settings and `resume` is true.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_open(const char *folder, bool resume, struct kwhy_pairs *pairs,
	struct kwhy_pair_store **out, struct kwhy_error *error);
/*
 * Appends samples of pairs->configs[config] from index `from` on to samples.csv and execution_log.csv, and
 * flushes both files.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_add(struct kwhy_pair_store *store,
	const struct kwhy_pairs *pairs, size_t config, size_t from, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_add_reading(
	struct kwhy_pair_store *store, const struct kwhy_pair_reading *reading, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_add_energy(
	struct kwhy_pair_store *store, const struct kwhy_pair_energy *energy, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_add_pinning(
	struct kwhy_pair_store *store, const struct kwhy_pair_pinning *pinning, struct kwhy_error *error);
/* Writes clocks.csv anew: the drifts of the clocks in pairs->drifts and pairs->ranks. */
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_clocks(
	struct kwhy_pair_store *store, const struct kwhy_pairs *pairs, struct kwhy_error *error);
void kwhy_pair_store_close(struct kwhy_pair_store *store);

/*
 * Reads all results in the folder that kwhy_kept_folder_find() finds. KWHY_E_INPUT: its files are no results
 * of `kwhy bench pairs`. End with kwhy_pairs_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_pair_store_read(
	const char *folder, struct kwhy_pairs **out, struct kwhy_error *error);

/* Whether the folder holds samples of pairs. */
bool kwhy_pair_store_is_one(const char *folder);

/*
 * Reads the rows of samples.csv into pairs->configs. If `add`, also takes over the settings, GPUs and routes
 * in the file, and makes configurations as rows need them. Otherwise a row of a configuration that `pairs`
 * does not have is KWHY_E_INPUT. Pure.
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

/*
 * Writes the first line of samples.csv (KWHY_PAIR_ROWS_MARK) and, as lines "# key: value", the settings that
 * all samples of a folder must share.
 */
void kwhy_pair_settings_write(const struct kwhy_pairs *pairs, struct kwhy_text *out);

/* Writes the known routes as lines "# route: ...", and why other routes are unknown. */
void kwhy_pair_routes_write(const struct kwhy_pairs *pairs, struct kwhy_text *out);

extern const char kwhy_pair_row_names[], kwhy_pair_energy_row_names[], kwhy_pair_reading_row_names[],
	kwhy_pair_pinning_row_names[], kwhy_pair_clock_row_names[];

#endif
