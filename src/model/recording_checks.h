/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_RECORDING_CHECKS_H
#define KWHY_MODEL_RECORDING_CHECKS_H

#include "model/recording.h"

/* Steps of kwhy_recording_finish() that find what a profiler lost or got wrong, and add a note of it. */

/*
 * Ends activities that outlast the next one of their stream at its start, because a stream runs them in
 * order. Short overlaps stay: with programmatic dependent launch a kernel begins before the one before it has
 * ended. The activities are sorted.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recording_cut_impossible(
	struct kwhy_recording *recording, struct kwhy_error *error);

/* Counts launches of kernels that no activity belongs to. The activities are linked to the calls. */
KWHY_MUST_USE enum kwhy_status kwhy_recording_count_unmatched(
	struct kwhy_recording *recording, struct kwhy_error *error);

#endif
