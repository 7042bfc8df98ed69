/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/nvml/parts.h"

#include <stdio.h>

#define GAUGE_PERIOD_NS INT64_C(1000000000)
#define NS_PER_S 1e9

static enum kwhy_status add_source(struct kwhy_nvml_unit *unit, const struct kwhy_source_channel *source,
	double updates_per_s, uint32_t *out_source, struct kwhy_error *error)
{
	return kwhy_sensors_add_source(
		unit->sensors, source, updates_per_s, unit->request, out_source, error);
}

enum kwhy_status kwhy_nvml_unit_add_meter(struct kwhy_nvml_unit *unit, enum kwhy_meter meter,
	int64_t period_ns, double updates_per_s, uint32_t *out_source, struct kwhy_error *error)
{
	struct kwhy_source_channel source = {
		.kind = KWHY_SOURCE_METER,
		.meter = meter,
		.device = unit->device,
		.period_ns = period_ns,
	};

	return add_source(unit, &source, updates_per_s, out_source, error);
}

enum kwhy_status kwhy_nvml_unit_add_gauge(struct kwhy_nvml_unit *unit, enum kwhy_gauge gauge,
	int64_t period_ns, uint32_t *out_source, struct kwhy_error *error)
{
	const bool is_fast = gauge == KWHY_GAUGE_SM_CLOCK && unit->request->clock_period_ns;
	struct kwhy_source_channel source = {
		.kind = KWHY_SOURCE_GAUGE,
		.gauge = gauge,
		.device = unit->device,
		.period_ns = is_fast ? unit->request->clock_period_ns : period_ns,
	};

	return add_source(unit, &source, NS_PER_S / (double)source.period_ns, out_source, error);
}

enum kwhy_status kwhy_nvml_unit_add_task(struct kwhy_nvml_unit *unit, const char *what, void *state,
	int64_t period_ns, kwhy_sensor_read *read, struct kwhy_error *error)
{
	char title[80];
	struct kwhy_sensor_task task = {.title = title, .state = state, .period_ns = period_ns, .read = read};

	snprintf(title, sizeof(title), "nvml %s %s", what, unit->title);
	return kwhy_sensors_add_task(unit->sensors, &task, error);
}

enum kwhy_status kwhy_nvml_unit_add_absence(
	struct kwhy_nvml_unit *unit, const char *what, enum kwhy_nvml_result result, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_sensors_add_absence(unit->sensors, "nvml", error,
		"%s of %s cannot be read: %s", what, unit->title, kwhy_nvml_words(unit->nvml, result));

	if (!status && result == KWHY_NVML_NO_PERMISSION)
		kwhy_sensors_absence_is_refused(unit->sensors);
	return status;
}

int64_t kwhy_nvml_unit_gauge_period_ns(const struct kwhy_nvml_unit *unit)
{
	int64_t asked_ns = unit->request->gauge_period_ns;

	return asked_ns ? asked_ns : GAUGE_PERIOD_NS;
}

int64_t kwhy_nvml_unit_slow_period_ns(const struct kwhy_nvml_unit *unit)
{
	const int64_t gauge_ns = kwhy_nvml_unit_gauge_period_ns(unit);

	return unit->request->slow_gauge_period_ns > gauge_ns ? unit->request->slow_gauge_period_ns
							      : gauge_ns;
}

int64_t kwhy_nvml_unit_now_ns(const struct kwhy_nvml_unit *unit)
{
	return kwhy_sensors_now_ns(unit->sensors);
}

bool kwhy_nvml_unit_is_lost(const struct kwhy_nvml_unit *unit)
{
	return atomic_load_explicit(&unit->sensors->devices[unit->device].lost, memory_order_relaxed);
}

void kwhy_nvml_unit_push(struct kwhy_nvml_unit *unit, uint32_t source, int64_t time_mono_ns, int64_t value)
{
	kwhy_channel_push(
		&unit->sensors->sources[source].channel, (struct kwhy_reading){time_mono_ns, value});
	kwhy_nvml_unit_set_refused(unit, source, false);
}

void kwhy_nvml_unit_set_refused(struct kwhy_nvml_unit *unit, uint32_t source, bool is_refused)
{
	atomic_store_explicit(&unit->sensors->sources[source].refused, is_refused, memory_order_relaxed);
}

void kwhy_nvml_unit_refuse(struct kwhy_nvml_unit *unit, uint32_t source, enum kwhy_nvml_result result)
{
	kwhy_nvml_unit_set_refused(unit, source, true);
	atomic_fetch_add_explicit(&unit->sensors->sources[source].failures, 1, memory_order_relaxed);
	if (result == KWHY_NVML_GPU_IS_LOST)
		atomic_store_explicit(&unit->sensors->devices[unit->device].lost, true, memory_order_relaxed);
}
