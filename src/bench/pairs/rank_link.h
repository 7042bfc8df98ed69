/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANK_LINK_H
#define KWHY_BENCH_PAIRS_RANK_LINK_H

#include "base/status.h"
#include "model/pairs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KWHY_RANK_SILENCE_S = 120 }; /* a rank whose message is incomplete after this time counts as lost */
enum { KWHY_RANK_SECRET_MIN = 16 }; /* characters of a secret */

/*
 * TCP connections between processes that measure together, one between every two of them. Rank 0 listens at
 * an address that all know. The others send it the addresses at which they listen, and it sends all addresses
 * to everybody. Both ends of a connection prove that they know the secret (HMAC-SHA-256 over both hello
 * messages, which contain random numbers) before anything else is read. A connection that fails to prove it
 * is closed, and neither delays nor ends the run. Without a secret ranks meet on the loopback interface
 * alone, and only with sockets of their own user. All later messages are checked field by field (rank_wire.h)
 * but neither encrypted nor signed: whoever can change packets between the hosts can change them. One thread
 * a process.
 */
struct kwhy_rank_link {
	uint32_t rank, size;
	int sockets[KWHY_PAIR_GPUS_MAX]; /* -1: this rank itself, or a rank that has ended */
	char hosts[KWHY_PAIR_GPUS_MAX][64];
	int64_t processes[KWHY_PAIR_GPUS_MAX];
};

struct kwhy_rank_link_request {
	uint32_t rank, size;
	const char *address; /* address of rank 0: host name or IP address */
	uint16_t port;
	const char *secret; /* the same in all ranks; NULL: no secret, for ranks of one user on one host */
	int listener;	    /* rank 0 only: a socket that listens already, closed by the link; -1: make one */
	int64_t wait_ns;    /* how long to wait until all ranks have connected */
};

/* Makes a socket that listens on the loopback interface alone, at a free port that `out_port` receives. */
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_listen_here(
	int *out_socket, uint16_t *out_port, struct kwhy_error *error);

/*
 * Connects all ranks. KWHY_E_USAGE: rank or size is out of range. KWHY_E_IO: a rank did not connect in time.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_open(
	const struct kwhy_rank_link_request *request, struct kwhy_rank_link *out, struct kwhy_error *error);
void kwhy_rank_link_close(struct kwhy_rank_link *link);

/*
 * Sends or receives all bytes. KWHY_E_LOST: the rank ended, or the whole transfer took longer than
 * KWHY_RANK_SILENCE_S.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_send(
	struct kwhy_rank_link *link, uint32_t to, const void *bytes, size_t count, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_receive(
	struct kwhy_rank_link *link, uint32_t from, void *bytes, size_t count, struct kwhy_error *error);

/*
 * As kwhy_rank_link_receive(), for a message of several parts that share one deadline, which
 * kwhy_rank_link_end() gives.
 */
int64_t kwhy_rank_link_end(void);
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_receive_by(struct kwhy_rank_link *link, uint32_t from,
	void *bytes, size_t count, int64_t end_ns, struct kwhy_error *error);

/*
 * Waits until a rank has sent something or has ended, and returns its number; -1: neither happened within
 * `wait_ns`. A negative `wait_ns` waits forever.
 */
int kwhy_rank_link_await(struct kwhy_rank_link *link, int64_t wait_ns);

/*
 * Gives a rank up and returns KWHY_E_LOST with the message for it. `silent`: the rank did not answer in time.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_drop(
	struct kwhy_rank_link *link, uint32_t rank, bool silent, struct kwhy_error *error);

/* Fails with KWHY_E_LOST if another rank has ended. Does not wait. */
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_check(struct kwhy_rank_link *link, struct kwhy_error *error);

#endif
