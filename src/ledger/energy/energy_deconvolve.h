/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_DECONVOLVE_H
#define KWHY_LEDGER_ENERGY_ENERGY_DECONVOLVE_H

#include "ledger/energy/energy_powers.h"

/*
 * A reading of a trailing mean gives the energy of its window, and the readings around a run include the time
 * outside of it that their windows cover. Replaces the total's intervals, which lie between readings, by
 * short ones on the clock of the activities, including those just before and after the recorded time. Their
 * energies are inferred from all readings together. The sampling ratio is then that of the run's energy.
 * Leaves the total unchanged where the meter is of another kind, the recording has unrecorded time or no
 * activity, or the recording is too long.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_deconvolve(struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers,
	struct kwhy_error *error);

#endif
