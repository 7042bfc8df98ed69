/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/clean_idle.h"

#include "base/quantile.h"
#include "ledger/energy/energy_meter.h"
#include "ledger/energy/energy_priors.h"
#include "ledger/parts.h"
#include "ledger/saturate.h"

#include <math.h>
#include <stdlib.h>

/*
 * Least numbers of power samples that make a level. CLEAN_MIN: in the run of samples without a context, and
 * in an interval that is searched for elevated idle. CONTEXT_MIN: in the adjacent run of samples with a
 * context.
 */
#define CLEAN_MIN 5
#define CONTEXT_MIN 3
/*
 * A device has two idle levels of power: with a context (the higher one) and without. STEP_MIN is the
 * smallest difference between them, as a share of the higher level, that counts as the creation or
 * destruction of a context; the share is 0.35 on the H200. A smaller difference may be drift.
 */
#define STEP_MIN 0.15
/*
 * Largest standard deviation of the samples of one idle level, as a share of the difference between the two
 * idle levels.
 */
#define SCATTER_MAX 0.2
/*
 * Largest number of samples at the lower level outside of the longest run of such samples, as a share of the
 * length of this run. If there are more, the device's idle power pulses, and the longest run does not count
 * as time without a context.
 */
#define ELSEWHERE_MAX 0.1
/*
 * Idle power counts as elevated if it is at least this far above the level right after the work. On an H100,
 * elevated idle power was 4 to 5 W above that level. Idle levels drift by less within a second, and they
 * drift upwards after work that heats the device.
 */
#define ELEVATED_MIN_W 2.0
/*
 * Length in ns of the time whose samples give the idle level with a context. It begins when the meter no
 * longer shows the work.
 */
#define AFTER_NS 200000000
/* Ratio of the standard deviation to the median absolute deviation for normal noise. */
#define DEVIATIONS 1.4826
/*
 * Time for which an activity still raises the readings after its end and the meter's delay, in time constants
 * of the meter's low-pass.
 */
#define MEMORY_TAUS 6
/*
 * STEP_UNSURE_NS: uncertainty of the time of a step between the two idle levels. MAKING_NS: time after the
 * end of an interval without a context in which the power is at neither level, because a context is being
 * made.
 */
#define STEP_UNSURE_NS 20000000
#define MAKING_NS 300000000

/* Power samples of an interval in which no activity ran, and runs of consecutive samples at one level. */
struct quiet {
	const struct kwhy_power_series *series;
	size_t first, end;	 /* range of the samples that lie in the interval */
	size_t clean, clean_end; /* range of the longest run of samples at the lower level */
	size_t before, after;	 /* the runs at the higher level next to that run are [before, clean) and
				    [clean_end, after) */
	size_t below_count;	 /* number of all samples at the lower level */
	double known_divide_w, divide_w; /* known_divide_w: the middle between the two levels, if both are
					    stated or were measured earlier (NAN: unknown). divide_w: the
					    power that separates samples of the two levels */
	double clean_w, context_w;	 /* medians of the samples at the two levels */
	double delay_s, tau_s;
	double *scratch;
};

static double power_w(const struct quiet *quiet, size_t i)
{
	return (double)quiet->series->value[i] * 1e-3;
}

