/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/calibration/lags.h"

#include "base/statistics.h"
#include "bench/calibration/updates.h"

#include <math.h>
#include <stdlib.h>

enum { READINGS_MIN = 15 };

/*
 * a fit to one load is used only if the standard deviation of its width is at most this share of the width
 * that was fitted to all loads
 */
#define WORTH_RATIO 0.1

/*
 * Ranges in which lags are searched: widths up to 0.4 s for a low-pass filter and 3 s for a mean, delays up
 * to 0.2 s. Every known meter is inside them.
 */
static const struct kwhy_lag_data as_low_pass = {.kind = KWHY_LAG_LOW_PASS,
	.width_low_s = 1e-4,
	.width_high_s = 0.4,
	.delay_low_s = 0,
	.delay_high_s = 0.2};
static const struct kwhy_lag_data as_mean = {
	.kind = KWHY_LAG_MEAN, .width_low_s = 1e-3, .width_high_s = 3, .delay_low_s = 0, .delay_high_s = 0.2};

/*
 * The readings of one meter that the fit uses, in one group (`stretches`) for each load. period_s is the time
 * between updates of the meter; `stamped`: the readings have time stamps of the meter.
 */
struct gathering {
	const struct kwhy_calibration *calibration;
	const struct kwhy_meter_series *series;
	bool stamped;
	double period_s;
	struct kwhy_lag_reading *readings; /* readings of all loads, one load after the other; allocated for
					      series->count readings */
	size_t used;
	struct kwhy_lag_stretch stretches[KWHY_LAG_STRETCHES_MAX];
};

/*
 * Whether the fit uses readings[i]. A stamped reading is used unless its stamp is late
 * (kwhy_update_is_late()). A polled reading is used if its value is new, or if more than period_s has passed
 * since last_ns, the time of the last reading that is used.
 */
static bool counts(const struct gathering *gathering, size_t i, int64_t last_ns)
{
	const struct kwhy_meter_series *series = gathering->series;

	if (gathering->stamped)
		return !kwhy_update_is_late(series->items, series->count, i, gathering->period_s);
	return i > 0 &&
		(series->items[i].value != series->items[i - 1].value ||
			(double)(series->items[i].time_mono_ns - last_ns) * 1e-9 > gathering->period_s);
}

/* Copies those readings of a phase that the fit uses to `out` and returns their number. */
static size_t gather_readings(
	const struct gathering *gathering, const struct kwhy_phase *phase, struct kwhy_lag_reading *out)
{
	int64_t last_ns = phase->start_ns;
	size_t count = 0;

	for (size_t i = 0; i < gathering->series->count; i++) {
		const struct kwhy_reading *reading = &gathering->series->items[i];

		if (reading->time_mono_ns < phase->start_ns || reading->time_mono_ns > phase->end_ns ||
			!counts(gathering, i, last_ns))
			continue;
		last_ns = reading->time_mono_ns;
		out[count++] = (struct kwhy_lag_reading){
			reading->time_mono_ns, (double)reading->value * 1e-3};
	}
	return count;
}

static void gather(struct gathering *gathering, size_t which, struct kwhy_meter_lag *out)
{
	const struct kwhy_phase *phase = &gathering->calibration->phases[which];
	struct kwhy_lag_reading *readings = gathering->readings + gathering->used;
	size_t count = gather_readings(gathering, phase, readings);

	if (count < READINGS_MIN)
		return;
	gathering->stretches[out->phase_count] = (struct kwhy_lag_stretch){
		gathering->calibration->pulses + phase->first_pulse, phase->pulse_count, readings, count};
	gathering->used += count;
	out->phases[out->phase_count++] = which;
}

static void gather_all(struct gathering *gathering, struct kwhy_meter_lag *out)
{
	for (size_t i = 0; i < gathering->calibration->phase_count; i++) {
		const struct kwhy_phase *phase = &gathering->calibration->phases[i];

		if (phase->kind == KWHY_PHASE_LOAD && phase->load.burn == KWHY_BURN_FMA)
			gather(gathering, i, out);
	}
}

