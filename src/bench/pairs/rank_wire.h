/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANK_WIRE_H
#define KWHY_BENCH_PAIRS_RANK_WIRE_H

#include "base/sha256.h"
#include "bench/pairs/rank_messages.h"

/*
 * The messages between ranks. Their fields are checked by kwhy_rank_wire_check(), and no received byte is
 * used before it has accepted the message. Messages are structs as they are in memory, so all ranks must run
 * the same version of kwhy on the same kind of machine. A rank of another version is recognised by `version`
 * and the size of its hello message, and refused.
 */
struct kwhy_rank_hello {
	char mark[8];
	uint32_t version, rank, size, port; /* `port`: the port on which the rank listens */
	int64_t process;
	char host[64];
	unsigned char nonce[KWHY_SHA256_BYTES]; /* random number, new for each connection */
};

/*
 * The address at which a rank listens, as rank 0 sends it to all ranks; rank 0 takes it from the rank's
 * connection and hello message.
 */
struct kwhy_rank_address {
	uint32_t rank, port;
	uint32_t family; /* IP version of `address`, 4 or 6; 0: the rank is on rank 0's host, and `address` is
			    not used */
	uint32_t scope;	 /* scope id of a link-local IPv6 address; 0: it has none */
	int64_t process;
	char host[64];
	unsigned char address[16];
};

/* Limits of values in messages, by the settings of the receiving rank. */
struct kwhy_rank_limits {
	uint32_t ranks;
	uint64_t bytes_most; /* size in bytes of the receiving rank's buffers, which hold the largest transfer
			      */
};

/*
 * Checks a message's size and the range of each of its fields. KWHY_E_INPUT: the error's message names the
 * field, its value and its range.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rank_wire_check(enum kwhy_rank_word word, bool is_answer,
	const void *bytes, size_t length, const struct kwhy_rank_limits *limits, struct kwhy_error *error);

#endif
