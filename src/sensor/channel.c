/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/channel.h"

enum kwhy_status kwhy_channel_init(
	struct kwhy_channel *channel, struct kwhy_arena *arena, uint64_t capacity, struct kwhy_error *error)
{
	struct kwhy_channel_slot *slots = kwhy_arena_alloc(arena, capacity, sizeof(*slots));

	if (!slots)
		return kwhy_fail_memory(error, "the readings of a meter");
	atomic_init(&channel->written, 0);
	channel->capacity = capacity;
	channel->slots = slots;
	return KWHY_OK;
}

static struct kwhy_channel_slot *slot_of(const struct kwhy_channel *channel, uint64_t number)
{
	return &channel->slots[number & (channel->capacity - 1)];
}

/*
 * Each store has release order, and readers load with acquire order. A reader that sees a value stored here
 * therefore also sees the count `written` that all earlier pushes stored. From that count oldest_kept()
 * computes that the reading which was in the slot before is lost.
 */
void kwhy_channel_push(struct kwhy_channel *channel, struct kwhy_reading reading)
{
	uint64_t number = atomic_load_explicit(&channel->written, memory_order_relaxed);
	struct kwhy_channel_slot *slot = slot_of(channel, number);

	atomic_store_explicit(&slot->time_mono_ns, reading.time_mono_ns, memory_order_release);
	atomic_store_explicit(&slot->value, reading.value, memory_order_release);
	atomic_store_explicit(&channel->written, number + 1, memory_order_release);
}

static struct kwhy_reading load(const struct kwhy_channel *channel, uint64_t number)
{
	struct kwhy_channel_slot *slot = slot_of(channel, number);

	return (struct kwhy_reading){
		.time_mono_ns = atomic_load_explicit(&slot->time_mono_ns, memory_order_acquire),
		.value = atomic_load_explicit(&slot->value, memory_order_acquire),
	};
}

static uint64_t written(const struct kwhy_channel *channel)
{
	return atomic_load_explicit(&channel->written, memory_order_acquire);
}

/*
 * Number of the oldest reading that can be read safely. The slot of the reading before it may be about to be
 * overwritten by the next push, so only `capacity` - 1 readings are kept.
 */
static uint64_t oldest_kept(const struct kwhy_channel *channel)
{
	uint64_t count = written(channel), space = channel->capacity - 1;

	return count > space ? count - space : 0;
}

static void skip_lost(const struct kwhy_channel *channel, struct kwhy_channel_cursor *cursor)
{
	uint64_t oldest = oldest_kept(channel);

	if (cursor->taken >= oldest)
		return;
	cursor->lost += oldest - cursor->taken;
	cursor->taken = oldest;
}

size_t kwhy_channel_read(const struct kwhy_channel *channel, struct kwhy_channel_cursor *cursor,
	struct kwhy_reading *out, size_t space)
{
	size_t count = 0;

	skip_lost(channel, cursor);
	while (count < space && cursor->taken < written(channel)) {
		struct kwhy_reading reading = load(channel, cursor->taken);

		if (cursor->taken <
			oldest_kept(channel)) { /* the slot was overwritten while it was being copied */
			skip_lost(channel, cursor);
			continue;
		}
		out[count++] = reading;
		cursor->taken++;
	}
	return count;
}

bool kwhy_channel_last(const struct kwhy_channel *channel, struct kwhy_reading *out)
{
	uint64_t count;

	while ((count = written(channel)) > 0) {
		struct kwhy_reading reading = load(channel, count - 1);

		if (count - 1 < oldest_kept(channel))
			continue;
		*out = reading;
		return true;
	}
	return false;
}
