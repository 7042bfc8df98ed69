/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_HISTORY_H
#define KWHY_MEASURE_HISTORY_H

#include "measure/window.h"
#include "sensor/sensor.h"

/*
 * The readings of all meters, which are moved from the sensors' channels into arrays that grow up to a limit.
 * Gauges are not read. Only one thread may use a history at a time, and never the sampler's. The sensors are
 * borrowed and must outlive the history.
 */
struct kwhy_history;

/*
 * Makes a history that keeps at most `readings_most` readings of each source; when a source has that many, it
 * drops the oldest half of that number. 0 stands for 2^20, about six hours of readings that are 20 ms apart.
 */
KWHY_MUST_USE enum kwhy_status kwhy_history_new(const struct kwhy_sensors *sensors, size_t readings_most,
	struct kwhy_history **out, struct kwhy_error *error);
void kwhy_history_free(struct kwhy_history *history);

/*
 * Moves new readings from the channels to the history. Must be called so often that no channel overwrites
 * readings that were not moved; those are lost.
 */
KWHY_MUST_USE enum kwhy_status kwhy_history_drain(struct kwhy_history *history, struct kwhy_error *error);

/*
 * Time in ns in which even the slowest counters, which are read every 20 s, are read twice. To add up energy
 * from a time on, the readings from this long before that time on are needed. If a meter has given no reading
 * for this long, none is expected any more.
 */
#define KWHY_HISTORY_KEPT_NS INT64_C(45000000000)

/* Drops the readings before a time. */
void kwhy_history_forget(struct kwhy_history *history, int64_t before_mono_ns);

/* Readings of a source, by its index in the sensors; valid until the next drain or forget. */
struct kwhy_readings kwhy_history_readings(const struct kwhy_history *history, size_t source);

/* Numbers of missing readings. */
struct kwhy_history_losses {
	uint64_t lost;	    /* readings overwritten in a channel before they were drained */
	uint64_t forgotten; /* readings dropped because a source had more than the limit */
	uint64_t failures;  /* readings that sources failed to give */
};
struct kwhy_history_losses kwhy_history_losses(const struct kwhy_history *history);

#define KWHY_HISTORY_NO_SOURCE SIZE_MAX

enum kwhy_metered_kind { KWHY_METERED_DEVICE, KWHY_METERED_HOST, KWHY_METERED_WALL };

/*
 * An item whose energy is metered: a device, a domain of the host (a CPU package, its memory, or a board's
 * sensor), or the load of a wall meter.
 */
struct kwhy_metered {
	enum kwhy_metered_kind kind;
	uint32_t device;       /* index of the device, if the kind is KWHY_METERED_DEVICE; otherwise
				  KWHY_SENSOR_NO_DEVICE */
	char name[64];	       /* "gpu 0", "rapl.package-0", "hwmon CPU Power Socket 0", "meter" */
	size_t counter, power; /* indexes of its sources; KWHY_HISTORY_NO_SOURCE: it has no such source */
};

/*
 * All metered items: devices in the order of the sensors, then domains of the host, then wall meters. The
 * array belongs to the history.
 */
const struct kwhy_metered *kwhy_history_metered(const struct kwhy_history *history, size_t *out_count);

/* Makes the energy curve of one metered item from all its readings that are kept; `profile` may be NULL. */
KWHY_MUST_USE enum kwhy_status kwhy_history_curve(const struct kwhy_history *history, size_t metered,
	const struct kwhy_profile *profile, struct kwhy_curve **out, struct kwhy_error *error);

/* Whether the item is a device that fell off the bus. */
bool kwhy_history_is_lost(const struct kwhy_history *history, size_t metered);

/*
 * Whether more readings of an item are to be expected if its curve is known up to `last_ns`. False if the
 * item is a device that fell off the bus, if last_ns is at least KWHY_HISTORY_KEPT_NS before now_ns, or if
 * last_ns is 0 (the curve is empty).
 */
bool kwhy_history_goes_on(
	const struct kwhy_history *history, size_t metered, int64_t last_ns, int64_t now_ns);

/* Time by which the meters of all items have normally reported all readings for windows up to end_mono_ns. */
int64_t kwhy_history_ready_ns(
	const struct kwhy_history *history, int64_t end_mono_ns, const struct kwhy_profile *profile);

#endif
