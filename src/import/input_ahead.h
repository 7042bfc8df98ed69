/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_INPUT_AHEAD_H
#define KWHY_IMPORT_INPUT_AHEAD_H

#include "import/input.h"

/*
 * A compressed input that is unpacked by a thread of its own, two buffers ahead of its reader, so that
 * decompression and reading overlap. Plain files are read directly, and so is every file where no thread can
 * be created.
 */
struct kwhy_ahead;

/* Takes over the input, on failure too. */
KWHY_MUST_USE enum kwhy_status kwhy_ahead_open(
	struct kwhy_input *input, struct kwhy_ahead **out, struct kwhy_error *error);

/*
 * As kwhy_input_read(), but it may give fewer bytes than requested at any time; it gives 0 only at the end.
 */
KWHY_MUST_USE enum kwhy_status kwhy_ahead_read(
	struct kwhy_ahead *ahead, void *out, size_t size, size_t *out_size, struct kwhy_error *error);

/* Stops the thread and closes the input. */
void kwhy_ahead_close(struct kwhy_ahead *ahead);

#endif
