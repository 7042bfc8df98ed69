/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/counter_windows.h"

#include "base/quantile.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Extra power in the run without a machine profile, and standard deviations with and without one, W. An H200
 * drew 32 W more while it was idle, 19 to 30 W more in eight loops, and nothing more at its power limit.
 * There the assumed power is 0, with the standard deviation AT_LIMIT_SD_W; readings of AT_LIMIT times the
 * limit or more are at the limit. OUTSIDE: before a context existed, the H200 drew 4 to 6 W more
 * (docs/results/probe.md).
 */
#define ASSUMED_W 28.0
#define ASSUMED_SD_W 14.0
#define PROFILE_SD_W 7.0
#define AT_LIMIT_SD_W 15.0
#define AT_LIMIT 0.97
#define OUTSIDE_W 8.0
#define OUTSIDE_SD_W 10.0

/* Assumed time from the making of a context to the device's first activity. */
#define CONTEXT_NS 300000000

/*
 * Counter samples outside of all recorded windows are put into windows of their own: samples of which one
 * begins at most GAP_NS after the end of the one before it lie in one window. The window begins ENABLING_NS
 * before its first sample, the time that enabling the counters takes.
 */
#define GAP_NS 50000000
#define ENABLING_NS 150000000

/*
 * At each start and end of a window, the mean of the readings in the NEAR_NS before it is compared with the
 * mean of those in NEAR_NS after it. The latter time begins SETTLING_NS late, because the power still changes
 * then. Each mean needs READINGS_MIN readings; EDGES_MIN such comparisons are needed in all. The standard
 * error of the median of their differences is taken as at least EDGE_SD_W, because the extra power changes
 * within a run: it is higher while the device is idle. The error that follows from n differences is raised by
 * the share FEW / n, because the spread of a few is often too small by chance. With both values, 95 % of the
 * intervals (90 %) hold in simulated runs of random length and work.
 */
#define NEAR_NS 150000000
#define SETTLING_NS 60000000
enum { READINGS_MIN = 3, EDGES_MIN = 4 };
#define FEW 3.0
#define EDGE_SD_W 2.5
#define MEDIAN_SE 1.2533 /* standard error of a median of normal values, times sqrt(n) / sd */
#define MAD_SD 1.4826	 /* sd of normal values / median distance from their median */

static int compare(const void *a, const void *b)
{
	return kwhy_sort_by(((const struct kwhy_enabled_time *)a)->start_ns,
		((const struct kwhy_enabled_time *)b)->start_ns);
}

/* Merges windows that overlap; they are sorted by start. */
static void merge(struct kwhy_counter_windows *windows)
{
	size_t kept = 0;

	for (size_t i = 0; i < windows->count; i++) {
		struct kwhy_enabled_time *last = kept ? &windows->items[kept - 1] : NULL;

		if (!last || windows->items[i].start_ns > last->end_ns)
			windows->items[kept++] = windows->items[i];
		else if (windows->items[i].end_ns > last->end_ns)
			last->end_ns = windows->items[i].end_ns;
	}
	windows->count = kept;
}

static void sort(struct kwhy_counter_windows *windows)
{
	if (windows->count > 1)
		qsort(windows->items, windows->count, sizeof(*windows->items), compare);
	merge(windows);
}

