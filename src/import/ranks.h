/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RANKS_H
#define KWHY_IMPORT_RANKS_H

#include "model/recording.h"

/*
 * If the trace whose devices begin at index `first_device` has a device with the same number and rank as an
 * earlier trace, adds a note. If the trace states no rank, all processes and devices without one also get
 * ranks in the order of the files, so that the devices are distinct.
 */
KWHY_MUST_USE enum kwhy_status kwhy_ranks_separate(
	struct kwhy_recording *recording, const char *path, size_t first_device, struct kwhy_error *error);

#endif
