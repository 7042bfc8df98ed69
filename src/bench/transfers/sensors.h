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
 * Opens the sensors. If the machine has none, that is no error. Energy readings of the last `history_s`
 * seconds are kept.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_sensors_open(const struct kwhy_gpu *gpu, size_t history_s,
	struct kwhy_bench_sensors *out, struct kwhy_error *error);
void kwhy_bench_sensors_close(struct kwhy_bench_sensors *sensors);

/* Sets `out`, which has open sensors, to another GPU. */
void kwhy_bench_sensors_find(const struct kwhy_gpu *gpu, struct kwhy_bench_sensors *out);

/*
 * Adds the present reading of the gauges to the conditions, which combine `readings` earlier ones: highest
 * temperature, lowest clock rates, mean power, and all throttle reasons.
 */
void kwhy_bench_conditions_fold(const struct kwhy_bench_sensors *sensors, size_t readings,
	struct kwhy_transfer_conditions *conditions);

#endif
