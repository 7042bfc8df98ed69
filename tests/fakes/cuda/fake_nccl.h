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
	/* memory that the processes of the communicator share; NULL: all ranks are in this process */
	struct meeting *meeting;
	uint64_t collectives; /* number of collectives so far */
	_Atomic int waiting;  /* number of calls that are queued in streams */
	/* the communicator was aborted or destroyed: queued calls end without their data */
	_Atomic int is_over;
};

enum kind { REDUCE, SCATTER, BROADCAST, GATHER, SEND, RECEIVE };

struct call {
	enum kind kind;
	const void *from;
	void *to;
	size_t count;
	enum kwhy_nccl_type type;
	int number; /* reduction operation, rank of the root, or rank of the peer */
	struct ncclComm *communicator;
	kwhy_nccl_stream stream;
	int done;
};

size_t fake_nccl_bytes(const struct call *call);
void fake_nccl_combine(
	const struct call *call, const unsigned char *from, size_t bytes, unsigned char *result);

/*
 * Queues `call` in a stream, which stays blocked until `call` returns true. Returns -1 if queueing fails.
 */
int fake_nccl_put(kwhy_nccl_stream stream, bool (*call)(void *context), void *context);

/*
 * Queues a call of a communicator between processes (fake_nccl_ranks.c) in its stream. Returns -1 if that
 * fails.
 */
int fake_nccl_queue(const struct call *call);
/* Ends a communicator between processes. Frees it if no call of it is queued. */
void fake_nccl_leave(struct ncclComm *communicator);

#endif
