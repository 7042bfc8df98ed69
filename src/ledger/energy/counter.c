/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/counter.h"

#include <stdbool.h>

#define WRAP_COUNTS ((int64_t)1 << 32)

static bool is_plausible(const struct kwhy_power_series *series, size_t i, int64_t counts)
{
	double energy_nj = (double)counts * (double)kwhy_meter_unit_nj(series->meter);
	double length_ns = (double)series->time_ns[i] - (double)series->time_ns[i - 1];

	return energy_nj <= length_ns * KWHY_POWER_MOST_W;
}

enum kwhy_counter_step kwhy_counter_step(
	const struct kwhy_power_series *series, size_t i, int64_t *out_counts)
{
	int64_t before = series->value[i - 1], after = series->value[i], rise;

	if (before <= after) {
		if (__builtin_sub_overflow(after, before, &rise))
			return KWHY_COUNTER_FELL;
		*out_counts = rise;
		return KWHY_COUNTER_ROSE;
	}
	if (before >= WRAP_COUNTS || after < 0)
		return KWHY_COUNTER_FELL;
	rise = after - before + WRAP_COUNTS;
	if (!is_plausible(series, i, rise))
		return KWHY_COUNTER_FELL;
	*out_counts = rise;
	return KWHY_COUNTER_WRAPPED;
}
