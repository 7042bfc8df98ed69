/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "report/compare.h"

#include <math.h>
#include <string.h>

static struct kwhy_error error;

/* 100 J in 2 s against 110 J in 1.5 s. */
static struct kwhy_side_account account_a = {"compute", "gemm", 1, 1, 50000000000, 1, 2};
static struct kwhy_side_account account_b = {"compute", "gemm", 1, 1, 60000000000, 1, 2};
static struct kwhy_side_account copy_b = {"copy", "h2d pageable->device 4-8 KiB", 1, 1, 3000000000, 1, 2};
static struct kwhy_side_work work_a = {"tokens", 2000, 0.04}, work_b = {"tokens", 2000, 0.05};
static const struct kwhy_side side_a = {.label = "a.json",
	.energy_nj = 100000000000,
	.idle_nj = 20000000000,
	.span_ns = 2000000000,
	.power_w = 50,
	.busy_ratio = 0.5,
	.work = &work_a,
	.work_count = 1};
static const struct kwhy_side side_b = {.label = "b.json",
	.energy_nj = 110000000000,
	.idle_nj = 10000000000,
	.span_ns = 1500000000,
	.power_w = 70,
	.busy_ratio = 0.75,
	.work = &work_b,
	.work_count = 1};
static struct kwhy_account_pair pairs[] = {{.name = "gemm", .a = &account_a, .b = &account_b},
	{.name = "h2d pageable->device 4-8 KiB", .b = &copy_b}};
static const struct kwhy_comparison comparison = {&side_a, &side_b, pairs, 2, NULL};

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
		"each:>3J", "energy=3"};

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
	const struct kwhy_comparison half = {&side_a, &unknown, pairs, 2, NULL};
	struct kwhy_condition condition;
	struct kwhy_verdict verdict;

	(void)state;
	unknown.energy_nj = KWHY_UNKNOWN_NJ;
	assert_int_equal(kwhy_condition_parse("energy>+3%", &condition, &error), KWHY_OK);
	assert_int_equal(kwhy_condition_check(&condition, &half, &verdict, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "b.json"));
}

static void of_b_alone_nothing_of_a_is_needed(void **state)
{
	struct kwhy_side without = side_a;
	const struct kwhy_comparison half = {&without, &side_b, pairs, 2, NULL};
	struct kwhy_condition condition;
	struct kwhy_verdict verdict;

	(void)state;
	without.work_count = 0;
	assert_int_equal(kwhy_condition_parse("each:tokens>49mJ", &condition, &error), KWHY_OK);
	assert_int_equal(kwhy_condition_check(&condition, &half, &verdict, &error), KWHY_OK);
	assert_true(verdict.exceeded);
	assert_int_equal(kwhy_condition_parse("each:tokens>+1%", &condition, &error), KWHY_OK);
	assert_int_equal(kwhy_condition_check(&condition, &half, &verdict, &error), KWHY_E_USAGE);
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
		cmocka_unit_test(an_account_or_work_must_be_named_clearly),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
