/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAIRS_COLUMNS_H
#define KWHY_REPORT_PAIRS_COLUMNS_H

#include "model/pairs.h"
#include "report/columns.h"

/*
 * The columns of measured pairs, which text and JSON share. Rows are the structs of model/pairs.h of the same
 * name; those of energies and pinnings are the structs below.
 */
extern const struct kwhy_columns kwhy_pair_loggp_columns, kwhy_pair_energy_columns, kwhy_pair_pinning_columns,
	kwhy_pair_held_out_columns, kwhy_pair_relation_columns, kwhy_pair_flag_columns,
	kwhy_pair_criterion_columns, kwhy_pair_absence_columns;

struct kwhy_pair_energy_row {
	struct kwhy_pair_energy energy;
	struct kwhy_pair_figure gross, net, source, target; /* joules a byte; the last three above idle */
};
struct kwhy_pair_energy_row kwhy_pair_energy_row_of(const struct kwhy_pair_energy *energy);

struct kwhy_pair_pinning_row {
	struct kwhy_pair_pinning pinning;
	enum kwhy_pair_load load;
	struct kwhy_pair_figure free_over_near, far_over_near;
};
struct kwhy_pair_pinning_row kwhy_pair_pinning_row_of(const struct kwhy_pair_pinning *pinning);

#endif
