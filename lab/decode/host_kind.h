/* SPDX-License-Identifier: Apache-2.0 */
/* The host forms of one kind of weights: a file a KIND includes this. */
#include "lab/one_thread.h"

#include "lab/decode/text.h"

#include "lab/kernels/decode.cu"

#include "lab/decode/device.h"

#define X(NAME, name, bytes, call)               \
	static void run_##name(void **arguments) \
	{                                        \
		lab_decode_##name call;          \
	}
#include "lab/decode/kernels.def"
#undef X

#define NAME_OF(kind) lab_decode_host_kind_##kind
#define KIND_NAME(kind) NAME_OF(kind)
#define X(NAME, name, bytes, call) run_##name,
extern const lab_decode_host_run KIND_NAME(KIND)[LAB_DECODE_KERNEL_COUNT];
const lab_decode_host_run KIND_NAME(KIND)[LAB_DECODE_KERNEL_COUNT] = {
#include "lab/decode/kernels.def"
};
#undef X
