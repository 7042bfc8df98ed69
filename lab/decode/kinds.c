/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/decode.h"

const struct lab_decode_kind lab_decode_kinds[LAB_DECODE_WEIGHTS_COUNT] = {
	[LAB_DECODE_FP32] = {"fp32", 32, LAB_FP32, LAB_FP32, 0, 80, 1e-3},
	[LAB_DECODE_TF32] = {"tf32", 32, LAB_TF32, LAB_FP32, 0, 80, 0.02},
	[LAB_DECODE_BF16] = {"bf16", 16, LAB_BF16, LAB_BF16, 0, 80, 0.1},
	[LAB_DECODE_FP16] = {"fp16", 16, LAB_FP16, LAB_FP16, 0, 80, 0.02},
	[LAB_DECODE_FP8] = {"fp8", 8, LAB_FP8, LAB_FP16, 448, 89, 0.3},
	[LAB_DECODE_INT8] = {"int8", 8, LAB_INT8, LAB_FP16, 127, 80, 0.1},
	[LAB_DECODE_INT4] = {"int4", 4, LAB_BF16, LAB_BF16, 7, 80, 0.8},
	[LAB_DECODE_SPARSE] = {"fp16-2:4", 8, LAB_FP16, LAB_FP16, 0, 80, 0.1},
};
