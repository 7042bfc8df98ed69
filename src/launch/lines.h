/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_LINES_H
#define KWHY_LAUNCH_LINES_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Longest line in bytes that is passed on as a whole; a longer one is passed on in pieces of this size. */
enum { KWHY_LINE_BYTES = 65536 };

/*
 * Receives a line without the newline or carriage return that ended it. It may contain any bytes, and a NUL
 * follows it. `time_mono_ns`: when the last chunk with a part of the line or with its end came, on
 * CLOCK_MONOTONIC. Empty lines are not passed on.
 */
typedef void kwhy_line_seen(void *context, int64_t time_mono_ns, const char *line, size_t length);

/*
 * Assembles lines from chunks of bytes. A carriage return ends a line, too, because progress bars end their
 * lines with it.
 */
struct kwhy_lines {
	char *held; /* bytes of the line that has not ended yet; space for KWHY_LINE_BYTES + 1 */
	size_t length;
	int64_t time_mono_ns;
	uint64_t cut; /* number of times that a line was cut because it was longer than KWHY_LINE_BYTES */
	kwhy_line_seen *seen;
	void *context;
};

KWHY_MUST_USE enum kwhy_status kwhy_lines_init(
	struct kwhy_lines *lines, kwhy_line_seen *seen, void *context, struct kwhy_error *error);
void kwhy_lines_done(struct kwhy_lines *lines);
void kwhy_lines_add(struct kwhy_lines *lines, int64_t time_mono_ns, const char *bytes, size_t length);
/* Passes on the bytes after the last newline or carriage return as a line, if there are any. */
void kwhy_lines_finish(struct kwhy_lines *lines);

#endif
