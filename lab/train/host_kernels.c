/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/kernels.h"
#include "lab/train/train.h"

/* The host runs the code of the kernels. */
#include "lab/one_thread.h"

#include "lab/kernels/train.cu"

#define FORM(upper, lower)                                                          \
	static void run_##lower(const struct kwhy_gpu_grid *grid, void **arguments) \
	{                                                                           \
		(void)grid;                                                         \
		lab_train_##lower(*(const struct lab_train_args *)arguments[0],     \
			*(const struct lab_train_call *)arguments[1]);              \
	}
#define ROW(upper, lower) \
	{"lab_train_" #lower, run_##lower, {sizeof(struct lab_train_args), sizeof(struct lab_train_call)}},

LAB_TRAIN_KERNELS(FORM)

const struct kwhy_gpu_host_kernel lab_train_host_kernels[] = {LAB_TRAIN_KERNELS(ROW){NULL, NULL, {0}}};
