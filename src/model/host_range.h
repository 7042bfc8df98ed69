/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_HOST_RANGE_H
#define KWHY_MODEL_HOST_RANGE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct kwhy_recording;

/* Kinds of ranges of host threads. The first three have the numbers of enum kwhy_range_kind. */
enum kwhy_host_kind {
	KWHY_HOST_NVTX,
	KWHY_HOST_USER,
	KWHY_HOST_STEP,
	KWHY_HOST_OPERATOR, /* an operator of a framework: aten::add */
	KWHY_HOST_PYTHON,   /* a call of a Python function whose start and end were both recorded */
	KWHY_HOST_SYSTEM,   /* a call of the operating system's libraries that may block: read, poll, sem_wait
			     */
	KWHY_HOST_FRAME,    /* a frame of a call stack, of Python or native, that was sampled at end_ns */
	KWHY_HOST_KIND_COUNT
};

const char *kwhy_host_kind_name(enum kwhy_host_kind kind); /* "nvtx", ... "frame" */

/*
 * The ranges of host threads in columns, 29 to 41 bytes per range. kwhy_recording_finish() adds those ranges
 * of the recording that have a thread, and sorts all by thread, then start, the outer range first. Rows of
 * thread t are [first[t], first[t + 1]). Of a thread's rows that contain a moment, the one with the highest
 * index is the innermost.
 */
#define KWHY_HOST_RANGE_COLUMNS(X)                                                                    \
	X(int64_t, start_ns)                                                                          \
	X(int64_t, end_ns)                                                                            \
	X(uint32_t, name) /* name of the operator, function or call */                                \
	X(uint32_t, thread)                                                                           \
	X(uint32_t, parent) /* row that encloses this one, set by kwhy_recording_finish(); KWHY_NONE: \
			       outermost */                                                           \
	X(uint8_t, kind)    /* enum kwhy_host_kind */

/*
 * Columns that many traces lack. A column that is NULL has 0 in all rows. kwhy_host_range_file(),
 * kwhy_host_range_line() and kwhy_host_range_shape() read them.
 */
#define KWHY_HOST_RANGE_RARE_COLUMNS(X)                                                             \
	X(uint32_t, file)  /* name of the source file or, without one, of the module; 0: unknown */ \
	X(uint32_t, line)  /* line in the source file; 0: unknown */                                \
	X(uint32_t, shape) /* inputs of an operator, as text (operator_work.h); 0: unknown */

struct kwhy_host_ranges {
	size_t count, capacity;
	size_t *first;	 /* [thread_count + 1], set by kwhy_recording_finish() */
	uint32_t *marks; /* [number of names + 1] bit mask for each name that says which causes it indicates
			    (held_cause.c), set by kwhy_recording_finish() */
#define X(type, column) type *column;
	KWHY_HOST_RANGE_COLUMNS(X)
	KWHY_HOST_RANGE_RARE_COLUMNS(X)
#undef X
};

struct kwhy_host_range {
#define X(type, column) type column;
	KWHY_HOST_RANGE_COLUMNS(X)
	KWHY_HOST_RANGE_RARE_COLUMNS(X)
#undef X
};

#define X(type, column)                                                                              \
	static inline type kwhy_host_range_##column(const struct kwhy_host_ranges *rows, size_t row) \
	{                                                                                            \
		return rows->column ? rows->column[row] : 0;                                         \
	}
KWHY_HOST_RANGE_RARE_COLUMNS(X)
#undef X

/*
 * Appends a copy of a range; `parent` is ignored. Frames of one call stack are added in order, the
 * outermost first. Each has the time of the sample as its end and KWHY_UNKNOWN_TIME as its start.
 * kwhy_recording_finish() sets the start to the end of the last API call of the thread that ended before
 * the sample. If there is no such call, it sets the start to the time of the sample.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_host_range(
	struct kwhy_recording *recording, const struct kwhy_host_range *range, struct kwhy_error *error);

/*
 * Part of kwhy_recording_finish(), after the calls have been sorted and indexed. Sets the starts of frames,
 * adds the ranges of struct kwhy_range that have a thread, drops system calls inside of API calls, sorts, and
 * links parents. Refuses ranges that end before they start and times beyond a quarter of what an int64 holds.
 */
KWHY_MUST_USE enum kwhy_status kwhy_host_ranges_finish(
	struct kwhy_recording *recording, struct kwhy_error *error);
void kwhy_host_ranges_done(struct kwhy_host_ranges *rows);

#endif
