/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LIVE_PROCESS_H
#define KWHY_LIVE_PROCESS_H

#include "live/snapshot.h"

/*
 * Makes one row for each process from the driver's list, which has one entry for each context: the memory of
 * all contexts of a process is added up. Rows are sorted by memory, largest first; their number, at most
 * `count`, is returned, and `out` must have space for `count`. Names are copied from `known`, the rows of an
 * earlier call, or, for processes that it does not contain, read from /proc.
 */
size_t kwhy_live_processes_make(const struct kwhy_sensor_process *listed, size_t count,
	const struct kwhy_live_process *known, size_t known_count, struct kwhy_live_process *out);

#endif
