/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "report/compare.h"

#include <math.h>
#include <string.h>

static struct kwhy_error error;

/* Two sides to compare: A used 100 J in 2 s and had 4 steps, B 110 J in 1.5 s and had 3 steps. */
static struct kwhy_side_account accounts_a[] = {{"compute", "gemm", 40, 400000000, 50000000000, 1, 2}};
static struct kwhy_side_account accounts_b[] = {{"compute", "gemm", 30, 330000000, 60000000000, 1, 2},
	{"copy", "h2d pageable->device 4-8 KiB", 1, 1, 3000000000, 1, 2}};
static struct kwhy_side_finding findings_a[] = {{"launch-bound", "Launch-bound", 0, 0}};
static struct kwhy_side_finding findings_b[] = {{"launch-bound", "Launch-bound", 0, 0},
	{"small-copies", "Copies", 0, 0}, {"small-copies", "More", 0, 0}};
static struct kwhy_side_work work_a = {"tokens", 2000, 0.04}, work_b = {"tokens", 2000, 0.05};
static const struct kwhy_side side_a = {.label = "a.json",
	.energy_nj = 100000000000,
	.idle_nj = 20000000000,
	.span_ns = 2000000000,
	.power_w = 50,
	.busy_ratio = 0.5,
	.spans_ns = 2000000000,
	.idle_ns = 1000000000,
	.step_count = 4,
	.loop_ns = 1600000000,
	.accounts = accounts_a,
	.account_count = 1,
	.findings = findings_a,
	.finding_count = 1,
	.work = &work_a,
	.work_count = 1};
static const struct kwhy_side side_b = {.label = "b.json",
	.energy_nj = 110000000000,
	.idle_nj = 10000000000,
	.span_ns = 1500000000,
	.power_w = 70,
	.busy_ratio = 0.75,
	.spans_ns = 1500000000,
	.idle_ns = 300000000,
	.step_count = 3,
	.loop_ns = 1320000000,
	.accounts = accounts_b,
	.account_count = 2,
	.findings = findings_b,
	.finding_count = 3,
	.work = &work_b,
	.work_count = 1};
static struct kwhy_comparison comparison;

static int begin(void **state)
{
	(void)state;
	return (int)kwhy_compare(&comparison, &side_a, &side_b, &error);
}

static int end(void **state)
{
	(void)state;
	kwhy_comparison_done(&comparison);
	return 0;
}

