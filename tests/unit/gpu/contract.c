/* SPDX-License-Identifier: Apache-2.0 */
#include "contract.h"

enum kwhy_gpu_backend backend;
const char *library;
struct kwhy_error failure;
struct kwhy_gpu *gpu;
const struct kwhy_gpu_ops *ops;

/*
 * Kernel "step": replaces each value by value * factor + summand. The result of several launches depends on
 * their order.
 */
static void run_step(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const struct by_value *what = arguments[0];
	uint16_t summand = *(uint16_t *)arguments[1];
	uint32_t *values = (uint32_t *)(uintptr_t)what->values;

	for (uint32_t i = 0; i < grid->blocks * grid->threads_per_block && i < what->count; i++)
		values[i] = values[i] * what->factor + summand;
}

static void run_nothing(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	(void)arguments;
}

const struct kwhy_gpu_host_kernel kernels[] = {
	{"step", run_step, {sizeof(struct by_value), 2}},
	{"nothing", run_nothing, {0}},
	{0},
};
static const char *const options[] = {"-fmad=false", NULL};
const struct kwhy_gpu_source source = {.title = "contract.cu",
	.text = "struct by_value { unsigned *values; unsigned count, factor, rest[5]; };\n"
		"extern \"C\" __global__ void step(struct by_value what, unsigned short summand)\n"
		"{\n"
		"	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
		"	if (i < what.count)\n"
		"		what.values[i] = what.values[i] * what.factor + summand;\n"
		"}\n"
		"extern \"C\" __global__ void nothing() {}\n",
	.options = options,
	.on_host = kernels};

void succeeds(enum kwhy_status status)
{
	if (status)
		fail_msg("%s", failure.text);
}

uint64_t device_memory(void)
{
	uint64_t address = 0;

	succeeds(ops->memory_new(gpu, BYTES, &address, &failure));
	return address;
}
