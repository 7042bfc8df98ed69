/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_EDITS_H
#define KWHY_WHATIF_EDITS_H

#include "base/quantity.h"
#include "whatif/change.h"

/*
 * Edits of the graph, of which every change consists. When memory runs out, an edit sets
 * whatif->out_of_memory, and the caller of the change reports it. "Lower" and "upper bound" are those of the
 * saving, for which whatif->corner is SLOW and FAST.
 */

/* Removes an activity. When all activities of its call are removed, the call is removed, too. */
void kwhy_whatif_drop_row(struct kwhy_whatif *whatif, uint32_t row);

/*
 * Removes a call and the pause of its thread before it, in which a loop typically prepared the call. Of a
 * pause far longer than usual before calls of the class, only the usual length is removed. For the lower
 * bound of the saving no pause is removed; for the upper bound all of it is.
 */
void kwhy_whatif_drop_call(struct kwhy_whatif *whatif, uint32_t call);

/*
 * As kwhy_whatif_drop_call(), for a call that the launch of a graph replaces. No program prepares that call
 * any more, so the pause is shortened as at the expected costs even for the lower bound of the saving.
 */
void kwhy_whatif_drop_captured_call(struct kwhy_whatif *whatif, uint32_t call);

/*
 * Host time in ns that removing a call saves at the expected costs: the call's time without its wait for the
 * device, plus the part of the pause before the call that kwhy_whatif_drop_call() removes with it.
 */
int64_t kwhy_whatif_goes_with_call_ns(const struct kwhy_whatif *whatif, uint32_t call);

/* Removes a call and all of the pause before it. */
void kwhy_whatif_drop_call_and_pause(struct kwhy_whatif *whatif, uint32_t call);

/*
 * kwhy_whatif_pack_row(): makes a copy carry the bytes of other copies, too. kwhy_whatif_pin_row(): makes
 * the host memory of a copy page-locked.
 */
void kwhy_whatif_pack_row(struct kwhy_whatif *whatif, uint32_t row, uint64_t bytes);
void kwhy_whatif_pin_row(struct kwhy_whatif *whatif, uint32_t row);
/*
 * kwhy_whatif_copy_bytes(): bytes of a copy after the changes so far; KWHY_UNKNOWN_BYTES: unknown.
 * kwhy_whatif_row_copy_cost(): cost that a copy of `bytes` bytes would have with the direction of this copy
 * and its kinds of memory after the changes so far.
 */
uint64_t kwhy_whatif_copy_bytes(const struct kwhy_whatif *whatif, uint32_t row);
struct kwhy_whatif_cost kwhy_whatif_row_copy_cost(
	const struct kwhy_whatif *whatif, uint32_t row, double bytes);

/* Sets the length of an activity, ns. */
void kwhy_whatif_resize_row(struct kwhy_whatif *whatif, uint32_t row, double own_ns);

/* Removes the wait of a call, which then takes own_ns. */
void kwhy_whatif_unblock_call(struct kwhy_whatif *whatif, uint32_t call, double own_ns);

/*
 * Removes waits for removed work, if everything that the thread issued since its previous wait was removed.
 */
void kwhy_whatif_drop_idle_waits(struct kwhy_whatif *whatif);

static inline bool kwhy_whatif_row_is_dropped(const struct kwhy_whatif *whatif, uint32_t row)
{
	return kwhy_whatif_is_dropped(whatif->graph, row);
}

static inline bool kwhy_whatif_call_is_dropped(const struct kwhy_whatif *whatif, uint32_t call)
{
	return kwhy_whatif_is_dropped(whatif->graph, kwhy_whatif_call_node(whatif->graph, call));
}

/* The outermost call that issued an activity; KWHY_NONE: unknown. */
static inline uint32_t kwhy_whatif_call_of(const struct kwhy_whatif *whatif, uint32_t row)
{
	uint32_t call = whatif->recording->activities.call[row];

	return call == KWHY_NONE ? KWHY_NONE : whatif->graph->outer[call];
}

/* Prefetches an activity's node and that of its call, which are about to be changed. */
KWHY_WHATIF_FETCHES void kwhy_whatif_fetch_row(const struct kwhy_whatif *whatif, uint32_t row)
{
	uint32_t call = whatif->recording->activities.call[row];

	kwhy_whatif_fetch(whatif->graph, row);
	if (call != KWHY_NONE)
		kwhy_whatif_fetch(whatif->graph, kwhy_whatif_call_node(whatif->graph, call));
}

/*
 * For a loop over calls, upwards to `end`, that changes calls of one class: prefetches the node of the call
 * KWHY_WHATIF_AHEAD iterations later, if it is of that class.
 */
KWHY_WHATIF_FETCHES void kwhy_whatif_fetch_calls_ahead(
	const struct kwhy_whatif *whatif, size_t call, size_t end, enum kwhy_call_class class)
{
	size_t ahead = call + KWHY_WHATIF_AHEAD;

	if (ahead < end && whatif->recording->calls.class[ahead] == class)
		kwhy_whatif_fetch(whatif->graph, kwhy_whatif_call_node(whatif->graph, (uint32_t)ahead));
}

/* As kwhy_whatif_fetch_calls_ahead(), for a loop downwards to `first`. */
KWHY_WHATIF_FETCHES void kwhy_whatif_fetch_calls_after(
	const struct kwhy_whatif *whatif, size_t call, size_t first, enum kwhy_call_class class)
{
	if (call >= first + KWHY_WHATIF_AHEAD &&
		whatif->recording->calls.class[call - KWHY_WHATIF_AHEAD] == class)
		kwhy_whatif_fetch(whatif->graph,
			kwhy_whatif_call_node(whatif->graph, (uint32_t)call - KWHY_WHATIF_AHEAD));
}

/* As kwhy_whatif_fetch_calls_ahead(), for a loop over activities that changes copies. */
KWHY_WHATIF_FETCHES void kwhy_whatif_fetch_copies_ahead(
	const struct kwhy_whatif *whatif, size_t row, size_t end)
{
	size_t ahead = row + KWHY_WHATIF_AHEAD;

	if (ahead < end && whatif->recording->activities.kind[ahead] == KWHY_ACTIVITY_COPY &&
		!kwhy_whatif_row_is_dropped(whatif, (uint32_t)ahead))
		kwhy_whatif_fetch_row(whatif, (uint32_t)ahead);
}

/*
 * Gap in ns between the activities `before` and `row` of a stream if `row` is launched before `before` ends,
 * at the current costs (whatif->corner).
 */
int64_t kwhy_whatif_queued_at_corner_ns(const struct kwhy_whatif *whatif, uint32_t before, uint32_t row);

/* Whether an activity is a copy of that kind that is not removed. */
bool kwhy_whatif_is_copy(const struct kwhy_whatif *whatif, uint32_t row, enum kwhy_copy_kind kind);

/* Writes a time for a sentence about costs: "12.3 us". */
const char *kwhy_whatif_time_words(char out[32], double time_ns);

/* A count in words, such as "1,234". The string lives as long as the enclosing block. */
#define KWHY_WHATIF_COUNT(count) kwhy_quantity_count((char[KWHY_QUANTITY_BYTES]){0}, count)

void kwhy_whatif_say(struct kwhy_whatif_effect *effect, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Refuses the change: writes the reason, formatted as by kwhy_whatif_say(), and sets places to 0. */
void kwhy_whatif_refuse(struct kwhy_whatif_effect *effect, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
