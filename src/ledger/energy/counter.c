/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/counter.h"

enum kwhy_counter_step kwhy_counter_step(
	const struct kwhy_power_series *series, size_t i, int64_t *out_counts)
{
	struct kwhy_counter_span span = {
		.before = series->value[i - 1],
		.after = series->value[i],
		.wrap = series->wrap,
		.length_ns = (double)series->time_ns[i] - (double)series->time_ns[i - 1],
		.unit_nj = kwhy_meter_unit_nj(series->meter),
	};

	return kwhy_counter_rise(&span, out_counts);
}