static size_t first_from(const struct kwhy_power_series *series, int64_t time_ns)
{
	size_t low = 0, high = series->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (series->time_ns[middle] < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Copies the samples [from, to) to `scratch`, sorted by their power; returns their number. */
static size_t sorted(const struct quiet *quiet, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		quiet->scratch[i - from] = power_w(quiet, i);
	kwhy_sort_reals(quiet->scratch, to - from);
	return to - from;
}

/*
 * Divides the samples into a lower and a higher group such that the variance within the groups is least.
 * Returns the middle between the groups; NAN: there are fewer than two samples.
 */
static double divide_by_scatter(const struct quiet *quiet)
{
	size_t count = sorted(quiet, quiet->first, quiet->end), best = 0;
	double all = 0, low = 0, most = -1;

	for (size_t i = 0; i < count; i++)
		all += quiet->scratch[i];
	for (size_t i = 1; i < count; i++) {
		double gap, between;

		low += quiet->scratch[i - 1];
		gap = (all - low) / (double)(count - i) - low / (double)i;
		between = gap * gap * (double)i * (double)(count - i);
		if (between > most) {
			most = between;
			best = i;
		}
	}
	return best ? (quiet->scratch[best - 1] + quiet->scratch[best]) / 2 : NAN;
}

/*
 * The middle between the two idle levels, which the recording states or the profile has measured. NAN: one
 * of them is unknown, or the level without a context is not the lower one.
 */
static double known_divide(const struct kwhy_device *device, const struct kwhy_profile *profile)
{
	double clean_w = profile ? profile->clean_idle_w.value : NAN;
	double context_w = profile ? profile->context_idle_w.value : NAN;

	if (device->clean_idle_mw > 0)
		clean_w = (double)device->clean_idle_mw * 1e-3;
	if (device->context_idle_mw > 0)
		context_w = (double)device->context_idle_mw * 1e-3;
	return clean_w < context_w ? (clean_w + context_w) / 2 : NAN;
}

/*
 * Whether a sample is at the lower level. A single sample may be an outlier, so the majority of this sample
 * and its two neighbours decides; the first and the last sample decide alone.
 */
static bool is_below(const struct quiet *quiet, size_t i)
{
	int votes = power_w(quiet, i) < quiet->divide_w ? 1 : -1;

	if (i == quiet->first || i + 1 == quiet->end)
		return votes > 0;
	votes += power_w(quiet, i - 1) < quiet->divide_w ? 1 : -1;
	votes += power_w(quiet, i + 1) < quiet->divide_w ? 1 : -1;
	return votes > 0;
}

/*
 * Finds the longest run of samples below the separating power, and the runs above it directly before and
 * after that run.
 */
static void find_runs(struct quiet *quiet)
{
	size_t start = quiet->first;

	quiet->below_count = 0;
	quiet->clean = quiet->clean_end = quiet->first;
	for (size_t i = quiet->first; i <= quiet->end; i++) {
		if (i < quiet->end && is_below(quiet, i)) {
			quiet->below_count++;
			continue;
		}
		if (i - start > quiet->clean_end - quiet->clean) {
			quiet->clean = start;
			quiet->clean_end = i;
		}
		start = i + 1;
	}
	quiet->before = quiet->clean;
	while (quiet->before > quiet->first && !is_below(quiet, quiet->before - 1))
		quiet->before--;
	quiet->after = quiet->clean_end;
	while (quiet->after < quiet->end && !is_below(quiet, quiet->after))
		quiet->after++;
}

static double median_of(const struct quiet *quiet, size_t from, size_t to)
{
	size_t count = sorted(quiet, from, to);

	return quiet->scratch[count / 2];
}

static double scatter_of(const struct quiet *quiet, size_t from, size_t to, double median_w)
{
	for (size_t i = from; i < to; i++)
		quiet->scratch[i - from] = fabs(power_w(quiet, i) - median_w);
	return DEVIATIONS * kwhy_middle_real(quiet->scratch, to - from);
}

/*
 * Whether the runs that find_runs() found are time without and time with a context: both are steady, the step
 * between them is large enough, and the one with the higher power lies next to the activities. The activities
 * are after the interval if `context_comes`, otherwise before it. Also sets clean_w and context_w.
 */
static bool is_step(struct quiet *quiet, bool context_comes)
{
	size_t from = context_comes ? quiet->clean_end : quiet->before;
	size_t to = context_comes ? quiet->after : quiet->clean;
	size_t count = quiet->clean_end - quiet->clean;
	double step_w;

	if (count < CLEAN_MIN || to - from < CONTEXT_MIN ||
		(double)(quiet->below_count - count) > ELSEWHERE_MAX * (double)count)
		return false;
	quiet->clean_w = median_of(quiet, quiet->clean, quiet->clean_end);
	quiet->context_w = median_of(quiet, from, to);
	step_w = quiet->context_w - quiet->clean_w;
	return quiet->clean_w > 0 && step_w >= STEP_MIN * quiet->context_w &&
		scatter_of(quiet, quiet->clean, quiet->clean_end, quiet->clean_w) < SCATTER_MAX * step_w &&
		scatter_of(quiet, from, to, quiet->context_w) < SCATTER_MAX * step_w;
}

/*
 * Time at which the device changed its level between samples i - 1 and i: the time at which the measured
 * power is half way between the two levels, minus the meter's delay and the time that its low-pass takes to
 * get half way.
 */
static int64_t step_ns(const struct quiet *quiet, size_t i)
{
	double middle_w = (quiet->clean_w + quiet->context_w) / 2, from_w = power_w(quiet, i - 1);
	double share = (middle_w - from_w) / (power_w(quiet, i) - from_w);
	int64_t from_ns = quiet->series->time_ns[i - 1], length_ns = quiet->series->time_ns[i] - from_ns;

	share = fmin(fmax(share, 0), 1);
	return from_ns + llround(share * (double)length_ns) -
		llround((quiet->delay_s + quiet->tau_s * log(2)) * 1e9);
}

static void keep(struct kwhy_device_ledger *device_ledger, const struct quiet *quiet,
	const struct kwhy_window *stretch)
{
	struct kwhy_clean_stretch clean = {stretch->start_ns, stretch->end_ns};

	if (quiet->clean > quiet->first)
		clean.start_ns = step_ns(quiet, quiet->clean);
	if (quiet->clean_end < quiet->end)
		clean.end_ns = step_ns(quiet, quiet->clean_end);
	if (clean.start_ns < stretch->start_ns)
		clean.start_ns = stretch->start_ns;
	if (clean.end_ns > stretch->end_ns)
		clean.end_ns = stretch->end_ns;
	if (clean.start_ns < clean.end_ns)
		device_ledger->clean[device_ledger->clean_count++] = clean;
}

/*
 * Looks for time without a context in the interval `stretch`, in which no activity ran, and adds the time
 * that it finds to device_ledger->clean. The interval lies before all activities if `context_comes`,
 * otherwise after them.
 */
static void look(struct quiet *quiet, struct kwhy_device_ledger *device_ledger,
	const struct kwhy_window *stretch, bool context_comes)
{
	const int64_t memory_ns = llround((quiet->delay_s + MEMORY_TAUS * quiet->tau_s) * 1e9);

	if (stretch->start_ns >= stretch->end_ns)
		return;
	quiet->first = first_from(quiet->series, stretch->start_ns + (context_comes ? 0 : memory_ns));
	quiet->end = first_from(quiet->series, stretch->end_ns);
	if (quiet->first + CLEAN_MIN + CONTEXT_MIN > quiet->end)
		return;
	quiet->divide_w = quiet->known_divide_w;
	if (isnan(quiet->divide_w))
		quiet->divide_w = divide_by_scatter(quiet);
	find_runs(quiet);
	if (is_step(quiet, context_comes))
		keep(device_ledger, quiet, stretch);
}

/*
 * Median of the samples in an interval. Also writes their scatter, as a standard deviation. Both are NAN if
 * there are fewer than CLEAN_MIN samples.
 */
static double level_of(const struct quiet *quiet, int64_t start_ns, int64_t end_ns, double *out_scatter_w)
{
	const size_t from = first_from(quiet->series, start_ns), to = first_from(quiet->series, end_ns);
	double level_w;

	*out_scatter_w = NAN;
	if (from + CLEAN_MIN > to)
		return NAN;
	level_w = median_of(quiet, from, to);
	*out_scatter_w = scatter_of(quiet, from, to, level_w);
	return level_w;
}

static double mean_of(const struct quiet *quiet, int64_t start_ns, int64_t end_ns)
{
	const size_t from = first_from(quiet->series, start_ns), to = first_from(quiet->series, end_ns);
	double sum_w = 0;

	for (size_t i = from; i < to; i++)
		sum_w += power_w(quiet, i);
	return sum_w / (double)(to - from);
}

static void keep_elevated_idle(struct quiet *quiet, struct kwhy_device_ledger *device_ledger,
	int64_t start_ns, int64_t end_ns, double level_w, double scatter_w)
{
	double own_scatter_w, own_w = level_of(quiet, start_ns, end_ns, &own_scatter_w);

	if (own_w - level_w >= fmax(ELEVATED_MIN_W, own_scatter_w + scatter_w))
		device_ledger->elevated_idle[device_ledger->elevated_idle_count++] =
			(struct kwhy_elevated_idle){start_ns, end_ns, mean_of(quiet, start_ns, end_ns)};
}

/*
 * Finds elevated idle before and after the work. The level right after the work is taken as the idle level
 * with a context. The time before the work is not searched if a part of it is without a context, since the
 * clocks were low then. After the work, only the time up to the end of the last context is searched.
 */
static void look_for_elevated_idle(struct quiet *quiet, struct kwhy_device_ledger *device_ledger,
	const struct kwhy_window *before, const struct kwhy_window *after)
{
	const int64_t after_ns = kwhy_saturate_add(
		after->start_ns, llround((quiet->delay_s + MEMORY_TAUS * quiet->tau_s) * 1e9));
	const int64_t later_ns = kwhy_saturate_add(after_ns, AFTER_NS);
	bool rested_before = false;
	int64_t end_ns = after->end_ns;
	double level_w, scatter_w;

	for (size_t i = 0; i < device_ledger->clean_count; i++) {
		if (device_ledger->clean[i].end_ns <= device_ledger->time.first_ns)
			rested_before = true;
		else
			end_ns = device_ledger->clean[i].start_ns;
	}
	level_w = level_of(quiet, after_ns, later_ns < end_ns ? later_ns : end_ns, &scatter_w);
	if (!rested_before)
		keep_elevated_idle(
			quiet, device_ledger, before->start_ns, before->end_ns, level_w, scatter_w);
	keep_elevated_idle(quiet, device_ledger, later_ns, end_ns, level_w, scatter_w);
}

static void look_around(
	struct quiet *quiet, struct kwhy_device_ledger *device_ledger, const struct kwhy_covered *covered)
{
	const struct kwhy_window *hull = &covered->hull;
	int64_t first_ns = device_ledger->time.first_ns, last_ns = device_ledger->time.last_ns;
	struct kwhy_window before, after;

	for (size_t i = 0; i < covered->unrecorded_count;
		i++) { /* here, unrecorded time is only time in which kwhy probe was at work; it is not
			  searched either */
		if (covered->unrecorded[i].start_ns < first_ns)
			first_ns = covered->unrecorded[i].start_ns;
		if (covered->unrecorded[i].end_ns > last_ns)
			last_ns = covered->unrecorded[i].end_ns;
	}
	before = (struct kwhy_window){hull->start_ns, first_ns < hull->end_ns ? first_ns : hull->end_ns};
	after = (struct kwhy_window){last_ns > hull->start_ns ? last_ns : hull->start_ns, hull->end_ns};

	look(quiet, device_ledger, &before, true);
	look(quiet, device_ledger, &after, false);
	look_for_elevated_idle(quiet, device_ledger, &before, &after);
}

enum kwhy_status kwhy_ledger_clean(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_covered *covered, const struct kwhy_ledger_options *options,
	struct kwhy_error *error)
{
	const size_t *first = recording->activities.first + device;
	struct kwhy_device_meters meters;
	struct kwhy_normal tau_s, delay_s;
	struct quiet quiet = {0};
	enum kwhy_status status = kwhy_device_meters_find(
		&meters, recording, device, options->profile, error);

	quiet.series = status
		? NULL
		: kwhy_device_meters_best(&meters, KWHY_METER_OWNER_GPU, KWHY_METER_ROLE_SAMPLES);
	if (status || !quiet.series || covered->is_in_windows || first[0] == first[1]) {
		kwhy_device_meters_done(&meters);
		return status;
	}
	quiet.scratch = calloc(quiet.series->count, sizeof(*quiet.scratch));
	if (!quiet.scratch) {
		kwhy_device_meters_done(&meters);
		return kwhy_fail_memory(error, "power samples");
	}
	kwhy_priors_response(quiet.series->meter, options->profile, &tau_s, &delay_s);
	quiet.tau_s = tau_s.mean;
	quiet.delay_s = delay_s.mean;
	quiet.known_divide_w = known_divide(&recording->devices[device], options->profile);
	look_around(&quiet, &ledger->devices[device], covered);
	free(quiet.scratch);
	kwhy_device_meters_done(&meters);
	return KWHY_OK;
}

size_t kwhy_clean_unsettled(
	const struct kwhy_device_ledger *device_ledger, struct kwhy_window out[KWHY_UNSETTLED_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < device_ledger->elevated_idle_count; i++)
		out[count++] = (struct kwhy_window){
			device_ledger->elevated_idle[i].start_ns, device_ledger->elevated_idle[i].end_ns};
	for (size_t i = 0; i < device_ledger->clean_count; i++) {
		const struct kwhy_clean_stretch *stretch = &device_ledger->clean[i];
		int64_t made_ns = stretch->end_ns + MAKING_NS;

		/*
		 * The context exists once the first activity runs, even if that is less than MAKING_NS later.
		 */
		if (made_ns > device_ledger->time.first_ns && stretch->end_ns <= device_ledger->time.first_ns)
			made_ns = device_ledger->time.first_ns;
		out[count++] = (struct kwhy_window){
			stretch->start_ns - STEP_UNSURE_NS, stretch->start_ns + STEP_UNSURE_NS};
		out[count++] = (struct kwhy_window){stretch->end_ns - STEP_UNSURE_NS, made_ns};
	}
	return count;
}
