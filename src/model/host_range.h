/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_HOST_RANGE_H
#define KWHY_MODEL_HOST_RANGE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct kwhy_recording;

/* What held a host thread. The first three have the numbers of enum kwhy_range_kind. */
enum kwhy_host_kind {
	KWHY_HOST_NVTX,
	KWHY_HOST_USER,
	KWHY_HOST_STEP,
	KWHY_HOST_OPERATOR, /* of a framework: aten::add */
	KWHY_HOST_PYTHON,   /* a call of a Python function, from its begin to its end */
	KWHY_HOST_SYSTEM,   /* a call of the operating system's libraries that may block: read, poll, sem_wait
			     */
	KWHY_HOST_FRAME, /* of a stack, of Python or not, that was taken at end_ns: the host had got there */
	KWHY_HOST_KIND_COUNT
};

const char *kwhy_host_kind_name(enum kwhy_host_kind kind); /* "nvtx", ... "frame" */

/*
 * What the host threads of a recording were in, in columns; 37 bytes a row. After finish the ranges of the
 * recording that are of a thread stand here, too, and the rows are sorted by thread, then start, the outer
 * one first; rows of thread t are [first[t], first[t + 1]). Of those open at a time the last one is the
 * innermost.
 */
#define KWHY_HOST_RANGE_COLUMNS(X)                                                         \
	X(int64_t, start_ns)                                                               \
	X(int64_t, end_ns)                                                                 \
	X(uint32_t, name) /* of the operator, function or call */                          \
	X(uint32_t, file) /* name of the source or, without one, the module; 0: unknown */ \
	X(uint32_t, line) /* 0: unknown */                                                 \
	X(uint32_t, thread)                                                                \
	X(uint32_t, parent) /* after finish: the row around it; KWHY_NONE: none */         \
	X(uint8_t, kind)    /* enum kwhy_host_kind */

struct kwhy_host_ranges {
	size_t count, capacity;
	size_t *first; /* [thread_count + 1], after finish */
#define X(type, column) type *column;
	KWHY_HOST_RANGE_COLUMNS(X)
#undef X
};

struct kwhy_host_range {
#define X(type, column) type column;
	KWHY_HOST_RANGE_COLUMNS(X)
#undef X
};

/*
 * Appends a copy; `parent` is not looked at. The frames of one stack are added one after the other, the
 * outermost first, each with the time of the stack as its end and KWHY_UNKNOWN_TIME as its start: finish puts
 * that at the end of the last API call of the thread that ended before, or at the stack itself without one.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_host_range(
	struct kwhy_recording *recording, const struct kwhy_host_range *range, struct kwhy_error *error);

/*
 * Part of kwhy_recording_finish(), once the calls are sorted and indexed: places frames, takes in the
 * recording's own ranges, leaves out system calls inside of API calls, sorts, links parents. Refuses ranges
 * that end before they start and times beyond a quarter of what an int64 holds.
 */
KWHY_MUST_USE enum kwhy_status kwhy_host_ranges_finish(
	struct kwhy_recording *recording, struct kwhy_error *error);
void kwhy_host_ranges_done(struct kwhy_host_ranges *rows);

#endif
