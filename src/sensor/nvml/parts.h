/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_NVML_PARTS_H
#define KWHY_SENSOR_NVML_PARTS_H

#include "sensor/nvml/update.h"
#include "sensor/sensor.h"
#include "vendor/nvml.h"

/*
 * The parts of the NVML back end. While the back end opens, kwhy_nvml_<part>_add() adds what a GPU offers: a
 * source and the task that reads it, or a sentence why it is not available. Memory for the tasks is allocated
 * then.
 */

enum { KWHY_NVML_NO_SOURCE = UINT32_MAX };

/* A GPU or a MIG instance. Lives in the arena of the sensors and does not move. */
struct kwhy_nvml_unit {
	const struct kwhy_nvml *nvml;
	struct kwhy_sensors *sensors;
	const struct kwhy_sensor_request *request; /* valid only while opening */
	kwhy_nvml_handle handle;
	uint32_t device;   /* index into sensors->devices */
	const char *title; /* "GPU 0", "MIG 1 of GPU 0" */
	bool has_ring;	   /* the GPU provides power every 20 ms with timestamps of the driver */
	struct kwhy_nvml_counter *counter; /* energy counter; NULL: the GPU has none */
	struct kwhy_nvml_unit *next;
	kwhy_nvml_gpm_sample gpm[2]; /* NULL: not available */
};

/* Adds a source of this unit; its channel holds `updates_per_s` for the request's history. */
KWHY_MUST_USE enum kwhy_status kwhy_nvml_unit_add_meter(struct kwhy_nvml_unit *unit, enum kwhy_meter meter,
	int64_t period_ns, double updates_per_s, uint32_t *out_source, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_nvml_unit_add_gauge(
	struct kwhy_nvml_unit *unit, enum kwhy_gauge gauge, uint32_t *out_source, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_nvml_unit_add_task(struct kwhy_nvml_unit *unit, const char *what,
	void *state, int64_t period_ns, kwhy_sensor_read *read, struct kwhy_error *error);
/* "the fan of GPU 0: this GPU does not offer it" */
KWHY_MUST_USE enum kwhy_status kwhy_nvml_unit_add_absence(struct kwhy_nvml_unit *unit, const char *what,
	enum kwhy_nvml_result result, struct kwhy_error *error);

/* Number of MIG instances that a GPU may be divided into; 0: it is not divided. */
unsigned kwhy_nvml_instances_most(const struct kwhy_nvml *nvml, kwhy_nvml_handle gpu);

/*
 * Marks which of the first `count` GPUs are metered: those that the request's program may see. Adds an
 * absence that names those left out. A list of devices in the request takes precedence.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nvml_visible(const struct kwhy_nvml *nvml, struct kwhy_sensors *sensors,
	const struct kwhy_sensor_request *request, unsigned count, bool seen[KWHY_SENSOR_INDEX_MAX + 1],
	struct kwhy_error *error);

/* Time between readings of gauges. */
int64_t kwhy_nvml_unit_gauge_period_ns(const struct kwhy_nvml_unit *unit);

/* Functions for tasks. */
int64_t kwhy_nvml_unit_now_ns(const struct kwhy_nvml_unit *unit);
bool kwhy_nvml_unit_is_lost(const struct kwhy_nvml_unit *unit);
void kwhy_nvml_unit_push(struct kwhy_nvml_unit *unit, uint32_t source, int64_t time_mono_ns, int64_t value);
/* Counts a refused reading; a GPU that is lost is marked so. */
void kwhy_nvml_unit_refuse(struct kwhy_nvml_unit *unit, uint32_t source, enum kwhy_nvml_result result);

KWHY_MUST_USE enum kwhy_status kwhy_nvml_counter_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error);
/* Reads the counter in place of the ring; the ring's task calls it while the driver refuses the ring. */
void kwhy_nvml_counter_stand_in(struct kwhy_nvml_unit *unit, int64_t now_ns);
KWHY_MUST_USE enum kwhy_status kwhy_nvml_ring_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error);
/*
 * Called after the ring's part: averages and instants are read if the GPU has no ring, or if all meters were
 * requested.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nvml_power_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_nvml_gauges_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_nvml_gpm_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error);
void kwhy_nvml_gpm_done(struct kwhy_nvml_unit *unit);

#endif
