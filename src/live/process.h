/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LIVE_PROCESS_H
#define KWHY_LIVE_PROCESS_H

#include "live/snapshot.h"

/*
 * Makes one row a process from the driver's list, which has a process once for each of its contexts: the most
 * memory first, with the command's name from /proc. Returns the number of rows. `out` has space for `count`.
 */
size_t kwhy_live_processes_make(
	const struct kwhy_sensor_process *listed, size_t count, struct kwhy_live_process *out);

#endif
