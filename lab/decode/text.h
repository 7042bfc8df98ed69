/* SPDX-License-Identifier: Apache-2.0 */
/* What the text of decode's kernels asks of a GPU beyond C; include the text behind it. */
#include "lab/numbers.h"

#define half_of(value) (IS_BF16 ? lab_to_bf16(value) : lab_to_fp16(value))
#define float_of_half(half) (IS_BF16 ? lab_from_bf16(half) : lab_from_fp16(half))
#define fp8_of(value) lab_to_fp8(value)
#define float_of_fp8(code) lab_from_fp8(code)

/* A launch's arguments, as kernels.def names them. */
#define A (*(const struct lab_decode_args *)arguments[0])
#define U32(i) (*(const u32 *)arguments[i])
#define U64(i) (*(void *const *)arguments[i])
#define FLOAT(i) (*(const float *)arguments[i])
