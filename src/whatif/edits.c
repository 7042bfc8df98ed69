/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/edits.h"

#include "base/quantity.h"
#include "whatif/parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static struct kwhy_whatif_node *edit(struct kwhy_whatif *whatif, uint32_t at)
{
	struct kwhy_whatif_node *node = kwhy_whatif_edit(whatif->graph, at);

	whatif->out_of_memory |= !node;
	return node;
}

/*
 * Part in ns of the host's pause before a call that goes with the call at the expected costs: all of it,
 * unless it is longer than far_gap_ns of the class; then only the usual pause.
 */
static int64_t pause_gone_ns(const struct kwhy_whatif *whatif, uint32_t call, int64_t pause_ns)
{
	enum kwhy_call_class class = whatif->recording->calls.class[call];
	int64_t usual_ns = whatif->costs.usual_gap_ns[class];

	if (pause_ns <= 0)
		return 0;
	return pause_ns <= whatif->costs.far_gap_ns[class] || pause_ns < usual_ns ? pause_ns : usual_ns;
}

static int64_t pause_left_ns(
	const struct kwhy_whatif *whatif, enum kwhy_whatif_corner corner, uint32_t call, int64_t pause_ns)
{
	if (corner == KWHY_CORNER_SLOW || pause_ns <= 0)
		return pause_ns;
	return corner == KWHY_CORNER_FAST ? 0 : pause_ns - pause_gone_ns(whatif, call, pause_ns);
}

int64_t kwhy_whatif_goes_with_call_ns(const struct kwhy_whatif *whatif, uint32_t call)
{
	const struct kwhy_whatif_node *node = &whatif->graph
						       ->nodes[kwhy_whatif_call_node(whatif->graph, call)];

	return kwhy_whatif_own_ns(whatif->graph, node) +
		(node->from[KWHY_LINK_ORDER] == KWHY_NONE
				? 0
				: pause_gone_ns(whatif, call,
					  kwhy_whatif_lag_ns(whatif->graph, node, KWHY_LINK_ORDER)));
}

/*
 * Removes a call. corner: how much of the pause before it remains (SLOW: all; FAST: nothing; EXPECTED: what
 * pause_gone_ns() leaves).
 */
static void drop_call(struct kwhy_whatif *whatif, uint32_t call, enum kwhy_whatif_corner corner)
{
	uint32_t at = kwhy_whatif_call_node(whatif->graph, call);
	struct kwhy_whatif_node *node;

	if (kwhy_whatif_is_dropped(whatif->graph, at))
		return;
	node = kwhy_whatif_drop(whatif->graph, at);
	whatif->out_of_memory |= !node;
	if (!node)
		return;
	for (size_t link = 0; link < KWHY_LINK_JOIN; link++)
		if (node->from[link] != KWHY_NONE)
			kwhy_whatif_set_lag(whatif->graph, node, link,
				pause_left_ns(
					whatif, corner, call, kwhy_whatif_lag_ns(whatif->graph, node, link)));
}

void kwhy_whatif_drop_call(struct kwhy_whatif *whatif, uint32_t call)
{
	drop_call(whatif, call, whatif->corner);
}

void kwhy_whatif_drop_captured_call(struct kwhy_whatif *whatif, uint32_t call)
{
	drop_call(whatif, call, whatif->corner == KWHY_CORNER_SLOW ? KWHY_CORNER_EXPECTED : whatif->corner);
}

void kwhy_whatif_drop_call_and_pause(struct kwhy_whatif *whatif, uint32_t call)
{
	drop_call(whatif, call, KWHY_CORNER_FAST);
}

static bool issues_nothing(const struct kwhy_whatif *whatif, uint32_t call)
{
	for (size_t i = whatif->first_issued[call]; i < whatif->first_issued[call + 1]; i++)
		if (!kwhy_whatif_row_is_dropped(whatif, whatif->issued[i]))
			return false;
	return true;
}

/*
 * For an activity whose predecessor in its stream was removed: if the activity started KWHY_WHATIF_STALL_NS
 * or more after its call, it now starts as soon after its call as kernels usually do. What stalled the device
 * is not recorded (such as a profiler that stores its records), but with less work there is less to stall it.
 * Not for the lower bound of the saving.
 */
