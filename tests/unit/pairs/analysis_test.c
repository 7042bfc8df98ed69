/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/store.h"
#include "pairs/analysis.h"

#include "made_pairs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void a_straight_link_is_one_regime_and_is_predicted_where_it_was_not_fitted(void **state)
{
	struct kwhy_pairs *pairs = concluded_pairs(true);
	const struct kwhy_pair_curve *curve = kwhy_pairs_curve(
		pairs, KWHY_PAIR_WRITE, KWHY_PAIR_BACK_TO_BACK, 0, 1);

	(void)state;
	assert_non_null(curve);
	assert_int_equal(curve->segment_count, 1);
	assert_float_equal(curve->segments[0].alpha_s, 2e-6, 2e-9);
	assert_float_equal(curve->segments[0].beta_s_per_byte, 1 / 400e9, 1e-15);
	assert_true(curve->held_out_median_ratio < 1e-3);
	assert_true(curve->held_out_worst_ratio < 1e-3);
	assert_float_equal(
		curve->segments[0].alpha_s + curve->segments[0].beta_s_per_byte * 400e9, 1.000002, 1e-3);
	kwhy_pairs_free(pairs);
}

static void loggp_holds_what_the_times_were_made_of(void **state)
{
	struct kwhy_pairs *pairs = concluded_pairs(false);
	const struct kwhy_pair_loggp *loggp = &pairs->loggps[0];

	(void)state;
	assert_int_equal(pairs->loggp_count, 2);
	assert_float_equal(loggp->o_send.value, 1e-6, 1e-9);
	assert_float_equal(loggp->g.value, 2e-6, 1e-9);
	assert_float_equal(loggp->latency.value, 1.5e-6, 1e-9);
	assert_float_equal(loggp->big.value, 1 / 400e9, 1e-15);
	assert_true(loggp->big.low <= loggp->big.value && loggp->big.value <= loggp->big.high);
	assert_true(isnan(loggp->o_receive.value));
	kwhy_pairs_free(pairs);
}

static void the_slower_way_back_is_flagged_with_its_likely_cause(void **state)
{
	struct kwhy_pairs *pairs = concluded_pairs(false);

	(void)state;
	assert_true(pairs->flag_count >= 2);
	assert_int_equal(pairs->flags[0].source, 1);
	assert_non_null(strstr(pairs->flags[0].what, "20 % longer than the other direction"));
	assert_string_equal(pairs->flags[0].likely_cause, "the two lie on different NUMA nodes");
	kwhy_pairs_free(pairs);
}

static void a_link_of_which_a_part_is_down_is_the_likelier_cause(void **state)
{
	struct kwhy_pairs *pairs = made_pairs(false);
	struct kwhy_error error;

	(void)state;
	pairs->routes[1][0] = (struct kwhy_pair_route){
		.way = KWHY_PAIR_PCIE, .lanes = 8, .lanes_most = 16, .limit_bytes_per_s = 31.5e9};
	assert_int_equal(kwhy_pairs_conclude(pairs, &error), KWHY_OK);
	assert_string_equal(pairs->flags[0].likely_cause, "a downgraded link: 8 of 16 lanes are up");
	kwhy_pairs_free(pairs);
}

static enum kwhy_pair_verdict verdict_of(const struct kwhy_pairs *pairs, const char *part)
{
	for (size_t i = 0; i < pairs->criterion_count; i++)
		if (strstr(pairs->criteria[i].name, part))
			return pairs->criteria[i].verdict;
	fail_msg("no criterion about %s", part);
	return KWHY_PAIR_UNKNOWN;
}

static void criteria_pass_fail_or_are_unknown(void **state)
{
	struct kwhy_pairs *pairs = concluded_pairs(false);

	(void)state;
	assert_int_equal(verdict_of(pairs, "all configurations"), KWHY_PAIR_PASS);
	assert_int_equal(verdict_of(pairs, "vary"), KWHY_PAIR_PASS);
	assert_int_equal(verdict_of(pairs, "times drift"), KWHY_PAIR_PASS);
	assert_int_equal(verdict_of(pairs, "throttled"), KWHY_PAIR_UNKNOWN);
	assert_int_equal(verdict_of(pairs, "regimes"), KWHY_PAIR_FAIL);
	assert_int_equal(verdict_of(pairs, "64 KiB"), KWHY_PAIR_PASS);
	assert_int_equal(verdict_of(pairs, "clocks drift"), KWHY_PAIR_UNKNOWN);
	kwhy_pairs_free(pairs);
}

