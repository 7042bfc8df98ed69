/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAIRS_COLUMNS_H
#define KWHY_REPORT_PAIRS_COLUMNS_H

#include "model/pairs.h"
#include "report/columns.h"

/*
 * Columns of measured pairs of GPUs, for text and JSON. Rows are the structs of model/pairs.h with the same
 * names. Rows of energies and of host thread placements are the structs below.
 */
extern const struct kwhy_columns kwhy_pair_loggp_columns, kwhy_pair_energy_columns, kwhy_pair_pinning_columns,
	kwhy_pair_held_out_columns, kwhy_pair_relation_columns, kwhy_pair_flag_columns,
	kwhy_pair_criterion_columns, kwhy_pair_absence_columns;

struct kwhy_pair_energy_row {
	struct kwhy_pair_energy energy;
	/*
	 * Joules per byte. gross: all energy of both GPUs. net, source, target: energy above idle of both
	 * GPUs, of the source, and of the target.
	 */
	struct kwhy_pair_figure gross, net, source, target;
};
struct kwhy_pair_energy_row kwhy_pair_energy_row_of(const struct kwhy_pair_energy *energy);

struct kwhy_pair_pinning_row {
	struct kwhy_pair_pinning pinning;
	enum kwhy_pair_load load;
	struct kwhy_pair_figure free_over_near, far_over_near;
};
struct kwhy_pair_pinning_row kwhy_pair_pinning_row_of(const struct kwhy_pair_pinning *pinning);

#endif
