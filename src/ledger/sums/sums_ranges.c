/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "base/map.h"
#include "base/text.h"
#include "ledger/saturate.h"
#include "ledger/sums/range_items.h"
#include "ledger/sums/sums.h"
#include "model/known_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sum over the ranges of one kind and name, or over one step, with the terms of its ratios and energies. */
struct pool {
	struct kwhy_range_sum sum;
	double device_window_ns; /* sum over the ranges of length * number of devices of its process, in ns */
	int64_t unknown_grid_ns;
	double resident_ns, energy_nj, window_nj;
};

struct pools {
	struct kwhy_map keys;
	struct pool *items;
	size_t count, capacity;
	bool linked; /* at least one activity of the recording is linked to its API call */
};

static bool is_step(
	const struct kwhy_recording *recording, const struct kwhy_range *range, const char *pattern)
{
	const char *name = kwhy_names_get(&recording->names, range->name);
	size_t length = pattern ? strlen(pattern) : 0;

	if (length == 0)
		return range->kind == KWHY_RANGE_STEP;
	return pattern[length - 1] == '*' ? !strncmp(name, pattern, length - 1) : !strcmp(name, pattern);
}

enum kwhy_status kwhy_range_items_add(
	struct kwhy_range_items *items, const struct kwhy_range_item *item, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_column_reserve((void **)&items->items, &items->capacity,
		items->count + 1, sizeof(*items->items), "sums of ranges", error);

	if (!status)
		items->items[items->count++] = *item;
	return status;
}

enum { SHOWN_NAMES = 6 };

/*
 * Fails with KWHY_E_USAGE because no range has the name that --steps gives; the message lists the first
 * SHOWN_NAMES names of ranges.
 */
static enum kwhy_status fail_no_step(
	const struct kwhy_recording *recording, const char *pattern, struct kwhy_error *error)
{
	uint32_t shown[SHOWN_NAMES];
	size_t count = 0;
	struct kwhy_text text = {0};

	for (size_t i = 0; i < recording->range_count && count < SHOWN_NAMES; i++) {
		const uint32_t name = recording->ranges[i].name;
		size_t same = 0;

		while (same < count && shown[same] != name)
			same++;
		if (same < count)
			continue;
		kwhy_text_addf(&text, "%s%.40s", count ? ", " : "", kwhy_names_get(&recording->names, name));
		shown[count++] = name;
	}
	kwhy_error_set(error, KWHY_E_USAGE, "--steps %.60s: no range of the recording has that name; %s%s",
		pattern, count ? "choose among " : "it has no ranges", count ? text.data : "");
	kwhy_text_done(&text);
	return KWHY_E_USAGE;
}

/*
 * Lists an item for each range, and another for each range that is a step. Ranges of kind KWHY_RANGE_STEP, in
 * whose names profilers put a number, are only listed as steps. KWHY_E_USAGE: step_name is given and no range
 * has it.
 */
static enum kwhy_status list_items(struct kwhy_range_items *items, const struct kwhy_recording *recording,
	const char *step_name, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	size_t steps = 0;

	for (size_t i = 0; !status && i < recording->range_count; i++) {
		const struct kwhy_range *range = &recording->ranges[i];
		struct kwhy_range_item item = {
			.range = (uint32_t)i, .start_ns = range->start_ns, .end_ns = range->end_ns};

		if (range->kind != KWHY_RANGE_STEP)
			status = kwhy_range_items_add(items, &item, error);
		item.step = true;
		if (status || !is_step(recording, range, step_name))
			continue;
		status = kwhy_range_items_add(items, &item, error);
		steps++;
	}
	return status || steps || !step_name ? status : fail_no_step(recording, step_name, error);
}

