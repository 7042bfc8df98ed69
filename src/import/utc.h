/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_UTC_H
#define KWHY_IMPORT_UTC_H

#include "model/recording.h"

#define KWHY_UTC_BYTES 64

/*
 * Writes a time, given in ns since the recording's origin: "2026-11-21 10:03:01.250 UTC", or, if the
 * recording's clock is not Unix time, "12.345 s" of that clock. Returns `out`.
 */
const char *kwhy_utc_text(
	char out[KWHY_UTC_BYTES], const struct kwhy_recording *recording, int64_t relative_ns);

/* Writes a duration that is not negative: "8.00 s", "1.63 h", "12.4 days". Returns `out`. */
const char *kwhy_utc_distance(char out[KWHY_UTC_BYTES], int64_t distance_ns);

#endif
