/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_BUFFERS_H
#define KWHY_BENCH_TRANSFERS_BUFFERS_H

#include "bench/transfers/kernels.h"
#include "gpu/gpu.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Buffers on the host and the device between which transfers are measured. They are made once and shared by
 * all strategies, because making a buffer takes longer than most transfers. Source buffers hold the
 * pseudo-random pattern of `seed`. If memory is short, buffers that the current work does not use are freed;
 * if that is not enough, the new buffer is made only as large as the work needs. KWHY_E_MEMORY: even that
 * buffer could not be made. Only one thread may use them.
 */
enum kwhy_bench_memory {
	KWHY_BENCH_PAGEABLE,
	KWHY_BENCH_PINNED,
	KWHY_BENCH_WRITE_COMBINED,
	KWHY_BENCH_REGISTERED,
	KWHY_BENCH_MANAGED,
	KWHY_BENCH_NEAR, /* page-locked, on the device's NUMA node */
	KWHY_BENCH_FAR,	 /* page-locked, on another NUMA node */
	KWHY_BENCH_MEMORY_COUNT
};

enum kwhy_bench_role {
	KWHY_BENCH_SOURCE,
	KWHY_BENCH_SINK,
	KWHY_BENCH_STAGING, /* intermediate buffer; its contents are undefined */
	KWHY_BENCH_ROLE_COUNT
};

enum { KWHY_BENCH_STREAMS = 4 };

struct kwhy_bench_buffers {
	struct kwhy_gpu *gpu;
	/* usable size of a buffer in bytes if memory is not short; 1 MiB more is allocated */
	size_t capacity;
	size_t need;  /* bytes that the current work needs of each buffer; 0: the capacity */
	uint32_t use; /* number of calls of kwhy_bench_buffers_begin() so far */
	uint32_t seed;
	/*
	 * seed of the pseudo-random offsets in the buffers at which the transferred bytes begin (small
	 * transfers only); 0: at the start of the buffers
	 */
	uint64_t places;
	/* file with the data for compressed transfers; NULL: they send the pattern */
	const char *data_path;
	uint64_t device[KWHY_BENCH_ROLE_COUNT]; /* device addresses; 0: not made yet */
	struct kwhy_gpu_host host[KWHY_BENCH_MEMORY_COUNT][KWHY_BENCH_ROLE_COUNT];
	struct kwhy_bench_buffer {
		size_t bytes; /* usable size in bytes */
		uint32_t use; /* value of `use` above when the buffer was last used */
	} device_buffers[KWHY_BENCH_ROLE_COUNT], host_buffers[KWHY_BENCH_MEMORY_COUNT][KWHY_BENCH_ROLE_COUNT];
	uint64_t counter; /* device address of a 64-bit counter that kernels add to */
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernels[KWHY_BENCH_KERNEL_COUNT];
	struct kwhy_gpu_stream *streams[KWHY_BENCH_STREAMS];
	struct kwhy_gpu_event *fork, *joins[KWHY_BENCH_STREAMS], *begin, *end;
	struct kwhy_gpu_gate *gate;
	struct kwhy_bench_packet *packet; /* data of compressed transfers; NULL: not made yet */
	float *numbers; /* floats that conversions start from, in pageable memory; NULL: not made yet */
	FILE *file;	/* file that loaders read; NULL: not written yet */
	double copy_s_per_byte; /* time of a large copy divided by its bytes; measured together with `rounds`
				 */
	/*
	 * argument `rounds` with which kwhy_transfer_work() takes as long as a copy of the same number of
	 * bytes; 0: not measured yet
	 */
	uint32_t rounds;
};

KWHY_MUST_USE enum kwhy_status kwhy_bench_buffers_new(struct kwhy_gpu *gpu, size_t capacity, uint32_t seed,
	struct kwhy_bench_buffers **out, struct kwhy_error *error);
void kwhy_bench_buffers_free(struct kwhy_bench_buffers *buffers);

/*
 * Begins work that needs `need` bytes of each buffer that it uses. From now on, buffers that only earlier
 * work used may be freed when memory is short.
 */
void kwhy_bench_buffers_begin(struct kwhy_bench_buffers *buffers, size_t need);

/*
 * kwhy_bench_device() and kwhy_bench_host() get the buffer of `role`: the address at which the work's bytes
 * begin. The buffer is made when it is first used, and made again if it is too small for the current work.
 * KWHY_E_MEMORY: memory is short. KWHY_E_UNSUPPORTED: this machine has no such memory.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_device(struct kwhy_bench_buffers *buffers,
	enum kwhy_bench_role role, uint64_t *out_address, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_bench_host(struct kwhy_bench_buffers *buffers,
	enum kwhy_bench_memory memory, enum kwhy_bench_role role, struct kwhy_gpu_host *out,
	struct kwhy_error *error);
/*
 * Gets the address by which kernels access a host buffer. KWHY_E_UNSUPPORTED: kernels cannot access host
 * memory.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_mapped(struct kwhy_bench_buffers *buffers,
	enum kwhy_bench_memory memory, enum kwhy_bench_role role, uint64_t *out_address,
	struct kwhy_error *error);

/*
 * Launches a kernel on `stream` with about one thread for each of `items`, but with at most 8 blocks of 256
 * threads for each multiprocessor.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_launch(struct kwhy_bench_buffers *buffers,
	enum kwhy_bench_kernel kernel, uint64_t items, void **arguments, struct kwhy_gpu_stream *stream,
	struct kwhy_error *error);

KWHY_MUST_USE enum kwhy_status kwhy_bench_counter_clear(
	struct kwhy_bench_buffers *buffers, struct kwhy_error *error);
/* Waits until the first stream is empty and reads the device's counter (`counter`). */
KWHY_MUST_USE enum kwhy_status kwhy_bench_counter_read(
	struct kwhy_bench_buffers *buffers, uint64_t *out, struct kwhy_error *error);

#endif
