/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor/driver.h"

#include "base/dso.h"

#include <stdio.h>

#define ONLY(slot, name, need)                                             \
	{                                                                  \
#name, offsetof(struct kwhy_driver, slot), KWHY_DSO_##need \
	}

static const struct kwhy_dso_symbol cuda_symbols[] = {
#define X(slot, cuda, hip, need) {#cuda, offsetof(struct kwhy_driver, slot), KWHY_DSO_##need},
#include "vendor/driver_calls.def"
#undef X
	ONLY(cuda.error_string, cuGetErrorString, REQUIRED),
	ONLY(cuda.context_retain, cuDevicePrimaryCtxRetain, REQUIRED),
	ONLY(cuda.context_release, cuDevicePrimaryCtxRelease_v2, REQUIRED),
	ONLY(cuda.context_set, cuCtxSetCurrent, REQUIRED),
	ONLY(cuda.peer_enable, cuCtxEnablePeerAccess, REQUIRED),
	ONLY(cuda.copy_now, cuMemcpy, REQUIRED),
	ONLY(cuda.copy, cuMemcpyAsync, REQUIRED),
	ONLY(cuda.batch_12, cuMemcpyBatchAsync, OPTIONAL),
	ONLY(cuda.batch_13, cuMemcpyBatchAsync_v2, OPTIONAL),
	ONLY(cuda.pointer_attribute, cuPointerGetAttribute, REQUIRED),
	ONLY(cuda.function_get, cuFuncGetAttribute, REQUIRED),
	ONLY(cuda.function_set, cuFuncSetAttribute, REQUIRED),
	ONLY(cuda.launch_with, cuLaunchKernelEx, OPTIONAL),
};

static const struct kwhy_dso_symbol hip_symbols[] = {
#define X(slot, cuda, hip, need) {#hip, offsetof(struct kwhy_driver, slot), KWHY_DSO_##need},
#include "vendor/driver_calls.def"
#undef X
	ONLY(hip.error_string, hipGetErrorString, REQUIRED),
	ONLY(hip.device_set, hipSetDevice, REQUIRED),
	ONLY(hip.peer_enable, hipDeviceEnablePeerAccess, REQUIRED),
	ONLY(hip.copy_now, hipMemcpy, REQUIRED),
	ONLY(hip.copy, hipMemcpyAsync, REQUIRED),
};

static const char *const cuda_sonames[] = {"libcuda.so.1", "libcuda.so", NULL};
static const char *const hip_sonames[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
	"libamdhip64.so", "/opt/rocm/lib/libamdhip64.so", NULL};

static const struct kwhy_dso_library libraries[] = {
	[KWHY_DRIVER_CUDA] = {.title = "CUDA, a part of the NVIDIA driver,",
		.sonames = cuda_sonames,
		.symbols = cuda_symbols,
		.symbol_count = sizeof(cuda_symbols) / sizeof(cuda_symbols[0]),
		.table_bytes = sizeof(struct kwhy_driver)},
	[KWHY_DRIVER_HIP] = {.title = "HIP, a part of AMD's ROCm,",
		.sonames = hip_sonames,
		.symbols = hip_symbols,
		.symbol_count = sizeof(hip_symbols) / sizeof(hip_symbols[0]),
		.table_bytes = sizeof(struct kwhy_driver)},
};

