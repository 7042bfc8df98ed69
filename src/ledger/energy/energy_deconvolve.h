/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_DECONVOLVE_H
#define KWHY_LEDGER_ENERGY_ENERGY_DECONVOLVE_H

#include "ledger/energy/energy_powers.h"

/*
 * Replaces the intervals of a meter that reports trailing means. Each reading is the mean over its averaging
 * window, and the windows of readings around a run include time outside of it. Therefore the intervals of the
 * metered total, which lie between readings, are replaced by shorter ones on the clock of the activities, in
 * recorded time alone. Their energies are inferred from all readings together, and sampling_ratio becomes the
 * half-width of the 90 % interval of the run's energy, as a share of that energy.
 *
 * The total stays unchanged if the meter is of another kind, if the recording has unrecorded time, no
 * activity, fewer than two usable readings or too many cells, or if no inference gives a finite answer.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_deconvolve(struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers,
	struct kwhy_error *error);

#endif
