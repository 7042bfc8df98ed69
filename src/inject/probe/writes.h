/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_WRITES_H
#define KWHY_INJECT_PROBE_WRITES_H

#include "inject/probe/accounts.h"
#include "inject/probe/launch.h"

/*
 * Where a kernel writes, of one that reaches more than can be copied: learnt from its launches, whose memory
 * is hashed in chunks before and after. A chunk that has changed belongs to the parameter that points into it
 * or next below it; of each such parameter the lowest and the highest chunk are kept, relative to the
 * pointer. That predicts what the next launch writes; a launch that writes elsewhere is not repeated, and
 * teaches.
 */
enum { KWHY_PROBE_SLOTS = 128, KWHY_PROBE_CHUNK_BYTES = 65536, KWHY_PROBE_WRITERS = 256 };

struct kwhy_probe_writes {
	const struct kwhy_probe_account *account; /* NULL: free */
	bool is_full;				  /* it writes through more parameters than can be kept */
	size_t count;
	unsigned launches, hits, misses; /* hits: one after the other, of launches with the same numbers */
	uint64_t signature;
	struct {
		uint32_t slot;
		int64_t low, high; /* from the pointer on */
	} at[KWHY_PROBE_SLOTS];
};

/* What of the reached memory is copied. */
struct kwhy_probe_saved {
	size_t count;
	uint64_t bytes;
	struct kwhy_probe_range ranges[KWHY_PROBE_RANGES + KWHY_PROBE_SLOTS];
};

/* Of an account; made where there is space. */
struct kwhy_probe_writes *kwhy_probe_writes_of(
	struct kwhy_probe_writes *all, const struct kwhy_probe_account *account);

/* How many chunks all that is reached has; they are numbered through, range after range. */
uint64_t kwhy_probe_writes_chunks(const struct kwhy_probe_reach *reach);

/* What a launch will write, with a margin, and all small allocations. */
void kwhy_probe_writes_predict(const struct kwhy_probe_writes *writes, const struct kwhy_probe_reach *reach,
	struct kwhy_probe_saved *out);

/* Learns from the chunks of a launch, each 0 where it has not changed; was all of that predicted? */
bool kwhy_probe_writes_learn(struct kwhy_probe_writes *writes, const struct kwhy_probe_reach *reach,
	const struct kwhy_probe_saved *saved, const uint64_t *changed);

/* Need a launch like that not be looked at any more? */
bool kwhy_probe_writes_are_sure(const struct kwhy_probe_writes *writes, const struct kwhy_probe_reach *reach);

/* Can it be predicted at all? */
bool kwhy_probe_writes_are_regular(const struct kwhy_probe_writes *writes);

#endif
