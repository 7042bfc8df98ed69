/* SPDX-License-Identifier: Apache-2.0 */
#include "model/profile.h"

#include <math.h>
#include <string.h>

#define PLACE(member) offsetof(struct kwhy_profile, member)
#define MEASURED(part, key, unit, low, high, member)            \
	{                                                       \
		part, key, unit, low, high, PLACE(member), true \
	}
#define PLAIN(part, key, unit, low, high, member)                \
	{                                                        \
		part, key, unit, low, high, PLACE(member), false \
	}

const struct kwhy_profile_figure kwhy_profile_figures[] = {
	PLAIN("device", "memory_bytes_per_s", "B/s", 1, 1e18, memory_rate_bytes_per_s),
	MEASURED("sensor", "time_constant_s", "s", 0, 100, sensor.time_constant_s),
	MEASURED("sensor", "delay_s", "s", 0, 100, sensor.delay_s),
	MEASURED("sensor", "sample_period_s", "s", 1e-6, 1000, sensor.sample_period_s),
	MEASURED("sensor", "counter_period_s", "s", 1e-6, 1000, sensor.counter_period_s),
	PLAIN("sensor", "late_ratio", "1", 0, 1, sensor.late_share),
	MEASURED("sensor", "late_s", "s", 0, 100, sensor.late_s),
	PLAIN("sensor", "average_window_s", "s", 1e-6, 1000, sensor.average_window_s),
	MEASURED("power", "clean_idle_w", "W", 1e-3, 1e6, clean_idle_w),
	MEASURED("power", "context_idle_w", "W", 1e-3, 1e6, context_idle_w),
	MEASURED("power", "execution_idle_w", "W", 1e-3, 1e6, execution_idle_w),
	PLAIN("power", "limit_w", "W", 1e-3, 1e6, limit_w),
	MEASURED("cost", "launch_s", "s", 1e-10, 100, launch_s),
	MEASURED("cost", "synchronize_s", "s", 1e-10, 100, synchronize_s),
	MEASURED("cost", "copy_latency_s", "s", 1e-10, 100, copy_latency_s),
	MEASURED("cost", "graph_launch_s", "s", 1e-10, 100, graph_launch_s),
	MEASURED("cost", "graph_launch_node_s", "s", 0, 100, graph_launch_node_s),
	MEASURED("cost", "graph_start_node_s", "s", 0, 100, graph_start_node_s),
	MEASURED("cost", "graph_node_s", "s", 1e-10, 100, graph_node_s),
	MEASURED("cost", "queued_kernel_s", "s", 1e-10, 100, queued_kernel_s),
	MEASURED("copy", "h2d_pinned_bytes_per_s", "B/s", 1, 1e18, h2d_pinned_rate_bytes_per_s),
	MEASURED("copy", "h2d_pageable_bytes_per_s", "B/s", 1, 1e18, h2d_pageable_rate_bytes_per_s),
	MEASURED("copy", "d2h_pinned_bytes_per_s", "B/s", 1, 1e18, d2h_pinned_rate_bytes_per_s),
	MEASURED("copy", "d2h_pageable_bytes_per_s", "B/s", 1, 1e18, d2h_pageable_rate_bytes_per_s),
};

const size_t kwhy_profile_figure_count = sizeof(kwhy_profile_figures) / sizeof(kwhy_profile_figures[0]);

const char *kwhy_self_test_method_name(enum kwhy_self_test_method method)
{
	static const char *const names[KWHY_SELF_TEST_METHOD_COUNT] = {
		"window", "counter", "ring", "average", "instant"};

	return names[method];
}

struct kwhy_measured kwhy_profile_figure_get(
	const struct kwhy_profile *profile, const struct kwhy_profile_figure *figure)
{
	const char *place = (const char *)profile + figure->offset;
	struct kwhy_measured measured = {NAN, NAN};

	memcpy(&measured, place, figure->has_spread ? sizeof(measured) : sizeof(measured.value));
	return measured;
}

void kwhy_profile_init(struct kwhy_profile *profile)
{
	static const struct kwhy_measured unknown = {NAN, NAN};

	memset(profile, 0, sizeof(*profile));
	for (size_t i = 0; i < kwhy_profile_figure_count; i++) {
		const struct kwhy_profile_figure *figure = &kwhy_profile_figures[i];

		memcpy((char *)profile + figure->offset, &unknown,
			figure->has_spread ? sizeof(unknown) : sizeof(unknown.value));
	}
	for (int i = 0; i < KWHY_PRECISION_COUNT; i++)
		profile->peak_flop_per_s[i] = NAN;
	profile->peak_bytes_per_s = NAN;
}
