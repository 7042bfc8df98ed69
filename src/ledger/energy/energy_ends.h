/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_ENDS_H
#define KWHY_LEDGER_ENERGY_ENERGY_ENDS_H

#include "ledger/energy/energy_powers.h"

/*
 * Brings the total of a meter that is not a mean to the ends of what was recorded. Its own readings, or those
 * of the 20 ms ring where the counter was read too rarely, lead from the last one before the recording to the
 * first one that no longer shows any of it; what was drawn outside, at the power read there, is taken off.
 * The first and last interval then begin and end with the recording, on the clock of the activities, and a
 * reading that remembers the time before it puts none of that into the run. An end that no reading lies
 * beyond stays as it is. Between the ring and the counter the gain is that of their time in common.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_reach_ends(struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers, double delay_s,
	struct kwhy_error *error);

#endif
