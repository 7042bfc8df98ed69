/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "ledger/ledger_new.h"
#include "whatif/whatif.h"

#include <string.h>

static struct kwhy_error error;

enum { US = 1000 };

/* Returns six rounds of 400 us, each with four kernels, two waits for them, and a pause of the host. */
static struct build wasteful(void)
{
	struct build build = build_new(1);

	for (int i = 0; i < 6; i++) {
		int64_t at = 400 * i;

		for (int k = -3; k <= 0; k++)
			build_issued_kernel(&build,
				(struct build_issue){0, "cudaLaunchKernel", at + 3 * k, at + 3 * k + 2}, 0,
				at + 10 + 3 * k, at + (k ? 12 + 3 * k : 60));
		build_call(&build, 0, "cudaDeviceSynchronize", at + 2, at + 62);
		build_call(&build, 0, "cudaDeviceSynchronize", at + 63, at + 163);
	}
	build_finish(&build, false);
	return build;
}

static struct kwhy_plan *plan_with(struct build *build, double min_gain_ratio, bool numerics)
{
	struct kwhy_whatif *whatif;
	struct kwhy_plan *plan;

	assert_int_equal(kwhy_whatif_new(build->recording, NULL, NULL, &whatif, &error), KWHY_OK);
	assert_int_equal(kwhy_whatif_plan(whatif, min_gain_ratio, numerics, &plan, &error), KWHY_OK);
	kwhy_whatif_free(whatif);
	return plan;
}

static struct kwhy_plan *plan_of(struct build *build, double min_gain_ratio)
{
	return plan_with(build, min_gain_ratio, false);
}

static const struct kwhy_refused_change *refusal_of(const struct kwhy_plan *plan, const char *id)
{
	for (size_t i = 0; i < plan->refused_count; i++)
		if (strcmp(plan->refused[i].id, id) == 0)
			return &plan->refused[i];
	return NULL;
}

static void a_plan_takes_the_best_first_and_ends_where_little_is_left(void **state)
{
	struct build build = wasteful();
	struct kwhy_plan *plan = plan_of(&build, 0.01);

	(void)state;
	assert_true(plan->change_count >= 2);
	assert_string_equal(plan->changes[0].id, "prefetch");
	assert_string_equal(plan->changes[1].id, "event-waits");
	for (size_t i = 0; i < plan->change_count; i++)
		assert_true(plan->changes[i].saved_ns * 100 >= plan->before.time_ns);
	for (size_t i = 1; i < plan->change_count; i++)
		assert_true(plan->changes[i].after.time_ns < plan->changes[i - 1].after.time_ns);
	kwhy_plan_free(plan);
	build_free(&build);
}

static void a_plan_takes_nothing_that_saves_nothing(void **state)
{
	struct build build = wasteful();
	struct kwhy_plan *plan = plan_of(&build, 0);

	(void)state;
	assert_true(plan->change_count >= 2);
	for (size_t i = 0; i < plan->change_count; i++)
		assert_true(plan->changes[i].saved_ns > 0);
	assert_true(refusal_of(plan, "drop-waits") || refusal_of(plan, "pool"));
	kwhy_plan_free(plan);
	build_free(&build);
}

