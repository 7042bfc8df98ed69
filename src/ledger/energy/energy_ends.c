/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_ends.h"

#include "ledger/energy/energy_priors.h"
#include "model/counter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A change of power is fully shown by readings that lie the meter's delay plus this many of its time
 * constants, or more, after the change.
 */
#define SETTLED_TAUS 5

/* Longest time in ns between two samples of the driver (one every 20 ms) that does not count as a gap. */
#define HOLE_NS 250000000

/*
 * The first interval ends at least this many ns after the start of the recording plus twice the known lag.
 * Its length is thus positive even if the inferred lag, by which its start is moved, is up to twice the known
 * one.
 */
#define MARGIN_NS 5000000

/* Largest plausible ratio of the energy by the counter to that by the 20 ms samples, and of its inverse. */
#define GAIN_MAX 1.1

/*
 * Relative standard uncertainties. GAIN: of the energy that the 20 ms samples add to that of a counter. RING:
 * of the energy of a total made of these samples alone (the driver keeps them in a ring buffer). LEVEL: of
 * the power outside the recording. LAG: of the meter's lag; its effect cancels if the powers at both ends are
 * equal. STEP: of the time at which a change of power shows in an integral over samples, as a share of the
 * time between samples (1.3 ms of 20 ms), for a meter whose low-pass has a time constant of two thirds of the
 * time between samples.
 */
#define GAIN_SPREAD 0.014
#define RING_SPREAD 0.004
#define LEVEL_SPREAD 0.02
#define LAG_SPREAD 0.2
#define STEP_SPREAD 0.065
/*
 * Standard uncertainty of the energy at an end whose power is interpolated between two samples, as a share of
 * the difference of the samples times the time between them (4 ms of 20 ms).
 */
#define UNEVEN_SPREAD 0.2

/*
 * Largest difference in mW between two readings that count as the same level: EVEN_RATIO times the reading
 * plus EVEN_MW.
 */
#define EVEN_RATIO 0.03
#define EVEN_MW 3000

struct reach {
	const struct kwhy_metered_total *total;
	const struct kwhy_power_series *series; /* readings that reach the ends of the recording: those of the
						   total's own meter, or the 20 ms samples */
	int64_t start_ns, end_ns;		/* start and end of the recorded time */
	/*
	 * lag_ns is the inferred lag (delay plus time constant), by which kwhy_metered_view_init() moves
	 * intervals. delay_ns and tau_ns are the means of the priors; energies are computed with these, so
	 * that the metered energy does not depend on the inference.
	 */
	int64_t lag_ns;
	int64_t delay_ns, tau_ns;
	int64_t longest_ns; /* longest time between two readings that does not count as a gap */
	double gain;
	struct kwhy_metered_interval *intervals;
	size_t count;
	double variance_nj2;
	double start_w, end_w; /* power right before and right after the recording, in W; 0: the readings do
				  not give it */
	bool starts_sharp, ends_sharp;
};

static bool is_own(const struct reach *reach)
{
	return reach->series->meter == reach->total->meter;
}

