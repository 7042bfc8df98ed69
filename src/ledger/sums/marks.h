/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_SUMS_MARKS_H
#define KWHY_LEDGER_SUMS_MARKS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The distinct times (marks) at which ranges begin and end, by scope (a thread, a process, a device). Sums
 * over any range follow from cumulative sums at these times. Zero-initialise, add all marks, sort, then
 * look up.
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

/* Results of the last look-up, for the start and the end of a range; 0 before the first one. */
struct kwhy_marks_near {
	size_t start, end;
};

/*
 * Number of marks, over all scopes, up to and including the last one of `scope` at or before time_ns. The
 * search begins at *near, the previous result, and is fast if the new result is often close to it.
 */
size_t kwhy_marks_up_to_near(const struct kwhy_marks *marks, uint64_t scope, int64_t time_ns, size_t *near);

#endif
