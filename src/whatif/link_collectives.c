/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sort.h"
#include "whatif/parts.h"

#include <stdlib.h>

/*
 * Finds activities on several devices that are one collective, and links their ends. A collective ends after
 * the last of its ranks has started and the data has been exchanged. The n-th collectives of a name on each
 * device are taken as one if they all ran at one time. Each of these activities then gets a JOIN link to a
 * joint: a node that starts when all of them have started.
 */

struct collectives {
	const struct kwhy_recording *recording;
	uint32_t *rows;	 /* activities of all collectives, sorted by device, then by start */
	uint32_t *place; /* [count] for each entry of `rows`, number of earlier collectives of its name on its
			    device */
	size_t count;
};

static int by_name_and_place(const void *context, uint32_t a, uint32_t b)
{
	const struct collectives *all = context;
	const uint32_t *name = all->recording->activities.name;
	uint32_t left = name[all->rows[a]], right = name[all->rows[b]];

	if (left != right)
		return left < right ? -1 : 1;
	return kwhy_sort_by(all->place[a], all->place[b]);
}

static void collect(struct collectives *all, uint32_t *counts)
{
	const struct kwhy_recording *recording = all->recording;
	const struct kwhy_activities *rows = &recording->activities;

	for (uint32_t d = 0; d < recording->device_count; d++) {
		size_t first = all->count;

		for (size_t i = rows->first[d]; i < rows->first[d + 1]; i++) {
			if (rows->kind[i] != KWHY_ACTIVITY_COLLECTIVE)
				continue;
			all->rows[all->count] = (uint32_t)i;
			all->place[all->count++] = counts[rows->name[i]]++;
		}
		for (size_t i = first; i < all->count; i++)
			counts[rows->name[all->rows[i]]] = 0;
	}
}

/*
 * Whether the group of activities with indices [begin, end) in `order` has more than one activity, and there
 * is a moment at which all of them ran.
 */
static bool ran_together(const struct collectives *all, const uint32_t *order, size_t begin, size_t end)
{
	const struct kwhy_activities *rows = &all->recording->activities;
	int64_t last_start_ns = INT64_MIN, first_end_ns = INT64_MAX;

	for (size_t i = begin; i < end; i++) {
		uint32_t row = all->rows[order ? order[i] : i];

		last_start_ns = rows->start_ns[row] > last_start_ns ? rows->start_ns[row] : last_start_ns;
		first_end_ns = rows->end_ns[row] < first_end_ns ? rows->end_ns[row] : first_end_ns;
	}
	return end - begin > 1 && last_start_ns < first_end_ns;
}

static uint32_t add_joint(struct kwhy_whatif_graph *graph)
{
	struct kwhy_whatif_node *node = &graph->nodes[graph->node_count];

	*node = (struct kwhy_whatif_node){.kind = KWHY_NODE_JOINT};
	for (size_t link = 0; link < KWHY_LINK_COUNT; link++)
		node->from[link] = KWHY_NONE;
	return (uint32_t)graph->node_count++;
}

/*
 * Makes the joint of a group and the JOIN links to it. A joint follows at most three nodes, so larger groups
 * get a chain of joints, in which each joint but the first also follows the one before it.
 */
static void join(struct kwhy_whatif_graph *graph, const struct collectives *all, const uint32_t *order,
	size_t begin, size_t end)
{
	uint32_t joint = add_joint(graph);
	size_t link = 0;

	for (size_t i = begin; i < end; i++) {
		if (link == KWHY_LINK_JOIN) {
			uint32_t next = add_joint(graph);

			graph->nodes[next].from[0] = joint;
			joint = next;
			link = 1;
		}
		graph->nodes[joint].from[link++] = all->rows[order ? order[i] : i];
	}
	for (size_t i = begin; i < end; i++)
		graph->nodes[all->rows[order ? order[i] : i]].from[KWHY_LINK_JOIN] = joint;
}

static void join_groups(struct kwhy_whatif_graph *graph, const struct collectives *all, const uint32_t *order)
{
	for (size_t begin = 0, end; begin < all->count; begin = end) {
		for (end = begin + 1; end < all->count &&
			by_name_and_place(all, order ? order[begin] : (uint32_t)begin,
				order ? order[end] : (uint32_t)end) == 0;
			end++)
			;
		if (ran_together(all, order, begin, end))
			join(graph, all, order, begin, end);
	}
}

enum kwhy_status kwhy_whatif_link_collectives(struct kwhy_whatif_graph *graph, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = graph->recording;
	struct collectives all = {.recording = recording};
	enum kwhy_status status = KWHY_OK;
	uint32_t *counts, *order = NULL;

	if (recording->device_count < 2)
		return KWHY_OK;
	counts = calloc(recording->names.count + 1, sizeof(*counts));
	all.rows = malloc((graph->activity_count + 1) * sizeof(*all.rows));
	all.place = malloc((graph->activity_count + 1) * sizeof(*all.place));
	if (!counts || !all.rows || !all.place)
		status = kwhy_fail_memory(error, "collectives");
	if (!status) {
		collect(&all, counts);
		status = kwhy_sort_order(all.count, by_name_and_place, &all, &order, error);
	}
	if (!status)
		join_groups(graph, &all, order);
	free(order);
	free(counts);
	free(all.rows);
	free(all.place);
	return status;
}
