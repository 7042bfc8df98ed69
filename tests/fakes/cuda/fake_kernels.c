/* SPDX-License-Identifier: Apache-2.0 */
#include "fake.h"

#include "fakes/gpu_load.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEVICE_CLOCK_OFFSET_NS                                                                               \
	INT64_C(1790000000000000000) /* time stamps that kernels write are ahead of the host's clock by this \
				      */
#define LAUNCH_NS 5000
#define GATE_NS INT64_C(10000000000)

/*
 * OWN_SHARED: bytes of static shared memory of every kernel. SHARED_UNASKED: most bytes of dynamic
 * shared memory that a launch may have unless the program has raised the function's limit; with
 * OWN_SHARED they are 48 KiB.
 */
enum { TABLES_MAX = 16, OWN_SHARED = 16, SHARED_UNASKED = (48 << 10) - OWN_SHARED, MULTIPROCESSORS = 132 };

struct kwhy_cuda_module_opaque {
	kwhy_cuda_function functions[64];
	size_t count;
};

static const struct kwhy_cuda_function_opaque ours[] = {
	{{"kwhy_burn_fma", NULL, {8, 4, 8, 8}}, -1, 358000, 3, 0},
	{{"kwhy_burn_copy", NULL, {8, 8, 8, 8, 8}}, -1, 368000, 4, 0},
	{{"kwhy_burn_integer", NULL, {8, 4, 8, 8}}, -1, 472000, 3, 0},
	{{"kwhy_fill", NULL, {4, 8, 8}}, 50000, 200000, -1, 0},
	{{"kwhy_now", NULL, {8}}, 1000, FAKE_IDLE_MW, -1, 0},
	{{"kwhy_nothing", NULL, {0}}, 1000, FAKE_IDLE_MW, -1, 0},
	{{"kwhy_gate", NULL, {8, 4}}, 0, FAKE_IDLE_MW, -1, 0},
};

/*
 * Proxy kernels of a replay and their power on all multiprocessors. Argument 2 of a launch is the share of
 * the multiprocessors that it uses, in 1/1024.
 */
static const struct {
	const char *name;
	int64_t power_mw;
} proxies[] = {{"kwhy_proxy_fma", 300000}, {"kwhy_proxy_memory", 400000}, {"kwhy_proxy_matrix", 500000}};

static const struct kwhy_gpu_host_kernel *tables[TABLES_MAX];
static struct kwhy_fake_load *shared;
static struct kwhy_fake_load_item *context_item;
static int launches;

void kwhy_fake_gpu_kernels(const struct kwhy_gpu_host_kernel *kernels)
{
	for (size_t i = 0; i < TABLES_MAX; i++)
		if (!tables[i] || tables[i] == kernels) {
			tables[i] = kernels;
			return;
		}
}

