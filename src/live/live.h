/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LIVE_LIVE_H
#define KWHY_LIVE_LIVE_H

#include "live/snapshot.h"

/*
 * Keeps the present values of all meters. Only one thread may use it, and not the sampler's. It does not
 * own the sensors, which must outlive it.
 */
struct kwhy_live;

/* Makes a struct kwhy_live, whose energies count from `now_mono_ns` on. */
KWHY_MUST_USE enum kwhy_status kwhy_live_new(
	struct kwhy_sensors *sensors, int64_t now_mono_ns, struct kwhy_live **out, struct kwhy_error *error);
void kwhy_live_free(struct kwhy_live *live);

/*
 * Takes the sampler's new readings. A program that shows them calls it several times a second; others need
 * only call it before the channels overwrite readings. It lists the processes of the devices only every
 * KWHY_LIVE_PROCESSES_NS, because listing takes a lock of the driver; if a follower is set, half as often, as
 * the follower usually lists them (below). `cost` may be NULL. `busy_s` is the value of kwhy_cpu_busy_s();
 * NAN: it is unknown, or the readings come from a file.
 */
#define KWHY_LIVE_PROCESSES_NS INT64_C(5000000000)
KWHY_MUST_USE enum kwhy_status kwhy_live_tick(struct kwhy_live *live, int64_t now_mono_ns,
	const struct kwhy_sampler_cost *cost, double busy_s, struct kwhy_error *error);

/*
 * The readings of one metered object at a tick, from which a follower computes energies of its own. Valid
 * during the call.
 */
struct kwhy_live_readings {
	size_t metered;	 /* index in the snapshot's `metered` */
	uint32_t device; /* index in the snapshot's `devices`; KWHY_SENSOR_NO_DEVICE: the object is no device
			  */
	const struct kwhy_curve *curve;
	bool has_counter;	     /* the object has an energy counter, and it was read */
	struct kwhy_reading counter; /* the counter's last reading, in the counter's own unit */
	enum kwhy_meter meter;	     /* kind of the counter */
	int64_t wrap;		     /* highest value of the counter before it wraps; 0: not reported */
};
typedef void kwhy_live_follow(void *context, const struct kwhy_live_readings *readings);

/* Sets a function that each kwhy_live_tick() calls for each metered object. NULL: none. */
void kwhy_live_set_follower(struct kwhy_live *live, kwhy_live_follow *follow, void *context);

/*
 * Lists the processes that use a device now, as kwhy_sensors_processes() does. The snapshot then shows them,
 * unless it shows a list that is younger than KWHY_LIVE_PROCESSES_NS.
 */
size_t kwhy_live_list_processes(struct kwhy_live *live, uint32_t device, int64_t now_mono_ns,
	struct kwhy_sensor_process out[KWHY_SENSOR_PROCESSES]);

/* The snapshot of the last kwhy_live_tick(), valid until the next. */
const struct kwhy_live_snapshot *kwhy_live_snapshot(const struct kwhy_live *live);

#endif
