/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_GAPS_H
#define KWHY_DETECT_GAPS_H

#include "detect/view.h"

/*
 * What the host did during an idle gap of a device, on the thread that issued the work after the gap. If
 * `late` is set, launch_ns + host_ns + wait_ns + delayed_ns is the length of the gap, less the time inside
 * calls that allocate or free memory and do not wait.
 */
struct kwhy_gap_cause {
	int64_t start_ns, end_ns;
	uint32_t call; /* outermost call that issued the work after the gap; KWHY_NONE: unknown */
	uint32_t wait; /* last wait of the issuing thread that ended inside the gap; KWHY_NONE: it did not
			  wait */
	bool late;     /* the issuing call returned after the gap began, so the device waited for the host */
	int64_t launch_ns; /* time inside launch calls, and in intervals between calls that are shorter than
			      spacing_ns */
	int64_t host_ns;   /* time in longer intervals between calls, and in other calls that take at least
			      spacing_ns */
	int64_t wait_ns;   /* time inside synchronising calls, blocking copies and frees */
	/*
	 * Time from the return of the issuing call to the end of the gap: the host had issued the work, and
	 * the device had not started it. 0 if it is at most KWHY_DELAYED_START_NS. It is set even if `late`
	 * is not.
	 */
	int64_t delayed_ns;
	int64_t host_start_ns, host_end_ns; /* longest interval counted in host_ns, clipped to the gap */
};

/*
 * If an idle device starts work more than this many ns after the launch has returned, something delayed the
 * work. The limit is chosen: twenty times the time of a launch.
 */
enum { KWHY_DELAYED_START_NS = 100000 };

/*
 * Explains one gap. Intervals between calls that are shorter than spacing_ns count as launching. Takes O(1)
 * on average: for all gaps of a device together, each call of the thread is visited once or twice.
 */
void kwhy_gap_explain(const struct kwhy_detect_view *view, const struct kwhy_gap *gap, double spacing_ns,
	struct kwhy_gap_cause *out);

#endif
