/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_CHANNEL_H
#define KWHY_SENSOR_CHANNEL_H

#include "base/arena.h"
#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One value of a meter or gauge, at the time it holds for, on CLOCK_MONOTONIC. */
struct kwhy_reading {
	int64_t time_mono_ns;
	int64_t value;
};

/* Readings of one source in the order they came: one writer, any number of readers, no lock, no allocation.
 */
struct kwhy_channel_slot {
	_Atomic int64_t time_mono_ns, value;
};

/*
 * The last `capacity` - 1 readings (capacity: a power of two, at least 2). `written` counts all there ever
 * were: a reader keeps its own count of those it took, and what it missed is lost to it and counted.
 */
struct kwhy_channel {
	_Atomic uint64_t written;
	uint64_t capacity;
	struct kwhy_channel_slot *slots; /* in the arena of its owner */
};

KWHY_MUST_USE enum kwhy_status kwhy_channel_init(
	struct kwhy_channel *channel, struct kwhy_arena *arena, uint64_t capacity, struct kwhy_error *error);

/* The writer's: appends. Never fails, never blocks. */
void kwhy_channel_push(struct kwhy_channel *channel, struct kwhy_reading reading);

/* A reader's place in a channel. Zero-initialise to begin with the oldest reading kept. */
struct kwhy_channel_cursor {
	uint64_t taken, lost;
};

/* Up to `room` further readings, oldest first; gives how many. Counts in cursor->lost what was overwritten.
 */
size_t kwhy_channel_read(const struct kwhy_channel *channel, struct kwhy_channel_cursor *cursor,
	struct kwhy_reading *out, size_t space);

/* The newest reading; false: none yet. */
bool kwhy_channel_last(const struct kwhy_channel *channel, struct kwhy_reading *out);

#endif
