/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_INPUT_AHEAD_H
#define KWHY_IMPORT_INPUT_AHEAD_H

#include "import/input.h"

/*
 * An input that a thread decompresses ahead of the caller, into up to two buffers of 512 KiB, so that
 * decompressing and parsing overlap. Files without compression are read without a thread, and so is every
 * file if no thread can be created.
 */
struct kwhy_ahead;

/* Takes ownership of the input, also on failure. */
KWHY_MUST_USE enum kwhy_status kwhy_ahead_open(
	struct kwhy_input *input, struct kwhy_ahead **out, struct kwhy_error *error);

/*
 * Does what kwhy_input_read() does, but may give fewer than `size` bytes before the end, too. 0 bytes mean
 * the end of the data.
 */
KWHY_MUST_USE enum kwhy_status kwhy_ahead_read(
	struct kwhy_ahead *ahead, void *out, size_t size, size_t *out_size, struct kwhy_error *error);

/* Stops the thread and closes the input. */
void kwhy_ahead_close(struct kwhy_ahead *ahead);

#endif
