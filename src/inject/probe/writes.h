/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_WRITES_H
#define KWHY_INJECT_PROBE_WRITES_H

#include "inject/probe/accounts.h"
#include "inject/probe/launch.h"

/*
 * For kernels that reach more memory than can be copied or restored before each repeat: learns where such a
 * kernel writes. The memory that its launches reach is hashed in chunks before and after each launch. A chunk
 * that has changed is assigned to the pointer parameter that points into it or, if there is none, to the one
 * with the nearest address below it. For each parameter, the range of its changed chunks is kept, relative to
 * its address. These ranges predict where the next launch writes. A launch that writes elsewhere is not
 * repeated, and the ranges are widened by the chunks that it changed.
 */
enum { KWHY_PROBE_SLOTS = 128, KWHY_PROBE_CHUNK_BYTES = 65536, KWHY_PROBE_WRITERS = 256 };

struct kwhy_probe_writes {
	const struct kwhy_probe_account *account; /* NULL: the entry is free */
	bool is_full; /* the kernel writes through more than KWHY_PROBE_SLOTS parameters, so its writes cannot
			 be predicted */
	size_t count;
	unsigned launches, hits,
		misses; /* launches: number of observed launches; hits: number of the last launches in
			   succession that had the same signature and wrote only predicted memory; misses:
			   number of launches that also wrote other memory */
	uint64_t signature;
	struct {
		uint32_t slot;
		int64_t low, high; /* offsets in bytes, from the address in the parameter, of the start of the
				      first and the end of the last changed chunk */
	} at[KWHY_PROBE_SLOTS];
};

/* The part of the reached memory that is copied before and after the program's launch, to be restored. */
struct kwhy_probe_saved {
	size_t count;
	uint64_t bytes;
	struct kwhy_probe_range ranges[KWHY_PROBE_RANGES + KWHY_PROBE_SLOTS];
};

/* Finds or makes the entry of an account in all[KWHY_PROBE_WRITERS]; NULL: all are used by other accounts. */
struct kwhy_probe_writes *kwhy_probe_writes_of(
	struct kwhy_probe_writes *all, const struct kwhy_probe_account *account);

/* Number of chunks in all reached memory. Chunks are numbered consecutively across all ranges. */
uint64_t kwhy_probe_writes_chunks(const struct kwhy_probe_reach *reach);

/*
 * Predicts the memory that a launch will write: the ranges learnt for its pointers, with a margin of one
 * chunk at both ends, and whole allocations of up to 2 MiB.
 */
void kwhy_probe_writes_predict(const struct kwhy_probe_writes *writes, const struct kwhy_probe_reach *reach,
	struct kwhy_probe_saved *out);

/*
 * Learns from a launch. `changed` has a word for each chunk of the reached memory; 0: the chunk has not
 * changed. `saved`: what was predicted. Returns whether all changed chunks lie in `saved`.
 */
bool kwhy_probe_writes_learn(struct kwhy_probe_writes *writes, const struct kwhy_probe_reach *reach,
	const struct kwhy_probe_saved *saved, const uint64_t *changed);

/*
 * Whether a launch with these parameters need not be observed: predictions were right for the last three
 * launches with the same signature, and observing it would take long, since it reaches more than 8 GiB.
 */
bool kwhy_probe_writes_are_sure(const struct kwhy_probe_writes *writes, const struct kwhy_probe_reach *reach);

/*
 * Whether the kernel's writes can be predicted: it writes through few enough parameters, and predictions have
 * not failed too often.
 */
bool kwhy_probe_writes_are_regular(const struct kwhy_probe_writes *writes);

#endif
