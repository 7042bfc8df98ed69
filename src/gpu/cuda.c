/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/gpu.h"

#include "vendor/cuda.h"
#include "vendor/nvrtc.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct cuda_gpu {
	struct kwhy_gpu gpu;
	struct kwhy_cuda cuda;
	struct kwhy_nvrtc nvrtc;
	kwhy_cuda_device device;
	kwhy_cuda_context context;
	kwhy_cuda_stream stream;
};

struct kwhy_gpu_module {
	kwhy_cuda_module module;
};

static struct cuda_gpu *cuda_of(struct kwhy_gpu *gpu)
{
	return (struct cuda_gpu *)(void *)gpu;
}

/* Kernels are the driver's own objects, called by our name outside. */
static kwhy_cuda_function function_of(const struct kwhy_gpu_kernel *kernel)
{
	return (kwhy_cuda_function)(void *)(size_t)kernel;
}

static enum kwhy_status check(
	struct kwhy_gpu *gpu, enum kwhy_cuda_result result, const char *what, struct kwhy_error *error)
{
	if (result == KWHY_CUDA_SUCCESS)
		return KWHY_OK;
	return kwhy_fail(error, result == KWHY_CUDA_OUT_OF_MEMORY ? KWHY_E_MEMORY : KWHY_E_UNSUPPORTED,
		"%s cannot %s: %s; see dmesg for what the driver says, and stop other programs on this GPU",
		gpu->facts.name[0] ? gpu->facts.name : "the GPU", what,
		kwhy_cuda_words(&cuda_of(gpu)->cuda, result));
}

static void cuda_close(struct kwhy_gpu *gpu)
{
	struct cuda_gpu *self = cuda_of(gpu);

	if (self->stream)
		self->cuda.cuStreamDestroy_v2(self->stream);
	if (self->context)
		self->cuda.cuDevicePrimaryCtxRelease_v2(self->device);
	kwhy_nvrtc_close(&self->nvrtc);
	kwhy_cuda_close(&self->cuda);
	free(self);
}

static enum kwhy_status module_new(struct kwhy_gpu *gpu, const char *title, const char *source,
	struct kwhy_gpu_module **out, struct kwhy_error *error)
{
	struct cuda_gpu *self = cuda_of(gpu);
	struct kwhy_gpu_module *module = calloc(1, sizeof(*module));
	char *cubin = NULL;
	enum kwhy_status status = module
		? kwhy_nvrtc_compile(&self->nvrtc, title, source, gpu->facts.architecture, &cubin, error)
		: kwhy_fail_memory(error, title);

	if (!status)
		status = check(
			gpu, self->cuda.cuModuleLoadData(&module->module, cubin), "load kernels", error);
	free(cubin);
	if (status)
		free(module);
	else
		*out = module;
	return status;
}

static void module_free(struct kwhy_gpu *gpu, struct kwhy_gpu_module *module)
{
	if (module)
		cuda_of(gpu)->cuda.cuModuleUnload(module->module);
	free(module);
}

static enum kwhy_status kernel_find(struct kwhy_gpu *gpu, struct kwhy_gpu_module *module, const char *name,
	const struct kwhy_gpu_kernel **out, struct kwhy_error *error)
{
	kwhy_cuda_function function = NULL;
	enum kwhy_status status = check(gpu,
		cuda_of(gpu)->cuda.cuModuleGetFunction(&function, module->module, name), "find a kernel",
		error);

	if (!status)
		*out = (const struct kwhy_gpu_kernel *)(const void *)function;
	return status;
}

static enum kwhy_status resident_blocks(struct kwhy_gpu *gpu, const struct kwhy_gpu_kernel *kernel,
	uint32_t threads_per_block, uint32_t *out, struct kwhy_error *error)
{
	int blocks = 0;
	enum kwhy_status status = check(gpu,
		cuda_of(gpu)->cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(
			&blocks, function_of(kernel), (int)threads_per_block, 0),
		"say how many blocks it holds", error);

	if (!status)
		*out = blocks > 0 ? (uint32_t)blocks : 1;
	return status;
}

static enum kwhy_status memory_new(
	struct kwhy_gpu *gpu, size_t bytes, uint64_t *out_address, struct kwhy_error *error)
{
	kwhy_cuda_address address = 0;
	enum kwhy_status status = check(
		gpu, cuda_of(gpu)->cuda.cuMemAlloc_v2(&address, bytes), "allocate memory", error);

