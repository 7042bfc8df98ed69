/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_GAPS_H
#define KWHY_DETECT_GAPS_H

#include "detect/view.h"

/*
 * What the host did during an idle gap of a device, on the thread that issued the work after the gap. If
 * `late` is set, launch_ns + host_ns + wait_ns + delayed_ns is the length of the gap less the time in calls
 * that allocate or free memory without a wait; otherwise the first three are 0.
 */
struct kwhy_gap_cause {
	int64_t start_ns, end_ns;
	/* outermost API call that issued the work after the gap; KWHY_NONE: unknown, and all else is 0 */
	uint32_t call;
	/*
	 * last waiting call of the issuing thread that ended inside the gap, before the issuing call;
	 * KWHY_NONE: none
	 */
	uint32_t wait;
	/*
	 * the issuing call began before the gap's end and returned after its start, so the device waited for
	 * the host
	 */
	bool late;
	/*
	 * time in launch calls and the issuing call, in other calls shorter than spacing_ns, and between
	 * calls less than spacing_ns apart
	 */
	int64_t launch_ns;
	int64_t host_ns; /* time between calls at least spacing_ns apart, and in other calls that last at
			    least spacing_ns */
	int64_t wait_ns; /* time inside calls that wait for the device: synchronising calls, blocking copies,
			    and frees other than stream-ordered ones */
	/*
	 * Time from the return of the issuing call to the end of the gap: the host had issued the work, and
	 * the device had not started it. 0 if it is at most KWHY_DELAYED_START_NS. It is set even if `late`
	 * is not.
	 */
	int64_t delayed_ns;
	/* start and end of the longest interval or call in host_ns, within the gap */
	int64_t host_start_ns, host_end_ns;
};

/*
 * If an idle device starts work more than this many ns after the issuing call has returned, something delayed
 * the work. The limit is chosen, not measured: some twenty times the time of a launch.
 */
enum { KWHY_DELAYED_START_NS = 100000 };

/*
 * Finds what the host did during one gap. spacing_ns is described at struct kwhy_gap_cause. Takes O(1) on
 * average: for all gaps of a device together, each call of a thread is visited once or twice.
 */
void kwhy_gap_explain(const struct kwhy_detect_view *view, const struct kwhy_gap *gap, double spacing_ns,
	struct kwhy_gap_cause *out);

#endif
