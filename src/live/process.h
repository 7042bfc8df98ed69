/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LIVE_PROCESS_H
#define KWHY_LIVE_PROCESS_H

#include "live/snapshot.h"

/*
 * Merges the entries of the driver's list, one for each context of a process, into one row for each
 * process, with the name of its command. The process with the most memory comes first. Returns the number
 * of rows. `out` has space for `count` rows. The names of processes that `known` contains are copied from
 * there; the others are read from /proc.
 */
size_t kwhy_live_processes_make(const struct kwhy_sensor_process *listed, size_t count,
	const struct kwhy_live_process *known, size_t known_count, struct kwhy_live_process *out);

#endif
