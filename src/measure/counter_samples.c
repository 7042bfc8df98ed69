/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/counter_samples.h"

#include "base/quantile.h"
#include "model/counter.h"

#include <stdlib.h>
#include <string.h>

#define NJ_PER_J 1e9

int64_t kwhy_period_typical(const int64_t *time_ns, size_t count)
{
	int64_t distances[KWHY_PERIOD_OF];
	size_t used = count < KWHY_PERIOD_OF ? count : KWHY_PERIOD_OF;

	if (count < 2)
		return 0;
	for (size_t i = 1; i < used; i++)
		distances[i - 1] = time_ns[i] - time_ns[i - 1];
	return kwhy_middle_integer(distances, used - 1);
}

/*
 * Whether a reading is later than the last one that was used, and shows an update of the counter. Only a
 * counter of role UPDATES is read more often than it is updated; a reading of it that repeats the last value
 * shows no update.
 */
static bool is_news(const struct kwhy_readings *counter, const struct kwhy_reading *reading,
	const struct kwhy_reading *last)
{
	if (!last)
		return true;
	return reading->time_mono_ns > last->time_mono_ns &&
		(kwhy_meter_row(counter->meter)->role != KWHY_METER_ROLE_UPDATES ||
			reading->value != last->value);
}

static void add_counter_sample(struct kwhy_counter_samples *counter_samples,
	const struct kwhy_readings *counter, const struct kwhy_reading *last,
	const struct kwhy_reading *reading)
{
	size_t at = counter_samples->count++;
	struct kwhy_counter_span span = {.after = reading->value,
		.wrap = counter->wrap,
		.unit_nj = kwhy_meter_unit_nj(counter->meter)};
	enum kwhy_counter_step step;
	int64_t rise = 0;

	counter_samples->time_ns[at] = reading->time_mono_ns;
	if (!last)
		return;
	span.before = last->value;
	span.length_ns = (double)(reading->time_mono_ns - last->time_mono_ns);
	step = kwhy_counter_rise(&span, &rise);
	counter_samples->broken[at] = step == KWHY_COUNTER_FELL;
	counter_samples->resets += step == KWHY_COUNTER_FELL;
	counter_samples->wraps += step == KWHY_COUNTER_WRAPPED;
	counter_samples->joules[at] = counter_samples->joules[at - 1] +
		(double)rise * (double)span.unit_nj / NJ_PER_J;
}

/*
 * Writes to `out_at` the indexes in `counter` of the readings that show an update, in order of time, and
 * returns their number. Also sets `unordered` and still_ns.
 */
static size_t list_news(
	const struct kwhy_readings *counter, struct kwhy_counter_samples *counter_samples, size_t *out_at)
{
	const struct kwhy_reading *last = NULL;
	size_t listed = 0;

	for (size_t i = 0; counter && i < counter->count; i++) {
		const struct kwhy_reading *reading = &counter->items[i];

		counter_samples->unordered += last && reading->time_mono_ns < last->time_mono_ns;
		if (is_news(counter, reading, last)) {
			out_at[listed++] = i;
			last = reading;
		} else if (reading->time_mono_ns > last->time_mono_ns) {
			counter_samples->still_ns = reading->time_mono_ns;
		}
	}
	return listed;
}

/*
 * Drops from the list `at` the readings that contradict those around them (kwhy_counter_judge()). If the
 * counter fell at its last readings, they are dropped, too, without being counted as misread, because later
 * readings must show whether they are wrong.
 */
static enum kwhy_status keep_right(const struct kwhy_readings *counter,
	struct kwhy_counter_samples *counter_samples, size_t *at, size_t *count, struct kwhy_error *error)
{
	int64_t *time_ns = calloc(2 * *count + 1, sizeof(*time_ns)), *value = time_ns + *count;
	uint8_t *verdict = calloc(*count + 1, sizeof(*verdict));
	enum kwhy_status status = time_ns && verdict ? KWHY_OK
						     : kwhy_fail_memory(error, "the readings of a counter");
	size_t kept = 0;

	for (size_t i = 0; !status && i < *count; i++) {
		time_ns[i] = counter->items[at[i]].time_mono_ns;
		value[i] = counter->items[at[i]].value;
	}
	if (!status && *count)
		kwhy_counter_judge(&(struct kwhy_counter_readings){time_ns, value, *count, counter->wrap,
					   kwhy_meter_unit_nj(counter->meter)},
			verdict);
	for (size_t i = 0; !status && i < *count; i++) {
		counter_samples->misread += verdict[i] == KWHY_COUNTER_WRONG;
		if (verdict[i] == KWHY_COUNTER_RIGHT)
			at[kept++] = at[i];
	}
	free(time_ns);
	free(verdict);
	*count = kept;
	return status;
}

static enum kwhy_status add_counter_samples(const struct kwhy_readings *counter,
	struct kwhy_counter_samples *counter_samples, struct kwhy_error *error)
{
	size_t *at = calloc((counter ? counter->count : 0) + 1, sizeof(*at)), count = 0;
	enum kwhy_status status = at ? KWHY_OK : kwhy_fail_memory(error, "the readings of a counter");

	if (!status) {
		count = list_news(counter, counter_samples, at);
		status = keep_right(counter, counter_samples, at, &count, error);
	}
	for (size_t i = 0; !status && i < count; i++)
		add_counter_sample(counter_samples, counter, i ? &counter->items[at[i - 1]] : NULL,
			&counter->items[at[i]]);
	free(at);
	return status;
}

enum kwhy_status kwhy_counter_samples_make(
	const struct kwhy_readings *counter, struct kwhy_counter_samples *out, struct kwhy_error *error)
{
	struct kwhy_counter_samples counter_samples = {0};
	size_t count = counter ? counter->count : 0;
	enum kwhy_status status = KWHY_OK;

	counter_samples.time_ns = calloc(count + 1, sizeof(*counter_samples.time_ns));
	counter_samples.joules = calloc(count + 1, sizeof(*counter_samples.joules));
	counter_samples.broken = calloc(count + 1, sizeof(*counter_samples.broken));
	if (!counter_samples.time_ns || !counter_samples.joules || !counter_samples.broken)
		status = kwhy_fail_memory(error, "the readings of a counter");
	if (!status)
		status = add_counter_samples(counter, &counter_samples, error);
	if (status) {
		kwhy_counter_samples_done(&counter_samples);
		return status;
	}
	counter_samples.period_ns = kwhy_period_typical(counter_samples.time_ns, counter_samples.count);
	if (counter && counter->period_ns > counter_samples.period_ns)
		counter_samples.period_ns = counter->period_ns;
	*out = counter_samples;
	return KWHY_OK;
}

void kwhy_counter_samples_drop(struct kwhy_counter_samples *counter_samples, size_t count)
{
	counter_samples->count -= count;
	memmove(counter_samples->time_ns, counter_samples->time_ns + count,
		counter_samples->count * sizeof(*counter_samples->time_ns));
	memmove(counter_samples->joules, counter_samples->joules + count,
		counter_samples->count * sizeof(*counter_samples->joules));
	memmove(counter_samples->broken, counter_samples->broken + count,
		counter_samples->count * sizeof(*counter_samples->broken));
	if (counter_samples->count > 0)
		counter_samples->broken[0] = false;
}

void kwhy_counter_samples_done(struct kwhy_counter_samples *counter_samples)
{
	free(counter_samples->time_ns);
	free(counter_samples->joules);
	free(counter_samples->broken);
	*counter_samples = (struct kwhy_counter_samples){0};
}
