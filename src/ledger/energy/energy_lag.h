/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_LAG_H
#define KWHY_LEDGER_ENERGY_ENERGY_LAG_H

#include "ledger/energy/energy_powers.h"

/*
 * Finds the delay of the time stamps of a meter's intervals. For a meter other than a counter, it is the
 * inferred delay, or 0 after deconvolution.
 *
 * A counter's updates are noticed by polling: on one H200 their delays lay from 6 ms before to 5 ms after
 * the delay of the 20 ms samples, depending on the recording. For a counter, the result is the delay at
 * which the intervals agree best with the inferred powers. It stays close to the delay of the 20 ms samples
 * if the intervals contain little information.
 */
KWHY_MUST_USE enum kwhy_status kwhy_energy_lag_find(const struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers, double *out_delay_s,
	struct kwhy_error *error);

#endif
