/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_PAIRS_RANK_SOCKET_H
#define KWHY_BENCH_PAIRS_RANK_SOCKET_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* TCP sockets of ranks; for rank_link.c and rank_acceptor.c alone. */
enum { KWHY_RANK_HELLO_S = 5 }; /* in all, until a rank has proved itself */

uint16_t kwhy_rank_address_port(const struct sockaddr_storage *address);
void kwhy_rank_address_port_set(struct sockaddr_storage *address, uint16_t port);
bool kwhy_rank_address_is_loopback(const struct sockaddr_storage *address);
socklen_t kwhy_rank_address_length(const struct sockaddr_storage *address);

/* Waits for the other end at most so long at a time; `prepare`: as for hello messages, and notices dead
 * hosts. */
void kwhy_rank_socket_silence(int socket, int seconds);
void kwhy_rank_socket_prepare(int socket);
/* All of the bytes; false: errno says why, EAGAIN: not by then. */
bool kwhy_rank_socket_send(int socket, const void *bytes, size_t count, int64_t end_ns);
bool kwhy_rank_socket_receive(int socket, void *bytes, size_t count, int64_t end_ns);

/* KWHY_E_IO with the cure where nothing can listen there by then. Port 0: any. */
KWHY_MUST_USE enum kwhy_status kwhy_rank_socket_listen(const struct sockaddr_storage *at, uint16_t port,
	int64_t end_ns, int *out, uint32_t *out_port, struct kwhy_error *error);
bool kwhy_rank_socket_is_to_itself(int socket);
/* Whether the other end is on this host, open, and a socket of this user: by the system's own table. */
bool kwhy_rank_socket_is_of_user(int socket);

#endif
