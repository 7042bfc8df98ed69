/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANK_ACCEPTOR_H
#define KWHY_BENCH_PAIRS_RANK_ACCEPTOR_H

#include "bench/pairs/rank_link.h"
#include "bench/pairs/rank_wire.h"

/*
 * How a connection begins: who connects sends its greeting, the other one its own, then the first its proof,
 * and the other one its own. A proof is HMAC-SHA-256 by the secret over which side it is of and both
 * greetings. For rank_link.c alone.
 */

/* A connection whose other end has not proved anything yet. */
struct kwhy_rank_arrival {
	int socket; /* -1: none */
	int64_t end_ns;
	size_t got; /* bytes of what is awaited */
	bool has_hello;
	struct kwhy_rank_hello ours, theirs;
	unsigned char proof[KWHY_SHA256_BYTES];
};

/* Connections at once; a further one replaces the oldest. */
enum { KWHY_RANK_ARRIVALS = 32 };

struct kwhy_rank_acceptor {
	const struct kwhy_rank_link *link;
	const char *secret; /* NULL: none */
	uint32_t port;	    /* that our greetings name */
	int listener;	    /* -1: none yet */
	uint32_t refused;   /* that greeted as ranks do and had no proof */
	struct kwhy_rank_arrival arrivals[KWHY_RANK_ARRIVALS];
};

void kwhy_rank_acceptor_init(
	struct kwhy_rank_acceptor *acceptor, const struct kwhy_rank_link *link, const char *secret);
void kwhy_rank_acceptor_done(struct kwhy_rank_acceptor *acceptor);

/* The next that proves itself; false: nobody by then. Everybody else is let go. */
bool kwhy_rank_acceptor_accept(
	struct kwhy_rank_acceptor *acceptor, int64_t end_ns, struct kwhy_rank_hello *out, int *out_socket);
/* Of a connection that we made; false: the other end did not prove itself. */
bool kwhy_rank_acceptor_handshake(
	struct kwhy_rank_acceptor *acceptor, int socket, struct kwhy_rank_hello *out);

#endif
