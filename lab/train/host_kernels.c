/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/train/inside.h"

/* The host runs the kernels' own text. */
#include "lab/one_thread.h"
#define __uint_as_float lab_float_of
#include "lab/train/kernels/train.cu"

#define FORM(upper, lower)                                                                                 \
	static void run_##lower(const struct kwhy_gpu_grid *grid, void **arguments)                        \
	{                                                                                                  \
		(void)grid;                                                                                \
		lab_train_##lower(*(const struct args *)arguments[0], *(const struct call *)arguments[1]); \
	}
#define ROW(upper, lower) {"lab_train_" #lower, run_##lower, {sizeof(struct args), sizeof(struct call)}},

LAB_TRAIN_KERNELS(FORM)

const struct kwhy_gpu_host_kernel lab_train_host_kernels[] = {LAB_TRAIN_KERNELS(ROW){NULL, NULL, {0}}};
