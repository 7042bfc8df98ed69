/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANK_SOCKET_H
#define KWHY_BENCH_PAIRS_RANK_SOCKET_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* TCP sockets of ranks; for rank_link.c and rank_acceptor.c alone. */
enum { KWHY_RANK_HELLO_S = 5 }; /* time within which a connecting rank must prove itself */

uint16_t kwhy_rank_address_port(const struct sockaddr_storage *address);
void kwhy_rank_address_port_set(struct sockaddr_storage *address, uint16_t port);
bool kwhy_rank_address_is_loopback(const struct sockaddr_storage *address);
socklen_t kwhy_rank_address_length(const struct sockaddr_storage *address);

/*
 * Limits each wait for the other end to `seconds`. `prepare` sets the timeout of hello messages and
 * keep-alive probes, which notice dead hosts.
 */
void kwhy_rank_socket_silence(int socket, int seconds);
void kwhy_rank_socket_prepare(int socket);
/* Sends or receives all bytes; false: errno is the reason, EAGAIN where `end_ns` has passed. */
bool kwhy_rank_socket_send(int socket, const void *bytes, size_t count, int64_t end_ns);
bool kwhy_rank_socket_receive(int socket, void *bytes, size_t count, int64_t end_ns);

/*
 * Makes a listening socket. Port 0: any free port. KWHY_E_IO, with the remedy in the message: none could be
 * made until `end_ns`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rank_socket_listen(const struct sockaddr_storage *at, uint16_t port,
	int64_t end_ns, int *out, uint32_t *out_port, struct kwhy_error *error);
bool kwhy_rank_socket_is_to_itself(int socket);
/* Whether the other end is an open socket of the same user on this host, by the kernel's own table. */
bool kwhy_rank_socket_is_of_user(int socket);

#endif
