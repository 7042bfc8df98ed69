/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/recorder.h"

#include "base/clock.h"
#include "base/column.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Number of free events of a ring below which only ends of regions are still recorded. */
#define RESERVE_EVENTS 512

enum ring_state {
	RING_FREE,
	RING_USED,
	RING_LEFT /* its thread has ended, and some of its events may not have been read */
};

struct ring {
	_Atomic uint32_t state;
	uint16_t thread;
	uint64_t mask;
	struct kwhy_event *events;
	/*
	 * The members from here to `skipped` lie in a cache line of their own, to which only the ring's
	 * thread writes.
	 */
	_Alignas(64) _Atomic uint64_t written;
	uint64_t taken_seen; /* value of `taken` when the writer last read it */
	_Atomic uint64_t dropped;
	uint32_t skipped_open; /* number of regions whose beginning was dropped and whose end has not come yet
				  and will be dropped, too; skipped[KWHY_RECORDER_NAMES]: the same number by
				  name */
	uint32_t *skipped;
	_Alignas(64) _Atomic uint64_t taken;
};

struct kwhy_recorder {
	pthread_key_t key;
	size_t events_per_thread;
	_Atomic(struct ring *) rings[KWHY_RECORDER_THREADS];
	_Atomic uint64_t
		homeless; /* number of events that were dropped because their thread could not get a ring */
};

static void leave(void *ring)
{
	atomic_store_explicit(&((struct ring *)ring)->state, RING_LEFT, memory_order_release);
}

enum kwhy_status kwhy_recorder_new(
	size_t events_per_thread, struct kwhy_recorder **out, struct kwhy_error *error)
{
	struct kwhy_recorder *recorder = calloc(1, sizeof(*recorder));

	if (!recorder)
		return kwhy_fail_memory(error, "the events of a session");
	if (pthread_key_create(&recorder->key, leave) != 0) {
		free(recorder);
		return kwhy_fail(error, KWHY_E_MEMORY,
			"no thread-specific data left for another session; close sessions that are not used");
	}
	recorder->events_per_thread = events_per_thread;
	*out = recorder;
	return KWHY_OK;
}

static void free_ring(struct ring *ring)
{
	if (!ring)
		return;
	free(ring->events);
	free(ring->skipped);
	free(ring);
}

void kwhy_recorder_free(struct kwhy_recorder *recorder)
{
	if (!recorder)
		return;
	pthread_key_delete(recorder->key);
	for (size_t i = 0; i < KWHY_RECORDER_THREADS; i++)
		free_ring(atomic_load(&recorder->rings[i]));
	free(recorder);
}

static struct ring *new_ring(const struct kwhy_recorder *recorder, size_t number)
{
	struct ring *ring = aligned_alloc(64, sizeof(*ring));

	if (!ring)
		return NULL;
	memset(ring, 0, sizeof(*ring));
	ring->thread = (uint16_t)number;
	ring->mask = recorder->events_per_thread - 1;
	ring->events = calloc(recorder->events_per_thread, sizeof(*ring->events));
	ring->skipped = calloc(KWHY_RECORDER_NAMES, sizeof(*ring->skipped));
	atomic_init(&ring->state, RING_USED);
	if (!ring->events || !ring->skipped) {
		free_ring(ring);
		return NULL;
	}
	return ring;
}

/*
 * Takes over a free ring for the calling thread: one whose thread has ended and whose events have all been
 * read. false: the ring is not free.
 */
static bool take_over(struct ring *ring)
{
	uint32_t left = RING_FREE;

	if (!atomic_compare_exchange_strong(&ring->state, &left, RING_USED))
		return false;
	ring->skipped_open = 0;
	memset(ring->skipped, 0, KWHY_RECORDER_NAMES * sizeof(*ring->skipped));
	return true;
}

/*
 * Gets a ring for the calling thread at its first event: a free one, or a new one. This is the only step that
 * allocates. NULL: all rings are in use, or out of memory.
 */
static struct ring *join(struct kwhy_recorder *recorder)
{
	for (size_t i = 0; i < KWHY_RECORDER_THREADS; i++) {
		struct ring *ring = atomic_load(&recorder->rings[i]), *none = NULL;

		if (!ring) {
			ring = new_ring(recorder, i);
			if (!ring)
				return NULL;
			if (!atomic_compare_exchange_strong(&recorder->rings[i], &none, ring)) {
				free_ring(ring);
				continue;
			}
		} else if (!take_over(ring)) {
			continue;
		}
		if (pthread_setspecific(recorder->key, ring) != 0) {
			leave(ring);
			return NULL;
		}
		return ring;
	}
	return NULL;
}

static struct ring *ring_of(struct kwhy_recorder *recorder)
{
	struct ring *ring = pthread_getspecific(recorder->key);

	if (__builtin_expect(!ring, 0)) {
		ring = join(recorder);
		if (!ring)
			atomic_fetch_add_explicit(&recorder->homeless, 1, memory_order_relaxed);
	}
	return ring;
}

