/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_SMALL_FILE_H
#define KWHY_OWNERS_SMALL_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the first out_bytes - 1 bytes of a file of the kernel, without allocation, and ends them with a NUL.
 * False: it cannot be read.
 */
bool kwhy_small_file_read(const char *path, char *out, size_t out_bytes, size_t *out_length);

#endif
