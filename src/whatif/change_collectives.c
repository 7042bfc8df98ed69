/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/changes.h"

#include "whatif/edits.h"
#include "whatif/parts.h"

#include <stdlib.h>

/* Changes that let other work run during collectives, or leave collectives out. */

static bool is_collective(const struct kwhy_whatif *whatif, uint32_t row)
{
	return whatif->recording->activities.kind[row] == KWHY_ACTIVITY_COLLECTIVE &&
		!kwhy_whatif_row_is_dropped(whatif, row);
}

struct overlap {
	struct kwhy_whatif *whatif;
	/*
	 * [activity_count] the activity itself or, if it is removed, the last one before it in its stream
	 * that is not; KWHY_NONE: none
	 */
	uint32_t *left;
	uint64_t passed;
	bool waits; /* at least one activity waits for a collective of another step; the change leaves such
		       waits in the graph */
};

static void find_left(struct overlap *overlap)
{
	const struct kwhy_whatif *whatif = overlap->whatif;

	for (uint32_t s = 0; s < whatif->recording->stream_count; s++) {
		uint32_t last = KWHY_NONE;

		for (uint32_t row = whatif->first_of_stream[s]; row != KWHY_NONE; row = whatif->next[row]) {
			last = kwhy_whatif_row_is_dropped(whatif, row) ? last : row;
			overlap->left[row] = last;
		}
	}
}

/*
 * The activity that a link of `row` leads to or, if that is removed, the last one before it in its stream
 * that is not; KWHY_NONE: none.
 */
static uint32_t waited_for(const struct overlap *overlap, uint32_t row, enum kwhy_whatif_link link)
{
	uint32_t from = overlap->whatif->graph->nodes[row].from[link];

	return from == KWHY_NONE ? KWHY_NONE : overlap->left[from];
}

static bool may_pass(struct overlap *overlap, uint32_t row, uint32_t before)
{
	const struct kwhy_whatif *whatif = overlap->whatif;

	if (before == KWHY_NONE || !is_collective(whatif, before))
		return false;
	if (!whatif->step_count || whatif->step[row] == whatif->step[before])
		return true;
	overlap->waits = true;
	return false;
}

/*
 * Lets an activity start without waiting for the collectives of its step that directly precede it in its
 * stream, the last of which is `before`: it follows the work before them or, if there is none, starts when
 * the first of them started in the recording.
 */
static void pass_in_stream(struct overlap *overlap, uint32_t row, uint32_t before)
{
	struct kwhy_whatif *whatif = overlap->whatif;
	struct kwhy_whatif_node *node = &whatif->graph->nodes[row];
	uint32_t first = before;

	while (may_pass(overlap, row, before)) {
		first = before;
		before = waited_for(overlap, before, KWHY_LINK_ORDER);
	}
	if (before != KWHY_NONE) {
		kwhy_whatif_follow(whatif->graph, row, KWHY_LINK_ORDER, before,
			kwhy_whatif_queued_at_corner_ns(whatif, before, row));
		return;
	}
	node->from[KWHY_LINK_ORDER] = KWHY_NONE;
	kwhy_whatif_set_lag(
		whatif->graph, node, KWHY_LINK_ORDER, kwhy_whatif_recorded_start(whatif->graph, first));
}

/* Removes the links by which an activity waits for collectives of its own step. */
static void pass(struct overlap *overlap, uint32_t row)
{
	uint32_t before = waited_for(overlap, row, KWHY_LINK_ORDER);
	bool cross = may_pass(overlap, row, waited_for(overlap, row, KWHY_LINK_CROSS));
	bool order = may_pass(overlap, row, before);
	struct kwhy_whatif_node *node;

	if (!cross && !order)
		return;
	node = kwhy_whatif_edit(overlap->whatif->graph, row);
	overlap->whatif->out_of_memory |= !node;
	if (!node)
		return;
	if (cross)
		node->from[KWHY_LINK_CROSS] = KWHY_NONE;
	if (order)
		pass_in_stream(overlap, row, before);
	overlap->passed++;
}

static void say_overlapped(const struct overlap *overlap, struct kwhy_whatif_effect *effect)
{
	const struct kwhy_whatif *whatif = overlap->whatif;

	effect->places = overlap->passed;
	if (overlap->passed)
		kwhy_whatif_say(effect,
			"%s pieces of work no longer wait for a collective%s; both run concurrently at full "
			"speed",
			KWHY_WHATIF_COUNT(overlap->passed),
			whatif->step_count ? " of their own step" : " at all: no steps are known");
	else if (overlap->waits)
		kwhy_whatif_refuse(effect,
			"no work waits for a collective of its own step (%s), only for those of other "
			"steps%s",
			whatif->step_words,
			whatif->steps_named ? "" : "; name the ranges that are steps (--steps)");
	else
		kwhy_whatif_refuse(effect, "no work waits for a collective");
}

void kwhy_whatif_overlap_collectives(
	struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	struct overlap overlap = {.whatif = whatif};

	(void)number;
	overlap.left = malloc((rows->count + 1) * sizeof(*overlap.left));
	if (!overlap.left) {
		whatif->out_of_memory = true;
		return;
	}
	find_left(&overlap);
	for (uint32_t i = 0; i < rows->count; i++)
		if (!is_collective(whatif, i) && !kwhy_whatif_row_is_dropped(whatif, i))
			pass(&overlap, i);
	free(overlap.left);
	say_overlapped(&overlap, effect);
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
