/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_SESSION_H
#define KWHY_MEASURE_SESSION_H

#include "base/clock.h"
#include "base/names.h"
#include "kwhy/measure.h"
#include "measure/forward.h"
#include "measure/recorder.h"
#include "measure/results.h"
#include "sensor/sampler.h"

#include <pthread.h>

/* The contents of a session, for session*.c. */

enum { KWHY_SESSION_EVENTS_MAX = 4 << 20 }; /* largest number of events that wait for the meters' readings */

struct kwhy_session {
	uint64_t forks; /* number of times that the process had forked before the session was opened */
	struct kwhy_recorder *recorder;
	struct kwhy_sensors *sensors;
	struct kwhy_sampler *sampler;
	double enough_ratio;
	int64_t period_most_ns; /* period of the slowest meter, at most 1 s */
	int64_t begun_cpu_ns; /* CPU time of the sampler at the start of the session, from which energy counts
			       */
	double begun_busy_s;  /* busy time of all CPUs at the start of the session; NAN: unknown, or the
				 session replays a file */

	pthread_mutex_t names_lock;
	struct kwhy_names names;
	bool names_made;
	uint32_t session_name, idle_name;

	pthread_mutex_t fold_lock; /* protects all fields from here to `error` */
	struct kwhy_history *history;
	struct kwhy_curve **curves; /* [metered_count] energy curve of each meter; NULL until it is made */
	const struct kwhy_metered *metered;
	size_t metered_count;
	struct kwhy_regions *regions;
	struct kwhy_event *events;
	size_t event_count, event_capacity;
	struct kwhy_forward *forward; /* NULL: no tool watches the program */
	int64_t folded_ns, last_fold_ns;
	enum kwhy_status status; /* first failure of the collector */
	struct kwhy_error error;

	pthread_t collector;
	bool collecting;
	_Atomic bool stop;
	struct kwhy_clock_sleeper sleeper;
	struct kwhy_clock clock;
};

/*
 * Whether the process was forked after the session was opened. A child has no collector and no memory in
 * common with its parent, so the session is unusable in it.
 */
bool kwhy_session_is_forked(const struct kwhy_session *session);
int kwhy_session_refuse_child(char *message, size_t message_bytes);
/* Writes an error's text to the message of the library's caller, and returns the error's code. */
int kwhy_session_say(const struct kwhy_error *error, char *message, size_t message_bytes);

/* The following functions are called with fold_lock held, or before the collector runs. */

/*
 * Takes the new events of all threads and the new readings of all meters. *out_busy: a thread's ring was at
 * least half full.
 */
KWHY_MUST_USE enum kwhy_status kwhy_session_collect(
	struct kwhy_session *session, bool *out_busy, struct kwhy_error *error);
/* Adds up all time that the meters have reported, and drops the readings and events of that time. */
KWHY_MUST_USE enum kwhy_status kwhy_session_fold(struct kwhy_session *session, struct kwhy_error *error);
/* Returns a copy of the regions that contains all events and energies up to end_ns. */
KWHY_MUST_USE enum kwhy_status kwhy_session_fold_rest(
	struct kwhy_session *session, int64_t end_ns, struct kwhy_regions **out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_session_make_curves(
	struct kwhy_session *session, struct kwhy_error *error);
void kwhy_session_free_curves(struct kwhy_session *session);
bool kwhy_session_meter_is_lost(const struct kwhy_session *session, size_t meter);
/*
 * Time up to which all active meters have reported, at most now_ns. Meters without readings in the last
 * KWHY_HISTORY_KEPT_NS are ignored. With `counted`, the time is also at most that of the last counter update;
 * some counters are read only every twenty seconds.
 */
int64_t kwhy_session_known_until(const struct kwhy_session *session, int64_t now_ns, bool counted);

#endif
