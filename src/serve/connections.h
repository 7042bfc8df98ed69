/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_CONNECTIONS_H
#define KWHY_SERVE_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The connections of a server, bounded in time and number, so that slow clients lock nobody out. A connection
 * that is to end is shut down; the owner of its socket then reads the end and closes it. One thread.
 * Zero-initialise.
 */

#define KWHY_CONNECTIONS_MAX 64
/*
 * Number of connections beyond which the one that has waited longest is shut down. The other entries are for
 * connections that arrive before their owner has closed the old ones: libmicrohttpd accepts about ten in a
 * row.
 */
#define KWHY_CONNECTIONS_CROWD 40
/*
 * Longest time from the accept, or from the end of the last answer, to the end of the next answer, however
 * slowly bytes arrive.
 */
#define KWHY_CONNECTIONS_DEADLINE_NS INT64_C(10000000000)

struct kwhy_connection {
	int socket;
	int64_t since_ns;
	bool used, shut;
};

struct kwhy_connections {
	struct kwhy_connection items[KWHY_CONNECTIONS_MAX];
};

/* NULL: the table is full, and the connection has been shut down. */
struct kwhy_connection *kwhy_connections_add(
	struct kwhy_connections *connections, int socket, int64_t now_mono_ns);
/* Called when an answer has been sent: the connection's time starts again. */
void kwhy_connections_renew(struct kwhy_connection *connection, int64_t now_mono_ns);
/* Called before the connection's socket is closed. NULL: does nothing. */
void kwhy_connections_remove(struct kwhy_connection *connection);
/* Shuts down the connections whose time is over. */
void kwhy_connections_expire(struct kwhy_connections *connections, int64_t now_mono_ns);

#endif
