/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/counter_samples.h"

#include <math.h>
#include <stdlib.h>

/* An interval of more than this many periods without a sample is a gap. */
#define GAP_PERIODS 3
/*
 * In intervals longer than this many of the meter's time constants, steps are not fitted, because the
 * low-passed reading at the end hardly depends on the power at the start.
 */
#define STRETCH_CONSTANTS 2
/*
 * The power before and after a step counts as steady if the levels of the two nearest intervals on the same
 * side of the step differ by less than this share of the step, on both sides.
 */
#define STEADY_RATIO 0.25

/*
 * Corrects late time stamps. The ring's samples are evenly spaced, but about every fifth of their time stamps
 * is 6-10 ms late (H200). A late one between two regular ones is moved to the middle between these.
 */
static void correct_late(struct kwhy_samples *samples)
{
	int64_t period_ns = samples->period_ns;

	for (size_t i = 1; i + 1 < samples->count; i++) {
		struct kwhy_sample *item = &samples->items[i];
		int64_t around_ns = item[1].time_ns - item[-1].time_ns;
		int64_t middle_ns = item[-1].time_ns + around_ns / 2;

		if (llabs(around_ns - 2 * period_ns) < period_ns / 5 &&
			item->time_ns > middle_ns + period_ns / 5) {
			item->time_ns = middle_ns;
			samples->late++;
		}
	}
}

static double stretch_s(const struct kwhy_sample *item)
{
	return (double)(item[1].time_ns - item->time_ns) * 1e-9;
}

/*
 * Mean power from a sample to the next by the trapezoidal rule, with the meter's low-pass undone. If the
 * power steps at an unknown time in the interval, this is right on average but not for each step.
 */
static double mean_level_w(const struct kwhy_sample *item, double constant_s)
{
	return (item[0].watts + item[1].watts) / 2 +
		constant_s * (item[1].watts - item[0].watts) / stretch_s(item);
}

/*
 * The constant power with which a low-pass filter would go from the reading of a sample to that of the next.
 */
static double constant_level_w(const struct kwhy_sample *item, double constant_s)
{
	double keep = constant_s > 0 ? exp(-stretch_s(item) / constant_s) : 0;

	return (item[1].watts - keep * item[0].watts) / (1 - keep);
}

static void set_level(struct kwhy_sample *item, double watts)
{
	item->first_w = item->second_w = fmax(watts, 0);
	item->first_s = stretch_s(item);
}

/*
 * Finds the constant levels before and after interval `i`; false: they are not steady (STEADY_RATIO), or
 * there are too few samples.
 */
static bool levels_around(const struct kwhy_samples *samples, const double *levels_w, size_t i,
	double *out_before_w, double *out_after_w)
{
	double before_w, after_w, differ_w;

	if (i < 2 || i + 3 >= samples->count)
		return false;
	before_w = levels_w[i - 1];
	after_w = levels_w[i + 1];
	differ_w = fmax(fabs(levels_w[i - 2] - before_w), fabs(levels_w[i + 2] - after_w));
	*out_before_w = before_w;
	*out_after_w = after_w;
	return differ_w < STEADY_RATIO * fabs(after_w - before_w);
}

/*
 * Fits a single step to an interval in which the power changed between two steady levels. The time of the
 * step follows from the interval's constant level. False: the levels are not steady, or no such time fits.
 */
static bool fit_step(struct kwhy_samples *samples, const double *levels_w, size_t i)
{
	struct kwhy_sample *item = &samples->items[i];
	double constant_s = samples->time_constant_s, before_w, after_w, part;

	if (!levels_around(samples, levels_w, i, &before_w, &after_w))
		return false;
	part = (levels_w[i] - before_w) / (after_w - before_w);
	if (!(part > 0 && part < 1))
		return false;
	item->first_w = fmax(before_w, 0);
	item->second_w = fmax(after_w, 0);
	item->first_s = stretch_s(item) + constant_s * log1p(part * expm1(-stretch_s(item) / constant_s));
	return true;
}

/*
 * Replaces the powers of the two intervals before and the two after a step by their constant levels. In these
 * intervals the power is steady, and the constant levels are more accurate than the powers by the trapezoidal
 * rule.
 */
static void fit_beside(struct kwhy_samples *samples, const double *levels_w, size_t i)
{
	for (size_t k = i - 2; k <= i + 2; k++)
		if (k != i)
			set_level(&samples->items[k], levels_w[k]);
}

static enum kwhy_status fit(struct kwhy_samples *samples, struct kwhy_error *error)
{
	double *levels_w = calloc(samples->count + 1, sizeof(*levels_w));

