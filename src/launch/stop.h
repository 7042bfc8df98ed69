/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_STOP_H
#define KWHY_LAUNCH_STOP_H

#include "base/status.h"

#include <stdbool.h>

/*
 * An interrupt (SIGINT, SIGTERM) ends a benchmark, whose results so far are kept. The next interrupt ends the
 * program. The state belongs to the process, as signals do. Any thread may read it.
 */

/*
 * Starts watching for these signals, except those that are ignored. At the first one it prints a message to
 * standard error, unless `quiet`.
 */
void kwhy_stop_watch(bool quiet);

bool kwhy_stop_asked(void);

/* Returns KWHY_E_LOST, as after the loss of a device, if there was an interrupt. */
KWHY_MUST_USE enum kwhy_status kwhy_stop_check(struct kwhy_error *error);

#endif