static const char *why_of(const struct kwhy_pairs *pairs, const char *part)
{
	for (size_t i = 0; i < pairs->criterion_count; i++)
		if (strstr(pairs->criteria[i].name, part))
			return pairs->criteria[i].why;
	fail_msg("no criterion about %s", part);
	return NULL;
}

static void a_drift_has_a_grade_unless_its_interval_spans_two(void **state)
{
	static const struct {
		struct kwhy_pair_drift drift;
		const char *grade;
	} cases[] = {{{0.2, 0.5}, "excellent"}, {{-0.4, 0.5}, "excellent"}, {{0.8, 0.5}, "unknown"},
		{{-2.6, 0.7}, "good"}, {{9, 2}, "unknown"}, {{-12, 1.5}, "investigate"}, {{5, 40}, "unknown"},
		{{NAN, NAN}, "unknown"}, {{3, NAN}, "unknown"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(
			kwhy_pair_clock_grade_name(kwhy_pair_drift_grade(&cases[i].drift)), cases[i].grade);
}

static void clocks_of_gpus_and_hosts_are_judged_and_warned_of(void **state)
{
	struct kwhy_pairs *pairs = made_pairs(false);
	struct kwhy_error error;

	(void)state;
	pairs->rank_count = 2;
	pairs->drifts[0] = (struct kwhy_pair_drift){0.3, 0.2};
	pairs->drifts[1] = (struct kwhy_pair_drift){-2.6, 0.7};
	pairs->ranks[1].drift = (struct kwhy_pair_drift){8, 3};
	assert_int_equal(kwhy_pairs_judge(pairs, &error), KWHY_OK);
	assert_int_equal(verdict_of(pairs, "clocks drift"), KWHY_PAIR_UNKNOWN);
	assert_string_equal(why_of(pairs, "clocks drift"),
		"1 excellent, 1 good, 0 to investigate, 1 unknown; most 8 ± 3 ppm, host of rank 1");
	assert_int_equal(pairs->note_count, 2);
	assert_string_equal(pairs->notes[0],
		"warning: the clock of GPU 1 drifts by -2.6 ± 0.7 ppm, more than 1, against that of its "
		"host");
	assert_non_null(strstr(
		pairs->notes[1], "host of rank 1 drifts by 8 ± 3 ppm, more than 1, against that of rank 0"));
	pairs->criterion_count = 0;
	pairs->ranks[1].drift.ppm = -14;
	assert_int_equal(kwhy_pairs_judge(pairs, &error), KWHY_OK);
	assert_int_equal(verdict_of(pairs, "clocks drift"), KWHY_PAIR_FAIL);
	pairs->criterion_count = 0;
	pairs->ranks[1].drift.ppm = -6;
	assert_int_equal(kwhy_pairs_judge(pairs, &error), KWHY_OK);
	assert_int_equal(verdict_of(pairs, "clocks drift"), KWHY_PAIR_PASS);
	kwhy_pairs_free(pairs);
}

static void clocks_come_back_as_they_were_written_and_others_are_refused(void **state)
{
	static const char *const wrong[] = {"something\n", "0,1\n", "7,1,1,,,,,,\n", "0,1,-1,,,,,,\n",
		"0,x,1,,,,,,\n", "0,1,1,x,1,1,1,1,a\n", "0,1,1,5,1,-1,1,1,a\n"};
	struct kwhy_pairs *pairs = made_pairs(false), *again = kwhy_pairs_new();
	struct kwhy_text text = {0};
	struct kwhy_error error;

	(void)state;
	again->gpu_count = 2;
	pairs->rank_count = 2;
	pairs->drifts[0] = (struct kwhy_pair_drift){0.25, 0.125};
	pairs->ranks[0] = (struct kwhy_pair_rank){"a,b", 17, 0, 0, {NAN, NAN}};
	pairs->ranks[1] = (struct kwhy_pair_rank){"c", 18, -376.5, 11000, {-2.5, 0.5}};
	kwhy_text_addf(&text, "%s\n", kwhy_pair_clock_row_names);
	kwhy_pair_clock_row_write(pairs, 0, &text);
	kwhy_pair_clock_row_write(pairs, 1, &text);
	if (kwhy_pair_clock_rows_read("clocks.csv", &text, again, &error))
		fail_msg("%s", error.text);
	assert_int_equal(again->rank_count, 2);
	assert_string_equal(again->ranks[0].host, "a_b");
	assert_int_equal(again->ranks[1].process, 18);
	assert_float_equal(again->ranks[1].offset_ns, -376.5, 1e-9);
	assert_float_equal(again->ranks[1].drift.half_width_ppm, 0.5, 1e-12);
	assert_float_equal(again->drifts[0].ppm, 0.25, 1e-12);
	assert_true(isnan(again->drifts[1].ppm) && isnan(again->ranks[0].drift.ppm));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		kwhy_text_clear(&text);
		kwhy_text_addf(&text, "%s\n%s", i ? kwhy_pair_clock_row_names : "", wrong[i]);
		assert_int_equal(kwhy_pair_clock_rows_read("clocks.csv", &text, again, &error), KWHY_E_INPUT);
	}
	kwhy_text_clear(&text);
	pairs->rank_count = again->rank_count = 0;
	kwhy_text_addf(&text, "%s\n", kwhy_pair_clock_row_names);
	kwhy_pair_clock_row_write(pairs, 0, &text);
	assert_int_equal(kwhy_pair_clock_rows_read("clocks.csv", &text, again, &error), KWHY_OK);
	assert_int_equal(again->rank_count, 0);
	kwhy_text_done(&text);
	kwhy_pairs_free(pairs);
	kwhy_pairs_free(again);
}

/*
 * The folder of a run does not state why the run ended. So whether it is complete must follow from the
 * samples in it, when it is made and whenever it is read again.
 */
static void a_run_that_ended_early_is_not_complete_whoever_judges_it(void **state)
{
	struct kwhy_pairs *pairs = made_pairs(false);
	struct kwhy_error error;
	size_t count = pairs->config_count;
	char why[96];

	(void)state;
	for (size_t i = 0; i < count; i++)
		if (pairs->configs[i].load == KWHY_PAIR_REFERENCE)
			pairs->configs[i].sample_count = 3;
		else if (i > count - 4)
			pairs->configs[i].sample_count = 9;
	assert_int_equal(kwhy_pairs_judge(pairs, &error), KWHY_OK);
	assert_int_equal(verdict_of(pairs, "all configurations"), KWHY_PAIR_FAIL);
	snprintf(why, sizeof(why), "%zu of %zu, 3 of them with fewer than 10 samples", count, count);
	assert_string_equal(why_of(pairs, "all configurations"), why);
	pairs->criterion_count = 0;
	for (size_t i = 0; i < count; i++)
		pairs->configs[i].sample_count = MADE_SAMPLES;
	pairs->planned_count = count + 7;
	assert_int_equal(kwhy_pairs_judge(pairs, &error), KWHY_OK);
	assert_int_equal(verdict_of(pairs, "all configurations"), KWHY_PAIR_FAIL);
	snprintf(why, sizeof(why), "%zu of %zu", count, count + 7);
	assert_string_equal(why_of(pairs, "all configurations"), why);
	kwhy_pairs_free(pairs);
}

static void judge_pinned(struct kwhy_pairs *pairs, struct kwhy_pair_figure free_s)
{
	const struct kwhy_pair_pinning row = {.target = 1,
		.bytes = 8,
		.times = {free_s, {10e-6, 9.95e-6, 10.05e-6}, {13e-6, 12.9e-6, 13.1e-6}}};
	struct kwhy_error error;

	pairs->pinning_count = pairs->criterion_count = 0;
	assert_int_equal(kwhy_pairs_add_pinning(pairs, &row, &error), KWHY_OK);
	assert_int_equal(kwhy_pairs_judge(pairs, &error), KWHY_OK);
}

static void pinning_is_judged_by_what_its_intervals_leave_open(void **state)
{
	struct kwhy_pairs *pairs = concluded_pairs(false);

	(void)state;
	assert_int_equal(verdict_of(pairs, "pinning"), KWHY_PAIR_UNKNOWN);
	assert_non_null(strstr(why_of(pairs, "pinning"), "--pinning"));
	judge_pinned(pairs, (struct kwhy_pair_figure){10.05e-6, 10e-6, 10.1e-6});
	assert_int_equal(verdict_of(pairs, "pinning"), KWHY_PAIR_PASS);
	judge_pinned(pairs, (struct kwhy_pair_figure){10.3e-6, 10e-6, 10.6e-6});
	assert_int_equal(verdict_of(pairs, "pinning"), KWHY_PAIR_UNKNOWN);
	judge_pinned(pairs, (struct kwhy_pair_figure){11e-6, 10.9e-6, 11.1e-6});
	assert_int_equal(verdict_of(pairs, "pinning"), KWHY_PAIR_FAIL);
	assert_string_equal(why_of(pairs, "pinning"),
		"without it +10 to +10 %, surely beyond 2 % at 1 of 1 points, within at 0; on another node "
		"at most +30 %");
	judge_pinned(pairs, (struct kwhy_pair_figure){NAN, NAN, NAN});
	assert_int_equal(verdict_of(pairs, "pinning"), KWHY_PAIR_UNKNOWN);
	kwhy_pairs_free(pairs);
}

/*
 * Traces of another program are judged by the times of NCCL's kernels. Ranges of the host are not used,
 * because they do not show how long a transfer takes.
 */
static void traces_of_another_program_are_judged_by_their_kernels(void **state)
{
	struct kwhy_pairs *pairs = made_pairs(false);
	struct kwhy_error error;

	(void)state;
	pairs->is_foreign = true;
	for (size_t i = 0; i < pairs->config_count; i++)
		if (pairs->configs[i].engine == KWHY_PAIR_WRITE &&
			pairs->configs[i].clock == KWHY_PAIR_BACK_TO_BACK) {
			pairs->configs[i].engine = KWHY_PAIR_NCCL;
			pairs->configs[i].clock = KWHY_PAIR_ISOLATED;
		}
	assert_int_equal(kwhy_pairs_conclude(pairs, &error), KWHY_OK);
	assert_int_equal(verdict_of(pairs, "regimes"), KWHY_PAIR_FAIL);
	assert_int_equal(verdict_of(pairs, "64 KiB"), KWHY_PAIR_PASS);
	kwhy_pairs_free(pairs);
}

static void rows_come_back_as_they_were_written(void **state)
{
	struct kwhy_pairs *pairs = made_pairs(false), *again = kwhy_pairs_new();
	struct kwhy_text text = {0};
	struct kwhy_error error;

	(void)state;
	pairs->backend = "host";
	kwhy_pair_settings_write(pairs, &text);
	kwhy_text_addf(&text, "%s\n", kwhy_pair_row_names);
	for (size_t i = 0; i < pairs->config_count; i++)
		for (size_t k = 0; k < MADE_SAMPLES; k++)
			kwhy_pair_row_write(pairs, i, k, &text);
	if (kwhy_pair_rows_read("samples.csv", &text, true, again, &error))
		fail_msg("%s", error.text);
	assert_int_equal(again->gpu_count, 2);
	assert_int_equal(again->gpus[1].numa_node, 1);
	assert_true(again->is_direct[1][0]);
	assert_int_equal(again->config_count, pairs->config_count);
	assert_float_equal(again->configs[5].mean_s, pairs->configs[5].mean_s, 1e-14);
	kwhy_text_done(&text);
	kwhy_pairs_free(pairs);
	kwhy_pairs_free(again);
}

static void rows_of_anything_else_are_refused_with_their_line(void **state)
{
	static const char *const wrong[] = {"", "something\n",
		KWHY_PAIR_ROWS_MARK "\n0,write,alone,back-to-back,0,1,8,0,1,2,1e-6,1,,,,0\n",
		KWHY_PAIR_ROWS_MARK "\n# gpu: 0 unknown 01 a\n# gpu: 0 unknown 10 a\n"
				    "0,write,alone,back-to-back,0,1,8,0,1,2,-1,1,,,,0\n",
		KWHY_PAIR_ROWS_MARK "\n# gpu: 0 unknown 01 a\n# gpu: 0 unknown 10 a\n"
				    "0,warp,alone,back-to-back,0,1,8,0,1,2,1e-6,1,,,,0\n",
		KWHY_PAIR_ROWS_MARK "\n# gpu: 0 unknown 01 a\n# gpu: 0 unknown 10 a\n"
				    "99999999999,write,alone,back-to-back,0,1,8,0,1,2,1e-6,1,,,,0\n",
		KWHY_PAIR_ROWS_MARK "\n# gpu: x\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct kwhy_text text = {0};
		struct kwhy_pairs *pairs = kwhy_pairs_new();
		struct kwhy_error error;

		kwhy_text_add(&text, wrong[i]);
		assert_int_equal(
			kwhy_pair_rows_read("samples.csv", &text, true, pairs, &error), KWHY_E_INPUT);
		kwhy_text_done(&text);
		kwhy_pairs_free(pairs);
	}
}

static void energies_come_back_as_they_were_written_and_others_are_refused(void **state)
{
	const struct kwhy_pair_energy energy = {.engine = KWHY_PAIR_EXCHANGE,
		.source = 1,
		.bytes = 1000,
		.transfers = 12,
		.seconds = 1e-6,
		.source_gross = {3e-6, 2e-6, 4e-6},
		.source_net = {1e-6, -1e-6, 3e-6},
		.target_gross = {5e-6, 4e-6, 6e-6},
		.target_net = {NAN, NAN, NAN},
		.host_gross = {NAN, NAN, NAN}};
	static const char *const wrong[] = {"something\n", "write,0,1,8,3,1e-6\n",
		"write,0,0,8,3,1e-6,,,,,,,,,,,,,,,\n", "write,0,1,8,0,1e-6,,,,,,,,,,,,,,,\n",
		"write,0,9,8,3,1e-6,,,,,,,,,,,,,,,\n", "write,0,1,8,3,1e-6,x,,,,,,,,,,,,,,\n"};
	struct kwhy_pairs *pairs = kwhy_pairs_new();
	struct kwhy_text text = {0};
	struct kwhy_error error;

	(void)state;
	pairs->gpu_count = 2;
	kwhy_text_addf(&text, "%s\n", kwhy_pair_energy_row_names);
	kwhy_pair_energy_row_write(&energy, &text);
	assert_int_equal(kwhy_pair_energy_rows_read("energies.csv", &text, pairs, &error), KWHY_OK);
	assert_int_equal(pairs->energy_count, 1);
	assert_float_equal(pairs->energies[0].source_net.low, -1e-6, 1e-15);
	assert_true(isnan(pairs->energies[0].target_net.value));
	assert_float_equal(kwhy_pair_energy_per_byte(&pairs->energies[0], false).value, 4e-9, 1e-15);
	assert_true(isnan(kwhy_pair_energy_per_byte(&pairs->energies[0], true).value));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		kwhy_text_clear(&text);
		kwhy_text_addf(&text, "%s\n%s", i ? kwhy_pair_energy_row_names : "", wrong[i]);
		assert_int_equal(
			kwhy_pair_energy_rows_read("energies.csv", &text, pairs, &error), KWHY_E_INPUT);
	}
	kwhy_text_done(&text);
	kwhy_pairs_free(pairs);
}

