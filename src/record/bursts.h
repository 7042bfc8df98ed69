/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_BURSTS_H
#define KWHY_RECORD_BURSTS_H

#include "base/arena.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A kernel name with its grid and block size that kwhy probe has repeated. Ids are those of the process
 * that recorded it.
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
 * Reads the probed kernels of the recording at `path`. Each process has one row for each kernel name with its
 * grid and block size.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_burst_kernels_read(
	struct kwhy_record_burst_kernels *kernels, const char *path, struct kwhy_error *error);
void kwhy_record_burst_kernels_done(struct kwhy_record_burst_kernels *kernels);

#endif
