/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_CONTEXT_H
#define KWHY_INJECT_PROBE_CONTEXT_H

#include "vendor/cuda_probe.h"

#include <stdbool.h>
#include <stdint.h>

/* Sums of hashes of one burst. */
enum { KWHY_PROBE_SUMS = 8, KWHY_PROBE_SUMS_BYTES = 4096 };

/* What the prober has in a context of the program: taken at the first burst there and kept. */
struct kwhy_probe_context {
	kwhy_cuda_context context; /* NULL: free */
	bool is_ready, has_failed;
	enum kwhy_cuda_result failure; /* why it has */
	kwhy_cuda_function hash, chunks;
	kwhy_cuda_event start, end;
	kwhy_cuda_address sums; /* and after them: */
	kwhy_cuda_address copies;
	uint64_t copies_bytes;
	uint64_t *sums_host;
	kwhy_cuda_address table; /* a word a chunk; 0: not yet */
	uint64_t *table_host;
	bool has_no_table;
};

/* `limit_bytes` of copies; 0: a tenth of the free memory, at most 1 GiB. The context is current. */
bool kwhy_probe_context_prepare(
	const struct kwhy_cuda_probe *driver, struct kwhy_probe_context *probe_context, uint64_t limit_bytes);

/* Is it an address of what was taken there? */
bool kwhy_probe_context_holds(const struct kwhy_probe_context *probe_context, kwhy_cuda_address address);

/* Adds the hash of a range of memory to one of the sums. */
enum kwhy_cuda_result kwhy_probe_context_hash(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_context *probe_context, kwhy_cuda_address address, uint64_t bytes,
	unsigned sum, kwhy_cuda_stream stream);

/* Sums of chunks of a range of memory that are added to a table, times `factor`, and all to one of the
 * sums. */
struct kwhy_probe_chunks {
	kwhy_cuda_address address;
	uint64_t bytes, first; /* the number of its first chunk */
	int64_t factor;
	unsigned sum;
};

/* Makes the table where there is none; false: it cannot be had, or that is more chunks than it has. */
bool kwhy_probe_context_has_table(
	const struct kwhy_cuda_probe *driver, struct kwhy_probe_context *probe_context, uint64_t chunks);

enum kwhy_cuda_result kwhy_probe_context_hash_chunks(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_context *probe_context, const struct kwhy_probe_chunks *chunks,
	kwhy_cuda_stream stream);

#endif
