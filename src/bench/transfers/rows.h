/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_ROWS_H
#define KWHY_BENCH_TRANSFERS_ROWS_H

#include "base/text.h"
#include "model/transfers.h"

/*
 * Reads and writes samples and energies as rows of CSV (docs/formats/transfers.md). An empty cell means
 * unknown. In the file of samples, lines that begin with # come first and hold the settings. Pure.
 */
#define KWHY_BENCH_ROWS_MARK "# kwhy.transfers.samples/1"

extern const char kwhy_bench_row_names[], kwhy_bench_energy_row_names[];

void kwhy_bench_row_write(const struct kwhy_transfer_point *point, size_t sample, struct kwhy_text *out);
void kwhy_bench_energy_row_write(const struct kwhy_transfer_energy *energy, struct kwhy_text *out);

/*
 * kwhy_bench_rows_read() reads a file of samples into transfers->points. If `add`, makes points that do not
 * exist yet and stores the settings in `transfers`; otherwise a row of a point that does not exist is
 * KWHY_E_INPUT. kwhy_bench_energy_rows_read() appends the rows of a file of energies to transfers->energies.
 * A line that is no valid row is KWHY_E_INPUT, too. `path` is used in messages.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_rows_read(const char *path, const struct kwhy_text *file, bool add,
	struct kwhy_transfers *transfers, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_bench_energy_rows_read(const char *path, const struct kwhy_text *file,
	struct kwhy_transfers *transfers, struct kwhy_error *error);

#endif
