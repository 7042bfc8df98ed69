/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_ENDS_H
#define KWHY_LEDGER_ENERGY_ENERGY_ENDS_H

#include "ledger/energy/energy_powers.h"

/*
 * Makes the metered total begin and end with the recorded time, on the clock of the activities, for a meter
 * that does not report means. Readings lag behind, so without this the first interval would contain energy
 * drawn before the recording.
 *
 * The readings in use are those from the last one before the recording to the first one that no longer shows
 * power drawn in the recording. They are readings of the meter itself or, if it is a counter and the device
 * has them, the 20 ms samples, with a gain found over the time that both cover. The energy drawn outside the
 * recording is computed from the power there and subtracted. An end of the recording beyond which there is no
 * usable reading stays unchanged. Nothing changes if there is unrecorded time, if no activity was recorded,
 * or after deconvolution.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_reach_ends(struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers, double delay_s,
	struct kwhy_error *error);

#endif