static void a_condition_is_decided_as_it_reads(void **state)
{
	static const struct {
		const char *text;
		double value;
		bool exceeded;
	} cases[] = {
		{"energy>+3%", 0.1, true},
		{"energy > 3 %", 0.1, true},
		{"energy>+10.1%", 0.1, false},
		{"energy<-3%", 0.1, false},
		{"energy>+9J", 10, true},
		{"energy>+0.01kJ", 10, false},
		{"energy>109J", 110, true},
		{"energy>0.04Wh", 110, false},
		{"time<-20%", -0.25, true},
		{"time>+100ms", -0.5, false},
		{"time>1.4s", 1.5, true},
		{"power>69W", 70, true},
		{"power>+0.1kW", 20, false},
		{"busy_ratio<0.8", 0.75, true},
		{"busy_ratio>+60%", 0.5, false},
		{"idle<-5J", -10, true},
		{"account:gemm>+15%", 0.2, true},
		{"account:gem>+11J", 10, false},
		{"account:h2d pageable->device 4-8 KiB>+1J", 3, true},
		{"account:h2d pageable->device 4-8 KiB>+1000%", INFINITY, true},
		{"each:tokens>+24%", 0.25, true},
		{"each:tokens>+26%", 0.25, false},
		{"each:tokens>49mJ", 0.05, true},
		{"each:tokens>51000uJ", 0.05, false},
		{"each:tokens<-1mJ", 0.01, false},
		/* steps take 0.4 s in A and 0.44 s in B; A has 2000 tokens in 2 s, B in 1.5 s */
		{"step>+9%", 0.1, true},
		{"step>+50ms", 0.04, false},
		{"step>430ms", 0.44, true},
		{"throughput<-2%", 1 / 0.75 - 1, false},
		{"throughput:tokens<1400/s", 2000 / 1.5, true},
		{"throughput:steps<-9%", 1 / 1.1 - 1, true},
		/* a step has 100 ms and 12.5 J of gemm in A, 110 ms and 20 J in B */
		{"account-time:gemm>+5ms", 0.01, true},
		{"account-time:gemm>+11%", 0.1, false},
		{"account-energy:gemm>+5%", 0.6, true},
		{"account-energy:gemm>19J", 20, true},
		{"idle_ratio<-59%", -0.6, true},
		{"idle_ratio<-29points", -0.3, true},
		{"idle_ratio>+2%", -0.6, false},
		{"idle_ratio>0.1", 0.2, true},
		{"finding:new", 1, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_condition condition;
		struct kwhy_verdict verdict;

		if (kwhy_condition_parse(cases[i].text, &condition, &error) ||
			kwhy_condition_check(&condition, &comparison, &verdict, &error))
			fail_msg("%s", error.text);
		if (verdict.exceeded != cases[i].exceeded ||
			!(verdict.value == cases[i].value || fabs(verdict.value - cases[i].value) < 1e-9))
			fail_msg("%s gives %g", cases[i].text, verdict.value);
	}
}

static void what_is_no_condition_is_wrong_usage(void **state)
{
	static const char *const cases[] = {"", "energy", "energy>", "energy>x", "energy>3W", "time>3J",
		"joules>3", "busy_ratio>3J", ">3", "energy>nan", "energy>inf", "energy>3%%", "account:>3J",
		"each:>3J", "energy=3", "step>3J", "throughput<3J", "throughput:<3", "account-time:x>3J",
		"account-energy:x>3s", "idle_ratio>3s", "finding:new>1", "finding:old"};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_condition condition;

		if (kwhy_condition_parse(cases[i], &condition, &error) != KWHY_E_USAGE)
			fail_msg("'%s' was taken for a condition", cases[i]);
	}
}

static void an_unknown_figure_cannot_be_kept(void **state)
{
	struct kwhy_side unknown = side_b;
	struct kwhy_comparison half;
	struct kwhy_condition condition;
	struct kwhy_verdict verdict;

	(void)state;
	unknown.energy_nj = KWHY_UNKNOWN_NJ;
	assert_int_equal(kwhy_compare(&half, &side_a, &unknown, &error), KWHY_OK);
	assert_int_equal(kwhy_condition_parse("energy>+3%", &condition, &error), KWHY_OK);
	assert_int_equal(kwhy_condition_check(&condition, &half, &verdict, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "b.json"));
	kwhy_comparison_done(&half);
}

static void of_b_alone_nothing_of_a_is_needed(void **state)
{
	struct kwhy_side without = side_a;
	struct kwhy_comparison half;
	struct kwhy_condition condition;
	struct kwhy_verdict verdict;

	(void)state;
	without.work_count = 0;
	assert_int_equal(kwhy_compare(&half, &without, &side_b, &error), KWHY_OK);
	assert_int_equal(kwhy_condition_parse("each:tokens>49mJ", &condition, &error), KWHY_OK);
	assert_int_equal(kwhy_condition_check(&condition, &half, &verdict, &error), KWHY_OK);
	assert_true(verdict.exceeded);
	assert_int_equal(kwhy_condition_parse("each:tokens>+1%", &condition, &error), KWHY_OK);
	assert_int_equal(kwhy_condition_check(&condition, &half, &verdict, &error), KWHY_E_USAGE);
	kwhy_comparison_done(&half);
}

/*
 * If a condition has an unknown figure, the error must list all figures; if its unit is wrong, all units of
 * the figure.
 */
static void a_name_or_unit_that_is_none_is_answered_with_those_that_are(void **state)
{
	struct kwhy_condition condition;

	(void)state;
	assert_int_equal(kwhy_condition_parse("steps>+3%", &condition, &error), KWHY_E_USAGE);
	assert_string_equal(error.text,
		"--fail-if 'steps>+3%': there is no figure 'steps'; there are energy, run, time, power, "
		"busy_ratio, idle, throughput, step, step_energy, idle_ratio, throughput:UNIT, "
		"account-time:NAME, account-energy:NAME, account:NAME, each:UNIT, finding:new");
	assert_int_equal(kwhy_condition_parse("step>3W", &condition, &error), KWHY_E_USAGE);
	assert_non_null(strstr(error.text, "one of s, ms, us, %"));
}

