/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/changes.h"

#include "whatif/edits.h"
#include "whatif/parts.h"

#include <stdlib.h>

/* Changes to the work that devices do together. */

static bool is_collective(const struct kwhy_whatif *whatif, uint32_t row)
{
	return row < whatif->graph->activity_count &&
		whatif->recording->activities.kind[row] == KWHY_ACTIVITY_COLLECTIVE &&
		!kwhy_whatif_row_is_dropped(whatif, row);
}

/* The work before the collectives that end at `row` in its stream; KWHY_NONE: none. */
static uint32_t before_collectives(const struct kwhy_whatif *whatif, uint32_t row)
{
	while (row != KWHY_NONE && is_collective(whatif, row))
		row = whatif->graph->nodes[row].from[KWHY_LINK_ORDER];
	return row;
}

static bool may_pass(const struct kwhy_whatif *whatif, uint32_t row, uint32_t collective)
{
	return is_collective(whatif, collective) &&
		(!whatif->step_count || whatif->step[row] == whatif->step[collective]);
}

/* Work no longer waits for a collective of its own step. */
static void pass(struct kwhy_whatif *whatif, uint32_t row, struct kwhy_whatif_effect *effect)
{
	const struct kwhy_whatif_node *now = &whatif->graph->nodes[row];
	bool cross = may_pass(whatif, row, now->from[KWHY_LINK_CROSS]);
	bool order = may_pass(whatif, row, now->from[KWHY_LINK_ORDER]);
	struct kwhy_whatif_node *node;
	uint32_t before;

	if (!cross && !order)
		return;
	node = kwhy_whatif_edit(whatif->graph, row);
	whatif->out_of_memory |= !node;
	if (!node)
		return;
	if (cross)
		node->from[KWHY_LINK_CROSS] = KWHY_NONE;
	before = before_collectives(whatif, node->from[KWHY_LINK_ORDER]);
	if (order && before != KWHY_NONE) {
		kwhy_whatif_follow(whatif->graph, row, KWHY_LINK_ORDER, before,
			kwhy_whatif_queued_at_corner_ns(whatif, before, row));
	}
	effect->places++;
}

void kwhy_whatif_overlap_collectives(
	struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;

	(void)number;
	for (uint32_t i = 0; i < rows->count; i++)
		if (!is_collective(whatif, i) && !kwhy_whatif_row_is_dropped(whatif, i))
			pass(whatif, i, effect);
	if (effect->places)
		kwhy_whatif_say(effect,
			"%s pieces of work no longer wait for a collective%s; both go on beside each other "
			"at "
			"full speed",
			KWHY_WHATIF_COUNT(effect->places),
			whatif->step_count ? " of their own step" : " at all: no steps are known");
	else
		kwhy_whatif_refuse(effect, "no work waits for a collective");
}

void kwhy_whatif_thin_collectives(
	struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	const struct kwhy_recording *recording = whatif->recording;
	const struct kwhy_activities *rows = &recording->activities;
	uint32_t *counts = calloc(recording->names.count + 1, sizeof(*counts));

	if (!counts) {
		whatif->out_of_memory = true;
		return;
	}
	for (uint32_t d = 0; d < recording->device_count; d++) {
		for (size_t i = rows->first[d]; i < rows->first[d + 1]; i++)
			if (is_collective(whatif, (uint32_t)i) && counts[rows->name[i]]++ % number) {
				kwhy_whatif_drop_row(whatif, (uint32_t)i);
				effect->places++;
			}
		for (size_t i = rows->first[d]; i < rows->first[d + 1]; i++)
			counts[rows->name[i]] = 0;
	}
	free(counts);
	if (effect->places)
		kwhy_whatif_say(effect, "of every %u collectives of a name one stays, %s go", number,
			KWHY_WHATIF_COUNT(effect->places));
	else
		kwhy_whatif_refuse(effect, "the recording has no collectives that could be left out");
}
