/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_TRACE_HEAD_H
#define KWHY_IMPORT_TRACE_HEAD_H

#include "base/status.h"

#include <stddef.h>

#define KWHY_TRACE_HEAD_BYTES 4096

/*
 * Reads the first bytes of a file, decompressed, which decide its format; fewer than KWHY_TRACE_HEAD_BYTES if
 * the file is shorter. Refuses the files that kwhy_input_open() refuses.
 */
KWHY_MUST_USE enum kwhy_status kwhy_trace_head_read(const char *path,
	unsigned char out[KWHY_TRACE_HEAD_BYTES], size_t *out_length, struct kwhy_error *error);

#endif
