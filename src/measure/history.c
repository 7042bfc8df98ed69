/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/history.h"

#include "base/column.h"
#include "measure/metered.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { READINGS_MAX = 1 << 20, READ_AT_ONCE = 256 };

struct series {
	struct kwhy_reading *items;
	size_t first, count, capacity; /* number of items including those before `first`, which are dropped:
					  items[first] to items[count - 1] are kept */
	struct kwhy_channel_cursor cursor;
};

struct kwhy_history {
	const struct kwhy_sensors *sensors;
	struct series *series; /* [source_count] kept readings of each source */
	struct kwhy_metered *metered;
	size_t metered_count, readings_most;
	uint64_t forgotten;
};

enum kwhy_status kwhy_history_new(const struct kwhy_sensors *sensors, size_t readings_most,
	struct kwhy_history **out, struct kwhy_error *error)
{
	struct kwhy_history *history = calloc(1, sizeof(*history));

	if (!history)
		return kwhy_fail_memory(error, "the readings of a session");
	history->sensors = sensors;
	history->readings_most = readings_most ? readings_most : READINGS_MAX;
	history->series = calloc(sensors->source_count + 1, sizeof(*history->series));
	history->metered = calloc(sensors->source_count + 1, sizeof(*history->metered));
	if (!history->series || !history->metered) {
		kwhy_history_free(history);
		return kwhy_fail_memory(error, "the readings of a session");
	}
	history->metered_count = kwhy_metered_list(sensors, history->metered);
	*out = history;
	return KWHY_OK;
}

void kwhy_history_free(struct kwhy_history *history)
{
	if (!history)
		return;
	for (size_t s = 0; history->series && s < history->sensors->source_count; s++)
		free(history->series[s].items);
	free(history->series);
	free(history->metered);
	free(history);
}

/* Moves the kept readings to the front of the array. */
static void compact(struct series *series)
{
	memmove(series->items, series->items + series->first,
		(series->count - series->first) * sizeof(*series->items));
	series->count -= series->first;
	series->first = 0;
}

static enum kwhy_status reserve(struct kwhy_history *history, struct series *series, struct kwhy_error *error)
{
	void *items = series->items;
	enum kwhy_status status;

	if (series->count - series->first >= history->readings_most) {
		size_t half = history->readings_most / 2;

		history->forgotten += half;
		series->first += half;
	}
	if (series->first > series->count / 2)
		compact(series);
	status = kwhy_column_reserve(&items, &series->capacity, series->count + READ_AT_ONCE,
		sizeof(*series->items), "the readings of a session", error);
	series->items = items;
	return status;
}

static enum kwhy_status drain(struct kwhy_history *history, size_t source, struct kwhy_error *error)
{
	struct series *series = &history->series[source];
	size_t taken;

	do {
		enum kwhy_status status = reserve(history, series, error);

		if (status)
			return status;
		taken = kwhy_channel_read(&history->sensors->sources[source].channel, &series->cursor,
			series->items + series->count, READ_AT_ONCE);
		series->count += taken;
	} while (taken == READ_AT_ONCE);
	return KWHY_OK;
}

enum kwhy_status kwhy_history_drain(struct kwhy_history *history, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t s = 0; !status && s < history->sensors->source_count; s++)
		if (history->sensors->sources[s].kind == KWHY_SOURCE_METER)
			status = drain(history, s, error);
	return status;
}

void kwhy_history_forget(struct kwhy_history *history, int64_t before_mono_ns)
{
	for (size_t s = 0; s < history->sensors->source_count; s++) {
		struct series *series = &history->series[s];

		while (series->first < series->count &&
			series->items[series->first].time_mono_ns < before_mono_ns)
			series->first++;
	}
}

struct kwhy_readings kwhy_history_readings(const struct kwhy_history *history, size_t source)
{
	const struct kwhy_source_channel *channel = &history->sensors->sources[source];
	const struct series *series = &history->series[source];

	return (struct kwhy_readings){
		.meter = channel->meter,
		.items = series->items + series->first,
		.count = series->count - series->first,
		.period_ns = channel->period_ns,
		.wrap = channel->wrap,
	};
}

