/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_SMALL_FILE_H
#define KWHY_OWNERS_SMALL_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads at most the first out_bytes - 1 bytes of a file of /proc or /sys, without allocation, and appends a
 * NUL. False: the file cannot be read.
 */
bool kwhy_small_file_read(const char *path, char *out, size_t out_bytes, size_t *out_length);

#endif
