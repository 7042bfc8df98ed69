/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_TRACE_END_H
#define KWHY_IMPORT_TRACE_END_H

#include "base/status.h"
#include "model/recording.h"

/* Adds a note that a trace ends early and was read up to its end. */
KWHY_MUST_USE enum kwhy_status kwhy_trace_end_note(
	struct kwhy_recording *recording, const char *path, struct kwhy_error *error);

/*
 * As kwhy_trace_end_note(), but also states the byte at which reading ended. `why` says what is there, such
 * as "the text is broken".
 */
KWHY_MUST_USE enum kwhy_status kwhy_trace_end_note_at(struct kwhy_recording *recording, const char *path,
	const char *why, uint64_t at, struct kwhy_error *error);

#endif
