/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_CONNECTIONS_H
#define KWHY_SERVE_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The connections of a server, limited in time and number so that slow clients do not keep others out. A
 * connection that exceeds a limit is shut down; the library that owns its socket then reads the end of the
 * data and closes the socket. Only one thread may use it. Zero-initialise.
 */

#define KWHY_CONNECTIONS_MAX 64
/*
 * KWHY_CONNECTIONS_CROWD: if there are more connections than this, the one that has waited longest is shut
 * down. The table has more entries, because new connections arrive before the library has closed old ones;
 * libmicrohttpd accepts about ten in a row.
 */
#define KWHY_CONNECTIONS_CROWD 40
/*
 * Longest time from the start of a connection, or from the end of its last answer, to the end of its next
 * answer, even if bytes keep arriving.
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

/* Adds a connection. NULL: the table is full, and the connection has been shut down. */
struct kwhy_connection *kwhy_connections_add(
	struct kwhy_connections *connections, int socket, int64_t now_mono_ns);
/* Restarts the connection's time. Called when an answer has been sent. */
void kwhy_connections_renew(struct kwhy_connection *connection, int64_t now_mono_ns);
/* Removes a connection. Called before its socket is closed. NULL: does nothing. */
void kwhy_connections_remove(struct kwhy_connection *connection);
/* Shuts down the connections whose time is over. */
void kwhy_connections_expire(struct kwhy_connections *connections, int64_t now_mono_ns);

#endif
