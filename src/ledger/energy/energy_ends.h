/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_ENDS_H
#define KWHY_LEDGER_ENERGY_ENERGY_ENDS_H

#include "ledger/energy/energy_powers.h"

/*
 * Extends or cuts the metered total to the ends of the recorded time, for a meter that does not report means.
 * The first interval then begins with the recording, and the last one ends with it, on the clock of the
 * activities. No energy from before the run remains in a delayed reading.
 *
 * The readings that are used reach from the last reading before the recording to the first one that no longer
 * shows power from the recording. They are readings of the meter itself or, if the meter is a counter, the 20
 * ms samples. The energy drawn outside the recording is computed from the readings of the power there, and is
 * subtracted. If there is no reading beyond an end of the recording, that end is left unchanged. The gain
 * between samples and counter is taken from the time that both cover.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_reach_ends(struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers, double delay_s,
	struct kwhy_error *error);

#endif
