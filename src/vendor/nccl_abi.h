/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_NCCL_ABI_H
#define KWHY_VENDOR_NCCL_ABI_H

#include <stddef.h>

/*
 * The functions of NCCL 2 that kwhy calls, declared by hand from its public documentation. The values of
 * constants are the same in all versions of NCCL 2.
 */

enum kwhy_nccl_result {
	KWHY_NCCL_SUCCESS = 0,
	KWHY_NCCL_UNHANDLED_CUDA_ERROR = 1,
	KWHY_NCCL_SYSTEM_ERROR = 2,
	KWHY_NCCL_INTERNAL_ERROR = 3,
	KWHY_NCCL_INVALID_ARGUMENT = 4
};

enum kwhy_nccl_type {
	KWHY_NCCL_UINT8 = 1,
	KWHY_NCCL_UINT32 = 3,
	KWHY_NCCL_UINT64 = 5,
	KWHY_NCCL_FLOAT32 = 7
};
enum kwhy_nccl_operation { KWHY_NCCL_SUM = 0, KWHY_NCCL_MAX = 2 };

/* An identifier by which the processes of a communicator find each other. */
struct kwhy_nccl_id {
	char bytes[128];
};

typedef struct ncclComm *kwhy_nccl_communicator;
typedef struct CUstream_st *kwhy_nccl_stream;

const char *ncclGetErrorString(enum kwhy_nccl_result result);
enum kwhy_nccl_result ncclGetVersion(int *version);
enum kwhy_nccl_result ncclCommInitAll(
	kwhy_nccl_communicator *communicators, int device_count, const int *devices);
enum kwhy_nccl_result ncclGetUniqueId(struct kwhy_nccl_id *out_id);
/*
 * Makes a communicator. Each of `count` processes calls it, with its thread's current device. It returns when
 * all processes have called it.
 */
enum kwhy_nccl_result ncclCommInitRank(
	kwhy_nccl_communicator *out_communicator, int count, struct kwhy_nccl_id id, int rank);
/* Frees a communicator and aborts its unfinished operations. */
enum kwhy_nccl_result ncclCommAbort(kwhy_nccl_communicator communicator);
enum kwhy_nccl_result ncclCommDestroy(kwhy_nccl_communicator communicator);
enum kwhy_nccl_result ncclGroupStart(void);
enum kwhy_nccl_result ncclGroupEnd(void);
enum kwhy_nccl_result ncclAllReduce(const void *from, void *to, size_t count, enum kwhy_nccl_type type,
	enum kwhy_nccl_operation operation, kwhy_nccl_communicator communicator, kwhy_nccl_stream stream);
enum kwhy_nccl_result ncclBroadcast(const void *from, void *to, size_t count, enum kwhy_nccl_type type,
	int root, kwhy_nccl_communicator communicator, kwhy_nccl_stream stream);
enum kwhy_nccl_result ncclAllGather(const void *from, void *to, size_t count, enum kwhy_nccl_type type,
	kwhy_nccl_communicator communicator, kwhy_nccl_stream stream);
enum kwhy_nccl_result ncclReduceScatter(const void *from, void *to, size_t count, enum kwhy_nccl_type type,
	enum kwhy_nccl_operation operation, kwhy_nccl_communicator communicator, kwhy_nccl_stream stream);
enum kwhy_nccl_result ncclSend(const void *from, size_t count, enum kwhy_nccl_type type, int peer,
	kwhy_nccl_communicator communicator, kwhy_nccl_stream stream);
enum kwhy_nccl_result ncclRecv(void *to, size_t count, enum kwhy_nccl_type type, int peer,
	kwhy_nccl_communicator communicator, kwhy_nccl_stream stream);

#endif
