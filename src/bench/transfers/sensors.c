/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/sensors.h"

#include <math.h>
#include <string.h>

#define MS INT64_C(1000000)
#define GAUGE_PERIOD_NS (500 * MS)

void kwhy_bench_sensors_find(const struct kwhy_gpu *gpu, struct kwhy_bench_sensors *out)
{
	out->device = KWHY_SENSOR_NO_DEVICE;
	for (size_t i = 0; i < out->sensors->device_count; i++) {
		const struct kwhy_sensor_device *device = &out->sensors->devices[i];

		if (device->mig_index >= 0 || !device->pci_address || !*gpu->facts.pci_address ||
			strcasecmp(device->pci_address, gpu->facts.pci_address) != 0)
			continue;
		out->device = (uint32_t)i;
		out->driver = device->driver;
	}
}

enum kwhy_status kwhy_bench_sensors_open(const struct kwhy_gpu *gpu, size_t history_s,
	struct kwhy_bench_sensors *out, struct kwhy_error *error)
{
	const struct kwhy_sensor_request request = {.gauges = true,
		.gauge_period_ns = GAUGE_PERIOD_NS,
		.ring_period_ns = 1000 * MS,
		.counter_period_ns = 100 * MS,
		.history_s = history_s};
	enum kwhy_status status;

	*out = (struct kwhy_bench_sensors){.device = KWHY_SENSOR_NO_DEVICE};
	status = kwhy_sensors_open(&request, &out->sensors, error);
	if (status)
		return status;
	kwhy_bench_sensors_find(gpu, out);
	status = kwhy_sampler_start(out->sensors, NULL, &out->sampler, error);
	if (status)
		kwhy_bench_sensors_close(out);
	return status;
}

void kwhy_bench_sensors_close(struct kwhy_bench_sensors *sensors)
{
	if (sensors->sampler)
		kwhy_sampler_stop(sensors->sampler, NULL);
	if (sensors->sensors)
		kwhy_sensors_close(sensors->sensors);
	sensors->sampler = NULL;
	sensors->sensors = NULL;
}

static double gauge(const struct kwhy_bench_sensors *sensors, enum kwhy_gauge which)
{
	const struct kwhy_source_channel *source = kwhy_sensors_find_gauge(
		sensors->sensors, which, sensors->device);
	struct kwhy_reading reading;

	return source && kwhy_channel_last(&source->channel, &reading) ? (double)reading.value : NAN;
}

static double power_w(const struct kwhy_bench_sensors *sensors)
{
	const struct kwhy_meter_list meters = kwhy_meters_ranked(KWHY_METER_OWNER_GPU, KWHY_METER_POWERS);
	struct kwhy_reading reading;

	for (size_t i = 0; i < meters.count; i++) {
		const struct kwhy_source_channel *source = kwhy_sensors_find_meter(
			sensors->sensors, meters.items[i], sensors->device);

		if (source && kwhy_channel_last(&source->channel, &reading))
			return (double)reading.value * 1e-3;
	}
	return NAN;
}

void kwhy_bench_conditions_fold(const struct kwhy_bench_sensors *sensors, size_t readings,
	struct kwhy_transfer_conditions *conditions)
{
	double watts, reasons;

	if (!sensors->sensors || sensors->device == KWHY_SENSOR_NO_DEVICE)
		return;
	watts = power_w(sensors);
	reasons = gauge(sensors, KWHY_GAUGE_THROTTLE_REASONS);
	conditions->temperature_c = fmax(
		conditions->temperature_c, gauge(sensors, KWHY_GAUGE_TEMPERATURE) * 1e-3);
	conditions->clock_hz = fmin(conditions->clock_hz, gauge(sensors, KWHY_GAUGE_SM_CLOCK));
	conditions->memory_clock_hz = fmin(
		conditions->memory_clock_hz, gauge(sensors, KWHY_GAUGE_MEMORY_CLOCK));
	if (isfinite(reasons))
		conditions->throttle_bits |= (unsigned)reasons;
	if (isfinite(conditions->power_w) && isfinite(watts))
		conditions->power_w += (watts - conditions->power_w) / ((double)readings + 1);
	else if (isfinite(watts))
		conditions->power_w = watts;
}
