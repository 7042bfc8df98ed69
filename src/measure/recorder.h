/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_RECORDER_H
#define KWHY_MEASURE_RECORDER_H

#include "measure/regions.h"

/*
 * Lock-free recording of events by threads. Each thread has a ring, which is made at the thread's first
 * event. Only that thread writes to the ring, and only one collector reads it. When a ring is nearly full,
 * new events of work are dropped, and so are beginnings of regions, with the ends that belong to them.
 * Dropped events are counted.
 */
struct kwhy_recorder;

enum { KWHY_RECORDER_NAMES = 4096, KWHY_RECORDER_THREADS = 1024 };

KWHY_MUST_USE enum kwhy_status kwhy_recorder_new(
	size_t events_per_thread, struct kwhy_recorder **out, struct kwhy_error *error);
void kwhy_recorder_free(struct kwhy_recorder *recorder);

/* Record an event of the calling thread at the present time. `name` must be below KWHY_RECORDER_NAMES. */
void kwhy_recorder_begin(struct kwhy_recorder *recorder, uint32_t name);
void kwhy_recorder_end(struct kwhy_recorder *recorder, uint32_t name);
void kwhy_recorder_work(struct kwhy_recorder *recorder, uint32_t unit, double amount);

/*
 * Called by the collector: moves new events of all rings to the end of an array that grows up to `most`
 * events; events for which it has no space stay in their rings. Events of one thread are in order of time,
 * those of several threads are not. *out_full: a ring was at least half full.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorder_collect(struct kwhy_recorder *recorder,
	struct kwhy_event **events, size_t *count, size_t *capacity, size_t most, bool *out_full,
	struct kwhy_error *error);

uint64_t kwhy_recorder_dropped(const struct kwhy_recorder *recorder);

#endif
