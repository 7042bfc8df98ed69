/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_HOST_TIME_H
#define KWHY_MODEL_HOST_TIME_H

#include "base/status.h"
#include "model/host_wait.h"
#include "model/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which range the host was in while a device was idle (a gap). Until the call that issued the activity after
 * the gap returns, it is the innermost range of the thread of that call; from then on it is
 * KWHY_HOST_LAUNCHED. There is one exception: if that thread is in no range, or in one of kind KWHY_HOST_STEP
 * or KWHY_HOST_USER, and another thread, which issued the activity before the gap, is in an operator, the
 * range is this operator.
 */

/* Special values for the row of a host range. */
enum {
	KWHY_HOST_OUTSIDE = UINT32_MAX, /* the host was in no range */
	/* the host had launched the work after the gap, and the device had not begun it */
	KWHY_HOST_LAUNCHED = UINT32_MAX - 1,
	KWHY_HOST_UNLINKED = UINT32_MAX - 2, /* no call is known to have issued the work after the gap */
};

struct kwhy_host_cursor {
	bool begun;
	size_t next;  /* first row not yet visited */
	uint32_t top; /* innermost row that contains the time to which the cursor was moved; KWHY_NONE: no row
			 does */
};

struct kwhy_host_time {
	const struct kwhy_recording *recording;
	struct kwhy_host_cursor *threads; /* [thread_count] */
};

/* Prepares kwhy_host_time_divide() for the gaps of one device. */
KWHY_MUST_USE enum kwhy_status kwhy_host_time_init(
	struct kwhy_host_time *time, const struct kwhy_recording *recording, struct kwhy_error *error);
void kwhy_host_time_done(struct kwhy_host_time *time);

typedef void kwhy_host_visit(void *context, int64_t start_ns, int64_t end_ns, uint32_t row);

/*
 * Visits the pieces of the gap between activity `before` (KWHY_NONE: unknown) and activity `after`, in
 * order. Pieces are disjoint and add up to the whole gap. Gaps must be given in time order. All gaps of a
 * device together take time linear in the number of ranges and pieces.
 */
void kwhy_host_time_divide(struct kwhy_host_time *time, const struct kwhy_host_span *gap, uint32_t before,
	uint32_t after, kwhy_host_visit *visit, void *context);

/* The innermost row of the thread that contains the time, by binary search; KWHY_NONE: no row does. */
uint32_t kwhy_host_range_at(const struct kwhy_recording *recording, uint32_t thread, int64_t time_ns);
/*
 * The innermost row of the call's thread that encloses the start of the call. KWHY_NONE: none does, or `call`
 * is KWHY_NONE.
 */
uint32_t kwhy_host_range_of_call(const struct kwhy_recording *recording, uint32_t call);
/* The innermost row of the thread that covers at least half of the interval; KWHY_NONE: no row does. */
uint32_t kwhy_host_range_over(
	const struct kwhy_recording *recording, uint32_t thread, int64_t start_ns, int64_t end_ns);
/*
 * The row that gives the source position of `row`. Of `row` and the rows around it, it is the innermost row
 * whose file is not a library's or, if there is none, the innermost row with a file. KWHY_NONE: no row has a
 * file.
 */
uint32_t kwhy_host_range_source(const struct kwhy_recording *recording, uint32_t row);

/*
 * Whether a source file, judged by its path, belongs to Python, a Python package or a library, and not to the
 * user's program.
 */
bool kwhy_source_is_library(const char *path, size_t length);

#endif
