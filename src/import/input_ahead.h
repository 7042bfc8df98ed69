/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_INPUT_AHEAD_H
#define KWHY_IMPORT_INPUT_AHEAD_H

#include "import/input.h"

/*
 * An input that is decompressed by a thread of its own, up to two buffers ahead of the reader, so that
 * decompressing and reading overlap. Plain files are read without a thread, and so is every file if no thread
 * can be created.
 */
struct kwhy_ahead;

/* Takes ownership of the input, also on failure. */
KWHY_MUST_USE enum kwhy_status kwhy_ahead_open(
	struct kwhy_input *input, struct kwhy_ahead **out, struct kwhy_error *error);

/*
 * Reads as kwhy_input_read(), but may give fewer bytes than requested at any time. It gives 0 bytes only at
 * the end.
 */
KWHY_MUST_USE enum kwhy_status kwhy_ahead_read(
	struct kwhy_ahead *ahead, void *out, size_t size, size_t *out_size, struct kwhy_error *error);

/* Stops the thread and closes the input. */
void kwhy_ahead_close(struct kwhy_ahead *ahead);

#endif
