/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_STAMP_H
#define KWHY_IMPORT_POWER_STAMP_H

#include "base/span.h"

#include <stdint.h>

/* A time in a log. Without a time zone (is_local) it is converted as if it were UTC. */
struct kwhy_power_stamp {
	int64_t time_ns; /* Unix time */
	bool is_local;
};

/*
 * Reads a time. It may be a Unix time of 1973 to 2262 in seconds, milliseconds, microseconds or nanoseconds,
 * with or without decimals; the number of digits determines the unit. It may also be a date with a time of
 * day: "2026/11/29 08:41:39.123", "20261129 08:41:39", "2026-11-29T08:41:39.5+02:00", "...Z". False: the text
 * is neither.
 */
bool kwhy_power_stamp_read(struct kwhy_span text, struct kwhy_power_stamp *out);

/*
 * Reads the offset of a time zone from UTC, "+02:00", "-0330", "+02", "Z", "UTC" or "GMT", in nanoseconds,
 * positive east of Greenwich. False: the text is no offset.
 */
bool kwhy_power_offset_read(struct kwhy_span text, int64_t *out_ns);

#endif
