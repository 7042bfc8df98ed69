/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_SPACE_H
#define KWHY_BENCH_TRANSFERS_SPACE_H

#include "bench/transfers/kernels.h"
#include "gpu/gpu.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Where transfers are measured: buffers at both ends that are made once and used by every strategy, since
 * making them costs more than most transfers. Sources hold the pattern of the seed. Where memory is short,
 * buffers that the current work does not use are given back, then one is made as large as that work needs
 * alone: so a size that does not fit is KWHY_E_MEMORY, and smaller ones are measured. One thread.
 */
enum kwhy_bench_memory {
	KWHY_BENCH_PAGEABLE,
	KWHY_BENCH_PINNED,
	KWHY_BENCH_WRITE_COMBINED,
	KWHY_BENCH_REGISTERED,
	KWHY_BENCH_MANAGED,
	KWHY_BENCH_NEAR, /* pinned, on the NUMA node of the device */
	KWHY_BENCH_FAR,	 /* pinned, on another one */
	KWHY_BENCH_MEMORY_COUNT
};

enum kwhy_bench_role {
	KWHY_BENCH_SOURCE,
	KWHY_BENCH_SINK,
	KWHY_BENCH_STAGING, /* holds nothing in particular */
	KWHY_BENCH_ROLE_COUNT
};

enum { KWHY_BENCH_STREAMS = 4 };

struct kwhy_bench_buffers {
	struct kwhy_gpu *gpu;
	size_t capacity; /* of every buffer where memory is not short, beside a megabyte of slack */
	size_t need;	 /* of the current work; 0: all of it */
	uint32_t use;	 /* of the current work */
	uint32_t seed;
	uint64_t places; /* says where in buffers that have space the current work lies; 0: at their beginning
			  */
	const char *data_path;			/* of compressed transfers; NULL: the pattern */
	uint64_t device[KWHY_BENCH_ROLE_COUNT]; /* 0: not made yet */
	struct kwhy_gpu_host host[KWHY_BENCH_MEMORY_COUNT][KWHY_BENCH_ROLE_COUNT];
	struct kwhy_bench_buffer {
		size_t bytes; /* that may be used */
		uint32_t use; /* the last that asked for it */
	} device_buffers[KWHY_BENCH_ROLE_COUNT], host_buffers[KWHY_BENCH_MEMORY_COUNT][KWHY_BENCH_ROLE_COUNT];
	uint64_t counter; /* 8 bytes on the device, for kernels to add to */
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernels[KWHY_BENCH_KERNEL_COUNT];
	struct kwhy_gpu_stream *streams[KWHY_BENCH_STREAMS];
	struct kwhy_gpu_event *fork, *joins[KWHY_BENCH_STREAMS], *begin, *end;
	struct kwhy_gpu_gate *gate;
	struct kwhy_bench_packet *packet; /* compressed data, kept; NULL: not made yet */
	float *numbers;			  /* to convert, pageable; NULL: not made yet */
	FILE *file;			  /* for loaders; NULL: not written yet */
	double copy_s_per_byte;		  /* as found with `rounds` */
	uint32_t rounds;		  /* of work that takes as long as copying; 0: not found yet */
};

KWHY_MUST_USE enum kwhy_status kwhy_bench_buffers_new(struct kwhy_gpu *gpu, size_t capacity, uint32_t seed,
	struct kwhy_bench_buffers **out, struct kwhy_error *error);
void kwhy_bench_buffers_free(struct kwhy_bench_buffers *buffers);

/* Begins a work that uses `need` bytes of any buffer; what others before it held may go. */
void kwhy_bench_buffers_begin(struct kwhy_bench_buffers *buffers, size_t need);

/* The buffers, made when first asked for, or again where they are too small for this work. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_device(struct kwhy_bench_buffers *buffers,
	enum kwhy_bench_role role, uint64_t *out_address, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_bench_host(struct kwhy_bench_buffers *buffers,
	enum kwhy_bench_memory memory, enum kwhy_bench_role role, struct kwhy_gpu_host *out,
	struct kwhy_error *error);
/* As kernels reach it; KWHY_E_UNSUPPORTED where they cannot. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_mapped(struct kwhy_bench_buffers *buffers,
	enum kwhy_bench_memory memory, enum kwhy_bench_role role, uint64_t *out_address,
	struct kwhy_error *error);

/* On the first stream, as many threads as `items` keep busy. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_launch(struct kwhy_bench_buffers *buffers,
	enum kwhy_bench_kernel kernel, uint64_t items, void **arguments, struct kwhy_gpu_stream *stream,
	struct kwhy_error *error);

KWHY_MUST_USE enum kwhy_status kwhy_bench_counter_clear(
	struct kwhy_bench_buffers *buffers, struct kwhy_error *error);
/* Waits for the first stream. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_counter_read(
	struct kwhy_bench_buffers *buffers, uint64_t *out, struct kwhy_error *error);

#endif
