/* SPDX-License-Identifier: Apache-2.0 */
#include "model/counter.h"

#include "model/recording.h"

#include <math.h>
#include <string.h>

#define WRAP_32_BITS INT64_C(0xffffffff)

bool kwhy_counter_is_plausible(const struct kwhy_counter_span *span, double counts)
{
	const double most_w = span->most_w > 0 ? span->most_w : KWHY_POWER_MAX_W;

	return counts * (double)span->unit_nj <= span->length_ns * most_w;
}

enum kwhy_counter_step kwhy_counter_rise(const struct kwhy_counter_span *span, int64_t *out_counts)
{
	int64_t wrap = span->wrap > 0 ? span->wrap : WRAP_32_BITS, rise;

	if (span->before <= span->after) {
		if (__builtin_sub_overflow(span->after, span->before, &rise))
			return KWHY_COUNTER_FELL;
		*out_counts = rise;
		return KWHY_COUNTER_ROSE;
	}
	if (span->before > wrap || span->after < 0)
		return KWHY_COUNTER_FELL;
	rise = wrap - span->before + 1 + span->after;
	if (!kwhy_counter_is_plausible(span, (double)rise))
		return KWHY_COUNTER_FELL;
	*out_counts = rise;
	return KWHY_COUNTER_WRAPPED;
}

static size_t right_before(const uint8_t *verdict, size_t i)
{
	while (i > 0 && verdict[i - 1] != KWHY_COUNTER_RIGHT)
		i--;
	return i > 0 ? i - 1 : SIZE_MAX;
}

static struct kwhy_counter_span span_of(const struct kwhy_counter_readings *readings, size_t from, size_t to)
{
	return (struct kwhy_counter_span){
		.before = readings->value[from],
		.after = readings->value[to],
		.wrap = readings->wrap,
		.length_ns = (double)readings->time_ns[to] - (double)readings->time_ns[from],
		.unit_nj = readings->unit_nj,
	};
}

/* Counts per nanosecond between two readings; NAN: the counter fell, and not by a wrap. */
static double rate_of(const struct kwhy_counter_readings *readings, size_t from, size_t to)
{
	const struct kwhy_counter_span span = span_of(readings, from, to);
	int64_t counts;

	return kwhy_counter_rise(&span, &counts) == KWHY_COUNTER_FELL ? NAN : (double)counts / span.length_ns;
}

/*
 * Whether the fall after reading `before` was a dip of wrong readings that ended at reading `back`, and not a
 * reset of the counter. Three rates are compared by their ratios: that from the last right reading before
 * `before` to `before` (course), that from `before` to `back`, and that from `back - 1`, the last low
 * reading, to `back` (reset). It was a dip if the second rate is at least as close to the first as the third
 * is. It also counts as a dip if the first or the third rate is 0 or unknown.
 */
static bool is_on_course(
	const struct kwhy_counter_readings *readings, size_t before, size_t back, const uint8_t *verdict)
{
	const size_t earlier = right_before(verdict, before);
	double course, reset;

	if (earlier == SIZE_MAX)
		return true;
	course = rate_of(readings, earlier, before);
	reset = rate_of(readings, back - 1, back);
	if (!(course > 0) || !(reset > 0))
		return true;
	return fabs(log(rate_of(readings, before, back) / course)) <= fabs(log(reset / course));
}

/*
 * The first reading after `fall` that is at least as high as reading `before`. Only KWHY_COUNTER_WRONG_MAX
 * readings are searched; 0: none of these is that high.
 */
static size_t find_return(const struct kwhy_counter_readings *readings, size_t before, size_t fall)
{
	for (size_t k = fall + 1; k <= fall + KWHY_COUNTER_WRONG_MAX && k < readings->count; k++)
		if (readings->value[k] >= readings->value[before])
			return k;
	return 0;
}

/*
 * Writes to out_peak the indices of the readings in a row up to `before` that are higher than the reading at
 * `fall`; readings already judged wrong are skipped. Returns their number. Returns 0 if there are more than
 * KWHY_COUNTER_WRONG_MAX, or if no reading that is at most as high as the one at `fall` precedes them.
 */
static size_t list_peak(const struct kwhy_counter_readings *readings, size_t before, size_t fall,
	const uint8_t *verdict, size_t out_peak[KWHY_COUNTER_WRONG_MAX])
{
	size_t count = 0, at = before;

	while (at != SIZE_MAX && readings->value[at] > readings->value[fall]) {
		if (count == KWHY_COUNTER_WRONG_MAX)
			return 0;
		out_peak[count++] = at;
		at = right_before(verdict, at);
	}
	return at != SIZE_MAX ? count : 0;
}

static bool is_wrap(const struct kwhy_counter_readings *readings, size_t before, size_t fall)
{
	const struct kwhy_counter_span span = span_of(readings, before, fall);
	int64_t counts;

	return kwhy_counter_rise(&span, &counts) == KWHY_COUNTER_WRAPPED;
}

