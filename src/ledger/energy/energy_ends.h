/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_ENDS_H
#define KWHY_LEDGER_ENERGY_ENERGY_ENDS_H

#include "ledger/energy/energy_powers.h"

/*
 * Extends or cuts the total of a meter that is not a mean to the ends of the recorded time. Its own readings,
 * or those of the 20 ms ring where the counter was read too rarely, reach from the last one before the
 * recording to the first one that no longer shows any of it. The energy drawn outside, at the power read
 * there, is subtracted. The first and last interval then begin and end with the recording, on the clock of
 * the activities, and no energy from before the run remains in a delayed reading. An end without a reading
 * beyond it is left unchanged. The gain between ring and counter is taken from their common time.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_reach_ends(struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers, double delay_s,
	struct kwhy_error *error);

#endif
