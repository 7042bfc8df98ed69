/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/pairs.h"
#include "ok.h"

#include <string.h>

static struct kwhy_error error;

/* Returns a configuration whose one transfer moves 100 bytes from GPU 0 to GPU 1 in median_s. */
static struct kwhy_pair_config config_of(enum kwhy_pair_engine engine, double median_s)
{
	return (struct kwhy_pair_config){
		.engine = engine, .target = 1, .bytes = 100, .sample_count = 1, .summary.median_s = median_s};
}

static void an_exchange_moves_its_bytes_in_both_directions(void **state)
{
	const struct kwhy_pair_config one = config_of(KWHY_PAIR_WRITE, 4),
				      both = config_of(KWHY_PAIR_EXCHANGE, 4),
				      nccl = config_of(KWHY_PAIR_NCCL_EXCHANGE, 4);
	struct kwhy_pairs *pairs = kwhy_pairs_new();

	(void)state;
	assert_float_equal(kwhy_pair_rate(&one), 25, 0);
	assert_float_equal(kwhy_pair_rate(&both), 50, 0);
	assert_float_equal(kwhy_pair_rate(&nccl), 50, 0);
	assert_true(isnan(kwhy_pairs_of_limit(pairs, &one)));
	assert_true(isnan(kwhy_pairs_of_limit(pairs, NULL)));
	pairs->routes[0][1].limit_bytes_per_s = 50;
	assert_float_equal(kwhy_pairs_of_limit(pairs, &one), 0.5, 0);
	assert_float_equal(kwhy_pairs_of_limit(pairs, &both), 0.5, 0);
	kwhy_pairs_free(pairs);
}

static void the_fastest_is_measured_alone_and_moves_bytes_as_asked(void **state)
{
	struct kwhy_pair_config configs[8], key = config_of(KWHY_PAIR_WRITE, 3);
	struct kwhy_pairs *pairs = kwhy_pairs_new();

	(void)state;
	configs[0] = config_of(KWHY_PAIR_EXCHANGE, 1);
	configs[1] = config_of(KWHY_PAIR_ALL_REDUCE, 1);
	configs[2] = configs[3] = configs[4] = configs[5] = config_of(KWHY_PAIR_READ, 1);
	configs[2].sample_count = 0;
	configs[3].load = KWHY_PAIR_DISJOINT;
	configs[4].clock = KWHY_PAIR_CALL;
	configs[5].source = 2;
	pairs->configs = configs;
	pairs->config_count = 6;
	assert_null(kwhy_pairs_fastest(pairs, 0, 1, false));
	assert_ptr_equal(kwhy_pairs_fastest(pairs, 0, 1, true), &configs[0]);
	configs[6] = config_of(KWHY_PAIR_WRITE, 3);
	configs[7] = config_of(KWHY_PAIR_READ, 2);
	pairs->config_count = 8;
	assert_ptr_equal(kwhy_pairs_fastest(pairs, 0, 1, false), &configs[7]);
	configs[6].summary.median_s = 1.5;
	assert_ptr_equal(kwhy_pairs_fastest(pairs, 0, 1, false), &configs[6]);
	assert_null(kwhy_pairs_fastest(pairs, 0, 2, false));
	assert_ptr_equal(kwhy_pairs_find(pairs, &key), &configs[6]);
	assert_ptr_equal(kwhy_pairs_find(pairs, &configs[2]),
		&configs[7]); /* configs[7] has configs[2]'s key and, unlike it, samples */
	key.bytes++;
	assert_null(kwhy_pairs_find(pairs, &key));
	kwhy_pairs_free(pairs);
}

static void a_curve_is_found_by_all_of_its_key(void **state)
{
	struct kwhy_pair_curve curves[] = {
		{.engine = KWHY_PAIR_READ,
			.load = KWHY_PAIR_DISJOINT,
			.clock = KWHY_PAIR_ISOLATED,
			.target = 1},
		{.engine = KWHY_PAIR_READ, .clock = KWHY_PAIR_ISOLATED, .target = 1},
	};
	struct kwhy_pairs *pairs = kwhy_pairs_new();

	(void)state;
	pairs->curves = curves;
	pairs->curve_count = 2;
	assert_ptr_equal(kwhy_pairs_curve(pairs, KWHY_PAIR_READ, KWHY_PAIR_ISOLATED, 0, 1), &curves[1]);
	assert_null(kwhy_pairs_curve(pairs, KWHY_PAIR_WRITE, KWHY_PAIR_ISOLATED, 0, 1));
	assert_null(kwhy_pairs_curve(pairs, KWHY_PAIR_READ, KWHY_PAIR_CALL, 0, 1));
	assert_null(kwhy_pairs_curve(pairs, KWHY_PAIR_READ, KWHY_PAIR_ISOLATED, 1, 1));
	assert_null(kwhy_pairs_curve(pairs, KWHY_PAIR_READ, KWHY_PAIR_ISOLATED, 0, 0));
	kwhy_pairs_free(pairs);
}

