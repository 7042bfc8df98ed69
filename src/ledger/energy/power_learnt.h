/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_POWER_LEARNT_H
#define KWHY_LEDGER_ENERGY_POWER_LEARNT_H

#include "ledger/ledger_new.h"

/* Power above idle that other recordings taught of an account; all NAN where they know nothing of it. */
struct kwhy_learnt_prior {
	double above_idle_w;
	double sd; /* standard deviation of its logarithm */
};

/*
 * [account_count]. A power of the same name, grid and block is taken before one of the same name and block,
 * and that before one of the same name; several of one kind are weighed by their uncertainty. To that comes
 * what differs between two runs:
 *
 * - the same grid: 3 %, the card, its temperature and the data. An iteration of set A's loop
 * (docs/attribution.md) took 0.7 % less energy in its recording than when its truth was measured; two H200s
 * idle 5 W apart.
 * - another grid: 15 %, another name of a grid is mostly another size of the same work. An assumption.
 * - another block: 30 %. An assumption, half of what is assumed of a kernel that nobody knows.
 */
KWHY_MUST_USE enum kwhy_status kwhy_learnt_priors_find(const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_device_ledger *device_ledger,
	const struct kwhy_ledger_options *options, struct kwhy_learnt_prior *out_priors,
	struct kwhy_error *error);

#endif
