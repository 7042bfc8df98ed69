/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of the program that kwhy probe is tested on, as C functions of an array of arguments. */
#include "probed_program.h"

#include <unistd.h>

static unsigned dies_at, dies_with, runs;

void probed_die_in(unsigned run, unsigned status)
{
	dies_at = run;
	dies_with = status;
}

static uint64_t *words_at(void **arguments, int argument)
{
	return *(uint64_t **)arguments[argument];
}

static void add(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	for (int i = 0; i < PROBED_WORDS; i++)
		words_at(arguments, 1)[i] = words_at(arguments, 0)[i] + (uint64_t)i;
	if (dies_at && ++runs == dies_at)
		_exit((int)dies_with);
}

static void count(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	words_at(arguments, 0)[0]++;
}

static void follow(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	((uint64_t *)(uintptr_t)words_at(arguments, 0)[0])[0] += 3;
}

/*
 * A kernel whose effect depends on earlier runs: from its second run on it also changes memory that no
 * argument points to. It computes the address from a word whose bits are inverted, so that kwhy does not
 * recognise it.
 */
static void unsteady(const struct kwhy_gpu_grid *grid, void **arguments)
{
	static unsigned since;
	uint64_t *elsewhere = words_at(arguments, 1);

	(void)grid;
	words_at(arguments, 0)[0] = 7;
	if (++since > 1)
		((uint64_t *)(uintptr_t)(elsewhere[0] ^ UINT64_MAX))[0]++;
}

const struct kwhy_gpu_host_kernel probed_kernels[PROBED_KERNELS_MAX] = {{"add", add, {8, 8}},
	{"count", count, {8}}, {"follow", follow, {8}}, {"unsteady", unsteady, {8, 8}},
	{"ncclDevKernel_AllReduce", count, {8}}, {"vectorized_elementwise_kernel", add, {8, 8}},
	{NULL, NULL, {0}}};
