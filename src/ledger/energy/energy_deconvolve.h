/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_DECONVOLVE_H
#define KWHY_LEDGER_ENERGY_ENERGY_DECONVOLVE_H

#include "ledger/energy/energy_powers.h"

/*
 * Replaces the intervals of a meter that reports trailing means. Each reading gives the energy of its
 * averaging window, and the windows of readings around a run include time outside of it. Therefore the
 * intervals of the metered total, which lie between readings, are replaced by short intervals on the clock of
 * the activities. Some of the short intervals lie just before and after the run. The energies of the short
 * intervals are inferred from all readings together, and sampling_ratio becomes the relative uncertainty of
 * the run's energy.
 *
 * The total stays unchanged if the meter is of another kind, or if the recording has unrecorded time, has no
 * activity, or is too long.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_deconvolve(struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers,
	struct kwhy_error *error);

#endif
