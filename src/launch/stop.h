/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_STOP_H
#define KWHY_LAUNCH_STOP_H

#include "base/status.h"

#include <stdbool.h>

/*
 * The first SIGINT or SIGTERM asks a benchmark to end and to keep its results so far; a second signal
 * of either kind ends the program at once. There is one such state in a process; any thread may read it.
 */

/*
 * Clears the state and installs the handlers of both signals, except of one that is ignored. A handler prints
 * a message to standard error, unless `quiet`.
 */
void kwhy_stop_watch(bool quiet);

bool kwhy_stop_asked(void);

/*
 * Returns KWHY_E_LOST if SIGINT or SIGTERM has asked for an end: callers then stop measuring and keep their
 * results, as when a device is lost.
 */
KWHY_MUST_USE enum kwhy_status kwhy_stop_check(struct kwhy_error *error);

#endif
