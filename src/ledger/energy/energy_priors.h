/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_PRIORS_H
#define KWHY_LEDGER_ENERGY_ENERGY_PRIORS_H

#include "ledger/energy/energy_powers.h"

/* Standard deviation of the logarithm of the power of a full grid, where the readings show the work. */
#define KWHY_UNIT_SPREAD 0.5

/*
 * Priors of time constant and delay of a meter (model/response.h): from the profile, or wide ones. Returns
 * true when the profile has both.
 */
bool kwhy_priors_response(uint32_t meter, const struct kwhy_profile *profile, struct kwhy_normal *out_tau_s,
	struct kwhy_normal *out_delay_s);

/*
 * Median and count of the readings whose window contains an idle device only. `features` belong to
 * `readings`. NAN when there are none of these readings.
 */
KWHY_MUST_USE enum kwhy_status kwhy_priors_quiet(const struct kwhy_response_features *features,
	const struct kwhy_power_readings *readings, double *out_power_w, size_t *out_count,
	struct kwhy_error *error);

/* Priors of idle level, unit power and class powers. The caller sets those of time constant and delay. */
KWHY_MUST_USE enum kwhy_status kwhy_priors_init(struct kwhy_posterior_prior *prior,
	const struct kwhy_powers_question *question, const struct kwhy_response_features *features,
	const struct kwhy_power_readings *readings, struct kwhy_error *error);
void kwhy_priors_done(struct kwhy_posterior_prior *prior);

#endif