	if (!status)
		*out_address = address;
	return status;
}

static void memory_free(struct kwhy_gpu *gpu, uint64_t address)
{
	if (address)
		cuda_of(gpu)->cuda.cuMemFree_v2(address);
}

static enum kwhy_status pinned_new(struct kwhy_gpu *gpu, size_t bytes, void **out, struct kwhy_error *error)
{
	return check(gpu, cuda_of(gpu)->cuda.cuMemAllocHost_v2(out, bytes), "pin host memory", error);
}

static void pinned_free(struct kwhy_gpu *gpu, void *memory)
{
	if (memory)
		cuda_of(gpu)->cuda.cuMemFreeHost(memory);
}

static enum kwhy_status copy_to(
	struct kwhy_gpu *gpu, uint64_t to, const void *from, size_t bytes, struct kwhy_error *error)
{
	return check(gpu, cuda_of(gpu)->cuda.cuMemcpyHtoD_v2(to, from, bytes), "copy from the host", error);
}

static enum kwhy_status copy_from(
	struct kwhy_gpu *gpu, void *to, uint64_t from, size_t bytes, struct kwhy_error *error)
{
	return check(gpu, cuda_of(gpu)->cuda.cuMemcpyDtoH_v2(to, from, bytes), "copy to the host", error);
}

static enum kwhy_status launch_kernel(
	struct kwhy_gpu *gpu, const struct kwhy_gpu_launch *launch, struct kwhy_error *error)
{
	struct cuda_gpu *self = cuda_of(gpu);

	return check(gpu,
		self->cuda.cuLaunchKernel(function_of(launch->kernel), launch->blocks, 1, 1,
			launch->threads_per_block, 1, 1, 0, self->stream, launch->arguments, NULL),
		"launch a kernel", error);
}

static enum kwhy_status synchronize(struct kwhy_gpu *gpu, struct kwhy_error *error)
{
	struct cuda_gpu *self = cuda_of(gpu);

	return check(gpu, self->cuda.cuStreamSynchronize(self->stream), "finish its work", error);
}

static enum kwhy_status graph_new(struct kwhy_gpu *gpu, const struct kwhy_gpu_launch *launch,
	struct kwhy_gpu_graph **out, struct kwhy_error *error)
{
	struct cuda_gpu *self = cuda_of(gpu);
	const struct kwhy_cuda *cuda = &self->cuda;
	kwhy_cuda_graph_exec exec = NULL;
	kwhy_cuda_graph graph = NULL;
	enum kwhy_cuda_result ended;
	enum kwhy_status status = check(gpu,
		cuda->cuStreamBeginCapture_v2(self->stream, KWHY_CUDA_CAPTURE_THREAD_LOCAL), "record a graph",
		error);

	if (status)
		return status;
	status = launch_kernel(gpu, launch, error);
	ended = cuda->cuStreamEndCapture(self->stream, &graph);
	if (!status)
		status = check(gpu, ended, "record a graph", error);
	if (!status)
		status = check(
			gpu, cuda->cuGraphInstantiateWithFlags(&exec, graph, 0), "make a graph", error);
	if (graph)
		cuda->cuGraphDestroy(graph);
	if (!status)
		*out = (struct kwhy_gpu_graph *)(void *)exec;
	return status;
}

static enum kwhy_status graph_launch(
	struct kwhy_gpu *gpu, struct kwhy_gpu_graph *graph, struct kwhy_error *error)
{
	struct cuda_gpu *self = cuda_of(gpu);

	return check(gpu, self->cuda.cuGraphLaunch((kwhy_cuda_graph_exec)(void *)graph, self->stream),
		"launch a graph", error);
}

static void graph_free(struct kwhy_gpu *gpu, struct kwhy_gpu_graph *graph)
{
	if (graph)
		cuda_of(gpu)->cuda.cuGraphExecDestroy((kwhy_cuda_graph_exec)(void *)graph);
}

#define CUDA_OPS                                                                                   \
	.name = "cuda", .close = cuda_close, .module_new = module_new, .module_free = module_free, \
	.kernel_find = kernel_find, .resident_blocks = resident_blocks, .memory_new = memory_new,  \
	.memory_free = memory_free, .pinned_new = pinned_new, .pinned_free = pinned_free,          \
	.copy_to = copy_to, .copy_from = copy_from, .launch = launch_kernel, .synchronize = synchronize

