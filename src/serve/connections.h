/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_CONNECTIONS_H
#define KWHY_SERVE_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Table of the connections of a server, whose time and number are limited so that slow clients do not keep
 * others out. A connection that exceeds a limit is shut down; libmicrohttpd, which owns its socket, then
 * reads the end of the data and closes it. Only one thread may use the table. Zero-initialise.
 */

#define KWHY_CONNECTIONS_MAX 64
/*
 * KWHY_CONNECTIONS_CROWD: when a new connection makes more than this many, the one whose time runs longest is
 * shut down. The table has more entries, KWHY_CONNECTIONS_MAX, because connections that were shut down stay
 * in the table until libmicrohttpd has closed them, and libmicrohttpd accepts about ten new connections
 * before that.
 */
#define KWHY_CONNECTIONS_CROWD 40
/*
 * Longest time of a request, in ns: from the start of its connection, or from the end of the previous answer
 * on this connection, to the end of the answer to this request. Bytes that arrive do not extend it.
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

/*
 * Adds a connection, and shuts one down if there are too many. NULL: the table is full, and the new
 * connection was shut down.
 */
struct kwhy_connection *kwhy_connections_add(
	struct kwhy_connections *connections, int socket, int64_t now_mono_ns);
/* Restarts the time of a connection; to be called when an answer has been sent. */
void kwhy_connections_renew(struct kwhy_connection *connection, int64_t now_mono_ns);
/* Removes a connection from the table; to be called before its socket is closed. NULL: does nothing. */
void kwhy_connections_remove(struct kwhy_connection *connection);
/* Shuts down the connections whose time has exceeded KWHY_CONNECTIONS_DEADLINE_NS. */
void kwhy_connections_expire(struct kwhy_connections *connections, int64_t now_mono_ns);

#endif
