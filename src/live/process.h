/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LIVE_PROCESS_H
#define KWHY_LIVE_PROCESS_H

#include "live/snapshot.h"

/*
 * From the driver's list, where a process with several contexts stands several times: one row a process,
 * the most memory first, with the command's name from /proc. Gives how many; `out` has space for `count`.
 */
size_t kwhy_live_processes_make(
	const struct kwhy_sensor_process *listed, size_t count, struct kwhy_live_process *out);

#endif
