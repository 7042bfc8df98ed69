/* SPDX-License-Identifier: Apache-2.0 */
#include "made_pairs.h"
#include "report/pairs/compat.h"
#include "report/simulators/simulators.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * A copy takes 2 us plus its bytes at 400 GB/s, so 16 copies of 512 MiB take 21,506.9 us. nvbandwidth
 * truncates this time to whole microseconds before it computes the bandwidth.
 */
static void what_other_tools_would_print_follows_their_definitions(void **state)
{
	struct kwhy_pairs *pairs = concluded_pairs(false);
	struct kwhy_text text = {0};
	struct kwhy_error error;
	char expected[32];

	(void)state;
	assert_int_equal(kwhy_report_pairs_compat(pairs, "nvbandwidth", &text, &error), KWHY_OK);
	snprintf(expected, sizeof(expected), "%10.2f",
		536870912.0 * 16 / floor(16 * (2e-6 + 536870912.0 / 400e9) * (1 + 1e-4) * 1e6) * 1e-3);
	assert_non_null(strstr(text.data, "Running device_to_device_memcpy_write_ce, 512 MiB.\n"));
	assert_non_null(strstr(text.data, expected));
	assert_null(strstr(text.data, "memcpy_read_ce"));
	kwhy_text_clear(&text);
	assert_int_equal(kwhy_report_pairs_compat(pairs, "p2p", &text, &error), KWHY_OK);
	snprintf(expected, sizeof(expected), "%10.2f", 0.16 / (2e-6 + 160e6 / 400e9) / (1 + 1e-4));
	assert_non_null(strstr(text.data, expected));
	assert_non_null(strstr(text.data, "   CPU         0         1\n     0       N/A      1.00\n"));
	assert_int_equal(kwhy_report_pairs_compat(pairs, "nccl-tests", &text, &error), KWHY_E_USAGE);
	assert_non_null(strstr(error.text, "--engine nccl-exchange,all-reduce --timing queued"));
	assert_int_equal(kwhy_report_pairs_compat(pairs, "perftest", &text, &error), KWHY_E_USAGE);
	for (size_t i = 0; i < pairs->config_count; i++)
		if (pairs->configs[i].engine == KWHY_PAIR_WRITE &&
			pairs->configs[i].clock == KWHY_PAIR_BACK_TO_BACK) {
			pairs->configs[i].engine = KWHY_PAIR_NCCL_EXCHANGE;
			pairs->configs[i].clock = KWHY_PAIR_QUEUED;
		}
	kwhy_text_clear(&text);
	assert_int_equal(kwhy_report_pairs_compat(pairs, "nccl-tests", &text, &error), KWHY_OK);
	assert_non_null(
		strstr(text.data, "     1048576       1048576      int8    none      -1     4.62  226.87"));
	kwhy_text_done(&text);
	kwhy_pairs_free(pairs);
}

/*
 * The input for each simulator must predict the measured times of a link, which lie on a line (fixed time
 * plus time per byte). The opposite direction takes 20 % longer and is left out, because such an input
 * describes a single link.
 */
static void what_simulators_read_foretells_what_was_measured(void **state)
{
	struct kwhy_pairs *pairs = concluded_pairs(false);
	const struct kwhy_simulator *simulator;
	struct kwhy_pair_series series;

	(void)state;
	kwhy_pairs_series_fit(pairs, KWHY_PAIR_WRITE, KWHY_PAIR_BACK_TO_BACK, &series);
	assert_true(kwhy_simulators_can_write(&series));
	series.links[1] = series.links[0];
	for (size_t i = 0; i < pairs->config_count; i++)
		if (pairs->configs[i].source == 1)
			pairs->configs[i].sample_count = 0;
	for (size_t i = 0; (simulator = kwhy_simulator_at(i)); i++) {
		struct kwhy_text text = {0};
		struct kwhy_simulator_error far;

		simulator->write(&series, &text);
		kwhy_simulator_compare(simulator, text.data, &series, &far);
		assert_int_equal(far.count, 31);
		if (!(far.worst_ratio < 1e-3))
			fail_msg("%s is %g off at %llu bytes", simulator->name, far.worst_ratio,
				(unsigned long long)far.worst_bytes);
		kwhy_text_done(&text);
	}
	kwhy_pairs_free(pairs);
}

/*
 * Inputs must be made for transfers by NCCL too, which are measured with another engine and timed by another
 * clock than copies.
 */
