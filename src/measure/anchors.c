/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/anchors.h"

#include "model/counter.h"

#include <stdlib.h>

#define NJ_PER_J 1e9
/* A stretch of this many periods is a gap. */
#define GAP_PERIODS 3

static int compare_int64(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

/* The median distance of the first readings; 0 when there are none. */
static int64_t typical_period(const int64_t *time_ns, size_t count)
{
	int64_t distances[64];
	size_t used = count < 65 ? count : 65;

	if (count < 2)
		return 0;
	for (size_t i = 1; i < used; i++)
		distances[i - 1] = time_ns[i] - time_ns[i - 1];
	qsort(distances, used - 1, sizeof(*distances), compare_int64);
	return distances[(used - 1) / 2];
}

/* NVML's counter says the same until its next tick; only the tick has a time. */
static bool is_news(const struct kwhy_readings *counter, const struct kwhy_anchors *anchors, size_t i,
	const struct kwhy_reading *last)
{
	const struct kwhy_reading *reading = &counter->items[i];

	if (anchors->count == 0)
		return true;
	return reading->time_mono_ns > last->time_mono_ns &&
		(counter->meter != KWHY_METER_NVML_ENERGY || reading->value != last->value);
}

static void add_anchor(struct kwhy_anchors *anchors, const struct kwhy_readings *counter,
	const struct kwhy_reading *last, const struct kwhy_reading *reading)
{
	size_t at = anchors->count++;
	struct kwhy_counter_span span = {.after = reading->value,
		.wrap = counter->wrap,
		.unit_nj = kwhy_meter_unit_nj(counter->meter)};
	enum kwhy_counter_step step;
	int64_t rise = 0;

	anchors->time_ns[at] = reading->time_mono_ns;
	if (at == 0)
		return;
	span.before = last->value;
	span.length_ns = (double)(reading->time_mono_ns - last->time_mono_ns);
	step = kwhy_counter_rise(&span, &rise);
	anchors->broken[at] = step == KWHY_COUNTER_FELL;
	anchors->resets += step == KWHY_COUNTER_FELL;
	anchors->wraps += step == KWHY_COUNTER_WRAPPED;
	anchors->joules[at] = anchors->joules[at - 1] + (double)rise * (double)span.unit_nj / NJ_PER_J;
}

enum kwhy_status kwhy_anchors_make(
	const struct kwhy_readings *counter, struct kwhy_anchors *out, struct kwhy_error *error)
{
	struct kwhy_anchors anchors = {0};
	const struct kwhy_reading *last = NULL;
	size_t count = counter ? counter->count : 0;

	anchors.time_ns = calloc(count + 1, sizeof(*anchors.time_ns));
	anchors.joules = calloc(count + 1, sizeof(*anchors.joules));
	anchors.broken = calloc(count + 1, sizeof(*anchors.broken));
	if (!anchors.time_ns || !anchors.joules || !anchors.broken) {
		kwhy_anchors_done(&anchors);
		return kwhy_fail_memory(error, "the readings of a counter");
	}
	for (size_t i = 0; i < count; i++) {
		anchors.unordered += last && counter->items[i].time_mono_ns < last->time_mono_ns;
		if (!is_news(counter, &anchors, i, last))
			continue;
		add_anchor(&anchors, counter, last, &counter->items[i]);
		last = &counter->items[i];
	}
	anchors.period_ns = typical_period(anchors.time_ns, anchors.count);
	if (counter && counter->period_ns > anchors.period_ns)
		anchors.period_ns = counter->period_ns;
	*out = anchors;
	return KWHY_OK;
}

void kwhy_anchors_done(struct kwhy_anchors *anchors)
{
	free(anchors->time_ns);
	free(anchors->joules);
	free(anchors->broken);
	*anchors = (struct kwhy_anchors){0};
}

/*
 * The ring's samples are taken at even distances, but about every fifth time stamp comes 6-10 ms late (H200):
 * a stamp late between two that keep time is put in their middle.
 */
static void correct_late(struct kwhy_samples *samples)
{
	int64_t period_ns = samples->period_ns;

	for (size_t i = 1; i + 1 < samples->count; i++) {
		int64_t around_ns = samples->time_ns[i + 1] - samples->time_ns[i - 1];
		int64_t middle_ns = samples->time_ns[i - 1] + around_ns / 2;

		if (llabs(around_ns - 2 * period_ns) < period_ns / 5 &&
			samples->time_ns[i] > middle_ns + period_ns / 5) {
			samples->time_ns[i] = middle_ns;
			samples->late++;
		}
	}
}

static void integrate(struct kwhy_samples *samples)
{
	for (size_t i = 1; i < samples->count; i++) {
		int64_t length_ns = samples->time_ns[i] - samples->time_ns[i - 1];

		samples->joules[i] = samples->joules[i - 1] +
			(double)length_ns * 1e-9 * (samples->watts[i - 1] + samples->watts[i]) / 2;
		samples->gaps[i] = samples->gaps[i - 1] + (length_ns > GAP_PERIODS * samples->period_ns);
	}
}

enum kwhy_status kwhy_samples_make(
	const struct kwhy_readings *power, struct kwhy_samples *out, struct kwhy_error *error)
{
	struct kwhy_samples samples = {0};
	size_t count = power ? power->count : 0;

	samples.time_ns = calloc(count + 1, sizeof(*samples.time_ns));
	samples.watts = calloc(count + 1, sizeof(*samples.watts));
	samples.joules = calloc(count + 1, sizeof(*samples.joules));
	samples.gaps = calloc(count + 1, sizeof(*samples.gaps));
	if (!samples.time_ns || !samples.watts || !samples.joules || !samples.gaps) {
		kwhy_samples_done(&samples);
		return kwhy_fail_memory(error, "the readings of a power meter");
	}
	for (size_t i = 0; i < count; i++) {
		const struct kwhy_reading *reading = &power->items[i];
		size_t at = samples.count;

		if (at > 0 && reading->time_mono_ns <= samples.time_ns[at - 1]) {
			samples.unordered++;
			continue;
		}
		samples.time_ns[at] = reading->time_mono_ns;
		samples.watts[at] = (double)reading->value * 1e-3;
		samples.count++;
	}
	samples.period_ns = typical_period(samples.time_ns, samples.count);
	if (power && power->meter == KWHY_METER_NVML_SAMPLE)
		correct_late(&samples);
	integrate(&samples);
	*out = samples;
	return KWHY_OK;
}

void kwhy_samples_done(struct kwhy_samples *samples)
{
	free(samples->time_ns);
	free(samples->watts);
	free(samples->joules);
	free(samples->gaps);
	*samples = (struct kwhy_samples){0};
}

size_t kwhy_samples_at(const struct kwhy_samples *samples, int64_t time_ns)
{
	size_t low = 0, high = samples->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (samples->time_ns[middle] <= time_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}
