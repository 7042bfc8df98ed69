/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_CHANNEL_H
#define KWHY_SENSOR_CHANNEL_H

#include "base/arena.h"
#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One value of a meter or gauge, and the time on CLOCK_MONOTONIC to which the value belongs. */
struct kwhy_reading {
	int64_t time_mono_ns;
	int64_t value;
};

/*
 * One slot of a channel's ring buffer: a reading. A channel holds readings of one source in the order of
 * their arrival. One thread writes and any number of threads read, without locks and without allocation.
 */
struct kwhy_channel_slot {
	_Atomic int64_t time_mono_ns, value;
};

/*
 * Ring buffer of a source's readings, of which the last `capacity` - 1 can be read; `capacity` is a power of
 * two, at least 2. `written` is the number of readings ever written.
 */
struct kwhy_channel {
	_Atomic uint64_t written;
	uint64_t capacity;
	struct kwhy_channel_slot *slots; /* `capacity` slots in the owner's arena */
};

KWHY_MUST_USE enum kwhy_status kwhy_channel_init(
	struct kwhy_channel *channel, struct kwhy_arena *arena, uint64_t capacity, struct kwhy_error *error);

/* Appends a reading. Only the writing thread may call it. It never fails and never waits. */
void kwhy_channel_push(struct kwhy_channel *channel, struct kwhy_reading reading);

/*
 * A reader's position in a channel. `taken`: number of the next reading to read, counted from the channel's
 * first; `lost`: how many of them were overwritten before this reader read them. A cursor of zeros begins
 * with the oldest reading that is still in the ring buffer, and counts all readings before that one as lost.
 */
struct kwhy_channel_cursor {
	uint64_t taken, lost;
};

/*
 * Reads up to `space` readings from the cursor on, oldest first, and returns how many. Readings that were
 * overwritten are added to cursor->lost.
 */
size_t kwhy_channel_read(const struct kwhy_channel *channel, struct kwhy_channel_cursor *cursor,
	struct kwhy_reading *out, size_t space);

/* Gets the newest reading. False: the channel has no reading yet. */
bool kwhy_channel_last(const struct kwhy_channel *channel, struct kwhy_reading *out);

#endif
