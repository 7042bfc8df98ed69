/* SPDX-License-Identifier: Apache-2.0 */
#include "model/held_cause.h"

#include <string.h>

/*
 * Parts of range names that indicate a cause. The innermost range whose name contains one of them decides;
 * if its name contains several, the first row of this table applies. The names are those of PyTorch (torch
 * 1.8 to 2.9), of Python functions, and of the C library.
 */
static const struct {
	const char *part; /* part of the range's name */
	enum kwhy_held_cause cause;
} signs[] = {
	{"DataLoader", KWHY_HELD_LOADER},
	{"_next_data", KWHY_HELD_LOADER},
	{"collate", KWHY_HELD_LOADER},
	{"empty_cache", KWHY_HELD_CACHE},
	{"emptyCache", KWHY_HELD_CACHE},
	{"aten::item", KWHY_HELD_READBACK},
	{"aten::_local_scalar_dense", KWHY_HELD_READBACK},
	{"aten::is_nonzero", KWHY_HELD_READBACK},
	{"method item of Tensor", KWHY_HELD_READBACK},
	{"method tolist of Tensor", KWHY_HELD_READBACK},
	{"method cpu of Tensor", KWHY_HELD_READBACK},
	{"function print>", KWHY_HELD_READBACK},
	{"tokeniz", KWHY_HELD_OUTPUT},
	{"save_checkpoint", KWHY_HELD_OUTPUT},
	{"checkpoint_save", KWHY_HELD_OUTPUT},
	{"logging", KWHY_HELD_OUTPUT},
	{"log_metrics", KWHY_HELD_OUTPUT},
	{"add_scalar", KWHY_HELD_OUTPUT},
	{"wandb", KWHY_HELD_OUTPUT},
	{"DistributedDataParallel.forward", KWHY_HELD_PARALLEL},
	{"FSDP::", KWHY_HELD_PARALLEL},
	{"FullyShardedDataParallel", KWHY_HELD_PARALLEL},
	{"CompiledFunction", KWHY_HELD_COMPILED},
	{"CompiledFxGraph", KWHY_HELD_COMPILED},
	{"Torch-Compiled Region", KWHY_HELD_COMPILED},
};

/*
 * Beginnings of the names of DDP's and FSDP's own work. DDP's forward contains the forward of the whole
 * model, so other ranges inside it are not DDP's work.
 */
static const char *const parallel_work[] = {"aten::flatten_dense_tensors", "aten::unflatten_dense_tensors",
	"aten::view", "aten::narrow", "aten::slice", "aten::as_strided", "record_param_comms",
	"c10d::", "nccl:", "FSDP::", "DistributedDataParallel.forward", "FullyShardedDataParallel"};

static const char *name_of(const struct kwhy_recording *recording, uint32_t row)
{
	return kwhy_names_get(&recording->names, recording->host_ranges.name[row]);
}

static bool starts_with_any(const char *name, const char *const *starts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static bool is_operator(const struct kwhy_recording *recording, uint32_t row)
{
	const char *name = name_of(recording, row);

	return recording->host_ranges.kind[row] == KWHY_HOST_OPERATOR || !strncmp(name, "aten::", 6) ||
		!strncmp(name, "autograd::", 10);
}

/*
 * The cause that the names of `row` and of the ranges around it indicate. DDP or FSDP is the cause only if
 * the name of `row` itself is that of DDP's or FSDP's own work.
 */
static enum kwhy_held_cause sign_of(const struct kwhy_recording *recording, uint32_t row)
{
	bool parallel = starts_with_any(
		name_of(recording, row), parallel_work, sizeof(parallel_work) / sizeof(parallel_work[0]));

	for (; row != KWHY_NONE; row = recording->host_ranges.parent[row])
		for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
			if (strstr(name_of(recording, row), signs[i].part) &&
				(signs[i].cause != KWHY_HELD_PARALLEL || parallel))
				return signs[i].cause;
	return KWHY_HELD_UNKNOWN;
}

enum kwhy_held_cause kwhy_held_cause_of(const struct kwhy_recording *recording, uint32_t row)
{
	enum kwhy_held_cause cause = sign_of(recording, row);

	if (cause == KWHY_HELD_UNKNOWN && recording->host_ranges.kind[row] == KWHY_HOST_SYSTEM)
		return KWHY_HELD_SYSTEM;
	for (; cause == KWHY_HELD_UNKNOWN && row != KWHY_NONE; row = recording->host_ranges.parent[row])
		if (is_operator(recording, row) || strstr(name_of(recording, row), "nn.Module: "))
			return KWHY_HELD_MODEL;
	return cause;
}

bool kwhy_held_is_ahead(enum kwhy_held_cause cause)
{
	return cause == KWHY_HELD_UNKNOWN || cause == KWHY_HELD_LOADER || cause == KWHY_HELD_OUTPUT ||
		cause == KWHY_HELD_SYSTEM;
}
