/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "import/kineto/number.h"

#include <string.h>

static int64_t time_of(const char *text)
{
	int64_t time_ns = -77;

	if (kwhy_kineto_number_time(text, strlen(text), &time_ns))
		fail_msg("%s was refused", text);
	return time_ns;
}

static enum kwhy_kineto_number refusal_of(const char *text)
{
	int64_t time_ns = -77;
	enum kwhy_kineto_number result = kwhy_kineto_number_time(text, strlen(text), &time_ns);

	assert_int_equal(time_ns, -77);
	return result;
}

static void microseconds_become_nanoseconds_without_loss(void **state)
{
	(void)state;
	assert_int_equal(time_of("0"), 0);
	assert_int_equal(time_of("0.768"), 768);
	assert_int_equal(time_of("7.5"), 7500);
	assert_int_equal(time_of("7.05"), 7050);
	assert_int_equal(time_of("4393997726481.806"), INT64_C(4393997726481806));
	assert_int_equal(time_of("1623142623529248"), INT64_C(1623142623529248000));
	assert_int_equal(time_of("1623142623529248.001"), INT64_C(1623142623529248001));
	assert_int_equal(time_of("1623142623529248.999"), INT64_C(1623142623529248999));
	assert_int_equal(time_of("-12.345"), -12345);
	assert_int_equal(time_of("00012.5"), 12500);
}

static void exponents_and_quotes_are_exact_too(void **state)
{
	(void)state;
	assert_int_equal(time_of("1.623142623529248001e15"), INT64_C(1623142623529248001));
	assert_int_equal(time_of("16e-1"), 1600);
	assert_int_equal(time_of("1E+3"), 1000000);
	assert_int_equal(time_of("0e999999999"), 0);
	assert_int_equal(time_of("1e-999999999"), 0);
	assert_int_equal(time_of("\"12.345\""), 12345);
}

static void what_lies_below_a_nanosecond_is_rounded_to_nearest(void **state)
{
	(void)state;
	assert_int_equal(time_of("0.7679999999999999"), 768);
	assert_int_equal(time_of("0.7680000000000001"), 768);
	assert_int_equal(time_of("1.0005"), 1001);
	assert_int_equal(time_of("1.00049999999999999999999999999999999999999999999999999"), 1000);
	assert_int_equal(time_of("-1.0005"), -1001);
	assert_int_equal(time_of("0.0004"), 0);
	assert_int_equal(time_of("0.0005"), 1);
	assert_int_equal(time_of("0.00049"), 0);
	assert_int_equal(time_of("999.9999"), 1000000);
}

static void what_is_no_number_is_refused(void **state)
{
	static const char *const texts[] = {"", "\"\"", "-", ".", "1.", ".5", "+1", "NaN", "nan", "Infinity",
		"null", "1e", "1e+", "0x10", "1 2", "12a", "\"1", "[1]", "--1", "1.2.3", "1e5.5"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (refusal_of(texts[i]) != KWHY_KINETO_NUMBER_NONE)
			fail_msg("%s", texts[i]);
}

static void times_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	assert_int_equal(refusal_of("99999999999999999999999999"), KWHY_KINETO_NUMBER_LARGE);
	assert_int_equal(refusal_of("9223372036854775.807"), KWHY_KINETO_NUMBER_LARGE);
	assert_int_equal(refusal_of("9999999999999999"), KWHY_KINETO_NUMBER_LARGE);
	assert_int_equal(refusal_of("-9999999999999999"), KWHY_KINETO_NUMBER_LARGE);
	assert_int_equal(refusal_of("1e400"), KWHY_KINETO_NUMBER_LARGE);
	assert_int_equal(time_of("2305843009213693.951"), INT64_MAX / 4);
	assert_int_equal(refusal_of("2305843009213693.952"), KWHY_KINETO_NUMBER_LARGE);
}

static void whole_numbers_reach_to_the_last_int64(void **state)
{
	int64_t value;

	(void)state;
	assert_true(kwhy_kineto_number_integer("1790857026000000000", 19, &value));
	assert_int_equal(value, INT64_C(1790857026000000000));
	assert_true(kwhy_kineto_number_integer("9223372036854775807", 19, &value));
	assert_int_equal(value, INT64_MAX);
	assert_false(kwhy_kineto_number_integer("9223372036854775808", 19, &value));
	assert_true(kwhy_kineto_number_integer("\"4093687616\"", 12, &value));
	assert_int_equal(value, INT64_C(4093687616));
	assert_true(kwhy_kineto_number_integer("-1", 2, &value));
	assert_int_equal(value, -1);
	assert_false(kwhy_kineto_number_integer("\"stream 7\"", 10, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(microseconds_become_nanoseconds_without_loss),
		cmocka_unit_test(exponents_and_quotes_are_exact_too),
		cmocka_unit_test(what_lies_below_a_nanosecond_is_rounded_to_nearest),
		cmocka_unit_test(what_is_no_number_is_refused),
		cmocka_unit_test(times_that_do_not_fit_are_refused),
		cmocka_unit_test(whole_numbers_reach_to_the_last_int64),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
