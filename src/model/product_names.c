/* SPDX-License-Identifier: Apache-2.0 */
#include "model/product_names.h"

#include <stddef.h>
#include <string.h>

/*
 * Parts of the names of matrix-product kernels, and the units (FP32 units or tensor cores) on which kernels
 * with such names run. The first rule whose part is in the name applies. cuBLAS and CUTLASS put the unit, the
 * types and, for tensor cores, the shape of the instruction (884, 1688, 16816) into the name (NVIDIA, CUTLASS
 * "kernel naming").
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
