/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_MISFIT_H
#define KWHY_LEDGER_ENERGY_ENERGY_MISFIT_H

#include "ledger/energy/energy_view.h"

/*
 * Estimates the share of the energy that is on a wrong account, by comparing the meter's intervals with the
 * powers. If readings contradict the assumed power of a rarely running power class, a fit with heavy tails
 * treats them as noise, and the random draws then state too small an uncertainty.
 *
 * For each power class, and for all classes together, a least-squares fit therefore gives the change of power
 * at which the intervals agree best with the meter; the gain between the meters is free. The part of this
 * change beyond three standard errors counts as error. This part is multiplied by a number of seconds. In
 * each interval in which the class ran longer than the interval's modelled energy predicts, the additional
 * seconds count, times the share of the interval's energy that other classes have. The result is the largest
 * of these errors divided by the metered energy.
 *
 * The result is NAN if there are fewer than 10 intervals, or if the meter is no counter: between power
 * samples, a loop aliases with the interpolation.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_misfit(const struct kwhy_metered_total *total,
	const struct kwhy_metered_view *view, const struct kwhy_powers *powers, double *out_ratio,
	struct kwhy_error *error);

#endif
