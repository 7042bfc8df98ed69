/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/device.h"

#include "gpu/compile.h"

#include <stdio.h>
#include <stdlib.h>

static kwhy_cuda_function function_of(const struct kwhy_gpu_kernel *kernel)
{
	return (kwhy_cuda_function)(void *)(size_t)kernel;
}

static kwhy_cuda_module module_of(struct kwhy_gpu_module *module)
{
	return (kwhy_cuda_module)(void *)module;
}

static enum kwhy_status module_new(struct kwhy_gpu *gpu, const struct kwhy_gpu_source *source,
	struct kwhy_gpu_module **out, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);
	struct kwhy_rtc_code code = {0};
	kwhy_cuda_module module = NULL;
	enum kwhy_status status = kwhy_gpu_compile(&self->compiler, source, &gpu->facts, &code, error);

	if (!status)
		status = kwhy_gpu_device_check(
			self, self->driver.module_load(&module, code.bytes), "load kernels", error);
	free(code.bytes);
	if (!status)
		*out = (struct kwhy_gpu_module *)(void *)module;
	return status;
}

static void module_free(struct kwhy_gpu *gpu, struct kwhy_gpu_module *module)
{
	if (module)
		kwhy_gpu_device(gpu)->driver.module_unload(module_of(module));
}

static enum kwhy_status kernel_find(struct kwhy_gpu *gpu, struct kwhy_gpu_module *module, const char *name,
	const struct kwhy_gpu_kernel **out, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);
	kwhy_cuda_function function = NULL;
	enum kwhy_cuda_result result = self->driver.module_function(&function, module_of(module), name);
	enum kwhy_status status;
	char what[96];

	snprintf(what, sizeof(what), "find the kernel %.60s", name);
	status = kwhy_gpu_device_check(self, result, what, error);
	if (!status)
		*out = (const struct kwhy_gpu_kernel *)(const void *)function;
	return status;
}

static enum kwhy_status resident_blocks(struct kwhy_gpu *gpu, const struct kwhy_gpu_kernel *kernel,
	uint32_t threads_per_block, uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);
	int blocks = 0;
	enum kwhy_status status = kwhy_gpu_device_check(self,
		self->driver.resident_blocks(&blocks, function_of(kernel), (int)threads_per_block, 0),
		"say how many blocks it holds", error);

	if (!status)
		*out = blocks > 0 ? (uint32_t)blocks : 1;
	return status;
}

static enum kwhy_status launch_cooperative(struct kwhy_gpu_device *self, const struct kwhy_gpu_launch *launch,
	kwhy_cuda_stream stream, struct kwhy_error *error)
{
	enum kwhy_cuda_result result = self->driver.launch_cooperative
		? self->driver.launch_cooperative(function_of(launch->kernel), launch->blocks, 1, 1,
			  launch->threads_per_block, 1, 1, launch->shared_bytes, stream, launch->arguments)
		: KWHY_CUDA_NOT_SUPPORTED;

	return kwhy_gpu_device_check(self, result, "launch all blocks of a kernel concurrently", error);
}

static enum kwhy_status launch(
	struct kwhy_gpu *gpu, const struct kwhy_gpu_launch *launch, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);
	kwhy_cuda_function function = function_of(launch->kernel);
	kwhy_cuda_stream stream = kwhy_gpu_device_stream(self, launch->stream);
	enum kwhy_status status = kwhy_gpu_device_check(self,
		kwhy_driver_allow_shared(&self->driver, function, launch->shared_bytes),
		"give a block that much shared memory", error);

	if (status)
		return status;
	if (launch->cooperative)
		return launch_cooperative(self, launch, stream, error);
	if (launch->early)
		return kwhy_gpu_device_check(self,
			kwhy_driver_launch_early(&self->driver, function, launch->blocks,
				launch->threads_per_block, launch->shared_bytes, stream, launch->arguments),
			"launch a kernel early", error);
	return kwhy_gpu_device_check(self,
		self->driver.launch(function, launch->blocks, 1, 1, launch->threads_per_block, 1, 1,
			launch->shared_bytes, stream, launch->arguments, NULL),
		"launch a kernel", error);
}

void kwhy_gpu_device_add_kernels(struct kwhy_gpu_ops *ops)
{
	ops->module_new = module_new;
	ops->module_free = module_free;
	ops->kernel_find = kernel_find;
	ops->resident_blocks = resident_blocks;
	ops->launch = launch;
}
