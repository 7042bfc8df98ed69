/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/copies.h"

#include <stdio.h>

enum { SET, FROM_DEVICE, FROM_PINNED, FROM_PAGEABLE };

bool kwhy_probe_copy_read(struct kwhy_probe_launch *out, const struct kwhy_cupti_callback *data,
	unsigned width, bool is_of_thread)
{
	const struct kwhy_cupti_parameters_copy *copy = data->parameters;
	const struct kwhy_cupti_parameters_set *set = data->parameters;

	*out = (struct kwhy_probe_launch){.context = data->context,
		.context_id = data->context_id,
		.correlation = data->correlation,
		.stream = kwhy_probe_stream_of(width ? set->stream : copy->stream, is_of_thread)};
	if (width)
		out->copy = (struct kwhy_probe_copy){
			.to = set->to, .bytes = set->count * width, .value = set->value, .width = width};
	else
		out->copy = (struct kwhy_probe_copy){
			.to = copy->to, .from = copy->from, .bytes = copy->bytes};
	return out->copy.bytes >= KWHY_PROBE_COPY_BYTES_MIN;
}

static unsigned origin_of(const struct kwhy_cuda_probe *driver, const struct kwhy_probe_copy *copy)
{
	int type = 0;

	if (copy->width)
		return SET;
	if (driver->cuPointerGetAttribute(&type, KWHY_CUDA_POINTER_MEMORY_TYPE, copy->from))
		return FROM_PAGEABLE;
	return type == KWHY_CUDA_MEMORY_HOST ? FROM_PINNED : FROM_DEVICE;
}

struct kwhy_probe_shape kwhy_probe_copy_shape(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_copy *copy, char name[KWHY_PROBE_COPY_NAME_BYTES])
{
	static const char *const words[] = {
		"memset", "copy within the device", "copy from pinned memory", "copy from pageable memory"};
	static const char keys[sizeof(words) / sizeof(words[0])]
			      [64]; /* the address stands for the function in the key of a copy: one for each
				       kind and size */
	const unsigned origin = origin_of(driver, copy), size = 63u - (unsigned)__builtin_clzll(copy->bytes);

	snprintf(name, KWHY_PROBE_COPY_NAME_BYTES, "%s, 2^%u bytes and more", words[origin], size);
	return (struct kwhy_probe_shape){.function = &keys[origin][size],
		.grid = {KWHY_PROBE_BLOCKS_UNKNOWN, 1, 1},
		.block = {UINT16_MAX, 1, 1},
		.name = name};
}
