/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANK_WIRE_H
#define KWHY_BENCH_PAIRS_RANK_WIRE_H

#include "base/sha256.h"
#include "bench/pairs/rank_messages.h"

/*
 * What ranks send each other, field by field, and the one place where it is checked: nothing that came is
 * used before kwhy_rank_wire_check() has passed it. All are laid out as in memory, of one version of kwhy on
 * one kind of machine; the hello message's version and size tell others apart.
 */
struct kwhy_rank_hello {
	char mark[8];
	uint32_t version, rank, size, port; /* port: it listens there */
	int64_t process;
	char host[64];
	unsigned char nonce[KWHY_SHA256_BYTES]; /* of this connection alone */
};

/* Where each rank listens, as rank 0 sees it. */
struct kwhy_rank_address {
	uint32_t rank, port;
	uint32_t family; /* 4 or 6; 0: on the host of rank 0 */
	uint32_t scope;	 /* of a link-local address */
	int64_t process;
	char host[64];
	unsigned char address[16];
};

/* What is only known on this side. */
struct kwhy_rank_limits {
	uint32_t ranks;
	uint64_t bytes_most; /* of one transfer: what the buffers hold */
};

/*
 * Whether a message is of its size and each of its fields within its range. KWHY_E_INPUT with a sentence that
 * names the field, what it holds and what it may hold.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rank_wire_check(enum kwhy_rank_word word, bool is_answer,
	const void *bytes, size_t length, const struct kwhy_rank_limits *limits, struct kwhy_error *error);

#endif
