/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/calibration/updates.h"

#include "base/quantile.h"

#include <math.h>
#include <stdlib.h>

enum { INTERVALS_MIN = 8 };

#define LATE_RATIO 0.1 /* a time stamp counts as late if it is late by more than this share of a period */

static double seconds(const struct kwhy_reading *from, const struct kwhy_reading *to)
{
	return (double)(to->time_mono_ns - from->time_mono_ns) * 1e-9;
}

/* Computes the intervals between updates, in seconds, into out[count] and returns their number. */
static size_t find_intervals(const struct kwhy_reading *readings, size_t count, bool stamped, double *out)
{
	const struct kwhy_reading *last = stamped ? readings : NULL;
	size_t found = 0;

	for (size_t i = 1; i < count; i++) {
		if (!stamped && readings[i].value == readings[i - 1].value)
			continue;
		if (last && readings[i].time_mono_ns > last->time_mono_ns)
			out[found++] = seconds(last, &readings[i]);
		last = &readings[i];
	}
	return found;
}

/*
 * Number of intervals that are at most 1.5 times the median; `sorted` is in ascending order. Longer intervals
 * are left out: they occur when an update does not change the value, or while the meter was not read.
 */
static size_t without_pauses(const double *sorted, size_t count)
{
	double most = 1.5 * sorted[count / 2];

	while (count > 1 && sorted[count - 1] > most)
		count--;
	return count;
}

/* Mean of the values, with its standard error. */
static struct kwhy_measured mean_of(const double *values, size_t count)
{
	double sum = 0, squares = 0, mean;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	mean = sum / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return (struct kwhy_measured){
		mean, sqrt(squares / (double)(count > 1 ? count - 1 : 1)) / sqrt((double)count)};
}

bool kwhy_update_is_late(const struct kwhy_reading *readings, size_t count, size_t i, double period_s)
{
	double before_s, both_s;

	if (i == 0 || i + 1 >= count)
		return false;
	before_s = seconds(&readings[i - 1], &readings[i]);
	both_s = before_s + seconds(&readings[i], &readings[i + 1]);
	return before_s > (1 + LATE_RATIO) * period_s && both_s < (2 + 2 * LATE_RATIO) * period_s &&
		both_s - before_s < (1 - LATE_RATIO) * period_s;
}

static void find_late(
	const struct kwhy_reading *readings, size_t count, double *lates, struct kwhy_updates *out)
{
	size_t late = 0;

	for (size_t i = 1; i + 1 < count; i++)
		if (kwhy_update_is_late(readings, count, i, out->period_s.value))
			lates[late++] = seconds(&readings[i - 1], &readings[i]) - out->period_s.value;
	out->late_share = count > 2 ? (double)late / (double)(count - 2) : NAN;
	if (late < 2)
		return;
	out->late_s = mean_of(lates, late);
	out->late_s.sd *= sqrt((double)late); /* mean_of() gave the standard error of the mean; the factor
						 converts it to the standard deviation of single delays */
}

enum kwhy_status kwhy_updates_find(const struct kwhy_reading *readings, size_t count, bool stamped,
	struct kwhy_updates *out, struct kwhy_error *error)
{
	const struct kwhy_measured unknown = {NAN, NAN};
	double *intervals = calloc(count + 1, sizeof(*intervals));
	size_t found;

	if (!intervals)
		return kwhy_fail_memory(error, "the updates of a meter");
	*out = (struct kwhy_updates){.period_s = unknown,
		.shortest_s = NAN,
		.longest_s = NAN,
		.late_share = NAN,
		.late_s = unknown};
	found = find_intervals(readings, count, stamped, intervals);
	if (found >= INTERVALS_MIN) {
		kwhy_sort_reals(intervals, found);
		out->shortest_s = intervals[kwhy_quantile_place(found, 0.01)];
		out->longest_s = intervals[kwhy_quantile_place(found, 0.99)];
		found = without_pauses(intervals, found);
		out->period_s = mean_of(intervals, found);
		if (stamped)
			out->period_s.value = intervals[found / 2];
		out->count = found;
		if (stamped)
			find_late(readings, count, intervals, out);
	}
	free(intervals);
	return KWHY_OK;
}