/* Index of the last reading at or before a time; SIZE_MAX: all readings are later. */
static size_t reading_before(const struct kwhy_power_series *series, int64_t time_ns)
{
	size_t low = 0, high = series->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (series->time_ns[middle] <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : SIZE_MAX;
}

static bool is_hole(const struct reach *reach, size_t i)
{
	return reach->series->time_ns[i] - reach->series->time_ns[i - 1] > reach->longest_ns;
}

/*
 * Energy in nJ between readings i - 1 and i of a counter; NAN: the readings are too far apart, or their
 * difference gives no energy (the counter fell or jumped).
 */
static double step_nj(const struct reach *reach, size_t i)
{
	const struct kwhy_power_series *series = reach->series;
	double power_w;

	if (is_hole(reach, i) || !kwhy_counter_power_w(series, i, &power_w))
		return NAN;
	return reach->gain * power_w * (double)(series->time_ns[i] - series->time_ns[i - 1]);
}

/* Power in W at a time between readings i - 1 and i, linearly interpolated; without `gain`. */
static double power_between_w(const struct reach *reach, size_t i, int64_t time_ns)
{
	const struct kwhy_power_series *series = reach->series;
	double share = (double)(time_ns - series->time_ns[i - 1]) /
		(double)(series->time_ns[i] - series->time_ns[i - 1]);

	return 1e-3 * ((1 - share) * (double)series->value[i - 1] + share * (double)series->value[i]);
}

/*
 * Energy in nJ between two times, by the readings of `series`. Powers between readings are interpolated; for
 * a counter, from_ns and to_ns must be times of readings. NAN: unknown, because of a gap.
 */
static double energy_nj(const struct reach *reach, int64_t from_ns, int64_t to_ns)
{
	const struct kwhy_power_series *series = reach->series;
	double sum_nj = 0;

	for (size_t i = reading_before(series, from_ns) + 1;
		i < series->count && series->time_ns[i - 1] < to_ns; i++) {
		int64_t start_ns = series->time_ns[i - 1] > from_ns ? series->time_ns[i - 1] : from_ns;
		int64_t end_ns = series->time_ns[i] < to_ns ? series->time_ns[i] : to_ns;

		if (kwhy_meter_is_counter(series->meter))
			sum_nj += step_nj(reach, i);
		else if (is_hole(reach, i))
			sum_nj = NAN;
		else
			sum_nj += reach->gain * (double)(end_ns - start_ns) *
				(power_between_w(reach, i, start_ns) + power_between_w(reach, i, end_ns)) / 2;
	}
	return sum_nj;
}

/*
 * Power in W before or after the recording. For a power meter it is that of `reading`; for a counter it is
 * the mean between readings `step` - 1 and `step`. NAN: unknown.
 */
static double level_w(const struct reach *reach, size_t reading, size_t step)
{
	double power_w;

	if (!kwhy_meter_is_counter(reach->series->meter))
		return reach->gain * 1e-3 * (double)reach->series->value[reading];
	if (step == 0 || step >= reach->series->count || is_hole(reach, step) ||
		!kwhy_counter_power_w(reach->series, step, &power_w))
		return NAN;
	return power_w;
}

static void add(struct reach *reach, int64_t start_ns, int64_t end_ns, double nj)
{
	reach->intervals[reach->count++] = (struct kwhy_metered_interval){
		start_ns, end_ns, llround(fmax(0, nj))};
}

static double step_length_ns(const struct kwhy_power_series *series)
{
	return (double)(series->time_ns[series->count - 1] - series->time_ns[0]) /
		(double)(series->count - 1);
}

/*
 * Adds the variance of outside_nj, the energy drawn outside the recording that is subtracted, if the power
 * there is steady. `reading` shows that power; `other` is a reading inside the recording. NAN energies add
 * nothing.
 */
static void add_even_variance(struct reach *reach, size_t reading, size_t other, double outside_nj)
{
	const struct kwhy_power_series *series = reach->series;

	if (isnan(outside_nj))
		return;
	reach->variance_nj2 += pow(LEVEL_SPREAD * outside_nj, 2);
	if (!kwhy_meter_is_counter(series->meter) && other < series->count)
		reach->variance_nj2 += pow(STEP_SPREAD * step_length_ns(series) * 1e-3 *
				(double)(series->value[other] - series->value[reading]),
			2);
}

/*
 * Adds the variance of the energy at an end of the recording outside of which the power is not steady. The
 * power at that end is interpolated between readings i - 1 and i.
 */
static void add_uneven_variance(struct reach *reach, size_t i)
{
	const struct kwhy_power_series *series = reach->series;

	reach->variance_nj2 += pow(UNEVEN_SPREAD * step_length_ns(series) * 1e-3 *
			(double)(series->value[i] - series->value[i - 1]),
		2);
}

static bool is_alike(const struct reach *reach, size_t reading, size_t other, double more_mw)
{
	const double value_mw = (double)reach->series->value[reading];

	return fabs((double)reach->series->value[other] - value_mw) <=
		EVEN_RATIO * value_mw + EVEN_MW + more_mw;
}

/*
 * Whether the power before the recording is steady: reading `before`, the last one before the recording, and
 * the reading before that one have about the same power. Always true if `before` is the first reading of all,
 * and for a counter, because its updates do not show changes between them.
 */
static bool is_even_before(const struct reach *reach, size_t before)
{
	return kwhy_meter_is_counter(reach->series->meter) || before == 0 ||
		is_alike(reach, before, before - 1, 0);
}

/*
 * Whether the power after the recording is steady: reading `after` is the first that no longer shows work of
 * the recording. The readings between the end of the recording and `after` must approach its power
 * exponentially, as the output of the meter's low-pass does, and the reading after it must have about the
 * same power. Always true for a counter.
 */
static bool is_even_after(const struct reach *reach, size_t after)
{
	const struct kwhy_power_series *series = reach->series;
	const int64_t shown_ns = reach->end_ns + reach->delay_ns;
	size_t last = reading_before(series, shown_ns);
	double step_mw;

	if (kwhy_meter_is_counter(series->meter))
		return true;
	if (last == SIZE_MAX)
		return false;
	step_mw = fabs((double)series->value[last] - (double)series->value[after]);
	for (size_t i = last + 1; i < after; i++)
		if (!is_alike(reach, after, i,
			    step_mw * exp(-(double)(series->time_ns[i] - shown_ns) / (double)reach->tau_ns)))
			return false;
	return after + 1 >= series->count || is_alike(reach, after, after + 1, 0);
}

/*
 * Energy in nJ from the start of the recording to `to_ns`, without what was drawn before. `before` is the
 * last reading at or before the start of the recording plus the meter's delay. Also sets start_w and adds to
 * variance_nj2. NAN: unknown.
 */
static double start_nj(struct reach *reach, size_t before, int64_t to_ns)
{
	const struct kwhy_power_series *series = reach->series;
	const int64_t shown_ns = reach->start_ns + reach->delay_ns;
	double outside_nj, power_w;

	if (is_even_before(reach, before)) {
		reach->start_w = level_w(reach, before, before);
		outside_nj = reach->start_w * (double)(shown_ns + reach->tau_ns - series->time_ns[before]);
		add_even_variance(reach, before, before + 2, outside_nj);
		return energy_nj(reach, series->time_ns[before], to_ns) - outside_nj;
	}
	power_w = reach->gain * power_between_w(reach, before + 1, shown_ns);
	reach->start_w = power_w;
	add_uneven_variance(reach, before + 1);
	return energy_nj(reach, shown_ns, to_ns) - power_w * (double)reach->tau_ns;
}

/*
 * Energy in nJ from `from_ns` to the end of the recording, without what was drawn after it. Also sets end_w
 * and adds to variance_nj2. NAN: unknown.
 */
static double end_nj(struct reach *reach, int64_t from_ns)
{
	const struct kwhy_power_series *series = reach->series;
	const int64_t shown_ns = reach->end_ns + reach->delay_ns;
	size_t after = reading_before(series, shown_ns + SETTLED_TAUS * reach->tau_ns - 1) + 1;
	size_t next = reading_before(series, shown_ns) + 1;
	double outside_nj, power_w;

	if (after < series->count && is_even_after(reach, after)) {
		reach->end_w = level_w(reach, after, after + 1);
		outside_nj = reach->end_w * (double)(series->time_ns[after] - shown_ns - reach->tau_ns);
		add_even_variance(reach, after, next ? next - 1 : 0, outside_nj);
		return energy_nj(reach, from_ns, series->time_ns[after]) - outside_nj;
	}
	if (kwhy_meter_is_counter(series->meter) || next == 0 || next >= series->count)
		return NAN;
	power_w = reach->gain * power_between_w(reach, next, shown_ns);
	reach->end_w = power_w;
	add_uneven_variance(reach, next);
	return energy_nj(reach, from_ns, shown_ns) + power_w * (double)reach->tau_ns;
}

/* Earliest time at which the first interval may end, on the meter's clock. */
static int64_t first_edge_ns(const struct reach *reach)
{
	return reach->start_ns + 2 * (reach->delay_ns + reach->tau_ns) + MARGIN_NS;
}

/*
 * Adds one interval that begins with the recording. It ends at `to_ns`, where the first interval of the
 * metered total that is kept begins; or, if the 20 ms samples are used, at their first sample after
 * first_edge_ns(), if that is earlier. False: nothing was added, since no reading precedes the recording, the
 * energy is unknown, or the interval would be empty.
 */
static bool reach_start(struct reach *reach, int64_t to_ns)
{
	const struct kwhy_power_series *series = reach->series;
	const int64_t sharp_ns = reach->start_ns + reach->lag_ns;
	size_t before = reading_before(series, reach->start_ns + reach->delay_ns), next;
	double nj;

	if (before == SIZE_MAX || isnan(energy_nj(reach, series->time_ns[before], to_ns)))
		return false;
	for (next = before + 1; next < series->count && series->time_ns[next] < first_edge_ns(reach);)
		next++;
	if (next == series->count || sharp_ns >= to_ns || sharp_ns >= series->time_ns[next])
		return false;
	if (series->time_ns[next] < to_ns && !is_own(reach))
		to_ns = series->time_ns[next];
	nj = start_nj(reach, before, to_ns);
	if (isnan(nj)) {
		reach->start_w = 0;
		return false;
	}
	add(reach, sharp_ns, to_ns, nj);
	reach->starts_sharp = true;
	return true;
}

static void reach_end(struct reach *reach, int64_t from_ns)
{
	const int64_t sharp_ns = reach->end_ns + reach->lag_ns;
	double nj = sharp_ns > from_ns ? end_nj(reach, from_ns) : NAN;

	if (isnan(nj)) {
		reach->end_w = 0;
		return;
	}
	add(reach, from_ns, sharp_ns, nj);
	reach->ends_sharp = true;
}

/*
 * Adds intervals for [from_ns, to_ns], divided at the 20 ms samples. Parts in gaps of the samples are left
 * out.
 */
static void add_samples(struct reach *reach, int64_t from_ns, int64_t to_ns)
{
	const struct kwhy_power_series *series = reach->series;

	for (size_t i = reading_before(series, from_ns) + 1; i < series->count && from_ns < to_ns; i++) {
		int64_t end_ns = series->time_ns[i] < to_ns ? series->time_ns[i] : to_ns;
		double nj = i > 0 ? energy_nj(reach, from_ns, end_ns) : NAN;

		if (end_ns <= from_ns)
			continue;
		if (!isnan(nj))
			add(reach, from_ns, end_ns, nj);
		from_ns = end_ns;
	}
}

/* Time of the first reading at or after the start of the recording; INT64_MAX: there is none. */
static int64_t first_inside_ns(const struct reach *reach)
{
	size_t first = reading_before(reach->series, reach->start_ns - 1) + 1;

	return first < reach->series->count ? reach->series->time_ns[first] : INT64_MAX;
}

static int64_t last_inside_ns(const struct reach *reach)
{
	size_t last = reading_before(reach->series, reach->end_ns);

	return last != SIZE_MAX ? reach->series->time_ns[last] : INT64_MIN;
}

/*
 * Replaces the intervals of the metered total that begin before first_edge_ns() by one that begins with the
 * recording (reach_start()), and returns the index of the first interval that is kept. If reach_start()
 * fails, all intervals are kept (index 0), and only intervals by the 20 ms samples are added before them.
 */
static size_t begin(struct reach *reach)
{
	const struct kwhy_metered_interval *intervals = reach->total->intervals;
	const int64_t edge_ns = first_edge_ns(reach);
	size_t first = 0;

	while (first + 1 < reach->total->count && intervals[first].start_ns < edge_ns &&
		intervals[first].end_ns == intervals[first + 1].start_ns)
		first++;
	if (intervals[first].start_ns < edge_ns || !reach_start(reach, intervals[first].start_ns)) {
		if (!is_own(reach))
			add_samples(reach, first_inside_ns(reach), intervals[0].start_ns);
		return 0;
	}
	if (!is_own(reach))
		add_samples(reach, reach->intervals[0].end_ns, intervals[first].start_ns);
	return first;
}

static void finish(struct reach *reach)
{
	int64_t last_ns = reach->intervals[reach->count - 1].end_ns, inside_ns = last_inside_ns(reach);

	if (!is_own(reach) && inside_ns > last_ns) {
		add_samples(reach, last_ns, inside_ns);
		last_ns = reach->intervals[reach->count - 1].end_ns;
	}
	reach_end(reach, last_ns);
}

/*
 * Ratio of the counter's energy to that by the 20 ms samples, over those intervals of the counter that the
 * samples cover; 1: unknown or not plausible.
 */
static double gain_of(const struct reach *reach)
{
	double counted_nj = 0, sampled_nj = 0, gain;

	for (size_t i = 0; i < reach->total->count; i++) {
		const struct kwhy_metered_interval *interval = &reach->total->intervals[i];
		double nj = energy_nj(reach, interval->start_ns, interval->end_ns);

		if (isnan(nj) || interval->end_ns > reach->series->time_ns[reach->series->count - 1] ||
			interval->start_ns < reach->series->time_ns[0])
			continue;
		counted_nj += (double)interval->energy_nj;
		sampled_nj += nj;
	}
	gain = sampled_nj > 0 ? counted_nj / sampled_nj : 1;
	return gain < GAIN_MAX && gain > 1 / GAIN_MAX ? gain : 1;
}

/*
 * Variance in nJ^2 of the metered total due to the gain of the 20 ms samples and to the meter's lag. The
 * latter matters if the powers before and after the recording differ. before_nj: the total as it was before
 * it was extended.
 */
static double common_variance_nj2(const struct reach *reach, double before_nj, double sum_nj)
{
	double drawn_nj = is_own(reach) ? 0 : fabs(sum_nj - before_nj);
	double gain_nj = kwhy_meter_row(reach->total->meter)->role == KWHY_METER_ROLE_SAMPLES
		? RING_SPREAD * sum_nj
		: GAIN_SPREAD * drawn_nj;
	double lag_nj = LAG_SPREAD * (double)(reach->delay_ns + reach->tau_ns) *
		fabs(reach->end_w - reach->start_w);

	return gain_nj * gain_nj + lag_nj * lag_nj;
}

static void replace(struct reach *reach, struct kwhy_metered_total *total)
{
	double before_nj = (double)total->sum_nj, sampling_nj = total->sampling_ratio * before_nj;

	free(total->intervals);
	total->intervals = reach->intervals;
	total->count = reach->count;
	total->sum_nj = total->sum_ns = 0;
	total->starts_sharp = reach->starts_sharp;
	total->ends_sharp = reach->ends_sharp;
	for (size_t i = 0; i < reach->count; i++) {
		total->sum_nj += reach->intervals[i].energy_nj;
		total->sum_ns += reach->intervals[i].end_ns - reach->intervals[i].start_ns;
	}
	reach->variance_nj2 += common_variance_nj2(reach, before_nj, (double)total->sum_nj);
	if (total->sum_nj > 0)
		total->sampling_ratio = hypot(sampling_nj, 1.645 * sqrt(reach->variance_nj2)) /
			(double)total->sum_nj;
}

static const struct kwhy_power_series *series_of(
	const struct kwhy_metered_total *total, const struct kwhy_device_meters *meters)
{
	const struct kwhy_power_series *ring = kwhy_device_meters_best(
		meters, KWHY_METER_OWNER_GPU, KWHY_METER_ROLE_SAMPLES);

	return ring && kwhy_meter_is_counter(total->meter) ? ring : meters->series[total->meter];
}

enum kwhy_status kwhy_energy_reach_ends(struct kwhy_metered_total *total,
	const struct kwhy_powers_question *question, const struct kwhy_powers *powers, double delay_s,
	struct kwhy_error *error)
{
	struct reach reach = {.total = total,
		.series = series_of(total, question->meters),
		.start_ns = question->covered->hull.start_ns,
		.end_ns = question->covered->hull.end_ns,
		.lag_ns = llround((delay_s + powers->tau_s) * 1e9),
		.gain = 1};
	struct kwhy_normal tau_s, known_delay_s;
	size_t first;

	if (total->is_deconvolved || question->covered->unrecorded_count || question->covered->is_all_idle)
		return KWHY_OK;
	(void)kwhy_priors_response(total->meter, question->options->profile, &tau_s, &known_delay_s);
	reach.tau_ns = llround(tau_s.mean * 1e9);
	reach.delay_ns = llround(known_delay_s.mean * 1e9);
	reach.longest_ns = is_own(&reach) ? total->longest_step_ns : HOLE_NS;
	reach.intervals = calloc(total->count + reach.series->count + 4, sizeof(*reach.intervals));
	if (!reach.intervals)
		return kwhy_fail_memory(error, "metered intervals");
	if (!is_own(&reach))
		reach.gain = gain_of(&reach);
	first = begin(&reach);
	memcpy(reach.intervals + reach.count, total->intervals + first,
		(total->count - first) * sizeof(*reach.intervals));
	reach.count += total->count - first;
	finish(&reach);
	replace(&reach, total);
	return KWHY_OK;
}
