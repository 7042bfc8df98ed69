/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_VIEW_H
#define KWHY_DETECT_VIEW_H

#include "base/status.h"
#include "model/ledger.h"
#include "model/recording.h"

#include <stdbool.h>

/*
 * What all detectors look at, made once: the idle gaps of each device, the outermost API calls and what
 * they issued. 8 bytes a gap, 8 bytes a call, 1 byte an activity; O(n log n). Times as in the recording.
 */

/*
 * Idle interval: from the end of row `before` (the last to end) to the start of row `after`. One that reaches
 * into time of which is not known what ran is none.
 */
struct kwhy_gap {
	uint32_t before, after;
};

struct kwhy_device_view {
	size_t begin, end;	   /* rows of the device */
	int64_t first_ns, last_ns; /* its window: first start, last end; equal when it has no rows */
	struct kwhy_gap *gaps;	   /* in time */
	size_t gap_count;
	int64_t unrecorded_ns; /* of the window: between the intervals in which it is known what ran */
	int64_t floor_ns;      /* the smallest gap before work that was queued in time; 0: none was seen */
};

/* Calls [begin, end) of one thread during which its last work went to one device. */
struct kwhy_segment {
	uint32_t device, begin, end;
};

/* Space for what a detector remembers of a stream. */
struct kwhy_stream_state {
	uint32_t row, length;
};

/* Space for how a thread uses waits. */
struct kwhy_wait_pattern {
	uint64_t operations; /* device work issued */
	uint64_t waited_for; /* of that, followed by a wait before the thread issued anything else */
};

struct kwhy_detect_view {
	const struct kwhy_recording *recording;
	const struct kwhy_ledger *ledger; /* NULL: none */
	struct kwhy_device_view *devices;
	uint32_t *outer;  /* [calls] the outermost call that a call lies in; itself when in none */
	uint32_t *issued; /* [calls] earliest activity that an outermost call issued; KWHY_NONE: none */
	uint64_t *uses;	  /* sorted process << 32 | device: the process has a stream there */
	size_t use_count;
	struct kwhy_segment *segments; /* sorted by device, then call */
	size_t segment_count, segment_capacity;

	/* scratch of the running detector: nobody clears what lies beyond its own device */
	uint8_t *marks;				 /* [activities] */
	struct kwhy_stream_state *streams;	 /* [streams] */
	struct kwhy_wait_pattern *wait_patterns; /* [threads] */
	uint8_t *name_sorts; /* [names] what a name says of a kernel; 0: not looked at yet */
};

KWHY_MUST_USE enum kwhy_status kwhy_detect_view_init(struct kwhy_detect_view *view,
	const struct kwhy_recording *recording, const struct kwhy_ledger *ledger, struct kwhy_error *error);
void kwhy_detect_view_done(struct kwhy_detect_view *view);

/* The known part of its window. */
static inline int64_t kwhy_detect_view_span_ns(const struct kwhy_detect_view *view, uint32_t device)
{
	return view->devices[device].last_ns - view->devices[device].first_ns -
		view->devices[device].unrecorded_ns;
}

static inline int64_t kwhy_gap_start_ns(const struct kwhy_detect_view *view, const struct kwhy_gap *gap)
{
	return view->recording->activities.end_ns[gap->before];
}

static inline int64_t kwhy_gap_end_ns(const struct kwhy_detect_view *view, const struct kwhy_gap *gap)
{
	return view->recording->activities.start_ns[gap->after];
}

/* The first gap of the device that ends after time_ns; gap_count where there is none. */
size_t kwhy_detect_view_find_gap(const struct kwhy_detect_view *view, uint32_t device, int64_t time_ns);

/*
 * True when a process's devices are all idle in [start_ns, end_ns), each inside its own window. False too for
 * more than 64 devices: then nobody can tell what a wait was about.
 */
bool kwhy_detect_view_process_idle(
	const struct kwhy_detect_view *view, uint32_t process, int64_t start_ns, int64_t end_ns);

/* Forgets the state of the streams of a device. */
void kwhy_detect_view_reset_streams(const struct kwhy_detect_view *view, uint32_t device);

/* Union in time of a device's activities of these kinds: a bit (1 << enum kwhy_activity_kind) each. */
int64_t kwhy_detect_view_union_ns(const struct kwhy_detect_view *view, uint32_t device, unsigned kinds);

/* A call that returns when the device got somewhere: synchronise, blocking copy, free that waits. */
bool kwhy_detect_view_is_wait(const struct kwhy_detect_view *view, uint32_t call);

/*
 * The outermost calls about one device, segment by segment: what a call that names no device is about is
 * where its thread's last work went; before any work, where the first goes, else the only device of the
 * process.
 */
struct kwhy_walk {
	const struct kwhy_detect_view *view;
	uint32_t device;
	size_t segment, next;
	bool fresh; /* the call given last is the first of its segment */
};

void kwhy_walk_init(struct kwhy_walk *walk, const struct kwhy_detect_view *view, uint32_t device);
bool kwhy_walk_next(struct kwhy_walk *walk, uint32_t *out_call);

/*
 * Visits each outermost call that issued work to the device, with the wait that its thread called before it
 * issued anything else: the call itself when it blocks; KWHY_NONE when the thread went on.
 */
typedef void kwhy_issue_visit(
	const struct kwhy_detect_view *view, uint32_t call, uint32_t wait, void *context);
void kwhy_detect_view_visit_issues(
	const struct kwhy_detect_view *view, uint32_t device, kwhy_issue_visit *visit, void *context);

#endif
