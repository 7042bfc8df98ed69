/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/metered.h"

#include "ledger/energy/coverage.h"

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

/*
 * Writes the time from the first to the last reading of the best meter of the device that has two readings.
 * It need not be the meter of the metered total (energy/energy_total.h). False: there is none.
 */
static bool metered_window(const struct kwhy_recording *recording, uint32_t device, struct kwhy_window *out)
{
	const struct kwhy_meter_list meters = kwhy_meters_ranked(
		KWHY_METER_OF_DEVICE, KWHY_METER_COUNTERS | KWHY_METER_POWERS);

	for (size_t i = 0; i < meters.count; i++) {
		const struct kwhy_power_series *series = series_of(recording, device, meters.items[i]);

		if (!series)
			continue;
		*out = (struct kwhy_window){series->time_ns[0], series->time_ns[series->count - 1]};
		return true;
	}
	return false;
}

static int64_t later(int64_t a_ns, int64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

static int64_t earlier(int64_t a_ns, int64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

enum kwhy_status kwhy_metered_outside(const struct kwhy_recording *recording, uint32_t device,
	const struct kwhy_device_ledger *device_ledger, struct kwhy_metered_outside *out,
	struct kwhy_error *error)
{
	const struct kwhy_device_time *time = &device_ledger->time;
	struct kwhy_window metered, before, after;
	struct kwhy_covered covered;
	bool any = recording->activities.first[device] < recording->activities.first[device + 1];
	enum kwhy_status status;

	*out = (struct kwhy_metered_outside){0};
	if (!metered_window(recording, device, &metered))
		return KWHY_OK;
	before = after = metered;
	if (any && before.end_ns > time->first_ns)
		before.end_ns = time->first_ns;
	if (any && after.start_ns < time->last_ns)
		after.start_ns = time->last_ns;
	status = kwhy_covered_init(&covered, recording, device, error);
	if (status)
		return status;
	out->metered = true;
	out->before_ns = kwhy_covered_ns(&covered, before.start_ns, before.end_ns);
	out->after_ns = any ? kwhy_covered_ns(&covered, after.start_ns, after.end_ns) : 0;
	for (size_t i = 0; i < device_ledger->clean_count; i++)
		out->clean_ns += kwhy_covered_ns(&covered,
			later(device_ledger->clean[i].start_ns, metered.start_ns),
			earlier(device_ledger->clean[i].end_ns, metered.end_ns));
	kwhy_covered_done(&covered);
	return KWHY_OK;
}
