/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_LAG_H
#define KWHY_LEDGER_ENERGY_ENERGY_LAG_H

#include "ledger/energy/energy_powers.h"

/*
 * Writes the delay, in s, of a meter's intervals against the clock of the activities. For a meter other than
 * a counter, it is the delay that was inferred with the powers, or 0 after deconvolution.
 *
 * A counter's updates are noticed by polling: on one H200 their delays lay from 6 ms below to 5 ms above the
 * delay of the 20 ms samples, depending on the recording. For a counter with at least 10 intervals to which
 * the powers were not fitted, the result is the delay at which the intervals agree best with the powers. It
 * stays close to the inferred delay if the intervals contain little information.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_lag_find(const struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers, double *out_delay_s,
	struct kwhy_error *error);

#endif
