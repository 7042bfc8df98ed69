/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_CONTEXT_H
#define KWHY_INJECT_PROBE_CONTEXT_H

#include "vendor/cuda_probe.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A burst adds hashes of memory to KWHY_PROBE_SUMS 64-bit sums on the device (burst.c); KWHY_PROBE_SUMS_BYTES
 * are reserved for them.
 */
enum { KWHY_PROBE_SUMS = 8, KWHY_PROBE_SUMS_BYTES = 4096 };

/*
 * What the prober allocates in one context of the program. It is allocated at the context's first burst and
 * kept.
 */
struct kwhy_probe_context {
	kwhy_cuda_context context; /* NULL: the entry is free */
	bool is_ready, has_failed;
	enum kwhy_cuda_result failure; /* valid if has_failed: the driver's result */
	kwhy_cuda_function hash, chunks;
	kwhy_cuda_event start, end;
	kwhy_cuda_address sums; /* device address of the sums. `copies`, the buffers for copies of the
				   program's memory, is in the same allocation. */
	kwhy_cuda_address copies;
	uint64_t copies_bytes;
	uint64_t *sums_host;
	kwhy_cuda_address table; /* device address of the table of chunks, with a 64-bit word for each; 0: not
				    allocated yet */
	uint64_t *table_host;
	bool has_no_table;
};

/*
 * Prepares the current context. `limit_bytes`: how much memory to allocate for the copies; 0: a tenth of the
 * free memory, at most 1 GiB. Does nothing if an earlier call has prepared it. False: this or an earlier call
 * failed.
 */
bool kwhy_probe_context_prepare(
	const struct kwhy_cuda_probe *driver, struct kwhy_probe_context *probe_context, uint64_t limit_bytes);

/* Whether this address lies in the memory that the prober allocated in the context. */
bool kwhy_probe_context_holds(const struct kwhy_probe_context *probe_context, kwhy_cuda_address address);

/* Queues a kernel that adds the hash of a range of memory to sum number `sum`. */
enum kwhy_cuda_result kwhy_probe_context_hash(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_context *probe_context, kwhy_cuda_address address, uint64_t bytes,
	unsigned sum, kwhy_cuda_stream stream);

/*
 * Arguments of kwhy_probe_context_hash_chunks(): a range of memory that is hashed in chunks. The hash of each
 * chunk, times `factor`, is added to the chunk's word in the table. All hashes are also added to sum number
 * `sum`.
 */
struct kwhy_probe_chunks {
	kwhy_cuda_address address;
	uint64_t bytes, first; /* length in bytes; index in the table of the range's first chunk */
	int64_t factor;
	unsigned sum;
};

/*
 * Allocates the table of chunks if it does not exist. False: the allocation failed, or `chunks` is more than
 * the table holds.
 */
bool kwhy_probe_context_has_table(
	const struct kwhy_cuda_probe *driver, struct kwhy_probe_context *probe_context, uint64_t chunks);

enum kwhy_cuda_result kwhy_probe_context_hash_chunks(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_context *probe_context, const struct kwhy_probe_chunks *chunks,
	kwhy_cuda_stream stream);

#endif