static void drop_stall(struct kwhy_whatif *whatif, uint32_t row)
{
	int64_t usual_ns = whatif->graph->delays.issue_ns[KWHY_ACTIVITY_KERNEL];
	const struct kwhy_whatif_node *node = row == KWHY_NONE ? NULL : &whatif->graph->nodes[row];
	struct kwhy_whatif_node *changed;

	if (!node || usual_ns < 0 || whatif->corner == KWHY_CORNER_SLOW ||
		kwhy_whatif_row_is_dropped(whatif, row) || node->from[KWHY_LINK_ISSUE] == KWHY_NONE ||
		kwhy_whatif_lag_ns(whatif->graph, node, KWHY_LINK_ISSUE) < KWHY_WHATIF_STALL_NS)
		return;
	changed = edit(whatif, row);
	if (!changed)
		return;
	kwhy_whatif_set_lag(whatif->graph, changed, KWHY_LINK_ISSUE, usual_ns);
	if (changed->from[KWHY_LINK_ORDER] != KWHY_NONE)
		kwhy_whatif_set_lag(whatif->graph, changed, KWHY_LINK_ORDER,
			kwhy_whatif_queued_ns(whatif->graph, changed->from[KWHY_LINK_ORDER], row));
}

/*
 * Part in ns that remains of the gap gap_ns between `before` and a removed activity. It is 0, except for the
 * lower bound of the saving if the call of the removed activity is unknown: what exceeds the gap of queued
 * work may then be work of the host, and remains.
 */
static int64_t gap_left_ns(const struct kwhy_whatif *whatif, uint32_t row, uint32_t before, int64_t gap_ns)
{
	int64_t queued_ns;

	if (whatif->corner != KWHY_CORNER_SLOW || kwhy_whatif_call_of(whatif, row) != KWHY_NONE)
		return 0;
	queued_ns = kwhy_whatif_queued_ns(whatif->graph, before, row);
	return gap_ns > queued_ns ? gap_ns - queued_ns : 0;
}

void kwhy_whatif_drop_row(struct kwhy_whatif *whatif, uint32_t row)
{
	uint32_t call = kwhy_whatif_call_of(whatif, row);
	struct kwhy_whatif_node *node;

	if (kwhy_whatif_row_is_dropped(whatif, row))
		return;
	node = kwhy_whatif_drop(whatif->graph, row);
	whatif->out_of_memory |= !node;
	if (!node)
		return;
	for (size_t link = 0; link < KWHY_LINK_JOIN; link++)
		if (node->from[link] != KWHY_NONE && !kwhy_whatif_follows_start(node, link))
			kwhy_whatif_set_lag(whatif->graph, node, link,
				gap_left_ns(whatif, row, node->from[link],
					kwhy_whatif_lag_ns(whatif->graph, node, link)));
	drop_stall(whatif, whatif->next[row]);
	if (call != KWHY_NONE && issues_nothing(whatif, call))
		kwhy_whatif_drop_call(whatif, call);
}

void kwhy_whatif_resize_row(struct kwhy_whatif *whatif, uint32_t row, double own_ns)
{
	struct kwhy_whatif_node *node = edit(whatif, row);

	if (!node)
		return;
	kwhy_whatif_set_own(whatif->graph, node, (int64_t)(own_ns + 0.5));
	node->flags |= KWHY_NODE_CHANGED;
}

void kwhy_whatif_pack_row(struct kwhy_whatif *whatif, uint32_t row, uint64_t bytes)
{
	struct kwhy_whatif_node *node = edit(whatif, row);

	if (!whatif->packed_bytes)
		whatif->packed_bytes = calloc(
			whatif->recording->activities.count + 1, sizeof(*whatif->packed_bytes));
	whatif->out_of_memory |= !whatif->packed_bytes;
	if (!node || !whatif->packed_bytes)
		return;
	node->flags |= KWHY_NODE_PACKED;
	whatif->packed_bytes[row] = bytes;
}

void kwhy_whatif_pin_row(struct kwhy_whatif *whatif, uint32_t row)
{
	struct kwhy_whatif_node *node = edit(whatif, row);

	if (node)
		node->flags |= KWHY_NODE_PINNED;
}

uint64_t kwhy_whatif_copy_bytes(const struct kwhy_whatif *whatif, uint32_t row)
{
	return whatif->graph->nodes[row].flags & KWHY_NODE_PACKED ? whatif->packed_bytes[row]
								  : whatif->recording->activities.bytes[row];
}

