/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_TRACE_END_H
#define KWHY_IMPORT_TRACE_END_H

#include "base/status.h"
#include "model/recording.h"

/*
 * Marks the recording as truncated (lost.truncated) and adds a note that the file ends early or is damaged,
 * and was read up to there.
 */
KWHY_MUST_USE enum kwhy_status kwhy_trace_end_note(
	struct kwhy_recording *recording, const char *path, struct kwhy_error *error);

/*
 * Does what kwhy_trace_end_note() does, but the note states `why` the reading ended, such as "the text is
 * broken", and at which byte.
 */
KWHY_MUST_USE enum kwhy_status kwhy_trace_end_note_at(struct kwhy_recording *recording, const char *path,
	const char *why, uint64_t at, struct kwhy_error *error);

#endif
