/* SPDX-License-Identifier: Apache-2.0 */
#include "import/ranks.h"

#include <inttypes.h>

static bool is_rank_taken(const struct kwhy_recording *recording, uint32_t rank)
{
	for (size_t i = 0; i < recording->process_count; i++)
		if (recording->processes[i].rank == rank)
			return true;
	return false;
}

/*
 * Gives each process without a rank the number of its source, or the next rank that is free, and devices
 * without a rank that of a process with a stream on them.
 */
static void rank_by_order(struct kwhy_recording *recording)
{
	for (size_t i = 0; i < recording->process_count; i++) {
		struct kwhy_process *process = &recording->processes[i];
		uint32_t rank = process->source;

		if (process->rank != KWHY_NONE)
			continue;
		while (is_rank_taken(recording, rank))
			rank++;
		process->rank = rank;
		process->rank_by_order = true;
	}
	for (size_t i = 0; i < recording->stream_count; i++) {
		const struct kwhy_stream *stream = &recording->streams[i];

		if (recording->devices[stream->device].rank == KWHY_NONE)
			recording->devices[stream->device].rank = recording->processes[stream->process].rank;
	}
}

/*
 * Whether an earlier file has a device with the same number as `device` and the same rank, or any rank if
 * `device` has none.
 */
static bool is_known(
	const struct kwhy_recording *recording, size_t first_device, const struct kwhy_device *device)
{
	for (size_t i = 0; i < first_device; i++) {
		const struct kwhy_device *earlier = &recording->devices[i];

		if (earlier->index == device->index &&
			(device->rank == KWHY_NONE || earlier->rank == device->rank))
			return true;
	}
	return false;
}

enum kwhy_status kwhy_ranks_separate(
	struct kwhy_recording *recording, const char *path, size_t first_device, struct kwhy_error *error)
{
	const struct kwhy_device *known = NULL;

	for (size_t i = first_device; i < recording->device_count; i++)
		if (is_known(recording, first_device, &recording->devices[i]))
			known = &recording->devices[i];
	if (!known)
		return KWHY_OK;
	if (known->rank != KWHY_NONE)
		return kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "rank-twice", error,
			"%s: an earlier trace has rank %" PRIu32
			" and the same device numbers too; their devices are counted apart.",
			path, known->rank);
	rank_by_order(recording);
	return kwhy_recording_add_note(recording, KWHY_NOTE_WARNING, "rank-by-order", error,
		"%s: it does not say its rank, and an earlier trace has the same device numbers: "
		"ranks are counted in the order of the files.",
		path);
}
