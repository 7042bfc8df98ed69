/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_ATTRIBUTE_H
#define KWHY_SENSOR_ATTRIBUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Attributes of the kernel: small files under /sys, each of which holds one value. */

/* space for the longest path, and for the longest text */
#define KWHY_ATTRIBUTE_BYTES 256

/* Joins a folder and a name to a path. False: the path is too long. */
bool kwhy_attribute_path(char out[KWHY_ATTRIBUTE_BYTES], const char *folder, const char *name);

/*
 * Reads the text of an attribute, without white space at its end. False: it cannot be read, and errno says
 * why.
 */
bool kwhy_attribute_text(char out[KWHY_ATTRIBUTE_BYTES], const char *folder, const char *name);
bool kwhy_attribute_integer(int64_t *out, const char *folder, const char *name);

/*
 * Open an attribute once and read it repeatedly, without allocation. kwhy_attribute_open() returns a
 * descriptor, to be closed with close(), or -1 with errno.
 */
int kwhy_attribute_open(const char *folder, const char *name);
bool kwhy_attribute_read(int fd, int64_t *out);

/*
 * Returns the number that follows a prefix in a name, such as 12 of "hwmon12"; -1: the name has another form.
 */
int64_t kwhy_attribute_number(const char *name, const char *prefix);

/*
 * Finds the names in a folder that consist of `prefix` and a number, such as hwmon0 and hwmon12. Writes at
 * most `space` of these numbers in ascending order and returns how many. -1: the folder cannot be read, and
 * errno says why.
 */
int kwhy_attribute_list(const char *folder, const char *prefix, int64_t *out, int space);

#endif