/* The number of each attribute, by vendor. */
#define ROW(name)                                                                \
	[KWHY_DRIVER_##name] = {[KWHY_DRIVER_CUDA] = KWHY_CUDA_ATTRIBUTE_##name, \
		[KWHY_DRIVER_HIP] = KWHY_HIP_ATTRIBUTE_##name}
static const int numbers[KWHY_DRIVER_ATTRIBUTE_COUNT][2] = {
	ROW(MULTIPROCESSORS),
	ROW(THREADS_PER_MULTIPROCESSOR),
	ROW(REGISTERS_PER_MULTIPROCESSOR),
	ROW(SHARED_BYTES_PER_MULTIPROCESSOR),
	ROW(CAPABILITY_MAJOR),
	ROW(CAPABILITY_MINOR),
	ROW(COPY_ENGINES),
	ROW(PAGEABLE_ACCESS),
	ROW(CONCURRENT_MANAGED_ACCESS),
	ROW(COOPERATIVE_LAUNCH),
	ROW(MEMORY_POOLS),
};

enum kwhy_status kwhy_driver_open(
	enum kwhy_driver_vendor vendor, struct kwhy_driver *out, struct kwhy_error *error)
{
	enum kwhy_cuda_result result;
	void *handle = NULL;
	enum kwhy_status status = kwhy_dso_open(&libraries[vendor], out, &handle, error);

	if (status)
		return status;
	out->vendor = vendor;
	out->library = handle;
	result = out->init(0);
	if (vendor == KWHY_DRIVER_HIP && result == KWHY_CUDA_INVALID_DEVICE)
		result = KWHY_CUDA_NO_DEVICE; /* HIP of ROCm 5 reports a missing device with this result */
	if (result != KWHY_CUDA_SUCCESS) {
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s does not start: %s",
			vendor == KWHY_DRIVER_CUDA ? "the CUDA driver" : "HIP",
			kwhy_driver_words(out, result));
		kwhy_dso_close(handle);
	}
	return status;
}

void kwhy_driver_close(struct kwhy_driver *driver)
{
	kwhy_dso_close(driver->library);
}

const char *kwhy_driver_words(const struct kwhy_driver *driver, enum kwhy_cuda_result result)
{
	const char *words = NULL;

	if (result == KWHY_CUDA_NO_DEVICE)
		return driver->vendor == KWHY_DRIVER_CUDA
			? "no GPU; start the container with its GPUs, or unset CUDA_VISIBLE_DEVICES"
			: "no GPU; start the container with /dev/kfd and /dev/dri, or unset "
			  "HIP_VISIBLE_DEVICES";
	if (driver->vendor == KWHY_DRIVER_HIP)
		words = driver->hip.error_string(result);
	else if (driver->cuda.error_string(result, &words) != KWHY_CUDA_SUCCESS)
		words = NULL;
	return words ? words : "an error it has no words for";
}

void kwhy_driver_version(const struct kwhy_driver *driver, char out[16])
{
	const int unit = driver->vendor == KWHY_DRIVER_CUDA ? 10 : 100000;
	int version = 0;

	out[0] = '\0';
	if (driver->version(&version) == KWHY_CUDA_SUCCESS)
		snprintf(out, 16, "%d.%d", version / (100 * unit), version / unit % 100);
}

int kwhy_driver_attribute(
	const struct kwhy_driver *driver, enum kwhy_driver_attribute attribute, kwhy_cuda_device device)
{
	int value = 0;

	if (driver->device_attribute(&value, numbers[attribute][driver->vendor], device) !=
			KWHY_CUDA_SUCCESS ||
		value < 0)
		return 0;
	return value;
}

enum kwhy_cuda_result kwhy_driver_context_retain(
	const struct kwhy_driver *driver, kwhy_cuda_device device, kwhy_cuda_context *out)
{
	*out = NULL;
	return driver->cuda.context_retain ? driver->cuda.context_retain(out, device) : KWHY_CUDA_SUCCESS;
}

void kwhy_driver_context_release(const struct kwhy_driver *driver, kwhy_cuda_device device)
{
	if (driver->cuda.context_release)
		driver->cuda.context_release(device);
}

enum kwhy_cuda_result kwhy_driver_enter(
	const struct kwhy_driver *driver, kwhy_cuda_device device, kwhy_cuda_context context)
{
	return driver->vendor == KWHY_DRIVER_CUDA ? driver->cuda.context_set(context)
						  : driver->hip.device_set(device);
}

enum kwhy_cuda_result kwhy_driver_peer_enable(
	const struct kwhy_driver *driver, kwhy_cuda_device peer, kwhy_cuda_context peer_context)
{
	return driver->vendor == KWHY_DRIVER_CUDA ? driver->cuda.peer_enable(peer_context, 0)
						  : driver->hip.peer_enable(peer, 0);
}

static bool is_on_device(const struct kwhy_driver *driver, kwhy_cuda_address address)
{
	unsigned type = 0;

	return driver->cuda.pointer_attribute(&type, KWHY_CUDA_POINTER_MEMORY_TYPE, address) ==
		KWHY_CUDA_SUCCESS &&
		type == KWHY_CUDA_MEMORY_DEVICE;
}

