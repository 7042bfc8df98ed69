/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_GAPS_H
#define KWHY_DETECT_GAPS_H

#include "detect/view.h"

/*
 * What the host did during an idle gap of a device, on the thread that issued the work ending the gap. Where
 * `late`, launch + host + alloc + wait + delayed = the gap.
 */
struct kwhy_gap_cause {
	int64_t start_ns, end_ns;
	uint32_t call;	   /* outermost call that issued the work ending the gap; KWHY_NONE: unknown */
	uint32_t wait;	   /* last wait of that thread that ended inside the gap; KWHY_NONE: no wait */
	bool late;	   /* the call returned after the gap began: the device waited for the host */
	int64_t launch_ns; /* time inside launch calls and in short intervals between calls */
	int64_t host_ns;   /* time in intervals between calls, or in other calls, at least as long as the
			      spacing */
	int64_t alloc_ns;  /* time inside malloc and free calls that do not wait */
	int64_t wait_ns;   /* time inside synchronising calls, blocking copies and frees */
	/*
	 * Time from the return of the call to the end of the gap, where it is long: the host had issued the
	 * work, and the device did not start it. Set whether or not the gap is `late`.
	 */
	int64_t delayed_ns;
	int64_t host_start_ns, host_end_ns; /* the longest interval of host_ns inside the gap */
};

/*
 * A longer time than this from the return of a launch to the start of its work on an idle device means that
 * something delayed the work. Our choice: twenty times a launch.
 */
enum { KWHY_DELAYED_START_NS = 100000 };

/*
 * Explains one gap. Amortised O(1): over all gaps of a device each call of the thread is visited once or
 * twice.
 */
void kwhy_gap_explain(const struct kwhy_detect_view *view, const struct kwhy_gap *gap, double spacing_ns,
	struct kwhy_gap_cause *out);

#endif
