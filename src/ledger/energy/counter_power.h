/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_COUNTER_POWER_H
#define KWHY_LEDGER_ENERGY_COUNTER_POWER_H

#include "ledger/ledger_new.h"
#include "model/profile.h"

/*
 * An account's power above idle, estimated from performance counters. Both fields are NAN if there is no
 * usable estimate.
 */
struct kwhy_counter_prior {
	double above_idle_w;
	double sd; /* standard deviation of the logarithm of the power */
};

/*
 * Writes the priors of all accounts, [account_count], by the performance counters that were sampled on the
 * device.
 *
 * The profile's model (struct kwhy_counter_model) gives the energy that the counts of a sample stand for.
 * This energy is divided among the activities that ran during the sample: each account has one power, at
 * least 0, and the powers are those with the smallest squared errors over all samples. A kernel draws the
 * model's base_w in addition. sd contains the spread of the model and the error of the division.
 *
 * Only accounts of kernels that compute get priors, and only the 256 accounts with the most time, if the
 * standard error is less than half of the power. Collectives wait, and copies have engines of their own; the
 * model was not fitted to them.
 */
KWHY_MUST_USE enum kwhy_status kwhy_counter_priors_find(const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_device_ledger *device_ledger, const struct kwhy_profile *profile,
	struct kwhy_counter_prior *out_priors, struct kwhy_error *error);

#endif
