/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_APPORTION_H
#define KWHY_LEDGER_ENERGY_APPORTION_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Buffers for apportioning amounts among up to `most` shares. */
struct kwhy_apportioner {
	size_t most;
	uint64_t *weights, *rests;
	uint32_t *order;
};

KWHY_MUST_USE enum kwhy_status kwhy_apportioner_init(
	struct kwhy_apportioner *apportioner, size_t most, struct kwhy_error *error);
void kwhy_apportioner_done(struct kwhy_apportioner *apportioner);

/*
 * Apportions amount_nj >= 0 in proportion to the shares, which are finite and >= 0, by largest remainder, and
 * adds each part to its entry of sums_nj. The parts add up to the amount exactly, and no part is negative. Of
 * equal remainders, the first gets the nanojoule. If all shares are 0, the whole amount goes to entry
 * `fallback`. Shares are resolved to 2^-40 of the largest one.
 */
void kwhy_apportion(struct kwhy_apportioner *apportioner, int64_t amount_nj, const double *shares,
	size_t count, size_t fallback, int64_t *sums_nj);

#endif
