/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/address.h"

#include "cmocka_all.h"

#include <string.h>
#include <unistd.h>

static struct kwhy_error error;

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

static void every_address_is_no_loopback(void **state)
{
	union kwhy_address address;

	(void)state;
	assert_int_equal(kwhy_address_read(":9835", &address, &error), KWHY_OK);
	assert_false(kwhy_address_is_loopback(&address));
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
		cmocka_unit_test(every_address_is_no_loopback),
		cmocka_unit_test(what_is_no_address_is_refused),
		cmocka_unit_test(the_system_chooses_a_port_and_a_second_server_is_told_that_it_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
