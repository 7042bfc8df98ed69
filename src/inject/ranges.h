/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_RANGES_H
#define KWHY_INJECT_RANGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Ranges on their way from the program's threads to the one that writes: nested ones wait on a stack of their
 * thread, others in a table, and ended ones in a queue of fixed size. No thread waits for another; what finds
 * no space is counted. Names are cut to KWHY_INJECT_RANGE_NAME_BYTES - 1.
 */
enum {
	KWHY_INJECT_RANGE_NAME_BYTES = 232,
	KWHY_INJECT_RANGE_DEPTH = 24,
	KWHY_INJECT_RANGES_OPEN = 1024,
	KWHY_INJECT_RANGES_QUEUED = 1 << 14
};

struct kwhy_inject_range {
	int64_t start_mono_ns, end_mono_ns;
	uint32_t thread; /* of the system; UINT32_MAX: of none */
	char name[KWHY_INJECT_RANGE_NAME_BYTES];
};

/* The open nested ranges of one thread; zeroed memory is an empty one. */
struct kwhy_inject_range_stack {
	uint32_t thread; /* 0: not asked yet */
	unsigned depth;	 /* those beyond the most that fit among them */
	struct {
		const void *domain;
		int64_t start_mono_ns;
		bool selects; /* what is collected depends on it */
		char name[KWHY_INJECT_RANGE_NAME_BYTES];
	} open[KWHY_INJECT_RANGE_DEPTH];
};

/* Zeroed memory is an empty one. */
struct kwhy_inject_ranges {
	atomic_uint_least64_t put, lost;
	uint64_t got;
	struct {
		atomic_uint_least64_t turn; /* place + 1 once it is filled */
		struct kwhy_inject_range range;
	} queue[KWHY_INJECT_RANGES_QUEUED];
	struct {
		atomic_uint_least64_t state; /* 2 n: free, 2 n + 1: open, for the n-th time */
		int64_t start_mono_ns;
		bool selects;
		char name[KWHY_INJECT_RANGE_NAME_BYTES];
	} open[KWHY_INJECT_RANGES_OPEN];
	atomic_uint next_open;
};

/*
 * Nested ranges of a thread, by domain. Gives the depth of the range in the domain as NVTX counts it, from 0.
 * One that does not fit on the stack is not marked as selecting.
 */
int kwhy_inject_range_push(struct kwhy_inject_range_stack *stack, const void *domain, const char *name,
	int64_t now_mono_ns, bool selects);

/* Ends the innermost range of the domain; -1: there is none. *out_selects: it was pushed as such. */
int kwhy_inject_range_pop(struct kwhy_inject_ranges *ranges, struct kwhy_inject_range_stack *stack,
	const void *domain, int64_t now_mono_ns, bool *out_selects);

/* Ranges that need not nest and may end on another thread. 0: no space; counted when it ends nowhere. */
uint64_t kwhy_inject_range_start(
	struct kwhy_inject_ranges *ranges, const char *name, int64_t now_mono_ns, bool selects);
/* True: one that was started as selecting has ended now. */
bool kwhy_inject_range_end(struct kwhy_inject_ranges *ranges, uint64_t id, int64_t now_mono_ns);

/* The next ended range. False: none now. One thread at a time. */
bool kwhy_inject_ranges_next(struct kwhy_inject_ranges *ranges, struct kwhy_inject_range *out);

/* How many were lost since the last call. */
uint64_t kwhy_inject_ranges_take_lost(struct kwhy_inject_ranges *ranges);

#endif
