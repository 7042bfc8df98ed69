/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/saturate.h"
#include "ledger/sums/range_items.h"

#include <math.h>
#include <stdlib.h>

/* From the first step's start of a process to the last one's end, and on to where the work launched meanwhile
 * ends. */
struct loop {
	uint32_t range; /* one of its steps; KWHY_NONE: it has none */
	int64_t start_ns, host_end_ns, end_ns;
};

static struct loop *loop_of_range(
	struct loop *loops, const struct kwhy_recording *recording, const struct kwhy_range *range)
{
	return &loops[range->thread == KWHY_NONE ? recording->process_count
						 : recording->threads[range->thread].process];
}

static void add_step(struct loop *loop, const struct kwhy_range *range, uint32_t number)
{
	bool is_first = loop->range == KWHY_NONE;

	loop->range = number;
	if (is_first || range->start_ns < loop->start_ns)
		loop->start_ns = range->start_ns;
	if (is_first || range->end_ns > loop->host_end_ns)
		loop->end_ns = loop->host_end_ns = range->end_ns;
}

static void add_work(struct loop *loop, int64_t launched_ns, int64_t end_ns)
{
	if (loop->range != KWHY_NONE && launched_ns >= loop->start_ns && launched_ns < loop->host_end_ns &&
		end_ns > loop->end_ns)
		loop->end_ns = end_ns;
}

static void find_ends(struct loop *loops, const struct kwhy_recording *recording)
{
	const struct kwhy_activities *rows = &recording->activities;

	for (size_t row = 0; row < rows->count; row++) {
		uint32_t call = rows->call[row];

		if (call == KWHY_NONE)
			continue;
		add_work(&loops[recording->threads[recording->calls.thread[call]].process],
			recording->calls.start_ns[call], rows->end_ns[row]);
		add_work(
			&loops[recording->process_count], recording->calls.start_ns[call], rows->end_ns[row]);
	}
}

static enum kwhy_status append(
	struct kwhy_range_items *items, const struct loop *loops, size_t count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < count; i++)
		if (loops[i].range != KWHY_NONE)
			status = kwhy_range_items_add(items,
				&(struct kwhy_range_item){.range = loops[i].range,
					.loop = true,
					.start_ns = loops[i].start_ns,
					.end_ns = loops[i].end_ns},
				error);
	return status;
}

enum kwhy_status kwhy_range_loops(
	struct kwhy_range_items *items, const struct kwhy_recording *recording, struct kwhy_error *error)
{
	size_t count = recording->process_count + 1;
	struct loop *loops = malloc(count * sizeof(*loops));
	enum kwhy_status status;

	if (!loops)
		return kwhy_fail_memory(error, "sums of steps");
	for (size_t i = 0; i < count; i++)
		loops[i] = (struct loop){.range = KWHY_NONE};
	for (size_t i = 0; i < items->count; i++) {
		const struct kwhy_range *range = &recording->ranges[items->items[i].range];

		if (items->items[i].step)
			add_step(loop_of_range(loops, recording, range), range, items->items[i].range);
	}
	find_ends(loops, recording);
	status = append(items, loops, count, error);
	free(loops);
	return status;
}

void kwhy_range_loops_sum(struct kwhy_ledger *ledger, const struct kwhy_range_items *items)
{
	struct kwhy_loop_sum *sum = &ledger->loop;
	double energy_nj = 0;
	bool any = false;

	*sum = (struct kwhy_loop_sum){.energy_nj = KWHY_UNKNOWN_NJ};
	for (size_t i = 0; i < items->count; i++) {
		const struct kwhy_range_item *item = &items->items[i];

		if (!item->loop)
			continue;
		sum->start_ns = any && sum->start_ns < item->start_ns ? sum->start_ns : item->start_ns;
		sum->end_ns = any && sum->end_ns > item->end_ns ? sum->end_ns : item->end_ns;
		sum->time_ns = kwhy_saturate_add(sum->time_ns, item->end_ns - item->start_ns);
		energy_nj += item->window_nj;
		any = true;
	}
	if (any && fabs(energy_nj) < 9e18)
		sum->energy_nj = llround(energy_nj);
}
