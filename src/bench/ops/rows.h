/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_OPS_ROWS_H
#define KWHY_BENCH_OPS_ROWS_H

#include "bench/ops/ops.h"
#include "gpu/collectives.h"

/* Internals of bench ops: the rows that can be run, and the resources that they use. */

struct kwhy_ops_kit {
	struct kwhy_gpu *gpus[KWHY_DEVICE_ENERGY_GPUS_MAX];
	uint32_t gpu_count, seed;
	struct kwhy_gpu_module *module;
	struct kwhy_gpu_stream *stream, *other, *peer_stream;
	uint64_t from, to, peer; /* device addresses of large buffers; `peer` is on the second GPU */
	uint64_t bytes;		 /* size of each of these buffers */
	struct kwhy_gpu_host host;
	struct kwhy_gpu_graph *graph;	/* a graph of empty kernels; NULL: not made yet */
	struct kwhy_collectives *group; /* group for collectives; NULL: there is none */
	uint64_t group_places[KWHY_COLLECTIVES_MEMBERS_MAX];
	const struct kwhy_gpu_kernel *kernel; /* kernel of the current row */
	uint32_t blocks,
		rounds; /* number of blocks of a launch, and number of rounds that each thread does */
};

struct kwhy_ops_row {
	const char *id, *title, *unit;
	enum kwhy_ops_class class;
	const char *kernel;  /* name of the row's kernel; NULL: the row has no kernel */
	int architecture;    /* lowest CUDA architecture that has the instructions, such as 80; 0: any */
	bool on_host;	     /* whether the host back end can run the row */
	uint32_t gpus;	     /* number of GPUs that the row needs */
	bool queued;	     /* true: operations are only queued; false: the host waits for each operation */
	double thread_count; /* for arithmetic: units that a thread does in one round */
	uint64_t most_bytes; /* for memory: number of bytes of the buffer that are used; 0: all */
	double byte_count;   /* for memory: units counted for each used byte of the buffer in one round */
	/*
	 * Queues one batch of operations, and adds the number of its units to *count and of its bytes to
	 * *bytes. It may wait for the batch.
	 */
	enum kwhy_status (*issue)(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *count,
		double *bytes, struct kwhy_error *error);
};

extern const struct kwhy_ops_row kwhy_ops_rows[];
extern const size_t kwhy_ops_row_count;

enum { KWHY_OPS_THREADS = 256 };

#endif
