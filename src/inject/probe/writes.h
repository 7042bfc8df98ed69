/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_WRITES_H
#define KWHY_INJECT_PROBE_WRITES_H

#include "inject/probe/accounts.h"
#include "inject/probe/launch.h"

/*
 * Learns where a kernel writes that reaches more memory than can be copied. The memory of its launches is
 * hashed in chunks before and after. A chunk that has changed is assigned to the parameter that points into
 * it or to the nearest address below it. For each such parameter the lowest and highest chunk are kept,
 * relative to the pointer. They predict where the next launch writes. A launch that writes elsewhere is not
 * repeated, and the prediction learns from it.
 */
enum { KWHY_PROBE_SLOTS = 128, KWHY_PROBE_CHUNK_BYTES = 65536, KWHY_PROBE_WRITERS = 256 };

struct kwhy_probe_writes {
	const struct kwhy_probe_account *account; /* NULL: free */
	bool is_full; /* it writes through more than KWHY_PROBE_SLOTS parameters */
	size_t count;
	unsigned launches, hits,
		misses; /* hits: consecutive correct predictions for launches with the same signature */
	uint64_t signature;
	struct {
		uint32_t slot;
		int64_t low, high; /* relative to the pointer */
	} at[KWHY_PROBE_SLOTS];
};

/* The part of the reached memory that is copied. */
struct kwhy_probe_saved {
	size_t count;
	uint64_t bytes;
	struct kwhy_probe_range ranges[KWHY_PROBE_RANGES + KWHY_PROBE_SLOTS];
};

/* Finds or makes the entry of an account; NULL: no entry is free. */
struct kwhy_probe_writes *kwhy_probe_writes_of(
	struct kwhy_probe_writes *all, const struct kwhy_probe_account *account);

/* Number of chunks of all reached memory; they are numbered consecutively, range after range. */
uint64_t kwhy_probe_writes_chunks(const struct kwhy_probe_reach *reach);

/* Predicts the memory that a launch will write, with a margin, and adds all small allocations. */
void kwhy_probe_writes_predict(const struct kwhy_probe_writes *writes, const struct kwhy_probe_reach *reach,
	struct kwhy_probe_saved *out);

/*
 * Learns from the chunks of a launch; a chunk's word in `changed` is 0 if it has not changed. Returns whether
 * all changes were predicted.
 */
bool kwhy_probe_writes_learn(struct kwhy_probe_writes *writes, const struct kwhy_probe_reach *reach,
	const struct kwhy_probe_saved *saved, const uint64_t *changed);

/* Are predictions for such launches reliable enough that the launch need not be observed? */
bool kwhy_probe_writes_are_sure(const struct kwhy_probe_writes *writes, const struct kwhy_probe_reach *reach);

/* Can the kernel's writes be predicted at all? */
bool kwhy_probe_writes_are_regular(const struct kwhy_probe_writes *writes);

#endif
