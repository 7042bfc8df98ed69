/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/limits.h"
#include "bench/pairs/store.h"
#include "pairs/analysis.h"

#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Returns a measurement of two GPUs with what kwhy read from the fake NVML about the links between them.
 * `first` and `second`: further lines of the scenario for either GPU. `reaches`: whether the GPUs have peer
 * access.
 */
static struct kwhy_pairs *read_access(const char *first, const char *second, bool reaches)
{
	char path[] = "/tmp/kwhy-limits-XXXXXX";
	int file = mkstemp(path);
	struct kwhy_pairs *pairs = kwhy_pairs_new();
	struct kwhy_error error = {0};

	assert_true(file >= 0);
	dprintf(file, "gpu H200\npci 0:19:0\n%sgpu H200\npci 0:3b:0\n%s", first, second);
	close(file);
	setenv("KWHY_FAKE_NVML", path, 1);
	pairs->gpu_count = 2;
	pairs->gpus[0].pci_address = "0000:19:00.0";
	pairs->gpus[1].pci_address = "0000:3B:00.0";
	pairs->is_direct[0][1] = pairs->is_direct[1][0] = reaches;
	if (kwhy_pair_limits_read(pairs, &error))
		fail_msg("%s", error.text);
	unlink(path);
	return pairs;
}

static struct kwhy_pairs *read_scenario(const char *first, const char *second)
{
	return read_access(first, second, true);
}

static void nvlinks_to_switches_limit_a_pair_by_the_gpu_that_has_fewer(void **state)
{
	struct kwhy_pairs *pairs = read_scenario("nvlinks 18\n", "nvlinks 18\nnvlinks_up 16\n");
	const struct kwhy_pair_route *route = &pairs->routes[1][0];
	char text[KWHY_PAIR_ROUTE_BYTES];

	(void)state;
	assert_int_equal(route->way, KWHY_PAIR_NVSWITCH);
	assert_int_equal(route->lanes, 16);
	assert_int_equal(route->lanes_most, 18);
	assert_float_equal(route->limit_bytes_per_s, 16 * 26.562e9, 1);
	assert_int_equal(route->ancestor, 50);
	assert_string_equal(kwhy_pair_route_text(text, route), "16 NVLink 4, switched");
	assert_null(pairs->route_missing);
	kwhy_pairs_free(pairs);
}

static void nvlinks_to_each_other_are_counted_by_where_they_lead(void **state)
{
	struct kwhy_pairs *pairs = read_scenario("nvlinks 6\nnvlink_remote 0\nnvlink_version 4\n",
		"nvlinks 6\nnvlink_remote 0\nnvlink_version 4\n");
	char text[KWHY_PAIR_ROUTE_BYTES];

	(void)state;
	assert_string_equal(kwhy_pair_route_text(text, &pairs->routes[0][1]), "6 NVLink 3, direct");
	kwhy_pairs_free(pairs);
}

static void without_nvlinks_the_narrower_pcie_is_the_limit(void **state)
{
	struct kwhy_pairs *pairs = read_scenario(
		"common_ancestor 30\n", "pcie_width 8\ncommon_ancestor 30\n");
	const struct kwhy_pair_route *route = &pairs->routes[0][1];
	char text[KWHY_PAIR_ROUTE_BYTES];

	(void)state;
	assert_int_equal(route->way, KWHY_PAIR_PCIE);
	assert_int_equal(route->lanes_most, 16);
	assert_float_equal(route->limit_bytes_per_s, 31.5e9, 0.02e9);
	assert_string_equal(kwhy_pair_route_text(text, route), "PCIe 5 x8, host bridge");
	kwhy_pairs_free(pairs);
}

static void without_peer_access_nvlinks_are_of_no_use(void **state)
{
	struct kwhy_pairs *pairs = read_access("nvlinks 18\n", "nvlinks 18\n", false);

	(void)state;
	assert_int_equal(pairs->routes[0][1].way, KWHY_PAIR_PCIE);
	assert_float_equal(pairs->routes[0][1].limit_bytes_per_s, 63.0e9, 0.05e9);
	kwhy_pairs_free(pairs);
}

