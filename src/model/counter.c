/* SPDX-License-Identifier: Apache-2.0 */
#include "model/counter.h"

#include "model/recording.h"

#define WRAP_32_BITS INT64_C(0xffffffff)

static bool is_plausible(const struct kwhy_counter_span *span, int64_t counts)
{
	return (double)counts * (double)span->unit_nj <= span->length_ns * KWHY_POWER_MOST_W;
}

enum kwhy_counter_step kwhy_counter_rise(const struct kwhy_counter_span *span, int64_t *out_counts)
{
	int64_t wrap = span->wrap > 0 ? span->wrap : WRAP_32_BITS, rise;

	if (span->before <= span->after) {
		if (__builtin_sub_overflow(span->after, span->before, &rise))
			return KWHY_COUNTER_FELL;
		*out_counts = rise;
		return KWHY_COUNTER_ROSE;
	}
	if (span->before > wrap || span->after < 0)
		return KWHY_COUNTER_FELL;
	rise = wrap - span->before + 1 + span->after;
	if (!is_plausible(span, rise))
		return KWHY_COUNTER_FELL;
	*out_counts = rise;
	return KWHY_COUNTER_WRAPPED;
}

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

bool kwhy_counter_power_w(const struct kwhy_power_series *series, size_t i, double *out_w)
{
	int64_t counts;

	if (kwhy_counter_step(series, i, &counts) == KWHY_COUNTER_FELL)
		return false;
	*out_w = (double)counts * (double)kwhy_meter_unit_nj(series->meter) /
		(double)(series->time_ns[i] - series->time_ns[i - 1]);
	return true;
}
