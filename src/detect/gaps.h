/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_GAPS_H
#define KWHY_DETECT_GAPS_H

#include "detect/view.h"

/*
 * What the host did in an idle gap of a device, seen from the thread that issued the work which ended it.
 * launch + host + alloc + wait + delayed = the gap, when late.
 */
struct kwhy_gap_cause {
	int64_t start_ns, end_ns;
	uint32_t call;	   /* outermost call that issued what ended the gap; KWHY_NONE: not known */
	uint32_t wait;	   /* last wait of that thread that ended inside the gap; KWHY_NONE: none */
	bool late;	   /* the call returned only after the gap began: the device waited for the host */
	int64_t launch_ns; /* inside launch calls and in short stretches between calls */
	int64_t host_ns;   /* in stretches between calls, or in other calls, of at least the spacing */
	int64_t alloc_ns;  /* inside malloc and free calls that do not wait */
	int64_t wait_ns;   /* inside synchronising calls, blocking copies and frees */
	/* From the return of the call that issued what ended the gap, where that took long: the host had done
	   its part, and the device had what to do. Known late or not. */
	int64_t delayed_ns;
	int64_t host_start_ns, host_end_ns; /* the longest host stretch inside the gap */
};

/* From the return of a launch to the start of its work on an idle device: what takes longer was held up.
 * Ours: twenty times a launch. */
enum { KWHY_DELAYED_START_NS = 100000 };

/* Amortised O(1): over all gaps of a device each call of the thread is looked at once or twice. */
void kwhy_gap_explain(const struct kwhy_detect_view *view, const struct kwhy_gap *gap, double spacing_ns,
	struct kwhy_gap_cause *out);

#endif
