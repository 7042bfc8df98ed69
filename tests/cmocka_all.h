/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_CMOCKA_ALL_H
#define KWHY_TESTS_CMOCKA_ALL_H

/* cmocka wants these before it, in this order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

/* cmocka's own (1.1.5) takes a figure that is no number for equal to any, and rounds to float before it
 * looks. */
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
