/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/regions.h"

#include "base/column.h"

#include <stdlib.h>
#include <string.h>

/*
 * A region that a thread has begun and not ended. A region that was begun several times has one entry for
 * each beginning.
 */
struct open {
	uint32_t name;
	uint16_t thread;
};

struct kwhy_regions {
	struct kwhy_region *items;
	size_t count, capacity, meter_count;
	struct open *opens;
	size_t open_count, open_capacity;
	int64_t folded_ns;
};

enum kwhy_status kwhy_regions_new(size_t meter_count, struct kwhy_regions **out, struct kwhy_error *error)
{
	struct kwhy_regions *regions = calloc(1, sizeof(*regions));

	if (!regions)
		return kwhy_fail_memory(error, "the regions of a session");
	regions->meter_count = meter_count;
	regions->folded_ns = INT64_MIN;
	*out = regions;
	return KWHY_OK;
}

void kwhy_regions_free(struct kwhy_regions *regions)
{
	if (!regions)
		return;
	for (size_t i = 0; i < regions->count; i++) {
		free(regions->items[i].works);
		free(regions->items[i].sums);
	}
	free(regions->items);
	free(regions->opens);
	free(regions);
}

/*
 * Returns a copy of an array of items, to be freed, which is not NULL even for 0 items; NULL: out of memory.
 */
static void *copy_of(const void *items, size_t count, size_t item_bytes)
{
	void *copy = calloc(count + 1, item_bytes);

	if (copy && count > 0)
		memcpy(copy, items, count * item_bytes);
	return copy;
}

static bool copy_region(struct kwhy_region *to, const struct kwhy_region *from, size_t meter_count)
{
	*to = *from;
	to->works = copy_of(from->works, from->work_count, sizeof(*from->works));
	to->work_capacity = from->work_count;
	to->sums = from->sums ? copy_of(from->sums, meter_count, sizeof(*from->sums)) : NULL;
	return to->works && (to->sums || !from->sums);
}

static bool copy_items(struct kwhy_regions *copy, const struct kwhy_regions *regions)
{
	copy->items = calloc(regions->count + 1, sizeof(*copy->items));
	copy->opens = copy_of(regions->opens, regions->open_count, sizeof(*regions->opens));
	if (!copy->items || !copy->opens)
		return false;
	copy->capacity = regions->count;
	copy->open_count = copy->open_capacity = regions->open_count;
	for (size_t i = 0; i < regions->count; i++) {
		copy->count++;
		if (!copy_region(&copy->items[i], &regions->items[i], regions->meter_count))
			return false;
	}
	return true;
}

enum kwhy_status kwhy_regions_copy(
	const struct kwhy_regions *regions, struct kwhy_regions **out, struct kwhy_error *error)
{
	struct kwhy_regions *copy;
	enum kwhy_status status = kwhy_regions_new(regions->meter_count, &copy, error);

	if (status)
		return status;
	copy->folded_ns = regions->folded_ns;
	if (!copy_items(copy, regions)) {
		kwhy_regions_free(copy);
		return kwhy_fail_memory(error, "the regions of a session");
	}
	*out = copy;
	return KWHY_OK;
}

static enum kwhy_status find(
	struct kwhy_regions *regions, uint32_t name, struct kwhy_region **out, struct kwhy_error *error)
{
	void *items = regions->items;
	struct kwhy_region *region;

	if (name >= regions->count) {
		enum kwhy_status status = kwhy_column_reserve(&items, &regions->capacity, (size_t)name + 1,
			sizeof(*region), "the regions of a session", error);

		if (status)
			return status;
		regions->items = items;
		memset(regions->items + regions->count, 0, (name + 1 - regions->count) * sizeof(*region));
		regions->count = (size_t)name + 1;
	}
	region = &regions->items[name];
	if (!region->sums) {
		region->sums = calloc(regions->meter_count + 1, sizeof(*region->sums));
		if (!region->sums)
			return kwhy_fail_memory(error, "the regions of a session");
		for (size_t m = 0; m < regions->meter_count; m++)
			kwhy_window_sum_init(&region->sums[m]);
		region->used = true;
	}
	*out = region;
	return KWHY_OK;
}

/*
 * Adds time and energy from since_ns to until_ns to a region, if runs of it are active. Concurrent runs count
 * once in wall_ns and in the energy, and each in total_ns.
 */
