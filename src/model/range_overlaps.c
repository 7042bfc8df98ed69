/* SPDX-License-Identifier: Apache-2.0 */
#include "model/range_overlaps.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = KWHY_RANGE_OVERLAPS_WORDS, UNREPORTED = KWHY_RANGE_OVERLAPS_MAX };

struct edge {
	int64_t time_ns;
	uint32_t group; /* representative process of the group of processes that share devices; KWHY_NONE: the
			   range's process is unknown, so it covers all devices */
	uint16_t sum;
	bool is_end;
};

/* The edges (starts and ends) of all ranges, and tables for listing them. */
struct lists {
	uint16_t *places; /* [name * KWHY_RANGE_KIND_COUNT + kind] index of the sum with that name and kind */
	uint32_t *groups; /* [process] union-find forest of the processes that share devices: the parent of
			     the process; the representative of a group is its own parent */
	uint32_t *owners; /* [device] a process that has streams on the device; KWHY_NONE: no process has
			     any */
	struct edge *edges;
	size_t edge_count;
};

/* State of a walk through the edges in time order. */
struct walk {
	uint64_t open[WORDS];
	size_t counts[KWHY_RANGE_OVERLAPS_MAX];
	/*
	 * [sum] bit set of the sums that had a range in progress (begun and not yet ended) when a range of
	 * this sum began
	 */
	uint64_t (*seen)[WORDS];
};

/* Compares by time. An end sorts before a start at the same time, as the two ranges do not overlap. */
static int compare_times(const void *a, const void *b)
{
	const struct edge *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (int)right->is_end - (int)left->is_end;
}

static int compare_groups(const void *a, const void *b)
{
	const struct edge *left = a, *right = b;

	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	return compare_times(a, b);
}

static void set_places(
	uint16_t *places, size_t place_count, const struct kwhy_range_sum *sums, size_t sum_count)
{
	for (size_t i = 0; i < place_count; i++)
		places[i] = UNREPORTED;
	for (size_t i = 0; i < sum_count; i++)
		places[sums[i].name * (size_t)KWHY_RANGE_KIND_COUNT + sums[i].kind] = (uint16_t)i;
}

static uint32_t group_of(uint32_t *groups, uint32_t process)
{
	while (groups[process] != process) {
		groups[process] = groups[groups[process]];
		process = groups[process];
	}
	return process;
}

static void group_processes(const struct kwhy_recording *recording, struct lists *lists)
{
	for (size_t i = 0; i < recording->process_count; i++)
		lists->groups[i] = (uint32_t)i;
	for (size_t i = 0; i < recording->device_count; i++)
		lists->owners[i] = KWHY_NONE;
	for (size_t i = 0; i < recording->stream_count; i++) {
		uint32_t process = recording->streams[i].process;
		uint32_t *owner = &lists->owners[recording->streams[i].device];

		if (process == KWHY_NONE)
			continue;
		if (*owner != KWHY_NONE)
			lists->groups[group_of(lists->groups, process)] = group_of(lists->groups, *owner);
		*owner = process;
	}
}

static uint32_t group_of_range(
	const struct kwhy_recording *recording, struct lists *lists, const struct kwhy_range *range)
{
	uint32_t process = range->thread == KWHY_NONE ? KWHY_NONE : recording->threads[range->thread].process;

	return process == KWHY_NONE ? KWHY_NONE : group_of(lists->groups, process);
}

static void list_edges(const struct kwhy_recording *recording, struct lists *lists)
{
	for (size_t i = 0; i < recording->range_count; i++) {
		const struct kwhy_range *range = &recording->ranges[i];
		uint16_t sum = lists->places[range->name * (size_t)KWHY_RANGE_KIND_COUNT + range->kind];
		uint32_t group;

		if (sum == UNREPORTED || range->start_ns >= range->end_ns)
			continue;
		group = group_of_range(recording, lists, range);
		lists->edges[lists->edge_count++] = (struct edge){range->start_ns, group, sum, false};
		lists->edges[lists->edge_count++] = (struct edge){range->end_ns, group, sum, true};
	}
}

static void pass(struct walk *walk, const struct edge *edge)
{
	uint64_t bit = (uint64_t)1 << edge->sum % 64, *word = &walk->open[edge->sum / 64];

	if (edge->is_end) {
		if (--walk->counts[edge->sum] == 0)
			*word &= ~bit;
		return;
	}
	for (size_t i = 0; i < WORDS; i++)
		walk->seen[edge->sum][i] |= walk->open[i];
	walk->counts[edge->sum]++;
	*word |= bit;
}