/* Index of the first of `count` windows that ends after a time; `count`: none does. */
static size_t window_after(const struct kwhy_counter_windows *windows, size_t count, int64_t time_ns)
{
	size_t low = 0, high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (windows->items[middle].end_ns > time_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/*
 * Adds windows for the samples that begin outside of the recorded windows. The array windows->items has one
 * free entry for each sample.
 */
static void add_bare_samples(
	struct kwhy_counter_windows *windows, const struct kwhy_recording *recording, uint32_t device)
{
	const size_t recorded = windows->count;
	struct kwhy_enabled_time *last = NULL;

	for (size_t i = 0; i < recording->perf_sample_count; i++) {
		const struct kwhy_perf_sample *sample = &recording->perf_samples[i];
		const int64_t end_ns = sample->start_ns + sample->length_ns;
		size_t at;

		if (sample->device != device)
			continue;
		at = window_after(windows, recorded, sample->start_ns);
		if (at < recorded && windows->items[at].start_ns <= sample->start_ns)
			continue;
		if (!last || sample->start_ns > last->end_ns + GAP_NS || sample->start_ns < last->start_ns) {
			last = &windows->items[windows->count++];
			*last = (struct kwhy_enabled_time){sample->start_ns - ENABLING_NS, end_ns, 0, false};
		} else if (end_ns > last->end_ns) {
			last->end_ns = end_ns;
		}
	}
}

/*
 * Divides the window in which the run begins, because counters take less before the program has a context.
 * The context is assumed to be made CONTEXT_NS before the first activity. No other two windows touch, so
 * where two windows touch the counters stay enabled.
 */
static void divide_at(struct kwhy_counter_windows *windows, int64_t first_ns)
{
	const size_t at = window_after(windows, windows->count, first_ns);
	struct kwhy_enabled_time *window = &windows->items[at];

	if (at == windows->count || window->start_ns >= first_ns)
		return;
	memmove(window + 1, window, (windows->count++ - at) * sizeof(*window));
	window[0].end_ns = window[1].start_ns = first_ns;
}

/* Finds which windows lie in the run, and assumes the extra power of each. */
static void assume(
	struct kwhy_counter_windows *windows, const struct kwhy_recording *recording, uint32_t device)
{
	const struct kwhy_activities *rows = &recording->activities;
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;

	for (size_t i = rows->first[device]; i < rows->first[device + 1]; i++) {
		first_ns = rows->start_ns[i] < first_ns ? rows->start_ns[i] : first_ns;
		last_ns = rows->end_ns[i] > last_ns ? rows->end_ns[i] : last_ns;
	}
	if (first_ns < INT64_MAX) {
		first_ns -= CONTEXT_NS;
		divide_at(windows, first_ns);
	}
	for (size_t i = 0; i < windows->count; i++) {
		struct kwhy_enabled_time *window = &windows->items[i];

		window->is_in_run = window->start_ns < last_ns && window->end_ns > first_ns;
		window->extra_w = window->is_in_run ? windows->extra_w : OUTSIDE_W;
	}
}

enum kwhy_status kwhy_counter_windows_find(struct kwhy_counter_windows *windows,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_profile *profile,
	struct kwhy_error *error)
{
	const bool is_stated = profile && profile->counter_model.spread > 0;
	const size_t most = recording->counter_window_count + recording->perf_sample_count;

	*windows = (struct kwhy_counter_windows){0};
	if (!most)
		return KWHY_OK;
	windows->items = calloc(most + 1, sizeof(*windows->items)); /* one may be divided */
	if (!windows->items)
		return kwhy_fail_memory(error, "the performance counters");
	for (size_t i = 0; i < recording->counter_window_count; i++)
		if (recording->counter_windows[i].device == device)
			windows->items[windows->count++] = (struct kwhy_enabled_time){
				recording->counter_windows[i].start_ns, recording->counter_windows[i].end_ns,
				0, false};
	sort(windows);
	add_bare_samples(windows, recording, device);
	sort(windows);
	if (!windows->count)
		return KWHY_OK;
	windows->extra_w = is_stated ? profile->counter_model.sampling_w : ASSUMED_W;
	windows->sd_w = is_stated ? PROFILE_SD_W : ASSUMED_SD_W;
	windows->limit_w = 1e-3 * (double)recording->devices[device].limit_mw;
	windows->outside_sd_w = OUTSIDE_SD_W;
	assume(windows, recording, device);
	return KWHY_OK;
}

void kwhy_counter_windows_done(struct kwhy_counter_windows *windows)
{
	free(windows->items);
	*windows = (struct kwhy_counter_windows){0};
}

/*
 * Sums over the windows between two times: their lengths in all and of those in the run, ns, and their extra
 * energies, nJ.
 */
struct sums {
	int64_t length_ns, in_run_ns;
	double energy_nj;
};

static struct sums sums_of(const struct kwhy_counter_windows *windows, int64_t start_ns, int64_t end_ns)
{
	struct sums sums = {0, 0, 0};

	for (size_t i = window_after(windows, windows->count, start_ns);
		i < windows->count && windows->items[i].start_ns < end_ns; i++) {
		const struct kwhy_enabled_time *window = &windows->items[i];
		const int64_t from_ns = window->start_ns > start_ns ? window->start_ns : start_ns,
			      to_ns = window->end_ns < end_ns ? window->end_ns : end_ns;

		sums.length_ns += to_ns - from_ns;
		sums.in_run_ns += window->is_in_run ? to_ns - from_ns : 0;
		sums.energy_nj += window->extra_w * (double)(to_ns - from_ns);
	}
	return sums;
}

int64_t kwhy_counter_windows_ns(const struct kwhy_counter_windows *windows, int64_t start_ns, int64_t end_ns)
{
	return sums_of(windows, start_ns, end_ns).length_ns;
}

double kwhy_counter_windows_nj(const struct kwhy_counter_windows *windows, int64_t start_ns, int64_t end_ns)
{
	return sums_of(windows, start_ns, end_ns).energy_nj;
}

double kwhy_counter_windows_sd_nj(
	const struct kwhy_counter_windows *windows, int64_t start_ns, int64_t end_ns)
{
	const struct sums sums = sums_of(windows, start_ns, end_ns);

	return hypot(windows->sd_w * (double)sums.in_run_ns,
		windows->outside_sd_w * (double)(sums.length_ns - sums.in_run_ns));
}

/* Mean of the readings in (start_ns, end_ns], W; NAN: fewer than READINGS_MIN. */
static double mean_w(const struct kwhy_power_series *series, int64_t start_ns, int64_t end_ns)
{
	size_t low = 0, high = series->count, count = 0;
	double sum_mw = 0;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (series->time_ns[middle] > start_ns)
			high = middle;
		else
			low = middle + 1;
	}
	for (; low < series->count && series->time_ns[low] <= end_ns; low++, count++)
		sum_mw += (double)series->value[low];
	return count < READINGS_MIN ? NAN : 1e-3 * sum_mw / (double)count;
}

/*
 * Writes to out_w the power just inside of a window minus the power just outside of it, once for its start
 * and once for its end; a difference for which a side has too few readings is left out. Returns the number of
 * differences; 0 if the window is too short.
 */
static size_t add_differences(const struct kwhy_counter_windows *windows, size_t at, int64_t delay_ns,
	const struct kwhy_power_series *series, double *out_w)
{
	const struct kwhy_enabled_time *window = &windows->items[at];
	const int64_t start_ns = window->start_ns + delay_ns, end_ns = window->end_ns + delay_ns,
		      length_ns = end_ns - start_ns;
	const bool is_begun = at && window[-1].end_ns == window->start_ns,
		   goes_on = at + 1 < windows->count && window[1].start_ns == window->end_ns;
	size_t count = 0;
	double difference_w;

	if (length_ns < NEAR_NS + SETTLING_NS)
		return 0;
	difference_w = mean_w(series, start_ns + SETTLING_NS, start_ns + SETTLING_NS + NEAR_NS) -
		mean_w(series, start_ns - NEAR_NS, start_ns);
	if (!isnan(difference_w) && !is_begun)
		out_w[count++] = difference_w;
	difference_w = mean_w(series, end_ns - NEAR_NS, end_ns) -
		mean_w(series, end_ns + SETTLING_NS, end_ns + SETTLING_NS + NEAR_NS);
	if (!isnan(difference_w) && !goes_on)
		out_w[count++] = difference_w;
	return count;
}

/* Combines an assumed power with the median of differences. *sd_w is its standard deviation. */
static double combine(double assumed_w, double *sd_w, double *differences_w, size_t count)
{
	const double median_w = kwhy_middle_real(differences_w, count), assumed = 1 / (*sd_w * *sd_w);
	double error_w, measured;

	for (size_t i = 0; i < count; i++)
		differences_w[i] = fabs(differences_w[i] - median_w);
	error_w = MEDIAN_SE * MAD_SD * kwhy_middle_real(differences_w, count) / sqrt((double)count);
	error_w = fmax(EDGE_SD_W, error_w * (1 + FEW / (double)count));
	measured = 1 / (error_w * error_w);
	*sd_w = sqrt(1 / (assumed + measured));
	return fmax(0, (assumed_w * assumed + median_w * measured) / (assumed + measured));
}

/* Share of the readings in the windows of the run that are at the device's power limit. */
static double share_at_limit(
	const struct kwhy_counter_windows *windows, const struct kwhy_power_series *series, int64_t delay_ns)
{
	size_t at = 0, count = 0, at_limit = 0;

	for (size_t i = 0; i < series->count && windows->limit_w > 0; i++) {
		const int64_t time_ns = series->time_ns[i] - delay_ns;

		while (at < windows->count && windows->items[at].end_ns < time_ns)
			at++;
		if (at == windows->count)
			break;
		if (!windows->items[at].is_in_run || time_ns < windows->items[at].start_ns + SETTLING_NS)
			continue;
		count++;
		at_limit += 1e-3 * (double)series->value[i] >= AT_LIMIT * windows->limit_w;
	}
	return count ? (double)at_limit / (double)count : 0;
}

static void set_extra(struct kwhy_counter_windows *windows, bool is_in_run, double extra_w)
{
	for (size_t i = 0; i < windows->count; i++)
		if (windows->items[i].is_in_run == is_in_run)
			windows->items[i].extra_w = extra_w;
	if (is_in_run)
		windows->extra_w = extra_w;
}

/* Lowers the assumed extra power of the windows in the run by the share that is at the power limit. */
static void assume_limit(
	struct kwhy_counter_windows *windows, const struct kwhy_power_series *series, int64_t delay_ns)
{
	const double share = share_at_limit(windows, series, delay_ns);

	set_extra(windows, true, (1 - share) * windows->extra_w);
	windows->sd_w = hypot(windows->sd_w, share * AT_LIMIT_SD_W);
}

/* Measures the extra power of the windows in the run, or of the others. `scratch_w`: [2 * count]. */
static void measure(struct kwhy_counter_windows *windows, bool is_in_run,
	const struct kwhy_power_series *series, int64_t delay_ns, double *scratch_w)
{
	const double extra_w = is_in_run ? windows->extra_w : OUTSIDE_W;
	double sd_w = is_in_run ? windows->sd_w : windows->outside_sd_w;
	size_t count = 0;

	for (size_t i = 0; i < windows->count; i++)
		if (windows->items[i].is_in_run == is_in_run)
			count += add_differences(windows, i, delay_ns, series, scratch_w + count);
	if (count < EDGES_MIN)
		return;
	set_extra(windows, is_in_run, combine(extra_w, &sd_w, scratch_w, count));
	*(is_in_run ? &windows->sd_w : &windows->outside_sd_w) = sd_w;
}

enum kwhy_status kwhy_counter_windows_measure(struct kwhy_counter_windows *windows,
	const struct kwhy_power_series *series, const struct kwhy_profile *profile, struct kwhy_error *error)
{
	double *scratch_w;
	int64_t delay_ns;

	if (!windows->count || !series)
		return KWHY_OK;
	scratch_w = calloc(2 * windows->count, sizeof(*scratch_w));
	if (!scratch_w)
		return kwhy_fail_memory(error, "the performance counters");
	delay_ns = llround(1e9 * kwhy_response_of_profile(series->meter, profile).delay_s);
	assume_limit(windows, series, delay_ns);
	measure(windows, true, series, delay_ns, scratch_w);
	measure(windows, false, series, delay_ns, scratch_w);
	free(scratch_w);
	return KWHY_OK;
}

/* Extra power that a reading of a low-pass meter shows, W; `time_ns` is without the meter's delay. */
static double filtered_w(const struct kwhy_counter_windows *windows, int64_t time_ns, double tau_s)
{
	const double tau_ns = 1e9 * tau_s;
	double extra_w = 0;

	/* Windows that ended 40 time constants before have no effect on the reading. */
	for (size_t i = window_after(windows, windows->count, time_ns - llround(40 * tau_ns));
		i < windows->count && windows->items[i].start_ns < time_ns; i++) {
		const struct kwhy_enabled_time *window = &windows->items[i];
		const int64_t end_ns = window->end_ns < time_ns ? window->end_ns : time_ns;

		extra_w += window->extra_w *
			(exp(-(double)(time_ns - end_ns) / tau_ns) -
				exp(-(double)(time_ns - window->start_ns) / tau_ns));
	}
	return extra_w;
}

/* Extra power that a reading of a meter of power shows, W. */
static double shown_w(
	const struct kwhy_counter_windows *windows, const struct kwhy_response *response, int64_t time_ns)
{
	const int64_t mean_ns = llround(1e9 * response->average_window_s);

	time_ns -= llround(1e9 * response->delay_s);
	if (mean_ns > 0)
		return kwhy_counter_windows_nj(windows, time_ns - mean_ns, time_ns) / (double)mean_ns;
	if (response->time_constant_s > 0)
		return filtered_w(windows, time_ns, response->time_constant_s);
	return kwhy_counter_windows_nj(windows, time_ns - 1, time_ns);
}

/*
 * Subtracts the extra energy from a counter's rises. A reading that equals the one before it is of the same
 * update of the counter. No value becomes negative, because the extra energy of all windows is added first.
 */
static void subtract_energy(const struct kwhy_counter_windows *windows, const struct kwhy_response *response,
	struct kwhy_power_series *series)
{
	const double unit_nj = (double)kwhy_meter_unit_nj(series->meter);
	const int64_t delay_ns = llround(1e9 * response->delay_s);
	const int64_t last_ns = series->time_ns[series->count - 1] - delay_ns;
	int64_t since_ns = series->time_ns[0] - delay_ns, before = series->value[0];
	double left_nj = kwhy_counter_windows_nj(windows, since_ns, last_ns);

	series->value[0] += llround(left_nj / unit_nj);
	for (size_t i = 1; i < series->count; i++) {
		const int64_t raw = series->value[i], now_ns = series->time_ns[i] - delay_ns;

		if (raw != before) {
			left_nj -= kwhy_counter_windows_nj(windows, since_ns, now_ns);
			since_ns = now_ns;
		}
		before = raw;
		series->value[i] = raw + llround(left_nj / unit_nj);
	}
}

static void subtract_power(const struct kwhy_counter_windows *windows, const struct kwhy_response *response,
	struct kwhy_power_series *series)
{
	for (size_t i = 0; i < series->count; i++) {
		const double extra_mw = 1e3 * shown_w(windows, response, series->time_ns[i]);

		series->value[i] -= llround(fmin(extra_mw, (double)series->value[i]));
	}
}

enum kwhy_status kwhy_counter_windows_subtract(const struct kwhy_counter_windows *windows,
	const struct kwhy_power_series *series, const struct kwhy_profile *profile,
	struct kwhy_power_series *out, struct kwhy_error *error)
{
	const struct kwhy_response response = kwhy_response_of_profile(series->meter, profile);

	*out = *series;
	out->time_ns = malloc(series->count * sizeof(*out->time_ns));
	out->value = malloc(series->count * sizeof(*out->value));
	if (!out->time_ns || !out->value) {
		free(out->time_ns);
		free(out->value);
		*out = (struct kwhy_power_series){0};
		return kwhy_fail_memory(error, "power readings");
	}
	memcpy(out->time_ns, series->time_ns, series->count * sizeof(*out->time_ns));
	memcpy(out->value, series->value, series->count * sizeof(*out->value));
	if (kwhy_meter_is_counter(series->meter))
		subtract_energy(windows, &response, out);
	else
		subtract_power(windows, &response, out);
	return KWHY_OK;
}
