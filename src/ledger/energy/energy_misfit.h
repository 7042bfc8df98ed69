/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_MISFIT_H
#define KWHY_LEDGER_ENERGY_ENERGY_MISFIT_H

#include "ledger/energy/energy_view.h"

/*
 * Share of the energy that is on the wrong account by what the meter's own intervals say against the powers.
 * A fit with heavy tails takes a class that runs rarely for noise when a level that it believes in is wrong:
 * the draws are then sure of powers that no sample shows. So each class, and all work together, is asked how
 * much more or less it would have to draw for the intervals to come out as metered (least squares, the gain
 * between the meters left free); what that is beyond three standard errors, times the seconds that set its
 * intervals apart and the share of their energy that was posted to others, is wrong. The largest of these;
 * NAN: fewer than 10 intervals, or no counter (between samples the power is guessed, and a loop beats with
 * it).
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_misfit(const struct kwhy_metered_total *total,
	const struct kwhy_metered_view *view, const struct kwhy_powers *powers, double *out_ratio,
	struct kwhy_error *error);

#endif