/* Returns three GPUs. Each pair is joined by links of the same kind, generation and width. */
static struct kwhy_pairs *three_alike(enum kwhy_pair_link_kind way)
{
	struct kwhy_pairs *pairs = kwhy_pairs_new();

	pairs->gpu_count = 3;
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			pairs->routes[i][k] = (struct kwhy_pair_route){.way = way,
				.lanes = 4,
				.generation = 3,
				.limit_bytes_per_s = NAN,
				.ancestor = 20};
	return pairs;
}

static void pairs_are_alike_if_their_links_are(void **state)
{
	struct kwhy_pairs *pairs = three_alike(KWHY_PAIR_PCIE);
	struct kwhy_pair_route *route = &pairs->routes[0][2];

	(void)state;
	assert_true(kwhy_pairs_are_alike(pairs, 0, 1, 0, 2));
	pairs->is_direct[0][2] = true;
	assert_false(kwhy_pairs_are_alike(pairs, 0, 1, 0, 2));
	pairs->is_direct[0][2] = false;
	route->lanes = 8;
	assert_false(kwhy_pairs_are_alike(pairs, 0, 1, 0, 2));
	route->lanes = 4;
	route->generation = 4;
	assert_false(kwhy_pairs_are_alike(pairs, 0, 1, 0, 2));
	route->generation = 3;
	route->ancestor = 30;
	assert_false(kwhy_pairs_are_alike(pairs, 0, 1, 0, 2));
	pairs->routes[0][1].way = KWHY_PAIR_NVLINK;
	assert_false(kwhy_pairs_are_alike(pairs, 0, 1, 0, 2));
	route->way = KWHY_PAIR_NVLINK; /* with NVLink on both routes, the PCIe ancestor does not matter */
	assert_true(kwhy_pairs_are_alike(pairs, 0, 1, 0, 2));
	pairs->routes[0][1].way = route->way = KWHY_PAIR_NVSWITCH;
	assert_true(kwhy_pairs_are_alike(pairs, 0, 1, 0, 2));
	assert_true(kwhy_pairs_have_link_kind(pairs, KWHY_PAIR_NVSWITCH));
	assert_true(kwhy_pairs_have_link_kind(pairs, KWHY_PAIR_PCIE));
	assert_false(kwhy_pairs_have_link_kind(pairs, KWHY_PAIR_NVLINK));
	kwhy_pairs_free(pairs);
}

static void the_first_of_alike_pairs_stands_for_them(void **state)
{
	struct kwhy_pairs *pairs = three_alike(KWHY_PAIR_PCIE);

	(void)state;
	assert_true(kwhy_pairs_stands_for_others(pairs, 0, 1));
	assert_true(kwhy_pairs_stands_for_others(pairs, 1, 0));
	assert_false(kwhy_pairs_stands_for_others(pairs, 0, 2));
	assert_false(kwhy_pairs_stands_for_others(pairs, 1, 2));
	pairs->routes[1][2].lanes = 16;
	assert_true(kwhy_pairs_stands_for_others(pairs, 1, 2));
	assert_true(kwhy_pairs_stands_for_others(pairs, 2, 1));
	assert_false(kwhy_pairs_have_link_kind(
		pairs, KWHY_PAIR_LINK_KIND_UNKNOWN)); /* unused routes[3][] are of unknown kind */
	for (int i = 0; i < 3; i++)		      /* a link of a GPU to itself is none */
		pairs->routes[i][i].way = KWHY_PAIR_NVLINK;
	assert_false(kwhy_pairs_have_link_kind(pairs, KWHY_PAIR_NVLINK));
	kwhy_pairs_free(pairs);
}

