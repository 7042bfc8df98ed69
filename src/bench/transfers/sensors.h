/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_SENSORS_H
#define KWHY_BENCH_TRANSFERS_SENSORS_H

#include "gpu/gpu.h"
#include "model/transfers.h"
#include "sensor/sampler.h"

/* The meters and gauges of the GPU whose transfers are measured, and those of the host. */
struct kwhy_bench_sensors {
	struct kwhy_sensors *sensors;
	struct kwhy_sampler *sampler;
	uint32_t device; /* index into sensors->devices; KWHY_SENSOR_NO_DEVICE: the GPU has no meter */
	const char *driver;
};

/*
 * Opens the sensors of the machine and starts to sample them; their channels hold the readings of the last
 * `history_s` seconds. A GPU without meters is no error.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_sensors_open(const struct kwhy_gpu *gpu, size_t history_s,
	struct kwhy_bench_sensors *out, struct kwhy_error *error);
void kwhy_bench_sensors_close(struct kwhy_bench_sensors *sensors);

/* Makes out->device and out->driver those of another GPU; out->sensors must be open. */
void kwhy_bench_sensors_find(const struct kwhy_gpu *gpu, struct kwhy_bench_sensors *out);

/*
 * Adds the latest readings of the gauges to the conditions, which already combine those of `readings` earlier
 * calls: highest temperature, lowest clock rates, mean power, and all throttle reasons.
 */
void kwhy_bench_conditions_fold(const struct kwhy_bench_sensors *sensors, size_t readings,
	struct kwhy_transfer_conditions *conditions);

#endif
