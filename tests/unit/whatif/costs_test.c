/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "whatif/costs.h"
#include "whatif/graph.h"

#include <math.h>

/*
 * Tests the costs of copies and launches that kwhy derives from a recording, at the limits from which on it
 * trusts them.
 */

static struct kwhy_error error;

/* Sizes and lengths of copies from page-locked memory, which run one after the other. */
struct copies {
	uint64_t bytes[8];
	int64_t lengths_us[8];
	size_t count;
};

static struct kwhy_whatif_costs costs_of(const struct copies *copies, struct build *build)
{
	struct kwhy_whatif_costs costs;
	struct kwhy_whatif_graph *graph;
	int64_t start_us = 0;

	*build = build_new(1);
	for (size_t i = 0; i < copies->count; i++) {
		build_copy(build, 0, KWHY_COPY_H2D, copies->bytes[i], start_us,
			start_us + copies->lengths_us[i]);
		start_us += copies->lengths_us[i] + 1;
	}
	build_finish(build, false);
	assert_int_equal(kwhy_whatif_graph_new(build->recording, &graph, &error), KWHY_OK);
	assert_int_equal(kwhy_whatif_costs_init(&costs, graph, NULL, &error), KWHY_OK);
	kwhy_whatif_graph_free(graph);
	return costs;
}

static double cost_ns(const struct copies *copies, double bytes)
{
	struct build build;
	struct kwhy_whatif_costs costs = costs_of(copies, &build);
	struct kwhy_whatif_cost cost = kwhy_whatif_copy_cost(
		&costs, KWHY_COPY_H2D, KWHY_MEMORY_PINNED, KWHY_MEMORY_DEVICE, bytes);

	build_free(&build);
	return cost.expected_ns;
}

static void four_copies_of_eightfold_sizes_show_a_line(void **state)
{
	static const struct copies line = {{1000, 1000, 1000, 8000}, {3, 3, 3, 10}, 4},
				   three = {{1000, 1000, 8000}, {3, 3, 10}, 3},
				   alike = {{1000, 1000, 1000, 7999}, {3, 3, 3, 10}, 4},
				   from_nothing = {{0, 0, 0, 8}, {2, 2, 2, 3}, 4},
				   seven = {{0, 0, 0, 7}, {2, 2, 2, 3}, 4};

	(void)state;
	/* expected: 2 us and 1 us per 1,000 bytes */
	assert_int_equal(llround(cost_ns(&line, 4000)), 6000);
	assert_int_equal(llround(cost_ns(&line, 640000)), 642000);
	assert_true(isnan(cost_ns(&three, 4000)));
	assert_true(isnan(cost_ns(&alike, 4000)));
	/* a copy of 0 bytes counts as one of 1 byte */
	assert_int_equal(llround(cost_ns(&from_nothing, 4)), 2500);
	assert_true(isnan(cost_ns(&seven, 4)));
}

/*
 * A copy of 1000 s has so little weight in the fit, beside three of 1 us, that rounding hides its size. Then
 * there must be no line.
 */
static void sizes_that_the_sums_do_not_show_give_no_line(void **state)
{
	static const struct copies hidden = {{1, 1, 1, 8}, {1, 1, 1, 1000000000}, 4};

	(void)state;
	assert_true(isnan(cost_ns(&hidden, 8)));
}

/*
 * Without a fitted line the mean rate of large copies (64 KiB or more) is used. Small copies take most of
 * their time to begin, so their rate says nothing about other sizes.
 */
static void copies_without_a_line_show_their_rate_if_they_are_large(void **state)
{
	static const struct copies large = {{65536, 65536}, {8, 8}, 2}, small = {{65535, 65536}, {8, 8}, 2};

	(void)state;
	assert_int_equal(llround(cost_ns(&large, 131072)), 16000);
	assert_true(isnan(cost_ns(&small, 131072)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_copies_of_eightfold_sizes_show_a_line),
		cmocka_unit_test(sizes_that_the_sums_do_not_show_give_no_line),
		cmocka_unit_test(copies_without_a_line_show_their_rate_if_they_are_large),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
