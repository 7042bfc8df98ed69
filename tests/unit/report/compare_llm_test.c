/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests comparisons of results of `kwhy llm`: which figures of A and B are paired, how they changed, and
 * conditions of --fail-if.
 */
#include "cmocka_all.h"
#include "report/compare/llm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE_RUNS = 3 };

static struct kwhy_error error;

/*
 * JSON of a load with `at_once` concurrent requests. low and high of its J/token equal the value: an interval
 * without width.
 */
#define LOAD(at_once, tokens_per_s, first_p99, joules)                                                       \
	"{\"name\":null,\"loop\":\"closed\",\"arrivals\":null,\"rate_per_s\":null,\"concurrency\":" #at_once \
	",\"steady_s\":10,\"good_per_s\":10,\"requests\":100,\"outcomes\":{\"done\":95},\"tokens_per_"       \
	"s\":" #tokens_per_s ",\"first_s\":{\"p99\":" #first_p99                                             \
	"},\"energy\":{\"j_a_token\":{\"value\":" #joules ",\"low\":" #joules "e0,\"high\":" #joules "e0}}}"

#define RESULT(prompt_words, slo, best, loads)                                                               \
	"{\"schema\":\"kwhy.llm/1\",\"url\":\"http://"                                                       \
	"a\",\"model\":\"m\",\"endpoint\":\"chat\",\"streams\":true,"                                        \
	"\"prompt_words\":" #prompt_words ",\"max_tokens\":64,\"slo\":" slo ",\"best_load\":" #best          \
	",\"idle_w\":100,\"requests_energy\":{\"missing\":null,\"j_an_output_token_with_steps\":{\"value\":" \
	"2,"                                                                                                 \
	"\"low\":1.8,\"high\":2.2},\"by_length\":[{\"tokens_from\":64,\"tokens_to\":256,\"mean_prefill_j\":" \
	"1,"                                                                                                 \
	"\"mean_decode_j\":2.5}]},\"loads\":[" loads "]}"

struct compared {
	struct kwhy_read_llm runs[2 * SIDE_RUNS];
	struct kwhy_llm_comparison comparison;
	size_t count;
};

static enum kwhy_status compare(
	struct compared *out, const char *const *a, size_t a_count, const char *const *b, size_t b_count)
{
	const struct kwhy_llm_side sides[2] = {{out->runs, a_count}, {out->runs + a_count, b_count}};

	out->count = a_count + b_count;
	for (size_t i = 0; i < out->count; i++) {
		const char *json = i < a_count ? a[i] : b[i - a_count];

		assert_int_equal(kwhy_read_llm_of(&out->runs[i], i < a_count ? "a.json" : "b.json", json,
					 strlen(json), &error),
			KWHY_OK);
	}
	return kwhy_compare_llm(&out->comparison, sides, &error);
}

static void compare_two(struct compared *out, const char *a, const char *b)
{
	assert_int_equal(compare(out, &a, 1, &b, 1), KWHY_OK);
}

static void done(struct compared *compared)
{
	kwhy_compare_llm_done(&compared->comparison);
	for (size_t i = 0; i < compared->count; i++)
		kwhy_read_llm_done(&compared->runs[i]);
}

/*
 * Returns the change of the figure `name` of the part `of` (such as a load). Fails if it is not in both
 * results.
 */
static const struct kwhy_figure_change *change_of(
	const struct kwhy_llm_comparison *comparison, const char *of, const char *name)
{
	for (size_t i = 0; i < comparison->change_count; i++)
		if (strcmp(comparison->changes[i].of, of) == 0 &&
			strcmp(comparison->changes[i].name, name) == 0)
			return &comparison->changes[i];
	fail_msg("no %s of %s", name, of);
	return NULL;
}

static struct kwhy_verdict judge(const struct compared *compared, const char *text)
{
	struct kwhy_condition condition;
	struct kwhy_verdict verdict;

	assert_int_equal(kwhy_compare_llm_condition(text, &condition, &error), KWHY_OK);
	assert_int_equal(
		kwhy_compare_llm_check(&condition, &compared->comparison, &verdict, &error), KWHY_OK);
	return verdict;
}

