/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_EDITS_H
#define KWHY_WHATIF_EDITS_H

#include "base/quantity.h"
#include "whatif/change.h"

/* What changes are made of. Lack of memory is remembered in the whatif and told by its caller. */

/* Drops an activity, and the call that issued it if all that it issued is dropped. */
void kwhy_whatif_drop_row(struct kwhy_whatif *whatif, uint32_t row);

/*
 * Drops a call. The host's time before it goes too, as that of the loop that made them; of what lies far out
 * of what is usual before calls of its class, the rest stays. (All of it stays in the slow corner, none in
 * the fast one.)
 */
void kwhy_whatif_drop_call(struct kwhy_whatif *whatif, uint32_t call);

/* As that, of a call that a graph makes: no program makes those again, so at worst goes what is expected to.
 */
void kwhy_whatif_drop_captured_call(struct kwhy_whatif *whatif, uint32_t call);

/*
 * What the host is expected to save where a call goes by itself: the call, less its waiting for the device,
 * and the time before it.
 */
int64_t kwhy_whatif_goes_with_call_ns(const struct kwhy_whatif *whatif, uint32_t call);

/* Drops a call and the host's time before it. */
void kwhy_whatif_drop_call_and_pause(struct kwhy_whatif *whatif, uint32_t call);

/* A copy takes the bytes of others, too, or comes from, or goes to, page-locked memory of the host from now
 * on. */
void kwhy_whatif_pack_row(struct kwhy_whatif *whatif, uint32_t row, uint64_t bytes);
void kwhy_whatif_pin_row(struct kwhy_whatif *whatif, uint32_t row);
/* Of a copy with the changes so far: its bytes, KWHY_UNKNOWN_BYTES where nothing was stated, and what so many
 * would cost. */
uint64_t kwhy_whatif_copy_bytes(const struct kwhy_whatif *whatif, uint32_t row);
struct kwhy_whatif_cost kwhy_whatif_row_copy_cost(
	const struct kwhy_whatif *whatif, uint32_t row, double bytes);

/* An activity takes that long now. */
void kwhy_whatif_resize_row(struct kwhy_whatif *whatif, uint32_t row, double own_ns);

/* A call returns immediately, after that long: it waits for nothing. */
void kwhy_whatif_unblock_call(struct kwhy_whatif *whatif, uint32_t call, double own_ns);

/* Drops waits for dropped work behind which the thread has issued nothing that is left. */
void kwhy_whatif_drop_idle_waits(struct kwhy_whatif *whatif);

static inline bool kwhy_whatif_row_is_dropped(const struct kwhy_whatif *whatif, uint32_t row)
{
	return kwhy_whatif_is_dropped(whatif->graph, row);
}

static inline bool kwhy_whatif_call_is_dropped(const struct kwhy_whatif *whatif, uint32_t call)
{
	return kwhy_whatif_is_dropped(whatif->graph, kwhy_whatif_call_node(whatif->graph, call));
}

/* The outermost call that issued a row; KWHY_NONE: unknown. */
static inline uint32_t kwhy_whatif_call_of(const struct kwhy_whatif *whatif, uint32_t row)
{
	uint32_t call = whatif->recording->activities.call[row];

	return call == KWHY_NONE ? KWHY_NONE : whatif->graph->outer[call];
}

/* Ahead of changing a row, and with it its call. */
KWHY_WHATIF_FETCHES void kwhy_whatif_fetch_row(const struct kwhy_whatif *whatif, uint32_t row)
{
	uint32_t call = whatif->recording->activities.call[row];

	kwhy_whatif_fetch(whatif->graph, row);
	if (call != KWHY_NONE)
		kwhy_whatif_fetch(whatif->graph, kwhy_whatif_call_node(whatif->graph, call));
}

/* Of a walk over calls up to `end` that changes those of one class. */
KWHY_WHATIF_FETCHES void kwhy_whatif_fetch_calls_ahead(
	const struct kwhy_whatif *whatif, size_t call, size_t end, enum kwhy_call_class class)
{
	size_t ahead = call + KWHY_WHATIF_AHEAD;

	if (ahead < end && whatif->recording->calls.class[ahead] == class)
		kwhy_whatif_fetch(whatif->graph, kwhy_whatif_call_node(whatif->graph, (uint32_t)ahead));
}

/* Of a walk back to `first`. */
KWHY_WHATIF_FETCHES void kwhy_whatif_fetch_calls_after(
	const struct kwhy_whatif *whatif, size_t call, size_t first, enum kwhy_call_class class)
{
	if (call >= first + KWHY_WHATIF_AHEAD &&
		whatif->recording->calls.class[call - KWHY_WHATIF_AHEAD] == class)
		kwhy_whatif_fetch(whatif->graph,
			kwhy_whatif_call_node(whatif->graph, (uint32_t)call - KWHY_WHATIF_AHEAD));
}

/* Of a walk over rows up to `end` that changes copies. */
KWHY_WHATIF_FETCHES void kwhy_whatif_fetch_copies_ahead(
	const struct kwhy_whatif *whatif, size_t row, size_t end)
{
	size_t ahead = row + KWHY_WHATIF_AHEAD;

	if (ahead < end && whatif->recording->activities.kind[ahead] == KWHY_ACTIVITY_COPY &&
		!kwhy_whatif_row_is_dropped(whatif, (uint32_t)ahead))
		kwhy_whatif_fetch_row(whatif, (uint32_t)ahead);
}

/* Between work that is queued after other work, at the corner in force. */
int64_t kwhy_whatif_queued_at_corner_ns(const struct kwhy_whatif *whatif, uint32_t before, uint32_t row);

/* A copy that is still made, in that direction. */
bool kwhy_whatif_is_copy(const struct kwhy_whatif *whatif, uint32_t row, enum kwhy_copy_kind kind);

/* "12.3 us", for words about costs. */
const char *kwhy_whatif_time_words(char out[32], double time_ns);

/* "1,234": a count in a sentence; lives as long as the block that it is in. */
#define KWHY_WHATIF_COUNT(count) kwhy_quantity_count((char[KWHY_QUANTITY_BYTES]){0}, count)

void kwhy_whatif_say(struct kwhy_whatif_effect *effect, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* As that, and leaves the change unmade. */
void kwhy_whatif_refuse(struct kwhy_whatif_effect *effect, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