static void each_engine_has_inputs_of_its_own(void **state)
{
	struct kwhy_pairs *pairs = concluded_pairs(false);
	struct kwhy_pair_series series;
	enum kwhy_pair_clock clock;

	(void)state;
	assert_false(kwhy_pairs_clock_of(pairs, KWHY_PAIR_NCCL, &clock));
	for (size_t i = 0; i < pairs->config_count; i++)
		if (pairs->configs[i].engine == KWHY_PAIR_WRITE &&
			pairs->configs[i].clock == KWHY_PAIR_BACK_TO_BACK) {
			pairs->configs[i].engine = KWHY_PAIR_NCCL;
			pairs->configs[i].clock = KWHY_PAIR_ISOLATED;
		}
	assert_true(kwhy_pairs_clock_of(pairs, KWHY_PAIR_NCCL, &clock));
	assert_int_equal(clock, KWHY_PAIR_ISOLATED);
	kwhy_pairs_series_fit(pairs, KWHY_PAIR_NCCL, clock, &series);
	assert_true(kwhy_simulators_can_write(&series));
	for (size_t i = 0; kwhy_simulator_at(i); i++) {
		struct kwhy_text text = {0};
		struct kwhy_simulator_error far;

		kwhy_simulator_at(i)->write(&series, &text);
		kwhy_simulator_compare(kwhy_simulator_at(i), text.data, &series, &far);
		assert_int_equal(far.count, 62);
		assert_true(far.large_mean_ratio <
			0.11); /* one line for two directions, one of which takes 20 % longer */
		kwhy_text_done(&text);
	}
	kwhy_pairs_free(pairs);
}

static void collectives_have_no_link_and_are_nodes_of_chakra(void **state)
{
	struct kwhy_pairs *pairs = concluded_pairs(false);
	struct kwhy_pair_series series;
	struct kwhy_simulator_error far;
	struct kwhy_text text = {0};

	(void)state;
	for (size_t i = 0; i < pairs->config_count; i++)
		if (pairs->configs[i].engine == KWHY_PAIR_WRITE && pairs->configs[i].source == 0)
			pairs->configs[i].engine = KWHY_PAIR_REDUCE_SCATTER;
	kwhy_pairs_series_fit(pairs, KWHY_PAIR_REDUCE_SCATTER, KWHY_PAIR_BACK_TO_BACK, &series);
	assert_false(kwhy_simulators_can_write(&series));
	assert_true(kwhy_simulator_chakra.takes_collectives);
	kwhy_simulator_chakra.write(&series, &text);
	assert_non_null(strstr(text.data, "\"COMM_COLL_NODE\""));
	assert_non_null(strstr(text.data, "\"reduce-scatter_sz4096\""));
	assert_null(strstr(text.data, "comm_src"));
	kwhy_simulator_compare(&kwhy_simulator_chakra, text.data, &series, &far);
	assert_int_equal(far.count, 31);
	assert_true(far.worst_ratio < 1e-3);
	kwhy_text_done(&text);
	kwhy_pairs_free(pairs);
}

static void units_are_those_of_the_simulators(void **state)
{
	struct kwhy_pairs *pairs = concluded_pairs(false);
	struct kwhy_text text = {0};

	struct kwhy_pair_series series;

	(void)state;
	kwhy_pairs_series_fit(pairs, KWHY_PAIR_WRITE, KWHY_PAIR_BACK_TO_BACK, &series);
	series.links[1] = series.links[0];
	kwhy_simulator_astra_sim.write(&series, &text);
	assert_float_equal(kwhy_simulator_number(text.data, "\nbandwidth: ["), 400e9 / 1073741824.0, 0.1);
	assert_float_equal(kwhy_simulator_number(text.data, "\nlatency: ["), 1000, 1);
	kwhy_text_clear(&text);
	pairs->gpus[0].name = NULL;
	kwhy_simulator_simai.write(&series, &text);
	assert_non_null(strstr(text.data, "3 2 1 0 2 NONE\n2\n0 2 3199."));
	kwhy_text_clear(&text);
	pairs->gpus[0].name = "NVIDIA A100-SXM4-80GB";
	kwhy_simulator_simai.write(&series, &text);
	assert_non_null(strstr(text.data, "3 2 1 0 2 A100\n2\n0 2 3199."));
	kwhy_text_done(&text);
	kwhy_pairs_free(pairs);
}

static void names_are_those_of_the_traces(void **state)
{
	const struct kwhy_pair_config config = {.source = 2, .target = 0, .bytes = 4096};
	char name[KWHY_PAIR_NAME_BYTES];

	(void)state;
	assert_string_equal(kwhy_pair_name(name, 17, &config, 3), "p2p_cfg0017_s2d0_sz4096_r3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_other_tools_would_print_follows_their_definitions),
		cmocka_unit_test(what_simulators_read_foretells_what_was_measured),
		cmocka_unit_test(each_engine_has_inputs_of_its_own),
		cmocka_unit_test(collectives_have_no_link_and_are_nodes_of_chakra),
		cmocka_unit_test(units_are_those_of_the_simulators),
		cmocka_unit_test(names_are_those_of_the_traces),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
