/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_STOP_H
#define KWHY_LAUNCH_STOP_H

#include "base/status.h"

#include <stdbool.h>

/*
 * An interrupt (SIGINT, SIGTERM) ends a benchmark with what was measured; the next one ends the program.
 * State of the process, since signals are. Any thread may ask.
 */

/* From now on, but for signals that are ignored; says on standard error that one was heard, unless `quiet`.
 */
void kwhy_stop_watch(bool quiet);

bool kwhy_stop_asked(void);

/* KWHY_E_LOST, as where the device is gone, once it was asked for. */
KWHY_MUST_USE enum kwhy_status kwhy_stop_check(struct kwhy_error *error);

#endif
