/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/metered.h"

#include <stdlib.h>

struct window {
	int64_t start_ns, end_ns;
};

/* The meter whose total the books must meet: a counter before samples, samples before means. */
static const uint8_t preferred_meters[] = {
	KWHY_METER_NVML_ENERGY,
	KWHY_METER_NVML_SAMPLE,
	KWHY_METER_NVML_INSTANT,
	KWHY_METER_NVML_AVERAGE,
	KWHY_METER_WALL,
};

static const struct kwhy_power_series *series_of(
	const struct kwhy_recording *recording, uint32_t device, uint32_t meter)
{
	for (size_t i = 0; i < recording->power_count; i++) {
		const struct kwhy_power_series *series = &recording->power[i];

		if (series->device == device && series->meter == meter && series->count > 1)
			return series;
	}
	return NULL;
}

static bool metered_window(const struct kwhy_recording *recording, uint32_t device, struct window *out)
{
	for (size_t i = 0; i < sizeof(preferred_meters); i++) {
		const struct kwhy_power_series *series = series_of(recording, device, preferred_meters[i]);

		if (!series)
			continue;
		*out = (struct window){series->time_ns[0], series->time_ns[series->count - 1]};
		return true;
	}
	return false;
}

static int compare_windows(const void *a, const void *b)
{
	const struct window *left = a, *right = b;

	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/* The coverage of one device by start; at least one window. */
static enum kwhy_status covered_windows(const struct kwhy_recording *recording, uint32_t device,
	struct window **out, size_t *out_count, struct kwhy_error *error)
{
	struct window *windows = calloc(recording->coverage_count + 1, sizeof(*windows));
	size_t count = 0;

	if (!windows)
		return kwhy_fail_memory(error, "coverage");
	for (size_t i = 0; i < recording->coverage_count; i++) {
		const struct kwhy_coverage *coverage = &recording->coverage[i];

		if (coverage->device == device || coverage->device == KWHY_NONE)
			windows[count++] = (struct window){coverage->start_ns, coverage->end_ns};
	}
	if (count == 0)
		windows[count++] = (struct window){recording->start_ns, recording->end_ns};
	qsort(windows, count, sizeof(*windows), compare_windows);
	*out = windows;
	*out_count = count;
	return KWHY_OK;
}

/* Part of `asked` that the windows cover, each moment once. */
static int64_t covered_ns(struct window asked, const struct window *windows, size_t count)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t start_ns = windows[i].start_ns, end_ns = windows[i].end_ns;

		if (start_ns < asked.start_ns)
			start_ns = asked.start_ns;
		if (end_ns > asked.end_ns)
			end_ns = asked.end_ns;
		if (end_ns <= start_ns)
			continue;
		sum_ns += end_ns - start_ns;
		asked.start_ns = end_ns;
	}
	return sum_ns;
}

enum kwhy_status kwhy_metered_outside(const struct kwhy_recording *recording, uint32_t device,
	const struct kwhy_device_time *time, struct kwhy_metered_outside *out, struct kwhy_error *error)
{
	struct window metered, before, after, *windows;
	bool any = recording->activities.first[device] < recording->activities.first[device + 1];
	enum kwhy_status status;
	size_t count;

	*out = (struct kwhy_metered_outside){0};
	if (!metered_window(recording, device, &metered))
		return KWHY_OK;
	before = after = metered;
	if (any && before.end_ns > time->first_ns)
		before.end_ns = time->first_ns;
	if (any && after.start_ns < time->last_ns)
		after.start_ns = time->last_ns;
	status = covered_windows(recording, device, &windows, &count, error);
	if (status)
		return status;
	out->metered = true;
	out->before_ns = covered_ns(before, windows, count);
	out->after_ns = any ? covered_ns(after, windows, count) : 0;
	free(windows);
	return KWHY_OK;
}
