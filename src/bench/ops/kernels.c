/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/ops/kernels.h"

#include <string.h>

extern const char kwhy_kernels_ops[];

/* C versions of the kernels in kernels/ops.cu for the host back end. One call runs the whole grid. */

static uint32_t mix(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ (x >> 16);
}

static uint32_t random_of(uint32_t seed, uint32_t thread, uint32_t place)
{
	return mix(seed ^ mix(thread * 64 + place));
}

static uint32_t threads_of(const struct kwhy_gpu_grid *grid)
{
	return grid->blocks * grid->threads_per_block;
}

static uint32_t word(void **arguments, int place)
{
	return *(const uint32_t *)arguments[place];
}

static void *address(void **arguments, int place)
{
	return kwhy_gpu_at(*(const uint64_t *)arguments[place]);
}

#define TURN(type, name)                                                                                     \
	static void name(const struct kwhy_gpu_grid *grid, void **arguments)                                 \
	{                                                                                                    \
		uint32_t seed = word(arguments, 0), rounds = word(arguments, 1);                             \
                                                                                                             \
		for (uint32_t thread = 0; thread < threads_of(grid); thread++) {                             \
			type x[8], y[8],                                                                     \
				sum = 0,                                                                     \
				step = (type)(0.5f + 1e-6f * (float)(random_of(seed, thread, 63) & 0xffff)); \
                                                                                                             \
			for (uint32_t k = 0; k < 8; k++) {                                                   \
				x[k] = (type)(1e-9f * (float)random_of(seed, thread, k));                    \
				y[k] = (type)(1e-9f * (float)random_of(seed, thread, 8 + k));                \
			}                                                                                    \
			for (uint32_t i = 0; i < rounds; i++)                                                \
				for (uint32_t k = 0; k < 8; k++) {                                           \
					x[k] = x[k] - step * y[k];                                           \
					y[k] = y[k] + step * x[k];                                           \
				}                                                                            \
			for (uint32_t k = 0; k < 8; k++)                                                     \
				sum += x[k] + y[k];                                                          \
			if (sum == (type)1.2345e30f)                                                         \
				*(type *)address(arguments, 2) = sum;                                        \
		}                                                                                            \
	}

TURN(float, run_fp32)
TURN(double, run_fp64)

static void run_int32(const struct kwhy_gpu_grid *grid, void **arguments)
{
	uint32_t seed = word(arguments, 0), rounds = word(arguments, 1);

	for (uint32_t thread = 0; thread < threads_of(grid); thread++) {
		uint32_t x[16], factor = random_of(seed, thread, 62) | 1, sum = 0;

		for (uint32_t k = 0; k < 16; k++)
			x[k] = random_of(seed, thread, k);
		for (uint32_t i = 0; i < rounds; i++)
			for (uint32_t k = 0; k < 16; k++)
				x[k] = x[k] * factor + seed;
		for (uint32_t k = 0; k < 16; k++)
			sum |= x[k] ^ 0x12345678;
		if (sum == 0)
			*(uint32_t *)address(arguments, 2) = sum;
	}
}

struct words {
	uint32_t x, y, z, w;
};

static uint64_t count_at(void **arguments, int place)
{
	return *(const uint64_t *)arguments[place];
}

static void run_fill(const struct kwhy_gpu_grid *grid, void **arguments)
{
	uint32_t seed = word(arguments, 0);
	uint32_t *to = address(arguments, 1);
	uint64_t count = count_at(arguments, 2) * 4;

	(void)grid;
	for (uint64_t i = 0; i < count; i++)
		to[i] = mix(seed ^ mix((uint32_t)i));
}

static void run_read(const struct kwhy_gpu_grid *grid, void **arguments)
{
	const volatile uint64_t *from = address(arguments, 1);
	uint64_t count = count_at(arguments, 2) * 2, sum = 0;

	(void)grid;
	for (uint32_t k = 0; k < word(arguments, 0); k++)
		for (uint64_t i = 0; i < count; i++)
			sum |= from[i];
	if (sum == 0)
		*(uint32_t *)address(arguments, 3) = 0;
}

static void run_write(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct words *to = address(arguments, 1);
	uint64_t count = count_at(arguments, 2);
	uint32_t seed = word(arguments, 3);
	struct words value = {mix(seed), mix(seed + 1), mix(seed + 2), mix(seed + 3)};

	(void)grid;
	for (uint32_t k = 0; k < word(arguments, 0); k++)
		for (uint64_t i = 0; i < count; i++) {
			value.x += (uint32_t)i;
			to[i] = value;
		}
}

static void run_copy(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	for (uint32_t k = 0; k < word(arguments, 0); k++)
		memcpy(address(arguments, 2), address(arguments, 1), count_at(arguments, 3) * 16);
}

static void run_nothing(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	(void)arguments;
}

static const struct kwhy_gpu_host_kernel host_kernels[] = {
	{"kwhy_ops_fp32", run_fp32, {4, 4, 8}},
	{"kwhy_ops_fp64", run_fp64, {4, 4, 8}},
	{"kwhy_ops_int32", run_int32, {4, 4, 8}},
	{"kwhy_ops_fill", run_fill, {4, 8, 8}},
	{"kwhy_ops_read", run_read, {4, 8, 8, 8}},
	{"kwhy_ops_write", run_write, {4, 8, 8, 4}},
	{"kwhy_ops_copy", run_copy, {4, 8, 8, 8}},
	{"kwhy_ops_nothing", run_nothing, {4}},
	{NULL, NULL, {0}},
};

const struct kwhy_gpu_source kwhy_ops_source = {
	.title = "ops.cu", .text = kwhy_kernels_ops, .on_host = host_kernels};
