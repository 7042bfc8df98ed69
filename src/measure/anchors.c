/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/anchors.h"

#include "model/counter.h"

#include <stdlib.h>
#include <string.h>

#define NJ_PER_J 1e9

static int compare_int64(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

int64_t kwhy_period_typical(const int64_t *time_ns, size_t count)
{
	int64_t distances[KWHY_PERIOD_OF];
	size_t used = count < KWHY_PERIOD_OF ? count : KWHY_PERIOD_OF;

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
		if (!is_news(counter, &anchors, i, last)) {
			if (counter->items[i].time_mono_ns > last->time_mono_ns)
				anchors.still_ns = counter->items[i].time_mono_ns;
			continue;
		}
		add_anchor(&anchors, counter, last, &counter->items[i]);
		last = &counter->items[i];
	}
	anchors.period_ns = kwhy_period_typical(anchors.time_ns, anchors.count);
	if (counter && counter->period_ns > anchors.period_ns)
		anchors.period_ns = counter->period_ns;
	*out = anchors;
	return KWHY_OK;
}

void kwhy_anchors_drop(struct kwhy_anchors *anchors, size_t count)
{
	anchors->count -= count;
	memmove(anchors->time_ns, anchors->time_ns + count, anchors->count * sizeof(*anchors->time_ns));
	memmove(anchors->joules, anchors->joules + count, anchors->count * sizeof(*anchors->joules));
	memmove(anchors->broken, anchors->broken + count, anchors->count * sizeof(*anchors->broken));
	if (anchors->count > 0)
		anchors->broken[0] = false;
}

void kwhy_anchors_done(struct kwhy_anchors *anchors)
{
	free(anchors->time_ns);
	free(anchors->joules);
	free(anchors->broken);
	*anchors = (struct kwhy_anchors){0};
}
