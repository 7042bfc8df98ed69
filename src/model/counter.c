/* SPDX-License-Identifier: Apache-2.0 */
#include "model/counter.h"

#include <stdbool.h>

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
