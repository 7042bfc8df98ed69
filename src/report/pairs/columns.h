/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAIRS_COLUMNS_H
#define KWHY_REPORT_PAIRS_COLUMNS_H

#include "model/pairs.h"
#include "report/columns.h"

/*
 * Columns of measured pairs of GPUs, for text and JSON. The rows of kwhy_pair_NAME_columns are the structs
 * kwhy_pair_NAME of model/pairs.h, but those of energies and pinnings (placements of the host's thread) are
 * the structs below.
 */
extern const struct kwhy_columns kwhy_pair_loggp_columns, kwhy_pair_energy_columns, kwhy_pair_pinning_columns,
	kwhy_pair_held_out_columns, kwhy_pair_relation_columns, kwhy_pair_flag_columns,
	kwhy_pair_criterion_columns, kwhy_pair_absence_columns;

struct kwhy_pair_energy_row {
	struct kwhy_pair_energy energy;
	/*
	 * Joules per transferred byte. gross: all energy of both GPUs together. net: the energy of both above
	 * their idle level. source, target: that of one GPU above its idle level.
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
