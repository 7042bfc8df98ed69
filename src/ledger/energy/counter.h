/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_COUNTER_H
#define KWHY_LEDGER_ENERGY_COUNTER_H

#include "model/recording.h"

#include <stddef.h>
#include <stdint.h>

/* What a cumulative meter did between two readings. */
enum kwhy_counter_step {
	KWHY_COUNTER_ROSE,    /* or stood still */
	KWHY_COUNTER_WRAPPED, /* fell by nearly 2^32 counts: 32 bits ran over, and the rise is plausible */
	KWHY_COUNTER_FELL,    /* reset, or wrapped at a place we do not know: the rise is unknown */
};

/*
 * Between readings i - 1 and i of a counter; *out_counts is the rise, never negative, and untouched
 * where it is unknown. A rise that no device can draw (KWHY_POWER_MOST_W) is no wrap.
 */
enum kwhy_counter_step kwhy_counter_step(
	const struct kwhy_power_series *series, size_t i, int64_t *out_counts);

/* More than any device or host draws: larger figures are wrong units or a wrong clock. */
#define KWHY_POWER_MOST_W 100000.0

#endif
