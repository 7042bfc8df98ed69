/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_TRACE_CLOCK_H
#define KWHY_IMPORT_TRACE_CLOCK_H

#include "base/status.h"
#include "model/recording.h"

/* 2000-01-01 in Unix time; a trace whose times are earlier does not count them from 1970. */
#define KWHY_FIRST_UNIX_NS (INT64_C(946684800) * 1000000000)

/* The clock of the trace that is being read. */
struct kwhy_trace_clock {
	const char *path;
	bool is_first;		/* no trace with times was read before this one */
	bool is_unix;		/* the trace's times are Unix times */
	int64_t origin_unix_ns; /* origin for the recording's clock, used if this trace is the recording's
				   first */
};

/*
 * Sets the recording's clock from its first trace. Either all traces have Unix times or none has; otherwise
 * it returns KWHY_E_INPUT. A trace without Unix times gets a note.
 */
KWHY_MUST_USE enum kwhy_status kwhy_trace_clock_take(
	struct kwhy_recording *recording, const struct kwhy_trace_clock *clock, struct kwhy_error *error);

#endif
