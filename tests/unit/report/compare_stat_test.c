/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "import/results/stat.h"
#include "report/compare/stat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct kwhy_error error;

/*
 * JSON of a result of `kwhy stat` with one figure, the energy of a GPU, J: number of runs, mean, ends of its
 * interval, standard deviation.
 */
#define STAT(count, mean, low, high, deviation)                                                         \
	"{\"schema\":\"kwhy.stat/1\",\"command\":\"x\",\"domains\":[{\"name\":\"gpu 0\",\"energy_j\":{" \
	"\"count\":" #count ",\"mean\":" #mean ",\"low\":" #low ",\"high\":" #high                      \
	",\"deviation\":" #deviation "}}]}"

/* Two results and their comparison, which refers to them. */
struct compared {
	struct kwhy_read_stat a, b;
	struct kwhy_stat_comparison comparison;
};

static void compare(struct compared *out, const char *a, const char *b)
{
	assert_int_equal(kwhy_read_stat_of(&out->a, "a.json", a, strlen(a), &error), KWHY_OK);
	assert_int_equal(kwhy_read_stat_of(&out->b, "b.json", b, strlen(b), &error), KWHY_OK);
	assert_int_equal(kwhy_compare_stat(&out->comparison, &out->a, &out->b, &error), KWHY_OK);
}

static void done(struct compared *compared)
{
	kwhy_compare_stat_done(&compared->comparison);
	kwhy_read_stat_done(&compared->a);
	kwhy_read_stat_done(&compared->b);
}

/*
 * A single run of 110 J is 13 J above the mean of twenty runs with a standard deviation of 11 J: that is no
 * significant change. A single run of 130 J is one.
 */
static void a_single_run_is_held_against_the_scatter_of_several(void **state)
{
	struct compared compared;

	(void)state;
	compare(&compared, STAT(20, 96.93, 91.72, 102.14, 11.13), STAT(1, 110, 109.8, 110.2, null));
	assert_int_equal(compared.comparison.change_count, 1);
	assert_false(kwhy_difference_is_significant(&compared.comparison.changes[0].difference));
	assert_true(fabs(compared.comparison.changes[0].difference.high - 13.07 - 23.87) < 0.01);
	done(&compared);
	compare(&compared, STAT(1, 130, 129.8, 130.2, null), STAT(20, 96.93, 91.72, 102.14, 11.13));
	assert_true(kwhy_difference_is_significant(&compared.comparison.changes[0].difference));
	done(&compared);
}

/* Checks that the text of the comparison contains `words` and that its lines fit into 80 columns. */
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

/* A is known as 80 J to 120 J, so B's 1000 J are 12.5 to 8.33 times as much, a rise of 733 % to 1150 %. */
static void a_relative_change_has_the_error_of_what_it_is_relative_to(void **state)
{
	struct compared compared;

	(void)state;
	compare(&compared, STAT(1, 100, 80, 120, null), STAT(1, 1000, 999, 1001, null));
	assert_shows(&compared.comparison, "+900.0 %  +733 to +1150  yes");
	done(&compared);
	compare(&compared, STAT(1, 100, 99, 101, null), STAT(1, 101, 100, 102, null));
	assert_shows(&compared.comparison, "+1.0 %  -0.4 to +2.4  no");
	done(&compared);
}

static void a_long_name_leaves_the_figures_their_room(void **state)
{
	static const char json[] =
		"{\"schema\":\"kwhy.stat/1\",\"command\":\"x\",\"work\":[{\"unit\":"
		"\"sequences of a language model that were answered\",\"domains\":[{\"name\":\"gpu 0\","
		"\"units_per_joule\":{\"count\":1,\"mean\":1234,\"low\":900,\"high\":1600}}]}]}";
	struct compared compared;

	(void)state;
	compare(&compared, json, json);
	assert_shows(&compared.comparison, "  gpu 0  1234  1234  +0.0 %");
	done(&compared);
}

/* A number of runs that is too large, negative, not an integer or missing must be read as unknown. */
static void a_count_that_is_no_number_of_runs_is_unknown(void **state)
{
	static const char *const results[] = {STAT(1e300, 100, 99, 101, null), STAT(2.5, 100, 99, 101, null),
		STAT(-3, 100, 99, 101, null), STAT(null, 100, 99, 101, null)};
	struct kwhy_read_stat stat;

	(void)state;
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		assert_int_equal(
			kwhy_read_stat_of(&stat, "a.json", results[i], strlen(results[i]), &error), KWHY_OK);
		assert_int_equal(kwhy_read_figure_of(&stat.domains[0].figures, "energy_j").count, 0);
		kwhy_read_stat_done(&stat);
	}
}

static void a_file_without_a_schema_is_said_to_have_none(void **state)
{
	static const char none[] = "{\"command\":\"x\"}", other[] = "{\"schema\":\"kwhy.stat/9\"}";
	struct kwhy_read_stat stat;

	(void)state;
	assert_int_equal(kwhy_read_stat_of(&stat, "a.json", none, strlen(none), &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "its \"schema\" is missing and not \"kwhy.stat/1\""));
	assert_int_equal(kwhy_read_stat_of(&stat, "a.json", other, strlen(other), &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "its \"schema\" is \"kwhy.stat/9\" and not"));
}

#define POINT(run, value, joules) \
	"{\"run\":" #run ",\"time_s\":1,\"joules\":" #joules ",\"value\":" #value "}"
#define LOSS(points)                                                                                      \
	"{\"schema\":\"kwhy.stat/1\",\"command\":\"x\",\"runs\":[{},{}],\"metrics\":[{\"name\":\"loss\"," \
	"\"points\":[" points "]}]}"

/*
 * B's second run never reached a loss of 1. The comparison must say so, because a mean over the other runs
 * leaves out the slow one.
 */
static void runs_that_never_reach_a_value_are_told(void **state)
{
	static const char all[] = LOSS(
		POINT(0, 5, 10) "," POINT(1, 5, 10) "," POINT(0, 1, 100) "," POINT(1, 1, 100));
	static const char one[] = LOSS(POINT(0, 5, 10) "," POINT(1, 5, 10) "," POINT(0, 1, 50));
	struct compared compared;

	(void)state;
	compare(&compared, all, one);
	assert_shows(&compared.comparison, "  1  100 J  1.00 s    50.0 J  1.00 s  1 of 2  -50.0 %");
	assert_shows(&compared.comparison, "k of n: only k runs reached");
	done(&compared);
	compare(&compared, all, all);
	assert_shows(&compared.comparison, "  1  100 J  1.00 s    100 J  1.00 s    +0.0 %");
	done(&compared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_single_run_is_held_against_the_scatter_of_several),
		cmocka_unit_test(a_relative_change_has_the_error_of_what_it_is_relative_to),
		cmocka_unit_test(a_long_name_leaves_the_figures_their_room),
		cmocka_unit_test(a_count_that_is_no_number_of_runs_is_unknown),
		cmocka_unit_test(a_file_without_a_schema_is_said_to_have_none),
		cmocka_unit_test(runs_that_never_reach_a_value_are_told),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
