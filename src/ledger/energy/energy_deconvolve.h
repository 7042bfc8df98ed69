/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_DECONVOLVE_H
#define KWHY_LEDGER_ENERGY_ENERGY_DECONVOLVE_H

#include "ledger/energy/energy_powers.h"

/*
 * A trailing mean read once says what was used in its window, and the readings around a run hold what the
 * windows at its ends share with the time outside of it. Replaces the total's intervals, which are those
 * between readings, by short ones on the clock of the activities whose energies all readings together lead
 * to, those just before and after what was recorded among them. The sampling ratio is then that of the run's
 * energy. Leaves alone the total of another meter, of a recording with unrecorded stretches or none of an
 * activity, and of one that is too long.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_deconvolve(struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers,
	struct kwhy_error *error);

#endif
