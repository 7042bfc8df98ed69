/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/timeline_power.h"

#include "model/counter.h"
#include "report/page/timeline_part.h"

#include <math.h>

/*
 * Mean power in mW between readings k and k + 1 of an energy counter. If the counter was reset between these
 * readings, the power is unknown, and before_mw is returned.
 */
static int64_t tick_power_mw(const struct kwhy_power_series *series, size_t k, int64_t before_mw)
{
	double power_w;

	return kwhy_counter_power_w(series, k + 1, &power_w) ? llround(power_w * 1e3) : before_mw;
}

void kwhy_timeline_window(const struct kwhy_recording *recording, int64_t *out_start_ns, int64_t *out_end_ns)
{
	int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;

	for (size_t i = 0; i < recording->power_count; i++) {
		const struct kwhy_power_series *series = &recording->power[i];

		if (!series->count)
			continue;
		start_ns = series->time_ns[0] < start_ns ? series->time_ns[0] : start_ns;
		end_ns = series->time_ns[series->count - 1] > end_ns ? series->time_ns[series->count - 1]
								     : end_ns;
	}
	if (recording->end_ns > recording->start_ns || start_ns >= end_ns) {
		start_ns = recording->start_ns;
		end_ns = recording->end_ns;
	}
	*out_start_ns = start_ns;
	*out_end_ns = end_ns;
}

static int64_t start_of(const struct kwhy_recording *recording)
{
	int64_t start_ns, end_ns;

	kwhy_timeline_window(recording, &start_ns, &end_ns);
	return start_ns;
}

static json_t *power_series(const struct kwhy_recording *recording, const struct kwhy_power_series *series,
	struct kwhy_text *columns)
{
	struct kwhy_timeline_column times = {.delta = true}, values = {.delta = true};
	const int64_t start_ns = start_of(recording);
	bool counter = kwhy_meter_is_counter(series->meter);
	int64_t power_mw = 0;

	for (size_t k = 0; k < series->count; k++) {
		/*
		 * Reading k of a counter gets the mean power until reading k + 1; the last reading gets that
		 * of the interval before it.
		 */
		size_t tick = k + 1 < series->count ? k : k - 1;

		kwhy_timeline_column_add(&times, series->time_ns[k] - start_ns);
		power_mw = counter ? tick_power_mw(series, tick, power_mw) : series->value[k];
		kwhy_timeline_column_add(&values, power_mw);
	}
	return json_pack("{si ss ss sI so so}", "device", (int)series->device, "source",
		kwhy_meter_name(series->meter), "kind", counter ? "counter" : "power", "count",
		(json_int_t)series->count, "time", kwhy_timeline_column_finish(&times, columns), "value_mw",
		kwhy_timeline_column_finish(&values, columns));
}

json_t *kwhy_timeline_power(const struct kwhy_report *report, const bool *is_shown, struct kwhy_text *columns)
{
	const struct kwhy_recording *recording = report->recording;
	json_t *array = json_array();

	for (size_t i = 0; i < recording->power_count; i++)
		if (recording->power[i].device != KWHY_NONE && is_shown[recording->power[i].device] &&
			recording->power[i].count > 1)
			json_array_append_new(array, power_series(recording, &recording->power[i], columns));
	return array;
}

/*
 * A column of a device's allocated or reserved memory in bytes, one value for each recorded point; JSON null
 * if all are unknown. In place of an unknown value stands the one before it, at first 0.
 */
static json_t *memory_column(
	const struct kwhy_report *report, uint32_t device, bool reserved, struct kwhy_text *columns)
{
	const struct kwhy_recording *recording = report->recording;
	struct kwhy_timeline_column column = {0};
	uint64_t last = 0;
	bool known = false;

	for (size_t i = 0; i < recording->memory_count; i++) {
		const struct kwhy_memory_point *point = &recording->memory[i];
		uint64_t bytes = reserved ? point->reserved_bytes : point->allocated_bytes;

		if (point->device != device)
			continue;
		known |= bytes != KWHY_UNKNOWN_BYTES;
		last = bytes == KWHY_UNKNOWN_BYTES ? last : bytes;
		kwhy_timeline_column_add(&column, (int64_t)last);
	}
	if (known)
		return kwhy_timeline_column_finish(&column, columns);
	kwhy_text_done(&column.bytes);
	return json_null();
}

static json_t *memory_series(const struct kwhy_report *report, uint32_t device, struct kwhy_text *columns)
{
	const struct kwhy_recording *recording = report->recording;
	const int64_t start_ns = start_of(recording);
	struct kwhy_timeline_column times = {.delta = true};
	size_t count = 0;

	for (size_t i = 0; i < recording->memory_count; i++)
		if (recording->memory[i].device == device) {
			kwhy_timeline_column_add(&times, recording->memory[i].time_ns - start_ns);
			count++;
		}
	if (count == 0)
		return NULL;
	return json_pack("{si sI so so so}", "device", (int)device, "count", (json_int_t)count, "time",
		kwhy_timeline_column_finish(&times, columns), "allocated_bytes",
		memory_column(report, device, false, columns), "reserved_bytes",
		memory_column(report, device, true, columns));
}

json_t *kwhy_timeline_memory(
	const struct kwhy_report *report, const bool *is_shown, struct kwhy_text *columns)
{
	json_t *array = json_array();

	for (uint32_t d = 0; d < report->recording->device_count; d++) {
		json_t *series = is_shown[d] ? memory_series(report, d, columns) : NULL;

		if (series)
			json_array_append_new(array, series);
	}
	return array;
}

static json_t *model_series(const struct kwhy_report *report, uint32_t device, struct kwhy_text *columns)
{
	const struct kwhy_power_curve *curve = &report->model_power[device];
	const int64_t start_ns = start_of(report->recording);
	struct kwhy_timeline_column times = {.delta = true}, values = {.delta = true};

	for (size_t i = 0; i < curve->count; i++) {
		kwhy_timeline_column_add(&times, curve->time_ns[i] - start_ns);
		kwhy_timeline_column_add(&values, curve->power_mw[i]);
	}
	return json_pack("{si sI so so}", "device", (int)device, "count", (json_int_t)curve->count, "time",
		kwhy_timeline_column_finish(&times, columns), "value_mw",
		kwhy_timeline_column_finish(&values, columns));
}

json_t *kwhy_timeline_model(const struct kwhy_report *report, const bool *is_shown, struct kwhy_text *columns)
{
	json_t *array = json_array();

	for (uint32_t d = 0; report->model_power && d < report->recording->device_count; d++)
		if (is_shown[d] && report->model_power[d].count > 1)
			json_array_append_new(array, model_series(report, d, columns));
	return array;
}
