/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_WINDOW_H
#define KWHY_IMPORT_POWER_WINDOW_H

#include "model/recording.h"

#define KWHY_POWER_WINDOW_MAX_NS (366 * INT64_C(86400) * 1000000000)

/* Interval in which power was read, ns since the recording's origin. Zero-initialise. */
struct kwhy_power_window {
	int64_t start_ns, end_ns;
	bool known;
};

void kwhy_power_window_add(struct kwhy_power_window *window, int64_t time_ns);

/* The interval in which devices ran something or, if they ran nothing, the interval of the host's calls. */
struct kwhy_power_window kwhy_power_window_of_work(const struct kwhy_recording *recording);

/*
 * Compares the interval of the readings with that of the work. Readings that are entirely before or after the
 * work are refused; if they cover only a part of the work, a note states which part. A recording without work
 * is not checked. Call it before kwhy_recording_finish().
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_window_check(const struct kwhy_power_window *window,
	struct kwhy_recording *recording, const char *path, struct kwhy_error *error);

#endif
