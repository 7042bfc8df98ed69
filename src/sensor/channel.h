/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_CHANNEL_H
#define KWHY_SENSOR_CHANNEL_H

#include "base/arena.h"
#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One value of a meter or gauge and the time that it is valid for, on CLOCK_MONOTONIC. */
struct kwhy_reading {
	int64_t time_mono_ns;
	int64_t value;
};

/* Readings of one source in order of arrival: one writer, any number of readers, no lock, no allocation. */
struct kwhy_channel_slot {
	_Atomic int64_t time_mono_ns, value;
};

/*
 * Holds the last `capacity` - 1 readings; capacity is a power of two, at least 2. `written` counts all
 * readings ever written. A reader counts the readings that it has taken; readings that were overwritten
 * before it took them are counted as lost.
 */
struct kwhy_channel {
	_Atomic uint64_t written;
	uint64_t capacity;
	struct kwhy_channel_slot *slots; /* allocated in the owner's arena */
};

KWHY_MUST_USE enum kwhy_status kwhy_channel_init(
	struct kwhy_channel *channel, struct kwhy_arena *arena, uint64_t capacity, struct kwhy_error *error);

/* Appends a reading; for the writer only. Never fails, never blocks. */
void kwhy_channel_push(struct kwhy_channel *channel, struct kwhy_reading reading);

/* A reader's position in a channel. Zero-initialise to begin with the oldest reading kept. */
struct kwhy_channel_cursor {
	uint64_t taken, lost;
};

/*
 * Reads up to `space` further readings, oldest first, and returns how many. Adds the number of overwritten
 * readings to cursor->lost.
 */
size_t kwhy_channel_read(const struct kwhy_channel *channel, struct kwhy_channel_cursor *cursor,
	struct kwhy_reading *out, size_t space);

/* The newest reading. False: the channel is still empty. */
bool kwhy_channel_last(const struct kwhy_channel *channel, struct kwhy_reading *out);

#endif
