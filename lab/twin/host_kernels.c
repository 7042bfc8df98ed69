/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/one_thread.h"

#include "lab/kernels/twin.cu"

#include "lab/twin/device.h"

/* The kernels for the host: what a back end calls of each. */
#define WRAP(name)                                                                 \
	static void run_##name(const struct kwhy_gpu_grid *grid, void **arguments) \
	{                                                                          \
		struct args args;                                                  \
                                                                                   \
		(void)grid;                                                        \
		memcpy(&args, arguments[0], sizeof(args));                         \
		lab_twin_##name(args, *(const u32 *)arguments[1]);                 \
	}

#define EACH(X)        \
	X(begin_field) \
	X(begin_rest)  \
	X(gain)        \
	X(force)       \
	X(spread)      \
	X(diffuse)     \
	X(push)        \
	X(store)       \
	X(limit)       \
	X(sum) X(look) X(check) X(scatter) X(receive) X(advance) X(conclude) X(tally) X(combine) X(run)

EACH(WRAP)

_Static_assert(sizeof(struct args) == sizeof(struct lab_twin_args), "both are what kernels are given");

#define ROW(name) {"lab_twin_" #name, run_##name, {sizeof(struct lab_twin_args), sizeof(u32)}},

const struct kwhy_gpu_host_kernel lab_twin_host_kernels[] = {EACH(ROW){NULL, NULL, {0}}};
