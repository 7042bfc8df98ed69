/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANK_ACCEPTOR_H
#define KWHY_BENCH_PAIRS_RANK_ACCEPTOR_H

#include "bench/pairs/rank_link.h"
#include "bench/pairs/rank_wire.h"

/*
 * Handshake of a connection. The connecting rank sends its hello message, then the listening rank its own.
 * The connecting rank sends its proof, then the listening rank its own. A proof is the HMAC-SHA-256, keyed
 * with the secret, of which side it comes from and of both hello messages. For rank_link.c alone.
 */

/* An accepted connection whose other end has not proved that it knows the secret. */
struct kwhy_rank_arrival {
	int socket; /* -1: unused entry */
	int64_t end_ns;
	size_t got; /* bytes received of the awaited message */
	bool has_hello;
	struct kwhy_rank_hello ours, theirs;
	unsigned char proof[KWHY_SHA256_BYTES];
};

/* Simultaneous connections; a further one replaces the oldest. */
enum { KWHY_RANK_ARRIVALS = 32 };

struct kwhy_rank_acceptor {
	const struct kwhy_rank_link *link;
	const char *secret; /* NULL: no secret */
	uint32_t port;	    /* port that this rank's hello messages name */
	int listener;	    /* -1: not listening yet */
	uint32_t refused;   /* connections that sent a valid hello message but no valid proof */
	struct kwhy_rank_arrival arrivals[KWHY_RANK_ARRIVALS];
};

void kwhy_rank_acceptor_init(
	struct kwhy_rank_acceptor *acceptor, const struct kwhy_rank_link *link, const char *secret);
void kwhy_rank_acceptor_done(struct kwhy_rank_acceptor *acceptor);

/*
 * Accepts the next rank that proves itself; false: none did until `end_ns`. All other connections are closed.
 */
bool kwhy_rank_acceptor_accept(
	struct kwhy_rank_acceptor *acceptor, int64_t end_ns, struct kwhy_rank_hello *out, int *out_socket);
/* Handshake on a connection that this rank made; false: the other end did not prove itself. */
bool kwhy_rank_acceptor_handshake(
	struct kwhy_rank_acceptor *acceptor, int socket, struct kwhy_rank_hello *out);

#endif
