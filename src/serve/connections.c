/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/connections.h"

#include <sys/socket.h>

static void shut(struct kwhy_connection *connection)
{
	connection->shut = true;
	(void)shutdown(connection->socket, SHUT_RDWR);
}

/*
 * The open connection whose time runs longest (smallest since_ns), if more than KWHY_CONNECTIONS_CROWD are
 * open; else NULL. Connections that were shut down do not count.
 */
static struct kwhy_connection *longest_of_crowd(struct kwhy_connections *connections)
{
	struct kwhy_connection *longest = NULL;
	size_t open = 0;

	for (size_t i = 0; i < KWHY_CONNECTIONS_MAX; i++) {
		struct kwhy_connection *connection = &connections->items[i];

		if (!connection->used || connection->shut)
			continue;
		open++;
		if (!longest || connection->since_ns < longest->since_ns)
			longest = connection;
	}
	return open > KWHY_CONNECTIONS_CROWD ? longest : NULL;
}

struct kwhy_connection *kwhy_connections_add(
	struct kwhy_connections *connections, int socket, int64_t now_mono_ns)
{
	struct kwhy_connection *longest;

	for (size_t i = 0; i < KWHY_CONNECTIONS_MAX; i++) {
		if (connections->items[i].used)
			continue;
		connections->items[i] = (struct kwhy_connection){socket, now_mono_ns, true, false};
		longest = longest_of_crowd(connections);
		if (longest)
			shut(longest);
		return &connections->items[i];
	}
	(void)shutdown(socket, SHUT_RDWR);
	return NULL;
}

void kwhy_connections_renew(struct kwhy_connection *connection, int64_t now_mono_ns)
{
	connection->since_ns = now_mono_ns;
}

void kwhy_connections_remove(struct kwhy_connection *connection)
{
	if (connection)
		connection->used = false;
}

void kwhy_connections_expire(struct kwhy_connections *connections, int64_t now_mono_ns)
{
	for (size_t i = 0; i < KWHY_CONNECTIONS_MAX; i++) {
		struct kwhy_connection *connection = &connections->items[i];

		if (connection->used && !connection->shut &&
			now_mono_ns - connection->since_ns >= KWHY_CONNECTIONS_DEADLINE_NS)
			shut(connection);
	}
}
