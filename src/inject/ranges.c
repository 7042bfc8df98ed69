/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/ranges.h"

#include <string.h>

/* Copies as much of a name as fits, cut between two UTF-8 characters. */
static void copy_name(char out[KWHY_INJECT_RANGE_NAME_BYTES], const char *name)
{
	size_t length = strnlen(name, KWHY_INJECT_RANGE_NAME_BYTES);

	if (length == KWHY_INJECT_RANGE_NAME_BYTES) {
		length--;
		while (length && ((unsigned char)name[length] & 0xc0) == 0x80)
			length--;
	}
	memcpy(out, name, length);
	out[length] = '\0';
}

/*
 * Puts an ended range in the queue. Slots are used in order; if the reader has not read the next slot yet,
 * the queue is full and the range counts as lost.
 */
static void queue_put(struct kwhy_inject_ranges *ranges, const struct kwhy_inject_range *range)
{
	uint64_t place = atomic_load(&ranges->put);

	for (;;) {
		const uint64_t turn = atomic_load_explicit(
			&ranges->queue[place % KWHY_INJECT_RANGES_QUEUED].turn, memory_order_acquire);
		const uint64_t emptied = place < KWHY_INJECT_RANGES_QUEUED
			? 0
			: place - KWHY_INJECT_RANGES_QUEUED + 2;

		if (turn != emptied && place == atomic_load(&ranges->put)) {
			atomic_fetch_add(&ranges->lost, 1);
			return;
		}
		if (turn == emptied && atomic_compare_exchange_weak(&ranges->put, &place, place + 1))
			break;
		place = atomic_load(&ranges->put);
	}
	ranges->queue[place % KWHY_INJECT_RANGES_QUEUED].range = *range;
	atomic_store_explicit(
		&ranges->queue[place % KWHY_INJECT_RANGES_QUEUED].turn, place + 1, memory_order_release);
}

bool kwhy_inject_ranges_next(struct kwhy_inject_ranges *ranges, struct kwhy_inject_range *out)
{
	const size_t at = ranges->got % KWHY_INJECT_RANGES_QUEUED;

	if (atomic_load_explicit(&ranges->queue[at].turn, memory_order_acquire) != ranges->got + 1)
		return false;
	*out = ranges->queue[at].range;
	atomic_store_explicit(&ranges->queue[at].turn, ranges->got + 2, memory_order_release);
	ranges->got++;
	return true;
}

int kwhy_inject_range_push(struct kwhy_inject_range_stack *stack, const void *domain, const char *name,
	int64_t now_mono_ns, bool selects)
{
	const unsigned at = stack->depth++;
	int level = 0;

	if (at >= KWHY_INJECT_RANGE_DEPTH)
		return (int)at;
	for (unsigned i = 0; i < at; i++)
		level += stack->open[i].domain == domain;
	stack->open[at].domain = domain;
	stack->open[at].start_mono_ns = now_mono_ns;
	stack->open[at].selects = selects;
	copy_name(stack->open[at].name, name);
	return level;
}

/*
 * Removes stack->open[at]. It need not be the last, because ranges of different NVTX domains nest
 * independently.
 */
static void take_out(struct kwhy_inject_range_stack *stack, unsigned at)
{
	for (unsigned i = at; i + 1 < stack->depth; i++)
		stack->open[i] = stack->open[i + 1];
	stack->depth--;
}

int kwhy_inject_range_pop(struct kwhy_inject_ranges *ranges, struct kwhy_inject_range_stack *stack,
	const void *domain, int64_t now_mono_ns, bool *out_selects)
{
	struct kwhy_inject_range range = {.end_mono_ns = now_mono_ns, .thread = stack->thread};
	unsigned at = stack->depth;
	int level = 0;

	*out_selects = false;
	if (at > KWHY_INJECT_RANGE_DEPTH) {
		atomic_fetch_add(&ranges->lost, 1);
		return (int)--stack->depth;
	}
	while (at && stack->open[at - 1].domain != domain)
		at--;
	if (!at)
		return -1;
	for (unsigned i = 0; i + 1 < at; i++)
		level += stack->open[i].domain == domain;
	range.start_mono_ns = stack->open[at - 1].start_mono_ns;
	*out_selects = stack->open[at - 1].selects;
	copy_name(range.name, stack->open[at - 1].name);
	take_out(stack, at - 1);
	queue_put(ranges, &range);
	return level;
}

uint64_t kwhy_inject_range_start(
	struct kwhy_inject_ranges *ranges, const char *name, int64_t now_mono_ns, bool selects)
{
	for (int tries = 0; tries < KWHY_INJECT_RANGES_OPEN; tries++) {
		const unsigned at = atomic_fetch_add(&ranges->next_open, 1) % KWHY_INJECT_RANGES_OPEN;
		uint64_t state = atomic_load(&ranges->open[at].state);

		/*
		 * If the state is odd, the entry is in use. The id is made of the new, odd state and the
		 * index, so no id is 0 and an old id of the entry does not match.
		 */
		if (state % 2 || !atomic_compare_exchange_strong(&ranges->open[at].state, &state, state + 1))
			continue;
		ranges->open[at].start_mono_ns = now_mono_ns;
		ranges->open[at].selects = selects;
		copy_name(ranges->open[at].name, name);
		return (state + 1) * KWHY_INJECT_RANGES_OPEN + at;
	}
	atomic_fetch_add(&ranges->lost, 1);
	return 0;
}

bool kwhy_inject_range_end(struct kwhy_inject_ranges *ranges, uint64_t id, int64_t now_mono_ns)
{
	const size_t at = id % KWHY_INJECT_RANGES_OPEN;
	uint64_t state = id / KWHY_INJECT_RANGES_OPEN;
	struct kwhy_inject_range range = {.end_mono_ns = now_mono_ns, .thread = UINT32_MAX};
	bool selects;

	if (state % 2 == 0 || atomic_load(&ranges->open[at].state) != state)
		return false;
	range.start_mono_ns = ranges->open[at].start_mono_ns;
	selects = ranges->open[at].selects;
	copy_name(range.name, ranges->open[at].name);
	if (!atomic_compare_exchange_strong(&ranges->open[at].state, &state, state + 1))
		return false;
	queue_put(ranges, &range);
	return selects;
}

uint64_t kwhy_inject_ranges_take_lost(struct kwhy_inject_ranges *ranges)
{
	return atomic_exchange(&ranges->lost, 0);
}
