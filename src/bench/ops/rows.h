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
	uint64_t from, to, peer; /* device addresses of large buffers: `from` and `to` on the first GPU,
				    `peer` on the second */
	uint64_t bytes;		 /* size of each of these buffers */
	struct kwhy_gpu_host host;
	struct kwhy_gpu_graph *graph;	/* a graph of empty kernels; NULL: not made yet */
	struct kwhy_collectives *group; /* group for collectives; NULL: there is none */
	uint64_t group_places[KWHY_COLLECTIVES_MEMBERS_MAX];
	const struct kwhy_gpu_kernel *kernel; /* kernel of the current row */
	uint32_t blocks, rounds; /* blocks: number of blocks of a launch; rounds: number of rounds that each
				    thread does (kernels/ops.cu) */
};

struct kwhy_ops_row {
	const char *id, *title, *unit;
	enum kwhy_ops_class class;
	const char *kernel;  /* name of the row's kernel; NULL: the row has no kernel */
	int architecture;    /* lowest CUDA architecture that has the instructions, such as 80; 0: any */
	bool on_host;	     /* whether the host back end can run the row */
	uint32_t gpus;	     /* number of GPUs without which the row is not run */
	bool queued;	     /* true: operations are only queued; false: the host waits for each operation */
	double thread_count; /* class compute and mixed: units (FLOP or OP) that a thread does in one round */
	uint64_t
		most_bytes; /* class memory: number of bytes of the buffer that are read or written; 0: all */
	double byte_count; /* class memory: bytes counted for each used byte of the buffer in one round: 1, or
			      2 for a copy, which reads and writes */
	/*
	 * Queues one batch of the row's operations and adds the units of its work to *count. If the unit is
	 * not B, also adds the bytes that it moves to *bytes. May wait until the operations have ended.
	 */
	enum kwhy_status (*issue)(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *count,
		double *bytes, struct kwhy_error *error);
};

extern const struct kwhy_ops_row kwhy_ops_rows[];
extern const size_t kwhy_ops_row_count;

enum { KWHY_OPS_THREADS = 256 };

#endif
