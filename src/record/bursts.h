/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_BURSTS_H
#define KWHY_RECORD_BURSTS_H

#include "base/arena.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A kernel that kwhy probe has repeated, by name, number of blocks in the grid and number of threads in a
 * block. `writer` identifies the recorded process; name_id is an id among the names of that process.
 */
struct kwhy_record_burst_kernel {
	uint64_t writer;
	uint32_t name_id, blocks;
	uint16_t threads_per_block;
	const char *name; /* mangled name, shortened if it is very long; NULL: its NAME record was lost */
};

/* Zero-initialise; end with kwhy_record_burst_kernels_done(). */
struct kwhy_record_burst_kernels {
	struct kwhy_record_burst_kernel *rows;
	size_t count, capacity;
	struct kwhy_arena arena;
};

/*
 * Reads the kernels of the recording at `path` that were repeated: for each process one row for each
 * combination of name, number of blocks and number of threads.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_burst_kernels_read(
	struct kwhy_record_burst_kernels *kernels, const char *path, struct kwhy_error *error);
void kwhy_record_burst_kernels_done(struct kwhy_record_burst_kernels *kernels);

#endif
