/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_DRIVER_H
#define KWHY_VENDOR_DRIVER_H

#include "base/status.h"
#include "vendor/hip_abi.h"

#include <stdbool.h>

/*
 * The driver by which work is run on a GPU, as found on this machine: NVIDIA's (CUDA's driver interface) or
 * AMD's (HIP). HIP has CUDA's calls under other names in the same binary shape, down to the numbers of
 * results and flags, so both fill one table, in CUDA's types; the few that differ are functions below. An
 * optional call that is not there is a NULL slot.
 */
enum kwhy_driver_vendor { KWHY_DRIVER_CUDA, KWHY_DRIVER_HIP };

/* What is asked of a device; each vendor has numbers of its own. */
enum kwhy_driver_attribute {
	KWHY_DRIVER_MULTIPROCESSORS,
	KWHY_DRIVER_THREADS_PER_MULTIPROCESSOR,
	KWHY_DRIVER_REGISTERS_PER_MULTIPROCESSOR,
	KWHY_DRIVER_SHARED_BYTES_PER_MULTIPROCESSOR,
	KWHY_DRIVER_CAPABILITY_MAJOR,
	KWHY_DRIVER_CAPABILITY_MINOR,
	KWHY_DRIVER_COPY_ENGINES,
	KWHY_DRIVER_PAGEABLE_ACCESS,
	KWHY_DRIVER_CONCURRENT_MANAGED_ACCESS,
	KWHY_DRIVER_COOPERATIVE_LAUNCH,
	KWHY_DRIVER_MEMORY_POOLS,
	KWHY_DRIVER_ATTRIBUTE_COUNT
};

struct kwhy_driver {
	enum kwhy_driver_vendor vendor;
	void *library;
#define X(slot, cuda, hip, need) __typeof__(cuda) *slot;
#include "vendor/driver_calls.def"
#undef X
	/* Where the two differ; of the other vendor they are NULL. */
	struct {
		__typeof__(cuGetErrorString) *error_string;
		__typeof__(cuDevicePrimaryCtxRetain) *context_retain;
		__typeof__(cuDevicePrimaryCtxRelease_v2) *context_release;
		__typeof__(cuCtxSetCurrent) *context_set;
		__typeof__(cuCtxEnablePeerAccess) *peer_enable;
		__typeof__(cuMemcpy) *copy_now;
		__typeof__(cuMemcpyAsync) *copy;
		__typeof__(cuMemcpyBatchAsync) *batch_12;
		__typeof__(cuMemcpyBatchAsync_v2) *batch_13;
		__typeof__(cuPointerGetAttribute) *pointer_attribute;
		__typeof__(cuFuncGetAttribute) *function_get;
		__typeof__(cuFuncSetAttribute) *function_set;
		__typeof__(cuLaunchKernelEx) *launch_with;
	} cuda;
	struct {
		__typeof__(hipGetErrorString) *error_string;
		__typeof__(hipSetDevice) *device_set;
		__typeof__(hipDeviceEnablePeerAccess) *peer_enable;
		__typeof__(hipMemcpy) *copy_now;
		__typeof__(hipMemcpyAsync) *copy;
	} hip;
};

/*
 * Loads and initialises the driver; makes no context, so the device stays as idle as it was.
 * KWHY_E_UNSUPPORTED, with the reason and the cure, where the driver or its GPU is missing. End with
 * kwhy_driver_close().
 */
KWHY_MUST_USE enum kwhy_status kwhy_driver_open(
	enum kwhy_driver_vendor vendor, struct kwhy_driver *out, struct kwhy_error *error);
void kwhy_driver_close(struct kwhy_driver *driver);

/* Why a call failed, to follow "...: ". Lent by the library. */
const char *kwhy_driver_words(const struct kwhy_driver *driver, enum kwhy_cuda_result result);

/* "13.0": of CUDA that the driver speaks, or of HIP; "": unknown. */
void kwhy_driver_version(const struct kwhy_driver *driver, char out[16]);

/* 0: unknown. */
int kwhy_driver_attribute(
	const struct kwhy_driver *driver, enum kwhy_driver_attribute attribute, kwhy_cuda_device device);

/* The context that programs on a device share; makes it if it is not there. NULL with HIP, which keeps it. */
enum kwhy_cuda_result kwhy_driver_context_retain(
	const struct kwhy_driver *driver, kwhy_cuda_device device, kwhy_cuda_context *out);
void kwhy_driver_context_release(const struct kwhy_driver *driver, kwhy_cuda_device device);
/* What the calling thread calls next is for this device. */
enum kwhy_cuda_result kwhy_driver_enter(
	const struct kwhy_driver *driver, kwhy_cuda_device device, kwhy_cuda_context context);
/* The device that the thread has entered reaches `peer` from now on. */
enum kwhy_cuda_result kwhy_driver_peer_enable(
	const struct kwhy_driver *driver, kwhy_cuda_device peer, kwhy_cuda_context peer_context);

/* Returns when the bytes are there, for every stream. */
enum kwhy_cuda_result kwhy_driver_copy_now(
	const struct kwhy_driver *driver, kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes);
/* The plain call, where one end is the host's: pageable to device, it returns when they may be overwritten.
 */
enum kwhy_cuda_result kwhy_driver_copy_host_now(
	const struct kwhy_driver *driver, kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes);

enum kwhy_cuda_result kwhy_driver_copy(const struct kwhy_driver *driver, kwhy_cuda_address to,
	kwhy_cuda_address from, size_t bytes, kwhy_cuda_stream stream);
bool kwhy_driver_has_batch(const struct kwhy_driver *driver);
/* In the order of the stream as a whole; only where there is one. The arrays are read before it returns. */
enum kwhy_cuda_result kwhy_driver_copy_batch(const struct kwhy_driver *driver, kwhy_cuda_address *to,
	kwhy_cuda_address *from, size_t *bytes, size_t count, kwhy_cuda_stream stream);

/*
 * As slot launch, of one dimension, but the kernel may begin before what is queued before it has ended and
 * waits for that itself (griddepcontrol.wait). Where the driver knows no such launch, it begins after it.
 */
enum kwhy_cuda_result kwhy_driver_launch_early(const struct kwhy_driver *driver, kwhy_cuda_function function,
	unsigned blocks, unsigned threads_per_block, unsigned shared_bytes, kwhy_cuda_stream stream,
	void **arguments);

/*
 * Lets launches of a kernel ask for so much dynamic shared memory. On CUDA that has to be said before where
 * it is more than 48 KiB together with what the kernel has by itself.
 */
enum kwhy_cuda_result kwhy_driver_allow_shared(
	const struct kwhy_driver *driver, kwhy_cuda_function function, unsigned shared_bytes);

#endif