static bool has_space(struct ring *ring, uint64_t written, uint64_t reserve)
{
	uint64_t most = ring->mask + 1 - reserve;

	if (written - ring->taken_seen < most)
		return true;
	ring->taken_seen = atomic_load_explicit(&ring->taken, memory_order_acquire);
	return written - ring->taken_seen < most;
}

static void put(struct ring *ring, uint64_t written, const struct kwhy_event *event)
{
	ring->events[written & ring->mask] = *event;
	atomic_store_explicit(&ring->written, written + 1, memory_order_release);
}

static void drop(struct ring *ring)
{
	uint64_t dropped = atomic_load_explicit(&ring->dropped, memory_order_relaxed);

	atomic_store_explicit(&ring->dropped, dropped + 1, memory_order_relaxed);
}

void kwhy_recorder_begin(struct kwhy_recorder *recorder, uint32_t name)
{
	struct ring *ring = ring_of(recorder);
	uint64_t written;

	if (!ring)
		return;
	written = atomic_load_explicit(&ring->written, memory_order_relaxed);
	if (__builtin_expect(!has_space(ring, written, RESERVE_EVENTS), 0)) {
		ring->skipped[name]++;
		ring->skipped_open++;
		drop(ring);
		return;
	}
	put(ring, written,
		&(struct kwhy_event){kwhy_clock_mono_ns(), name, KWHY_EVENT_BEGIN, ring->thread, 0});
}

void kwhy_recorder_end(struct kwhy_recorder *recorder, uint32_t name)
{
	int64_t time_ns = kwhy_clock_mono_ns();
	struct ring *ring = ring_of(recorder);
	uint64_t written;

	if (!ring)
		return;
	if (__builtin_expect(ring->skipped_open > 0, 0) && ring->skipped[name] > 0) {
		ring->skipped[name]--;
		ring->skipped_open--;
		return;
	}
	written = atomic_load_explicit(&ring->written, memory_order_relaxed);
	if (__builtin_expect(has_space(ring, written, 0), 1))
		put(ring, written, &(struct kwhy_event){time_ns, name, KWHY_EVENT_END, ring->thread, 0});
	else
		drop(ring);
}

void kwhy_recorder_work(struct kwhy_recorder *recorder, uint32_t unit, double amount)
{
	struct ring *ring = ring_of(recorder);
	uint64_t written;

	if (!ring)
		return;
	written = atomic_load_explicit(&ring->written, memory_order_relaxed);
	if (has_space(ring, written, RESERVE_EVENTS))
		put(ring, written,
			&(struct kwhy_event){
				kwhy_clock_mono_ns(), unit, KWHY_EVENT_WORK, ring->thread, amount});
	else
		drop(ring);
}

struct collected {
	struct kwhy_event **events;
	size_t *count, *capacity;
	size_t most;
	bool full;
};

static enum kwhy_status collect(struct ring *ring, struct collected *to, struct kwhy_error *error)
{
	/*
	 * The state is read before `written`: if the state shows that the thread has ended, `written` then
	 * counts all events of the thread.
	 */
	uint32_t state = atomic_load_explicit(&ring->state, memory_order_acquire);
	uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);
	uint64_t waiting = atomic_load_explicit(&ring->written, memory_order_acquire) - taken;
	void *items = *to->events;
	enum kwhy_status status;

	to->full = to->full || waiting > ring->mask / 2;
	if (waiting > to->most - *to->count)
		waiting = to->most - *to->count;
	status = kwhy_column_reserve(&items, to->capacity, *to->count + waiting, sizeof(**to->events),
		"the events of a session", error);
	*to->events = items;
	if (status)
		return status;
	for (uint64_t i = 0; i < waiting; i++)
		(*to->events)[(*to->count)++] = ring->events[(taken + i) & ring->mask];
	atomic_store_explicit(&ring->taken, taken + waiting, memory_order_release);
	if (state == RING_LEFT &&
		atomic_load_explicit(&ring->written, memory_order_acquire) == taken + waiting)
		atomic_store_explicit(&ring->state, RING_FREE, memory_order_release);
	return KWHY_OK;
}

enum kwhy_status kwhy_recorder_collect(struct kwhy_recorder *recorder, struct kwhy_event **events,
	size_t *count, size_t *capacity, size_t most, bool *out_full, struct kwhy_error *error)
{
	struct collected to = {events, count, capacity, most, false};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < KWHY_RECORDER_THREADS; i++) {
		struct ring *ring = atomic_load_explicit(&recorder->rings[i], memory_order_acquire);

		if (!ring)
			break;
		status = collect(ring, &to, error);
	}
	*out_full = to.full;
	return status;
}

uint64_t kwhy_recorder_dropped(const struct kwhy_recorder *recorder)
{
	uint64_t dropped = atomic_load_explicit(&recorder->homeless, memory_order_relaxed);

	for (size_t i = 0; i < KWHY_RECORDER_THREADS; i++) {
		struct ring *ring = atomic_load_explicit(&recorder->rings[i], memory_order_acquire);

		if (!ring)
			break;
		dropped += atomic_load_explicit(&ring->dropped, memory_order_relaxed);
	}
	return dropped;
}
