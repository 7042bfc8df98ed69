/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names.h"
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t intern(struct kwhy_names *names, const char *bytes, size_t length)
{
	struct kwhy_error error;
	uint32_t name = 0;

	assert_int_equal(kwhy_names_intern(names, bytes, length, &name, &error), KWHY_OK);
	return name;
}

static void equal_strings_share_a_number_and_number_0_is_empty(void **state)
{
	struct kwhy_names names;
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_names_init(&names, &error), KWHY_OK);
	assert_int_equal(intern(&names, "", 0), 0);
	assert_int_equal(intern(&names, "fma", 3), intern(&names, "fmax", 3));
	assert_int_not_equal(intern(&names, "fma", 3), intern(&names, "fmax", 4));
	kwhy_names_done(&names);
}

static void ten_thousand_names_keep_their_strings(void **state)
{
	struct kwhy_names names;
	struct kwhy_error error;
	char text[32];

	(void)state;
	assert_int_equal(kwhy_names_init(&names, &error), KWHY_OK);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(intern(&names, text, (size_t)snprintf(text, sizeof(text), "n%d", i)), i + 1);
	for (int i = 0; i < 10000; i++) {
		snprintf(text, sizeof(text), "n%d", i);
		assert_string_equal(kwhy_names_get(&names, (uint32_t)i + 1), text);
	}
	kwhy_names_done(&names);
}

static void broken_utf8_and_control_characters_become_harmless(void **state)
{
	struct kwhy_names names;
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_names_init(&names, &error), KWHY_OK);
	assert_string_equal(kwhy_names_get(&names, intern(&names, "a\xFF\x1B[b", 5)), "a\xEF\xBF\xBD [b");
	assert_string_equal(kwhy_names_get(&names, intern(&names, "\xED\xA0\x80", 3)),
		"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
	assert_string_equal(
		kwhy_names_get(&names, intern(&names, "\xC3\xA9t\xC3\xA9", 5)), "\xC3\xA9t\xC3\xA9");
	kwhy_names_done(&names);
}

static void a_name_of_100_kB_is_cut_at_a_code_point(void **state)
{
	struct kwhy_names names;
	struct kwhy_error error;
	char *big = malloc(100001);
	const char *kept;

	(void)state;
	for (size_t i = 0; i + 1 < 100001; i += 2)
		memcpy(big + i, "\xC3\xA9", 2);
	assert_int_equal(kwhy_names_init(&names, &error), KWHY_OK);
	kept = kwhy_names_get(&names, intern(&names, big, 100000));
	assert_true(strlen(kept) <= KWHY_NAME_MAX_BYTES);
	assert_string_equal(kept + strlen(kept) - 3, "...");
	assert_int_equal((unsigned char)kept[strlen(kept) - 4], 0xA9);
	kwhy_names_done(&names);
	free(big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_strings_share_a_number_and_number_0_is_empty),
		cmocka_unit_test(ten_thousand_names_keep_their_strings),
		cmocka_unit_test(broken_utf8_and_control_characters_become_harmless),
		cmocka_unit_test(a_name_of_100_kB_is_cut_at_a_code_point),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