static void clocks_whose_drift_is_known_are_listed_and_graded(void **state)
{
	static const struct {
		struct kwhy_pair_drift drift;
		enum kwhy_pair_clock_grade grade;
	} cases[] = {
		{{0.5, 0.4}, KWHY_PAIR_CLOCK_EXCELLENT},
		{{-0.5, 0.6}, KWHY_PAIR_CLOCK_UNKNOWN}, /* from -1.1 to 0.1 ppm: two grades are possible */
		{{1, 0}, KWHY_PAIR_CLOCK_GOOD},
		{{-9, 0.5}, KWHY_PAIR_CLOCK_GOOD},
		{{10, 0}, KWHY_PAIR_CLOCK_INVESTIGATE},
		{{NAN, 0}, KWHY_PAIR_CLOCK_UNKNOWN},
		{{1, NAN}, KWHY_PAIR_CLOCK_UNKNOWN},
	};
	struct kwhy_pair_compared_clock clocks[KWHY_PAIR_CLOCKS_MAX];
	struct kwhy_pairs *pairs = kwhy_pairs_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(kwhy_pair_drift_grade(&cases[i].drift), cases[i].grade);
	assert_float_equal(kwhy_pair_drift_least(&(struct kwhy_pair_drift){-1, 3}), 0, 0);
	assert_float_equal(kwhy_pair_drift_most(&(struct kwhy_pair_drift){-1, 3}), 4, 0);
	pairs->gpu_count = pairs->rank_count = 2;
	assert_int_equal(kwhy_pairs_list_clocks(pairs, clocks), 0);
	pairs->drifts[1].ppm = pairs->ranks[0].drift.ppm = pairs->drifts[2].ppm = pairs->ranks[2]
											  .drift.ppm = 1;
	assert_int_equal(kwhy_pairs_list_clocks(pairs, clocks), 2);
	assert_true(clocks[0].number == 1 && !clocks[0].is_host && clocks[0].drift == &pairs->drifts[1]);
	assert_true(clocks[1].number == 0 && clocks[1].is_host && clocks[1].drift == &pairs->ranks[0].drift);
	kwhy_pairs_free(pairs);
}

static void a_ring_carries_a_share_of_a_collective(void **state)
{
	(void)state;
	assert_float_equal(kwhy_pair_bus_share(KWHY_PAIR_ALL_REDUCE, 4), 1.5, 0);
	assert_float_equal(kwhy_pair_bus_share(KWHY_PAIR_ALL_GATHER, 4), 0.75, 0);
	assert_float_equal(kwhy_pair_bus_share(KWHY_PAIR_BROADCAST, 4), 1, 0);
	assert_float_equal(kwhy_pair_bus_share(KWHY_PAIR_ALL_GATHER, 0), 1, 0);
	for (int engine = 0; engine < KWHY_PAIR_ENGINE_COUNT; engine++) {
		assert_int_equal(kwhy_pair_is_collective((enum kwhy_pair_engine)engine),
			engine >= KWHY_PAIR_ALL_REDUCE);
		assert_int_equal(kwhy_pair_is_by_nccl((enum kwhy_pair_engine)engine),
			engine >= KWHY_PAIR_NCCL && engine != KWHY_PAIR_SOCKET);
	}
}

static void ratios_and_energies_have_the_widest_interval(void **state)
{
	const struct kwhy_pair_pinning pinning = {
		.times = {[KWHY_PAIR_NEAR] = {2, 1, 4}, [KWHY_PAIR_FAR] = {6, 4, 8}}};
	struct kwhy_pair_energy energy = {.engine = KWHY_PAIR_WRITE,
		.bytes = 10,
		.source_gross = {20, 10, 30},
		.target_gross = {40, 30, 50},
		.source_net = {2, 1, 3},
		.target_net = {4, 3, 5}};
	struct kwhy_pair_figure figure = kwhy_pair_pinning_ratio(&pinning, KWHY_PAIR_FAR);

	(void)state;
	assert_true(figure.value == 3 && figure.low == 1 && figure.high == 8);
	figure = kwhy_pair_energy_per_byte(&energy, false);
	assert_true(figure.value == 6 && figure.low == 4 && figure.high == 8);
	energy.engine = KWHY_PAIR_EXCHANGE;
	figure = kwhy_pair_energy_per_byte(&energy, true);
	assert_true(figure.value == 0.3 && figure.low == 0.2 && figure.high == 0.4);
}

