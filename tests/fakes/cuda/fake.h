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
 * A CUDA driver without a GPU. Device memory is host memory. A stream is a queue of operations. Every call
 * of the driver first does its own part and then runs, in the calling thread, all queued operations that
 * can run. A wait for an event blocks the operations after it in its stream, and so does kwhy's gate kernel
 * until the host opens the gate.
 *
 * The kernels of bench/calibration/load.c only occupy the time that their arguments ask for, write the time
 * stamps that a device would write, and report their power to the fake NVML in the file KWHY_FAKE_GPU_LOAD
 * (tests/fakes/gpu_load.h). All other kernels are C functions that a test passes to
 * kwhy_fake_gpu_kernels(). Copies larger than FAKE_COPY_MAX_BYTES move no bytes.
 *
 * The environment variable KWHY_FAKE_CUDA selects what differs:
 *   no-device           there is no GPU
 *   no-memory           device memory cannot be allocated
 *   launch-fails        every launch after the tenth fails
 *   gate-opens          the gate kernel blocks nothing
 *   kernels-meet        each kernel of a test runs in its own thread, so that it can wait for data from a
 *                       kernel on another device
 *   fail:CALL:N:RESULT  the Nth call of the function CALL since the start of the driver returns RESULT; if
 *                       RESULT is an error that destroys the context, so do all later calls of any function
 *
 * KWHY_FAKE_CUDA_DEVICES is the number of devices, 1 if unset. If KWHY_FAKE_CUDA_SHARED is set, other
 * processes can open device memory by its IPC handle.
 */
enum { FAKE_DEVICES_MAX = 4, FAKE_COPY_MAX_BYTES = 64 << 20, FAKE_SHARED_BYTES_MAX = 227 << 10 };

/* Names and attributes that the fake devices report. */
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

#define FAKE_IDLE_MW 121500 /* power of a device with a context and nothing running */

enum fake_kind { FAKE_COPY, FAKE_FILL, FAKE_KERNEL, FAKE_RECORD, FAKE_WAIT, FAKE_CALL, FAKE_CHILD };

/* A kernel: one of kwhy's load kernels, known by name, or a C function of a test. */
struct kwhy_cuda_function_opaque {
	struct kwhy_gpu_host_kernel host; /* run is NULL for a load kernel */
	int64_t length_ns, power_mw;	  /* length_ns -1: argument 0 is the length */
	/* index of the argument that points to the time stamps; -1: the kernel writes none */
	int stamps;
	unsigned shared_bytes; /* dynamic shared memory that a launch may ask for */
};

struct kwhy_cuda_event_opaque {
	uint64_t recorded, reached; /* recorded: how often the event was queued in a stream; reached: how
				       often a stream has reached it */
	int64_t time_ns;
	unsigned waiting; /* queued operations that refer to the event */
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
	int64_t started_ns; /* start of a gate that still blocks its stream; 0: not started */
	kwhy_cuda_event event;
	uint64_t ticket;
	bool (*call)(void *context); /* function of another fake; returns false until it is done */
	void *context;
	/*
	 * in an executable graph: the node of the captured graph of which this operation is the copy
	 */
	const struct fake_operation *node;
	struct kwhy_cuda_graph_opaque *child;
	struct fake_running *running; /* state of a kernel that runs in a thread; NULL: none runs */
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
	kwhy_cuda_graph graph; /* the graph that a capture of the stream fills; NULL: no capture */
	/* time at which a real device would have finished the operations run so far */
	int64_t free_at_ns;
};

struct kwhy_cuda_context_opaque {
	int device;
	bool reaches[FAKE_DEVICES_MAX];
};

/*
 * Makes the kernels of a test, C functions, known to the driver. The array `kernels` ends with an entry whose
 * name is NULL, and must stay valid as long as the driver is used.
 */
__attribute__((visibility("default"))) void kwhy_fake_gpu_kernels(const struct kwhy_gpu_host_kernel *kernels);

/* Runs all queued operations that can run, as every call of the driver does. */
__attribute__((visibility("default"))) enum kwhy_cuda_result kwhy_fake_gpu_turn(void);

/*
 * Queues a function of another fake in a stream. It is called repeatedly, and blocks the stream, until it
 * returns true.
 */
__attribute__((visibility("default"))) enum kwhy_cuda_result kwhy_fake_gpu_call(
	kwhy_cuda_stream stream, bool (*call)(void *context), void *context);

/*
 * Takes the lock and returns KWHY_CUDA_SUCCESS, or returns the error with which the call must fail, without
 * the lock.
 */
enum kwhy_cuda_result fake_begin(const char *call);
/* Runs all queued operations that can run, releases the lock and returns `result`. */
enum kwhy_cuda_result fake_end(enum kwhy_cuda_result result);
#define BEGIN(call)                                               \
	do {                                                      \
		enum kwhy_cuda_result refused = fake_begin(call); \
		if (refused != KWHY_CUDA_SUCCESS)                 \
			return refused;                           \
	} while (0)

/* Allocates zeroed memory that is freed at the latest with the last context. The caller holds the lock. */
void *fake_new(size_t bytes);
void fake_free(void *memory);

bool fake_asked_for(const char *scenario);
int64_t fake_now_ns(void);
int fake_device_count(void);
int fake_current_device(void); /* device of the calling thread's context; -1: it has none */

void fake_streams_start(void);
void fake_streams_end(void);
void fake_memory_end(void);
/*
 * A copy may return before its bytes have reached the device (see fake_memory.c). Writes the bytes of such a
 * copy to the device, if there is one. Called where the default stream makes progress.
 */
void fake_memory_land(void);
void fake_run_all(void);
void fake_queue_put(struct fake_queue *queue, const struct fake_operation *operation);
/*
 * Appends an operation to a stream, or to the graph that the stream captures. NULL is the default stream of
 * the current device.
 */
enum kwhy_cuda_result fake_put(kwhy_cuda_stream stream, const struct fake_operation *operation);

void fake_kernels_start(void);
kwhy_cuda_function fake_kernel_new(const char *name); /* returns NULL if no kernel has that name */
void fake_context_power(bool on);
/* Runs a kernel, or continues one that runs. Returns false while it blocks its stream. */
bool fake_kernel_run(struct fake_operation *operation, kwhy_cuda_stream stream);
/* Waits for the end of a kernel that runs in a thread; returns at once if none does. */
void fake_kernel_end(struct fake_operation *operation);
/* Waits for all kernels that run in threads, so that memory they use can be freed. */
void fake_streams_settle(void);

#endif
