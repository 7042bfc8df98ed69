/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/connections.h"

#include "cmocka_all.h"

#include <sys/socket.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

static struct kwhy_connections connections;

struct pair {
	int ends[2];
	struct kwhy_connection *connection;
};

static struct pair connect_at(int64_t now_ns)
{
	struct pair pair;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.ends))
		fail_msg("no sockets");
	pair.connection = kwhy_connections_add(&connections, pair.ends[0], now_ns);
	return pair;
}

static void disconnect(struct pair *pair)
{
	kwhy_connections_remove(pair->connection);
	close(pair->ends[0]);
	close(pair->ends[1]);
}

/* Returns whether the server has closed the connection, so that the client reads its end. */
static bool is_shut(const struct pair *pair)
{
	char byte;

	return read(pair->ends[1], &byte, 1) == 0;
}

static void a_connection_has_ten_seconds_from_its_accept_or_its_last_answer(void **state)
{
	struct pair slow = connect_at(0), served = connect_at(0);

	(void)state;
	kwhy_connections_renew(served.connection, 5 * SECOND);
	kwhy_connections_expire(&connections, 10 * SECOND - 1);
	assert_false(is_shut(&slow));
	kwhy_connections_expire(&connections, 10 * SECOND);
	assert_true(is_shut(&slow));
	assert_false(is_shut(&served));
	kwhy_connections_expire(&connections, 15 * SECOND);
	assert_true(is_shut(&served));
	disconnect(&slow);
	disconnect(&served);
}

static void in_a_crowd_the_one_that_waited_longest_makes_room(void **state)
{
	struct pair pairs[KWHY_CONNECTIONS_CROWD + 2];
	size_t count = sizeof(pairs) / sizeof(pairs[0]);

	(void)state;
	for (size_t i = 0; i < KWHY_CONNECTIONS_CROWD; i++)
		pairs[i] = connect_at((int64_t)i);
	kwhy_connections_renew(pairs[0].connection, 1000);
	pairs[count - 2] = connect_at(2000);
	assert_true(is_shut(&pairs[1]));
	pairs[count - 1] = connect_at(2001);
	assert_true(is_shut(&pairs[2]));
	for (size_t i = 0; i < count; i++)
		if (i != 1 && i != 2)
			assert_false(is_shut(&pairs[i]));
	for (size_t i = 0; i < count; i++)
		disconnect(&pairs[i]);
}

static void one_more_than_there_is_room_for_is_shut_at_once(void **state)
{
	struct pair pairs[KWHY_CONNECTIONS_MAX + 1];

	(void)state;
	for (size_t i = 0; i <= KWHY_CONNECTIONS_MAX; i++)
		pairs[i] = connect_at((int64_t)i);
	assert_null(pairs[KWHY_CONNECTIONS_MAX].connection);
	assert_true(is_shut(&pairs[KWHY_CONNECTIONS_MAX]));
	assert_false(is_shut(&pairs[KWHY_CONNECTIONS_MAX - 1]));
	for (size_t i = 0; i <= KWHY_CONNECTIONS_MAX; i++)
		disconnect(&pairs[i]);
	pairs[0] = connect_at(0);
	assert_non_null(pairs[0].connection);
	disconnect(&pairs[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connection_has_ten_seconds_from_its_accept_or_its_last_answer),
		cmocka_unit_test(in_a_crowd_the_one_that_waited_longest_makes_room),
		cmocka_unit_test(one_more_than_there_is_room_for_is_shut_at_once),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
