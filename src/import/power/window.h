/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_WINDOW_H
#define KWHY_IMPORT_POWER_WINDOW_H

#include "model/recording.h"

#define KWHY_POWER_WINDOW_MAX_NS (366 * INT64_C(86400) * 1000000000)

/*
 * An interval from a first to a last time, ns since the recording's origin. `known` false: it is empty.
 * Zero-initialise.
 */
struct kwhy_power_window {
	int64_t start_ns, end_ns;
	bool known;
};

void kwhy_power_window_add(struct kwhy_power_window *window, int64_t time_ns);

/*
 * From the first start to the last end of the devices' activities or, if there are none, of the host's API
 * calls.
 */
struct kwhy_power_window kwhy_power_window_of_work(const struct kwhy_recording *recording);

/*
 * Compares the interval of the readings, `window`, with kwhy_power_window_of_work(). KWHY_E_INPUT: the
 * readings lie entirely before or after the work, or span more than a year. If they cover only a part of the
 * work, a note states how much. A recording without work is not checked. Call it before
 * kwhy_recording_finish().
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_window_check(const struct kwhy_power_window *window,
	struct kwhy_recording *recording, const char *path, struct kwhy_error *error);

#endif
