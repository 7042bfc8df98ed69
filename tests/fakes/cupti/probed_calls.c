/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the driver by the program that kwhy probe is tested on. Before and after each call, the fake CUPTI
 * calls the callback that kwhy has registered.
 */
#include "fakes/cupti/fake_cupti.h"
#include "probed_program.h"
#include "vendor/cupti_abi.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct probed_driver probed_cuda;
kwhy_cuda_stream probed_stream;

static __typeof__(fake_cupti_tell) *tell;
static __typeof__(fake_cupti_kernel) *record;
static __typeof__(fake_cupti_call_since) *record_call;
static __typeof__(fake_cupti_now) *now;
static kwhy_cuda_context context;
static kwhy_cuda_module module;
static atomic_uint correlation = 100;
static kwhy_cuda_function functions[PROBED_KERNELS_MAX];

static void *find(void *library, const char *name)
{
	void *found = library ? dlsym(library, name) : NULL;

	if (!found) {
		fprintf(stderr, "no %s: %s\n", name, library ? "" : dlerror());
		exit(99);
	}
	return found;
}

void probed_initialise(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH"), *cupti_path = getenv("KWHY_CUPTI");
	void *driver = dlopen("libcuda.so.1", RTLD_NOW), *injected = path ? dlopen(path, RTLD_NOW) : NULL,
	     *cupti = cupti_path ? dlopen(cupti_path, RTLD_NOW) : NULL;
	void (*give)(const struct kwhy_gpu_host_kernel *kernels);

	probed_cuda.init = find(driver, "cuInit");
	probed_cuda.retain = find(driver, "cuDevicePrimaryCtxRetain");
	probed_cuda.set_current = find(driver, "cuCtxSetCurrent");
	probed_cuda.allocate = find(driver, "cuMemAlloc_v2");
	probed_cuda.free = find(driver, "cuMemFree_v2");
	probed_cuda.allocate_from_pool = find(driver, "cuMemAllocAsync");
	probed_cuda.free_to_pool = find(driver, "cuMemFreeAsync");
	probed_cuda.reserve = find(driver, "cuMemAddressReserve");
	probed_cuda.map = find(driver, "cuMemMap");
	probed_cuda.set_access = find(driver, "cuMemSetAccess");
	probed_cuda.unmap = find(driver, "cuMemUnmap");
	probed_cuda.allocate_managed = find(driver, "cuMemAllocManaged");
	probed_cuda.load = find(driver, "cuModuleLoadData");
	probed_cuda.get_function = find(driver, "cuModuleGetFunction");
	probed_cuda.launch = find(driver, "cuLaunchKernel");
	probed_cuda.copy = find(driver, "cuMemcpyAsync");
	probed_cuda.set = find(driver, "cuMemsetD32Async");
	probed_cuda.allocate_pinned = find(driver, "cuMemHostAlloc");
	probed_cuda.new_stream = find(driver, "cuStreamCreate");
	probed_cuda.begin_capture = find(driver, "cuStreamBeginCapture_v2");
	probed_cuda.end_capture = find(driver, "cuStreamEndCapture");
	probed_cuda.instantiate = find(driver, "cuGraphInstantiateWithFlags");
	probed_cuda.launch_graph = find(driver, "cuGraphLaunch");
	probed_cuda.destroy_exec = find(driver, "cuGraphExecDestroy");
	probed_cuda.get_nodes = find(driver, "cuGraphGetNodes");
	probed_cuda.add_child = find(driver, "cuGraphAddChildGraphNode");
	probed_cuda.set_kernel = find(driver, "cuGraphExecKernelNodeSetParams_v2");
	probed_cuda.set_child = find(driver, "cuGraphExecChildGraphNodeSetParams");
	probed_cuda.destroy_graph = find(driver, "cuGraphDestroy");
	probed_cuda.wait = find(driver, "cuStreamSynchronize");
	give = find(driver, "kwhy_fake_gpu_kernels");
	tell = find(cupti, "fake_cupti_tell");
	record = find(cupti, "fake_cupti_kernel");
	record_call = find(cupti, "fake_cupti_call_since");
	now = find(cupti, "fake_cupti_now");
	give(probed_kernels);
	if (probed_cuda.init(0) || probed_cuda.retain(&context, 0) || probed_cuda.set_current(context) ||
		probed_cuda.load(&module, ""))
		exit(98);
	for (size_t i = 0; probed_kernels[i].name; i++)
		if (probed_cuda.get_function(&functions[i], module, probed_kernels[i].name))
			exit(96);
	if (injected) {
		int (*begin)(void) = find(injected, "InitializeInjection");

		begin();
	}
}

void probed_use_context(void)
{
	probed_cuda.set_current(context);
}

uint32_t probed_next_correlation(void)
{
	return ++correlation;
}

