/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANK_LINK_H
#define KWHY_BENCH_PAIRS_RANK_LINK_H

#include "base/status.h"
#include "model/pairs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * longest time in seconds for sending or receiving a whole message; a rank that takes longer counts as lost
 */
enum { KWHY_RANK_SILENCE_S = 120 };
enum { KWHY_RANK_SECRET_MIN = 16 }; /* minimum length of a secret in characters */

/*
 * TCP connections between processes that measure together, one for each pair of ranks. Rank 0 listens at an
 * address that all ranks know. The other ranks send rank 0 the addresses at which they listen, and rank 0
 * sends the list of these addresses to all. Before anything else is read from a connection, both its ends
 * prove that they know the secret (HMAC-SHA-256 over both hello messages, which contain random numbers). A
 * connection whose other end does not prove this is closed; other connections are accepted while a proof is
 * pending. Without a secret, ranks connect only on the loopback interface and only to sockets of their own
 * user. All later messages are checked field by field (rank_wire.h), but they are neither encrypted nor
 * signed: an attacker who can change packets between the hosts can change messages. Only one thread of a
 * process may use a link.
 */
struct kwhy_rank_link {
	uint32_t rank, size;
	/* sockets[i]: connection to rank `i`; -1: `i` is this rank, or that rank has ended */
	int sockets[KWHY_PAIR_GPUS_MAX];
	char hosts[KWHY_PAIR_GPUS_MAX][64];
	int64_t processes[KWHY_PAIR_GPUS_MAX];
};

struct kwhy_rank_link_request {
	uint32_t rank, size;
	const char *address; /* host name or IP address of rank 0 */
	uint16_t port;
	/* secret that all ranks share; NULL: no secret; all ranks belong to one user on one host */
	const char *secret;
	/* for rank 0: a socket that listens already and that the link will close; -1: the link makes one */
	int listener;
	int64_t wait_ns; /* longest time until all ranks have connected */
};

/*
 * Makes a socket that listens on the loopback interface only. The system chooses a free port, which *out_port
 * receives.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_listen_here(
	int *out_socket, uint16_t *out_port, struct kwhy_error *error);

/*
 * Connects all ranks. KWHY_E_USAGE: rank or size is out of range, the address of rank 0 is unknown, the
 * secret is missing or too short, or a rank was given another `size` than this one. KWHY_E_IO: a rank did not
 * connect in time.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_open(
	const struct kwhy_rank_link_request *request, struct kwhy_rank_link *out, struct kwhy_error *error);
void kwhy_rank_link_close(struct kwhy_rank_link *link);

/*
 * Sends or receives exactly `count` bytes. KWHY_E_LOST: the rank ended, or the transfer took longer than
 * KWHY_RANK_SILENCE_S.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_send(
	struct kwhy_rank_link *link, uint32_t to, const void *bytes, size_t count, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_receive(
	struct kwhy_rank_link *link, uint32_t from, void *bytes, size_t count, struct kwhy_error *error);

/*
 * Receives a message in parts: kwhy_rank_link_end() returns the deadline of a message that begins now, and
 * kwhy_rank_link_receive_by() receives one part and fails as kwhy_rank_link_receive() if the deadline
 * `end_ns` passes.
 */
int64_t kwhy_rank_link_end(void);
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_receive_by(struct kwhy_rank_link *link, uint32_t from,
	void *bytes, size_t count, int64_t end_ns, struct kwhy_error *error);

/*
 * Waits until a rank has sent something or has ended, and returns the lowest number of such a rank. -1:
 * neither happened within `wait_ns`. A negative `wait_ns` means no limit.
 */
int kwhy_rank_link_await(struct kwhy_rank_link *link, int64_t wait_ns);

/*
 * Closes the connection to a rank, and returns KWHY_E_LOST with a message. If `silent`, the message says
 * that the rank sent no complete message in time.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_drop(
	struct kwhy_rank_link *link, uint32_t rank, bool silent, struct kwhy_error *error);

/* Checks without waiting that all other ranks are connected. KWHY_E_LOST: one has ended. */
KWHY_MUST_USE enum kwhy_status kwhy_rank_link_check(struct kwhy_rank_link *link, struct kwhy_error *error);

#endif
