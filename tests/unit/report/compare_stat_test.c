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

/* Asserts that its lines fit. */
static void assert_shows(const struct kwhy_stat_comparison *comparison, const char *words)
{
	const struct kwhy_text_style style = {.columns = 80};
	const struct kwhy_conditions none = {0};
	struct kwhy_text text = {0};

	assert_int_equal(kwhy_compare_stat_text(comparison, &none, &style, &text, &error), KWHY_OK);
	if (!strstr(text.data, words))
		fail_msg("no '%s' in\n%s", words, text.data);
	for (char *line = strtok(text.data, "\n"); line; line = strtok(NULL, "\n"))
		assert_in_range(kwhy_text_columns(line), 1, 80);
	kwhy_text_done(&text);
}

/* 100 J may be 80 or 120 J: then 1000 J are 12.5 or 8.33 times as much. */
static void a_relative_change_has_the_error_of_what_it_is_relative_to(void **state)
{
	struct kwhy_stat_comparison comparison;

	(void)state;
	compare(&comparison, STAT(1, 100, 80, 120, null), STAT(1, 1000, 999, 1001, null));
	assert_shows(&comparison, "+900.0 %  +733 to +1150  yes");
	kwhy_compare_stat_done(&comparison);
	compare(&comparison, STAT(1, 100, 99, 101, null), STAT(1, 101, 100, 102, null));
	assert_shows(&comparison, "+1.0 %  -0.4 to +2.4  no");
	kwhy_compare_stat_done(&comparison);
}

static void a_long_name_leaves_the_figures_their_room(void **state)
{
	static const char json[] =
		"{\"schema\":\"kwhy.stat/1\",\"command\":\"x\",\"work\":[{\"unit\":"
		"\"sequences of a language model that were answered\",\"domains\":[{\"name\":\"gpu 0\","
		"\"units_per_joule\":{\"count\":1,\"mean\":1234,\"low\":900,\"high\":1600}}]}]}";
	struct kwhy_stat_comparison comparison;

	(void)state;
	compare(&comparison, json, json);
	assert_shows(&comparison, "  gpu 0  1234  1234  +0.0 %");
	kwhy_compare_stat_done(&comparison);
}

#define POINT(run, value, joules) \
	"{\"run\":" #run ",\"time_s\":1,\"joules\":" #joules ",\"value\":" #value "}"
#define LOSS(points)                                                                                      \
	"{\"schema\":\"kwhy.stat/1\",\"command\":\"x\",\"runs\":[{},{}],\"metrics\":[{\"name\":\"loss\"," \
	"\"points\":[" points "]}]}"

/* The mean of those that got there is no mean of all: the slow ones are not in it. */
static void runs_that_never_reach_a_value_are_told(void **state)
{
	static const char all[] = LOSS(
		POINT(0, 5, 10) "," POINT(1, 5, 10) "," POINT(0, 1, 100) "," POINT(1, 1, 100));
	static const char one[] = LOSS(POINT(0, 5, 10) "," POINT(1, 5, 10) "," POINT(0, 1, 50));
	struct kwhy_stat_comparison comparison;

	(void)state;
	compare(&comparison, all, one);
	assert_shows(&comparison, "  1  100 J  1.00 s    50.0 J  1.00 s  1 of 2  -50.0 %");
	assert_shows(&comparison, "k of n: only k runs reached");
	kwhy_compare_stat_done(&comparison);
	compare(&comparison, all, all);
	assert_shows(&comparison, "  1  100 J  1.00 s    100 J  1.00 s    +0.0 %");
	kwhy_compare_stat_done(&comparison);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_single_run_is_held_against_the_scatter_of_several),
		cmocka_unit_test(a_relative_change_has_the_error_of_what_it_is_relative_to),
		cmocka_unit_test(a_long_name_leaves_the_figures_their_room),
		cmocka_unit_test(runs_that_never_reach_a_value_are_told),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
