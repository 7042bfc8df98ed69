/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANK_ACCEPTOR_H
#define KWHY_BENCH_PAIRS_RANK_ACCEPTOR_H

#include "bench/pairs/rank_link.h"
#include "bench/pairs/rank_wire.h"

/*
 * Handshake on a new connection: the connecting rank sends its hello message, then the listening rank sends
 * its own; then both send their proofs, in the same order. A proof is the HMAC-SHA-256, keyed with the
 * secret, of a text that says which end it is from, and of both hello messages. Only rank_link.c uses this.
 */

/* An accepted connection whose other end has not yet proved that it knows the secret. */
struct kwhy_rank_arrival {
	int socket; /* -1: this entry is unused */
	int64_t end_ns;
	size_t got; /* bytes received so far of the hello message or the proof */
	bool has_hello;
	struct kwhy_rank_hello ours, theirs;
	unsigned char proof[KWHY_SHA256_BYTES];
};

/*
 * Largest number of connections in handshake at the same time. A further connection replaces the one with the
 * earliest deadline.
 */
enum { KWHY_RANK_ARRIVALS = 32 };

struct kwhy_rank_acceptor {
	const struct kwhy_rank_link *link;
	const char *secret; /* NULL: the run has no secret */
	uint32_t port;	    /* port on which this rank listens, as in its hello messages */
	int listener;	    /* -1: this rank does not listen yet */
	/*
	 * number of connections refused after a valid hello message, because of a wrong proof or because the
	 * socket belongs to another user
	 */
	uint32_t refused;
	struct kwhy_rank_arrival arrivals[KWHY_RANK_ARRIVALS];
};

void kwhy_rank_acceptor_init(
	struct kwhy_rank_acceptor *acceptor, const struct kwhy_rank_link *link, const char *secret);
void kwhy_rank_acceptor_done(struct kwhy_rank_acceptor *acceptor);

/*
 * Waits until a rank has connected and proved that it knows the secret, and returns its hello message and its
 * socket, which the caller must close. Connections that have proved nothing within KWHY_RANK_HELLO_S are
 * closed. false: none proved it by `end_ns`.
 */
bool kwhy_rank_acceptor_accept(
	struct kwhy_rank_acceptor *acceptor, int64_t end_ns, struct kwhy_rank_hello *out, int *out_socket);
/*
 * Does the handshake on a connection that this rank made, and returns the other end's hello message. false:
 * the other end did not prove within KWHY_RANK_HELLO_S that it knows the secret.
 */
bool kwhy_rank_acceptor_handshake(
	struct kwhy_rank_acceptor *acceptor, int socket, struct kwhy_rank_hello *out);

#endif
