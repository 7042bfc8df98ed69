/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_VIEW_H
#define KWHY_DETECT_VIEW_H

#include "base/status.h"
#include "model/ledger.h"
#include "model/recording.h"

#include <stdbool.h>

/*
 * Data that all detectors use, made once: the idle gaps of each device, the outermost API calls and the work
 * that they issued. 8 bytes a gap, 8 bytes a call, 1 byte an activity; O(n log n). Times as in the recording.
 */

/*
 * Idle interval from the end of row `before` (the last to end) to the start of row `after`. Intervals that
 * reach into unrecorded time are left out.
 */
struct kwhy_gap {
	uint32_t before, after;
};

struct kwhy_device_view {
	size_t begin, end;	   /* rows of the device */
	int64_t first_ns, last_ns; /* its window: first start, last end; equal where it has no rows */
	struct kwhy_gap *gaps;	   /* in the order of time */
	size_t gap_count;
	int64_t unrecorded_ns; /* unrecorded and probing time of the window */
	int64_t floor_ns;      /* smallest gap before work that was queued in time; 0: no such gap */
};

/* Calls [begin, end) of one thread, during which its last work went to one device. */
struct kwhy_segment {
	uint32_t device, begin, end;
};

/* State that a detector keeps for a stream. */
struct kwhy_stream_state {
	uint32_t row, length;
};

/* Counts of how a thread uses waits. */
struct kwhy_wait_pattern {
	uint64_t operations; /* pieces of device work issued */
	uint64_t waited_for; /* pieces of work that the thread waited for before it issued anything else */
};

struct kwhy_detect_view {
	const struct kwhy_recording *recording;
	const struct kwhy_ledger *ledger; /* NULL: no ledger */
	struct kwhy_device_view *devices;
	uint32_t *outer; /* [calls] the outermost call around a call; the call itself where it is outermost */
	uint32_t *issued; /* [calls] earliest activity that an outermost call issued; KWHY_NONE: it issued
			     nothing */
	uint64_t *uses;	  /* process << 32 | device of each process with a stream on a device, sorted */
	size_t use_count;
	struct kwhy_segment *segments; /* sorted by device, then call */
	size_t segment_count, segment_capacity;

	/* scratch of the running detector; it is cleared for the detector's own device only */
	uint8_t *marks;				 /* [activities] */
	struct kwhy_stream_state *streams;	 /* [streams] */
	struct kwhy_wait_pattern *wait_patterns; /* [threads] */
	uint8_t *name_sorts; /* [names] class of a kernel by its name; 0: not classified yet */
};

KWHY_MUST_USE enum kwhy_status kwhy_detect_view_init(struct kwhy_detect_view *view,
	const struct kwhy_recording *recording, const struct kwhy_ledger *ledger, struct kwhy_error *error);
void kwhy_detect_view_done(struct kwhy_detect_view *view);

/* Length of the device's window without unrecorded time. */
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

/* Index of the first gap of the device that ends after time_ns; gap_count: no such gap. */
size_t kwhy_detect_view_find_gap(const struct kwhy_detect_view *view, uint32_t device, int64_t time_ns);

/*
 * Whether all devices of a process are idle in [start_ns, end_ns), each inside its own window. False also for
 * more than 64 devices, where it is unclear what a wait was for.
 */
bool kwhy_detect_view_process_idle(
	const struct kwhy_detect_view *view, uint32_t process, int64_t start_ns, int64_t end_ns);

/* Clears the state of a device's streams. */
void kwhy_detect_view_reset_streams(const struct kwhy_detect_view *view, uint32_t device);

/*
 * Length of the union in time of a device's activities of `kinds`, a bit (1 << enum kwhy_activity_kind) each.
 */
int64_t kwhy_detect_view_union_ns(const struct kwhy_detect_view *view, uint32_t device, unsigned kinds);

/*
 * Whether a call returns only when the device has reached some point: a synchronising call, a blocking copy,
 * or a free that waits.
 */
bool kwhy_detect_view_is_wait(const struct kwhy_detect_view *view, uint32_t call);

/*
 * Iterates over the outermost calls that concern one device, segment by segment. A call that names no device
 * concerns the device of its thread's last work. Before any work it is the device of the thread's first work;
 * without any work it is the only device of the process.
 */
struct kwhy_walk {
	const struct kwhy_detect_view *view;
	uint32_t device;
	size_t segment, next;
	bool fresh; /* the last returned call is the first of its segment */
};

void kwhy_walk_init(struct kwhy_walk *walk, const struct kwhy_detect_view *view, uint32_t device);
bool kwhy_walk_next(struct kwhy_walk *walk, uint32_t *out_call);

/*
 * Visits each outermost call that issued work to the device, with the wait that its thread called before it
 * issued anything else. `wait` equals `call` where the call itself blocks; KWHY_NONE: the thread did not
 * wait.
 */
typedef void kwhy_issue_visit(
	const struct kwhy_detect_view *view, uint32_t call, uint32_t wait, void *context);
void kwhy_detect_view_visit_issues(
	const struct kwhy_detect_view *view, uint32_t device, kwhy_issue_visit *visit, void *context);

#endif
