/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_RANGES_H
#define KWHY_INJECT_RANGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Carries ranges from the program's threads to the thread that writes them. Open ranges that nest (push and
 * pop) are on a stack of their thread, other open ranges (start and end) in the table `open`, and ended
 * ranges in `queue`; all are of fixed size. No thread waits for another. Ranges for which no space is left
 * are counted as lost. Names are cut to KWHY_INJECT_RANGE_NAME_BYTES - 1 bytes.
 */
enum {
	KWHY_INJECT_RANGE_NAME_BYTES = 232,
	KWHY_INJECT_RANGE_DEPTH = 24,
	KWHY_INJECT_RANGES_OPEN = 1024,
	KWHY_INJECT_RANGES_QUEUED = 1 << 14
};

struct kwhy_inject_range {
	int64_t start_mono_ns, end_mono_ns;
	uint32_t thread; /* system's id of the thread that opened a nested range; UINT32_MAX: the range was
			    not nested and belongs to no thread */
	char name[KWHY_INJECT_RANGE_NAME_BYTES];
};

/* The open nested ranges of one thread. Zeroed memory is an empty stack. */
struct kwhy_inject_range_stack {
	uint32_t thread; /* the system's thread id; 0: not read yet */
	unsigned depth;	 /* number of open ranges, including those that did not fit in `open` */
	struct {
		const void *domain;
		int64_t start_mono_ns;
		bool selects; /* whether collection depends on this range */
		char name[KWHY_INJECT_RANGE_NAME_BYTES];
	} open[KWHY_INJECT_RANGE_DEPTH];
};

/* Zeroed memory is a valid empty struct. */
struct kwhy_inject_ranges {
	atomic_uint_least64_t put, lost;
	uint64_t got;
	struct {
		atomic_uint_least64_t turn; /* n + 1 once range number n, counted from 0, is in this slot; n +
					       2 once it has been read */
		struct kwhy_inject_range range;
	} queue[KWHY_INJECT_RANGES_QUEUED];
	struct {
		atomic_uint_least64_t state; /* 2 n: the entry is free and was used n times; 2 n + 1: it holds
						an open range */
		int64_t start_mono_ns;
		bool selects;
		char name[KWHY_INJECT_RANGE_NAME_BYTES];
	} open[KWHY_INJECT_RANGES_OPEN];
	atomic_uint next_open;
};

/*
 * Opens a nested range of a thread in an NVTX domain. Returns the range's depth in that domain as NVTX counts
 * it, from 0. `selects`: collection depends on this range. A range for which the stack has no space counts in
 * its depth, but is not recorded, and is treated as if `selects` were false.
 */
int kwhy_inject_range_push(struct kwhy_inject_range_stack *stack, const void *domain, const char *name,
	int64_t now_mono_ns, bool selects);

/*
 * Ends the innermost open range of the domain on this thread, puts it in the queue and returns its depth; -1:
 * there is none. *out_selects: whether collection depends on that range.
 */
int kwhy_inject_range_pop(struct kwhy_inject_ranges *ranges, struct kwhy_inject_range_stack *stack,
	const void *domain, int64_t now_mono_ns, bool *out_selects);

/*
 * Opens a range that need not nest and may end on another thread. Returns its id; 0: no space, and the range
 * is counted as lost.
 */
uint64_t kwhy_inject_range_start(
	struct kwhy_inject_ranges *ranges, const char *name, int64_t now_mono_ns, bool selects);
/* Ends a range. Returns true if the range was open and collection depends on it. */
bool kwhy_inject_range_end(struct kwhy_inject_ranges *ranges, uint64_t id, int64_t now_mono_ns);

/*
 * Takes the oldest ended range out of the queue and writes it to *out. False: the queue is empty. Only one
 * thread at a time may call it.
 */
bool kwhy_inject_ranges_next(struct kwhy_inject_ranges *ranges, struct kwhy_inject_range *out);

/* Returns the number of ranges lost since the last call. */
uint64_t kwhy_inject_ranges_take_lost(struct kwhy_inject_ranges *ranges);

#endif
