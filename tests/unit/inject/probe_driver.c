/* SPDX-License-Identifier: Apache-2.0 */
#include "probe_driver.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct probe_driver probe_driver;

enum { BLOCKS_MAX = 16 };
static struct {
	char *memory;
	size_t bytes;
} blocks[BLOCKS_MAX];
static size_t block_count;

enum { EVENTS_MAX = 16 };
struct kwhy_cuda_event_opaque {
	int64_t time_ns;
};
static struct kwhy_cuda_event_opaque events[EVENTS_MAX];
static size_t event_count;

static char *at(kwhy_cuda_address address)
{
	return (char *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
}

void *probe_driver_new(size_t bytes)
{
	blocks[block_count].memory = calloc(1, bytes);
	blocks[block_count].bytes = bytes;
	return blocks[block_count++].memory;
}

void probe_driver_clear(void)
{
	while (block_count)
		free(blocks[--block_count].memory);
	event_count = 0;
	probe_driver = (struct probe_driver){0};
}

static enum kwhy_cuda_result error_string(enum kwhy_cuda_result result, const char **out)
{
	(void)result;
	*out = "an error";
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result parameter(
	kwhy_cuda_function function, size_t index, size_t *out_offset, size_t *out_bytes)
{
	if (probe_driver.has_no_parameters || index >= PROBE_PARAMETERS_MAX || !function->bytes[index])
		return KWHY_CUDA_INVALID_VALUE;
	*out_offset = 8 * index;
	*out_bytes = function->bytes[index];
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result range(kwhy_cuda_address *out_base, size_t *out_bytes, kwhy_cuda_address address)
{
	for (size_t i = 0; i < block_count; i++)
		if (address - (uintptr_t)blocks[i].memory < blocks[i].bytes) {
			*out_base = (uintptr_t)blocks[i].memory;
			*out_bytes = blocks[i].bytes;
			return KWHY_CUDA_SUCCESS;
		}
	return KWHY_CUDA_NOT_FOUND;
}

static enum kwhy_cuda_result pointer(void *out_value, int attribute, kwhy_cuda_address address)
{
	kwhy_cuda_address base;
	size_t bytes;
	int value = 0;

	if (range(&base, &bytes, address))
		return KWHY_CUDA_INVALID_VALUE;
	if (attribute == KWHY_CUDA_POINTER_MEMORY_TYPE)
		value = probe_driver.is_host ? KWHY_CUDA_MEMORY_HOST : KWHY_CUDA_MEMORY_DEVICE;
	else if (attribute == KWHY_CUDA_POINTER_IS_MANAGED)
		value = probe_driver.is_managed;
	else if (attribute == KWHY_CUDA_POINTER_DEVICE)
		value = probe_driver.is_peer;
	memcpy(out_value, &value, sizeof(value));
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result memory_info(size_t *out_free, size_t *out_total)
{
	*out_free = *out_total = probe_driver.memory_bytes_free ? probe_driver.memory_bytes_free : 256u << 20;
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result allocate(kwhy_cuda_address *out_address, size_t bytes)
{
	*out_address = (uintptr_t)probe_driver_new(bytes);
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result allocate_host(void **out_memory, size_t bytes, unsigned flags)
{
	(void)flags;
	*out_memory = probe_driver_new(bytes);
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result copy(
	kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes, kwhy_cuda_stream stream)
{
	(void)stream;
	if (probe_driver.fails_from && ++probe_driver.copies >= probe_driver.fails_from)
		return probe_driver.copies_give;
	memcpy(at(to), at(from), bytes);
	if (probe_driver.bytes_per_ns)
		probe_driver.now_ns += PROBE_COPY_NS + (int64_t)(bytes / probe_driver.bytes_per_ns);
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result copy_back(
	void *to, kwhy_cuda_address from, size_t bytes, kwhy_cuda_stream stream)
{
	(void)stream;
	memcpy(to, at(from), bytes);
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result set(
	kwhy_cuda_address address, unsigned char value, size_t bytes, kwhy_cuda_stream stream)
{
	(void)stream;
	memset(at(address), value, bytes);
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result device_of(kwhy_cuda_device *out_device)
{
	*out_device = 0;
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result query(kwhy_cuda_stream stream)
{
	(void)stream;
	return probe_driver.is_busy ? KWHY_CUDA_NOT_READY : KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result is_capturing(kwhy_cuda_stream stream, int *out_status)
{
	(void)stream;
	*out_status = probe_driver.is_capturing;
	probe_driver.asked++;
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result exchange(int *mode)
{
	static int now;
	const int before = now;

	now = *mode;
	*mode = before;
	return KWHY_CUDA_SUCCESS;
}

/*
 * Stands for the kernel in hash.ptx: adds to *out a hash of the bytes that depends on their positions. Its
 * values differ from those of hash.ptx.
 */
static void hash(void **arguments)
{
	const uint64_t bytes = *(const uint64_t *)arguments[1];
	const char *from = at(*(const kwhy_cuda_address *)arguments[0]);
	uint64_t *out = (uint64_t *)(void *)at(*(const kwhy_cuda_address *)arguments[2]);

	for (uint64_t i = 0; i < bytes; i++)
		*out += ((unsigned char)from[i] + 1) * (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/*
 * Computes the hash of each chunk of the memory for the table. Only the last chunk can be incomplete, as
 * memory of probe_driver_new() begins at the start of a chunk.
 */
static void hash_chunks(void **arguments)
{
	const uint64_t bytes = *(const uint64_t *)arguments[1], factor = *(const uint64_t *)arguments[4];
	const char *from = at(*(const kwhy_cuda_address *)arguments[0]);
	uint64_t *out = (uint64_t *)(void *)at(*(const kwhy_cuda_address *)arguments[2]),
		 *table = (uint64_t *)(void *)at(*(const kwhy_cuda_address *)arguments[3]);

	for (uint64_t i = 0; i < bytes; i++) {
		const uint64_t its = ((unsigned char)from[i] + 1) * (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

		*out += its;
		table[i / 65536] += factor * its;
	}
}

static enum kwhy_cuda_result load(kwhy_cuda_module *out_module, const void *image)
{
	*out_module = NULL;
	return strstr(image, ".entry kwhy_probe_hash") ? KWHY_CUDA_SUCCESS : KWHY_CUDA_INVALID_VALUE;
}

static enum kwhy_cuda_result function_of(
	kwhy_cuda_function *out_function, kwhy_cuda_module module, const char *name)
{
	static struct kwhy_cuda_function_opaque own = {.run = hash}, chunks = {.run = hash_chunks};

	(void)module;
	*out_function = strcmp(name, "kwhy_probe_chunks") ? &own : &chunks;
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result run(kwhy_cuda_function function, void **arguments)
{
	function->runs++;
	function->run(arguments);
	probe_driver.now_ns += function->run_ns;
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result launch(kwhy_cuda_function function, unsigned gx, unsigned gy, unsigned gz,
	unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes, kwhy_cuda_stream stream,
	void **arguments, void **extra)
{
	(void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared_bytes, (void)stream,
		(void)extra;
	return run(function, arguments);
}

static enum kwhy_cuda_result launch_with(const struct kwhy_cuda_launch_config *config,
	kwhy_cuda_function function, void **arguments, void **extra)
{
	(void)config, (void)extra;
	return run(function, arguments);
}

static enum kwhy_cuda_result event_new(kwhy_cuda_event *out_event, unsigned flags)
{
	(void)flags;
	*out_event = &events[event_count++];
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result event_record(kwhy_cuda_event event, kwhy_cuda_stream stream)
{
	(void)stream;
	event->time_ns = probe_driver.now_ns;
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result event_query(kwhy_cuda_event event)
{
	(void)event;
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result elapsed(float *out_ms, kwhy_cuda_event start, kwhy_cuda_event end)
{
	*out_ms = probe_driver.bytes_per_ns ? 1e-6F * (float)(end->time_ns - start->time_ns) : 1;
	return KWHY_CUDA_SUCCESS;
}

struct kwhy_cuda_probe probe_driver_calls(void)
{
	return (struct kwhy_cuda_probe){.cuGetErrorString = error_string,
		.cuKernelGetParamInfo = parameter,
		.cuPointerGetAttribute = pointer,
		.cuMemGetAddressRange_v2 = range,
		.cuMemGetInfo_v2 = memory_info,
		.cuMemAlloc_v2 = allocate,
		.cuMemHostAlloc = allocate_host,
		.cuMemcpyDtoDAsync_v2 = copy,
		.cuMemcpyDtoHAsync_v2 = copy_back,
		.cuMemsetD8Async = set,
		.cuCtxGetDevice = device_of,
		.cuStreamQuery = query,
		.cuStreamIsCapturing = is_capturing,
		.cuThreadExchangeStreamCaptureMode = exchange,
		.cuModuleLoadData = load,
		.cuModuleGetFunction = function_of,
		.cuLaunchKernel = launch,
		.cuLaunchKernelEx = launch_with,
		.cuEventCreate = event_new,
		.cuEventRecord = event_record,
		.cuEventQuery = event_query,
		.cuEventElapsedTime = elapsed};
}
