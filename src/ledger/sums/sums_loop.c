/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantile.h"
#include "ledger/saturate.h"
#include "ledger/sums/range_items.h"

#include <math.h>
#include <stdlib.h>

/*
 * A loop is a series of steps of a process. It lasts from the start of the first step to the end of the last
 * step or, if that is later, of the work launched in the steps. Work between steps, such as an evaluation
 * between two epochs, belongs to no step. Therefore a new loop begins after a pause in which other work is
 * launched, if the pause is more than PAUSE_PERIODS times as long as the median time between the starts of
 * steps.
 */
enum { PAUSE_PERIODS = 10 };

struct step {
	uint32_t process; /* index of the process; process_count: the step's thread is unknown */
	uint32_t range;
	int64_t start_ns, end_ns;
	int64_t reach_ns; /* latest end, on the host, of this step and of those that started earlier in its
			     process */
	int64_t work_ns; /* latest end, on a device, of the work launched in the step; at least the step's own
			    end */
	bool is_left;	 /* work is launched after this step and all earlier ones of its process have ended on
			    the host, and before the next one starts */
};

struct steps {
	struct step *steps; /* sorted by process, then by start */
	size_t count;
};

static int by_process_and_start(const void *left, const void *right)
{
	const struct step *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->start_ns == b->start_ns ? 0 : a->start_ns < b->start_ns ? -1 : 1;
}

static void gather(
	struct steps *steps, const struct kwhy_range_items *items, const struct kwhy_recording *recording)
{
	for (size_t i = 0; i < items->count; i++) {
		const struct kwhy_range *range = &recording->ranges[items->items[i].range];

		if (items->items[i].step)
			steps->steps[steps->count++] = (struct step){.process = range->thread == KWHY_NONE
					? (uint32_t)recording->process_count
					: recording->threads[range->thread].process,
				.range = items->items[i].range,
				.start_ns = range->start_ns,
				.end_ns = range->end_ns,
				.work_ns = range->end_ns};
	}
	qsort(steps->steps, steps->count, sizeof(*steps->steps), by_process_and_start);
	for (size_t i = 0; i < steps->count; i++) {
		struct step *step = &steps->steps[i], *before = step - 1;

		step->reach_ns = i && before->process == step->process && before->reach_ns > step->end_ns
			? before->reach_ns
			: step->end_ns;
	}
}

/* The last step of the process that starts at or before at_ns; NULL: there is no such step. */
static struct step *step_before(const struct steps *steps, uint32_t process, int64_t at_ns)
{
	size_t low = 0, high = steps->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct step *step = &steps->steps[middle];

		if (step->process < process || (step->process == process && step->start_ns <= at_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low && steps->steps[low - 1].process == process ? &steps->steps[low - 1] : NULL;
}

static void add_work(const struct steps *steps, uint32_t process, int64_t launched_ns, int64_t end_ns)
{
	struct step *step = step_before(steps, process, launched_ns);

	if (!step)
		return;
	if (launched_ns >= step->reach_ns)
		step->is_left = true;
	else if (end_ns > step->work_ns)
		step->work_ns = end_ns;
}

static void find_work(const struct steps *steps, const struct kwhy_recording *recording)
{
	const struct kwhy_activities *rows = &recording->activities;

	for (size_t row = 0; row < rows->count; row++) {
		uint32_t call = rows->call[row];

		if (call == KWHY_NONE)
			continue;
		add_work(steps, recording->threads[recording->calls.thread[call]].process,
			recording->calls.start_ns[call], rows->end_ns[row]);
		add_work(steps, (uint32_t)recording->process_count, recording->calls.start_ns[call],
			rows->end_ns[row]);
	}
}

/*
 * Median time in ns between the starts of successive steps [first, after) of a process; 0: there is only one
 * step. `space` is scratch memory for after - first - 1 values.
 */
static int64_t usual_period_ns(const struct steps *steps, size_t first, size_t after, int64_t *space)
{
	size_t count = 0;

	for (size_t i = first + 1; i < after; i++)
		space[count++] = steps->steps[i].start_ns - steps->steps[i - 1].start_ns;
	return count ? kwhy_middle_integer(space, count) : 0;
}

/*
 * Whether a new loop begins with this step: before it, other work was launched in a pause of more than
 * PAUSE_PERIODS periods. The step must not be the first of its process.
 */
static bool begins_anew(const struct step *step, int64_t period_ns)
{
	const struct step *before = step - 1;

	return before->is_left && step->start_ns - before->reach_ns > PAUSE_PERIODS * period_ns;
}

/* Adds the loops of one process with the steps [first, after). */
static enum kwhy_status add_loops(struct kwhy_range_items *items, const struct steps *steps, size_t first,
	size_t after, int64_t period_ns, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = first; !status && i < after;) {
		const struct step *step = &steps->steps[i];
		struct kwhy_range_item item = {.range = step->range,
			.loop = true,
			.start_ns = step->start_ns,
			.end_ns = step->work_ns};

		while (++i < after && !begins_anew(&steps->steps[i], period_ns))
			if (steps->steps[i].work_ns > item.end_ns)
				item.end_ns = steps->steps[i].work_ns;
		if (i < after && item.end_ns > steps->steps[i].start_ns)
			item.end_ns = steps->steps[i].start_ns;
		status = kwhy_range_items_add(items, &item, error);
	}
	return status;
}

enum kwhy_status kwhy_range_loops(
	struct kwhy_range_items *items, const struct kwhy_recording *recording, struct kwhy_error *error)
{
	struct steps steps = {malloc((items->count + 1) * sizeof(*steps.steps)), 0};
	int64_t *space = malloc((items->count + 1) * sizeof(*space));
	enum kwhy_status status = KWHY_OK;

	if (!steps.steps || !space)
		status = kwhy_fail_memory(error, "sums of steps");
	if (!status) {
		gather(&steps, items, recording);
		find_work(&steps, recording);
	}
	for (size_t first = 0, after; !status && first < steps.count; first = after) {
		for (after = first + 1;
			after < steps.count && steps.steps[after].process == steps.steps[first].process;)
			after++;
		status = add_loops(
			items, &steps, first, after, usual_period_ns(&steps, first, after, space), error);
	}
	free(space);
	free(steps.steps);
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
