/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "replay/choices.h"

#include <string.h>

static const struct kwhy_proxy_grid grid = {.blocks = 100,
	.threads_per_block = 256,
	.power_w = {[KWHY_PROXY_WAIT] = 150,
		[KWHY_PROXY_FMA] = 350,
		[KWHY_PROXY_MEMORY] = 550,
		[KWHY_PROXY_MATRIX] = 650}};

static void assert_choice(double wanted_w, uint32_t class, uint32_t busy, double power_w)
{
	struct kwhy_proxy_choice choice = kwhy_replay_choose(&grid, wanted_w);

	assert_int_equal(choice.class, class);
	assert_int_equal(choice.busy, busy);
	assert_float_equal(choice.power_w, power_w, 1e-9);
}

static void the_weakest_that_draws_enough_works_on_a_part_of_the_device(void **state)
{
	(void)state;
	assert_choice(250, KWHY_PROXY_FMA, 512, 250);
	assert_choice(350, KWHY_PROXY_FMA, 1024, 350);
	assert_choice(450, KWHY_PROXY_MEMORY, 768, 450);
}

static void what_draws_more_than_any_gets_the_strongest_on_all_of_it(void **state)
{
	(void)state;
	assert_choice(700, KWHY_PROXY_MATRIX, 1024, 650);
}

static void what_draws_no_more_than_waiting_waits(void **state)
{
	(void)state;
	assert_choice(140, KWHY_PROXY_WAIT, 1024, 150);
}

static void unknown_powers_wait(void **state)
{
	struct kwhy_proxy_grid unknown = {.power_w = {NAN, NAN, NAN, NAN}};
	struct kwhy_proxy_choice choice = kwhy_replay_choose(&unknown, 300);

	(void)state;
	assert_int_equal(choice.class, KWHY_PROXY_WAIT);
	assert_true(isnan(choice.power_w));
	assert_choice(NAN, KWHY_PROXY_WAIT, 1024, 150);
}

static void a_class_of_unknown_power_is_never_taken(void **state)
{
	struct kwhy_proxy_grid some = {.power_w = {150, NAN, 550, NAN}};

	(void)state;
	assert_int_equal(kwhy_replay_choose(&some, 200).class, KWHY_PROXY_MEMORY);
}

/*
 * Net energies of the accounts at 100 W of idle power: 1 J; 0.3 J, on a grid with about as many threads as
 * the first (28,160 and 25,600); 0.2 J; 0.005 J; unknown. Grids 0 and 2 matter: 1 is like 0, and 3 has too
 * little energy.
 */
static void grids_matter_by_the_energy_above_idle(void **state)
{
	struct kwhy_replay_account accounts[] = {
		{.power_w = 200, .time_ns = 10000000, .count = 1, .grid = 0},
		{.power_w = 400, .time_ns = 1000000, .count = 1, .grid = 1},
		{.power_w = 300, .time_ns = 1000000, .count = 1, .grid = 2},
		{.power_w = 105, .time_ns = 1000000, .count = 1, .grid = 3},
		{.power_w = NAN, .time_ns = 1000000, .count = 1, .grid = 4},
	};
	const struct kwhy_proxy_grid grids[] = {{.blocks = 100, .threads_per_block = 256, .length_ns = 5000},
		{.blocks = 55, .threads_per_block = 512, .length_ns = 5000},
		{.blocks = 8, .threads_per_block = 256, .length_ns = 5000},
		{.blocks = 1, .threads_per_block = 256, .length_ns = 5000},
		{.blocks = 1, .threads_per_block = 32, .length_ns = 5000}};
	const struct kwhy_replay_pattern pattern = {.accounts = accounts, .account_count = 5};
	uint32_t out[KWHY_REPLAY_GRIDS_MEASURED];

	(void)state;
	assert_int_equal(kwhy_replay_grids_that_matter(&pattern, grids, 100, out), 2);
	assert_int_equal(out[0], 0);
	assert_int_equal(out[1], 2);
}

