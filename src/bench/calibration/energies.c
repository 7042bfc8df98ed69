/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/calibration/energies.h"

#include "measure/window.h"

#include <math.h>

#define POLL_NS                                                                                              \
	INT64_C(100000000) /* period at which common tools poll a power meter; also the update period of the \
			      energy counter */

static double watts(const struct kwhy_reading *reading)
{
	return (double)reading->value * 1e-3;
}

/* Index of the last reading at or before a time; SIZE_MAX: all readings are later. */
static size_t last_before(const struct kwhy_meter_series *series, int64_t time_ns)
{
	size_t low = 0, high = series->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (series->items[middle].time_mono_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

static bool spans(const struct kwhy_meter_series *series, int64_t start_ns, int64_t end_ns)
{
	return series->count >= 2 && series->items[0].time_mono_ns <= start_ns &&
		series->items[series->count - 1].time_mono_ns >= end_ns;
}

/* Power in watts at a time between readings[i] and readings[i + 1], interpolated linearly. */
static double watts_at(const struct kwhy_reading *readings, size_t i, int64_t time_ns)
{
	double span = (double)(readings[i + 1].time_mono_ns - readings[i].time_mono_ns),
	       share = span > 0 ? (double)(time_ns - readings[i].time_mono_ns) / span : 0;

	return watts(&readings[i]) + share * (watts(&readings[i + 1]) - watts(&readings[i]));
}

double kwhy_series_joules(const struct kwhy_meter_series *series, int64_t start_ns, int64_t end_ns)
{
	double joules = 0;

	if (!spans(series, start_ns, end_ns) || end_ns <= start_ns)
		return NAN;
	for (size_t i = last_before(series, start_ns); i + 1 < series->count; i++) {
		int64_t from_ns = series->items[i].time_mono_ns, to_ns = series->items[i + 1].time_mono_ns;

		if (from_ns >= end_ns)
			break;
		from_ns = from_ns > start_ns ? from_ns : start_ns;
		to_ns = to_ns < end_ns ? to_ns : end_ns;
		joules += (watts_at(series->items, i, from_ns) + watts_at(series->items, i, to_ns)) / 2 *
			(double)(to_ns - from_ns) * 1e-9;
	}
	return joules;
}

struct kwhy_measured kwhy_series_watts(
	const struct kwhy_meter_series *series, int64_t start_ns, int64_t end_ns)
{
	double sum = 0, squares = 0, mean;
	size_t count = 0;

	for (size_t i = 0; i < series->count; i++)
		if (series->items[i].time_mono_ns >= start_ns && series->items[i].time_mono_ns <= end_ns) {
			sum += watts(&series->items[i]);
			squares += watts(&series->items[i]) * watts(&series->items[i]);
			count++;
		}
	if (count < 3)
		return (struct kwhy_measured){NAN, NAN};
	mean = sum / (double)count;
	return (struct kwhy_measured){mean, sqrt(fmax(squares - sum * mean, 0) / (double)(count - 1))};
}

/*
 * Whether the energy counter's last reading at or before a time is at most two update periods (200 ms) old.
 * An older reading shows that updates were missed.
 */
static bool is_fresh(const struct kwhy_meter_series *series, int64_t time_ns)
{
	return time_ns - series->items[last_before(series, time_ns)].time_mono_ns <= 2 * POLL_NS;
}

/*
 * Energy in joules as computed by a tool that reads the energy counter once at start_ns and once at end_ns.
 * Each read returns the value of the last update before it. NAN: the readings do not cover the interval, or
 * updates were missed at its start or end.
 */
static double counter_joules(const struct kwhy_meter_series *series, int64_t start_ns, int64_t end_ns)
{
	if (!spans(series, start_ns, end_ns) || !is_fresh(series, start_ns) || !is_fresh(series, end_ns))
		return NAN;
	return (double)(series->items[last_before(series, end_ns)].value -
		       series->items[last_before(series, start_ns)].value) *
		1e-9 * (double)kwhy_meter_unit_nj(KWHY_METER_NVML_ENERGY);
}

/*
 * Energy in joules as computed by a tool that reads the power meter every 100 ms and integrates the power,
 * interpolated linearly between these reads. NAN: the readings do not cover the interval.
 */
static double polled_joules(const struct kwhy_meter_series *series, int64_t start_ns, int64_t end_ns)
{
	double joules = 0;
	int64_t from_ns = start_ns;

	if (!spans(series, start_ns, end_ns))
		return NAN;
	while (from_ns < end_ns) {
		int64_t to_ns = from_ns + POLL_NS < end_ns ? from_ns + POLL_NS : end_ns;

		joules += (watts(&series->items[last_before(series, from_ns)]) +
				  watts(&series->items[last_before(series, to_ns)])) /
			2 * (double)(to_ns - from_ns) * 1e-9;
		from_ns = to_ns;
	}
	return joules;
}

static struct kwhy_readings readings_of(const struct kwhy_calibration *calibration, enum kwhy_meter meter)
{
	return (struct kwhy_readings){.meter = meter,
		.items = calibration->meters[meter].items,
		.count = calibration->meters[meter].count};
}

static enum kwhy_status window_joules(const struct kwhy_calibration *calibration,
	const struct kwhy_profile *profile, int64_t start_ns, int64_t end_ns, double *out,
	struct kwhy_error *error)
{
	struct kwhy_readings counter = readings_of(calibration, KWHY_METER_NVML_ENERGY),
			     ring = readings_of(calibration, KWHY_METER_NVML_SAMPLE);
	struct kwhy_response response = kwhy_response_of_profile(KWHY_METER_NVML_SAMPLE, profile);
	struct kwhy_curve *curve;
	struct kwhy_energy energy;
	enum kwhy_status status = kwhy_curve_new(
		counter.count ? &counter : NULL, ring.count ? &ring : NULL, &response, &curve, error);

	if (status)
		return status;
	kwhy_window_energy(curve, start_ns, end_ns, KWHY_ENOUGH_RATIO, &energy);
	kwhy_curve_free(curve);
	*out = energy.state == KWHY_ENERGY_MEASURED ? energy.joules : NAN;
	return KWHY_OK;
}

enum kwhy_status kwhy_energies_of(const struct kwhy_calibration *calibration,
	const struct kwhy_profile *profile, int64_t start_ns, int64_t end_ns, struct kwhy_energies *out,
	struct kwhy_error *error)
{
	const struct kwhy_meter_series *meters = calibration->meters;

	out->joules[KWHY_SELF_TEST_COUNTER] = counter_joules(
		&meters[KWHY_METER_NVML_ENERGY], start_ns, end_ns);
	out->joules[KWHY_SELF_TEST_RING] = kwhy_series_joules(
		&meters[KWHY_METER_NVML_SAMPLE], start_ns, end_ns);
	out->joules[KWHY_SELF_TEST_AVERAGE] = polled_joules(
		&meters[KWHY_METER_NVML_AVERAGE], start_ns, end_ns);
	out->joules[KWHY_SELF_TEST_INSTANT] = polled_joules(
		&meters[KWHY_METER_NVML_INSTANT], start_ns, end_ns);
	return window_joules(
		calibration, profile, start_ns, end_ns, &out->joules[KWHY_SELF_TEST_WINDOW], error);
}
