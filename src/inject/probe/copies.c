/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/copies.h"

#include "inject/labels.h"

#include <stdio.h>

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

static enum kwhy_probe_copy_origin origin_of(
	const struct kwhy_cuda_probe *driver, const struct kwhy_probe_copy *copy)
{
	int type = 0;

	if (copy->width)
		return KWHY_PROBE_COPY_SET;
	if (driver->cuPointerGetAttribute(&type, KWHY_CUDA_POINTER_MEMORY_TYPE, copy->from))
		return KWHY_PROBE_COPY_FROM_PAGEABLE;
	return type == KWHY_CUDA_MEMORY_HOST ? KWHY_PROBE_COPY_FROM_PINNED : KWHY_PROBE_COPY_FROM_DEVICE;
}

/* Size class of a copy of `bytes` bytes: the exponent of the largest power of two that is not above it. */
static unsigned size_of(uint64_t bytes)
{
	return 63u - (unsigned)__builtin_clzll(bytes);
}

static void write_name(
	char name[KWHY_PROBE_COPY_NAME_BYTES], enum kwhy_probe_copy_origin origin, unsigned size)
{
	static const char *const words[] = {
		[KWHY_PROBE_COPY_SET] = "memset",
		[KWHY_PROBE_COPY_FROM_DEVICE] = "copy within the device",
		[KWHY_PROBE_COPY_FROM_PINNED] = "copy from pinned memory",
		[KWHY_PROBE_COPY_FROM_PAGEABLE] = "copy from pageable memory",
	};

	snprintf(name, KWHY_PROBE_COPY_NAME_BYTES, "%s, 2^%u bytes and more", words[origin], size);
}

struct kwhy_probe_shape kwhy_probe_copy_shape(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_copy *copy, char name[KWHY_PROBE_COPY_NAME_BYTES])
{
	static const char keys[KWHY_PROBE_COPY_FROM_PAGEABLE + 1]
			      [64]; /* objects of which only the addresses are used: [origin][size class]
				       stands for the kernel's function in the key of an account */
	const enum kwhy_probe_copy_origin origin = origin_of(driver, copy);

	write_name(name, origin, size_of(copy->bytes));
	return (struct kwhy_probe_shape){.function = &keys[origin][size_of(copy->bytes)],
		.grid = {KWHY_PROBE_BLOCKS_UNKNOWN, 1, 1},
		.block = {UINT16_MAX, 1, 1},
		.name = name};
}

void kwhy_probe_copy_add_busy(struct kwhy_probe_accounts *accounts, enum kwhy_probe_copy_origin origin,
	uint64_t bytes, int64_t busy_ns)
{
	char name[KWHY_PROBE_COPY_NAME_BYTES];

	if (bytes < KWHY_PROBE_COPY_BYTES_MIN)
		return;
	write_name(name, origin, size_of(bytes));
	kwhy_probe_account_add_busy(
		accounts, kwhy_inject_label_hash(name), KWHY_PROBE_BLOCKS_UNKNOWN, UINT16_MAX, busy_ns);
}
