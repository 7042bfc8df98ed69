/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_SPACE_H
#define KWHY_BENCH_TRANSFERS_SPACE_H

#include "bench/transfers/kernels.h"
#include "gpu/gpu.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Buffers of the host and the device between which transfers are measured. They are made once and used by
 * every strategy, since making them takes longer than most transfers. Sources hold the pattern of the seed.
 * Where memory is short, buffers that the current work does not use are freed, and then a buffer is made only
 * as large as the work needs. So a size that does not fit fails with KWHY_E_MEMORY, and smaller ones are
 * measured. For one thread.
 */
enum kwhy_bench_memory {
	KWHY_BENCH_PAGEABLE,
	KWHY_BENCH_PINNED,
	KWHY_BENCH_WRITE_COMBINED,
	KWHY_BENCH_REGISTERED,
	KWHY_BENCH_MANAGED,
	KWHY_BENCH_NEAR, /* pinned, on the device's NUMA node */
	KWHY_BENCH_FAR,	 /* pinned, on another NUMA node */
	KWHY_BENCH_MEMORY_COUNT
};

enum kwhy_bench_role {
	KWHY_BENCH_SOURCE,
	KWHY_BENCH_SINK,
	KWHY_BENCH_STAGING, /* intermediate buffer with any contents */
	KWHY_BENCH_ROLE_COUNT
};

enum { KWHY_BENCH_STREAMS = 4 };

struct kwhy_bench_buffers {
	struct kwhy_gpu *gpu;
	size_t capacity; /* bytes of every buffer where memory is not short, plus a megabyte of slack */
	size_t need;	 /* bytes that the current work needs of a buffer; 0: the capacity */
	uint32_t use;	 /* number of the current work */
	uint32_t seed;
	uint64_t places;       /* seed for where in larger buffers the work's bytes lie; 0: at the start */
	const char *data_path; /* file with the data of compressed transfers; NULL: the pattern */
	uint64_t device[KWHY_BENCH_ROLE_COUNT]; /* 0: not made yet */
	struct kwhy_gpu_host host[KWHY_BENCH_MEMORY_COUNT][KWHY_BENCH_ROLE_COUNT];
	struct kwhy_bench_buffer {
		size_t bytes; /* usable size */
		uint32_t use; /* number of the last work that used it */
	} device_buffers[KWHY_BENCH_ROLE_COUNT], host_buffers[KWHY_BENCH_MEMORY_COUNT][KWHY_BENCH_ROLE_COUNT];
	uint64_t counter; /* address of 8 bytes on the device, which kernels add to */
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernels[KWHY_BENCH_KERNEL_COUNT];
	struct kwhy_gpu_stream *streams[KWHY_BENCH_STREAMS];
	struct kwhy_gpu_event *fork, *joins[KWHY_BENCH_STREAMS], *begin, *end;
	struct kwhy_gpu_gate *gate;
	struct kwhy_bench_packet *packet; /* compressed data, which is kept; NULL: not made yet */
	float *numbers;			  /* input of conversions, pageable; NULL: not made yet */
	FILE *file;			  /* input of loaders; NULL: not written yet */
	double copy_s_per_byte;		  /* seconds a byte of a copy, measured with `rounds` */
	uint32_t rounds; /* rounds of the work kernel that take as long as the copy; 0: unknown */
};

KWHY_MUST_USE enum kwhy_status kwhy_bench_buffers_new(struct kwhy_gpu *gpu, size_t capacity, uint32_t seed,
	struct kwhy_bench_buffers **out, struct kwhy_error *error);
void kwhy_bench_buffers_free(struct kwhy_bench_buffers *buffers);

/* Begins a work that uses `need` bytes of any buffer. Buffers of earlier works may be freed from now on. */
void kwhy_bench_buffers_begin(struct kwhy_bench_buffers *buffers, size_t need);

/* Gets a buffer. It is made on first use, and again where it is too small for the current work. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_device(struct kwhy_bench_buffers *buffers,
	enum kwhy_bench_role role, uint64_t *out_address, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_bench_host(struct kwhy_bench_buffers *buffers,
	enum kwhy_bench_memory memory, enum kwhy_bench_role role, struct kwhy_gpu_host *out,
	struct kwhy_error *error);
/* Gets a host buffer's address for kernels. KWHY_E_UNSUPPORTED: kernels cannot access host memory. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_mapped(struct kwhy_bench_buffers *buffers,
	enum kwhy_bench_memory memory, enum kwhy_bench_role role, uint64_t *out_address,
	struct kwhy_error *error);

/* Launches a kernel on `stream` with one thread for each of `items`, at most as many as fill the device. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_launch(struct kwhy_bench_buffers *buffers,
	enum kwhy_bench_kernel kernel, uint64_t items, void **arguments, struct kwhy_gpu_stream *stream,
	struct kwhy_error *error);

KWHY_MUST_USE enum kwhy_status kwhy_bench_counter_clear(
	struct kwhy_bench_buffers *buffers, struct kwhy_error *error);
/* Waits for the first stream and reads the counter. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_counter_read(
	struct kwhy_bench_buffers *buffers, uint64_t *out, struct kwhy_error *error);

#endif
