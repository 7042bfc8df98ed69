/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_FAKES_CUDA_FAKE_NCCL_H
#define KWHY_TESTS_FAKES_CUDA_FAKE_NCCL_H

#include "vendor/cuda_abi.h"
#include "vendor/nccl_abi.h"

#include <stdbool.h>
#include <stdint.h>

enum { MEMBERS_MAX = 16, CALLS_MAX = 256 };
struct meeting;

struct ncclComm {
	int rank, count;
	struct meeting *meeting; /* of processes; NULL: of this one alone */
	uint64_t collectives;	 /* so far */
	_Atomic int waiting;	 /* calls in streams */
	_Atomic int is_over;	 /* what waits ends without its bytes */
};

enum kind { REDUCE, SCATTER, BROADCAST, GATHER, SEND, RECEIVE };

struct call {
	enum kind kind;
	const void *from;
	void *to;
	size_t count;
	enum kwhy_nccl_type type;
	int number; /* operation, root or peer */
	struct ncclComm *communicator;
	kwhy_nccl_stream stream;
	int done;
};

size_t fake_nccl_bytes(const struct call *call);
void fake_nccl_combine(
	const struct call *call, const unsigned char *from, size_t bytes, unsigned char *result);

/* Queues a call in a stream, which stands still until it is true; -1: it cannot. */
int fake_nccl_put(kwhy_nccl_stream stream, bool (*call)(void *context), void *context);

/* Between processes (fake_nccl_ranks.c): queues a call in its stream; -1: it cannot. */
int fake_nccl_queue(const struct call *call);
/* Frees it once nothing waits. */
void fake_nccl_leave(struct ncclComm *communicator);

#endif
