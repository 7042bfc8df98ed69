/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_HISTORY_H
#define KWHY_MEASURE_HISTORY_H

#include "measure/window.h"
#include "sensor/sensor.h"

/*
 * The readings of a session: drains the channels of sensors into arrays that grow up to a limit. Used by one
 * thread at a time, which is not the sampler's. The sensors are borrowed and must outlive it.
 */
struct kwhy_history;

/* Beyond `readings_most` of one source (0: 2^20, about six hours of a 20 ms ring) the oldest half is
 * forgotten. */
KWHY_MUST_USE enum kwhy_status kwhy_history_new(const struct kwhy_sensors *sensors, size_t readings_most,
	struct kwhy_history **out, struct kwhy_error *error);
void kwhy_history_free(struct kwhy_history *history);

/* Takes what has come. At least once in the time that the channels remember, or readings are lost. */
KWHY_MUST_USE enum kwhy_status kwhy_history_drain(struct kwhy_history *history, struct kwhy_error *error);

/* Drops the readings before a time. */
void kwhy_history_forget(struct kwhy_history *history, int64_t before_mono_ns);

/* Of a source of the sensors, by its index; valid until the next drain or forget. */
struct kwhy_readings kwhy_history_readings(const struct kwhy_history *history, size_t source);

/* What went missing: never silently. */
struct kwhy_history_losses {
	uint64_t lost;	    /* overwritten in a channel before they were taken */
	uint64_t forgotten; /* dropped for the limit */
	uint64_t failures;  /* readings that sources refused */
};
struct kwhy_history_losses kwhy_history_losses(const struct kwhy_history *history);

#define KWHY_HISTORY_NO_SOURCE SIZE_MAX

enum kwhy_metered_kind { KWHY_METERED_DEVICE, KWHY_METERED_HOST, KWHY_METERED_WALL };

/* A thing whose energy is known of: a device, a domain of the host, what a wall meter feeds. */
struct kwhy_metered {
	enum kwhy_metered_kind kind;
	uint32_t device;       /* of KWHY_METERED_DEVICE, else KWHY_SENSOR_NO_DEVICE */
	char name[64];	       /* "gpu 0", "rapl.package-0", "hwmon CPU Power Socket 0", "meter" */
	size_t counter, power; /* sources; KWHY_HISTORY_NO_SOURCE: none */
};

/* All of them, in the order of the devices, then the host's, then wall meters. Lent. */
const struct kwhy_metered *kwhy_history_metered(const struct kwhy_history *history, size_t *out_count);

/* The curve of one of them from all that is kept; `profile` may be NULL. */
KWHY_MUST_USE enum kwhy_status kwhy_history_curve(const struct kwhy_history *history, size_t metered,
	const struct kwhy_profile *profile, struct kwhy_curve **out, struct kwhy_error *error);

/* Is it a device that fell off the bus? */
bool kwhy_history_is_lost(const struct kwhy_history *history, size_t metered);

/*
 * Is what it tells of the time after `last_ns`, up to which its curve is known, still to be waited for? Not
 * of a device that is lost, nor where that is 45 s ago; 0: nothing was reported yet.
 */
bool kwhy_history_goes_on(
	const struct kwhy_history *history, size_t metered, int64_t last_ns, int64_t now_ns);

/* When the readings for windows up to end_mono_ns will have been made, of all that is metered. */
int64_t kwhy_history_ready_ns(
	const struct kwhy_history *history, int64_t end_mono_ns, const struct kwhy_profile *profile);

#endif
