/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of chunks on the device, after their copy. */
#include "transfer/convert.h"
#include "transfer/kernels.h"
#include "transfer/loader.h"

enum { THREADS = 256, BLOCKS_MAX = 2048 };

enum kwhy_status kwhy_transfer_loader_prepare_converting(
	struct kwhy_transfer_loader *loader, struct kwhy_error *error)
{
	static const char *const names[] = {
		[KWHY_TRANSFER_F16] = "kwhy_transfer_to_f16",
		[KWHY_TRANSFER_BF16] = "kwhy_transfer_to_bf16",
		[KWHY_TRANSFER_I8] = "kwhy_transfer_to_i8",
	};
	struct kwhy_gpu *gpu = loader->transfer->gpu;
	const struct kwhy_gpu_ops *ops = loader->transfer->ops;
	enum kwhy_status status;

	if (!kwhy_transfer_loader_converts(loader, true))
		return KWHY_OK;
	status = ops->memory_new(gpu, loader->slots * loader->stride, &loader->converted, error);
	if (!status)
		status = ops->module_new(gpu, &kwhy_transfer_convert_kernels, &loader->module, error);
	if (!status)
		status = ops->kernel_find(
			gpu, loader->module, names[loader->options.format], &loader->kernel, error);
	return status;
}

void kwhy_transfer_loader_end_converting(struct kwhy_transfer_loader *loader)
{
	loader->transfer->ops->memory_free(loader->transfer->gpu, loader->converted);
	loader->transfer->ops->module_free(loader->transfer->gpu, loader->module);
}

enum kwhy_status kwhy_transfer_loader_convert(
	struct kwhy_transfer_loader *loader, uint64_t chunk, uint64_t floats, struct kwhy_error *error)
{
	uint64_t slot = chunk % loader->slots * loader->stride, from = loader->device + slot,
		 to = loader->converted + slot, blocks = (floats + THREADS - 1) / THREADS;
	float inverse = kwhy_transfer_inverse(loader->options.format, loader->options.scale);
	void *arguments[] = {&from, &to, &floats, &inverse};
	struct kwhy_gpu_launch launch = {
		.kernel = loader->kernel,
		.blocks = (uint32_t)(blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX),
		.threads_per_block = THREADS,
		.arguments = arguments,
		.stream = loader->transfer->stream,
	};

	return loader->transfer->ops->launch(loader->transfer->gpu, &launch, error);
}
