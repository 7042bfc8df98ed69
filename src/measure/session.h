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

/*
 * The contents of a session, for session*.c. A session measures regions of the program that calls the
 * library, with two threads of its own: the sampler reads meters, the collector takes events and adds up
 * energy.
 */

enum {
	KWHY_SESSION_EVENTS_MAX = 4 << 20
}; /* largest number of events that are kept until meters have reported their times */

struct kwhy_session {
	uint64_t forks; /* value, when the session was opened, of a count that rises in every child after
			   fork() */
	struct kwhy_recorder *recorder;
	struct kwhy_sensors *sensors;
	struct kwhy_sampler *sampler;
	double enough_ratio;
	int64_t period_most_ns; /* longest time between updates of a meter, limited to 1 s */
	int64_t begun_cpu_ns;	/* CPU time of the sampler when the region "(session)" began */
	double begun_busy_s; /* busy time in s of all CPUs of the machine at that moment; NAN: unknown, or the
				session replays a file */

	pthread_mutex_t names_lock;
	struct kwhy_names names;
	bool names_made;
	uint32_t session_name, idle_name;

	pthread_mutex_t fold_lock; /* protects all members from here to `error`; held while energy is added up
				      ("folded") */
	struct kwhy_history *history;
	struct kwhy_curve **curves; /* [metered_count] energy curve of each meter; NULL until it is made */
	const struct kwhy_metered *metered;
	size_t metered_count;
	struct kwhy_regions *regions;
	struct kwhy_event *events;
	size_t event_count, event_capacity;
	struct kwhy_forward *forward; /* NULL: no tool watches the program */
	int64_t folded_ns, last_fold_ns;
	enum kwhy_status status; /* first failure of the collector, described by `error`; after a failure the
				    collector takes no more events and adds up no more energy */
	struct kwhy_error error;

	pthread_t collector;
	bool collecting;
	_Atomic bool stop;
	struct kwhy_clock_sleeper sleeper;
	struct kwhy_clock clock;
};

/*
 * Whether the calling process is a child that was forked after the session was opened. It has a copy of the
 * session, but not its threads, so the session is unusable in it.
 */
bool kwhy_session_is_forked(const struct kwhy_session *session);
int kwhy_session_refuse_child(char *message, size_t message_bytes);
/* Writes an error's text to the message of the library's caller, and returns the error's code. */
int kwhy_session_say(const struct kwhy_error *error, char *message, size_t message_bytes);

/* The following functions are called with fold_lock held, or before the collector runs. */

/*
 * Takes the new events of all threads and the new readings of all meters. *out_busy: some thread's ring was
 * more than half full.
 */
KWHY_MUST_USE enum kwhy_status kwhy_session_collect(
	struct kwhy_session *session, bool *out_busy, struct kwhy_error *error);
/*
 * Adds up energy and time of the regions as far as the meters have reported, and drops the events, and older
 * readings, that are no longer needed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_session_fold(struct kwhy_session *session, struct kwhy_error *error);
/*
 * Returns a copy of the regions, to be freed, to which all events and energies up to end_ns are added; the
 * session's own regions stay as they are.
 */
KWHY_MUST_USE enum kwhy_status kwhy_session_fold_rest(
	struct kwhy_session *session, int64_t end_ns, struct kwhy_regions **out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_session_make_curves(
	struct kwhy_session *session, struct kwhy_error *error);
void kwhy_session_free_curves(struct kwhy_session *session);
bool kwhy_session_meter_is_lost(const struct kwhy_session *session, size_t meter);
/*
 * Time up to which all meters have reported, at most now_ns. Meters that are lost or gave no reading in the
 * last KWHY_HISTORY_KEPT_NS are ignored. With `counted`, a meter with a counter counts as having reported up
 * to the counter's last update, which may be 20 s ago.
 */
int64_t kwhy_session_known_until(const struct kwhy_session *session, int64_t now_ns, bool counted);

#endif
