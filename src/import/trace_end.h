/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_TRACE_END_H
#define KWHY_IMPORT_TRACE_END_H

#include "base/status.h"
#include "model/recording.h"

/* Notes that a trace ends early and was read up to there. */
KWHY_MUST_USE enum kwhy_status kwhy_trace_end_note(
	struct kwhy_recording *recording, const char *path, struct kwhy_error *error);

/* The same where the byte is known at which reading ended. `why` says what is there: "the text is broken". */
KWHY_MUST_USE enum kwhy_status kwhy_trace_end_note_at(struct kwhy_recording *recording, const char *path,
	const char *why, uint64_t at, struct kwhy_error *error);

#endif
