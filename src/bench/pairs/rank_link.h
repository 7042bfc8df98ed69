/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANK_LINK_H
#define KWHY_BENCH_PAIRS_RANK_LINK_H

#include "base/status.h"
#include "model/pairs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KWHY_RANK_SILENCE_S = 120 }; /* then a rank whose message is not complete counts as lost */
enum { KWHY_RANK_SECRET_MIN = 16 }; /* characters */

/*
 * Processes that measure together, each joined with each by a TCP connection. Rank 0 listens where all know
 * it, the others tell it where they listen, and it tells everybody. Both ends of each connection prove that
 * they know the secret (HMAC-SHA-256 over what both said, two random numbers among it) before anything else
 * is read; who cannot is sent away, and costs neither time nor the run. Without a secret ranks meet on the
 * loopback interface alone, and only with sockets of their own user. What follows is checked field by field
 * (rank_wire.h), but neither encrypted nor signed: whoever can change packets between the hosts can change
 * it. One thread a process.
 */
struct kwhy_rank_link {
	uint32_t rank, size;
	int sockets[KWHY_PAIR_GPUS_MAX]; /* -1: our own, and of those that are gone */
	char hosts[KWHY_PAIR_GPUS_MAX][64];
	int64_t processes[KWHY_PAIR_GPUS_MAX];
};

struct kwhy_rank_link_request {
	uint32_t rank, size;
	const char *address; /* of rank 0: a name or a number */
	uint16_t port;
	const char *secret; /* the same for all; NULL: none, for ranks of one user on one host */
	int listener;	    /* of rank 0: one that listens there already; -1: not yet. It is closed. */
	int64_t wait_ns;    /* for all to come */
};

/* A socket that listens, on this host's loopback alone; port 0: any, out->port says which. */
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_listen_here(
	int *out_socket, uint16_t *out_port, struct kwhy_error *error);

/* KWHY_E_USAGE where numbers do not fit together, KWHY_E_IO where somebody does not come in time. */
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_open(
	const struct kwhy_rank_link_request *request, struct kwhy_rank_link *out, struct kwhy_error *error);
void kwhy_rank_link_close(struct kwhy_rank_link *link);

/* All of the bytes. KWHY_E_LOST: that rank ended, or took two minutes for them, however it dribbled. */
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_send(
	struct kwhy_rank_link *link, uint32_t to, const void *bytes, size_t count, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_receive(
	struct kwhy_rank_link *link, uint32_t from, void *bytes, size_t count, struct kwhy_error *error);

/* As that, of several parts within one time. */
int64_t kwhy_rank_link_end(void);
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_receive_by(struct kwhy_rank_link *link, uint32_t from,
	void *bytes, size_t count, int64_t end_ns, struct kwhy_error *error);

/* Waits until one of them has sent something or is gone; -1: nobody has within `wait_ns`, negative: forever.
 */
int kwhy_rank_link_await(struct kwhy_rank_link *link, int64_t wait_ns);

/* That one is given up; KWHY_E_LOST with the words for it. */
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_drop(
	struct kwhy_rank_link *link, uint32_t rank, bool silent, struct kwhy_error *error);

/* Whether a rank other than this one has ended; looks without waiting. */
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_check(struct kwhy_rank_link *link, struct kwhy_error *error);

#endif
