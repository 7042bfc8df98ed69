/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_STAMP_H
#define KWHY_IMPORT_POWER_STAMP_H

#include "base/span.h"

#include <stdint.h>

/* A time of a log. A local time has no zone and is converted as if it were UTC. */
struct kwhy_power_stamp {
	int64_t time_ns; /* Unix time */
	bool is_local;
};

/*
 * Reads Unix times of 1973 to 2262 in seconds, milliseconds, microseconds or nanoseconds, distinguished by
 * their size, with decimals; and dates with a time of day: "2026/11/29 08:41:39.123", "20261129 08:41:39",
 * "2026-11-29T08:41:39.5+02:00", "...Z". False: the text is neither.
 */
bool kwhy_power_stamp_read(struct kwhy_span text, struct kwhy_power_stamp *out);

/* Reads "+02:00", "-0330", "Z" or "UTC" as nanoseconds east of Greenwich. False: the text is no offset. */
bool kwhy_power_offset_read(struct kwhy_span text, int64_t *out_ns);

#endif
