/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_EXPORT_SINK_H
#define KWHY_REPORT_EXPORT_SINK_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct gzFile_s;

/*
 * A file that is written in pieces: append bytes to `text` and call kwhy_sink_drain() from time to time.
 * The first failure is kept, and kwhy_sink_close() reports it. If `compress` is set or the path ends in
 * .gz, the file is gzip.
 */
struct kwhy_sink {
	struct kwhy_text text;
	struct gzFile_s *file;
	const char *path;
	bool failed;
};

KWHY_MUST_USE enum kwhy_status kwhy_sink_open(
	struct kwhy_sink *sink, const char *path, bool compress, struct kwhy_error *error);
/* Writes the collected bytes to the file once they exceed `limit`. */
void kwhy_sink_drain(struct kwhy_sink *sink, size_t limit);
KWHY_MUST_USE enum kwhy_status kwhy_sink_close(struct kwhy_sink *sink, struct kwhy_error *error);

/* Number of bytes from which a system call to write them is worth its cost. */
enum { KWHY_SINK_PIECE_BYTES = 1 << 18 };

#endif
