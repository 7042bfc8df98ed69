/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/session.h"

#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)
/* Readings that arrive later change a curve only in the last SETTLED_NS before its end. */
#define SETTLED_NS (250 * MS)

static int compare_events(const void *left, const void *right)
{
	const struct kwhy_event *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

/* Sorts events by time and thread, unless they are in order already, as those of a single thread are. */
static void sort_events(struct kwhy_event *events, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (events[i].time_ns < events[i - 1].time_ns) {
			qsort(events, count, sizeof(*events), compare_events);
			return;
		}
	}
}

void kwhy_session_free_curves(struct kwhy_session *session)
{
	for (size_t m = 0; m < session->metered_count; m++) {
		kwhy_curve_free(session->curves[m]);
		session->curves[m] = NULL;
	}
}

enum kwhy_status kwhy_session_make_curves(struct kwhy_session *session, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	kwhy_session_free_curves(session);
	for (size_t m = 0; !status && m < session->metered_count; m++)
		status = kwhy_history_curve(session->history, m, NULL, &session->curves[m], error);
	return status;
}

bool kwhy_session_meter_is_lost(const struct kwhy_session *session, size_t meter)
{
	return kwhy_history_is_lost(session->history, meter);
}

int64_t kwhy_session_known_until(const struct kwhy_session *session, int64_t now_ns, bool counted)
{
	int64_t until_ns = now_ns;

	for (size_t m = 0; m < session->metered_count; m++) {
		const struct kwhy_curve *curve = session->curves[m];
		int64_t last_ns = counted ? kwhy_curve_counted_ns(curve) : kwhy_curve_last_ns(curve);

		if (last_ns < until_ns && kwhy_history_goes_on(session->history, m, last_ns, now_ns))
			until_ns = last_ns;
	}
	return until_ns;
}

static size_t events_until(const struct kwhy_session *session, int64_t until_ns)
{
	size_t count = 0;

	while (count < session->event_count && session->events[count].time_ns <= until_ns)
		count++;
	return count;
}

static void forward_events(struct kwhy_session *session, size_t first)
{
	for (size_t i = first; session->forward && i < session->event_count; i++) {
		const struct kwhy_event *event = &session->events[i];
		const char *name;

		pthread_mutex_lock(&session->names_lock);
		name = kwhy_names_get(&session->names, event->name);
		pthread_mutex_unlock(&session->names_lock);
		kwhy_forward_event(session->forward, event, name);
	}
}

enum kwhy_status kwhy_session_collect(struct kwhy_session *session, bool *out_busy, struct kwhy_error *error)
{
	const size_t known = session->event_count;
	enum kwhy_status status = kwhy_recorder_collect(session->recorder, &session->events,
		&session->event_count, &session->event_capacity, KWHY_SESSION_EVENTS_MAX, out_busy, error);

	forward_events(session, known);
	return status ? status : kwhy_history_drain(session->history, error);
}

enum kwhy_status kwhy_session_fold(struct kwhy_session *session, struct kwhy_error *error)
{
	int64_t now_ns = kwhy_clock_mono_ns(), until_ns;
	enum kwhy_status status = kwhy_session_make_curves(session, error);
	bool crowded; /* more than half of KWHY_SESSION_EVENTS_MAX events wait, too many to wait for the next
			 counter updates */
	size_t count;

	session->last_fold_ns = now_ns;
	kwhy_forward_flush(session->forward);
	if (status)
		return status;
	crowded = session->event_count > KWHY_SESSION_EVENTS_MAX / 2;
	until_ns = kwhy_session_known_until(session, now_ns, !crowded) - SETTLED_NS -
		2 * session->period_most_ns;
	if (until_ns <= session->folded_ns)
		return KWHY_OK;
	sort_events(session->events, session->event_count);
	count = events_until(session, until_ns);
	status = kwhy_regions_fold(
		session->regions, session->events, count, session->curves, until_ns, error);
	if (status)
		return status;
	session->event_count -= count;
	memmove(session->events, session->events + count, session->event_count * sizeof(*session->events));
	session->folded_ns = until_ns;
	kwhy_history_forget(session->history, until_ns - KWHY_HISTORY_KEPT_NS - 10 * session->period_most_ns);
	return KWHY_OK;
}

enum kwhy_status kwhy_session_fold_rest(
	struct kwhy_session *session, int64_t end_ns, struct kwhy_regions **out, struct kwhy_error *error)
{
	struct kwhy_regions *regions;
	enum kwhy_status status = kwhy_regions_copy(session->regions, &regions, error);

	if (status)
		return status;
	sort_events(session->events, session->event_count);
	status = kwhy_regions_fold(
		regions, session->events, events_until(session, end_ns), session->curves, end_ns, error);
	if (status)
		kwhy_regions_free(regions);
	else
		*out = regions;
	return status;
}
