/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/one_thread.h"

#include "lab/kernels/twin.cu"

#include "lab/kernels.h"

/* The function that the host back end calls for each kernel. */
#define WRAP(upper, lower)                                                                                 \
	static void run_##lower(const struct kwhy_gpu_grid *grid, void **arguments)                        \
	{                                                                                                  \
		(void)grid;                                                                                \
		lab_twin_##lower(*(const struct lab_twin_args *)arguments[0], *(const u32 *)arguments[1]); \
	}
#define ROW(upper, lower) {"lab_twin_" #lower, run_##lower, {sizeof(struct lab_twin_args), sizeof(u32)}},

LAB_TWIN_KERNELS(WRAP)

const struct kwhy_gpu_host_kernel lab_twin_host_kernels[] = {LAB_TWIN_KERNELS(ROW){NULL, NULL, {0}}};
