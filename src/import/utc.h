/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_UTC_H
#define KWHY_IMPORT_UTC_H

#include "model/recording.h"

#define KWHY_UTC_BYTES 64

/*
 * A time of the recording in words: "2026-11-21 10:03:01.250 UTC"; on a clock that is not Unix time its
 * seconds, "12.345 s". Returns `out`.
 */
const char *kwhy_utc_text(
	char out[KWHY_UTC_BYTES], const struct kwhy_recording *recording, int64_t relative_ns);

/* A distance that may be long: "8.00 s", "1.63 h", "12.4 days". */
const char *kwhy_utc_distance(char out[KWHY_UTC_BYTES], int64_t distance_ns);

#endif
