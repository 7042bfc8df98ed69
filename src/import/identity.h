/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_IDENTITY_H
#define KWHY_IMPORT_IDENTITY_H

#include "base/status.h"
#include "model/recording.h"

/*
 * This module identifies a trace by its content, so that a copy under another name, or with another
 * compression, is not counted twice. A trace's digest is the sum of the hashes of its activities, so their
 * order does not matter. Two traces with different activities have equal digests with a probability of 2^-64.
 */

/* Hash of the values in the given order. */
uint64_t kwhy_identity_digest(const uint64_t *values, size_t count);

/*
 * Called after a trace has appended its source and activities to the recording. Refuses the trace if an
 * earlier one has the same activities. Activities are compared by device index and stated rank, stream, times
 * and kind; kernels also by name; copies and memsets, which have names in some formats only, by direction and
 * bytes. A trace is never taken for a copy if it has no activities, or if it states another rank than the
 * earlier trace. Two recordings of kwhy are compared by the processes that wrote them instead
 * (import/recorded/recorded.c). The digest is computed only if an earlier trace has the same number of
 * activities.
 */
KWHY_MUST_USE enum kwhy_status kwhy_identity_check_trace(struct kwhy_recording *recording,
	size_t activities_before, const char *path, struct kwhy_error *error);

/*
 * KWHY_E_INPUT: an earlier power file of the recording has the same number of readings and the same digest.
 * Otherwise adds `file` to the recording.
 */
KWHY_MUST_USE enum kwhy_status kwhy_identity_check_power(
	struct kwhy_recording *recording, const struct kwhy_power_file *file, struct kwhy_error *error);

#endif
