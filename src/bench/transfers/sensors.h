/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_SENSORS_H
#define KWHY_BENCH_TRANSFERS_SENSORS_H

#include "gpu/gpu.h"
#include "model/transfers.h"
#include "sensor/sampler.h"

/* The meters and gauges of the GPU whose transfers are measured, and of the host. */
struct kwhy_bench_sensors {
	struct kwhy_sensors *sensors;
	struct kwhy_sampler *sampler;
	uint32_t device; /* KWHY_SENSOR_NO_DEVICE: the GPU has no meter */
	const char *driver;
};

/*
 * Opens the sensors. A machine without sensors is KWHY_OK. `history_s` is how many seconds of energy readings
 * are kept.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_sensors_open(const struct kwhy_gpu *gpu, size_t history_s,
	struct kwhy_bench_sensors *out, struct kwhy_error *error);
void kwhy_bench_sensors_close(struct kwhy_bench_sensors *sensors);

/* Makes `out` refer to another GPU, with the same open sensors. */
void kwhy_bench_sensors_find(const struct kwhy_gpu *gpu, struct kwhy_bench_sensors *out);

/*
 * Combines the gauges' present readings with conditions that already hold `readings` readings: highest
 * temperature, lowest clock rates, mean power, all throttle reasons.
 */
void kwhy_bench_conditions_fold(const struct kwhy_bench_sensors *sensors, size_t readings,
	struct kwhy_transfer_conditions *conditions);

#endif