enum { MADE_S = 60 };

/*
 * Returns pairs with readings of GPU 0 each second for MADE_S: the clock varies, and the temperature is 40
 * degrees. follows: the times of transfers are inversely proportional to the clock.
 */
static struct kwhy_pairs *with_readings(bool follows)
{
	struct kwhy_pairs *pairs = made_pairs(false);
	struct kwhy_error error;

	for (int64_t i = 0; i < MADE_S; i++) {
		const struct kwhy_pair_reading reading = {
			i * 1000000000, 0, 40, 300, 1.5e9 + 1e7 * (double)(i * 7 % 11)};

		assert_int_equal(kwhy_pairs_add_reading(pairs, &reading, &error), KWHY_OK);
	}
	for (size_t i = 0; i < pairs->config_count; i++)
		for (size_t k = 0; k < pairs->configs[i].sample_count; k++) {
			struct kwhy_pair_sample *sample = &pairs->configs[i].samples[k];
			size_t second = (i + 5 * k) % MADE_S;

			sample->start_unix_ns = (int64_t)second * 1000000000 + 500000000;
			sample->seconds = made_pair_s(&pairs->configs[i]) *
				(follows ? 1.5e9 / pairs->readings[second].clock_hz
					 : 1 + 1e-4 * (double)(i * 31 % 17));
		}
	for (size_t i = 0; i < pairs->config_count; i++)
		kwhy_pair_sum_up(&pairs->configs[i]);
	assert_int_equal(kwhy_pairs_relate(pairs, &error), KWHY_OK);
	return pairs;
}

