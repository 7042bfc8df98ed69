/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_ATTRIBUTE_H
#define KWHY_SENSOR_ATTRIBUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Attributes of the kernel: small files under /sys, each of which holds one value. */

/*
 * size in bytes, with the final zero, of a buffer for the path of an attribute or for its text; a longer path
 * is an error, a longer text is cut
 */
#define KWHY_ATTRIBUTE_BYTES 256

/* Joins a folder and a name to a path. False: the path is too long. */
bool kwhy_attribute_path(char out[KWHY_ATTRIBUTE_BYTES], const char *folder, const char *name);

/*
 * kwhy_attribute_text() reads the text of an attribute, without white space at its end.
 * kwhy_attribute_integer() reads an attribute that must consist of one integer. False: errno says why the
 * attribute could not be read; EINVAL: it is not an integer.
 */
bool kwhy_attribute_text(char out[KWHY_ATTRIBUTE_BYTES], const char *folder, const char *name);
bool kwhy_attribute_integer(int64_t *out, const char *folder, const char *name);

/*
 * Open an attribute once and read it repeatedly, without allocation. kwhy_attribute_open() returns a
 * descriptor, to be closed with close(), or -1 with errno. kwhy_attribute_read() reads the integer that the
 * attribute holds now; false: errno says why.
 */
int kwhy_attribute_open(const char *folder, const char *name);
bool kwhy_attribute_read(int fd, int64_t *out);

/*
 * Returns the number that follows `prefix` in a name, such as 12 for the name "hwmon12" and the prefix
 * "hwmon". -1: the name does not consist of the prefix and a decimal number.
 */
int64_t kwhy_attribute_number(const char *name, const char *prefix);

/*
 * Finds the names in a folder that consist of `prefix` and a number, such as hwmon0 and hwmon12. Writes at
 * most `space` of these numbers in ascending order and returns how many. -1: the folder cannot be read, and
 * errno says why.
 */
int kwhy_attribute_list(const char *folder, const char *prefix, int64_t *out, int space);

#endif
