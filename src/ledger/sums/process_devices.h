/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_SUMS_PROCESS_DEVICES_H
#define KWHY_LEDGER_SUMS_PROCESS_DEVICES_H

#include "base/status.h"
#include "model/recording.h"

/* The devices on which each process has streams. */
struct kwhy_process_devices {
	uint32_t *devices; /* devices of each process, one process after the other; at the end all devices,
			      for KWHY_NONE */
	size_t *first; /* [process_count + 2] index in `devices` of the first device of each process, of the
			  list of all devices, and of the end */
	size_t process_count;
};

KWHY_MUST_USE enum kwhy_status kwhy_process_devices_init(
	struct kwhy_process_devices *table, const struct kwhy_recording *recording, struct kwhy_error *error);
void kwhy_process_devices_done(struct kwhy_process_devices *table);

/* The devices of a process, borrowed from the table. Process KWHY_NONE: all devices. */
const uint32_t *kwhy_process_devices_of(
	const struct kwhy_process_devices *table, uint32_t process, size_t *out_count);

#endif
