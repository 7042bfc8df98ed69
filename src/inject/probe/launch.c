/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/launch.h"

#include <string.h>

enum { ATTRIBUTES_MAX = 32 };

kwhy_cuda_stream kwhy_probe_stream_of(kwhy_cuda_stream stream, bool is_of_thread)
{
	return stream || !is_of_thread
		? stream
		: (kwhy_cuda_stream)(uintptr_t)
			  KWHY_CUDA_STREAM_PER_THREAD; /* NOLINT(performance-no-int-to-ptr) */
}

static void read_plain(
	struct kwhy_probe_launch *out, const struct kwhy_cupti_parameters_launch *launch, bool is_of_thread)
{
	out->function = launch->function;
	memcpy(out->grid, launch->grid, sizeof(out->grid));
	memcpy(out->block, launch->block, sizeof(out->block));
	out->shared_bytes = launch->shared_bytes;
	out->stream = kwhy_probe_stream_of(launch->stream, is_of_thread);
	out->arguments = launch->arguments;
	out->extra = launch->extra;
}

static void read_with(struct kwhy_probe_launch *out, const struct kwhy_cupti_parameters_launch_with *launch,
	bool is_of_thread)
{
	const struct kwhy_cuda_launch_config *config = launch->config;

	out->function = launch->function;
	memcpy(out->grid, config->grid, sizeof(out->grid));
	memcpy(out->block, config->block, sizeof(out->block));
	out->shared_bytes = config->shared_bytes;
	out->stream = kwhy_probe_stream_of(config->stream, is_of_thread);
	out->config = config;
	out->arguments = launch->arguments;
	out->extra = launch->extra;
}

void kwhy_probe_launch_read(struct kwhy_probe_launch *out, const struct kwhy_cupti_callback *data,
	bool is_with, bool is_of_thread)
{
	*out = (struct kwhy_probe_launch){.context = data->context,
		.context_id = data->context_id,
		.correlation = data->correlation,
		.name = data->symbol ? data->symbol : ""};
	if (is_with)
		read_with(out, data->parameters, is_of_thread);
	else
		read_plain(out, data->parameters, is_of_thread);
}

enum kwhy_probe_reason kwhy_probe_launch_refuse(
	const struct kwhy_cuda_probe *driver, const struct kwhy_probe_launch *launch)
{
	const struct kwhy_cuda_launch_config *config = launch->config;
	int capture = KWHY_CUDA_CAPTURE_NONE;

	if (driver->cuStreamIsCapturing(launch->stream, &capture) || capture != KWHY_CUDA_CAPTURE_NONE)
		return KWHY_PROBE_CAPTURED;
	if (config && (!driver->cuLaunchKernelEx || config->attribute_count > ATTRIBUTES_MAX))
		return KWHY_PROBE_FAILED;
	for (unsigned i = 0; config && i < config->attribute_count; i++)
		if (config->attributes[i].id == KWHY_CUDA_LAUNCH_COOPERATIVE &&
			config->attributes[i].value.number)
			return KWHY_PROBE_COOPERATIVE;
		else if (config->attributes[i].id == KWHY_CUDA_LAUNCH_UPDATABLE_NODE)
			return KWHY_PROBE_GRAPH;
	return KWHY_PROBE_NONE;
}

static bool ties_to_other_work(const struct kwhy_cuda_launch_attribute *attribute)
{
	return attribute->id == KWHY_CUDA_LAUNCH_EARLY || attribute->id == KWHY_CUDA_LAUNCH_EARLY_EVENT ||
		attribute->id == KWHY_CUDA_LAUNCH_COMPLETION_EVENT;
}

static enum kwhy_cuda_result repeat_with(
	const struct kwhy_cuda_probe *driver, const struct kwhy_probe_launch *launch)
{
	struct kwhy_cuda_launch_attribute attributes[ATTRIBUTES_MAX];
	struct kwhy_cuda_launch_config config = *launch->config;

	config.stream = launch->stream;
	config.attributes = attributes;
	config.attribute_count = 0;
	for (unsigned i = 0; i < launch->config->attribute_count; i++)
		if (!ties_to_other_work(&launch->config->attributes[i]))
			attributes[config.attribute_count++] = launch->config->attributes[i];
	return driver->cuLaunchKernelEx(&config, launch->function, launch->arguments, launch->extra);
}

static enum kwhy_cuda_result repeat_copy(
	const struct kwhy_cuda_probe *driver, const struct kwhy_probe_copy *copy, kwhy_cuda_stream stream)
{
	switch (copy->width) {
	case 0:
		return driver->cuMemcpyAsync(copy->to, copy->from, copy->bytes, stream);
	case 1:
		return driver->cuMemsetD8Async(copy->to, (unsigned char)copy->value, copy->bytes, stream);
	case 2:
		return driver->cuMemsetD16Async(
			copy->to, (unsigned short)copy->value, copy->bytes / 2, stream);
	default:
		return driver->cuMemsetD32Async(copy->to, copy->value, copy->bytes / 4, stream);
	}
}

enum kwhy_cuda_result kwhy_probe_launch_repeat(
	const struct kwhy_cuda_probe *driver, const struct kwhy_probe_launch *launch)
{
	if (launch->copy.bytes)
		return repeat_copy(driver, &launch->copy, launch->stream);
	if (launch->config)
		return repeat_with(driver, launch);
	return driver->cuLaunchKernel(launch->function, launch->grid[0], launch->grid[1], launch->grid[2],
		launch->block[0], launch->block[1], launch->block[2], launch->shared_bytes, launch->stream,
		launch->arguments, launch->extra);
}
