/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_DECODE_DEVICE_H
#define LAB_DECODE_DEVICE_H

#include "gpu/gpu.h"
#include "lab/decode/rules.h"

#ifndef AT /* as numbers in the host's program */
#define AT(type) uint64_t
typedef uint32_t u32;
#endif
#include "lab/decode/kernels/args.cu"

/* The last product; and nothing, where a product before is named. As the kernels count. */
enum { LAB_DECODE_WORDS = LAB_DECODE_MATRICES, LAB_DECODE_NOTHING = LAB_DECODE_MATRICES };

/* A token's key: of two the larger is the larger value's, of equal ones the first token's. */
static inline uint64_t lab_decode_key(float value, uint32_t token)
{
	uint32_t bits = lab_bits_of(value), order = bits & 0x80000000U ? ~bits : bits | 0x80000000U;

	return (uint64_t)order << 32 | (uint32_t)~token;
}

/* Bytes of weights, whose count is a multiple of 4. */
static inline uint64_t lab_decode_weight_bytes(uint32_t kind, uint64_t count)
{
	return count / 4 * (lab_decode_kinds[kind].weight_bits / 2);
}

#define X(NAME, name, bytes, call) LAB_DECODE_##NAME,
enum lab_decode_kernel {
#include "lab/decode/kernels.def"
	LAB_DECODE_KERNEL_COUNT
};
#undef X

/* A kernel's form for the host, of one kind of weights. */
typedef void (*lab_decode_host_run)(void **arguments);

#endif
