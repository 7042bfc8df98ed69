/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_CONNECTIONS_H
#define KWHY_SERVE_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The connections of a server, so that none is held for ever and many slow ones lock nobody out. One that is
 * to end is shut down; whoever owns its socket then reads its end and closes it. One thread. Zeroed: empty.
 */

#define KWHY_CONNECTIONS_MAX 64
/* Beyond this many the one that has waited longest is shut down. The rest is room for those that come before
 * their owner has closed it: libmicrohttpd accepts about ten at once. */
#define KWHY_CONNECTIONS_CROWD 40
/* From the accept, or from the end of the last answer, to the end of the next: however its bytes trickle. */
#define KWHY_CONNECTIONS_DEADLINE_NS INT64_C(10000000000)

struct kwhy_connection {
	int socket;
	int64_t since_ns;
	bool used, shut;
};

struct kwhy_connections {
	struct kwhy_connection items[KWHY_CONNECTIONS_MAX];
};

/* NULL: there is no space, and the connection is shut down. */
struct kwhy_connection *kwhy_connections_add(
	struct kwhy_connections *connections, int socket, int64_t now_mono_ns);
/* An answer is out: the time runs anew. */
void kwhy_connections_renew(struct kwhy_connection *connection, int64_t now_mono_ns);
/* Before its socket is closed. NULL: nothing. */
void kwhy_connections_remove(struct kwhy_connection *connection);
/* Shuts down those whose time is over. */
void kwhy_connections_expire(struct kwhy_connections *connections, int64_t now_mono_ns);

#endif
