/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_INPUT_H
#define KWHY_IMPORT_INPUT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The bytes of a file, front to back, after decompression: plain, gzip (several members too) or zstd
 * (several frames too), distinguished by their first bytes. One thread at a time.
 */
struct kwhy_input;

/* Refuses folders, empty files, UTF-16 and Git LFS pointers with a sentence that says what to do. */
KWHY_MUST_USE enum kwhy_status kwhy_input_open(
	const char *path, struct kwhy_input **out, struct kwhy_error *error);

/*
 * Gives up to `size` bytes; fewer only at the end, 0 once past it. An error repeats in every later call;
 * bytes that were whole before it are given first.
 */
KWHY_MUST_USE enum kwhy_status kwhy_input_read(
	struct kwhy_input *input, void *out, size_t size, size_t *out_size, struct kwhy_error *error);

/* The file is compressed: reading costs a processor's time. */
bool kwhy_input_is_packed(const struct kwhy_input *input);

void kwhy_input_close(struct kwhy_input *input);

#endif
