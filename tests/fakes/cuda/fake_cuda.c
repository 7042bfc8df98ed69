/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA driver without a GPU: kernels of kwhy "run" for the time they are asked to, write the stamps a
 * device would, and tell the fake NVML through KWHY_FAKE_GPU_LOAD what power they draw
 * (tests/fakes/gpu_load.h). Device memory is host memory; copies above a megabyte move nothing.
 * KWHY_FAKE_CUDA=no-device: no GPU; =no-memory: allocations fail; =launch-fails: every launch after the tenth
 * fails.
 */
#include "fakes/gpu_load.h"
#include "vendor/cuda_abi.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define DEVICE_CLOCK_OFFSET_NS INT64_C(1790000000000000000) /* the device counts from elsewhere */
#define CONTEXT_MW 121500
#define LAUNCH_NS 5000

enum { COPY_MOST_BYTES = 1 << 20 };

/* A kernel by its name: argument 0 is its length unless `length_ns` says it; where its stamps go. */
struct kwhy_cuda_function_opaque {
	const char *name;
	int64_t length_ns, power_mw;
	int stamps;
};

static struct kwhy_cuda_function_opaque functions[] = {
	{"kwhy_burn_fma", 0, 358000, 3},
	{"kwhy_burn_copy", 0, 368000, 4},
	{"kwhy_burn_integer", 0, 472000, 3},
	{"kwhy_fill", 50000, 200000, -1},
	{"kwhy_now", 1000, CONTEXT_MW, -1},
	{"kwhy_nothing", 1000, CONTEXT_MW, -1},
};

static int64_t free_at_ns; /* when the one stream has run everything */
static struct kwhy_fake_load *shared;
static struct kwhy_fake_load_item *context_item;
static int launches;

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static bool asked_for(const char *what)
{
	const char *scenario = getenv("KWHY_FAKE_CUDA");

	return scenario && strcmp(scenario, what) == 0;
}

static void map_shared(void)
{
	const char *path = getenv("KWHY_FAKE_GPU_LOAD");
	int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;

	if (file < 0)
		return;
	if (ftruncate(file, sizeof(*shared)) == 0)
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (shared == MAP_FAILED)
		shared = NULL;
	close(file);
}

static struct kwhy_fake_load_item *tell(int64_t begin_ns, int64_t end_ns, int64_t power_mw)
{
	struct kwhy_fake_load_item *item;

	if (!shared)
		return NULL;
	item = &shared->items[shared->count % KWHY_FAKE_LOAD_ITEMS];
	item->begin_mono_ns = begin_ns;
	item->end_mono_ns = end_ns;
	item->power_mw = power_mw;
	item->device = 0;
	shared->count++;
	return item;
}

