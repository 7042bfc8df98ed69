/* SPDX-License-Identifier: Apache-2.0 */
#include "model/product_names.h"

#include <stddef.h>
#include <string.h>

/*
 * Parts of kernel names and the units that they mean. The first rule that matches applies. cuBLAS and CUTLASS
 * name their kernels by unit and types (NVIDIA, CUTLASS "kernel naming"). simt and sgemm mean FP32 units;
 * h/s/i + shape + gemm (884, 1688, 16816), tf32, bf16, tensorop, wgmma and nvjet mean tensor cores.
 */
static const struct {
	const char *part;
	enum kwhy_product product;
} rules[] = {
	{"tf32", KWHY_PRODUCT_TENSOR},
	{"tensorop", KWHY_PRODUCT_TENSOR},
	{"884gemm", KWHY_PRODUCT_TENSOR},
	{"1688gemm", KWHY_PRODUCT_TENSOR},
	{"16816gemm", KWHY_PRODUCT_TENSOR},
	{"wgmma", KWHY_PRODUCT_TENSOR},
	{"nvjet", KWHY_PRODUCT_TENSOR},
	{"xmma_gemm_bf16", KWHY_PRODUCT_TENSOR},
	{"xmma_gemm_f16", KWHY_PRODUCT_TENSOR},
	{"simt_sgemm", KWHY_PRODUCT_FP32},
	{"sgemm", KWHY_PRODUCT_FP32},
	{"f32f32_f32f32", KWHY_PRODUCT_FP32},
	{"gemmSN_TN_kernel<float", KWHY_PRODUCT_FP32},
	{"gemmSN_NN_kernel<float", KWHY_PRODUCT_FP32},
};

enum kwhy_product kwhy_product_of(const char *kernel_name)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (strstr(kernel_name, rules[i].part))
			return rules[i].product;
	return KWHY_PRODUCT_UNKNOWN;
}
