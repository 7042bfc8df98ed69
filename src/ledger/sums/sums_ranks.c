/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/parts.h"
#include "ledger/sums/sums.h"

/*
 * Rank of a device with activities: the one that the recording states for the device, else that of the
 * process of its first activity; KWHY_NONE: unknown.
 */
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

static uint32_t world_size_of(const struct kwhy_recording *recording)
{
	uint32_t largest = 0;

	for (size_t i = 0; i < recording->process_count; i++)
		if (recording->processes[i].world_size > largest)
			largest = recording->processes[i].world_size;
	return largest;
}

static bool is_first_of_rank(const struct kwhy_ledger *ledger, size_t place)
{
	for (size_t i = 0; i < place; i++)
		if (ledger->ranks[i].rank == ledger->ranks[place].rank)
			return false;
	return ledger->ranks[place].rank != KWHY_NONE;
}

static bool has_collectives(const struct kwhy_recording *recording)
{
	for (size_t i = 0; i < recording->activities.count; i++)
		if (recording->activities.kind[i] == KWHY_ACTIVITY_COLLECTIVE)
			return true;
	return false;
}

/*
 * If the program has collectives and more ranks than the recording has devices with a rank, adds a note:
 * ranks share devices or, if they do not, traces of ranks are missing. In a rank's trace, a collective starts
 * when that rank arrives and ends when all have arrived and the data is there; only the traces of the other
 * ranks show when these arrived, and thus how much of the time was waiting.
 */
static enum kwhy_status note_missing(
	struct kwhy_ledger *ledger, const struct kwhy_recording *recording, struct kwhy_error *error)
{
	uint32_t given = 0, all = world_size_of(recording);

	for (size_t i = 0; i < ledger->rank_count; i++)
		given += is_first_of_rank(ledger, i);
	if (!given || given >= all || !has_collectives(recording))
		return KWHY_OK;
	if (kwhy_recording_shares_devices(recording))
		return kwhy_ledger_note(ledger, KWHY_NOTE_COMPLETENESS, "ranks-share-devices", error,
			"%u ranks share %u devices, so the time of collectives cannot be divided into "
			"waiting for other ranks and transfer.",
			all, given);
	return kwhy_ledger_note(ledger, KWHY_NOTE_COMPLETENESS, "ranks-missing", error,
		"traces of %u of %u ranks were given, so the time of collectives cannot be divided into "
		"waiting for other ranks and transfer; give the traces of all ranks.",
		given, all);
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
	return note_missing(ledger, recording, error);
}
