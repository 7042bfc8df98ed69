/* SPDX-License-Identifier: Apache-2.0 */
#include "import/trace_end.h"

#include <inttypes.h>

#define REST "what precedes that place was read, the rest is missing."

enum kwhy_status kwhy_trace_end_note(
	struct kwhy_recording *recording, const char *path, struct kwhy_error *error)
{
	recording->lost.truncated = true;
	return kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "truncated", error,
		"%s: the file ends early or is damaged; " REST, path);
}

enum kwhy_status kwhy_trace_end_note_at(struct kwhy_recording *recording, const char *path, const char *why,
	uint64_t at, struct kwhy_error *error)
{
	recording->lost.truncated = true;
	return kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "truncated", error,
		"%s: %s at byte %" PRIu64 "; " REST, path, why, at);
}