static const struct kwhy_gpu_ops ops_plain = {CUDA_OPS};
static const struct kwhy_gpu_ops ops_with_graphs = {
	CUDA_OPS, .graph_new = graph_new, .graph_launch = graph_launch, .graph_free = graph_free};

static bool has_graphs(const struct kwhy_cuda *cuda)
{
	return cuda->cuStreamBeginCapture_v2 && cuda->cuStreamEndCapture &&
		cuda->cuGraphInstantiateWithFlags && cuda->cuGraphLaunch && cuda->cuGraphExecDestroy &&
		cuda->cuGraphDestroy;
}

static uint32_t attribute(const struct cuda_gpu *self, int which)
{
	int value = 0;

	if (self->cuda.cuDeviceGetAttribute(&value, which, self->device) != KWHY_CUDA_SUCCESS || value < 0)
		return 0;
	return (uint32_t)value;
}

static void learn_facts(struct cuda_gpu *self)
{
	struct kwhy_gpu_facts *facts = &self->gpu.facts;
	int version = 0, major = 0, minor = 0;

	if (self->cuda.cuDeviceGetName(facts->name, sizeof(facts->name), self->device) != KWHY_CUDA_SUCCESS)
		snprintf(facts->name, sizeof(facts->name), "GPU");
	facts->architecture = (int)(attribute(self, KWHY_CUDA_ATTRIBUTE_CAPABILITY_MAJOR) * 10 +
		attribute(self, KWHY_CUDA_ATTRIBUTE_CAPABILITY_MINOR));
	facts->sm_count = attribute(self, KWHY_CUDA_ATTRIBUTE_MULTIPROCESSORS);
	facts->threads_per_sm = attribute(self, KWHY_CUDA_ATTRIBUTE_THREADS_PER_MULTIPROCESSOR);
	facts->registers_per_sm = attribute(self, KWHY_CUDA_ATTRIBUTE_REGISTERS_PER_MULTIPROCESSOR);
	facts->shared_bytes_per_sm = attribute(self, KWHY_CUDA_ATTRIBUTE_SHARED_BYTES_PER_MULTIPROCESSOR);
	if (self->cuda.cuDriverGetVersion(&version) == KWHY_CUDA_SUCCESS)
		snprintf(facts->driver_api, sizeof(facts->driver_api), "%d.%d", version / 1000,
			version % 1000 / 10);
	if (self->nvrtc.nvrtcVersion(&major, &minor) == KWHY_NVRTC_SUCCESS)
		snprintf(facts->compiler, sizeof(facts->compiler), "%d.%d", major, minor);
}

static enum kwhy_status make_context(struct cuda_gpu *self, const char *pci_address, struct kwhy_error *error)
{
	const struct kwhy_cuda *cuda = &self->cuda;
	enum kwhy_status status = check(&self->gpu,
		pci_address ? cuda->cuDeviceGetByPCIBusId(&self->device, pci_address)
			    : cuda->cuDeviceGet(&self->device, 0),
		"be found by CUDA (is it in CUDA_VISIBLE_DEVICES?)", error);

	if (status)
		return status;
	learn_facts(self);
	status = check(&self->gpu, cuda->cuDevicePrimaryCtxRetain(&self->context, self->device),
		"make a context", error);
	if (!status)
		status = check(&self->gpu, cuda->cuCtxSetCurrent(self->context), "use a context", error);
	if (!status)
		status = check(&self->gpu, cuda->cuStreamCreate(&self->stream, KWHY_CUDA_STREAM_NON_BLOCKING),
			"make a stream", error);
	return status;
}

static enum kwhy_status open_libraries(struct cuda_gpu *self, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_cuda_open(&self->cuda, error);

	if (status)
		return status;
	status = kwhy_nvrtc_open(&self->nvrtc, error);
	if (status)
		kwhy_cuda_close(&self->cuda);
	return status;
}

enum kwhy_status kwhy_gpu_cuda_open(const char *pci_address, struct kwhy_gpu **out, struct kwhy_error *error)
{
	struct cuda_gpu *self = calloc(1, sizeof(*self));
	enum kwhy_status status = self ? open_libraries(self, error)
				       : kwhy_fail_memory(error, "the state of a GPU");

	if (status) {
		free(self);
		return status;
	}
	self->gpu.ops = has_graphs(&self->cuda) ? &ops_with_graphs : &ops_plain;
	status = make_context(self, pci_address, error);
	if (status)
		cuda_close(&self->gpu);
	else
		*out = &self->gpu;
	return status;
}
