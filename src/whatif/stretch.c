/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/stretch.h"

#include "base/column.h"
#include "base/quantile.h"
#include "base/sort.h"
#include "whatif/edits.h"
#include "whatif/parts.h"
#include "whatif/project.h"

#include <stdlib.h>

enum { STEPS_MAX = 4, MIDDLE_ROWS = 120 };

/*
 * The excerpt of the run that a picture shows: chosen activities and, on each thread, calls. The calls are
 * those from the first call that issued a chosen activity up to, and without, the call that issues work next
 * after the last such call.
 */
struct choice {
	struct kwhy_whatif *whatif;
	uint32_t step; /* step whose length is nearest to the median */
	uint32_t first_step, end_step;
	size_t first_row, end_row; /* range of the chosen activities, if steps are unknown */
	/* [thread_count] range [first_call, end) of the chosen calls of each thread; KWHY_NONE: none */
	uint32_t *first_call, *end;
	struct kwhy_stretch_item *items;
	size_t count, capacity;
	struct kwhy_error *error;
};

static bool is_chosen(const struct choice *choice, size_t row)
{
	uint32_t step = choice->whatif->step[row];

	if (!choice->whatif->step_count)
		return row >= choice->first_row && row < choice->end_row;
	return step != KWHY_NONE && step >= choice->first_step && step < choice->end_step;
}

/*
 * Returns lengths of steps, [step_count], in ns: from the first start of a step to that of the next one or,
 * for the last step, to the end of the run; -1: one of these is unknown, because a step has no work. The
 * caller frees the array. NULL: out of memory.
 */
static int64_t *lengths_of_steps(const struct kwhy_whatif *whatif)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	int64_t *starts = malloc((whatif->step_count + 1) * sizeof(*starts));

	for (size_t i = 0; starts && i <= whatif->step_count; i++)
		starts[i] = i == whatif->step_count ? whatif->last_ns : INT64_MAX;
	for (size_t i = 0; starts && i < rows->count; i++)
		if (whatif->step[i] != KWHY_NONE && rows->start_ns[i] < starts[whatif->step[i]])
			starts[whatif->step[i]] = rows->start_ns[i];
	for (size_t i = 0; starts && i < whatif->step_count; i++)
		starts[i] = starts[i] == INT64_MAX || starts[i + 1] == INT64_MAX ? -1
										 : starts[i + 1] - starts[i];
	return starts;
}

/*
 * Median of the known lengths in ns; -1: no length is known. `sorted` is scratch memory of `count` values.
 */
static int64_t median_length(const int64_t *lengths, uint32_t count, int64_t *sorted)
{
	size_t known = 0;

	for (uint32_t i = 0; i < count; i++)
		if (lengths[i] >= 0)
			sorted[known++] = lengths[i];
	return known ? kwhy_middle_integer(sorted, known) : -1;
}

/*
 * The step whose length is nearest to the median. Of equally near steps, it is the one nearest to the middle
 * of the run.
 */
static uint32_t nearest_step(const int64_t *lengths, uint32_t count, int64_t median_ns)
{
	uint32_t best = count / 2;
	int64_t off_ns = INT64_MAX;

	for (uint32_t i = 0; i <= count; i++) {
		/*
		 * the search goes from the middle of the run outwards, to the later and the earlier step in
		 * turn
		 */
		uint32_t at = i % 2 ? count / 2 + (i + 1) / 2 : count / 2 - i / 2;

		if (at >= count || lengths[at] < 0 || llabs(lengths[at] - median_ns) >= off_ns)
			continue;
		best = at;
		off_ns = llabs(lengths[at] - median_ns);
	}
	return best;
}

/* Chooses up to `length` successive steps that include choice->step. */
static void take_steps(struct choice *choice, uint32_t length)
{
	uint32_t count = choice->whatif->step_count;

	choice->first_step = choice->step - choice->step % length;
	choice->end_step = choice->first_step + length < count ? choice->first_step + length : count;
}

static enum kwhy_status choose_step(struct choice *choice)
{
	uint32_t count = choice->whatif->step_count;
	int64_t *lengths = lengths_of_steps(choice->whatif), *sorted = malloc(count * sizeof(*sorted));

	if (!lengths || !sorted) {
		free(lengths);
		free(sorted);
		return kwhy_fail_memory(choice->error, "lengths of steps");
	}
	choice->step = nearest_step(lengths, count, median_length(lengths, count, sorted));
	free(lengths);
	free(sorted);
	take_steps(choice, STEPS_MAX);
	return KWHY_OK;
}

