/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "launch/pattern.h"

#include <string.h>

static struct kwhy_error error;
static double sum;

static void add(void *context, double value)
{
	(void)context;
	sum += value;
}

/*
 * Returns the sum of the numbers that the expression finds in the bytes, and sets *out_unreadable (unless
 * NULL) to the number of matches that are no numbers.
 */
static double sum_in(const char *expression, const char *line, size_t length, uint64_t *out_unreadable)
{
	struct kwhy_pattern pattern;

	sum = 0;
	assert_int_equal(kwhy_pattern_init(&pattern, "--work", expression, &error), KWHY_OK);
	kwhy_pattern_find(&pattern, line, length, add, NULL);
	if (out_unreadable)
		*out_unreadable = pattern.unreadable;
	kwhy_pattern_done(&pattern);
	return sum;
}

#define SUM_IN(expression, line) sum_in(expression, line, strlen(line), NULL)

static void parentheses_mark_the_number_to_read(void **state)
{
	(void)state;
	assert_true(SUM_IN("generated ([0-9]+) tokens", "generated 500 tokens, generated 12 tokens") == 512);
	assert_true(SUM_IN("loss ([-+0-9.e]+)", "step 3 loss 1.25e-3") == 1.25e-3);
	assert_true(SUM_IN("loss=(.*)$", "loss=  4.5 ") == 4.5);
}

static void without_parentheses_matches_are_counted(void **state)
{
	(void)state;
	assert_true(SUM_IN("step", "step 1 step 2 footstep") == 3);
	assert_true(SUM_IN("^step", "step 1 step 2") == 1);
	assert_true(SUM_IN("x*", "no such letter") == 0);
	assert_true(SUM_IN("aa", "aaaaa") == 2);
}

static void what_is_no_number_is_counted_apart(void **state)
{
	uint64_t unreadable;

	(void)state;
	assert_true(sum_in("n=([^ ]*)", "n=1 n=many n=nan n=inf n=", 25, &unreadable) == 1);
	assert_int_equal(unreadable, 4);
	assert_true(sum_in("a(b)?", "a", 1, &unreadable) == 0);
	assert_int_equal(unreadable, 1);
}

static void lines_may_hold_any_bytes(void **state)
{
	(void)state;
	assert_true(sum_in("n=([0-9]+)", "\0\xff\xfe n=7 \0 n=8", 16, NULL) == 15);
	assert_true(sum_in("n=([0-9]+)", "n=7123", 3, NULL) == 7);
	assert_true(sum_in("n", "", 0, NULL) == 0);
}

static void wrong_expressions_say_what_is_wrong(void **state)
{
	static const char *const wrong[] = {"", "(", "[a", "(a)(b)", "a{2", "(a(b))"};
	struct kwhy_pattern pattern;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(
			kwhy_pattern_init(&pattern, "--work tokens", wrong[i], &error), KWHY_E_USAGE);
		assert_non_null(strstr(error.text, "--work tokens: '"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parentheses_mark_the_number_to_read),
		cmocka_unit_test(without_parentheses_matches_are_counted),
		cmocka_unit_test(what_is_no_number_is_counted_apart),
		cmocka_unit_test(lines_may_hold_any_bytes),
		cmocka_unit_test(wrong_expressions_say_what_is_wrong),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
