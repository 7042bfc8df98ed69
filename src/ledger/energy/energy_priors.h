/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_PRIORS_H
#define KWHY_LEDGER_ENERGY_ENERGY_PRIORS_H

#include "ledger/energy/energy_powers.h"

/*
 * Prior standard deviation of the logarithm of the power of a full grid (a kernel that fills the device), if
 * the readings clearly show the work.
 */
#define KWHY_UNIT_SPREAD 0.5

/*
 * Writes the priors of a meter's time constant and delay in seconds (model/response.h): those of the profile,
 * or wide ones. Returns whether the profile has both. `profile` may be NULL.
 */
bool kwhy_priors_response(uint32_t meter, const struct kwhy_profile *profile, struct kwhy_normal *out_tau_s,
	struct kwhy_normal *out_delay_s);

/*
 * Writes the median in W and the number of the idle readings: those whose windows contain neither work nor
 * time without a context. `features` must be those of `readings`. If there are fewer than 5 such readings,
 * the median is NAN and the number 0.
 */
KWHY_MUST_USE enum kwhy_status kwhy_priors_quiet(const struct kwhy_response_features *features,
	const struct kwhy_power_readings *readings, double *out_power_w, size_t *out_count,
	struct kwhy_error *error);

/*
 * Makes the priors of all parameters of the fit, except those of time constant and delay, which the caller
 * sets. `features` must be those of `readings`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_priors_init(struct kwhy_posterior_prior *prior,
	const struct kwhy_powers_question *question, const struct kwhy_response_features *features,
	const struct kwhy_power_readings *readings, struct kwhy_error *error);
void kwhy_priors_done(struct kwhy_posterior_prior *prior);

#endif