static void add_to_pool(struct pool *pool, const struct kwhy_range *range, const struct kwhy_range_item *item)
{
	struct kwhy_range_sum *sum = &pool->sum;
	int64_t length_ns = range->end_ns - range->start_ns;

	if (sum->count == 0 || range->start_ns < sum->start_ns)
		sum->start_ns = range->start_ns;
	sum->count++;
	sum->host_ns = kwhy_saturate_add(sum->host_ns, length_ns);
	sum->activity_count += item->activity_count;
	sum->device_ns = kwhy_saturate_add(sum->device_ns, item->device_ns);
	sum->busy_ns = kwhy_saturate_add(sum->busy_ns, item->busy_ns);
	pool->device_window_ns += (double)length_ns * item->device_count;
	pool->unknown_grid_ns = kwhy_saturate_add(pool->unknown_grid_ns, item->unknown_grid_ns);
	pool->resident_ns += item->resident_ns;
	pool->energy_nj += item->energy_nj;
	pool->window_nj += item->window_nj;
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

/*
 * Completes a sum. If no activity is linked to a call, the energy of the work is unknown, not 0.
 * sm_weighted_ratio is unknown if kernels of unknown grid ran for more than a tenth of the busy time.
 */
static struct kwhy_range_sum finished(const struct pool *pool, bool linked)
{
	struct kwhy_range_sum sum = pool->sum;
	bool grids_known = pool->unknown_grid_ns <= sum.busy_ns / 10;

	sum.linked = linked;
	sum.energy_nj = linked ? kwhy_whole_nj(pool->energy_nj) : KWHY_UNKNOWN_NJ;
	sum.window_energy_nj = kwhy_whole_nj(pool->window_nj);
	sum.busy_ratio = ratio((double)sum.busy_ns, pool->device_window_ns);
	sum.sm_weighted_ratio = grids_known ? ratio(pool->resident_ns, pool->device_window_ns) : NAN;
	return sum;
}

/*
 * Adds the items to their sums, except loops. With `steps`, each item that is a step has a sum of its own;
 * otherwise the items that are not steps have one sum for each kind and name.
 */
static enum kwhy_status pool_items(struct pools *pools, const struct kwhy_range_items *items, bool steps,
	const struct kwhy_recording *recording, struct kwhy_error *error)
{
	for (size_t i = 0; i < items->count; i++) {
		const struct kwhy_range_item *item = &items->items[i];
		const struct kwhy_range *range = &recording->ranges[item->range];
		uint64_t key = steps ? item->range : (uint64_t)range->kind << 32 | range->name;
		enum kwhy_status status;
		uint32_t number;

		if (item->loop || item->step != steps)
			continue;
		status = kwhy_map_number(&pools->keys, key, &number, error);
		if (!status)
			status = kwhy_column_reserve((void **)&pools->items, &pools->capacity,
				(size_t)number + 1, sizeof(*pools->items), "sums of ranges", error);
		if (status)
			return status;
		if (number == pools->count)
			pools->items[pools->count++] = (struct pool){
				.sum = {.name = range->name, .kind = range->kind}};
		add_to_pool(&pools->items[number], range, item);
	}
	return KWHY_OK;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct kwhy_range_sum *left = a, *right = b;

	if (left->host_ns != right->host_ns)
		return left->host_ns < right->host_ns ? 1 : -1;
	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return (left->name > right->name) - (left->name < right->name);
}

static enum kwhy_status keep(const struct pools *pools, struct kwhy_ledger *ledger,
	struct kwhy_range_sum **out, size_t *out_count, struct kwhy_error *error)
{
	*out = kwhy_arena_alloc(&ledger->arena, pools->count, sizeof(**out));
	if (!*out)
		return kwhy_fail_memory(error, "sums of ranges");
	for (size_t i = 0; i < pools->count; i++)
		(*out)[i] = finished(&pools->items[i], pools->linked);
	*out_count = pools->count;
	return KWHY_OK;
}

static enum kwhy_status pool_and_keep(struct kwhy_ledger *ledger, const struct kwhy_range_items *items,
	bool steps, const struct kwhy_recording *recording, struct kwhy_error *error)
{
	struct pools pools = {
		.linked = recording->lost.unlinked_activities < recording->activities.count,
	};
	enum kwhy_status status = pool_items(&pools, items, steps, recording, error);

	if (!status && steps)
		status = keep(&pools, ledger, &ledger->steps, &ledger->step_count, error);
	else if (!status)
		status = keep(&pools, ledger, &ledger->ranges, &ledger->range_count, error);
	kwhy_map_done(&pools.keys);
	free(pools.items);
	return status;
}

enum kwhy_status kwhy_sums_ranges(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	struct kwhy_range_items items = {0};
	enum kwhy_status status = list_items(&items, recording, options->step_name, error);

	if (!status && items.count == 0)
		return KWHY_OK;
	if (!status)
		status = kwhy_range_launched(&items, ledger, recording, error);
	if (!status)
		status = kwhy_range_loops(&items, recording, error);
	if (!status)
		status = kwhy_range_windows(&items, ledger, recording, error);
	if (!status)
		kwhy_range_loops_sum(ledger, &items);
	if (!status)
		status = pool_and_keep(ledger, &items, false, recording, error);
	if (!status)
		status = pool_and_keep(ledger, &items, true, recording, error);
	if (!status && ledger->range_count)
		qsort(ledger->ranges, ledger->range_count, sizeof(*ledger->ranges), compare_ranges);
	free(items.items);
	return status;
}
