/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_MISFIT_H
#define KWHY_LEDGER_ENERGY_ENERGY_MISFIT_H

#include "ledger/energy/energy_view.h"

/*
 * Share of the energy that is on a wrong account, estimated by comparing the intervals of the meter with the
 * powers. A fit with heavy tails treats a rarely running class as noise when its assumed level is wrong, and
 * the draws are then confident of powers that no sample shows. For each class, and for all work together,
 * least squares therefore gives the change of its power at which the intervals agree with the meter (the gain
 * between the meters is free). The part of that change beyond three standard errors is an error: it is
 * multiplied by the seconds that distinguish the intervals of the class and by the share of their energy that
 * went to other accounts. Returns the largest of these. NAN: fewer than 10 intervals, or no counter (between
 * samples the power is interpolated, and a loop aliases with them).
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_misfit(const struct kwhy_metered_total *total,
	const struct kwhy_metered_view *view, const struct kwhy_powers *powers, double *out_ratio,
	struct kwhy_error *error);

#endif
