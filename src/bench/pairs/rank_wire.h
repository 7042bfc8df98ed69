/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANK_WIRE_H
#define KWHY_BENCH_PAIRS_RANK_WIRE_H

#include "base/sha256.h"
#include "bench/pairs/rank_messages.h"

/*
 * The messages between ranks, and the one place where their fields are checked: no received byte is used
 * before kwhy_rank_wire_check() has accepted the message. All messages have their layout in memory, so all
 * ranks need one version of kwhy on one kind of machine. The hello message's version and size detect others.
 */
struct kwhy_rank_hello {
	char mark[8];
	uint32_t version, rank, size, port; /* port: where the rank listens */
	int64_t process;
	char host[64];
	unsigned char nonce[KWHY_SHA256_BYTES]; /* random, new for each connection */
};

/* Where each rank listens, as rank 0 sees it. */
struct kwhy_rank_address {
	uint32_t rank, port;
	uint32_t family; /* 4 or 6; 0: the rank is on the host of rank 0 */
	uint32_t scope;	 /* scope id of a link-local address */
	int64_t process;
	char host[64];
	unsigned char address[16];
};

/* Limits that the receiving rank knows itself. */
struct kwhy_rank_limits {
	uint32_t ranks;
	uint64_t bytes_most; /* largest transfer: the size of the buffers */
};

/*
 * Checks a message's size and the range of each field. KWHY_E_INPUT: the message names the field, its value
 * and its range.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rank_wire_check(enum kwhy_rank_word word, bool is_answer,
	const void *bytes, size_t length, const struct kwhy_rank_limits *limits, struct kwhy_error *error);

#endif
