/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_INPUT_AHEAD_H
#define KWHY_IMPORT_INPUT_AHEAD_H

#include "import/input.h"

/*
 * A packed input that a thread of its own unpacks, two buffers ahead of its reader: reading the text then
 * costs no time beside the decompression. Plain files, and machines that give no thread, are read directly.
 */
struct kwhy_ahead;

/* Takes over the input, in failure too. */
KWHY_MUST_USE enum kwhy_status kwhy_ahead_open(
	struct kwhy_input *input, struct kwhy_ahead **out, struct kwhy_error *error);

/* As kwhy_input_read(), but may give fewer bytes than asked for anywhere; 0 only at the end. */
KWHY_MUST_USE enum kwhy_status kwhy_ahead_read(
	struct kwhy_ahead *ahead, void *out, size_t size, size_t *out_size, struct kwhy_error *error);

/* Stops the thread and closes the input. */
void kwhy_ahead_close(struct kwhy_ahead *ahead);

#endif