/*
 * Judges the reading `fall`, which is lower than the reading `before`, and returns the index of the next
 * reading to judge. The fall is explained by a dip (wrong readings from `fall` on, which are too low) or by a
 * peak (wrong readings up to `before`, which are too high). If both are possible, the explanation with fewer
 * wrong readings is taken, and a dip if the numbers are equal. A fall that neither explains is a reset or a
 * wrap or, if too few readings follow to know, KWHY_COUNTER_OPEN.
 */
static size_t judge_fall(
	const struct kwhy_counter_readings *readings, size_t before, size_t fall, uint8_t *verdict)
{
	size_t peak[KWHY_COUNTER_WRONG_MAX], back = find_return(readings, before, fall);
	size_t peak_count = list_peak(readings, before, fall, verdict, peak);

	if (back && !peak_count && !is_on_course(readings, before, back, verdict))
		return fall + 1; /* a reset */
	if (back && (!peak_count || back - fall <= peak_count)) {
		memset(verdict + fall, KWHY_COUNTER_WRONG, back - fall);
		return back;
	}
	if (!back && is_wrap(readings, before, fall))
		return fall + 1;
	if (!back && fall + KWHY_COUNTER_WRONG_MAX >= readings->count) {
		memset(verdict + fall, KWHY_COUNTER_OPEN, readings->count - fall);
		return readings->count;
	}
	for (size_t i = 0; i < peak_count; i++)
		verdict[peak[i]] = KWHY_COUNTER_WRONG;
	return fall + 1;
}

void kwhy_counter_judge(const struct kwhy_counter_readings *readings, uint8_t *out_verdict)
{
	size_t i = 1;

	if (readings->count)
		memset(out_verdict, KWHY_COUNTER_RIGHT, readings->count);
	while (i < readings->count) {
		size_t before = right_before(out_verdict, i);

		if (before != SIZE_MAX && readings->value[i] < readings->value[before])
			i = judge_fall(readings, before, i, out_verdict);
		else
			i++;
	}
}

double kwhy_counter_most_w(enum kwhy_meter meter)
{
	/*
	 * At least twice the highest power of hardware of 2026: 1,400 W for a GPU module with its CPU, 500 W
	 * for a CPU package, and 100 W for the DRAM of a package. Any other sensor may measure a whole
	 * machine, so its limit is KWHY_POWER_MAX_W.
	 */
	switch (kwhy_meter_row(meter)->owner) {
	case KWHY_METER_OWNER_GPU:
	case KWHY_METER_OWNER_GPU_MEMORY:
		return 3000;
	case KWHY_METER_OWNER_PACKAGE:
		return 1000;
	case KWHY_METER_OWNER_DRAM:
		return 200;
	default:
		return KWHY_POWER_MAX_W;
	}
}

static struct kwhy_counter_span span_between(const struct kwhy_power_series *series, size_t from, size_t to)
{
	return (struct kwhy_counter_span){
		.before = series->value[from],
		.after = series->value[to],
		.wrap = series->wrap,
		.length_ns = (double)series->time_ns[to] - (double)series->time_ns[from],
		.unit_nj = kwhy_meter_unit_nj(series->meter),
		.most_w = kwhy_counter_most_w(series->meter),
	};
}

static bool is_jump(const struct kwhy_power_series *series, size_t i)
{
	const size_t from = i >= 2 ? i - 2 : i - 1, to = i + 1 < series->count ? i + 1 : i;
	const struct kwhy_counter_span one = span_between(series, i - 1, i),
				       wide = span_between(series, from, to);

	return !kwhy_counter_is_plausible(&one, (double)one.after - (double)one.before) &&
		!kwhy_counter_is_plausible(&wide, (double)wide.after - (double)wide.before);
}

enum kwhy_counter_step kwhy_counter_step(
	const struct kwhy_power_series *series, size_t i, int64_t *out_counts)
{
	const struct kwhy_counter_span span = span_between(series, i - 1, i);
	const enum kwhy_counter_step step = kwhy_counter_rise(&span, out_counts);

	return step == KWHY_COUNTER_ROSE && is_jump(series, i) ? KWHY_COUNTER_JUMPED : step;
}

bool kwhy_counter_power_w(const struct kwhy_power_series *series, size_t i, double *out_w)
{
	int64_t counts;
	const enum kwhy_counter_step step = kwhy_counter_step(series, i, &counts);

	if (step == KWHY_COUNTER_FELL || step == KWHY_COUNTER_JUMPED)
		return false;
	*out_w = (double)counts * (double)kwhy_meter_unit_nj(series->meter) /
		(double)(series->time_ns[i] - series->time_ns[i - 1]);
	return true;
}
