/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "report/compare/stat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct kwhy_error error;

/* One figure, the energy of a GPU, as `kwhy stat --json` has it. */
#define STAT(count, mean, low, high, deviation)                                                         \
	"{\"schema\":\"kwhy.stat/1\",\"command\":\"x\",\"domains\":[{\"name\":\"gpu 0\",\"energy_j\":{" \
	"\"count\":" #count ",\"mean\":" #mean ",\"low\":" #low ",\"high\":" #high                      \
	",\"deviation\":" #deviation "}}]}"

static void compare(struct kwhy_stat_comparison *out, const char *a, const char *b)
{
	const struct kwhy_text texts[] = {
		{.data = (char *)a, .length = strlen(a)}, {.data = (char *)b, .length = strlen(b)}};
	const struct kwhy_text *const both[] = {&texts[0], &texts[1]};
	const char *const labels[] = {"a.json", "b.json"};

	assert_int_equal(kwhy_compare_stat(out, labels, both, &error), KWHY_OK);
}

/* One of twenty runs that scatter by 11 J lies 13 J from their mean often enough. */
static void a_single_run_is_held_against_the_scatter_of_several(void **state)
{
	struct kwhy_stat_comparison comparison;

	(void)state;
	compare(&comparison, STAT(20, 96.93, 91.72, 102.14, 11.13), STAT(1, 110, 109.8, 110.2, null));
	assert_int_equal(comparison.change_count, 1);
	assert_false(kwhy_stat_is_significant(&comparison.changes[0]));
	assert_true(fabs(comparison.changes[0].difference.high - 13.07 - 23.87) < 0.01);
	kwhy_compare_stat_done(&comparison);
	compare(&comparison, STAT(1, 130, 129.8, 130.2, null), STAT(20, 96.93, 91.72, 102.14, 11.13));
	assert_true(kwhy_stat_is_significant(&comparison.changes[0]));
	kwhy_compare_stat_done(&comparison);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_single_run_is_held_against_the_scatter_of_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
