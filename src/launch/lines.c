/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/lines.h"

#include <stdlib.h>
#include <string.h>

enum kwhy_status kwhy_lines_init(
	struct kwhy_lines *lines, kwhy_line_seen *seen, void *context, struct kwhy_error *error)
{
	*lines = (struct kwhy_lines){.held = malloc(KWHY_LINE_BYTES + 1), .seen = seen, .context = context};
	if (!lines->held)
		return kwhy_fail_memory(error, "the lines of the command's output");
	return KWHY_OK;
}

void kwhy_lines_done(struct kwhy_lines *lines)
{
	free(lines->held);
	*lines = (struct kwhy_lines){0};
}

void kwhy_lines_finish(struct kwhy_lines *lines)
{
	lines->held[lines->length] = '\0';
	if (lines->length)
		lines->seen(lines->context, lines->time_mono_ns, lines->held, lines->length);
	lines->length = 0;
}

/* Number of bytes before the first newline or carriage return; `length`: there is neither. */
static size_t up_to_end(const char *bytes, size_t length)
{
	const char *newline = memchr(bytes, '\n', length);
	size_t until = newline ? (size_t)(newline - bytes) : length;
	const char *back = memchr(bytes, '\r', until);

	return back ? (size_t)(back - bytes) : until;
}

static void hold(struct kwhy_lines *lines, const char *bytes, size_t length)
{
	while (length) {
		size_t space = KWHY_LINE_BYTES - lines->length, part = length < space ? length : space;

		memcpy(lines->held + lines->length, bytes, part);
		lines->length += part;
		bytes += part;
		length -= part;
		if (lines->length < KWHY_LINE_BYTES || !length)
			continue;
		lines->cut++;
		kwhy_lines_finish(lines);
	}
}

void kwhy_lines_add(struct kwhy_lines *lines, int64_t time_mono_ns, const char *bytes, size_t length)
{
	while (length) {
		size_t part = up_to_end(bytes, length);

		lines->time_mono_ns = time_mono_ns;
		hold(lines, bytes, part);
		if (part == length)
			return;
		kwhy_lines_finish(lines);
		bytes += part + 1;
		length -= part + 1;
	}
}
