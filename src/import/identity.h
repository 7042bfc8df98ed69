/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_IDENTITY_H
#define KWHY_IMPORT_IDENTITY_H

#include "base/status.h"
#include "model/recording.h"

/*
 * Identifies a file by its content: a copy under another name, or compressed anew, would count twice. The
 * digest is the sum of one number for each row, so that the order of rows does not matter. Two files with
 * different rows share a digest with a probability of 2^-64.
 */

/* Hash of these values in their order. */
uint64_t kwhy_identity_digest(const uint64_t *values, size_t count);

/*
 * Called after a trace appended its source and its activities. Refuses the trace when an earlier one has the
 * same activities: device index and stated rank, stream, times, kind and name, or for transfers, which only
 * some formats name, direction and bytes. A trace without activities is no copy, and traces of different
 * stated ranks may have the same activities. Two recordings of kwhy are compared by their writers
 * (import/recorded/recorded.c). The digest is computed only when an earlier trace has as many activities.
 */
KWHY_MUST_USE enum kwhy_status kwhy_identity_check_trace(struct kwhy_recording *recording,
	size_t activities_before, const char *path, struct kwhy_error *error);

/*
 * Refuses a power file whose readings are those of an earlier one; otherwise keeps a copy of `file` in the
 * recording.
 */
KWHY_MUST_USE enum kwhy_status kwhy_identity_check_power(
	struct kwhy_recording *recording, const struct kwhy_power_file *file, struct kwhy_error *error);

#endif