static void choose_middle(struct choice *choice)
{
	const struct kwhy_recording *recording = choice->whatif->recording;
	const size_t *first = recording->activities.first;
	size_t busiest = 0, middle;

	for (size_t d = 1; d < recording->device_count; d++)
		if (first[d + 1] - first[d] > first[busiest + 1] - first[busiest])
			busiest = d;
	middle = first[busiest] + (first[busiest + 1] - first[busiest]) / 2;
	choice->first_row = middle < first[busiest] + MIDDLE_ROWS / 2 ? first[busiest]
								      : middle - MIDDLE_ROWS / 2;
	choice->end_row = middle + MIDDLE_ROWS / 2 < first[busiest + 1] ? middle + MIDDLE_ROWS / 2
									: first[busiest + 1];
}

/*
 * End of the excerpt on a thread whose last call for chosen activities is `call`: the thread's next call that
 * issues work. The calls in between are shown, too, since they include waits for the activities shown.
 */
static uint32_t with_waits(const struct choice *choice, uint32_t call)
{
	const struct kwhy_whatif *whatif = choice->whatif;
	const struct kwhy_calls *calls = &whatif->recording->calls;
	size_t end = calls->first[calls->thread[call] + 1], next = call + 1;

	while (next < end && whatif->first_issued[next] == whatif->first_issued[next + 1])
		next++;
	return (uint32_t)next;
}

static void choose_calls(struct choice *choice)
{
	const struct kwhy_recording *recording = choice->whatif->recording;

	for (size_t t = 0; t < recording->thread_count; t++)
		choice->first_call[t] = choice->end[t] = KWHY_NONE;
	for (size_t i = 0; i < recording->activities.count; i++) {
		uint32_t call = is_chosen(choice, i) ? kwhy_whatif_call_of(choice->whatif, (uint32_t)i)
						     : KWHY_NONE;
		uint32_t thread;

		if (call == KWHY_NONE)
			continue;
		thread = recording->calls.thread[call];
		if (choice->first_call[thread] == KWHY_NONE || call < choice->first_call[thread])
			choice->first_call[thread] = call;
		if (choice->end[thread] == KWHY_NONE || call >= choice->end[thread])
			choice->end[thread] = call + 1;
	}
	for (size_t t = 0; t < recording->thread_count; t++)
		if (choice->end[t] != KWHY_NONE)
			choice->end[t] = with_waits(choice, choice->end[t] - 1);
}

static enum kwhy_status add_item(struct choice *choice, uint32_t activity, uint32_t call)
{
	const struct kwhy_whatif_graph *graph = choice->whatif->graph;
	uint32_t node = activity == KWHY_NONE ? kwhy_whatif_call_node(graph, call) : activity;
	bool goes = kwhy_whatif_is_dropped(graph, node);
	enum kwhy_status status = kwhy_column_reserve((void **)&choice->items, &choice->capacity,
		choice->count + 1, sizeof(*choice->items), "an excerpt of the run", choice->error);

	if (status)
		return status;
	choice->items[choice->count++] = (struct kwhy_stretch_item){
		.activity = activity,
		.call = call,
		.before_start_ns = kwhy_whatif_recorded_start(graph, node),
		.before_end_ns = kwhy_whatif_recorded_end(graph, node),
		.after_start_ns = goes ? KWHY_UNKNOWN_TIME : graph->start_ns[node],
		.after_end_ns = goes ? KWHY_UNKNOWN_TIME : graph->end_ns[node],
	};
	return KWHY_OK;
}

static enum kwhy_status collect(struct choice *choice)
{
	const struct kwhy_whatif *whatif = choice->whatif;
	enum kwhy_status status = KWHY_OK;

	choice->count = 0;
	choose_calls(choice);
	for (size_t i = 0; !status && i < whatif->recording->activities.count; i++)
		if (is_chosen(choice, i))
			status = add_item(choice, (uint32_t)i, KWHY_NONE);
	for (size_t t = 0; t < whatif->recording->thread_count; t++)
		for (uint32_t c = choice->first_call[t]; !status && c < choice->end[t]; c++)
			if (whatif->graph->outer[c] == c)
				status = add_item(choice, KWHY_NONE, c);
	return status;
}

