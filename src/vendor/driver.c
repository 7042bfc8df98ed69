/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor/driver.h"

#include "base/dso.h"

#define ONLY_CUDA(slot, name, need)                                             \
	{                                                                       \
#name, offsetof(struct kwhy_driver, cuda.slot), KWHY_DSO_##need \
	}

static const struct kwhy_dso_symbol cuda_symbols[] = {
#define X(slot, cuda, hip, need) {#cuda, offsetof(struct kwhy_driver, slot), KWHY_DSO_##need},
#include "vendor/driver_calls.def"
#undef X
	ONLY_CUDA(error_string, cuGetErrorString, REQUIRED),
	ONLY_CUDA(context_retain, cuDevicePrimaryCtxRetain, REQUIRED),
	ONLY_CUDA(context_release, cuDevicePrimaryCtxRelease_v2, REQUIRED),
	ONLY_CUDA(context_set, cuCtxSetCurrent, REQUIRED),
	ONLY_CUDA(peer_enable, cuCtxEnablePeerAccess, REQUIRED),
	ONLY_CUDA(copy_now, cuMemcpy, REQUIRED),
	ONLY_CUDA(copy, cuMemcpyAsync, REQUIRED),
	ONLY_CUDA(batch_12, cuMemcpyBatchAsync, OPTIONAL),
	ONLY_CUDA(batch_13, cuMemcpyBatchAsync_v2, OPTIONAL),
	ONLY_CUDA(pointer_attribute, cuPointerGetAttribute, REQUIRED),
	ONLY_CUDA(function_set, cuFuncSetAttribute, REQUIRED),
};

static const char *const cuda_sonames[] = {"libcuda.so.1", "libcuda.so", NULL};

static const struct kwhy_dso_library cuda_library = {
	.title = "CUDA, a part of the NVIDIA driver,",
	.sonames = cuda_sonames,
	.symbols = cuda_symbols,
	.symbol_count = sizeof(cuda_symbols) / sizeof(cuda_symbols[0]),
	.table_bytes = sizeof(struct kwhy_driver),
};

static const int cuda_attributes[KWHY_DRIVER_ATTRIBUTE_COUNT] = {
	[KWHY_DRIVER_MULTIPROCESSORS] = KWHY_CUDA_ATTRIBUTE_MULTIPROCESSORS,
	[KWHY_DRIVER_THREADS_PER_MULTIPROCESSOR] = KWHY_CUDA_ATTRIBUTE_THREADS_PER_MULTIPROCESSOR,
	[KWHY_DRIVER_REGISTERS_PER_MULTIPROCESSOR] = KWHY_CUDA_ATTRIBUTE_REGISTERS_PER_MULTIPROCESSOR,
	[KWHY_DRIVER_SHARED_BYTES_PER_MULTIPROCESSOR] = KWHY_CUDA_ATTRIBUTE_SHARED_BYTES_PER_MULTIPROCESSOR,
	[KWHY_DRIVER_CAPABILITY_MAJOR] = KWHY_CUDA_ATTRIBUTE_CAPABILITY_MAJOR,
	[KWHY_DRIVER_CAPABILITY_MINOR] = KWHY_CUDA_ATTRIBUTE_CAPABILITY_MINOR,
	[KWHY_DRIVER_COPY_ENGINES] = KWHY_CUDA_ATTRIBUTE_COPY_ENGINES,
	[KWHY_DRIVER_PAGEABLE_ACCESS] = KWHY_CUDA_ATTRIBUTE_PAGEABLE_ACCESS,
	[KWHY_DRIVER_CONCURRENT_MANAGED_ACCESS] = KWHY_CUDA_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
	[KWHY_DRIVER_COOPERATIVE_LAUNCH] = KWHY_CUDA_ATTRIBUTE_COOPERATIVE_LAUNCH,
	[KWHY_DRIVER_MEMORY_POOLS] = KWHY_CUDA_ATTRIBUTE_MEMORY_POOLS,
};

enum kwhy_status kwhy_driver_open(
	enum kwhy_driver_vendor vendor, struct kwhy_driver *out, struct kwhy_error *error)
{
	enum kwhy_cuda_result result;
	enum kwhy_status status;
	void *handle = NULL;

	if (vendor != KWHY_DRIVER_CUDA)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "HIP is not built in; use CUDA");
	status = kwhy_dso_open(&cuda_library, out, &handle, error);
	if (status)
		return status;
	out->vendor = vendor;
	out->library = handle;
	result = out->init(0);
	if (result != KWHY_CUDA_SUCCESS) {
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED, "the CUDA driver does not start: %s",
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
		return "no GPU; start the container with its GPUs, or unset CUDA_VISIBLE_DEVICES";
	if (driver->cuda.error_string(result, &words) != KWHY_CUDA_SUCCESS || !words)
		return "an error it has no words for";
	return words;
}

int kwhy_driver_attribute(
	const struct kwhy_driver *driver, enum kwhy_driver_attribute attribute, kwhy_cuda_device device)
{
	int value = 0;

	if (driver->device_attribute(&value, cuda_attributes[attribute], device) != KWHY_CUDA_SUCCESS ||
		value < 0)
		return 0;
	return value;
}

enum kwhy_cuda_result kwhy_driver_context_retain(
	const struct kwhy_driver *driver, kwhy_cuda_device device, kwhy_cuda_context *out)
{
	return driver->cuda.context_retain(out, device);
}

void kwhy_driver_context_release(const struct kwhy_driver *driver, kwhy_cuda_device device)
{
	driver->cuda.context_release(device);
}

enum kwhy_cuda_result kwhy_driver_enter(
	const struct kwhy_driver *driver, kwhy_cuda_device device, kwhy_cuda_context context)
{
	(void)device;
	return driver->cuda.context_set(context);
}

enum kwhy_cuda_result kwhy_driver_peer_enable(
	const struct kwhy_driver *driver, kwhy_cuda_device peer, kwhy_cuda_context peer_context)
{
	(void)peer;
	return driver->cuda.peer_enable(peer_context, 0);
}

static bool is_on_device(const struct kwhy_driver *driver, kwhy_cuda_address address)
{
	unsigned type = 0;

	return driver->cuda.pointer_attribute(&type, KWHY_CUDA_POINTER_MEMORY_TYPE, address) ==
		KWHY_CUDA_SUCCESS &&
		type == KWHY_CUDA_MEMORY_DEVICE;
}

enum kwhy_cuda_result kwhy_driver_copy_now(
	const struct kwhy_driver *driver, kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes)
{
	enum kwhy_cuda_result result = driver->cuda.copy_now(to, from, bytes);

	/* Between two places of devices CUDA does not wait; such copies run in the stream NULL. */
	if (result == KWHY_CUDA_SUCCESS && is_on_device(driver, to) && is_on_device(driver, from))
		result = driver->stream_synchronize(NULL);
	return result;
}

enum kwhy_cuda_result kwhy_driver_copy(const struct kwhy_driver *driver, kwhy_cuda_address to,
	kwhy_cuda_address from, size_t bytes, kwhy_cuda_stream stream)
{
	return driver->cuda.copy(to, from, bytes, stream);
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

	if (shared_bytes <= EVERY_KERNEL_BYTES)
		return KWHY_CUDA_SUCCESS;
	return driver->cuda.function_set(function, KWHY_CUDA_FUNCTION_SHARED_BYTES_MOST, (int)shared_bytes);
}
