/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and constants of NCCL by its header. */
#include "nccl_layout.h"

#include <nccl.h>

#define T(ours, theirs) {#theirs, sizeof(theirs)},
#define C(ours, theirs) {#theirs, (size_t)(theirs)},

const struct nccl_layout_row nccl_layout_of_toolkit[] = {NCCL_LAYOUT(T, C)};

/* Like TAKES() in cuda_layout_toolkit.c, for NCCL. */
#define TAKES(name, ...) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(name), ncclResult_t(__VA_ARGS__)), #name)

TAKES(ncclGetVersion, int *);
TAKES(ncclGetUniqueId, ncclUniqueId *);
TAKES(ncclCommInitAll, ncclComm_t *, int, const int *);
TAKES(ncclCommInitRank, ncclComm_t *, int, ncclUniqueId, int);
TAKES(ncclCommAbort, ncclComm_t);
TAKES(ncclCommDestroy, ncclComm_t);
TAKES(ncclGroupStart, void);
TAKES(ncclGroupEnd, void);
TAKES(ncclAllReduce, const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t);
TAKES(ncclReduceScatter, const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t);
TAKES(ncclBroadcast, const void *, void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
TAKES(ncclAllGather, const void *, void *, size_t, ncclDataType_t, ncclComm_t, cudaStream_t);
TAKES(ncclSend, const void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
TAKES(ncclRecv, void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
