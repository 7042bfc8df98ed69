/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_LINES_H
#define KWHY_LAUNCH_LINES_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Lines longer than this are passed on in pieces. */
enum { KWHY_LINE_BYTES = 65536 };

/*
 * Receives a line without its end, which may contain any bytes and is followed by a NUL. `time_mono_ns` is
 * the time of its last byte.
 */
typedef void kwhy_line_seen(void *context, int64_t time_mono_ns, const char *line, size_t length);

/*
 * Assembles lines from chunks. A carriage return ends a line, too, because progress bars write no other line
 * ends.
 */
struct kwhy_lines {
	char *held; /* [KWHY_LINE_BYTES + 1] */
	size_t length;
	int64_t time_mono_ns;
	uint64_t cut; /* number of lines that were too long */
	kwhy_line_seen *seen;
	void *context;
};

KWHY_MUST_USE enum kwhy_status kwhy_lines_init(
	struct kwhy_lines *lines, kwhy_line_seen *seen, void *context, struct kwhy_error *error);
void kwhy_lines_done(struct kwhy_lines *lines);
void kwhy_lines_add(struct kwhy_lines *lines, int64_t time_mono_ns, const char *bytes, size_t length);
/* Passes on the last line if it has no end. */
void kwhy_lines_finish(struct kwhy_lines *lines);

#endif
