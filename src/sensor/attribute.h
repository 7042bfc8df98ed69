/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_ATTRIBUTE_H
#define KWHY_SENSOR_ATTRIBUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Attributes of the kernel under /sys: small files with one value each. */

#define KWHY_ATTRIBUTE_BYTES 256 /* space for the longest path and the longest text */

/* Joins folder and name. False: the path is too long. */
bool kwhy_attribute_path(char out[KWHY_ATTRIBUTE_BYTES], const char *folder, const char *name);

/* Reads the text without trailing white space. False, with errno: it cannot be read. */
bool kwhy_attribute_text(char out[KWHY_ATTRIBUTE_BYTES], const char *folder, const char *name);
bool kwhy_attribute_integer(int64_t *out, const char *folder, const char *name);

/*
 * For attributes that are opened once and read repeatedly, without allocation. -1 with errno; close with
 * close().
 */
int kwhy_attribute_open(const char *folder, const char *name);
bool kwhy_attribute_read(int fd, int64_t *out);

/* The number after a prefix: 12 of "hwmon12"; -1: the name has another form. */
int64_t kwhy_attribute_number(const char *name, const char *prefix);

/*
 * Lists the names in a folder that consist of `prefix` and a number, such as hwmon0 and hwmon12: writes at
 * most `space` numbers in ascending order and returns how many; -1 with errno: the folder cannot be read.
 */
int kwhy_attribute_list(const char *folder, const char *prefix, int64_t *out, int space);

#endif
