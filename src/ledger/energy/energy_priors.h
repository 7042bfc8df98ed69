/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_ENERGY_PRIORS_H
#define KWHY_LEDGER_ENERGY_ENERGY_PRIORS_H

#include "ledger/energy/energy_powers.h"

/* Of the logarithm of what a full grid draws, where the readings show the work. */
#define KWHY_UNIT_SPREAD 0.5

/*
 * Time constant and delay of a meter, from the profile, which tells of NVML's alone, or wide; true: the
 * profile tells both.
 */
bool kwhy_priors_response(uint32_t meter, const struct kwhy_profile *profile, struct kwhy_normal *out_tau_s,
	struct kwhy_normal *out_delay_s);

/*
 * Readings whose window saw a device that ran nothing: their median and count. `features` belong to
 * `readings`. NAN when there are none.
 */
KWHY_MUST_USE enum kwhy_status kwhy_priors_quiet(const struct kwhy_response_features *features,
	const struct kwhy_power_readings *readings, double *out_power_w, size_t *out_count,
	struct kwhy_error *error);

/* Idle level, unit power and class powers before the readings. Tau and delay are set by the caller. */
KWHY_MUST_USE enum kwhy_status kwhy_priors_init(struct kwhy_posterior_prior *prior,
	const struct kwhy_powers_question *question, const struct kwhy_response_features *features,
	const struct kwhy_power_readings *readings, struct kwhy_error *error);
void kwhy_priors_done(struct kwhy_posterior_prior *prior);

#endif
