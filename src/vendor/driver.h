/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_DRIVER_H
#define KWHY_VENDOR_DRIVER_H

#include "base/status.h"
#include "vendor/hip_abi.h"

#include <stdbool.h>

/*
 * The driver of this machine that runs work on a GPU: NVIDIA's (CUDA's driver interface) or AMD's (HIP). HIP
 * has CUDA's calls under other names and with the same binary interface, including the values of results and
 * flags. Both drivers therefore fill one table of calls, which has CUDA's types. The few calls that differ
 * are the functions below. The pointer to an optional call that the driver lacks is NULL.
 */
enum kwhy_driver_vendor { KWHY_DRIVER_CUDA, KWHY_DRIVER_HIP };

/* Attributes of a device. Each vendor has its own numbers for them. */
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
	/* Calls that only one of the vendors has. Those of the vendor that is not in use are NULL. */
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
 * Loads and initialises the driver. No context is made, so the device's idle power does not change.
 * KWHY_E_UNSUPPORTED: the driver or its GPU is missing; the message says why and what to do. End with
 * kwhy_driver_close().
 */
KWHY_MUST_USE enum kwhy_status kwhy_driver_open(
	enum kwhy_driver_vendor vendor, struct kwhy_driver *out, struct kwhy_error *error);
void kwhy_driver_close(struct kwhy_driver *driver);

/* Gets the text that says why a call failed, to follow "...: " in a message. The library owns the string. */
const char *kwhy_driver_words(const struct kwhy_driver *driver, enum kwhy_cuda_result result);

/* Gets the version of CUDA that the driver supports, or that of HIP, such as "13.0"; "": unknown. */
void kwhy_driver_version(const struct kwhy_driver *driver, char out[16]);

/* Gets the value of an attribute; 0: unknown. */
int kwhy_driver_attribute(
	const struct kwhy_driver *driver, enum kwhy_driver_attribute attribute, kwhy_cuda_device device);

/*
 * Retains the device's primary context, which is made if it does not exist. With HIP, which manages contexts
 * itself, it gives NULL.
 */
enum kwhy_cuda_result kwhy_driver_context_retain(
	const struct kwhy_driver *driver, kwhy_cuda_device device, kwhy_cuda_context *out);
void kwhy_driver_context_release(const struct kwhy_driver *driver, kwhy_cuda_device device);
/* Makes the device current for the calling thread. */
enum kwhy_cuda_result kwhy_driver_enter(
	const struct kwhy_driver *driver, kwhy_cuda_device device, kwhy_cuda_context context);
/* Lets the thread's current device access memory of device `peer` from now on. */
enum kwhy_cuda_result kwhy_driver_peer_enable(
	const struct kwhy_driver *driver, kwhy_cuda_device peer, kwhy_cuda_context peer_context);

/* Copies, and returns when the bytes are visible to every stream. */
enum kwhy_cuda_result kwhy_driver_copy_now(
	const struct kwhy_driver *driver, kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes);
/*
 * Copies by cuMemcpy or hipMemcpy; one end must be on the host. Unlike kwhy_driver_copy_now(), a CUDA copy
 * from pageable memory to the device may return before the bytes are on the device. Once it has returned,
 * the source may be overwritten.
 */
enum kwhy_cuda_result kwhy_driver_copy_host_now(
	const struct kwhy_driver *driver, kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes);

enum kwhy_cuda_result kwhy_driver_copy(const struct kwhy_driver *driver, kwhy_cuda_address to,
	kwhy_cuda_address from, size_t bytes, kwhy_cuda_stream stream);
bool kwhy_driver_has_batch(const struct kwhy_driver *driver);
/*
 * Queues a batch of copies, which as a whole has its place in the order of the stream. Call it only if the
 * driver has this call. The arrays are read before it returns.
 */
enum kwhy_cuda_result kwhy_driver_copy_batch(const struct kwhy_driver *driver, kwhy_cuda_address *to,
	kwhy_cuda_address *from, size_t *bytes, size_t count, kwhy_cuda_stream stream);

/*
 * Does the same as the call `launch` of the table, in one dimension. The kernel may begin before earlier work
 * in the stream has ended, and waits for that work itself by griddepcontrol.wait. If the driver has no such
 * launch, the kernel begins after that work.
 */
enum kwhy_cuda_result kwhy_driver_launch_early(const struct kwhy_driver *driver, kwhy_cuda_function function,
	unsigned blocks, unsigned threads_per_block, unsigned shared_bytes, kwhy_cuda_stream stream,
	void **arguments);

/*
 * Allows launches of a kernel to request this much dynamic shared memory. CUDA requires this call if the
 * dynamic and the kernel's static shared memory exceed 48 KiB in total.
 */
enum kwhy_cuda_result kwhy_driver_allow_shared(
	const struct kwhy_driver *driver, kwhy_cuda_function function, unsigned shared_bytes);

#endif
