/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/rank_calls.h"
#include "cmocka_all.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	(void)count;
	(void)size;
	return NULL;
}

static void without_memory_the_connections_are_closed(void **state)
{
	struct kwhy_rank_link link = {.rank = 0, .size = 2};
	struct kwhy_pair_calls calls = {.answers = NULL};
	struct kwhy_error error;
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	for (size_t i = 0; i < KWHY_PAIR_GPUS_MAX; i++)
		link.sockets[i] = -1;
	link.sockets[1] = pair[0];
	assert_int_equal(kwhy_pair_calls_init(&calls, &link, &error), KWHY_E_MEMORY);
	assert_int_equal(fcntl(pair[0], F_GETFD), -1);
	close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_memory_the_connections_are_closed),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
