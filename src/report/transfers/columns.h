/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_TRANSFERS_COLUMNS_H
#define KWHY_REPORT_TRANSFERS_COLUMNS_H

#include "model/transfers.h"
#include "report/columns.h"

/*
 * Columns of measured transfers, for text and JSON. The rows of kwhy_transfer_NAME_columns are the structs
 * kwhy_transfer_NAME of model/transfers.h, but those of energies are struct kwhy_transfer_energy_row.
 */
extern const struct kwhy_columns kwhy_transfer_point_columns, kwhy_transfer_energy_columns,
	kwhy_transfer_curve_columns, kwhy_transfer_choice_columns, kwhy_transfer_baseline_columns,
	kwhy_transfer_pinning_columns, kwhy_transfer_compression_columns, kwhy_transfer_absence_columns;

struct kwhy_transfer_energy_row {
	struct kwhy_transfer_energy energy;
	double moved_bytes; /* bytes of one transfer; for KWHY_TRANSFER_BOTH, those of both directions
			       together */
	/* lowest energy of any method for the same size, number of pieces and direction; NAN: unknown */
	double best_j;
};
struct kwhy_transfer_energy_row kwhy_transfer_energy_row_of(const struct kwhy_transfers *transfers, size_t i);

/* Short name of a way of timing, for tables: "row" (back-to-back), "alone" (isolated), "host". */
const char *kwhy_transfer_clock_title(enum kwhy_transfer_clock clock);

#endif
