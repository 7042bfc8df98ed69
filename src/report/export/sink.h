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
 * Failures are remembered and reported once by kwhy_sink_close(). `compress` or a path that ends in .gz gives
 * gzip.
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

/* Size of a piece that is worth a system call. */
enum { KWHY_SINK_PIECE_BYTES = 1 << 18 };

#endif