static void links_that_lead_nobody_knows_where_leave_it_unknown_and_say_so(void **state)
{
	struct kwhy_pairs *pairs = read_scenario(
		"nvlinks 18\nnvlink_remote none\n", "nvlinks 18\nnvlink_remote none\n");

	(void)state;
	assert_int_equal(pairs->routes[0][1].way, KWHY_PAIR_LINK_KIND_UNKNOWN);
	assert_true(isnan(pairs->routes[0][1].limit_bytes_per_s));
	assert_non_null(strstr(pairs->route_missing, "where NVLinks lead"));
	kwhy_pairs_free(pairs);
}

static void rates_of_pcie_are_those_of_its_generations(void **state)
{
	(void)state;
	assert_float_equal(kwhy_pcie_bytes_per_s(3, 16), 15.754e9, 1e7);
	assert_float_equal(kwhy_pcie_bytes_per_s(5, 16), 63.015e9, 1e7);
	assert_true(isnan(kwhy_pcie_bytes_per_s(0, 16)));
	assert_true(isnan(kwhy_pcie_bytes_per_s(7, 16)));
	assert_true(isnan(kwhy_pcie_bytes_per_s(5, 0)));
}

static void routes_are_kept_with_the_samples(void **state)
{
	struct kwhy_pairs *pairs = read_scenario("nvlinks 18\n", "nvlinks 18\n"), *again = kwhy_pairs_new();
	static const char *const wrong[] = {"0 1 nvswitch 18 18 4 1e9", "0 2 nvswitch 18 18 4 1e9 50",
		"0 1 rope 18 18 4 1e9 50", "0 1 pcie 99999999 18 4 1e9 50", "0 1 pcie 9 18 4 -1 50"};
	struct kwhy_text text = {0};
	struct kwhy_error error;

	(void)state;
	kwhy_pair_settings_write(pairs, &text);
	kwhy_pair_routes_write(pairs, &text);
	assert_int_equal(kwhy_pair_rows_read("samples.csv", &text, true, again, &error), KWHY_OK);
	assert_true(kwhy_pairs_are_alike(again, 0, 1, 1, 0));
	assert_float_equal(again->routes[0][1].limit_bytes_per_s, 18 * 26.562e9, 1e4);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		kwhy_pairs_free(again);
		again = kwhy_pairs_new();
		kwhy_text_clear(&text);
		kwhy_pair_settings_write(pairs, &text);
		kwhy_text_addf(&text, "# route: %s\n", wrong[i]);
		assert_int_equal(
			kwhy_pair_rows_read("samples.csv", &text, true, again, &error), KWHY_E_INPUT);
	}
	kwhy_text_done(&text);
	kwhy_pairs_free(pairs);
	kwhy_pairs_free(again);
}

static const struct kwhy_pair_criterion *criterion(const struct kwhy_pairs *pairs, const char *part)
{
	for (size_t i = 0; i < pairs->criterion_count; i++)
		if (strstr(pairs->criteria[i].name, part))
			return &pairs->criteria[i];
	fail_msg("no criterion about %s", part);
	return NULL;
}

/*
 * Makes measured times of transfers of 1 MiB between three GPUs. GPUs 0 and 1 are connected by NVLink (420
 * GB/s, limit 500 GB/s), GPU 2 by PCIe (45 GB/s, limit 50 GB/s).
 */
static struct kwhy_pairs *three_gpus(void)
{
	const struct kwhy_pair_request request = {.engines = 1u << KWHY_PAIR_WRITE,
		.clocks = 1u << KWHY_PAIR_BACK_TO_BACK,
		.least_bytes = 1 << 20,
		.most_bytes = 1 << 20,
		.no_loads = true};
	struct kwhy_pairs *pairs = kwhy_pairs_new();
	struct kwhy_error error;

	pairs->gpu_count = 3;
	for (uint32_t i = 0; i < 9; i++)
		pairs->routes[i / 3][i % 3] = (struct kwhy_pair_route){
			.way = i / 3 < 2 && i % 3 < 2 ? KWHY_PAIR_NVSWITCH : KWHY_PAIR_PCIE,
			.lanes = 4,
			.limit_bytes_per_s = i / 3 < 2 && i % 3 < 2 ? 500e9 : 50e9};
	assert_int_equal(kwhy_pair_plan_make(&request, pairs, &error), KWHY_OK);
	for (size_t i = 0; i < pairs->config_count; i++) {
		struct kwhy_pair_config *config = &pairs->configs[i];
		double rate = config->source == 2 || config->target == 2 ? 45e9 : 420e9;

		assert_non_null(kwhy_pair_samples(pairs, config));
		for (config->sample_count = 0; config->sample_count < 12; config->sample_count++)
			config->samples[config->sample_count].seconds = (double)config->bytes / rate *
				(1 + 1e-3 * (double)(config->sample_count % 3));
		kwhy_pair_sum_up(config);
	}
	return pairs;
}

