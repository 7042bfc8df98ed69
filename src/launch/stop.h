/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_STOP_H
#define KWHY_LAUNCH_STOP_H

#include "base/status.h"

#include <stdbool.h>

/*
 * An interrupt (SIGINT, SIGTERM) ends a benchmark with the results so far; the next one ends the program.
 * This is state of the process, as signals are. Any thread may read it.
 */

/*
 * Watches for these signals from now on, except ignored ones. On the first, prints a message to standard
 * error unless `quiet`.
 */
void kwhy_stop_watch(bool quiet);

bool kwhy_stop_asked(void);

/* Fails with KWHY_E_LOST, as when the device is gone, once an interrupt was received. */
KWHY_MUST_USE enum kwhy_status kwhy_stop_check(struct kwhy_error *error);

#endif
