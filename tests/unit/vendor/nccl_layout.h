/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_VENDOR_NCCL_LAYOUT_H
#define KWHY_TESTS_UNIT_VENDOR_NCCL_LAYOUT_H

#include <stddef.h>

/* Like CUDA_LAYOUT() in cuda_layout.h, for NCCL. */
#define NCCL_LAYOUT(T, C)                                         \
	T(struct kwhy_nccl_id, ncclUniqueId)                      \
	T(kwhy_nccl_communicator, ncclComm_t)                     \
	T(enum kwhy_nccl_type, ncclDataType_t)                    \
	C(KWHY_NCCL_SUCCESS, ncclSuccess)                         \
	C(KWHY_NCCL_UNHANDLED_CUDA_ERROR, ncclUnhandledCudaError) \
	C(KWHY_NCCL_SYSTEM_ERROR, ncclSystemError)                \
	C(KWHY_NCCL_INTERNAL_ERROR, ncclInternalError)            \
	C(KWHY_NCCL_INVALID_ARGUMENT, ncclInvalidArgument)        \
	C(KWHY_NCCL_UINT8, ncclUint8)                             \
	C(KWHY_NCCL_UINT32, ncclUint32)                           \
	C(KWHY_NCCL_UINT64, ncclUint64)                           \
	C(KWHY_NCCL_FLOAT32, ncclFloat32)                         \
	C(KWHY_NCCL_SUM, ncclSum)                                 \
	C(KWHY_NCCL_MAX, ncclMax)

struct nccl_layout_row {
	const char *what;
	size_t value;
};

extern const struct nccl_layout_row nccl_layout_of_toolkit[];

#endif
