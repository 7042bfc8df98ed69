/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/decode.h"
#include "lab/kernels.h"

/* The host runs the same code as the GPUs. */
#include "lab/one_thread.h"

#include "lab/kernels/decode.cu"

#define FORM(upper, lower, threads)                                                 \
	static void run_##lower(const struct kwhy_gpu_grid *grid, void **arguments) \
	{                                                                           \
		(void)grid;                                                         \
		lab_decode_##lower(*(const struct lab_decode_args *)arguments[0],   \
			*(const struct lab_decode_call *)arguments[1]);             \
	}
#define ROW(upper, lower, threads) \
	{"lab_decode_" #lower, run_##lower, {sizeof(struct lab_decode_args), sizeof(struct lab_decode_call)}},

LAB_DECODE_KERNELS(FORM)

const struct kwhy_gpu_host_kernel lab_decode_host_kernels[] = {LAB_DECODE_KERNELS(ROW){NULL, NULL, {0}}};
