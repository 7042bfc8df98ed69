/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_ISO_TIME_H
#define KWHY_BASE_ISO_TIME_H

#include <stdint.h>

enum { KWHY_ISO_TIME_BYTES = 32, KWHY_ISO_DATE_LENGTH = 10 };

/*
 * Writes a Unix time as UTC after ISO 8601, "2026-11-21T10:03:01Z". Its first KWHY_ISO_DATE_LENGTH
 * characters are the date. Returns `out`.
 */
const char *kwhy_iso_time(char out[KWHY_ISO_TIME_BYTES], int64_t unix_ns);

#endif