void probed_call(const char *name, struct kwhy_cupti_callback *data, int site)
{
	data->site = site;
	data->function = name;
	data->context = context;
	data->context_id = 1;
	tell(KWHY_CUPTI_DOMAIN_DRIVER, name, data);
}

uint64_t *probed_allocate(size_t bytes)
{
	kwhy_cuda_address address = 0;
	enum kwhy_cuda_result result;
	struct kwhy_cupti_parameters_memory parameters = {.out_address = &address, .bytes = bytes};
	struct kwhy_cupti_callback data = {.parameters = &parameters, .correlation = ++correlation};

	probed_call("cuMemAlloc_v2", &data, KWHY_CUPTI_ENTER);
	result = probed_cuda.allocate(&address, bytes);
	data.result = &result;
	probed_call("cuMemAlloc_v2", &data, KWHY_CUPTI_EXIT);
	if (result)
		exit(97);
	memset((void *)(uintptr_t)address, 0, bytes);
	return (uint64_t *)(uintptr_t)address;
}

void probed_release(uint64_t *memory)
{
	enum kwhy_cuda_result result;
	struct kwhy_cupti_parameters_free parameters = {(uintptr_t)memory};
	struct kwhy_cupti_callback data = {.parameters = &parameters, .correlation = ++correlation};

	probed_call("cuMemFree_v2", &data, KWHY_CUPTI_ENTER);
	result = probed_cuda.free((uintptr_t)memory);
	data.result = &result;
	probed_call("cuMemFree_v2", &data, KWHY_CUPTI_EXIT);
}

kwhy_cuda_function probed_function_of(const char *name)
{
	for (size_t i = 0; probed_kernels[i].name; i++)
		if (!strcmp(probed_kernels[i].name, name))
			return functions[i];
	exit(96);
}

/*
 * Launches a kernel by cudaLaunchKernel, which calls the driver. As in CUPTI, the recorded time of the driver
 * call excludes the callbacks around it; that of the runtime call includes them.
 */
void probed_launch_by(const char *driver_call, const char *name, void **arguments)
{
	kwhy_cuda_function function = probed_function_of(name);
	enum kwhy_cuda_result result;
	struct kwhy_cupti_parameters_launch parameters = {
		.grid = {264, 1, 1}, .block = {256, 1, 1}, .stream = probed_stream, .arguments = arguments};
	struct kwhy_cupti_callback data = {.symbol = name, .parameters = &parameters};
	const uint32_t its = probed_next_correlation();
	const uint64_t start_ns = now();

	parameters.function = function;
	data.correlation = its;
	probed_call(driver_call, &data, KWHY_CUPTI_ENTER);
	result = probed_cuda.launch(function, 264, 1, 1, 256, 1, 1, 0, probed_stream, arguments, NULL);
	record_call(KWHY_CUPTI_DOMAIN_DRIVER, driver_call, its, now());
	record(name, its, 1000, 0);
	data.result = &result;
	probed_call(driver_call, &data, KWHY_CUPTI_EXIT);
	record_call(KWHY_CUPTI_DOMAIN_RUNTIME, "cudaLaunchKernel_v7000", its, start_ns);
	if (result)
		exit(95);
}

void probed_launch(const char *name, void **arguments)
{
	probed_launch_by("cuLaunchKernel", name, arguments);
}

struct probed_memory probed_new_memory(void)
{
	return (struct probed_memory){probed_allocate((size_t)PROBED_WORDS * 8),
		probed_allocate((size_t)PROBED_WORDS * 8), probed_allocate(64)};
}

void probed_copy(const char *name, void *to, const void *from, size_t bytes)
{
	struct kwhy_cupti_parameters_copy parameters = {(uintptr_t)to, (uintptr_t)from, bytes, probed_stream};
	struct kwhy_cupti_callback data = {.parameters = &parameters, .correlation = ++correlation};
	enum kwhy_cuda_result result;

	probed_call(name, &data, KWHY_CUPTI_ENTER);
	result = probed_cuda.copy((uintptr_t)to, (uintptr_t)from, bytes, probed_stream);
	data.result = &result;
	probed_call(name, &data, KWHY_CUPTI_EXIT);
}

void probed_set(void *to, unsigned value, size_t count)
{
	struct kwhy_cupti_parameters_set parameters = {(uintptr_t)to, value, count, probed_stream};
	struct kwhy_cupti_callback data = {.parameters = &parameters, .correlation = ++correlation};
	enum kwhy_cuda_result result;

	probed_call("cuMemsetD32Async", &data, KWHY_CUPTI_ENTER);
	result = probed_cuda.set((uintptr_t)to, value, count, probed_stream);
	data.result = &result;
	probed_call("cuMemsetD32Async", &data, KWHY_CUPTI_EXIT);
}
