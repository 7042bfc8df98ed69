/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of `decode` for the host: their own text, compiled for each kind of weights. */
#include "lab/decode/device.h"
#include "lab/kernels.h"

enum { ARGS = sizeof(struct lab_decode_args) };

#define KINDS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define DECLARE(kind) extern const lab_decode_host_run lab_decode_host_kind_##kind[LAB_DECODE_KERNEL_COUNT];
#define NAME(kind) lab_decode_host_kind_##kind,
KINDS(DECLARE)

static const lab_decode_host_run *const kinds[LAB_DECODE_WEIGHTS_COUNT] = {KINDS(NAME)};

static uint32_t kind_of(enum lab_decode_kernel kernel, void **arguments)
{
	switch (kernel) {
	case LAB_DECODE_FILL:
		return *(const uint32_t *)arguments[9];
	case LAB_DECODE_EXPAND:
		return *(const uint32_t *)arguments[5];
	case LAB_DECODE_FILL_FLOATS:
		return LAB_DECODE_FP32;
	default:
		return ((const struct lab_decode_args *)arguments[0])->kind;
	}
}

#define X(NAME, name, bytes, call)                                                          \
	static void run_##name(const struct kwhy_gpu_grid *grid, void **arguments)          \
	{                                                                                   \
		(void)grid;                                                                 \
		kinds[kind_of(LAB_DECODE_##NAME, arguments)][LAB_DECODE_##NAME](arguments); \
	}
#include "lab/decode/kernels.def"
#undef X

#define LIST(...)           \
	{                   \
		__VA_ARGS__ \
	}
#define X(NAME, name, bytes, call) {"lab_decode_" #name, run_##name, LIST bytes},

const struct kwhy_gpu_host_kernel lab_decode_host_kernels[] = {
#include "lab/decode/kernels.def"
	{0},
};