/* Standard error of the mean of `fits`: the widths, or the delays, that were fitted to each load alone. */
static double spread_of(const struct kwhy_moments *fits)
{
	return sqrt(kwhy_moments_variance(fits) / fits->count);
}

/*
 * Adds to the standard deviations of width and delay the scatter between fits to single loads. The scatter is
 * larger than noise explains, because power rises slowly as the silicon warms, and because the time stamps of
 * some loads have larger errors.
 */
static void add_scatter(
	const struct gathering *gathering, const struct kwhy_lag_data *both, struct kwhy_lag *lag)
{
	struct kwhy_moments width = {0}, delay = {0};

	for (size_t i = 0; i < both->stretch_count; i++) {
		struct kwhy_lag_data data = *both;
		struct kwhy_error ignored;
		struct kwhy_lag alone;

		data.stretches = &gathering->stretches[i];
		data.stretch_count = 1;
		/*
		 * The search is limited to values near `lag`, which was fitted to all loads. The load is a
		 * square wave, so if only one load is fitted, a delay that is longer by one period fits
		 * equally well.
		 */
		data.width_low_s = lag->width_s / 3;
		data.width_high_s = lag->width_s * 3;
		data.delay_high_s = lag->delay_s + lag->width_s;
		if (kwhy_lag_fit(&data, &alone, &ignored) != KWHY_OK ||
			alone.width_sd_s > WORTH_RATIO * lag->width_s)
			continue;
		kwhy_moments_add(&width, alone.width_s);
		kwhy_moments_add(&delay, alone.delay_s);
	}
	if (width.count < 2)
		return;
	lag->width_sd_s = hypot(lag->width_sd_s, spread_of(&width));
	lag->delay_sd_s = hypot(lag->delay_sd_s, spread_of(&delay));
}

/*
 * Fits both a low-pass filter and a trailing mean and keeps the one with the higher likelihood. It is no
 * error if one of them cannot be fitted.
 */
static void fit_both(const struct gathering *gathering, struct kwhy_meter_lag *out)
{
	const struct kwhy_lag_data *kinds[] = {&as_low_pass, &as_mean};
	struct kwhy_lag_data best;

	for (size_t i = 0; i < 2 && out->phase_count; i++) {
		struct kwhy_lag_data data = *kinds[i];
		struct kwhy_error ignored;
		struct kwhy_lag lag;

		data.stretches = gathering->stretches;
		data.stretch_count = out->phase_count;
		if (kwhy_lag_fit(&data, &lag, &ignored) != KWHY_OK)
			continue;
		if (!out->found || lag.log_likelihood > out->lag.log_likelihood) {
			out->lag = lag;
			out->kind = data.kind;
		}
		out->found = true;
	}
	if (!out->found)
		return;
	best = *kinds[out->kind == KWHY_LAG_MEAN];
	best.stretches = gathering->stretches;
	best.stretch_count = out->phase_count;
	add_scatter(gathering, &best, &out->lag);
}

enum kwhy_status kwhy_meter_lag_find(const struct kwhy_calibration *calibration, enum kwhy_meter meter,
	bool stamped, double period_s, struct kwhy_meter_lag *out, struct kwhy_error *error)
{
	struct gathering gathering = {.calibration = calibration,
		.series = &calibration->meters[meter],
		.stamped = stamped,
		.period_s = period_s};

	*out = (struct kwhy_meter_lag){0};
	gathering.readings = calloc(gathering.series->count + 1, sizeof(*gathering.readings));
	if (!gathering.readings)
		return kwhy_fail_memory(error, "the fit of a meter's lag");
	gather_all(&gathering, out);
	fit_both(&gathering, out);
	free(gathering.readings);
	return KWHY_OK;
}
