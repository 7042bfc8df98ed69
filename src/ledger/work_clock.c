/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/work_clock.h"

#include "base/quantile.h"

#include <math.h>
#include <stdlib.h>

/* minimum number of readings from which quantiles are computed; an assumption */
enum { READINGS_MIN = 5 };
/*
 * Clocks that differ by at most this share count as the same. It is one and a half steps of 15 MHz at an
 * H200's 1,980 MHz.
 */
#define SAME_RATIO 0.012

static const struct kwhy_gauge_series *series_of(const struct kwhy_recording *recording, uint32_t device)
{
	for (size_t i = 0; i < recording->gauge_count; i++)
		if (recording->gauges[i].gauge == KWHY_GAUGE_SM_CLOCK &&
			recording->gauges[i].device == device)
			return &recording->gauges[i];
	return NULL;
}

/*
 * Writes the readings of the SM clock in Hz that were taken while an activity of the program ran, and returns
 * their number. The one launch by the program in each burst of kwhy probe counts, too; it is short.
 */
static size_t take_own(const struct kwhy_gauge_series *series, const struct kwhy_activities *rows,
	uint32_t device, double *out_hz)
{
	size_t row = rows->first[device], count = 0;
	int64_t end_ns = INT64_MIN;

	for (size_t i = 0; i < series->count; i++) {
		for (; row < rows->first[device + 1] && rows->start_ns[row] <= series->time_ns[i]; row++)
			if (rows->origin[row] == KWHY_ORIGIN_PROGRAM && rows->end_ns[row] > end_ns)
				end_ns = rows->end_ns[row];
		if (series->time_ns[i] < end_ns)
			out_hz[count++] = (double)series->value[i];
	}
	return count;
}

/*
 * Standard deviation of the logarithm of `sorted`, from its quartiles, which are 1.349 standard deviations
 * apart for normal data; 0: the quartiles differ by at most SAME_RATIO and count as one clock.
 */
static double spread_of(const double *sorted, size_t count)
{
	const double low_hz = kwhy_quantile(sorted, count, 0.25),
		     high_hz = kwhy_quantile(sorted, count, 0.75);

	return low_hz > 0 && high_hz > (1 + SAME_RATIO) * low_hz ? log(high_hz / low_hz) / 1.349 : 0;
}

enum kwhy_status kwhy_work_clock_init(struct kwhy_work_clock *clock, const struct kwhy_recording *recording,
	uint32_t device, struct kwhy_error *error)
{
	const struct kwhy_gauge_series *series = series_of(recording, device);
	double *own_hz = NULL;
	size_t count = 0;

	*clock = (struct kwhy_work_clock){0};
	if (!series)
		return KWHY_OK;
	own_hz = calloc(series->count + 1, sizeof(*own_hz));
	if (!own_hz)
		return kwhy_fail_memory(error, "readings of the clock");
	count = take_own(series, &recording->activities, device, own_hz);
	if (count >= READINGS_MIN) {
		kwhy_sort_reals(own_hz, count);
		*clock = (struct kwhy_work_clock){series, kwhy_quantile(own_hz, count, 0.05),
			kwhy_quantile(own_hz, count, 0.95), spread_of(own_hz, count)};
	}
	free(own_hz);
	return KWHY_OK;
}

/* Index of the first reading at or after time_ns; series->count: there is none. */
static size_t first_from(const struct kwhy_gauge_series *series, int64_t time_ns)
{
	size_t low = 0, high = series->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (series->time_ns[middle] < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool kwhy_work_clock_differs(const struct kwhy_work_clock *clock, int64_t start_ns, int64_t end_ns)
{
	double sum_hz = 0, mean_hz;
	size_t first, end;

	if (!clock->series)
		return false;
	first = end = first_from(clock->series, start_ns);
	for (; end < clock->series->count && clock->series->time_ns[end] < end_ns; end++)
		sum_hz += (double)clock->series->value[end];
	if (end == first)
		return false;
	mean_hz = sum_hz / (double)(end - first);
	return mean_hz < (1 - SAME_RATIO) * clock->low_hz || mean_hz > (1 + SAME_RATIO) * clock->high_hz;
}
