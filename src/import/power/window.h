/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_WINDOW_H
#define KWHY_IMPORT_POWER_WINDOW_H

#include "model/recording.h"

#define KWHY_POWER_WINDOW_MAX_NS (366 * INT64_C(86400) * 1000000000)

/* When power was read; zero-initialise. Times of the recording. */
struct kwhy_power_window {
	int64_t start_ns, end_ns;
	bool known;
};

void kwhy_power_window_add(struct kwhy_power_window *window, int64_t time_ns);

/* When something ran on devices; without any, when the host called. */
struct kwhy_power_window kwhy_power_window_of_work(const struct kwhy_recording *recording);

/*
 * Compares the readings with what ran: refuses readings that lie wholly before or after it, notes how far
 * others overlap. Nothing is checked while nothing ran. Before kwhy_recording_finish().
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_window_check(const struct kwhy_power_window *window,
	struct kwhy_recording *recording, const char *path, struct kwhy_error *error);

#endif
