/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "nouns.h"
#include "report/cost_ranking.h"

#include <math.h>
#include <string.h>

static struct kwhy_error error;

/* Sets the sizes of the two copies: 1000 bytes to the device, 10 bytes from it. */
static void nouns_bytes(struct nouns *nouns)
{
	nouns->recording->activities.bytes[0] = nouns->accounts[1].bytes = 1000;
	nouns->recording->activities.bytes[2] = nouns->accounts[2].bytes = 10;
}

static void a_byte_costs_the_accounts_mean_power_over_all_of_its_time(void **state)
{
	struct kwhy_profile profile = {.h2d_pinned_rate_bytes_per_s = {20e9, NAN},
		.d2h_pinned_rate_bytes_per_s = {NAN, NAN},
		.memory_rate_bytes_per_s = NAN};
	struct nouns nouns;
	struct kwhy_cost_ranking ranking;

	(void)state;
	nouns_init(&nouns, "k");
	nouns_energy(&nouns);
	nouns_bytes(&nouns);
	nouns.report.profile = &profile;
	assert_int_equal(kwhy_cost_ranking_init(&ranking, &nouns.report, 0, &error), KWHY_OK);
	assert_int_equal(ranking.count, 2);
	assert_string_equal(ranking.costs[0].account->name, "h2d");
	assert_float_equal(ranking.costs[0].rate_bytes_per_s, 1e10, 1);
	assert_float_equal(ranking.costs[0].peak_bytes_per_s, 2e10, 1);
	assert_float_equal(ranking.costs[0].gross_j_per_byte, 20e-9, 1e-15);
	assert_float_equal(ranking.costs[0].net_j_per_byte, 10e-9, 1e-15);
	assert_true(ranking.costs[0].ratio_to_best == 1);
	assert_float_equal(ranking.costs[1].gross_j_per_byte, 1e-6, 1e-13);
	assert_float_equal(ranking.costs[1].net_j_per_byte, 0, 1e-13);
	assert_float_equal(ranking.costs[1].ratio_to_best, 50, 1e-6);
	assert_true(isnan(ranking.costs[1].peak_bytes_per_s));
	kwhy_cost_ranking_done(&ranking);
	nouns_done(&nouns);
}

static void without_energy_the_cost_ranking_ranks_rates(void **state)
{
	struct nouns nouns;
	struct kwhy_cost_ranking ranking;

	(void)state;
	nouns_init(&nouns, "k");
	nouns_bytes(&nouns);
	assert_int_equal(kwhy_cost_ranking_init(&ranking, &nouns.report, 0, &error), KWHY_OK);
	assert_int_equal(ranking.count, 2);
	assert_float_equal(ranking.costs[1].ratio_to_best, 100, 1e-6);
	assert_true(isnan(ranking.costs[0].gross_j_per_byte));
	assert_true(isnan(ranking.costs[0].net_j_per_byte));
	kwhy_cost_ranking_done(&ranking);
	nouns_done(&nouns);
}

static void an_account_with_a_copy_of_unknown_size_has_no_entry(void **state)
{
	struct nouns nouns;
	struct kwhy_cost_ranking ranking;

	(void)state;
	nouns_init(&nouns, "k");
	nouns_bytes(&nouns);
	nouns.recording->activities.bytes[0] = KWHY_UNKNOWN_BYTES;
	assert_int_equal(kwhy_cost_ranking_init(&ranking, &nouns.report, 0, &error), KWHY_OK);
	assert_int_equal(ranking.count, 1);
	assert_string_equal(ranking.costs[0].account->name, "d2h");
	kwhy_cost_ranking_done(&ranking);
	nouns_done(&nouns);
}

static void a_copy_is_worth_the_operations_that_kernels_do_for_as_much(void **state)
{
	struct kwhy_text_style style = {.columns = 80, .verbose = true};
	struct kwhy_text out = {0};
	struct nouns nouns;

	(void)state;
	nouns_init(&nouns, "k");
	nouns_energy(&nouns);
	assert_true(isnan(kwhy_joules_per_flop(&nouns.report)));
	assert_int_equal(kwhy_recording_add_work(nouns.recording, "flop", 1e6, &error), KWHY_OK);
	/*
	 * 150 uJ of kernels for 1e6 FLOP; a copy to the device takes 20 uJ, as much as 66,666 multiply-adds
	 * of 2 FLOP
	 */
	assert_float_equal(kwhy_joules_per_flop(&nouns.report), 150e-12, 1e-16);
	assert_int_equal(kwhy_report_text(&nouns.report, &style, &out, &error), KWHY_OK);
	assert_non_null(strstr(out.data, "Kernels draw 150 pJ a floating-point operation."));
	assert_non_null(strstr(out.data, "One h2d copy (20.0 µJ) is worth 66,666 multiply-adds."));
	kwhy_text_done(&out);
	nouns_done(&nouns);
}

static void flop_of_precisions_are_summed_unless_their_sum_is_stated(void **state)
{
	struct nouns nouns;

	(void)state;
	nouns_init(&nouns, "k");
	nouns_energy(&nouns);
	assert_int_equal(kwhy_recording_add_work(nouns.recording, "flop_fp32", 1e6, &error), KWHY_OK);
	assert_int_equal(kwhy_recording_add_work(nouns.recording, "flop_bf16", 2e6, &error), KWHY_OK);
	assert_int_equal(kwhy_recording_add_work(nouns.recording, "flop_odd", 9e9, &error), KWHY_OK);
	assert_float_equal(kwhy_joules_per_flop(&nouns.report), 50e-12, 1e-16);
	assert_int_equal(kwhy_recording_add_work(nouns.recording, "flop", 5e6, &error), KWHY_OK);
	assert_float_equal(kwhy_joules_per_flop(&nouns.report), 30e-12, 1e-16);
	nouns_done(&nouns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_byte_costs_the_accounts_mean_power_over_all_of_its_time),
		cmocka_unit_test(without_energy_the_cost_ranking_ranks_rates),
		cmocka_unit_test(an_account_with_a_copy_of_unknown_size_has_no_entry),
		cmocka_unit_test(a_copy_is_worth_the_operations_that_kernels_do_for_as_much),
		cmocka_unit_test(flop_of_precisions_are_summed_unless_their_sum_is_stated),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