static int by_start(const void *left, const void *right)
{
	const struct kwhy_stretch_item *a = left, *b = right;

	return kwhy_sort_by(a->before_start_ns, b->before_start_ns);
}

/*
 * Shifts the times so that the first start is 0, separately for recorded and for projected times, and sets
 * before_ns and after_ns, the lengths of the excerpt.
 */
static void shift(struct kwhy_stretch *stretch)
{
	int64_t before_ns = INT64_MAX, after_ns = INT64_MAX;

	for (size_t i = 0; i < stretch->item_count; i++) {
		const struct kwhy_stretch_item *item = &stretch->items[i];

		before_ns = item->before_start_ns < before_ns ? item->before_start_ns : before_ns;
		if (item->after_start_ns != KWHY_UNKNOWN_TIME && item->after_start_ns < after_ns)
			after_ns = item->after_start_ns;
	}
	for (size_t i = 0; i < stretch->item_count; i++) {
		struct kwhy_stretch_item *item = &stretch->items[i];

		item->before_start_ns -= before_ns;
		item->before_end_ns -= before_ns;
		if (item->before_end_ns > stretch->before_ns)
			stretch->before_ns = item->before_end_ns;
		if (item->after_start_ns == KWHY_UNKNOWN_TIME)
			continue;
		item->after_start_ns -= after_ns;
		item->after_end_ns -= after_ns;
		if (item->after_end_ns > stretch->after_ns)
			stretch->after_ns = item->after_end_ns;
	}
}

static enum kwhy_status keep(struct choice *choice, struct kwhy_plan *plan)
{
	bool has_steps = choice->whatif->step_count;
	size_t count = choice->count < KWHY_WHATIF_STRETCH_ITEMS ? choice->count : KWHY_WHATIF_STRETCH_ITEMS;
	struct kwhy_stretch *stretch = kwhy_arena_alloc(&plan->arena, 1, sizeof(*stretch));
	struct kwhy_stretch_item *items = kwhy_arena_alloc(&plan->arena, count, sizeof(*items));

	if (!stretch || !items)
		return kwhy_fail_memory(choice->error, "an excerpt of the run");
	if (count)
		qsort(choice->items, choice->count, sizeof(*choice->items), by_start);
	for (size_t i = 0; i < count; i++)
		items[i] = choice->items[i];
	*stretch = (struct kwhy_stretch){
		.first_step = has_steps ? choice->first_step : 0,
		.end_step = has_steps ? choice->end_step : 0,
		.step_count = choice->whatif->step_count,
		.items = items,
		.item_count = count,
		.left_out_count = choice->count - count,
	};
	shift(stretch);
	plan->stretch = stretch;
	return KWHY_OK;
}

/*
 * Chooses the excerpt: up to STEPS_MAX steps, or 2 or 1 if these have more than KWHY_WHATIF_STRETCH_ITEMS
 * activities and calls; without steps, MIDDLE_ROWS activities in the middle of the work of the device with
 * most activities.
 */
static enum kwhy_status choose(struct choice *choice)
{
	enum kwhy_status status = KWHY_OK;

	if (choice->whatif->step_count)
		status = choose_step(choice);
	else
		choose_middle(choice);
	if (!status)
		status = collect(choice);
	for (uint32_t length = STEPS_MAX / 2;
		!status && choice->whatif->step_count && length && choice->count > KWHY_WHATIF_STRETCH_ITEMS;
		length /= 2) {
		take_steps(choice, length);
		status = collect(choice);
	}
	return status;
}

enum kwhy_status kwhy_whatif_add_stretch(
	struct kwhy_whatif *whatif, struct kwhy_plan *plan, struct kwhy_error *error)
{
	size_t threads = whatif->recording->thread_count + 1;
	struct choice choice = {.whatif = whatif, .error = error};
	enum kwhy_status status;

	if (!whatif->recording->activities.count)
		return KWHY_OK;
	choice.first_call = malloc(threads * sizeof(*choice.first_call));
	choice.end = malloc(threads * sizeof(*choice.end));
	status = choice.first_call && choice.end ? kwhy_whatif_play_plan(whatif, plan, error)
						 : kwhy_fail_memory(error, "an excerpt of the run");
	if (!status)
		status = choose(&choice);
	if (!status)
		status = keep(&choice, plan);
	kwhy_whatif_undo(whatif->graph, 0);
	free(choice.first_call);
	free(choice.end);
	free(choice.items);
	return status;
}