static void steps_must_be_there_to_be_compared(void **state)
{
	struct kwhy_side without = side_b;
	struct kwhy_comparison half;
	struct kwhy_condition condition;
	struct kwhy_verdict verdict;

	(void)state;
	without.step_count = 0;
	without.loop_ns = 0;
	assert_int_equal(kwhy_compare(&half, &side_a, &without, &error), KWHY_OK);
	assert_int_equal(kwhy_condition_parse("step>+3%", &condition, &error), KWHY_OK);
	assert_int_equal(kwhy_condition_check(&condition, &half, &verdict, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "'b.json': it has no steps; name its ranges with --steps"));
	kwhy_comparison_done(&half);
}

/*
 * Returns the verdict on the condition `text` for three runs of each side. a, b: time of a step in each run
 * of A and B, ms.
 */
static struct kwhy_verdict verdict_of(const double a[3], const double b[3], const char *text)
{
	struct kwhy_side sides[6];
	const struct kwhy_side_runs runs[2] = {{sides, 3}, {sides + 3, 3}};
	struct kwhy_comparison several;
	struct kwhy_condition condition;
	struct kwhy_verdict verdict;

	for (size_t i = 0; i < 6; i++) {
		sides[i] = i < 3 ? side_a : side_b;
		sides[i].loop_ns = (int64_t)((i < 3 ? a[i] : b[i - 3]) * 1e6) * (int64_t)sides[i].step_count;
	}
	assert_int_equal(kwhy_compare_runs(&several, runs, &error), KWHY_OK);
	assert_int_equal(kwhy_condition_parse(text, &condition, &error), KWHY_OK);
	assert_int_equal(kwhy_condition_check(&condition, &several, &verdict, &error), KWHY_OK);
	kwhy_comparison_done(&several);
	return verdict;
}

/*
 * Both comparisons show a rise of 5 %. It exceeds the limit of 3 % significantly if the runs of a side differ
 * by 0.5 %, but may be chance if they differ by 10 %.
 */
static void a_change_that_may_be_chance_exceeds_nothing(void **state)
{
	const double steady_a[3] = {100, 100.5, 99.5}, steady_b[3] = {105, 105.5, 104.5};
	const double wild_a[3] = {90, 100, 110}, wild_b[3] = {95, 105, 115};
	struct kwhy_verdict steady = verdict_of(steady_a, steady_b, "step>+3%");
	struct kwhy_verdict wild = verdict_of(wild_a, wild_b, "step>+3%");

	(void)state;
	assert_true(steady.exceeded && !steady.is_chance && steady.low > 0.03);
	assert_true(!wild.exceeded && wild.is_chance && wild.low < 0 && wild.high > 0);
	assert_float_equal(wild.value, 0.05, 1e-9);
	/* a limit without + or - is on B's value alone, so scatter does not matter */
	assert_true(verdict_of(wild_a, wild_b, "step>101ms").exceeded);
}

static void an_account_or_work_must_be_named_clearly(void **state)
{
	static const char *const cases[] = {"account:nothing>1J", "account:e>1J", "each:steps>1J"};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_condition condition;
		struct kwhy_verdict verdict;

		assert_int_equal(kwhy_condition_parse(cases[i], &condition, &error), KWHY_OK);
		assert_int_equal(
			kwhy_condition_check(&condition, &comparison, &verdict, &error), KWHY_E_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_condition_is_decided_as_it_reads),
		cmocka_unit_test(what_is_no_condition_is_wrong_usage),
		cmocka_unit_test(an_unknown_figure_cannot_be_kept),
		cmocka_unit_test(of_b_alone_nothing_of_a_is_needed),
		cmocka_unit_test(a_name_or_unit_that_is_none_is_answered_with_those_that_are),
		cmocka_unit_test(steps_must_be_there_to_be_compared),
		cmocka_unit_test(a_change_that_may_be_chance_exceeds_nothing),
		cmocka_unit_test(an_account_or_work_must_be_named_clearly),
	};

	return kwhy_test_main(tests, begin, end);
}