static void loads_are_paired_by_what_they_are(void **state)
{
	static const char a[] = RESULT(128, "null", null, LOAD(1, 100, 0.2, 5.0) "," LOAD(8, 400, 0.4, 2.0)),
			  b[] = RESULT(128, "null", null, LOAD(8, 380, 0.5, 2.1) "," LOAD(16, 500, 0.9, 1.5));
	const struct kwhy_figure_change *change;
	struct compared compared;

	(void)state;
	compare_two(&compared, a, b);
	change = change_of(&compared.comparison, "8 concurrent", "throughput");
	assert_true(fabs(change->difference.ratio + 0.05) < 1e-12);
	assert_false(kwhy_difference_is_known(&change->difference));
	assert_true(
		fabs(change_of(&compared.comparison, "8 concurrent", "failed-ratio")->a.mean - 0.05) < 1e-12);
	assert_true(change_of(&compared.comparison, "8 concurrent", "answers")->a.mean == 9.5);
	assert_true(change_of(&compared.comparison, "64 to 255 tokens", "length-joules")->b.mean == 3.5);
	assert_int_equal(compared.comparison.unpaired_count, 2);
	assert_string_equal(compared.comparison.unpaired[0], "1 concurrent");
	assert_string_equal(compared.comparison.unpaired[1], "16 concurrent");
	/* half-width: 0.2 in the file (90 %); x 1.1916 for 95 % */
	change = change_of(&compared.comparison, "all loads", "joules-per-output-token");
	assert_true(fabs(change->a.high - 2 - 0.2 * 1.1916) < 1e-3);
	assert_true(kwhy_difference_is_known(&change->difference));
	done(&compared);
}

static void a_condition_is_judged_at_the_load_that_exceeds_it_most(void **state)
{
	static const char a[] = RESULT(128, "null", null, LOAD(1, 100, 0.2, 5.0) "," LOAD(8, 400, 0.4, 2.0)),
			  b[] = RESULT(128, "null", null, LOAD(1, 99, 0.21, 5.0) "," LOAD(8, 380, 0.5, 2.1));
	struct compared compared;
	struct kwhy_verdict verdict;

	(void)state;
	compare_two(&compared, a, b);
	verdict = judge(&compared, "throughput<-2%");
	assert_true(verdict.exceeded && fabs(verdict.value + 0.05) < 1e-12);
	assert_string_equal(verdict.part, "8 concurrent");
	assert_false(judge(&compared, "throughput:1 concurrent<-2%").exceeded);
	assert_false(judge(&compared, "ttft.p99>+26%").exceeded);
	assert_true(judge(&compared, "ttft.p99>+10%").exceeded);
	assert_true(judge(&compared, "ttft.p99 > 450ms").exceeded);
	assert_true(judge(&compared, "joules-per-token>+3%").exceeded);
	/* both results have 2 J, 1.8 to 2.2 J: no significant rise */
	verdict = judge(&compared, "joules-per-output-token>+0%");
	assert_true(!verdict.exceeded && verdict.is_chance);
	done(&compared);
}

static void several_runs_show_what_is_more_than_chance(void **state)
{
	static const char *const a[] = {RESULT(128, "null", null, LOAD(8, 400, 0.40, 2)),
		RESULT(128, "null", null, LOAD(8, 404, 0.44, 2)),
		RESULT(128, "null", null, LOAD(8, 396, 0.36, 2))};
	static const char *const b[] = {RESULT(128, "null", null, LOAD(8, 380, 0.41, 2)),
		RESULT(128, "null", null, LOAD(8, 384, 0.45, 2)),
		RESULT(128, "null", null, LOAD(8, 376, 0.37, 2))};
	struct compared compared;
	struct kwhy_verdict verdict;

	(void)state;
	assert_int_equal(compare(&compared, a, 3, b, 3), KWHY_OK);
	verdict = judge(&compared, "throughput<-2%");
	assert_true(verdict.exceeded && fabs(verdict.value + 0.05) < 1e-12 && verdict.high < 0);
	verdict = judge(&compared, "ttft.p99>+1%");
	assert_true(!verdict.exceeded && verdict.is_chance && fabs(verdict.value - 0.025) < 1e-9);
	done(&compared);
}

static void a_figure_that_one_side_lacks_decides_nothing(void **state)
{
	static const char a[] = RESULT(128, "null", null, LOAD(1, 100, null, 5.0) "," LOAD(8, 400, 0.4, 2.0)),
			  b[] = RESULT(128, "null", null, LOAD(1, 99, 0.21, 5.0) "," LOAD(8, 380, 0.5, 2.1));
	struct kwhy_condition condition;
	struct kwhy_verdict verdict;
	struct compared compared;

	(void)state;
	compare_two(&compared, a, b);
	assert_int_equal(kwhy_compare_llm_condition("ttft.p99>+10%", &condition, &error), KWHY_OK);
	assert_int_equal(
		kwhy_compare_llm_check(&condition, &compared.comparison, &verdict, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "ttft.p99 of '1 concurrent' is not known in a.json"));
	assert_true(judge(&compared, "ttft.p99:8 concurrent>+10%").exceeded);
	assert_int_equal(
		kwhy_compare_llm_condition("throughput:2 concurrent<1/s", &condition, &error), KWHY_OK);
	assert_int_equal(
		kwhy_compare_llm_check(&condition, &compared.comparison, &verdict, &error), KWHY_E_USAGE);
	assert_int_equal(kwhy_compare_llm_condition("step>+3%", &condition, &error), KWHY_E_USAGE);
	assert_non_null(strstr(error.text, "there is no figure 'step'; there are throughput, "));
	assert_int_equal(kwhy_compare_llm_condition("ttft.p99", &condition, &error), KWHY_E_USAGE);
	assert_int_equal(kwhy_compare_llm_condition("ttft.p99>3J", &condition, &error), KWHY_E_USAGE);
	done(&compared);
}

