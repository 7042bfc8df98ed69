/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_POWER_LEARNT_H
#define KWHY_LEDGER_ENERGY_POWER_LEARNT_H

#include "ledger/ledger_new.h"

/*
 * An account's power above idle, learnt from other recordings. Both fields are NAN if no other recording
 * has a power for the account.
 */
struct kwhy_learnt_prior {
	double above_idle_w;
	double sd; /* standard deviation of the logarithm of the power */
};

/*
 * Writes the priors of all accounts, [account_count], from the powers of recordings of devices with the same
 * name. The best match is a power of the same name, grid and block; then one of the same name and block; then
 * one of the same name. Several powers that match equally well are weighted by their uncertainty. An
 * uncertainty for the difference between two runs is added:
 * - same grid: 2 %, for the card, its temperature and the data. An iteration of set A's loop
 *   (docs/attribution.md) took 0.7 % less energy in its recording than in its reference measurement; the idle
 *   powers of two H200s differ by 5 W.
 * - another grid: 15 %, an assumption. The same name with another grid is mostly another size of the same
 *   work.
 * - another block: 30 %, an assumption: half of what is assumed for an unknown kernel.
 */
KWHY_MUST_USE enum kwhy_status kwhy_learnt_priors_find(const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_device_ledger *device_ledger,
	const struct kwhy_ledger_options *options, struct kwhy_learnt_prior *out_priors,
	struct kwhy_error *error);

#endif