static void savings_of_a_plan_add_up_to_what_it_saves(void **state)
{
	struct build build = wasteful();
	struct kwhy_plan *plan = plan_of(&build, 0.01);
	int64_t saved_ns = 0;

	(void)state;
	for (size_t i = 0; i < plan->change_count; i++)
		saved_ns += plan->changes[i].saved_ns;
	assert_int_equal(saved_ns, plan->before.time_ns - kwhy_plan_after(plan)->time_ns);
	assert_int_equal(plan->before.energy_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(plan->changes[0].saved_nj, KWHY_UNKNOWN_NJ);
	kwhy_plan_free(plan);
	build_free(&build);
}

static void every_change_is_taken_or_left_out_with_a_reason(void **state)
{
	struct build build = wasteful();
	struct kwhy_plan *plan = plan_of(&build, 0.01);
	size_t looked_at = 0;

	(void)state;
	for (size_t i = 0; i < kwhy_whatif_change_count; i++)
		looked_at += kwhy_whatif_changes[i].number >= kwhy_whatif_changes[i].least;
	assert_int_equal(plan->change_count + plan->refused_count, looked_at);
	for (size_t i = 0; i < plan->refused_count; i++)
		assert_true(strlen(plan->refused[i].reason) > 10);
	kwhy_plan_free(plan);
	build_free(&build);
}

static void changes_that_need_leave_are_left_out_and_say_how_to_give_it(void **state)
{
	struct build build = wasteful();
	struct kwhy_plan *without = plan_with(&build, 0.01, false), *with = plan_with(&build, 0.01, true);

	(void)state;
	for (size_t i = 0; i < kwhy_whatif_change_count; i++) {
		const struct kwhy_whatif_change *change = &kwhy_whatif_changes[i];
		const struct kwhy_refused_change *left_out = refusal_of(without, change->id);

		if (change->risk != KWHY_RISK_NUMERICS)
			continue;
		assert_non_null(left_out);
		assert_non_null(strstr(left_out->reason, "--numerics"));
		assert_int_equal(left_out->saved_ns, KWHY_UNKNOWN_NS);
		left_out = refusal_of(with, change->id);
		assert_true(!left_out || !strstr(left_out->reason, "--numerics"));
	}
	kwhy_plan_free(without);
	kwhy_plan_free(with);
	build_free(&build);
}

static void a_change_made_twice_saves_nothing_more(void **state)
{
	struct build build = wasteful();
	struct kwhy_whatif_request change_requests[2];
	struct kwhy_whatif *whatif;

	(void)state;
	assert_int_equal(kwhy_whatif_new(build.recording, NULL, NULL, &whatif, &error), KWHY_OK);
	for (size_t i = 0; i < kwhy_whatif_change_count; i++) {
		const struct kwhy_whatif_change *change = &kwhy_whatif_changes[i];
		struct kwhy_plan *plan;

		if (strcmp(change->id, "host-speed") == 0) /* each one doubles the speed, so both save */
			continue;
		change_requests[0] = change_requests[1] = (struct kwhy_whatif_request){
			change, change->number};
		assert_int_equal(kwhy_whatif_project(whatif, change_requests, 2, &plan, &error), KWHY_OK);
		if (plan->change_count == 2)
			assert_int_equal(plan->changes[1].saved_ns, 0);
		kwhy_plan_free(plan);
	}
	kwhy_whatif_free(whatif);
	build_free(&build);
}

static void what_is_known_in_windows_alone_is_refused_with_their_share(void **state)
{
	const struct kwhy_coverage windows[] = {{KWHY_NONE, 0, 100 * US}, {KWHY_NONE, 300 * US, 400 * US}};
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct build build = build_new(1);
	struct kwhy_ledger *ledger;
	struct kwhy_whatif *whatif;

	(void)state;
	build_kernel(&build, 0, "k", 10, 60);
	build_kernel(&build, 0, "k", 310, 360);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(kwhy_recording_add_coverage(build.recording, &windows[i], &error), KWHY_OK);
	build_finish(&build, false);
	assert_int_equal(kwhy_ledger_new(build.recording, &options, &ledger, &error), KWHY_OK);
	assert_int_equal(kwhy_whatif_new(build.recording, ledger, NULL, &whatif, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "50.0 % of the time, and no call of the host"));
	kwhy_ledger_free(ledger);
	build_free(&build);
}

static void ids_are_found_and_others_are_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < kwhy_whatif_change_count; i++)
		assert_ptr_equal(kwhy_whatif_change_find(kwhy_whatif_changes[i].id), &kwhy_whatif_changes[i]);
	assert_null(kwhy_whatif_change_find("faster"));
}

static void where_rows_are_lost_every_saving_is_a_bound(void **state)
{
	struct build build = wasteful();
	struct kwhy_plan *plan = plan_of(&build, 0.01);
	size_t expected = 0;

	(void)state;
	for (size_t i = 0; i < plan->change_count; i++)
		expected += plan->changes[i].bound == KWHY_BOUND_EXPECTED;
	assert_true(expected > 0);
	kwhy_plan_free(plan);
	build.recording->lost.dropped_records = 1;
	plan = plan_of(&build, 0.01);
	assert_true(plan->change_count > 0);
	for (size_t i = 0; i < plan->change_count; i++)
		assert_int_equal(plan->changes[i].bound, KWHY_BOUND_UPPER);
	kwhy_plan_free(plan);
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_takes_the_best_first_and_ends_where_little_is_left),
		cmocka_unit_test(a_plan_takes_nothing_that_saves_nothing),
		cmocka_unit_test(savings_of_a_plan_add_up_to_what_it_saves),
		cmocka_unit_test(every_change_is_taken_or_left_out_with_a_reason),
		cmocka_unit_test(changes_that_need_leave_are_left_out_and_say_how_to_give_it),
		cmocka_unit_test(a_change_made_twice_saves_nothing_more),
		cmocka_unit_test(what_is_known_in_windows_alone_is_refused_with_their_share),
		cmocka_unit_test(where_rows_are_lost_every_saving_is_a_bound),
		cmocka_unit_test(ids_are_found_and_others_are_not),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
