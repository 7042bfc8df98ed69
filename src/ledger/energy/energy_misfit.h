/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_MISFIT_H
#define KWHY_LEDGER_ENERGY_ENERGY_MISFIT_H

#include "ledger/energy/energy_view.h"

/*
 * Writes an estimate of the share of the energy that is on wrong accounts, from the differences between
 * metered and modelled energies of the intervals. It is needed because the fit of powers treats readings that
 * contradict the assumed power of a rarely running power class as noise; the random draws then state too
 * small an uncertainty.
 *
 * For each power class, and for all together, a least-squares fit gives the change of power with which the
 * modelled energies agree best with the metered ones, except for a common factor (gain). The part of the
 * change beyond three standard errors is taken as an error. Multiplied by seconds it is an energy: in each
 * interval, the seconds that the class ran beyond its usual share of the modelled energy, times the share of
 * the interval's energy that other classes have. *out_ratio is the largest of these energies divided by the
 * metered energy.
 *
 * It is NAN if there are fewer than 10 usable intervals, or if the meter is no counter: between power
 * samples, the period of a loop aliases with the interpolation.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_misfit(const struct kwhy_metered_total *total,
	const struct kwhy_metered_view *view, const struct kwhy_powers *powers, double *out_ratio,
	struct kwhy_error *error);

#endif
