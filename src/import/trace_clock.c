/* SPDX-License-Identifier: Apache-2.0 */
#include "import/trace_clock.h"

static enum kwhy_status refuse(const struct kwhy_recording *recording, const struct kwhy_trace_clock *clock,
	struct kwhy_error *error)
{
	const char *earlier = recording->sources[0].path;

	return kwhy_fail(error, KWHY_E_INPUT,
		"%.200s has Unix times and %.200s has none, so the two cannot be aligned; report each alone, "
		"or give both with Unix times (PyTorch writes them from version 2.4 on, as "
		"\"baseTimeNanoseconds\")",
		clock->is_unix ? clock->path : earlier, clock->is_unix ? earlier : clock->path);
}

enum kwhy_status kwhy_trace_clock_take(
	struct kwhy_recording *recording, const struct kwhy_trace_clock *clock, struct kwhy_error *error)
{
	if (clock->is_first) {
		recording->unix_clock = clock->is_unix;
		recording->clock_name = NULL;
		recording->origin_unix_ns = clock->origin_unix_ns;
	}
	if (clock->is_unix != recording->unix_clock)
		return refuse(recording, clock, error);
	if (clock->is_unix)
		return KWHY_OK;
	return kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "no-unix-clock", error,
		clock->is_first
			? "%s: its times are not Unix times, so they cannot be aligned with power readings "
			  "or other traces."
			: "%s: its times are not Unix times; it is assumed that they count from the same "
			  "time as those of the traces before it.",
		clock->path);
}
