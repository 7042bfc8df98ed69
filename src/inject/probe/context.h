/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_CONTEXT_H
#define KWHY_INJECT_PROBE_CONTEXT_H

#include "vendor/cuda_probe.h"

#include <stdbool.h>
#include <stdint.h>

/* Number of sums of hashes that a burst keeps, and the bytes reserved for them. */
enum { KWHY_PROBE_SUMS = 8, KWHY_PROBE_SUMS_BYTES = 4096 };

/* What the prober allocates in a context of the program: made at the first burst there and kept. */
struct kwhy_probe_context {
	kwhy_cuda_context context; /* NULL: free */
	bool is_ready, has_failed;
	enum kwhy_cuda_result failure; /* valid if has_failed */
	kwhy_cuda_function hash, chunks;
	kwhy_cuda_event start, end;
	kwhy_cuda_address sums; /* start of the allocation, which also holds the copies: */
	kwhy_cuda_address copies;
	uint64_t copies_bytes;
	uint64_t *sums_host;
	kwhy_cuda_address table; /* one 64-bit word for each chunk; 0: not allocated yet */
	uint64_t *table_host;
	bool has_no_table;
};

/*
 * Prepares the current context. `limit_bytes`: memory for the copies; 0: a tenth of the free memory, at most
 * 1 GiB. False: it failed, now or before.
 */
bool kwhy_probe_context_prepare(
	const struct kwhy_cuda_probe *driver, struct kwhy_probe_context *probe_context, uint64_t limit_bytes);

/* Does this address lie in the memory that the prober allocated in the context? */
bool kwhy_probe_context_holds(const struct kwhy_probe_context *probe_context, kwhy_cuda_address address);

/* Adds the hash of a range of memory to sum number `sum`. */
enum kwhy_cuda_result kwhy_probe_context_hash(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_context *probe_context, kwhy_cuda_address address, uint64_t bytes,
	unsigned sum, kwhy_cuda_stream stream);

/*
 * A range of memory whose chunks are hashed: each hash, times `factor`, is added to the chunk's word in the
 * table, and all are added to sum number `sum`.
 */
struct kwhy_probe_chunks {
	kwhy_cuda_address address;
	uint64_t bytes, first; /* length; number of the first chunk */
	int64_t factor;
	unsigned sum;
};

/*
 * Allocates the table if it does not exist. False: the allocation failed, or `chunks` is more than the table
 * holds.
 */
bool kwhy_probe_context_has_table(
	const struct kwhy_cuda_probe *driver, struct kwhy_probe_context *probe_context, uint64_t chunks);

enum kwhy_cuda_result kwhy_probe_context_hash_chunks(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_context *probe_context, const struct kwhy_probe_chunks *chunks,
	kwhy_cuda_stream stream);

#endif