enum kwhy_cuda_result kwhy_driver_copy_host_now(
	const struct kwhy_driver *driver, kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes)
{
	enum kwhy_cuda_result result;

	if (driver->vendor == KWHY_DRIVER_CUDA)
		return driver->cuda.copy_now(to, from, bytes);
	result = driver->hip.copy_now(to, from, bytes, KWHY_HIP_COPY_DEFAULT);
	return result == KWHY_CUDA_SUCCESS ? driver->stream_synchronize(NULL) : result;
}

enum kwhy_cuda_result kwhy_driver_copy_now(
	const struct kwhy_driver *driver, kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes)
{
	enum kwhy_cuda_result result = kwhy_driver_copy_host_now(driver, to, from, bytes);

	/*
	 * When CUDA copies to a device from pageable memory or from a device, the call returns before the
	 * bytes are visible. Such copies run in the default stream, for which no other stream waits, so this
	 * function waits for that stream.
	 */
	if (result == KWHY_CUDA_SUCCESS && driver->vendor == KWHY_DRIVER_CUDA && is_on_device(driver, to))
		result = driver->stream_synchronize(NULL);
	return result;
}

enum kwhy_cuda_result kwhy_driver_copy(const struct kwhy_driver *driver, kwhy_cuda_address to,
	kwhy_cuda_address from, size_t bytes, kwhy_cuda_stream stream)
{
	return driver->vendor == KWHY_DRIVER_CUDA
		? driver->cuda.copy(to, from, bytes, stream)
		: driver->hip.copy(to, from, bytes, KWHY_HIP_COPY_DEFAULT, stream);
}

bool kwhy_driver_has_batch(const struct kwhy_driver *driver)
{
	return driver->cuda.batch_12 || driver->cuda.batch_13;
}

enum kwhy_cuda_result kwhy_driver_copy_batch(const struct kwhy_driver *driver, kwhy_cuda_address *to,
	kwhy_cuda_address *from, size_t *bytes, size_t count, kwhy_cuda_stream stream)
{
	struct kwhy_cuda_batch_attributes attributes = {.source_order = KWHY_CUDA_BATCH_IN_STREAM_ORDER};
	size_t begin = 0, failed = 0;

	if (driver->cuda.batch_13)
		return driver->cuda.batch_13(to, from, bytes, count, &attributes, &begin, 1, stream);
	return driver->cuda.batch_12(to, from, bytes, count, &attributes, &begin, 1, &failed, stream);
}

enum kwhy_cuda_result kwhy_driver_allow_shared(
	const struct kwhy_driver *driver, kwhy_cuda_function function, unsigned shared_bytes)
{
	enum { EVERY_KERNEL_BYTES = 48 << 10 };
	int own_bytes = 0;

	if (!shared_bytes || !driver->cuda.function_set)
		return KWHY_CUDA_SUCCESS;
	if (driver->cuda.function_get(&own_bytes, KWHY_CUDA_FUNCTION_SHARED_BYTES, function))
		own_bytes = 0; /* the launch itself will report the error */
	if ((unsigned)own_bytes + shared_bytes <= EVERY_KERNEL_BYTES)
		return KWHY_CUDA_SUCCESS;
	return driver->cuda.function_set(function, KWHY_CUDA_FUNCTION_SHARED_BYTES_MAX, (int)shared_bytes);
}

enum kwhy_cuda_result kwhy_driver_launch_early(const struct kwhy_driver *driver, kwhy_cuda_function function,
	unsigned blocks, unsigned threads_per_block, unsigned shared_bytes, kwhy_cuda_stream stream,
	void **arguments)
{
	struct kwhy_cuda_launch_attribute early = {.id = KWHY_CUDA_LAUNCH_EARLY, .value = {.number = 1}};
	const struct kwhy_cuda_launch_config config = {.grid = {blocks, 1, 1},
		.block = {threads_per_block, 1, 1},
		.shared_bytes = shared_bytes,
		.stream = stream,
		.attributes = &early,
		.attribute_count = 1};

	if (driver->vendor == KWHY_DRIVER_CUDA && driver->cuda.launch_with)
		return driver->cuda.launch_with(&config, function, arguments, NULL);
	return driver->launch(
		function, blocks, 1, 1, threads_per_block, 1, 1, shared_bytes, stream, arguments, NULL);
}
