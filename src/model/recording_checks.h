/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_RECORDING_CHECKS_H
#define KWHY_MODEL_RECORDING_CHECKS_H

#include "model/recording.h"

/*
 * Steps of kwhy_recording_finish() that find what a profiler lost or recorded wrongly, and add a note about
 * it.
 */

/*
 * Cuts activities that end after the next activity of their stream ends. Such an activity then ends where the
 * next one starts, because a stream runs its activities in order. Activities that only overlap the start of
 * the next one stay as they are: with programmatic dependent launch, a kernel begins before the previous one
 * has ended. The activities must be sorted.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recording_cut_impossible(
	struct kwhy_recording *recording, struct kwhy_error *error);

/*
 * Counts launches of kernels to which no activity is linked, and adds a note if there are any. If they are
 * more than 1 % of all launches, lost.unmatched_launches is set. Does nothing if only windows were recorded
 * or kwhy probe was at work. Activities must have been linked to calls before.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recording_count_unmatched(
	struct kwhy_recording *recording, struct kwhy_error *error);

#endif
