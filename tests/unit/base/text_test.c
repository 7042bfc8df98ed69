/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "cmocka_all.h"

#include <string.h>

static void assert_becomes(const char *given, const char *expected)
{
	char out[3 * 64 + 1];

	assert_int_equal(kwhy_text_sanitize(out, given, strlen(given)), strlen(expected));
	assert_string_equal(out, expected);
	assert_int_equal(kwhy_text_is_clean(given, strlen(given)), !strcmp(given, expected));
	assert_true(kwhy_text_is_clean(out, strlen(out)));
}

static void letters_of_every_length_stay(void **state)
{
	(void)state;
	assert_becomes("gemm", "gemm");
	assert_becomes(
		"\u00A0\u00DF \u20AC \u202F\u2070 \U0001F600", "\u00A0\u00DF \u20AC \u202F\u2070 \U0001F600");
}

static void what_commands_a_terminal_is_no_part_of_a_text(void **state)
{
	(void)state;
	assert_becomes("a\tb\x1B[2J\x7F", "a b [2J ");
	assert_becomes("a\xC2\x9B"
		       "2Jb",
		"a\uFFFD"
		"2Jb"); /* U+009B, the control sequence introducer (CSI) as one character */
	assert_becomes("\xC2\x80\xC2\x9F\xC2\xA0", "\uFFFD\uFFFD\u00A0");
	assert_becomes("\x9B"
		       "2J",
		"\uFFFD"
		"2J");
}

static void what_reorders_a_text_is_no_part_of_it(void **state)
{
	static const char *const marks[] = {"\u061C", "\u200E", "\u200F", "\u2028", "\u2029", "\u202A",
		"\u202B", "\u202C", "\u202D", "\u202E", "\u2066", "\u2067", "\u2068", "\u2069"};

	(void)state;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		assert_becomes(marks[i], "\uFFFD");
	assert_becomes("\u061B\u200D\u2027\u202F\u2065\u206A", "\u061B\u200D\u2027\u202F\u2065\u206A");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_of_every_length_stay),
		cmocka_unit_test(what_commands_a_terminal_is_no_part_of_a_text),
		cmocka_unit_test(what_reorders_a_text_is_no_part_of_it),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
