/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_NVML_PARTS_H
#define KWHY_SENSOR_NVML_PARTS_H

#include "sensor/nvml/update.h"
#include "sensor/sensor.h"
#include "vendor/nvml.h"

/*
 * The parts of the NVML back end. While the back end is being opened, kwhy_nvml_<part>_add() adds the meters
 * or gauges that a GPU offers: each becomes a source with a task that reads it, or else an absence, which
 * states why it is not available. The same call allocates all memory that the task uses.
 */

enum { KWHY_NVML_NO_SOURCE = UINT32_MAX };

/* A GPU or a MIG instance. Its struct is in the arena of the sensors and never moves. */
struct kwhy_nvml_unit {
	const struct kwhy_nvml *nvml;
	struct kwhy_sensors *sensors;
	const struct kwhy_sensor_request *request; /* NULL once the back end is open */
	kwhy_nvml_handle handle; /* handle in NVML. That of a MIG instance is from the time when the back end
				    was opened: NVML may use it for another instance by now. */
	uint32_t device;	 /* index into sensors->devices */
	const char *title;	 /* name for messages, such as "GPU 0" or "MIG instance 1 of GPU 0" */
	/* whether the driver keeps a ring buffer of this GPU's power samples (ring.c) */
	bool has_ring;
	struct kwhy_nvml_counter *counter; /* the energy counter; NULL: the GPU has none */
	struct kwhy_nvml_unit *next;
	/*
	 * for a MIG instance: the handle of its GPU, and NVML's number of its GPU instance; parent is NULL
	 * for a GPU
	 */
	kwhy_nvml_handle parent;
	unsigned gpu_instance;
	bool is_divided; /* whether a GPU is divided into MIG instances now; only the sampler's thread may use
			    it once the back end is open */
	kwhy_nvml_gpm_sample gpm[2]; /* the two samples of GPM; NULL: GPM is not available */
};

/*
 * kwhy_nvml_unit_add_meter() and kwhy_nvml_unit_add_gauge() add a source of this unit, which is updated every
 * `period_ns`, and *out_source receives its index in sensors->sources. The source's channel holds the
 * readings of the request's history: of a meter at `updates_per_s` readings per second, of a gauge at one per
 * period. kwhy_nvml_unit_add_task() adds the task that reads such sources.
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

/*
 * Gets the largest number of MIG instances that a GPU can have. 0: it has none now, or the driver does not
 * say.
 */
unsigned kwhy_nvml_instances_most(const struct kwhy_nvml *nvml, kwhy_nvml_handle gpu);
/* Whether a GPU is divided into MIG instances. An error: it cannot be divided, or the driver does not say. */
enum kwhy_nvml_result kwhy_nvml_is_divided(
	const struct kwhy_nvml *nvml, kwhy_nvml_handle gpu, bool *out_is_divided);
/*
 * Gets the handle that a MIG instance has now. False: it does not exist any more. When an instance is
 * destroyed, NVML's handle of it becomes invalid or becomes the handle of another instance, so the handle is
 * asked for again.
 */
bool kwhy_nvml_instance_find(const struct kwhy_nvml_unit *instance, kwhy_nvml_handle *out);

/*
 * Marks in `seen` those of the first `count` GPUs that are metered: the GPUs in the request's list of devices
 * or, without a list, the GPUs that the request's program can see. Adds an absence that names the GPUs that
 * are left out. If it cannot be known which GPUs the program sees, all are metered, and the absence says so.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nvml_visible(const struct kwhy_nvml *nvml, struct kwhy_sensors *sensors,
	const struct kwhy_sensor_request *request, unsigned count, bool seen[KWHY_SENSOR_INDEX_MAX + 1],
	struct kwhy_error *error);

/*
 * Get the time between two reads: the first for clocks, utilisation and the gauges of instances, the second
 * for a GPU's other gauges.
 */
int64_t kwhy_nvml_unit_gauge_period_ns(const struct kwhy_nvml_unit *unit);
int64_t kwhy_nvml_unit_slow_period_ns(const struct kwhy_nvml_unit *unit);

/* The following five functions are called by the functions that tasks run, on the sampler's thread. */
int64_t kwhy_nvml_unit_now_ns(const struct kwhy_nvml_unit *unit);
bool kwhy_nvml_unit_is_lost(const struct kwhy_nvml_unit *unit);
void kwhy_nvml_unit_push(struct kwhy_nvml_unit *unit, uint32_t source, int64_t time_mono_ns, int64_t value);
/*
 * Sets the source's flag `refused`: whether the last attempt to read it failed. kwhy_nvml_unit_push() clears
 * the flag and kwhy_nvml_unit_refuse() sets it.
 */
void kwhy_nvml_unit_set_refused(struct kwhy_nvml_unit *unit, uint32_t source, bool is_refused);
/* Counts a reading that NVML refused. If the result means that the GPU is lost, marks the GPU as lost. */
void kwhy_nvml_unit_refuse(struct kwhy_nvml_unit *unit, uint32_t source, enum kwhy_nvml_result result);

KWHY_MUST_USE enum kwhy_status kwhy_nvml_counter_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error);
/*
 * Reads the energy counter if its last reported update is at least a second old. The task that reads the
 * power samples calls it whenever the driver refuses to return samples.
 */
void kwhy_nvml_counter_stand_in(struct kwhy_nvml_unit *unit, int64_t now_ns);
KWHY_MUST_USE enum kwhy_status kwhy_nvml_ring_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error);
/*
 * Must be called after kwhy_nvml_ring_add(). The GPU's trailing average and instantaneous power are read only
 * if it has no ring buffer of power samples, or if the request wants all meters; the average of the memory's
 * power is read in any case.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nvml_power_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_nvml_gauges_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_nvml_gpm_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error);
/*
 * Adds a task that watches whether a GPU still has the MIG instances that it had when its meters were opened.
 * No task is added for a GPU that cannot be divided. `units`: the list of all units, which contains the GPU's
 * instances.
 */
KWHY_MUST_USE enum kwhy_status kwhy_nvml_division_add(
	struct kwhy_nvml_unit *gpu, struct kwhy_nvml_unit *const *units, struct kwhy_error *error);
void kwhy_nvml_gpm_done(struct kwhy_nvml_unit *unit);

#endif
