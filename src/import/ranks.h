/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RANKS_H
#define KWHY_IMPORT_RANKS_H

#include "model/recording.h"

/*
 * Separates the devices of a trace, which begin at `first_device`, from those of earlier traces with the same
 * numbers: where no rank is stated, ranks are counted in the order of the files. Adds a note of it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_ranks_separate(
	struct kwhy_recording *recording, const char *path, size_t first_device, struct kwhy_error *error);

#endif