static void settle(struct kwhy_regions *regions, struct kwhy_region *region, struct kwhy_curve *const *curves,
	int64_t until_ns)
{
	int64_t length_ns = until_ns - region->since_ns;

	if (region->active == 0 || length_ns <= 0)
		return;
	region->total_ns += length_ns * (int64_t)region->active;
	region->wall_ns += length_ns;
	for (size_t m = 0; m < regions->meter_count; m++) {
		region->sums[m].curve = curves[m];
		kwhy_window_sum_add(&region->sums[m], region->since_ns, until_ns);
	}
	region->since_ns = until_ns;
}

static enum kwhy_status note_open(
	struct kwhy_regions *regions, const struct kwhy_event *event, struct kwhy_error *error)
{
	void *opens = regions->opens;
	enum kwhy_status status = kwhy_column_reserve(&opens, &regions->open_capacity,
		regions->open_count + 1, sizeof(*regions->opens), "the open regions of a session", error);

	regions->opens = opens;
	if (!status)
		regions->opens[regions->open_count++] = (struct open){event->name, event->thread};
	return status;
}

/*
 * Removes the newest open region that has the event's name and was begun by the event's thread. If there is
 * none, removes the newest one with this name of any thread, because a region may end on another thread than
 * the one that began it.
 */
static void note_closed(struct kwhy_regions *regions, const struct kwhy_event *event)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < regions->open_count; i++) {
		const struct open *open = &regions->opens[i];

		if (open->name == event->name &&
			(found == SIZE_MAX || open->thread == event->thread ||
				regions->opens[found].thread != event->thread))
			found = i;
	}
	if (found == SIZE_MAX)
		return;
	regions->open_count--;
	memmove(&regions->opens[found], &regions->opens[found + 1],
		(regions->open_count - found) * sizeof(*regions->opens));
}

static enum kwhy_status add_work(
	struct kwhy_region *region, uint32_t unit, double amount, struct kwhy_error *error)
{
	void *works = region->works;
	enum kwhy_status status;

	for (size_t i = 0; i < region->work_count; i++) {
		if (region->works[i].unit == unit) {
			region->works[i].amount += amount;
			return KWHY_OK;
		}
	}
	status = kwhy_column_reserve(&works, &region->work_capacity, region->work_count + 1,
		sizeof(*region->works), "the work of a region", error);
	region->works = works;
	if (!status)
		region->works[region->work_count++] = (struct kwhy_region_work){unit, amount};
	return status;
}

/*
 * Whether an open region before index `at` has the same name and thread. Work in such nested runs of one
 * region counts only once.
 */
static bool is_repeated(const struct kwhy_regions *regions, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (regions->opens[i].name == regions->opens[at].name &&
			regions->opens[i].thread == regions->opens[at].thread)
			return true;
	return false;
}

static enum kwhy_status fold_work(
	struct kwhy_regions *regions, const struct kwhy_event *event, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < regions->open_count; i++) {
		const struct open *open = &regions->opens[i];

		if ((open->thread == event->thread || open->thread == KWHY_EVENT_EVERY_THREAD) &&
			!is_repeated(regions, i))
			status = add_work(&regions->items[open->name], event->name, event->amount, error);
	}
	return status;
}

static enum kwhy_status fold_one(struct kwhy_regions *regions, const struct kwhy_event *event,
	struct kwhy_curve *const *curves, struct kwhy_error *error)
{
	int64_t time_ns = event->time_ns > regions->folded_ns ? event->time_ns : regions->folded_ns;
	struct kwhy_region *region;

	if (event->kind == KWHY_EVENT_WORK)
		return fold_work(regions, event, error);
	if (find(regions, event->name, &region, error))
		return error->status;
	settle(regions, region, curves, time_ns);
	if (event->kind == KWHY_EVENT_BEGIN) {
		region->since_ns = time_ns;
		region->active++;
		region->count++;
		return note_open(regions, event, error);
	}
	region->unmatched += region->active == 0;
	region->active -= region->active > 0;
	note_closed(regions, event);
	return KWHY_OK;
}

enum kwhy_status kwhy_regions_fold(struct kwhy_regions *regions, const struct kwhy_event *events,
	size_t count, struct kwhy_curve *const *curves, int64_t until_ns, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < count; i++)
		status = fold_one(regions, &events[i], curves, error);
	for (size_t i = 0; !status && i < regions->count; i++)
		settle(regions, &regions->items[i], curves, until_ns);
	if (!status && until_ns > regions->folded_ns)
		regions->folded_ns = until_ns;
	return status;
}

size_t kwhy_regions_count(const struct kwhy_regions *regions)
{
	return regions->count;
}

const struct kwhy_region *kwhy_regions_get(const struct kwhy_regions *regions, size_t name)
{
	return &regions->items[name];
}
