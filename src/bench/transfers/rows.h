/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_ROWS_H
#define KWHY_BENCH_TRANSFERS_ROWS_H

#include "base/text.h"
#include "model/transfers.h"

/*
 * Reads and writes samples and energies as rows of CSV (docs/formats/transfers.md). An empty cell means
 * unknown. Lines that begin with # come before the samples and hold the settings. Pure.
 */
#define KWHY_BENCH_ROWS_MARK "# kwhy.transfers.samples/1"

extern const char kwhy_bench_row_names[], kwhy_bench_energy_row_names[];

void kwhy_bench_row_write(const struct kwhy_transfer_point *point, size_t sample, struct kwhy_text *out);
void kwhy_bench_energy_row_write(const struct kwhy_transfer_energy *energy, struct kwhy_text *out);

/*
 * Reads whole lines into the points. If `add`, makes points that do not exist yet and takes over the
 * settings; otherwise a row of an unknown point is KWHY_E_INPUT. A line that is no valid row is
 * KWHY_E_INPUT, too. `path` is used in messages.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_rows_read(const char *path, const struct kwhy_text *file, bool add,
	struct kwhy_transfers *transfers, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_bench_energy_rows_read(const char *path, const struct kwhy_text *file,
	struct kwhy_transfers *transfers, struct kwhy_error *error);

#endif
