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
	uint64_t from, to, peer; /* device addresses of large buffers; peer: on the second GPU */
	uint64_t bytes;		 /* size of each buffer */
	struct kwhy_gpu_host host;
	struct kwhy_gpu_graph *graph;	/* a graph of empty kernels; NULL: not made yet */
	struct kwhy_collectives *group; /* NULL: no collectives */
	uint64_t group_places[KWHY_COLLECTIVES_MEMBERS_MAX];
	const struct kwhy_gpu_kernel *kernel; /* kernel of the current row */
	uint32_t blocks, rounds;	      /* parameters of one launch */
};

struct kwhy_ops_row {
	const char *id, *title, *unit;
	enum kwhy_ops_class class;
	const char *kernel;  /* NULL: the row has no kernel */
	int architecture;    /* least CUDA architecture */
	bool on_host;	     /* runs on the host back end */
	uint32_t gpus;	     /* number of GPUs needed */
	bool queued;	     /* launches are queued without waiting for each one */
	double thread_count; /* units that a thread does in a round */
	uint64_t most_bytes; /* bytes of the buffer that are used; 0: all */
	double byte_count;   /* units for each byte of that buffer in a round */
	/* Queues one batch and adds its units to *count and its bytes to *bytes. It may wait. */
	enum kwhy_status (*issue)(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *count,
		double *bytes, struct kwhy_error *error);
};

extern const struct kwhy_ops_row kwhy_ops_rows[];
extern const size_t kwhy_ops_row_count;

enum { KWHY_OPS_THREADS = 256 };

#endif
