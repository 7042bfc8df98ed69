/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/address.h"

#include "cmocka_all.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct kwhy_error error;

/* If true, socket() fails for IPv6, as on a system without it. */
static bool without_v6;

/* With --wrap=socket the linker sends calls of socket() to __wrap_socket(); __real_socket() is the libc's. */
int __real_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol);

int __wrap_socket(int family, int type, int protocol)
{
	if (without_v6 && family == AF_INET6) {
		errno = EAFNOSUPPORT;
		return -1;
	}
	return __real_socket(family, type, protocol);
}

static bool has_v6(void)
{
	const struct sockaddr_in6 any = {.sin6_family = AF_INET6};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool has = fd >= 0 && bind(fd, (const struct sockaddr *)&any, sizeof(any)) == 0;

	if (fd >= 0)
		close(fd);
	return has;
}

static void addresses_are_read_and_written_again(void **state)
{
	static const struct {
		const char *given, *shown;
		bool loopback;
	} rows[] = {
		{"127.0.0.1:9835", "127.0.0.1:9835", true},
		{"127.8.9.1:1", "127.8.9.1:1", true},
		{"[::1]:65535", "[::1]:65535", true},
		{"0.0.0.0:80", "0.0.0.0:80", false},
		{"[::]:80", "[::]:80", false},
		{"192.0.2.7:9835", "192.0.2.7:9835", false},
	};
	char shown[KWHY_ADDRESS_BYTES];
	union kwhy_address address;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(kwhy_address_read(rows[i].given, &address, &error), KWHY_OK);
		assert_string_equal(kwhy_address_write(&address, shown), rows[i].shown);
		assert_int_equal(kwhy_address_is_loopback(&address), rows[i].loopback);
	}
}

/* Returns whether a server that listens on ":0" can be reached at this loopback address, 127.0.0.1 or ::1. */
static bool is_reached_on(const char *host)
{
	const bool is_v6 = strchr(host, ':') != NULL;
	union kwhy_address served, asked = {0};
	int listener, client, reached;

	assert_int_equal(kwhy_address_read(":0", &served, &error), KWHY_OK);
	assert_false(kwhy_address_is_loopback(&served));
	assert_int_equal(kwhy_address_listen(&served, &listener, &error), KWHY_OK);
	asked.any.sa_family = is_v6 ? AF_INET6 : AF_INET;
	inet_pton(
		asked.any.sa_family, host, is_v6 ? (void *)&asked.v6.sin6_addr : (void *)&asked.v4.sin_addr);
	asked.v4.sin_port = served.v4.sin_port; /* sin6_port is at the same offset */
	client = __real_socket(asked.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	reached = connect(client, &asked.any, is_v6 ? sizeof(asked.v6) : sizeof(asked.v4));
	close(client);
	close(listener);
	return reached == 0;
}

static void every_address_is_that_of_both_families(void **state)
{
	(void)state;
	if (!has_v6())
		kwhy_skip("this machine has no IPv6");
	assert_true(is_reached_on("127.0.0.1"));
	assert_true(is_reached_on("::1"));
}

static void every_address_is_that_of_ipv4_where_there_is_no_other(void **state)
{
	(void)state;
	without_v6 = true;
	assert_true(is_reached_on("127.0.0.1"));
	without_v6 = false;
}

static void what_is_no_address_is_refused(void **state)
{
	static const char *const wrong[] = {"", ":", "9835", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
		"127.0.0.1:65536", "127.0.0.1:99999999999999999999", "127.0.0.1: 80", "::1:80", "[::1]",
		"127.0.0.1:80x", "300.0.0.1:80"};
	union kwhy_address address;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (kwhy_address_read(wrong[i], &address, &error) != KWHY_E_USAGE)
			fail_msg("'%s' was taken", wrong[i]);
}

static void the_system_chooses_a_port_and_a_second_server_is_told_that_it_is_taken(void **state)
{
	union kwhy_address first, second;
	int one, other;

	(void)state;
	assert_int_equal(kwhy_address_read("127.0.0.1:0", &first, &error), KWHY_OK);
	assert_int_equal(kwhy_address_listen(&first, &one, &error), KWHY_OK);
	assert_int_not_equal(first.v4.sin_port, 0);
	second = first;
	assert_int_equal(kwhy_address_listen(&second, &other, &error), KWHY_E_IO);
	assert_non_null(strstr(error.text, "--listen"));
	close(one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_read_and_written_again),
		cmocka_unit_test(every_address_is_that_of_both_families),
		cmocka_unit_test(every_address_is_that_of_ipv4_where_there_is_no_other),
		cmocka_unit_test(what_is_no_address_is_refused),
		cmocka_unit_test(the_system_chooses_a_port_and_a_second_server_is_told_that_it_is_taken),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
