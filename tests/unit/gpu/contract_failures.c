/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a back end refuses what the GPU cannot do, that a lost GPU stays lost, and that each call that
 * fails returns an error which names it.
 */
#include "contract.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void more_than_there_is_is_refused(void **state)
{
	const struct kwhy_gpu_kernel *kernel = NULL;
	struct kwhy_gpu_module *module = NULL;
	uint64_t address = 0;
	uint32_t resident = 0;
	struct kwhy_gpu_launch launch = {.blocks = 0, .threads_per_block = 32};

	(void)state;
	assert_int_equal(ops->memory_new(gpu, (size_t)1 << 60, &address, &failure), KWHY_E_MEMORY);
	succeeds(ops->module_new(gpu, &source, &module, &failure));
	assert_int_equal(ops->kernel_find(gpu, module, "none", &kernel, &failure), KWHY_E_UNSUPPORTED);
	succeeds(ops->kernel_find(gpu, module, "nothing", &kernel, &failure));
	succeeds(ops->resident_blocks(gpu, kernel, 256, &resident, &failure));
	assert_true(resident > 0);
	launch.kernel = kernel;
	assert_int_equal(ops->launch(gpu, &launch, &failure), KWHY_E_UNSUPPORTED);
	launch.blocks = 2;
	launch.cooperative = true;
	launch.shared_bytes = 48 << 10; /* 48 KiB and the kernel's static memory are more than a launch may
					   use unless the back end opts in, which it must do */
	succeeds(ops->launch(gpu, &launch, &failure));
	launch.shared_bytes = backend == KWHY_GPU_HIP ? 60 << 10 : 100 << 10;
	succeeds(ops->launch(gpu, &launch, &failure));
	succeeds(ops->synchronize(gpu, NULL, &failure));
	if (backend == KWHY_GPU_HOST)
		return;
	launch.shared_bytes = 0;
	launch.blocks = 1u << 20;
	assert_int_equal(ops->launch(gpu, &launch, &failure), KWHY_E_UNSUPPORTED);
	launch.cooperative = false;
	launch.shared_bytes = 1u << 20;
	assert_int_equal(ops->launch(gpu, &launch, &failure), KWHY_E_UNSUPPORTED);
	ops->module_free(gpu, module);
}

void a_lost_gpu_is_lost_for_good(void **state)
{
	uint64_t device = device_memory();

	(void)state;
	if (!library)
		kwhy_skip("needs a fake driver");
	setenv("KWHY_FAKE_CUDA", "fail:cuMemsetD8Async:1:719", 1);
	assert_int_equal(ops->fill(gpu, NULL, device, 0, BYTES, &failure), KWHY_E_LOST);
	assert_non_null(strstr(failure.text, "lost"));
	assert_int_equal(ops->synchronize(gpu, NULL, &failure), KWHY_E_LOST);
	ops->memory_free(gpu, device);
}

struct only_launch {
	struct kwhy_gpu *gpu;
	const struct kwhy_gpu_launch *launch;
};

static enum kwhy_status run_launch(void *context, struct kwhy_error *error)
{
	const struct only_launch *only = context;

	return only->gpu->ops->launch(only->gpu, only->launch, error);
}

/* Makes most of the calls of the interface, and frees what it created. */
static enum kwhy_status use_everything(struct kwhy_gpu *used)
{
	const struct kwhy_gpu_ops *its = used->ops;
	struct kwhy_gpu_host host = {0};
	struct kwhy_gpu_module *module = NULL;
	const struct kwhy_gpu_kernel *kernel = NULL;
	struct kwhy_gpu_event *event = NULL;
	struct kwhy_gpu_gate *gate = NULL;
	struct kwhy_gpu_graph *graph = NULL;
	struct kwhy_gpu_copy there = {.bytes = 64};
	struct kwhy_gpu_shared shared;
	struct kwhy_gpu_launch launch = {.blocks = 1, .threads_per_block = 1};
	struct only_launch only = {used, &launch};
	enum kwhy_status status = its->host_new(used, KWHY_GPU_HOST_REGISTERED, BYTES, 0, &host, &failure);

