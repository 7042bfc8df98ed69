/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_INPUT_H
#define KWHY_IMPORT_INPUT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the bytes of a file from front to back, decompressed. The first bytes of the file decide whether it
 * is gzip (of one or more members), zstd (of one or more frames) or not compressed. Only one thread at a time
 * may use an input.
 */
struct kwhy_input;

/*
 * Opens a file. Folders, empty files, UTF-16 and Git LFS pointers are refused with a message that says what
 * to do.
 */
KWHY_MUST_USE enum kwhy_status kwhy_input_open(
	const char *path, struct kwhy_input **out, struct kwhy_error *error);

/*
 * Gives `size` bytes; fewer only at the end of the data, and 0 after it. If an error follows valid bytes,
 * these are given first; every later call then returns the error.
 */
KWHY_MUST_USE enum kwhy_status kwhy_input_read(
	struct kwhy_input *input, void *out, size_t size, size_t *out_size, struct kwhy_error *error);

/* True when the file is compressed, so that reading it takes processor time. */
bool kwhy_input_is_packed(const struct kwhy_input *input);

void kwhy_input_close(struct kwhy_input *input);

#endif