/*
 * If no load of B keeps the limit ttft=300ms, B's goodput is 0, and a condition on goodput must report this
 * fall.
 */
static void no_load_within_the_limits_is_no_goodput(void **state)
{
	static const char a[] = RESULT(128, "\"ttft=300ms\"", 1, LOAD(8, 400, 0.2, 2.0)),
			  b[] = RESULT(128, "\"ttft=300ms\"", null, LOAD(8, 380, 0.5, 2.1));
	struct compared compared;
	struct kwhy_verdict verdict;

	(void)state;
	compare_two(&compared, a, b);
	verdict = judge(&compared, "goodput:the best load<-10%");
	assert_true(verdict.exceeded && verdict.a == 10 && verdict.b == 0);
	done(&compared);
}

static void what_differs_in_the_requests_is_said(void **state)
{
	static const char a[] = RESULT(
		128, "\"ttft=300ms\"", null, LOAD(1, 100, 0.2, 5.0) "," LOAD(4, 9, 9, 9)),
			  b[] = RESULT(256, "\"ttft=300ms,tpot=9ms\"", null, LOAD(1, 99, 0.21, 5.0));
	const struct kwhy_text_style style = {.columns = 80};
	const struct kwhy_conditions none = {NULL, NULL, 0};
	struct kwhy_text text = {0};
	struct compared compared;

	(void)state;
	compare_two(&compared, a, b);
	assert_int_equal(kwhy_compare_llm_text(&compared.comparison, &none, &style, &text, &error), KWHY_OK);
	assert_non_null(
		strstr(text.data, "!  the requests differ: words of a prompt 128, at most tokens 64, chat;"));
	assert_non_null(strstr(text.data, "not compared, since not all results have it: 4 concurrent"));
	if (!strstr(text.data, "  throughput          100 /s     99 /s  -1.0 %"))
		fail_msg("%s", text.data);
	assert_non_null(strstr(text.data, "limits of good answers differ: ttft=300ms; ttft=300ms,tpot=9ms"));
	kwhy_text_done(&text);
	done(&compared);
}

static void other_files_and_other_loads_are_refused(void **state)
{
	static const char a[] = RESULT(128, "null", null, LOAD(1, 100, 0.2, 5.0)),
			  b[] = RESULT(128, "null", null, LOAD(2, 99, 0.21, 5.0));
	const char *a_list[] = {a}, *b_list[] = {b};
	struct compared compared;
	struct kwhy_read_llm run;
	static const struct {
		const char *json, *words;
	} bad[] = {{"{", "x.json line 1"}, {"{\"schema\":\"kwhy.stat/1\"}", "is a result of kwhy stat, not"},
		{"{\"schema\":\"kwhy.llm/2\"}", "not \"kwhy.llm/1\""},
		{"{\"schema\":\"kwhy.llm/1\",\"loads\":[]}", "has no load"}, {"[]", "missing"}};

	(void)state;
	assert_int_equal(compare(&compared, a_list, 1, b_list, 1), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "no load is in all results: a.json has '1 concurrent'"));
	done(&compared);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(kwhy_read_llm_of(&run, "x.json", bad[i].json, strlen(bad[i].json), &error),
			KWHY_E_INPUT);
		if (!strstr(error.text, bad[i].words))
			fail_msg("%s", error.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_are_paired_by_what_they_are),
		cmocka_unit_test(a_condition_is_judged_at_the_load_that_exceeds_it_most),
		cmocka_unit_test(several_runs_show_what_is_more_than_chance),
		cmocka_unit_test(a_figure_that_one_side_lacks_decides_nothing),
		cmocka_unit_test(no_load_within_the_limits_is_no_goodput),
		cmocka_unit_test(what_differs_in_the_requests_is_said),
		cmocka_unit_test(other_files_and_other_loads_are_refused),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