static void other_grids_take_the_powers_of_the_nearest(void **state)
{
	struct kwhy_proxy_grid grids[] = {
		{.blocks = 100, .threads_per_block = 256, .length_ns = 5000, .power_w = {1, 2, 3}},
		{.blocks = 60, .threads_per_block = 256, .length_ns = 5000, .power_w = {NAN, NAN, NAN, NAN}},
		{.blocks = 1, .threads_per_block = 32, .length_ns = 5000, .power_w = {NAN, NAN, NAN, NAN}},
		{.blocks = 8, .threads_per_block = 256, .length_ns = 5000, .power_w = {4, 5, 6}}};
	static const uint32_t measured[] = {0, 3};

	(void)state;
	kwhy_replay_spread_powers(grids, 4, measured, 2);
	assert_float_equal(grids[0].power_w[KWHY_PROXY_FMA], 2, 0);
	assert_float_equal(grids[1].power_w[KWHY_PROXY_FMA], 2, 0);
	assert_float_equal(grids[2].power_w[KWHY_PROXY_FMA], 5, 0);
	assert_float_equal(grids[3].power_w[KWHY_PROXY_FMA], 5, 0);
}

static bool is_at(enum kwhy_replay_bound bound, double wanted_w)
{
	struct kwhy_replay_account accounts[] = {
		{.power_w = 200, .count = 1}, {.power_w = NAN, .count = 1}, {.power_w = 300}};
	const struct kwhy_replay_pattern pattern = {.accounts = accounts, .account_count = 3};
	const struct kwhy_proxy_choice choices[3] = {kwhy_replay_choose(&grid, wanted_w)};

	return kwhy_replay_is_at(bound, &pattern, &grid, choices);
}

static void stand_ins_that_can_work_no_less_or_no_more_are_told(void **state)
{
	(void)state;
	assert_true(is_at(KWHY_REPLAY_ALL_WAIT, 140));
	assert_false(is_at(KWHY_REPLAY_ALL_WAIT, 160));
	assert_false(is_at(KWHY_REPLAY_ALL_WORK, 649));
	assert_true(is_at(KWHY_REPLAY_ALL_WORK, 650));
	assert_true(is_at(KWHY_REPLAY_ALL_WORK, 900));
}

static void of_grids_alike_the_one_with_kernels_as_long_is_nearest(void **state)
{
	struct kwhy_proxy_grid grids[] = {
		{.blocks = 100, .threads_per_block = 256, .length_ns = 3000, .power_w = {1, 2, 3, 4}},
		{.blocks = 100, .threads_per_block = 256, .length_ns = 2e5, .power_w = {5, 6, 7, 8}},
		{.blocks = 90, .threads_per_block = 256, .length_ns = 4000},
		{.blocks = 90, .threads_per_block = 256, .length_ns = 9e6}};
	static const uint32_t measured[] = {0, 1};

	(void)state;
	kwhy_replay_spread_powers(grids, 4, measured, 2);
	assert_float_equal(grids[2].power_w[KWHY_PROXY_FMA], 2, 0);
	assert_float_equal(grids[3].power_w[KWHY_PROXY_FMA], 6, 0);
}

static void powers_hold_for_about_as_many_threads_and_as_long_kernels(void **state)
{
	static const struct kwhy_proxy_grid known[] = {
		{.blocks = 100, .threads_per_block = 256, .length_ns = 3000},
		{.blocks = 100, .threads_per_block = 256, .length_ns = 2e5}};
	struct kwhy_proxy_grid wanted = {.blocks = 96, .threads_per_block = 256, .length_ns = 3100};

	(void)state;
	assert_ptr_equal(kwhy_replay_alike(known, 2, &wanted), &known[0]);
	wanted.length_ns = 9e6; /* as known[1], above the limit from which on lengths count as equal */
	assert_ptr_equal(kwhy_replay_alike(known, 2, &wanted), &known[1]);
	wanted.length_ns = 2e4;
	assert_null(kwhy_replay_alike(known, 2, &wanted));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_weakest_that_draws_enough_works_on_a_part_of_the_device),
		cmocka_unit_test(what_draws_more_than_any_gets_the_strongest_on_all_of_it),
		cmocka_unit_test(what_draws_no_more_than_waiting_waits),
		cmocka_unit_test(unknown_powers_wait),
		cmocka_unit_test(a_class_of_unknown_power_is_never_taken),
		cmocka_unit_test(grids_matter_by_the_energy_above_idle),
		cmocka_unit_test(stand_ins_that_can_work_no_less_or_no_more_are_told),
		cmocka_unit_test(other_grids_take_the_powers_of_the_nearest),
		cmocka_unit_test(powers_hold_for_about_as_many_threads_and_as_long_kernels),
		cmocka_unit_test(of_grids_alike_the_one_with_kernels_as_long_is_nearest),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