enum kwhy_cuda_result cuInit(unsigned flags)
{
	(void)flags;
	if (asked_for("no-device"))
		return KWHY_CUDA_NO_DEVICE;
	map_shared();
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuGetErrorString(enum kwhy_cuda_result result, const char **out_words)
{
	*out_words = result == KWHY_CUDA_OUT_OF_MEMORY ? "out of memory" : "unspecified launch failure";
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuDriverGetVersion(int *out_version)
{
	*out_version = 13000;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuDeviceGet(kwhy_cuda_device *out_device, int ordinal)
{
	*out_device = ordinal;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuDeviceGetByPCIBusId(kwhy_cuda_device *out_device, const char *pci_address)
{
	(void)pci_address;
	*out_device = 0;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuDeviceGetPCIBusId(char *out_address, int room_bytes, kwhy_cuda_device device)
{
	(void)device;
	snprintf(out_address, (size_t)room_bytes, "0000:19:00.0");
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuDeviceGetCount(int *out_count)
{
	*out_count = 1;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuDeviceGetUuid(struct kwhy_cuda_uuid *out_uuid, kwhy_cuda_device device)
{
	for (int i = 0; i < 16; i++)
		out_uuid->bytes[i] = (unsigned char)(0x10 * i + device);
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuDeviceTotalMem_v2(size_t *out_bytes, kwhy_cuda_device device)
{
	(void)device;
	*out_bytes = (size_t)140 << 30;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuDeviceGetName(char *out_name, int room_bytes, kwhy_cuda_device device)
{
	(void)device;
	snprintf(out_name, (size_t)room_bytes, "NVIDIA H200");
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuDeviceGetAttribute(int *out_value, int attribute, kwhy_cuda_device device)
{
	static const int values[][2] = {{KWHY_CUDA_ATTRIBUTE_MULTIPROCESSORS, 132},
		{KWHY_CUDA_ATTRIBUTE_MEMORY_CLOCK_KHZ, 3201000}, {KWHY_CUDA_ATTRIBUTE_MEMORY_BUS_BITS, 6144},
		{KWHY_CUDA_ATTRIBUTE_THREADS_PER_MULTIPROCESSOR, 2048},
		{KWHY_CUDA_ATTRIBUTE_CAPABILITY_MAJOR, 9}, {KWHY_CUDA_ATTRIBUTE_CAPABILITY_MINOR, 0},
		{KWHY_CUDA_ATTRIBUTE_SHARED_BYTES_PER_MULTIPROCESSOR, 233472},
		{KWHY_CUDA_ATTRIBUTE_REGISTERS_PER_MULTIPROCESSOR, 65536}};

	(void)device;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i][0] == attribute) {
			*out_value = values[i][1];
			return KWHY_CUDA_SUCCESS;
		}
	return KWHY_CUDA_UNKNOWN;
}

enum kwhy_cuda_result cuDevicePrimaryCtxRetain(kwhy_cuda_context *out_context, kwhy_cuda_device device)
{
	(void)device;
	*out_context = (kwhy_cuda_context)(void *)&free_at_ns;
	context_item = tell(now_ns(), INT64_MAX, CONTEXT_MW);
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuDevicePrimaryCtxRelease_v2(kwhy_cuda_device device)
{
	(void)device;
	if (context_item)
		context_item->end_mono_ns = now_ns();
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuCtxSetCurrent(kwhy_cuda_context context)
{
	(void)context;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuModuleLoadData(kwhy_cuda_module *out_module, const void *image)
{
	*out_module = (kwhy_cuda_module)(void *)(size_t)image;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuModuleUnload(kwhy_cuda_module module)
{
	(void)module;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuModuleGetFunction(
	kwhy_cuda_function *out_function, kwhy_cuda_module module, const char *name)
{
	(void)module;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(functions[i].name, name) == 0) {
			*out_function = &functions[i];
			return KWHY_CUDA_SUCCESS;
		}
	return KWHY_CUDA_UNKNOWN;
}

enum kwhy_cuda_result cuOccupancyMaxActiveBlocksPerMultiprocessor(
	int *out_blocks, kwhy_cuda_function function, int threads, size_t shared_bytes)
{
	(void)function;
	(void)shared_bytes;
	*out_blocks = 2048 / threads;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuMemAlloc_v2(kwhy_cuda_address *out_address, size_t bytes)
{
	void *memory = asked_for("no-memory") ? NULL : malloc(bytes);

	*out_address = (uintptr_t)memory;
	return memory ? KWHY_CUDA_SUCCESS : KWHY_CUDA_OUT_OF_MEMORY;
}

enum kwhy_cuda_result cuMemFree_v2(kwhy_cuda_address address)
{
	free((void *)(uintptr_t)address);
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuMemHostAlloc(void **out_memory, size_t bytes, unsigned flags)
{
	(void)flags;
	*out_memory = malloc(bytes);
	return *out_memory ? KWHY_CUDA_SUCCESS : KWHY_CUDA_OUT_OF_MEMORY;
}

enum kwhy_cuda_result cuMemFreeHost(void *memory)
{
	free(memory);
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags)
{
	(void)memory, (void)bytes, (void)flags;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuMemHostUnregister(void *memory)
{
	(void)memory;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuMemHostGetDevicePointer_v2(
	kwhy_cuda_address *out_address, void *memory, unsigned flags)
{
	(void)flags;
	*out_address = (uintptr_t)memory;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuPointerGetAttribute(void *out_value, int attribute, kwhy_cuda_address address)
{
	(void)out_value, (void)attribute, (void)address;
	return KWHY_CUDA_INVALID_VALUE;
}

enum kwhy_cuda_result cuMemcpy(kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes)
{
	if (bytes <= COPY_MOST_BYTES)
		memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuMemcpyAsync(
	kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes, kwhy_cuda_stream stream)
{
	(void)stream;
	return cuMemcpy(to, from, bytes);
}

enum kwhy_cuda_result cuMemsetD8Async(
	kwhy_cuda_address address, unsigned char value, size_t bytes, kwhy_cuda_stream stream)
{
	(void)stream;
	memset((void *)(uintptr_t)address, value, bytes);
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuDeviceCanAccessPeer(int *out_can, kwhy_cuda_device device, kwhy_cuda_device peer)
{
	*out_can = device != peer;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuCtxEnablePeerAccess(kwhy_cuda_context peer, unsigned flags)
{
	(void)peer, (void)flags;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuFuncSetAttribute(kwhy_cuda_function function, int attribute, int value)
{
	(void)function, (void)attribute, (void)value;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuEventCreate(kwhy_cuda_event *out_event, unsigned flags)
{
	(void)flags;
	*out_event = calloc(1, sizeof(int64_t));
	return *out_event ? KWHY_CUDA_SUCCESS : KWHY_CUDA_OUT_OF_MEMORY;
}

enum kwhy_cuda_result cuEventDestroy_v2(kwhy_cuda_event event)
{
	free(event);
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuEventRecord(kwhy_cuda_event event, kwhy_cuda_stream stream)
{
	(void)stream;
	*(int64_t *)(void *)event = free_at_ns > now_ns() ? free_at_ns : now_ns();
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuEventSynchronize(kwhy_cuda_event event)
{
	(void)event;
	return cuStreamSynchronize(NULL);
}

enum kwhy_cuda_result cuEventQuery(kwhy_cuda_event event)
{
	return *(int64_t *)(void *)event <= now_ns() ? KWHY_CUDA_SUCCESS : KWHY_CUDA_NOT_READY;
}

enum kwhy_cuda_result cuEventElapsedTime(float *out_ms, kwhy_cuda_event start, kwhy_cuda_event end)
{
	*out_ms = (float)(*(int64_t *)(void *)end - *(int64_t *)(void *)start) * 1e-6f;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuStreamWaitEvent(kwhy_cuda_stream stream, kwhy_cuda_event event, unsigned flags)
{
	(void)stream, (void)event, (void)flags;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuStreamCreate(kwhy_cuda_stream *out_stream, unsigned flags)
{
	(void)flags;
	*out_stream = (kwhy_cuda_stream)(void *)&free_at_ns;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuStreamDestroy_v2(kwhy_cuda_stream stream)
{
	(void)stream;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuStreamSynchronize(kwhy_cuda_stream stream)
{
	struct timespec time = {free_at_ns / 1000000000, free_at_ns % 1000000000};

	(void)stream;
	if (free_at_ns > now_ns() + 100000)
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL))
			;
	while (now_ns() < free_at_ns)
		;
	return KWHY_CUDA_SUCCESS;
}

static void write_stamps(uint64_t *stamps, int64_t begin_ns, int64_t end_ns)
{
	uint64_t begin = (uint64_t)(begin_ns + DEVICE_CLOCK_OFFSET_NS),
		 end = (uint64_t)(end_ns + DEVICE_CLOCK_OFFSET_NS);

	stamps[0] = begin < stamps[0] ? begin : stamps[0];
	stamps[1] = end > stamps[1] ? end : stamps[1];
}

enum kwhy_cuda_result cuLaunchKernel(kwhy_cuda_function function, unsigned grid_x, unsigned grid_y,
	unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
	kwhy_cuda_stream stream, void **arguments, void **extra)
{
	int64_t begin_ns = now_ns() + LAUNCH_NS, length_ns = function->length_ns;

	(void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z, (void)shared_bytes,
		(void)stream, (void)extra;
	if (asked_for("launch-fails") && ++launches > 10)
		return KWHY_CUDA_UNKNOWN;
	if (begin_ns < free_at_ns)
		begin_ns = free_at_ns;
	if (function->stamps >= 0)
		length_ns = (int64_t) * (uint64_t *)arguments[0];
	free_at_ns = begin_ns + length_ns;
	if (function->power_mw > CONTEXT_MW)
		tell(begin_ns, free_at_ns, grid_x == 1 ? CONTEXT_MW : function->power_mw);
	if (function->stamps >= 0)
		write_stamps((uint64_t *)(uintptr_t) * (uint64_t *)arguments[function->stamps], begin_ns,
			free_at_ns);
	if (strcmp(function->name, "kwhy_now") == 0)
		*(uint64_t *)(uintptr_t) *
			(uint64_t *)arguments[0] = (uint64_t)(begin_ns + DEVICE_CLOCK_OFFSET_NS);
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuStreamBeginCapture_v2(kwhy_cuda_stream stream, int mode)
{
	(void)stream;
	(void)mode;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuStreamEndCapture(kwhy_cuda_stream stream, kwhy_cuda_graph *out_graph)
{
	*out_graph = (kwhy_cuda_graph)(void *)stream;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuGraphInstantiateWithFlags(
	kwhy_cuda_graph_exec *out_exec, kwhy_cuda_graph graph, unsigned long long flags)
{
	(void)flags;
	*out_exec = (kwhy_cuda_graph_exec)(void *)graph;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuGraphLaunch(kwhy_cuda_graph_exec exec, kwhy_cuda_stream stream)
{
	(void)exec;
	return cuLaunchKernel(&functions[5], 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
}

enum kwhy_cuda_result cuGraphExecDestroy(kwhy_cuda_graph_exec exec)
{
	(void)exec;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuGraphDestroy(kwhy_cuda_graph graph)
{
	(void)graph;
	return KWHY_CUDA_SUCCESS;
}
