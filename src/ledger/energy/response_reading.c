/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/response_reading.h"

#include "ledger/energy/response_beat.h"
#include "model/counter.h"
#include "model/response.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * If there are too many readings, this many evenly spread series of consecutive readings are kept. Adjacent
 * readings contain more information than isolated ones.
 */
#define STRETCHES 40

/*
 * The meters of a device in the order in which they are tried for the inference of powers: those with role
 * SAMPLES first, then counters (unless ignored), instantaneous readings and means by rank.
 */
static struct kwhy_meter_list meters_to_read(bool ignore_counter)
{
	const unsigned counters = ignore_counter ? 0 : KWHY_METER_COUNTERS;
	const struct kwhy_meter_list others = kwhy_meters_ranked(
		KWHY_METER_OF_DEVICE, counters | KWHY_METER_ROLE_INSTANTS | KWHY_METER_ROLE_MEANS);
	struct kwhy_meter_list list = kwhy_meters_ranked(KWHY_METER_OF_DEVICE, KWHY_METER_ROLE_SAMPLES);

	for (size_t i = 0; i < others.count; i++)
		list.items[list.count++] = others.items[i];
	return list;
}

/* Whether a part of an unsettled time lies between two times. */
static bool is_unsettled(const struct kwhy_reading_limits *limits, int64_t from_ns, int64_t to_ns)
{
	size_t low = 0, high = limits->unsettled_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (limits->unsettled[middle].end_ns > from_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low < limits->unsettled_count && to_ns > limits->unsettled[low].start_ns;
}

static bool covers(const struct kwhy_covered *covered, const struct kwhy_power_reading *reading,
	const struct kwhy_reading_limits *limits)
{
	int64_t from_ns;

	if (__builtin_sub_overflow(reading->from_ns, limits->memory_ns, &from_ns))
		return false;
	return !is_unsettled(limits, from_ns, reading->to_ns) &&
		kwhy_covered_holds(covered, from_ns, reading->to_ns);
}

/*
 * Makes a reading of the mean power between counter updates i - 1 and i. False: i is the first update, or the
 * difference is no energy (the counter fell or jumped).
 */
static bool read_update(const struct kwhy_power_series *series, size_t i, struct kwhy_power_reading *out)
{
	double power_w;

	if (i == 0 || !kwhy_counter_power_w(series, i, &power_w))
		return false;
	*out = (struct kwhy_power_reading){series->time_ns[i - 1], series->time_ns[i], power_w};
	return true;
}

static bool read_power(const struct kwhy_power_series *series, size_t i, const int64_t *beat_ns,
	int64_t average_ns, struct kwhy_power_reading *out)
{
	int64_t to_ns = beat_ns ? beat_ns[i] : series->time_ns[i];

	if (kwhy_meter_is_counter(series->meter))
		return read_update(series, i, out);
	*out = (struct kwhy_power_reading){to_ns, to_ns, (double)series->value[i] * 1e-3};
	return !__builtin_sub_overflow(to_ns, average_ns, &out->from_ns);
}

/*
 * Whether reading i of `count` is kept, if at most `most` are to be kept, in STRETCHES evenly spread series.
 */
static bool is_kept(size_t i, size_t count, size_t most)
{
	size_t stretch = (i * STRETCHES) / count, start = (stretch * count + STRETCHES - 1) / STRETCHES;

	return count <= most || i - start < most / STRETCHES;
}

static void thin(struct kwhy_power_readings *readings, size_t most)
{
	size_t kept = 0, count = readings->count;

	for (size_t i = 0; i < count; i++)
		if (is_kept(i, count, most))
			readings->items[kept++] = readings->items[i];
	readings->count = kept;
	readings->left_out_count = count - kept;
}

static enum kwhy_status read_series(struct kwhy_power_readings *readings,
	const struct kwhy_power_series *series, const struct kwhy_covered *covered,
	const struct kwhy_reading_limits *limits, struct kwhy_error *error)
{
	const int64_t average_ns = llround(
		1e9 * kwhy_response_of_profile(series->meter, limits->profile).average_window_s);
	enum kwhy_status status = KWHY_OK;
	int64_t *beat_ns = NULL;

	readings->meter = series->meter;
	readings->items = calloc(series->count, sizeof(*readings->items));
	if (!readings->items)
		return kwhy_fail_memory(error, "power readings");
	if (kwhy_meter_row(series->meter)->role == KWHY_METER_ROLE_SAMPLES) {
		beat_ns = malloc(series->count * sizeof(*beat_ns));
		status = beat_ns ? kwhy_beat_restore(series->time_ns, series->count, beat_ns, error)
				 : kwhy_fail_memory(error, "power readings");
	}
	for (size_t i = 0; !status && i < series->count; i++) {
		struct kwhy_power_reading *reading = &readings->items[readings->count];

		if (read_power(series, i, beat_ns, average_ns, reading) && covers(covered, reading, limits))
			readings->count++;
	}
	free(beat_ns);
	thin(readings, limits->most);
	return status;
}

enum kwhy_status kwhy_power_readings_init(struct kwhy_power_readings *readings,
	const struct kwhy_device_meters *meters, const struct kwhy_covered *covered,
	const struct kwhy_reading_limits *limits, struct kwhy_error *error)
{
	const struct kwhy_meter_list list = meters_to_read(limits->ignore_counter);
	enum kwhy_status status = KWHY_OK;

	*readings = (struct kwhy_power_readings){.meter = KWHY_NONE};
	for (size_t i = 0; !status && readings->count == 0 && i < list.count; i++) {
		const struct kwhy_power_series *series = meters->series[list.items[i]];

		if (!series)
			continue;
		kwhy_power_readings_done(readings);
		status = read_series(readings, series, covered, limits, error);
	}
	if (status || readings->count == 0)
		kwhy_power_readings_done(readings);
	return status;
}

void kwhy_power_readings_done(struct kwhy_power_readings *readings)
{
	free(readings->items);
	*readings = (struct kwhy_power_readings){.meter = KWHY_NONE};
}
