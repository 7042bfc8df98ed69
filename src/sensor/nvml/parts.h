/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_NVML_PARTS_H
#define KWHY_SENSOR_NVML_PARTS_H

#include "sensor/nvml/update.h"
#include "sensor/sensor.h"
#include "vendor/nvml.h"

/*
 * The parts of the NVML back end. While the back end opens, kwhy_nvml_<part>_add() adds the meters or gauges
 * that a GPU offers: each becomes a source with a task that reads it, or else an absence, which states why it
 * is not available. All memory that the tasks use is allocated then.
 */

enum { KWHY_NVML_NO_SOURCE = UINT32_MAX };

/* A GPU or a MIG instance. Its struct is in the arena of the sensors and never moves. */
struct kwhy_nvml_unit {
	const struct kwhy_nvml *nvml;
	struct kwhy_sensors *sensors;
	const struct kwhy_sensor_request *request; /* NULL once the back end is open */
	kwhy_nvml_handle
		handle;	   /* of an instance: that when the back end opened; it may be another's by now */
	uint32_t device;   /* index into sensors->devices */
	const char *title; /* name for messages, such as "GPU 0" or "MIG 1 of GPU 0" */
	/*
	 * whether the driver keeps a ring buffer of power samples, one every 20 ms, with time stamps of its
	 * own
	 */
	bool has_ring;
	struct kwhy_nvml_counter *counter; /* the energy counter; NULL: the GPU has none */
	struct kwhy_nvml_unit *next;
	/* for a MIG instance: its GPU, and the number of its GPU instance; NULL: the unit is a whole GPU */
	kwhy_nvml_handle parent;
	unsigned gpu_instance;
	bool is_divided; /* for a GPU: whether it is divided into instances now; for the sampler's thread */
	kwhy_nvml_gpm_sample gpm[2]; /* the two samples of GPM; NULL: GPM is not available */
};

/*
 * Adds a source of this unit. Its channel has space for the readings of the request's history at
 * `updates_per_s` readings per second.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nvml_unit_add_meter(struct kwhy_nvml_unit *unit, enum kwhy_meter meter,
	int64_t period_ns, double updates_per_s, uint32_t *out_source, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_nvml_unit_add_gauge(struct kwhy_nvml_unit *unit, enum kwhy_gauge gauge,
	int64_t period_ns, uint32_t *out_source, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_nvml_unit_add_task(struct kwhy_nvml_unit *unit, const char *what,
	void *state, int64_t period_ns, kwhy_sensor_read *read, struct kwhy_error *error);
/* Adds an absence whose text is for example "the fan of GPU 0: this GPU does not offer it". */
KWHY_MUST_USE enum kwhy_status kwhy_nvml_unit_add_absence(struct kwhy_nvml_unit *unit, const char *what,
	enum kwhy_nvml_result result, struct kwhy_error *error);

/* Gets the largest number of MIG instances into which a GPU can be divided; 0: it is not divided. */
unsigned kwhy_nvml_instances_most(const struct kwhy_nvml *nvml, kwhy_nvml_handle gpu);
/* Whether a GPU is divided into MIG instances. An error: it cannot be divided, or the driver does not say. */
enum kwhy_nvml_result kwhy_nvml_is_divided(
	const struct kwhy_nvml *nvml, kwhy_nvml_handle gpu, bool *out_is_divided);
/*
 * Gets the handle that a MIG instance has now. False: it does not exist any more. NVML's handles of instances
 * become invalid with them, or become those of other instances.
 */
bool kwhy_nvml_instance_find(const struct kwhy_nvml_unit *instance, kwhy_nvml_handle *out);

/*
 * Marks in `seen` those of the first `count` GPUs that are metered: the GPUs in the request's list of devices
 * or, without a list, the GPUs that the request's program can see. Adds an absence that names the others.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nvml_visible(const struct kwhy_nvml *nvml, struct kwhy_sensors *sensors,
	const struct kwhy_sensor_request *request, unsigned count, bool seen[KWHY_SENSOR_INDEX_MAX + 1],
	struct kwhy_error *error);

/* Gets the time between two readings of clocks and utilisation, and that of other gauges. */
int64_t kwhy_nvml_unit_gauge_period_ns(const struct kwhy_nvml_unit *unit);
int64_t kwhy_nvml_unit_slow_period_ns(const struct kwhy_nvml_unit *unit);

/* The functions of tasks call the following five functions. */
int64_t kwhy_nvml_unit_now_ns(const struct kwhy_nvml_unit *unit);
bool kwhy_nvml_unit_is_lost(const struct kwhy_nvml_unit *unit);
void kwhy_nvml_unit_push(struct kwhy_nvml_unit *unit, uint32_t source, int64_t time_mono_ns, int64_t value);
/* Says whether a source is refused now. kwhy_nvml_unit_push() and kwhy_nvml_unit_refuse() say it, too. */
void kwhy_nvml_unit_set_refused(struct kwhy_nvml_unit *unit, uint32_t source, bool is_refused);
/* Counts a reading that NVML refused. If the result means that the GPU is lost, marks the GPU as lost. */
void kwhy_nvml_unit_refuse(struct kwhy_nvml_unit *unit, uint32_t source, enum kwhy_nvml_result result);

KWHY_MUST_USE enum kwhy_status kwhy_nvml_counter_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error);
/*
 * Reads the counter while the driver refuses to return power samples; the task that reads the samples calls
 * it.
 */
void kwhy_nvml_counter_stand_in(struct kwhy_nvml_unit *unit, int64_t now_ns);
KWHY_MUST_USE enum kwhy_status kwhy_nvml_ring_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error);
/*
 * Must be called after kwhy_nvml_ring_add(). Trailing averages and instantaneous powers are read only if the
 * GPU has no ring buffer of power samples, or if the request wants all meters.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nvml_power_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_nvml_gauges_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_nvml_gpm_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error);
/*
 * Follows whether the GPU is divided as it was, if it can be divided. `units`: the list of all units, which
 * contains the GPU's instances.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nvml_division_add(
	struct kwhy_nvml_unit *gpu, struct kwhy_nvml_unit *const *units, struct kwhy_error *error);
void kwhy_nvml_gpm_done(struct kwhy_nvml_unit *unit);

#endif
