/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANK_SOCKET_H
#define KWHY_BENCH_PAIRS_RANK_SOCKET_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* TCP sockets between ranks. Only rank_link.c and rank_acceptor.c use them. */
/* longest time in seconds of the handshake on a new connection */
enum { KWHY_RANK_HELLO_S = 5 };

uint16_t kwhy_rank_address_port(const struct sockaddr_storage *address);
void kwhy_rank_address_port_set(struct sockaddr_storage *address, uint16_t port);
bool kwhy_rank_address_is_loopback(const struct sockaddr_storage *address);
socklen_t kwhy_rank_address_length(const struct sockaddr_storage *address);

/*
 * kwhy_rank_socket_silence() limits each send and receive call to `seconds`. kwhy_rank_socket_prepare() sets
 * the timeout for hello messages, and TCP keep-alive probes, which detect hosts that have died.
 */
void kwhy_rank_socket_silence(int socket, int seconds);
void kwhy_rank_socket_prepare(int socket);
/*
 * Sends or receives exactly `count` bytes. false: it failed, and errno says why; EAGAIN: `end_ns` has passed;
 * 0: the other end has closed the connection.
 */
bool kwhy_rank_socket_send(int socket, const void *bytes, size_t count, int64_t end_ns);
bool kwhy_rank_socket_receive(int socket, void *bytes, size_t count, int64_t end_ns);

/*
 * Makes a socket that listens on `at` and `port`; port 0 lets the system choose. If the port is in use but no
 * program listens on it, retries until `end_ns`. *out_port receives the port. KWHY_E_IO: it cannot listen
 * there.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rank_socket_listen(const struct sockaddr_storage *at, uint16_t port,
	int64_t end_ns, int *out, uint32_t *out_port, struct kwhy_error *error);
bool kwhy_rank_socket_is_to_itself(int socket);
/*
 * Whether the other end of the connection is on the loopback interface and is a socket of this process's
 * user, according to /proc/net/tcp or tcp6.
 */
bool kwhy_rank_socket_is_of_user(int socket);

#endif