static void times_that_follow_the_clock_are_seen_to(void **state)
{
	struct kwhy_pairs *pairs = with_readings(true);
	const struct kwhy_pair_relation *temperature = &pairs->relations[0], *clock = &pairs->relations[1];

	(void)state;
	assert_int_equal(pairs->relation_count, 4);
	assert_string_equal(temperature->missing, "the gauge did not move");
	assert_true(isnan(temperature->r.value));
	assert_int_equal(clock->count, MADE_S);
	assert_true(clock->r.value < -0.9 && clock->r.high < -0.8);
	assert_float_equal(clock->slope_ratio_per_unit * 1.55e9, -1, 0.15);
	assert_non_null(pairs->relations[2].missing); /* the other GPU has no readings */
	kwhy_pairs_free(pairs);
	pairs = with_readings(false);
	assert_true(!(pairs->relations[1].r.low > 0) && !(pairs->relations[1].r.high < 0));
	kwhy_pairs_free(pairs);
}

static void readings_come_back_as_they_were_written(void **state)
{
	static const char *const wrong[] = {
		"time\n", "1,9,40,300,1980\n", "1,0,40,300\n", "x,0,40,300,1980\n"};
	const struct kwhy_pair_reading reading = {1795286830202517831, 1, 41.5, NAN, 1.98e9};
	struct kwhy_pairs *pairs = kwhy_pairs_new();
	struct kwhy_text text = {0};
	struct kwhy_error error;

	(void)state;
	pairs->gpu_count = 2;
	kwhy_text_addf(&text, "%s\n", kwhy_pair_reading_row_names);
	kwhy_pair_reading_row_write(&reading, &text);
	assert_int_equal(kwhy_pair_reading_rows_read("temperatures.csv", &text, pairs, &error), KWHY_OK);
	assert_int_equal(pairs->readings[0].unix_ns, reading.unix_ns);
	assert_float_equal(pairs->readings[0].clock_hz, 1.98e9, 1);
	assert_true(isnan(pairs->readings[0].power_w));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		kwhy_text_clear(&text);
		kwhy_text_addf(&text, "%s\n%s", i ? kwhy_pair_reading_row_names : "", wrong[i]);
		assert_int_equal(
			kwhy_pair_reading_rows_read("temperatures.csv", &text, pairs, &error), KWHY_E_INPUT);
	}
	kwhy_text_done(&text);
	kwhy_pairs_free(pairs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_straight_link_is_one_regime_and_is_predicted_where_it_was_not_fitted),
		cmocka_unit_test(loggp_holds_what_the_times_were_made_of),
		cmocka_unit_test(the_slower_way_back_is_flagged_with_its_likely_cause),
		cmocka_unit_test(a_link_of_which_a_part_is_down_is_the_likelier_cause),
		cmocka_unit_test(criteria_pass_fail_or_are_unknown),
		cmocka_unit_test(a_drift_has_a_grade_unless_its_interval_spans_two),
		cmocka_unit_test(clocks_of_gpus_and_hosts_are_judged_and_warned_of),
		cmocka_unit_test(clocks_come_back_as_they_were_written_and_others_are_refused),
		cmocka_unit_test(a_run_that_ended_early_is_not_complete_whoever_judges_it),
		cmocka_unit_test(pinning_is_judged_by_what_its_intervals_leave_open),
		cmocka_unit_test(traces_of_another_program_are_judged_by_their_kernels),
		cmocka_unit_test(rows_come_back_as_they_were_written),
		cmocka_unit_test(rows_of_anything_else_are_refused_with_their_line),
		cmocka_unit_test(energies_come_back_as_they_were_written_and_others_are_refused),
		cmocka_unit_test(times_that_follow_the_clock_are_seen_to),
		cmocka_unit_test(readings_come_back_as_they_were_written),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