static void a_route_is_named_by_its_lanes_and_where_they_meet(void **state)
{
	static const struct {
		struct kwhy_pair_route route;
		const char *text;
	} cases[] = {
		{{.way = KWHY_PAIR_NVSWITCH, .lanes = 18, .generation = 4}, "18 NVLink 4, switched"},
		{{.way = KWHY_PAIR_NVLINK, .lanes = 4, .generation = 3}, "4 NVLink 3, direct"},
		{{.way = KWHY_PAIR_PCIE, .lanes = 16, .generation = 5, .ancestor = 0},
			"PCIe 5 x16, one board"},
		{{.way = KWHY_PAIR_PCIE, .lanes = 16, .generation = 5, .ancestor = 50},
			"PCIe 5 x16, two nodes"},
		{{.way = KWHY_PAIR_PCIE, .lanes = 8, .generation = 4, .ancestor = -1}, "PCIe 4 x8"},
		{{.ancestor = 60}, "unknown"},
		{{.ancestor = 40}, "unknown, one node"},
	};
	const struct kwhy_pair_config config = {.source = 1, .target = 2, .bytes = 4096};
	char text[KWHY_PAIR_ROUTE_BYTES], name[KWHY_PAIR_NAME_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(kwhy_pair_route_text(text, &cases[i].route), cases[i].text);
	assert_string_equal(kwhy_pair_name(name, 7, &config, 3), "p2p_cfg0007_s1d2_sz4096_r3");
}

static void nothing_is_known_of_a_new_run_and_what_is_added_stays(void **state)
{
	struct kwhy_pairs *pairs = kwhy_pairs_new();
	const struct kwhy_pair_route *last = &pairs->routes[KWHY_PAIR_GPUS_MAX - 1][KWHY_PAIR_GPUS_MAX - 1];

	(void)state;
	assert_true(isnan(pairs->time_pass_s) && isnan(pairs->warm_s) && isnan(pairs->clocks_s));
	assert_true(isnan(last->limit_bytes_per_s) && last->ancestor == -1);
	assert_true(isnan(pairs->routes[0][0].limit_bytes_per_s) && pairs->routes[1][0].ancestor == -1);
	assert_true(isnan(pairs->drifts[KWHY_PAIR_GPUS_MAX - 1].ppm) && isnan(pairs->ranks[0].offset_ns));
	for (int i = 0; i < 2; i++) {
		OK(kwhy_pairs_add_note(pairs, i ? "second" : "first", &error));
		OK(kwhy_pairs_add_nccl_setting(pairs, i ? "B=2" : "A=1", &error));
		OK(kwhy_pairs_add_absence(pairs, i ? "put" : "nccl", "why", &error));
		OK(kwhy_pairs_add_reading(pairs, &(struct kwhy_pair_reading){.gpu = (uint32_t)i}, &error));
		OK(kwhy_pairs_add_pinning(pairs, &(struct kwhy_pair_pinning){.bytes = (uint64_t)i}, &error));
		OK(kwhy_pairs_add_energy(pairs, &(struct kwhy_pair_energy){.bytes = (uint64_t)i}, &error));
	}
	assert_true(pairs->note_count == 2 && pairs->nccl_setting_count == 2 && pairs->absence_count == 2 &&
		pairs->reading_count == 2 && pairs->pinning_count == 2 && pairs->energy_count == 2);
	assert_string_equal(pairs->notes[1], "second");
	assert_string_equal(pairs->nccl_settings[0], "A=1");
	assert_string_equal(pairs->absences[1].strategy, "put");
	assert_true(pairs->readings[1].gpu == 1 && pairs->pinnings[1].bytes == 1 &&
		pairs->energies[1].bytes == 1);
	kwhy_pairs_free(pairs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exchange_moves_its_bytes_in_both_directions),
		cmocka_unit_test(the_fastest_is_measured_alone_and_moves_bytes_as_asked),
		cmocka_unit_test(a_curve_is_found_by_all_of_its_key),
		cmocka_unit_test(pairs_are_alike_if_their_links_are),
		cmocka_unit_test(the_first_of_alike_pairs_stands_for_them),
		cmocka_unit_test(clocks_whose_drift_is_known_are_listed_and_graded),
		cmocka_unit_test(a_ring_carries_a_share_of_a_collective),
		cmocka_unit_test(ratios_and_energies_have_the_widest_interval),
		cmocka_unit_test(a_route_is_named_by_its_lanes_and_where_they_meet),
		cmocka_unit_test(nothing_is_known_of_a_new_run_and_what_is_added_stays),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
