/* SPDX-License-Identifier: Apache-2.0 */
#include "base/large.h"
#include "ledger/sums/marks.h"
#include "ledger/sums/range_items.h"

#include <math.h>
#include <stdlib.h>

/* Scope of a range: the threads whose launches are its work. One thread, all threads of a process, or all. */
enum scope { SCOPE_THREAD, SCOPE_PROCESS, SCOPE_ALL, SCOPE_COUNT };

/*
 * Sums over the work launched between two successive marks (starts and ends of ranges); after sum_bins(),
 * over all work launched before the second of the two marks. Unsigned sums may wrap; their differences are
 * right.
 */
struct bin {
	uint64_t activity_count, device_ns, unknown_energy_count;
	double energy_nj;
};

struct launches {
	const struct kwhy_ledger *ledger;
	const struct kwhy_recording *recording;
	struct kwhy_marks marks;
	struct bin *bins; /* [marks.count + 1] bin i is between marks i - 1 and i */
	bool used[SCOPE_COUNT];
	size_t near[SCOPE_COUNT];	/* bin of the latest launch that was added, in each scope */
	struct kwhy_marks_near *ranges; /* [thread_count + 1] where the marks of each thread's latest range
					   were found; the last entry is for ranges of unknown thread */
	bool metered; /* the energy of at least one device is known; false: the energy of every range is
			 unknown (NAN), also of one that launched nothing */
};

static uint64_t scope_id(enum scope scope, uint32_t number)
{
	return (uint64_t)scope << 32 | number;
}

static enum scope scope_kind(const struct kwhy_recording *recording, const struct kwhy_range_item *item)
{
	if (recording->ranges[item->range].thread == KWHY_NONE)
		return SCOPE_ALL;
	return item->step ? SCOPE_PROCESS : SCOPE_THREAD;
}

static uint64_t scope_of(const struct kwhy_recording *recording, const struct kwhy_range_item *item)
{
	uint32_t thread = recording->ranges[item->range].thread;

	switch (scope_kind(recording, item)) {
	case SCOPE_THREAD:
		return scope_id(SCOPE_THREAD, thread);
	case SCOPE_PROCESS:
		return scope_id(SCOPE_PROCESS, recording->threads[thread].process);
	default:
		return scope_id(SCOPE_ALL, 0);
	}
}

static enum kwhy_status mark_edges(
	struct launches *launches, const struct kwhy_range_items *items, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < items->count; i++) {
		const struct kwhy_range *range = &launches->recording->ranges[items->items[i].range];
		uint64_t scope = scope_of(launches->recording, &items->items[i]);

		launches->used[scope_kind(launches->recording, &items->items[i])] = true;
		status = kwhy_marks_add(&launches->marks, scope, range->start_ns, error);
		if (!status)
			status = kwhy_marks_add(&launches->marks, scope, range->end_ns, error);
	}
	kwhy_marks_sort(&launches->marks);
	return status;
}

/*
 * Adds an activity, in each scope, to the bin (time between two marks) in which its API call began. Bin 0 is
 * before all marks. Bins after the last mark of a scope are never read.
 */
static void add_activity(struct launches *launches, uint32_t row, double energy_nj)
{
	const struct kwhy_recording *recording = launches->recording;
	const struct kwhy_activities *rows = &recording->activities;
	uint32_t call = rows->call[row], thread = recording->calls.thread[call];
	const uint32_t number[SCOPE_COUNT] = {
		[SCOPE_THREAD] = thread,
		[SCOPE_PROCESS] = recording->threads[thread].process,
	};

	for (int scope = 0; scope < SCOPE_COUNT; scope++) {
		uint64_t id = scope_id((enum scope)scope, number[scope]);
		struct bin *bin;

		if (!launches->used[scope])
			continue;
		bin = &launches->bins[kwhy_marks_up_to_near(
			&launches->marks, id, recording->calls.start_ns[call], &launches->near[scope])];
		bin->activity_count++;
		bin->device_ns += (uint64_t)(rows->end_ns[row] - rows->start_ns[row]);
		bin->unknown_energy_count += isnan(energy_nj);
		bin->energy_nj += isnan(energy_nj) ? 0 : energy_nj;
	}
}

static void fill_bins(struct launches *launches)
{
	const struct kwhy_recording *recording = launches->recording;

	for (size_t device = 0; device < recording->device_count; device++) {
		bool known = launches->ledger->devices[device].energy.known;
		size_t end = recording->activities.first[device + 1];

		launches->metered |= known;
		for (size_t row = recording->activities.first[device]; row < end; row++)
			if (recording->activities.call[row] != KWHY_NONE)
				add_activity(launches, (uint32_t)row,
					known ? kwhy_ledger_activity_nj(launches->ledger, recording, row)
					      : NAN);
	}
}

/* Turns the sums of the bins into cumulative sums from the first bin on. */
static void sum_bins(struct launches *launches)
{
	struct bin sum = {0};

	for (size_t i = 0; i <= launches->marks.count; i++) {
		sum.activity_count += launches->bins[i].activity_count;
		sum.device_ns += launches->bins[i].device_ns;
		sum.unknown_energy_count += launches->bins[i].unknown_energy_count;
		sum.energy_nj += launches->bins[i].energy_nj;
		launches->bins[i] = sum;
	}
}

static void read_item(const struct launches *launches, struct kwhy_range_item *item)
{
	const struct kwhy_range *range = &launches->recording->ranges[item->range];
	uint64_t scope = scope_of(launches->recording, item);
	size_t threads = launches->recording->thread_count;
	struct kwhy_marks_near *near = &launches->ranges[range->thread < threads ? range->thread : threads];
	const struct bin *from = &launches->bins[kwhy_marks_up_to_near(&launches->marks, scope,
							 range->start_ns, &near->start) -
		1];
	const struct bin *to =
		&launches->bins[kwhy_marks_up_to_near(&launches->marks, scope, range->end_ns, &near->end) -
			1];
	uint64_t device_ns = to->device_ns - from->device_ns;

	item->activity_count = to->activity_count - from->activity_count;
	item->device_ns = device_ns < INT64_MAX ? (int64_t)device_ns : INT64_MAX;
	item->energy_nj = !launches->metered || to->unknown_energy_count > from->unknown_energy_count
		? NAN
		: to->energy_nj - from->energy_nj;
}

static enum kwhy_status reserve(struct launches *launches, struct kwhy_error *error)
{
	size_t bins = launches->marks.count + 1;

	launches->bins = kwhy_large(calloc(bins, sizeof(*launches->bins)), bins * sizeof(*launches->bins));
	launches->ranges = calloc(launches->recording->thread_count + 1, sizeof(*launches->ranges));
	return launches->bins && launches->ranges ? KWHY_OK : kwhy_fail_memory(error, "sums of ranges");
}

enum kwhy_status kwhy_range_launched(struct kwhy_range_items *items, const struct kwhy_ledger *ledger,
	const struct kwhy_recording *recording, struct kwhy_error *error)
{
	struct launches launches = {.ledger = ledger, .recording = recording};
	enum kwhy_status status = mark_edges(&launches, items, error);

	if (!status)
		status = reserve(&launches, error);
	if (!status) {
		fill_bins(&launches);
		sum_bins(&launches);
		for (size_t i = 0; i < items->count; i++)
			read_item(&launches, &items->items[i]);
	}
	free(launches.bins);
	free(launches.ranges);
	kwhy_marks_done(&launches.marks);
	return status;
}