/* Walks all edges in time order, regardless of their groups: fills out->beside and out->union_ns. */
static void walk_time(struct lists *lists, struct kwhy_range_overlaps *out)
{
	struct walk walk = {.seen = out->beside};
	int64_t since_ns[KWHY_RANGE_OVERLAPS_MAX] = {0};

	qsort(lists->edges, lists->edge_count, sizeof(*lists->edges), compare_times);
	for (size_t i = 0; i < lists->edge_count; i++) {
		const struct edge *edge = &lists->edges[i];

		if (!edge->is_end && walk.counts[edge->sum] == 0)
			since_ns[edge->sum] = edge->time_ns;
		pass(&walk, edge);
		if (edge->is_end && walk.counts[edge->sum] == 0)
			out->union_ns[edge->sum] += edge->time_ns - since_ns[edge->sum];
	}
}

/*
 * Walks the edges of one group, from `edges` to `end`, merged in time order with the edges from `all` to
 * `all_end`, whose ranges cover all devices. Fills out->bits.
 */
static void walk_group(const struct edge *edges, const struct edge *end, const struct edge *all,
	const struct edge *all_end, struct kwhy_range_overlaps *out)
{
	struct walk walk = {.seen = out->bits};

	while (edges < end || all < all_end)
		if (all == all_end || (edges < end && compare_times(edges, all) <= 0))
			pass(&walk, edges++);
		else
			pass(&walk, all++);
}

/* Whether all ranges are in one group of processes, so that ranges at the same time always share a device. */
static bool is_one_group(const struct lists *lists)
{
	for (size_t i = 1; i < lists->edge_count; i++)
		if (lists->edges[i].group != lists->edges[0].group)
			return false;
	return true;
}

static void walk_groups(struct lists *lists, struct kwhy_range_overlaps *out)
{
	const struct edge *edges = lists->edges, *end = edges + lists->edge_count, *all = end;

	if (is_one_group(lists)) {
		memcpy(out->bits, out->beside, sizeof(out->bits));
		return;
	}
	qsort(lists->edges, lists->edge_count, sizeof(*lists->edges), compare_groups);
	while (all > edges && all[-1].group == KWHY_NONE)
		all--;
	while (edges < all) {
		const struct edge *next = edges;

		while (next < all && next->group == edges->group)
			next++;
		walk_group(edges, next, all, end, out);
		edges = next;
	}
}

/*
 * Makes the bits symmetric: a walk sets bit b of sum a only if a range of a begins while one of b is in
 * progress.
 */
static void tell_both(uint64_t (*bits)[WORDS], size_t count)
{
	for (size_t a = 0; a < count; a++)
		for (size_t b = 0; b < count; b++)
			if (bits[a][b / 64] >> b % 64 & 1)
				bits[b][a / 64] |= (uint64_t)1 << a % 64;
}

static void tell(const struct kwhy_recording *recording, struct lists *lists, struct kwhy_range_overlaps *out)
{
	group_processes(recording, lists);
	list_edges(recording, lists);
	walk_time(lists, out);
	walk_groups(lists, out);
	tell_both(out->bits, out->count);
	tell_both(out->beside, out->count);
}

bool kwhy_range_overlaps_of(const struct kwhy_recording *recording, const struct kwhy_range_sum *sums,
	size_t sum_count, struct kwhy_range_overlaps *out)
{
	size_t place_count = recording->names.count * (size_t)KWHY_RANGE_KIND_COUNT;
	struct lists lists = {
		.places = malloc((place_count + 1) * sizeof(*lists.places)),
		.groups = calloc(recording->process_count + 1, sizeof(*lists.groups)),
		.owners = calloc(recording->device_count + 1, sizeof(*lists.owners)),
		.edges = calloc(2 * recording->range_count + 1, sizeof(*lists.edges)),
	};
	bool has_memory = lists.places && lists.groups && lists.owners && lists.edges;

	memset(out, 0, sizeof(*out));
	if (has_memory) {
		out->count = sum_count < KWHY_RANGE_OVERLAPS_MAX ? sum_count : KWHY_RANGE_OVERLAPS_MAX;
		set_places(lists.places, place_count, sums, out->count);
		tell(recording, &lists, out);
	}
	free(lists.places);
	free(lists.groups);
	free(lists.owners);
	free(lists.edges);
	return has_memory;
}