static void rates_are_judged_by_limits_and_topology_by_times(void **state)
{
	struct kwhy_pairs *pairs = three_gpus();
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_pairs_judge(pairs, &error), KWHY_OK);
	assert_int_equal(criterion(pairs, "limits")->verdict, KWHY_PAIR_PASS);
	assert_non_null(strstr(criterion(pairs, "limits")->why, "83.9 to 89.9 %"));
	assert_int_equal(criterion(pairs, "topology")->verdict, KWHY_PAIR_PASS);
	assert_non_null(strstr(criterion(pairs, "topology")->why, "8 of 8"));
	kwhy_pairs_free(pairs);
}

/*
 * kwhy predicts that concurrent flows share a link equally, so two flows take twice as long as one.
 * The measured times of two flows from one source are made to be that. Those of two flows to one
 * target are made three times as long as one flow, so the prediction, 2 instead of 3, is 1/3 too
 * low.
 */
static void contention_is_predicted_by_equal_shares(void **state)
{
	const struct kwhy_pair_request request = {.engines = 1u << KWHY_PAIR_WRITE | 1u << KWHY_PAIR_EXCHANGE,
		.clocks = 1u << KWHY_PAIR_BACK_TO_BACK,
		.least_bytes = 1 << 16,
		.most_bytes = 1 << 28};
	struct kwhy_pairs *pairs = kwhy_pairs_new();
	struct kwhy_error error;

	(void)state;
	pairs->gpu_count = 3;
	assert_int_equal(kwhy_pair_plan_make(&request, pairs, &error), KWHY_OK);
	for (size_t i = 0; i < pairs->config_count; i++) {
		struct kwhy_pair_config *config = &pairs->configs[i];
		double flows = config->load == KWHY_PAIR_SAME_SOURCE ? 2
			: config->load == KWHY_PAIR_SAME_TARGET	     ? 3
								     : 1;

		assert_non_null(kwhy_pair_samples(pairs, config));
		for (config->sample_count = 0; config->sample_count < 12; config->sample_count++)
			config->samples[config->sample_count].seconds = 2e-6 +
				flows * (double)config->bytes / 400e9;
		kwhy_pair_sum_up(config);
	}
	assert_int_equal(kwhy_pairs_conclude(pairs, &error), KWHY_OK);
	for (size_t i = 0; i < pairs->held_out_count; i++) {
		const struct kwhy_pair_held_out *row = &pairs->held_outs[i];

		if (strcmp(row->what, "same-target") == 0)
			assert_float_equal(row->worst_ratio, -1.0 / 3, 0.01);
		else if (strcmp(row->what, "all-to-all") == 0 || strcmp(row->what, "from-host") == 0)
			assert_float_equal(row->worst_ratio, 1, 0.01);
		else
			assert_float_equal(row->worst_ratio, 0, 1e-3);
	}
	assert_int_equal(pairs->held_out_count, 6);
	assert_string_equal(pairs->held_outs[1].what, "both directions concurrently");
	assert_int_equal(pairs->held_outs[1].flows, 1);
	assert_int_equal(pairs->held_outs[2].flows, 2);
	kwhy_pairs_free(pairs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nvlinks_to_switches_limit_a_pair_by_the_gpu_that_has_fewer),
		cmocka_unit_test(nvlinks_to_each_other_are_counted_by_where_they_lead),
		cmocka_unit_test(without_nvlinks_the_narrower_pcie_is_the_limit),
		cmocka_unit_test(without_peer_access_nvlinks_are_of_no_use),
		cmocka_unit_test(links_that_lead_nobody_knows_where_leave_it_unknown_and_say_so),
		cmocka_unit_test(rates_of_pcie_are_those_of_its_generations),
		cmocka_unit_test(routes_are_kept_with_the_samples),
		cmocka_unit_test(contention_is_predicted_by_equal_shares),
		cmocka_unit_test(rates_are_judged_by_limits_and_topology_by_times),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