struct kwhy_history_losses kwhy_history_losses(const struct kwhy_history *history)
{
	struct kwhy_history_losses losses = {.forgotten = history->forgotten};

	for (size_t s = 0; s < history->sensors->source_count; s++) {
		losses.lost += history->series[s].cursor.lost;
		losses.failures += atomic_load_explicit(
			&history->sensors->sources[s].failures, memory_order_relaxed);
	}
	return losses;
}

const struct kwhy_metered *kwhy_history_metered(const struct kwhy_history *history, size_t *out_count)
{
	*out_count = history->metered_count;
	return history->metered;
}

/*
 * Returns the response of the power meter of `metered` or, without a power meter, of its energy counter. If
 * there is a counter whose source reports an uncertainty of time stamps (unsure_ns), stamp_sd_s is at least
 * its standard deviation: unsure_ns / sqrt(3), as errors are uniformly distributed within +- unsure_ns.
 */
static struct kwhy_response response_of(const struct kwhy_history *history,
	const struct kwhy_metered *metered, const struct kwhy_profile *profile)
{
	const size_t counter = metered->counter;
	size_t source = metered->power != KWHY_HISTORY_NO_SOURCE ? metered->power : counter;
	struct kwhy_response response = kwhy_response_of_profile(
		history->sensors->sources[source].meter, profile);

	if (counter != KWHY_HISTORY_NO_SOURCE)
		response.stamp_sd_s = fmax(response.stamp_sd_s,
			1e-9 / sqrt(3) *
				(double)atomic_load_explicit(
					&history->sensors->sources[counter].unsure_ns, memory_order_relaxed));
	return response;
}

struct pair {
	struct kwhy_readings counter, power;
	bool counted, powered;
};

static struct pair readings_of(const struct kwhy_history *history, const struct kwhy_metered *metered)
{
	struct pair pair = {.counted = metered->counter != KWHY_HISTORY_NO_SOURCE,
		.powered = metered->power != KWHY_HISTORY_NO_SOURCE};

	if (pair.counted)
		pair.counter = kwhy_history_readings(history, metered->counter);
	if (pair.powered)
		pair.power = kwhy_history_readings(history, metered->power);
	return pair;
}

bool kwhy_history_is_lost(const struct kwhy_history *history, size_t metered)
{
	const struct kwhy_metered *item = &history->metered[metered];

	return item->kind == KWHY_METERED_DEVICE &&
		atomic_load_explicit(&history->sensors->devices[item->device].lost, memory_order_acquire);
}

bool kwhy_history_goes_on(const struct kwhy_history *history, size_t metered, int64_t last_ns, int64_t now_ns)
{
	return last_ns && last_ns > now_ns - KWHY_HISTORY_KEPT_NS && !kwhy_history_is_lost(history, metered);
}

enum kwhy_status kwhy_history_curve(const struct kwhy_history *history, size_t metered,
	const struct kwhy_profile *profile, struct kwhy_curve **out, struct kwhy_error *error)
{
	const struct kwhy_metered *item = &history->metered[metered];
	struct kwhy_response response = response_of(history, item, profile);
	struct pair pair = readings_of(history, item);

	return kwhy_curve_new(pair.counted ? &pair.counter : NULL, pair.powered ? &pair.power : NULL,
		&response, out, error);
}

int64_t kwhy_history_ready_ns(
	const struct kwhy_history *history, int64_t end_mono_ns, const struct kwhy_profile *profile)
{
	int64_t latest_ns = end_mono_ns;

	for (size_t i = 0; i < history->metered_count; i++) {
		const struct kwhy_metered *item = &history->metered[i];
		struct kwhy_response response = response_of(history, item, profile);
		struct pair pair = readings_of(history, item);
		int64_t ready_ns = kwhy_window_ready_ns(end_mono_ns, pair.counted ? &pair.counter : NULL,
			pair.powered ? &pair.power : NULL, &response);

		latest_ns = ready_ns > latest_ns ? ready_ns : latest_ns;
	}
	return latest_ns;
}
