/* SPDX-License-Identifier: Apache-2.0 */
#include "import/recorded/recorded.h"

#include <stdlib.h>
#include <string.h>

/* [stream_count] the number of activities of each stream; the caller frees it. NULL: memory is exhausted. */
static uint64_t *count_rows(const struct kwhy_recording *recording)
{
	uint64_t *counts = calloc(recording->stream_count + 1, sizeof(*counts));

	for (size_t i = 0; counts && i < recording->activities.count; i++)
		if (recording->activities.stream[i] < recording->stream_count)
			counts[recording->activities.stream[i]]++;
	return counts;
}

/*
 * The process with a known rank that has the most activities on a device; KWHY_NONE: none has any.
 * of_processes[process_count] is scratch space.
 */
static uint32_t busiest(const struct kwhy_recording *recording, uint32_t device, const uint64_t *counts,
	uint64_t *of_processes)
{
	uint32_t best = KWHY_NONE;

	memset(of_processes, 0, recording->process_count * sizeof(*of_processes));
	for (uint32_t i = 0; i < recording->stream_count; i++)
		if (recording->streams[i].device == device &&
			recording->streams[i].process < recording->process_count)
			of_processes[recording->streams[i].process] += counts[i];
	for (uint32_t i = 0; i < recording->process_count; i++)
		if (of_processes[i] && recording->processes[i].rank != KWHY_NONE &&
			(best == KWHY_NONE || of_processes[i] > of_processes[best]))
			best = i;
	return best;
}

static bool has_several(const struct kwhy_recording *recording)
{
	uint32_t first = KWHY_NONE;

	for (uint32_t i = 0; i < recording->process_count; i++) {
		uint32_t rank = recording->processes[i].rank;

		if (rank != KWHY_NONE && first != KWHY_NONE && rank != first)
			return true;
		if (first == KWHY_NONE)
			first = rank;
	}
	return false;
}

enum kwhy_status kwhy_recorded_ranks_apply(struct kwhy_recorded *recorded, struct kwhy_error *error)
{
	struct kwhy_recording *recording = recorded->recording;
	uint64_t *counts, *of_processes;

	if (!has_several(recording))
		return KWHY_OK;
	counts = count_rows(recording);
	of_processes = calloc(recording->process_count, sizeof(*of_processes));
	for (uint32_t i = 0; counts && of_processes && i < recording->device_count; i++) {
		uint32_t process = busiest(recording, i, counts, of_processes);

		recording->devices[i].rank = process == KWHY_NONE ? KWHY_NONE
								  : recording->processes[process].rank;
	}
	free(of_processes);
	free(counts);
	return counts && of_processes ? KWHY_OK : kwhy_fail_memory(error, "the ranks of devices");
}
