/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANK_ACCEPTOR_H
#define KWHY_BENCH_PAIRS_RANK_ACCEPTOR_H

#include "bench/pairs/rank_link.h"
#include "bench/pairs/rank_wire.h"

/*
 * Handshake
 * of a connection: the connecting rank sends its hello, the other one its own, then the first sends its proof
 * and the other one its own. A proof is HMAC-SHA-256 by the secret over which side it is of and both hello
 * messages. For rank_link.c alone.
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

/* Simultaneous connections; a further one replaces the oldest. */
enum { KWHY_RANK_ARRIVALS = 32 };

struct kwhy_rank_acceptor {
	const struct kwhy_rank_link *link;
	const char *secret; /* NULL: none */
	uint32_t port;	    /* that our hello messages name */
	int listener;	    /* -1: none yet */
	uint32_t refused;   /* that sent a hello message as ranks do and had no proof */
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
