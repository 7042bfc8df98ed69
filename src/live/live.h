/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LIVE_LIVE_H
#define KWHY_LIVE_LIVE_H

#include "live/snapshot.h"

/*
 * Keeps the present values of all meters and gauges in a snapshot. Only one thread may use it, another one
 * than the sampler's. The sensors are borrowed and must outlive it.
 */
struct kwhy_live;

/* Makes a struct kwhy_live, in whose snapshot energies count from `now_mono_ns` on. */
KWHY_MUST_USE enum kwhy_status kwhy_live_new(
	struct kwhy_sensors *sensors, int64_t now_mono_ns, struct kwhy_live **out, struct kwhy_error *error);
void kwhy_live_free(struct kwhy_live *live);

/*
 * Takes the new readings from the channels of the sampler and updates the snapshot. A program that shows the
 * snapshot calls this several times a second; other programs need only call it often enough that the channels
 * overwrite no readings that were not taken. Every KWHY_LIVE_PROCESSES_NS it also lists the processes of each
 * device: not more often, because that takes a lock of the driver. If a follower is set, it does so only
 * after twice that time without kwhy_live_list_processes(), by which followers list them. `cost`: cost of the
 * sampler so far; NULL: unknown. `busy_s`: result of kwhy_cpu_busy_s(); NAN: unknown, as for readings from a
 * file.
 */
#define KWHY_LIVE_PROCESSES_NS INT64_C(5000000000)
KWHY_MUST_USE enum kwhy_status kwhy_live_tick(struct kwhy_live *live, int64_t now_mono_ns,
	const struct kwhy_sampler_cost *cost, double busy_s, struct kwhy_error *error);

/*
 * What a follower gets about one metered object with new readings, to compute energies of its own. The
 * pointer is valid during the call.
 */
struct kwhy_live_readings {
	size_t metered;	 /* index of the object in snapshot.metered */
	uint32_t device; /* index of the device in snapshot.devices; KWHY_SENSOR_NO_DEVICE: the object is no
			    device */
	const struct kwhy_curve *curve;
	bool has_counter; /* whether the object has an energy counter that was read at least once; the fields
			     below are valid only then */
	struct kwhy_reading counter; /* last reading of the counter, in the unit of `meter` */
	enum kwhy_meter meter;	     /* which meter the counter is */
	int64_t wrap; /* value after which the counter continues from 0; 0: it does not wrap, or the value is
			 not reported */
};
typedef void kwhy_live_follow(void *context, const struct kwhy_live_readings *readings);

/*
 * Sets a function that kwhy_live_tick() calls for each metered object that has new readings, and for those
 * whose newest reading has become older than KWHY_LIVE_STALE_NS. NULL: none.
 */
void kwhy_live_set_follower(struct kwhy_live *live, kwhy_live_follow *follow, void *context);

/*
 * Writes the processes that use a device now to `out` and returns their number, like
 * kwhy_sensors_processes(). It also updates the processes in the snapshot if they are older than
 * KWHY_LIVE_PROCESSES_NS.
 */
size_t kwhy_live_list_processes(struct kwhy_live *live, uint32_t device, int64_t now_mono_ns,
	struct kwhy_sensor_process out[KWHY_SENSOR_PROCESSES]);

/* The snapshot; its values are those of the last kwhy_live_tick() and valid until the next. */
const struct kwhy_live_snapshot *kwhy_live_snapshot(const struct kwhy_live *live);

#endif
