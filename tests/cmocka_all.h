/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_CMOCKA_ALL_H
#define KWHY_TESTS_CMOCKA_ALL_H

/* cmocka.h needs these headers before it, in this order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

/*
 * Runs the tests and returns what main() of every test program returns: 0 if its cases passed, 1 if one
 * failed, 77 (skipped, for ctest) if all of them were skipped, for which cmocka's own runner returns 0. If
 * some cases were skipped, the last line of output says how many.
 */
#define kwhy_test_main(tests, setup, teardown) \
	kwhy_test_run(#tests, (tests), sizeof(tests) / sizeof((tests)[0]), (setup), (teardown))
int kwhy_test_run(const char *name, const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
	CMFixtureFunction teardown);
#undef cmocka_run_group_tests

/* Ends the running case as skipped and prints the line "skipped: why". */
#define kwhy_skip(why) kwhy_skip_at((why), __FILE__, __LINE__)
_Noreturn void kwhy_skip_at(const char *why, const char *file, int line);
#undef skip

/*
 * Skips all cases of a test program that cannot set up what they need: prints "skipped: why" and returns 77,
 * which main() must return.
 */
int kwhy_skip_all(const char *why);

/*
 * Redefined because assert_float_equal() of cmocka 1.1.5 takes NaN as equal to any number, and rounds its
 * arguments to float before it compares them.
 */
#undef assert_float_equal
#define assert_float_equal(a, b, epsilon) kwhy_assert_close((a), (b), (epsilon), __FILE__, __LINE__)

static inline void kwhy_assert_close(double a, double b, double epsilon, const char *file, int line)
{
	if (fabs(a - b) <= epsilon)
		return;
	print_error("%.17g is not %.17g within %g\n", a, b, epsilon);
	_fail(file, line);
}

#endif
