/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_ATTRIBUTE_H
#define KWHY_SENSOR_ATTRIBUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Attributes as the kernel shows them under /sys: small files with one value. */

#define KWHY_ATTRIBUTE_BYTES 256 /* the longest path, and the longest text taken */

/* Joins folder and name; false: too long. */
bool kwhy_attribute_path(char out[KWHY_ATTRIBUTE_BYTES], const char *folder, const char *name);

/* The text without white space at its end; false, with errno, where it cannot be read. */
bool kwhy_attribute_text(char out[KWHY_ATTRIBUTE_BYTES], const char *folder, const char *name);
bool kwhy_attribute_integer(int64_t *out, const char *folder, const char *name);

/* Opened once and read again and again: allocates nothing. -1 with errno; close with close(). */
int kwhy_attribute_open(const char *folder, const char *name);
bool kwhy_attribute_read(int fd, int64_t *out);

/* The number behind a prefix: 12 of "hwmon12"; -1: not so. */
int64_t kwhy_attribute_number(const char *name, const char *prefix);

/*
 * The names in a folder that are `prefix` and a number, such as hwmon0 and hwmon12: their numbers, rising,
 * at most `room`. Gives how many; -1 with errno where there is no such folder.
 */
int kwhy_attribute_list(const char *folder, const char *prefix, int64_t *out, int space);

#endif
