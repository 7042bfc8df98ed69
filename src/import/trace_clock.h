/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_TRACE_CLOCK_H
#define KWHY_IMPORT_TRACE_CLOCK_H

#include "base/status.h"
#include "model/recording.h"

/* 2000-01-01 in Unix time. A trace with times before it does not have Unix times. */
#define KWHY_FIRST_UNIX_NS (INT64_C(946684800) * 1000000000)

/* The clock of the trace that is being read. */
struct kwhy_trace_clock {
	const char *path;
	bool is_first;		/* the recording had no times before this trace */
	bool is_unix;		/* the trace's times are Unix times */
	int64_t origin_unix_ns; /* Unix time that the recording's origin becomes if is_first; 0 without Unix
				   times */
};

/*
 * If is_first, sets the recording's clock and origin. KWHY_E_INPUT: the recording has Unix times and this
 * trace has none, or the reverse. A trace without Unix times gets a note.
 */
KWHY_MUST_USE enum kwhy_status kwhy_trace_clock_take(
	struct kwhy_recording *recording, const struct kwhy_trace_clock *clock, struct kwhy_error *error);

#endif
