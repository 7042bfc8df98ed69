/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/accept.h"

#include "cmocka_all.h"

static void the_form_is_what_the_client_prefers(void **state)
{
	static const struct {
		const char *accept;
		enum kwhy_exposition_form form;
	} rows[] = {
		{NULL, KWHY_EXPOSITION_PROMETHEUS},
		{"", KWHY_EXPOSITION_PROMETHEUS},
		{"*/*", KWHY_EXPOSITION_PROMETHEUS},
		{"text/html", KWHY_EXPOSITION_PROMETHEUS},
		{"application/openmetrics-text", KWHY_EXPOSITION_OPENMETRICS},
		{"Application/OpenMetrics-Text; version=1.0.0", KWHY_EXPOSITION_OPENMETRICS},
		{"application/openmetrics-text;version=1.0.0,application/"
		 "openmetrics-text;version=0.0.1;q=0.75,"
		 "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
			KWHY_EXPOSITION_OPENMETRICS},
		{"application/openmetrics-text;q=0.3,text/plain;q=0.31", KWHY_EXPOSITION_PROMETHEUS},
		{"text/plain;q=0.999, application/openmetrics-text;q=1", KWHY_EXPOSITION_OPENMETRICS},
		{"application/openmetrics-text;q=0", KWHY_EXPOSITION_PROMETHEUS},
		{"application/openmetrics-textual", KWHY_EXPOSITION_PROMETHEUS},
		{",,,;q=,;;q=9999999999,application/openmetrics-text;q=x", KWHY_EXPOSITION_PROMETHEUS},
		{"application/openmetrics-text;q=", KWHY_EXPOSITION_OPENMETRICS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (kwhy_accept_form(rows[i].accept) != rows[i].form)
			fail_msg("row %zu: %s", i, rows[i].accept ? rows[i].accept : "NULL");
}

static void a_token_is_taken_only_whole(void **state)
{
	static const char token[] = "0123456789abcdef";

	(void)state;
	assert_true(kwhy_accept_token("Bearer 0123456789abcdef", token));
	assert_true(kwhy_accept_token("bearer 0123456789abcdef", token));
	assert_false(kwhy_accept_token(NULL, token));
	assert_false(kwhy_accept_token("", token));
	assert_false(kwhy_accept_token("Bearer ", token));
	assert_false(kwhy_accept_token("Bearer", token));
	assert_false(kwhy_accept_token("Basic 0123456789abcdef", token));
	assert_false(kwhy_accept_token("Bearer 0123456789abcde", token));
	assert_false(kwhy_accept_token("Bearer 0123456789abcdeg", token));
	assert_false(kwhy_accept_token("Bearer 0123456789abcdef0", token));
	assert_false(kwhy_accept_token("Bearer 0123456789ABCDEF", token));
}

static void a_host_is_this_machine_or_refused(void **state)
{
	static const char *const own[] = {"localhost", "LocalHost:9835", "127.0.0.1:9835", "127.1.2.3",
		"[::1]", "[::1]:9835", "gpu01:80", "GPU01", NULL};
	static const char *const others[] = {"", ":9835", "evil.example", "evil.example:9835",
		"localhost.evil.example", "127.0.0.1.evil.example:9835", "10.0.0.1:9835", "[::2]:9835", "[",
		"[]", "[::1", "[::1]x", "[::1].evil.example", "localhost:80.evil.example", "localhost:80:80",
		"gpu01.evil.example", "gpu0", "0x7f.1",
		"a-name-that-is-longer-than-any-address-can-be-written.example:9835"};

	(void)state;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!kwhy_accept_host(own[i], "gpu01:9835"))
			fail_msg("%s is refused", own[i] ? own[i] : "no header");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (kwhy_accept_host(others[i], "gpu01:9835") || kwhy_accept_host(others[i], ":9835"))
			fail_msg("%s is taken", others[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_form_is_what_the_client_prefers),
		cmocka_unit_test(a_token_is_taken_only_whole),
		cmocka_unit_test(a_host_is_this_machine_or_refused),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
