/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_SUMS_MARKS_H
#define KWHY_LEDGER_SUMS_MARKS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Marks: the distinct times at which ranges begin and end, by scope (the number of a thread, process or
 * device). Sums over any range are differences of cumulative sums at its two marks. Zero-initialise, add all
 * marks, sort, then look up.
 */
struct kwhy_mark {
	uint64_t scope;
	int64_t time_ns;
};

struct kwhy_marks {
	struct kwhy_mark *items;
	size_t count, capacity;
};

KWHY_MUST_USE enum kwhy_status kwhy_marks_add(
	struct kwhy_marks *marks, uint64_t scope, int64_t time_ns, struct kwhy_error *error);
void kwhy_marks_sort(struct kwhy_marks *marks);
void kwhy_marks_done(struct kwhy_marks *marks);

/*
 * Results of the latest kwhy_marks_up_to_near() for the start and for the end of a range; the next calls get
 * them as `near`, where the search begins. Initially 0.
 */
struct kwhy_marks_near {
	size_t start, end;
};

/*
 * Number of marks that come at or before (scope, time_ns) in the order of scope, then time. If `scope` has a
 * mark at or before time_ns, the last of these is at index result - 1. The search begins at *near, the
 * previous result, which is replaced; it is fast if the results are close.
 */
size_t kwhy_marks_up_to_near(const struct kwhy_marks *marks, uint64_t scope, int64_t time_ns, size_t *near);

#endif