	if (!status)
		status = its->memory_new(used, BYTES, &there.to, &failure);
	there.from = kwhy_gpu_address(host.memory);
	if (!status)
		status = its->copy_now(used, &there, &failure);
	if (!status)
		status = its->copy(used, NULL, &there, &failure);
	if (!status)
		status = its->fill(used, NULL, there.to, 1, BYTES, &failure);
	if (!status && its->copy_batch)
		status = its->copy_batch(used, NULL, &there, 1, &failure);
	if (!status)
		status = its->module_new(used, &source, &module, &failure);
	if (!status)
		status = its->kernel_find(used, module, "nothing", &kernel, &failure);
	launch.kernel = kernel;
	launch.early = true;
	if (!status)
		status = its->launch(used, &launch, &failure);
	launch.early = false;
	if (!status && its->memory_share)
		status = its->memory_share(used, there.to, &shared, &failure);
	if (!status)
		status = kwhy_gpu_capture(used, NULL, run_launch, &only, &graph, &failure);
	if (!status)
		status = its->graph_launch(used, NULL, graph, &failure);
	if (!status)
		status = its->event_new(used, true, &event, &failure);
	if (!status)
		status = its->gate_new(used, &gate, &failure);
	if (!status)
		status = its->gate_hold(used, gate, NULL, &failure);
	if (!status)
		status = its->event_record(used, event, NULL, &failure);
	if (!status)
		status = its->stream_wait(used, NULL, event, &failure);
	if (!status)
		status = its->gate_open(used, gate, &failure);
	if (!status)
		status = its->event_synchronize(used, event, &failure);
	if (!status)
		status = its->synchronize(used, NULL, &failure);
	its->gate_free(used, gate);
	its->event_free(used, event);
	its->graph_free(used, graph);
	its->module_free(used, module);
	its->memory_free(used, there.to);
	its->host_free(used, &host);
	return status;
}

static bool driver_has(const char *call)
{
	void *handle = dlopen(library, RTLD_NOW);
	bool found = handle && dlsym(handle, call);

	if (handle)
		dlclose(handle);
	return found;
}

void every_call_that_fails_is_told_and_named(void **state)
{
	static const char *const calls[] = {"cuCtxSetCurrent", "cuStreamCreate", "cuMemHostRegister_v2",
		"cuMemHostGetDevicePointer_v2", "cuMemAlloc_v2", "cuMemcpy", "cuMemcpyAsync",
		"cuMemsetD8Async", "cuModuleLoadData", "cuModuleGetFunction", "cuStreamBeginCapture_v2",
		"cuLaunchKernel", "cuStreamEndCapture", "cuGraphInstantiateWithFlags", "cuGraphLaunch",
		"cuEventCreate", "cuMemHostAlloc", "cuEventRecord", "cuStreamWaitEvent", "cuEventQuery",
		"cuStreamSynchronize", "cuIpcGetMemHandle", "cuLaunchKernelEx"};
	size_t count = sizeof(calls) / sizeof(calls[0]);
	static const struct {
		int result;
		enum kwhy_status status;
	} kinds[] = {{801, KWHY_E_UNSUPPORTED}, {2, KWHY_E_MEMORY}, {700, KWHY_E_LOST}};

	(void)state;
	if (!library)
		kwhy_skip("needs a fake driver");
	count -= !driver_has(calls[count - 1]);
	setenv("KWHY_FAKE_CUDA_SHARED", "1", 1);
	succeeds(use_everything(gpu));
	for (size_t i = 0; i < count * 3; i++) {
		struct kwhy_gpu *used = NULL;
		enum kwhy_status status;
		char scenario[96];

		snprintf(scenario, sizeof(scenario), "fail:%s:1:%d", calls[i / 3], kinds[i % 3].result);
		setenv("KWHY_FAKE_CUDA", scenario, 1);
		failure.text[0] = '\0';
		status = kwhy_gpu_open(backend, "0", &used, &failure);
		if (!status) {
			status = use_everything(used);
			used->ops->close(used);
		} else if (kinds[i % 3].status == KWHY_E_LOST) {
			/*
			 * opening fails as unsupported in place of lost, as there is no context yet: that is
			 * right, too
			 */
			status = status == KWHY_E_UNSUPPORTED ? KWHY_E_LOST : KWHY_OK;
		}
		if (status != kinds[i % 3].status)
			fail_msg("%s: %d %s", scenario, status, failure.text);
		assert_non_null(strstr(failure.text, " cannot "));
	}
	unsetenv("KWHY_FAKE_CUDA_SHARED");
}
