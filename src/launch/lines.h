/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_LINES_H
#define KWHY_LAUNCH_LINES_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* A longer line is passed on in pieces of this size. */
enum { KWHY_LINE_BYTES = 65536 };

/*
 * Receives a line without its end. It may contain any bytes, and a NUL follows it. `time_mono_ns` is when its
 * last byte came.
 */
typedef void kwhy_line_seen(void *context, int64_t time_mono_ns, const char *line, size_t length);

/*
 * Assembles lines from chunks of bytes. A carriage return ends a line, too, because progress bars end their
 * lines with it.
 */
struct kwhy_lines {
	char *held; /* bytes of the line so far; space for KWHY_LINE_BYTES + 1 */
	size_t length;
	int64_t time_mono_ns;
	uint64_t cut; /* number of lines that were longer and were passed on in pieces */
	kwhy_line_seen *seen;
	void *context;
};

KWHY_MUST_USE enum kwhy_status kwhy_lines_init(
	struct kwhy_lines *lines, kwhy_line_seen *seen, void *context, struct kwhy_error *error);
void kwhy_lines_done(struct kwhy_lines *lines);
void kwhy_lines_add(struct kwhy_lines *lines, int64_t time_mono_ns, const char *bytes, size_t length);
/* Passes on what came after the last end of a line, if anything did. */
void kwhy_lines_finish(struct kwhy_lines *lines);

#endif
