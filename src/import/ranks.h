/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RANKS_H
#define KWHY_IMPORT_RANKS_H

#include "model/recording.h"

/*
 * Makes sure that devices of a trace are distinct from devices of earlier traces with the same numbers. The
 * devices of the trace begin at row `first_device`. If no trace states a rank, ranks are assigned in the
 * order of the files, and a note states this.
 */
KWHY_MUST_USE enum kwhy_status kwhy_ranks_separate(
	struct kwhy_recording *recording, const char *path, size_t first_device, struct kwhy_error *error);

#endif
