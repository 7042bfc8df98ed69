/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_VIEW_H
#define KWHY_DETECT_VIEW_H

#include "base/status.h"
#include "model/ledger.h"
#include "model/recording.h"

#include <stdbool.h>

/*
 * Data that all detectors use, computed once: the idle gaps of each device, the outermost API calls, and
 * the work that they issued. Memory: 8 bytes per gap, 8 bytes per call, 5 bytes per activity. Time: O(n log
 * n). Times are those of the recording.
 */

/*
 * Idle interval of a device: from the end of activity `before`, which ends last of those before it, to the
 * start of activity `after`. There is no gap where the interval contains unrecorded time.
 */
struct kwhy_gap {
	uint32_t before, after;
};

struct kwhy_device_view {
	/* the device's activities have the indices [begin, end) in the recording */
	size_t begin, end;
	int64_t first_ns, last_ns; /* the device's window: first start and last end of its activities; both
				      are equal if it has none */
	struct kwhy_gap *gaps;	   /* idle gaps in the order of time */
	size_t gap_count;
	int64_t unrecorded_ns; /* time in the window that was not recorded or that kwhy probe took */
	/*
	 * length in ns of the shortest gap before work that was already queued when the gap began; 0: there
	 * is no such gap
	 */
	int64_t floor_ns;
};

/*
 * Calls [begin, end) of one thread that belong to one device: the device to which the thread last issued work
 * before or with the first of these calls. A thread's next segment begins with its first call that issues
 * work to another device.
 */
struct kwhy_segment {
	uint32_t device, begin, end;
};

/* Two numbers for each stream; the detector that is running says what they mean. */
struct kwhy_stream_state {
	uint32_t row, length;
};

/* How often a thread waits for the work that it issues. */
struct kwhy_wait_pattern {
	uint64_t operations; /* number of the thread's calls that issued work to the device */
	uint64_t waited_for; /* among those calls: number of calls for whose work the thread waited before it
				issued other work */
};

struct kwhy_detect_view {
	const struct kwhy_recording *recording;
	const struct kwhy_ledger *ledger; /* NULL: no ledger */
	struct kwhy_device_view *devices;
	uint32_t *outer;  /* [calls] outermost call around each call, which may be the call itself */
	uint32_t *issued; /* [calls] earliest activity that each outermost call issued; KWHY_NONE: none */
	/*
	 * [activities] innermost host range around the call that issued each activity; KWHY_NONE: there is
	 * none, or the call is unknown
	 */
	uint32_t *range_of_launch;
	uint64_t *uses; /* sorted pairs process << 32 | device, one for each device on which the process has a
			   stream */
	size_t use_count;
	struct kwhy_segment *segments; /* sorted by device, then by call */
	size_t segment_count, segment_capacity;

	/*
	 * Memory of the detector that is running. A detector clears what it uses, for the activities, streams
	 * and threads of its device.
	 */
	uint8_t *marks;				 /* [activities] 1: marked as waste */
	struct kwhy_stream_state *streams;	 /* [streams] state that the running detector keeps */
	struct kwhy_wait_pattern *wait_patterns; /* [threads] see struct kwhy_wait_pattern */
	/*
	 * [names] enum sort_of_kernel of kernel_names.c for each name, kept for all devices; 0: not
	 * classified yet
	 */
	uint8_t *name_sorts;
};

KWHY_MUST_USE enum kwhy_status kwhy_detect_view_init(struct kwhy_detect_view *view,
	const struct kwhy_recording *recording, const struct kwhy_ledger *ledger, struct kwhy_error *error);
void kwhy_detect_view_done(struct kwhy_detect_view *view);

/* Length in ns of the device's window less unrecorded_ns. */
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
 * Whether each device of a process has one gap that contains [start_ns, end_ns). False also if the process
 * has no device or more than 64.
 */
bool kwhy_detect_view_process_idle(
	const struct kwhy_detect_view *view, uint32_t process, int64_t start_ns, int64_t end_ns);

/* Sets the states of all streams of a device to row KWHY_NONE and length 0. */
void kwhy_detect_view_reset_streams(const struct kwhy_detect_view *view, uint32_t device);

/*
 * Length in ns of the union of a device's activities of `kinds`, an OR of bits 1 << enum kwhy_activity_kind.
 */
int64_t kwhy_detect_view_union_ns(const struct kwhy_detect_view *view, uint32_t device, unsigned kinds);

/*
 * Whether a call waits for the device to complete some of its work: a synchronising call, a blocking copy,
 * or a free that waits.
 */
bool kwhy_detect_view_is_wait(const struct kwhy_detect_view *view, uint32_t call);

/*
 * Iterates over the outermost calls that concern one device, segment by segment. A call that does not name a
 * device concerns the device of the thread's last work. Before the thread's first work, it concerns the
 * device of that first work. If the thread issues no work at all, it concerns the only device of its process.
 */
struct kwhy_walk {
	const struct kwhy_detect_view *view;
	uint32_t device;
	size_t segment, next;
	bool fresh; /* kwhy_walk_next() returned the first call of a segment */
};

void kwhy_walk_init(struct kwhy_walk *walk, const struct kwhy_detect_view *view, uint32_t device);
bool kwhy_walk_next(struct kwhy_walk *walk, uint32_t *out_call);

/*
 * Function called for each outermost call that issued work to a device. `wait` is the call by which the
 * thread waited for the device before it issued anything else: `call` itself if that blocks, a later call, or
 * KWHY_NONE if there was no wait.
 */
typedef void kwhy_issue_visit(
	const struct kwhy_detect_view *view, uint32_t call, uint32_t wait, void *context);
void kwhy_detect_view_visit_issues(
	const struct kwhy_detect_view *view, uint32_t device, kwhy_issue_visit *visit, void *context);

#endif