void fake_kernels_start(void)
{
	const char *path = getenv("KWHY_FAKE_GPU_LOAD");
	int file = path && !shared ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;

	launches = 0;
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

void fake_context_power(bool on)
{
	if (on)
		context_item = tell(fake_now_ns(), INT64_MAX, FAKE_IDLE_MW);
	else if (context_item)
		context_item->end_mono_ns = fake_now_ns();
}

enum kwhy_cuda_result cuModuleLoadData(kwhy_cuda_module *out_module, const void *image)
{
	(void)image;
	BEGIN("cuModuleLoadData");
	*out_module = fake_new(sizeof(**out_module));
	return fake_end(*out_module ? KWHY_CUDA_SUCCESS : KWHY_CUDA_OUT_OF_MEMORY);
}

enum kwhy_cuda_result cuModuleUnload(kwhy_cuda_module module)
{
	BEGIN("cuModuleUnload");
	for (size_t i = 0; i < module->count; i++)
		fake_free(module->functions[i]);
	fake_free(module);
	return fake_end(KWHY_CUDA_SUCCESS);
}

static int64_t power_of(const char *name)
{
	for (size_t i = 0; i < sizeof(proxies) / sizeof(proxies[0]); i++)
		if (strcmp(name, proxies[i].name) == 0)
			return proxies[i].power_mw;
	return FAKE_IDLE_MW;
}

static bool find(const char *name, struct kwhy_cuda_function_opaque *out)
{
	for (size_t i = 0; i < TABLES_MAX && tables[i]; i++)
		for (const struct kwhy_gpu_host_kernel *kernel = tables[i]; kernel->name; kernel++)
			if (strcmp(kernel->name, name) == 0) {
				*out = (struct kwhy_cuda_function_opaque){
					*kernel, 0, power_of(name), -1, SHARED_UNASKED};
				return true;
			}
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (strcmp(ours[i].host.name, name) == 0) {
			*out = ours[i];
			return true;
		}
	return false;
}

enum kwhy_cuda_result cuModuleGetFunction(
	kwhy_cuda_function *out_function, kwhy_cuda_module module, const char *name)
{
	struct kwhy_cuda_function_opaque found;
	kwhy_cuda_function function;

	BEGIN("cuModuleGetFunction");
	if (!find(name, &found) || module->count == sizeof(module->functions) / sizeof(module->functions[0]))
		return fake_end(KWHY_CUDA_NOT_FOUND);
	function = fake_new(sizeof(*function));
	if (!function)
		return fake_end(KWHY_CUDA_OUT_OF_MEMORY);
	*function = found;
	module->functions[module->count++] = function;
	*out_function = function;
	return fake_end(KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result cuOccupancyMaxActiveBlocksPerMultiprocessor(
	int *out_blocks, kwhy_cuda_function function, int threads, size_t shared_bytes)
{
	(void)function;
	(void)shared_bytes;
	BEGIN("cuOccupancyMaxActiveBlocksPerMultiprocessor");
	*out_blocks = 2048 / threads;
	return fake_end(KWHY_CUDA_SUCCESS);
}

#ifndef FAKE_HIP
enum kwhy_cuda_result cuFuncGetAttribute(int *out, int attribute, kwhy_cuda_function function)
{
	BEGIN("cuFuncGetAttribute");
	(void)function;
	if (attribute != KWHY_CUDA_FUNCTION_SHARED_BYTES)
		return fake_end(KWHY_CUDA_INVALID_VALUE);
	*out = OWN_SHARED;
	return fake_end(KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result cuFuncSetAttribute(kwhy_cuda_function function, int attribute, int value)
{
	BEGIN("cuFuncSetAttribute");
	if (attribute != KWHY_CUDA_FUNCTION_SHARED_BYTES_MAX || value > FAKE_SHARED_BYTES_MAX)
		return fake_end(KWHY_CUDA_INVALID_VALUE);
	function->shared_bytes = (unsigned)value;
	return fake_end(KWHY_CUDA_SUCCESS);
}
#endif

static enum kwhy_cuda_result take_arguments(struct fake_operation *operation, void **arguments)
{
	const uint16_t *bytes = operation->function->host.argument_bytes;
	size_t used = 0;

	for (size_t i = 0; bytes[i]; i++) {
		if (used + (bytes[i] + 7u) / 8 > sizeof(operation->arguments) / 8)
			return KWHY_CUDA_INVALID_VALUE;
		memcpy(&operation->arguments[used], arguments[i], bytes[i]);
		used += (bytes[i] + 7u) / 8;
	}
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result launch(kwhy_cuda_function function, unsigned blocks, unsigned threads,
	unsigned shared_bytes, kwhy_cuda_stream stream, void **arguments)
{
	struct fake_operation operation = {
		.kind = FAKE_KERNEL, .function = function, .grid = {blocks, threads, shared_bytes}};
	enum kwhy_cuda_result result;

	if (fake_asked_for("launch-fails") && ++launches > 10)
		return KWHY_CUDA_UNKNOWN;
	if (blocks == 0 || threads == 0 || threads > 1024 ||
		(shared_bytes > SHARED_UNASKED && shared_bytes > FAKE_SHARED_MAX(function)))
		return KWHY_CUDA_INVALID_VALUE;
	result = take_arguments(&operation, arguments);
	return result == KWHY_CUDA_SUCCESS ? fake_put(stream, &operation) : result;
}

enum kwhy_cuda_result cuLaunchKernel(kwhy_cuda_function function, unsigned grid_x, unsigned grid_y,
	unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
	kwhy_cuda_stream stream, void **arguments, void **extra)
{
	(void)grid_y, (void)grid_z, (void)block_y, (void)block_z, (void)extra;
	BEGIN("cuLaunchKernel");
	return fake_end(launch(function, grid_x, block_x, shared_bytes, stream, arguments));
}

enum kwhy_cuda_result cuLaunchCooperativeKernel(kwhy_cuda_function function, unsigned grid_x, unsigned grid_y,
	unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
	kwhy_cuda_stream stream, void **arguments)
{
	(void)grid_y, (void)grid_z, (void)block_y, (void)block_z;
	BEGIN("cuLaunchCooperativeKernel");
	if (grid_x > 2048 / block_x * MULTIPROCESSORS)
		return fake_end(KWHY_CUDA_COOPERATIVE_TOO_LARGE);
	return fake_end(launch(function, grid_x, block_x, shared_bytes, stream, arguments));
}

/* The call exists since CUDA 11.8. */
#if !defined(FAKE_HIP) && FAKE_VERSION >= 11080
enum kwhy_cuda_result cuLaunchKernelEx(const struct kwhy_cuda_launch_config *config,
	kwhy_cuda_function function, void **arguments, void **extra)
{
	(void)extra;
	BEGIN("cuLaunchKernelEx");
	return fake_end(launch(function, config->grid[0], config->block[0], config->shared_bytes,
		config->stream, arguments));
}
#endif

static void write_stamps(uint64_t *stamps, int64_t begin_ns, int64_t end_ns)
{
	uint64_t begin = (uint64_t)(begin_ns + DEVICE_CLOCK_OFFSET_NS),
		 end = (uint64_t)(end_ns + DEVICE_CLOCK_OFFSET_NS);

	stamps[0] = begin < stamps[0] ? begin : stamps[0];
	stamps[1] = end > stamps[1] ? end : stamps[1];
}

/*
 * Runs one of kwhy's load kernels: moves the time at which its stream is free by the length that the kernel
 * would have on a device, and reports its power and time stamps.
 */
static void run_ours(const struct fake_operation *operation, kwhy_cuda_stream stream)
{
	const struct kwhy_cuda_function_opaque *function = operation->function;
	int64_t begin_ns = fake_now_ns() + LAUNCH_NS,
		length_ns = function->length_ns < 0 ? (int64_t)operation->arguments[0] : function->length_ns;

	if (begin_ns < stream->free_at_ns)
		begin_ns = stream->free_at_ns;
	stream->free_at_ns = begin_ns + length_ns;
	if (function->power_mw > FAKE_IDLE_MW)
		tell(begin_ns, stream->free_at_ns,
			operation->grid.blocks == 1 ? FAKE_IDLE_MW : function->power_mw);
	if (function->stamps >= 0)
		write_stamps((uint64_t *)(uintptr_t)operation->arguments[function->stamps], begin_ns,
			stream->free_at_ns);
	if (strcmp(function->host.name, "kwhy_now") == 0)
		*(uint64_t *)(uintptr_t)operation->arguments[0] = (uint64_t)(begin_ns +
			DEVICE_CLOCK_OFFSET_NS);
}

/*
 * Reports the power of a proxy kernel until its end. The power above idle grows with the square of the share
 * of multiprocessors, so that a caller cannot interpolate it from measurements at full load and at none.
 * Returns NULL for a kernel that draws no more than idle power.
 */
static struct kwhy_fake_load_item *tell_proxy(const struct fake_operation *operation)
{
	const struct kwhy_cuda_function_opaque *function = operation->function;
	double share = (double)operation->arguments[2] / 1024;

	if (function->power_mw <= FAKE_IDLE_MW)
		return NULL;
	return tell(fake_now_ns(), INT64_MAX,
		FAKE_IDLE_MW + (int64_t)(share * share * (double)(function->power_mw - FAKE_IDLE_MW)));
}

static bool run_gate(struct fake_operation *operation)
{
	_Atomic uint32_t *latch = (_Atomic uint32_t *)(uintptr_t)operation->arguments[0];
	uint32_t turn = (uint32_t)operation->arguments[1];

	if ((int32_t)(latch[0] - turn) >= 0)
		return true;
	if (operation->started_ns == 0)
		operation->started_ns = fake_now_ns();
	if (fake_now_ns() - operation->started_ns < GATE_NS && !fake_asked_for("gate-opens"))
		return false;
	latch[1] = turn;
	return true;
}

/* A running kernel that is a C function of a test. */
struct fake_running {
	struct kwhy_gpu_host_kernel host;
	struct kwhy_gpu_grid grid;
	uint64_t values[KWHY_GPU_HOST_ARGUMENT_BYTES_MAX / 8];
	struct kwhy_fake_load_item *load;
	pthread_t thread;
	_Atomic bool is_done;
};

static void *run_host(void *context)
{
	struct fake_running *running = context;
	void *arguments[KWHY_GPU_HOST_ARGUMENTS_MAX];
	size_t used = 0;

	for (size_t i = 0; running->host.argument_bytes[i]; i++) {
		arguments[i] = &running->values[used];
		used += (running->host.argument_bytes[i] + 7u) / 8;
	}
	running->host.run(&running->grid, arguments);
	running->is_done = true;
	return NULL;
}

static void set_out(const struct fake_operation *operation, struct fake_running *out)
{
	*out = (struct fake_running){
		.host = operation->function->host, .grid = operation->grid, .load = tell_proxy(operation)};
	memcpy(out->values, operation->arguments, sizeof(out->values));
}

static void arrive(const struct fake_running *running)
{
	if (running->load)
		running->load->end_mono_ns = fake_now_ns();
}

static void start_beside(struct fake_operation *operation)
{
	operation->running = fake_new(sizeof(*operation->running));
	if (!operation->running)
		abort();
	set_out(operation, operation->running);
	if (pthread_create(&operation->running->thread, NULL, run_host, operation->running) != 0)
		abort();
}

void fake_kernel_end(struct fake_operation *operation)
{
	if (!operation->running)
		return;
	(void)pthread_join(operation->running->thread, NULL);
	arrive(operation->running);
	fake_free(operation->running);
	operation->running = NULL;
}

bool fake_kernel_run(struct fake_operation *operation, kwhy_cuda_stream stream)
{
	struct fake_running alone;

	if (strcmp(operation->function->host.name, "kwhy_gate") == 0)
		return run_gate(operation);
	if (!operation->function->host.run) {
		run_ours(operation, stream);
		return true;
	}
	if (fake_asked_for("kernels-meet")) {
		if (!operation->running)
			start_beside(operation);
		if (!operation->running->is_done)
			return false;
		fake_kernel_end(operation);
		return true;
	}
	set_out(operation, &alone);
	(void)run_host(&alone);
	arrive(&alone);
	return true;
}
