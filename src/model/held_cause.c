/* SPDX-License-Identifier: Apache-2.0 */
#include "model/held_cause.h"

#include <stdlib.h>
#include <string.h>

/*
 * Parts of range names that indicate a cause. The innermost range whose name contains one of these parts
 * decides; if the name contains several parts, the first row of this table applies. The names are those of
 * PyTorch (torch 1.8 to 2.9), of JAX (0.11) and XLA, of Python functions, and of the C library.
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
	{"XlaCompile", KWHY_HELD_COMPILING},
	{"XlaEmit", KWHY_HELD_COMPILING},
	{"XlaOptimize", KWHY_HELD_COMPILING},
	{"backend_compile", KWHY_HELD_COMPILING},
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

/*
 * Bits of the marks of a name. Bit i: the name contains signs[i].part. SEARCHED: the name was searched; each
 * name is searched only once, however many ranges have it. IS_PARALLEL_WORK: the name begins as one of
 * `parallel_work` does. IS_MODEL: the range is an operator or a module of the model.
 */
#define SEARCHED (UINT32_C(1) << 31)
#define IS_PARALLEL_WORK (UINT32_C(1) << 30)
#define IS_MODEL (UINT32_C(1) << 29) /* an operator or a module */
#define SIGNS ((UINT32_C(1) << 29) - 1)

enum { SIGN_COUNT = sizeof(signs) / sizeof(signs[0]) };

_Static_assert(SIGN_COUNT <= 29, "each sign has a bit");

static bool starts_with_any(const char *name, const char *const *starts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static uint32_t marks_of(const char *name)
{
	static const char *const operators[] = {"aten::", "autograd::"};
	uint32_t marks = SEARCHED;

	for (size_t i = 0; i < SIGN_COUNT; i++)
		marks |= strstr(name, signs[i].part) ? UINT32_C(1) << i : 0;
	if (starts_with_any(name, parallel_work, sizeof(parallel_work) / sizeof(parallel_work[0])))
		marks |= IS_PARALLEL_WORK;
	if (starts_with_any(name, operators, sizeof(operators) / sizeof(operators[0])) ||
		strstr(name, "nn.Module: "))
		marks |= IS_MODEL;
	return marks;
}

enum kwhy_status kwhy_held_mark_names(struct kwhy_recording *recording, struct kwhy_error *error)
{
	struct kwhy_host_ranges *rows = &recording->host_ranges;

	rows->marks = calloc(recording->names.count + 1, sizeof(*rows->marks));
	if (!rows->marks)
		return kwhy_fail_memory(error, "marks of names");
	for (size_t i = 0; i < rows->count; i++)
		if (!rows->marks[rows->name[i]])
			rows->marks[rows->name[i]] = marks_of(
				kwhy_names_get(&recording->names, rows->name[i]));
	return KWHY_OK;
}

/*
 * The cause by the parts in `signs`. Of `row` and the ranges around it, the innermost whose name contains a
 * part decides; KWHY_HELD_UNKNOWN: no name contains one. Rows of `signs` with KWHY_HELD_PARALLEL apply only
 * if the name of `row` itself begins as one of `parallel_work` does.
 */
static enum kwhy_held_cause sign_of(const struct kwhy_host_ranges *rows, uint32_t row)
{
	bool parallel = rows->marks[rows->name[row]] & IS_PARALLEL_WORK;

	for (; row != KWHY_NONE; row = rows->parent[row]) {
		uint32_t found = rows->marks[rows->name[row]] & SIGNS;

		for (; found; found &= found - 1)
			if (parallel || signs[__builtin_ctz(found)].cause != KWHY_HELD_PARALLEL)
				return signs[__builtin_ctz(found)].cause;
	}
	return KWHY_HELD_UNKNOWN;
}

enum kwhy_held_cause kwhy_held_cause_of(const struct kwhy_recording *recording, uint32_t row)
{
	const struct kwhy_host_ranges *rows = &recording->host_ranges;
	enum kwhy_held_cause cause = sign_of(rows, row);

	if (cause == KWHY_HELD_UNKNOWN && rows->kind[row] == KWHY_HOST_SYSTEM)
		return KWHY_HELD_SYSTEM;
	for (; cause == KWHY_HELD_UNKNOWN && row != KWHY_NONE; row = rows->parent[row])
		if (rows->kind[row] == KWHY_HOST_OPERATOR || rows->marks[rows->name[row]] & IS_MODEL)
			return KWHY_HELD_MODEL;
	return cause;
}

bool kwhy_held_is_ahead(enum kwhy_held_cause cause)
{
	return cause == KWHY_HELD_UNKNOWN || cause == KWHY_HELD_LOADER || cause == KWHY_HELD_OUTPUT ||
		cause == KWHY_HELD_SYSTEM;
}
