/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/sums/sums.h"

/* The rank that a device states, else that of the process which used it first. */
static uint32_t rank_of(const struct kwhy_recording *recording, size_t device)
{
	const struct kwhy_activities *rows = &recording->activities;
	const struct kwhy_stream *stream = &recording->streams[rows->stream[rows->first[device]]];

	if (recording->devices[device].rank != KWHY_NONE)
		return recording->devices[device].rank;
	return recording->processes[stream->process].rank;
}

static int64_t energy_of(const struct kwhy_device_energy *energy)
{
	if (!energy->known)
		return KWHY_UNKNOWN_NJ;
	return energy->measured_nj != KWHY_UNKNOWN_NJ ? energy->measured_nj : energy->attributed_nj;
}

static void add_rank(struct kwhy_ledger *ledger, uint32_t device, uint32_t rank)
{
	const struct kwhy_device_time *time = &ledger->devices[device].time;

	ledger->ranks[ledger->rank_count++] = (struct kwhy_rank_sum){
		.rank = rank,
		.device = device,
		.span_ns = time->span_ns,
		.busy_ns = time->busy_ns,
		.compute_ns = time->kernel_union_ns - time->collective_exposed_ns,
		.collective_exposed_ns = time->collective_exposed_ns,
		.energy_nj = energy_of(&ledger->devices[device].energy),
	};
}

enum kwhy_status kwhy_sums_ranks(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	const size_t *first = recording->activities.first;

	(void)options;
	ledger->ranks = kwhy_arena_alloc(&ledger->arena, recording->device_count, sizeof(*ledger->ranks));
	if (!ledger->ranks)
		return kwhy_fail_memory(error, "sums of ranks");
	for (size_t device = 0; device < recording->device_count; device++)
		if (first[device] < first[device + 1])
			add_rank(ledger, (uint32_t)device, rank_of(recording, device));
	return KWHY_OK;
}
