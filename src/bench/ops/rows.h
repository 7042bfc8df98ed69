/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_OPS_ROWS_H
#define KWHY_BENCH_OPS_ROWS_H

#include "bench/ops/ops.h"
#include "gpu/collectives.h"

/* The inside of bench ops, for ops*.c: what is run, and what it needs. */

struct kwhy_ops_kit {
	struct kwhy_gpu *gpus[KWHY_DEVICE_ENERGY_GPUS_MAX];
	uint32_t gpu_count, seed;
	struct kwhy_gpu_module *module;
	struct kwhy_gpu_stream *stream, *other, *peer_stream;
	uint64_t from, to, peer; /* large buffers; peer: on the second GPU */
	uint64_t bytes;		 /* of each */
	struct kwhy_gpu_host host;
	struct kwhy_gpu_graph *graph;	/* of empty kernels; NULL: not yet */
	struct kwhy_collectives *group; /* NULL: none */
	uint64_t group_places[KWHY_COLLECTIVES_MEMBERS_MAX];
	const struct kwhy_gpu_kernel *kernel; /* of the row at hand */
	uint32_t blocks, rounds;	      /* of one launch */
};

struct kwhy_ops_row {
	const char *id, *title, *unit;
	enum kwhy_ops_class class;
	const char *kernel;  /* NULL: none */
	int architecture;    /* the least, of CUDA */
	bool on_host;	     /* has a form there */
	uint32_t gpus;	     /* that it needs */
	bool queued;	     /* no small one is waited for before the next */
	double thread_count; /* units of a thread and round */
	uint64_t most_bytes; /* of the buffer that is used; 0: all */
	double byte_count;   /* units of a byte of that buffer and round */
	/* Queues one batch, adds what it holds. It may wait. */
	enum kwhy_status (*issue)(struct kwhy_ops_kit *kit, const struct kwhy_ops_row *row, double *count,
		double *bytes, struct kwhy_error *error);
};

extern const struct kwhy_ops_row kwhy_ops_rows[];
extern const size_t kwhy_ops_row_count;

enum { KWHY_OPS_THREADS = 256 };

#endif
