/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_SENSORS_H
#define KWHY_BENCH_TRANSFERS_SENSORS_H

#include "gpu/gpu.h"
#include "model/transfers.h"
#include "sensor/sampler.h"

/* The meters and gauges of the GPU that transfers are measured on, and of the host. */
struct kwhy_bench_sensors {
	struct kwhy_sensors *sensors;
	struct kwhy_sampler *sampler;
	uint32_t device; /* KWHY_SENSOR_NO_DEVICE: no meter knows this GPU */
	const char *driver;
};

/* A machine without any is KWHY_OK. `history_s`: of energies. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_sensors_open(const struct kwhy_gpu *gpu, size_t history_s,
	struct kwhy_bench_sensors *out, struct kwhy_error *error);
void kwhy_bench_sensors_close(struct kwhy_bench_sensors *sensors);

/* Turns to the device that is this GPU, of the same meters. */
void kwhy_bench_sensors_find(const struct kwhy_gpu *gpu, struct kwhy_bench_sensors *out);

/* What the gauges show now, folded into conditions that already hold so many `readings` of equal weight. */
void kwhy_bench_conditions_fold(const struct kwhy_bench_sensors *sensors, size_t readings,
	struct kwhy_transfer_conditions *conditions);

#endif
