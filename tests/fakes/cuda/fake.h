/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_FAKES_CUDA_FAKE_H
#define KWHY_TESTS_FAKES_CUDA_FAKE_H

#include "gpu/gpu.h"
#include "vendor/hip_abi.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A driver without a GPU. Device memory is host memory. A stream is a queue; any call runs what can be run
 * of all of them, in order, on its own thread; events and kwhy's gate hold a stream back. Kernels of
 * bench/calibration/load.c "run" for the time they are asked to, write the stamps a device would, and tell
 * the fake NVML through KWHY_FAKE_GPU_LOAD what power they draw (tests/fakes/gpu_load.h). Other kernels are C
 * functions that a test gives to kwhy_fake_gpu_kernels(). Copies above FAKE_COPY_MAX_BYTES move nothing.
 *
 * KWHY_FAKE_CUDA=no-device: no GPU; =no-memory: device memory cannot be had; =launch-fails: every launch
 * after the tenth fails; =kernels-meet: kernels of a test run on threads, as those must that wait for what
 * those of another device tell them; =fail:CALL:N:RESULT: the Nth call of CALL since the driver was started
 * gives RESULT, and if the context dies of that, so does every later call of any kind.
 * KWHY_FAKE_CUDA_DEVICES: how many, 1 without. KWHY_FAKE_CUDA_SHARED: device memory that other processes can
 * open.
 */
enum { FAKE_DEVICES_MAX = 4, FAKE_COPY_MAX_BYTES = 64 << 20, FAKE_SHARED_BYTES_MAX = 227 << 10 };

/* What the devices say of themselves. */
#ifdef FAKE_HIP
#define FAKE_NAME "AMD Instinct MI210"
#define FAKE_ATTRIBUTE(name, value)              \
	{                                        \
		KWHY_HIP_ATTRIBUTE_##name, value \
	}
#define FAKE_SHARED_MAX(function) ((void)(function), 64u << 10)
#else
#define FAKE_NAME "NVIDIA H200"
#define FAKE_ATTRIBUTE(name, value)               \
	{                                         \
		KWHY_CUDA_ATTRIBUTE_##name, value \
	}
#define FAKE_SHARED_MAX(function) ((function)->shared_bytes)
#endif

#define FAKE_IDLE_MW 121500 /* with a context */

enum fake_kind { FAKE_COPY, FAKE_FILL, FAKE_KERNEL, FAKE_RECORD, FAKE_WAIT, FAKE_CALL, FAKE_CHILD };

/* A kernel: one of ours by its name, or a test's. */
struct kwhy_cuda_function_opaque {
	struct kwhy_gpu_host_kernel host; /* run NULL: of ours */
	int64_t length_ns, power_mw;	  /* length_ns -1: argument 0 says it */
	int stamps;			  /* argument that says where they go; -1: none */
	unsigned shared_bytes;		  /* that launches may ask for */
};

struct kwhy_cuda_event_opaque {
	uint64_t recorded, reached; /* how often */
	int64_t time_ns;
	unsigned waiting; /* operations that know it */
	bool timed, destroyed;
};

struct fake_operation {
	struct fake_operation *next;
	enum fake_kind kind;
	kwhy_cuda_address to, from;
	size_t bytes;
	unsigned char value;
	kwhy_cuda_function function;
	struct kwhy_gpu_grid grid;
	int64_t started_ns; /* of a gate that holds; 0: not yet */
	kwhy_cuda_event event;
	uint64_t ticket;
	bool (*call)(void *context); /* of another fake; false: not yet */
	void *context;
	const struct fake_operation *node; /* of an executable graph: that of the graph it was made of */
	struct kwhy_cuda_graph_opaque *child;
	struct fake_running *running; /* the kernel; NULL: it does not */
	uint64_t arguments[KWHY_GPU_HOST_ARGUMENT_BYTES_MAX / 8];
};

struct fake_queue {
	struct fake_operation *first, **last;
};

struct kwhy_cuda_graph_opaque {
	struct fake_queue queue;
};

struct kwhy_cuda_stream_opaque {
	struct kwhy_cuda_stream_opaque *next;
	int device;
	struct fake_queue queue;
	kwhy_cuda_graph graph; /* being recorded */
	int64_t free_at_ns;    /* when what has run will have run on a device */
};

struct kwhy_cuda_context_opaque {
	int device;
	bool reaches[FAKE_DEVICES_MAX];
};

/* Gives the kernels of a test to the driver; `kernels` ends with a NULL name and is kept. */
__attribute__((visibility("default"))) void kwhy_fake_gpu_kernels(const struct kwhy_gpu_host_kernel *kernels);

/* Runs what can be run, as every call does. */
__attribute__((visibility("default"))) enum kwhy_cuda_result kwhy_fake_gpu_turn(void);

/* Queues what another fake does in a stream; it is asked again and again until it yields true. */
__attribute__((visibility("default"))) enum kwhy_cuda_result kwhy_fake_gpu_call(
	kwhy_cuda_stream stream, bool (*call)(void *context), void *context);

/* Takes the lock; not KWHY_CUDA_SUCCESS: the call fails with that, and the lock is not taken. */
enum kwhy_cuda_result fake_begin(const char *call);
/* Runs what can be run and gives the lock back. */
enum kwhy_cuda_result fake_end(enum kwhy_cuda_result result);
#define BEGIN(call)                                               \
	do {                                                      \
		enum kwhy_cuda_result refused = fake_begin(call); \
		if (refused != KWHY_CUDA_SUCCESS)                 \
			return refused;                           \
	} while (0)

/* Zeroed memory that goes with the last context, whatever is left of it. Under the lock. */
void *fake_new(size_t bytes);
void fake_free(void *memory);

bool fake_asked_for(const char *scenario);
int64_t fake_now_ns(void);
int fake_device_count(void);
int fake_current_device(void); /* of the thread; -1: none */

void fake_streams_start(void);
void fake_streams_end(void);
void fake_memory_end(void);
/* The stream NULL goes on: what a call has not brought to the device yet is there. */
void fake_memory_land(void);
void fake_run_all(void);
void fake_queue_put(struct fake_queue *queue, const struct fake_operation *operation);
/* Into the stream, NULL: the device's own; or into the graph that it records. */
enum kwhy_cuda_result fake_put(kwhy_cuda_stream stream, const struct fake_operation *operation);

void fake_kernels_start(void);
kwhy_cuda_function fake_kernel_new(const char *name); /* NULL: no such kernel */
void fake_context_power(bool on);
/* False: it holds the stream back. */
bool fake_kernel_run(struct fake_operation *operation, kwhy_cuda_stream stream);
/* Waits for it, if it runs. */
void fake_kernel_end(struct fake_operation *operation);
/* Waits for all that run: nobody's memory goes meanwhile. */
void fake_streams_settle(void);

#endif