	if (!levels_w)
		return kwhy_fail_memory(error, "the readings of a power meter");
	for (size_t i = 0; i + 1 < samples->count; i++) {
		levels_w[i] = constant_level_w(&samples->items[i], samples->time_constant_s);
		set_level(&samples->items[i], mean_level_w(&samples->items[i], samples->time_constant_s));
	}
	for (size_t i = 2; i + 3 < samples->count; i++)
		if (stretch_s(&samples->items[i]) <= STRETCH_CONSTANTS * samples->time_constant_s &&
			fit_step(samples, levels_w, i))
			fit_beside(samples, levels_w, i);
	free(levels_w);
	return KWHY_OK;
}

static void integrate(struct kwhy_samples *samples)
{
	for (size_t i = 0; i + 1 < samples->count; i++) {
		struct kwhy_sample *item = &samples->items[i];
		int64_t length_ns = item[1].time_ns - item->time_ns;

		item[1].joules = item->joules + item->first_s * item->first_w +
			(stretch_s(item) - item->first_s) * item->second_w;
		item[1].gaps = item->gaps + (length_ns > GAP_PERIODS * samples->period_ns);
	}
}

static void take(struct kwhy_samples *samples, const struct kwhy_readings *power)
{
	for (size_t i = 0; i < power->count; i++) {
		const struct kwhy_reading *reading = &power->items[i];

		if (samples->count > 0 &&
			reading->time_mono_ns <= samples->items[samples->count - 1].time_ns) {
			samples->unordered++;
			continue;
		}
		samples->items[samples->count++] = (struct kwhy_sample){
			.time_ns = reading->time_mono_ns, .watts = (double)reading->value * 1e-3};
	}
}

/* Median time in ns between consecutive samples, from the first KWHY_PERIOD_OF; 0: fewer than two samples. */
static int64_t typical_period(const struct kwhy_samples *samples)
{
	int64_t times_ns[KWHY_PERIOD_OF];
	size_t count = samples->count < KWHY_PERIOD_OF ? samples->count : KWHY_PERIOD_OF;

	for (size_t i = 0; i < count; i++)
		times_ns[i] = samples->items[i].time_ns;
	return kwhy_period_typical(times_ns, count);
}

enum kwhy_status kwhy_samples_make(const struct kwhy_readings *power, double time_constant_s,
	struct kwhy_samples *out, struct kwhy_error *error)
{
	struct kwhy_samples samples = {.time_constant_s = time_constant_s};

	samples.items = calloc((power ? power->count : 0) + 1, sizeof(*samples.items));
	if (!samples.items)
		return kwhy_fail_memory(error, "the readings of a power meter");
	if (power)
		take(&samples, power);
	samples.period_ns = typical_period(&samples);
	if (power && kwhy_meter_row(power->meter)->role == KWHY_METER_ROLE_SAMPLES)
		correct_late(&samples);
	if (fit(&samples, error)) {
		kwhy_samples_done(&samples);
		return error->status;
	}
	integrate(&samples);
	*out = samples;
	return KWHY_OK;
}

void kwhy_samples_done(struct kwhy_samples *samples)
{
	free(samples->items);
	*samples = (struct kwhy_samples){0};
}

size_t kwhy_samples_at(const struct kwhy_samples *samples, int64_t time_ns)
{
	size_t low = 0, high = samples->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (samples->items[middle].time_ns <= time_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static double passed(double from_w, double to_w, double length_s, double constant_s)
{
	return constant_s > 0 ? to_w + (from_w - to_w) * exp(-length_s / constant_s) : to_w;
}

struct kwhy_sample_at kwhy_samples_between(const struct kwhy_samples *samples, int64_t time_ns)
{
	const struct kwhy_sample *item = &samples->items[kwhy_samples_at(samples, time_ns)];
	double length_s = (double)(time_ns - item->time_ns) * 1e-9, first_s = fmin(length_s, item->first_s);
	double second_s = length_s - first_s, constant_s = samples->time_constant_s, first_w;

	if (length_s <= 0 || item == &samples->items[samples->count - 1])
		return (struct kwhy_sample_at){item->watts, item->joules + length_s * item->watts};
	if (stretch_s(item) > STRETCH_CONSTANTS * constant_s) {
		double watts = item->watts + (item[1].watts - item->watts) * length_s / stretch_s(item);

		return (struct kwhy_sample_at){watts, item->joules + length_s * item->first_w};
	}
	first_w = passed(item->watts, item->first_w, first_s, constant_s);
	return (struct kwhy_sample_at){
		second_s > 0 ? passed(first_w, item->second_w, second_s, constant_s) : first_w,
		item->joules + first_s * item->first_w + second_s * item->second_w};
}