struct kwhy_whatif_cost kwhy_whatif_row_copy_cost(
	const struct kwhy_whatif *whatif, uint32_t row, double bytes)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	bool pinned = whatif->graph->nodes[row].flags & KWHY_NODE_PINNED;
	bool up = rows->copy_kind[row] == KWHY_COPY_H2D;

	return kwhy_whatif_copy_cost(&whatif->costs, rows->copy_kind[row],
		pinned && up ? KWHY_MEMORY_PINNED : rows->src_memory[row],
		pinned && !up ? KWHY_MEMORY_PINNED : rows->dst_memory[row], bytes);
}

void kwhy_whatif_unblock_call(struct kwhy_whatif *whatif, uint32_t call, double own_ns)
{
	struct kwhy_whatif_node *node = edit(whatif, kwhy_whatif_call_node(whatif->graph, call));

	if (!node)
		return;
	node->from[KWHY_LINK_JOIN] = KWHY_NONE;
	kwhy_whatif_set_own(whatif->graph, node, (int64_t)(own_ns + 0.5));
}

/*
 * Whether a call waits for removed work. Callers test this last, because it reads a node that is seldom in
 * the cache.
 */
static bool waits_for_dropped(const struct kwhy_whatif *whatif, uint32_t call_node)
{
	uint32_t target = whatif->graph->nodes[call_node].from[KWHY_LINK_JOIN];

	return target != KWHY_NONE && kwhy_whatif_is_dropped(whatif->graph, target);
}

static void drop_idle_waits_of_thread(struct kwhy_whatif *whatif, size_t thread)
{
	const struct kwhy_calls *calls = &whatif->recording->calls;
	/* work that was issued before the recording began is unknown and may be pending */
	bool pending = true;

	for (size_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
		uint32_t at = kwhy_whatif_call_node(whatif->graph, (uint32_t)i);

		kwhy_whatif_fetch_calls_ahead(whatif, i, calls->first[thread + 1], KWHY_CALL_SYNC);
		if (!issues_nothing(whatif, (uint32_t)i)) {
			pending = !kwhy_whatif_is_wait(whatif->graph, (uint32_t)i);
			continue;
		}
		if (whatif->graph->outer[i] != i || kwhy_whatif_is_dropped(whatif->graph, at) ||
			calls->class[i] != KWHY_CALL_SYNC)
			continue;
		if (!pending && waits_for_dropped(whatif, at))
			kwhy_whatif_drop_call(whatif, (uint32_t)i);
		pending = false;
	}
}

void kwhy_whatif_drop_idle_waits(struct kwhy_whatif *whatif)
{
	for (size_t t = 0; t < whatif->recording->thread_count; t++)
		drop_idle_waits_of_thread(whatif, t);
}

int64_t kwhy_whatif_queued_at_corner_ns(const struct kwhy_whatif *whatif, uint32_t before, uint32_t row)
{
	double queued_ns = (double)kwhy_whatif_queued_ns(whatif->graph, before, row);

	if (whatif->corner == KWHY_CORNER_FAST)
		queued_ns *= whatif->graph->delays.queued_fast_ratio;
	if (whatif->corner == KWHY_CORNER_SLOW)
		queued_ns *= whatif->graph->delays.queued_slow_ratio;
	return (int64_t)queued_ns;
}

bool kwhy_whatif_is_copy(const struct kwhy_whatif *whatif, uint32_t row, enum kwhy_copy_kind kind)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;

	return rows->kind[row] == KWHY_ACTIVITY_COPY && rows->copy_kind[row] == kind &&
		!kwhy_whatif_row_is_dropped(whatif, row);
}

const char *kwhy_whatif_time_words(char out[32], double time_ns)
{
	return kwhy_quantity_time(out, (int64_t)(time_ns + 0.5));
}

void kwhy_whatif_say(struct kwhy_whatif_effect *effect, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(effect->words, sizeof(effect->words), format, args);
	va_end(args);
}

void kwhy_whatif_refuse(struct kwhy_whatif_effect *effect, const char *format, ...)
{
	va_list args;

	effect->places = 0;
	va_start(args, format);
	vsnprintf(effect->words, sizeof(effect->words), format, args);
	va_end(args);
}
