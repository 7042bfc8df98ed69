/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/power_in_place.h"
#include "unit/ledger/build.h"

#include <math.h>
#include <string.h>

enum { IN_PLACE = 30, BURST = 200 };

/*
 * A recording of 30 launches of "kernel" in place (each after 400 us of "other") and then two bursts of
 * "kernel" with 100 us per launch. Tests how much less certain the power from bursts is for launches in
 * place.
 */
struct plan {
	/*
	 * place_ns: duration of the first launch in place; step_ns: increase of the duration from each
	 * launch to the next
	 */
	int64_t place_ns, step_ns;
	uint32_t burst_blocks;
	int burst_launches;
};

static void add_kernel(struct kwhy_recording *recording, int64_t *now_ns, int64_t length_ns, const char *name,
	uint32_t blocks)
{
	struct kwhy_activity activity = build_activity(recording, 0, *now_ns, *now_ns + length_ns, name);

	activity.blocks = blocks;
	build_add(recording, activity);
	*now_ns += length_ns + 1000;
}

static double place_ratio_of(const struct plan *plan)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;
	double ratios[8];
	int64_t now_ns = 0;
	const struct kwhy_account *account;

	for (int i = 0; i < IN_PLACE; i++) {
		add_kernel(recording, &now_ns, 400000, "other", 64);
		add_kernel(recording, &now_ns, plan->place_ns + i * plan->step_ns, "kernel", 64);
	}
	for (int burst = 0; burst < 2; burst++) {
		add_kernel(recording, &now_ns, 400000, "other", 64);
		for (int i = 0; i < plan->burst_launches; i++) {
			add_kernel(recording, &now_ns, 100000, "kernel", plan->burst_blocks);
			add_kernel(recording, &now_ns, 1000, "clear", 1);
		}
	}
	ledger = build_ledger(recording);
	account = build_account(ledger, 0, "kernel");
	OK(kwhy_power_places_find(&ledger->devices[0], recording, 0, ratios, &error));
	double ratio = ratios[account - ledger->devices[0].accounts];

	build_free(recording, ledger);
	return ratio;
}

/*
 * Returns the relative uncertainty of a kernel's power that is due to the clock: 21 launches take 21 ms, in
 * which the clock, read every ms, rises from low_mhz to high_mhz.
 */
static double ratio_at_clocks(int64_t low_mhz, int64_t high_mhz)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;
	double ratios[8];
	int64_t now_ns = 0;

	for (int64_t i = 0; i < 21; i++) {
		add_kernel(recording, &now_ns, 999000, "kernel", 132);
		OK(kwhy_recording_add_gauge(recording, KWHY_GAUGE_SM_CLOCK, 0, now_ns - 500000,
			(low_mhz * (20 - i) + high_mhz * i) / 20 * 1000000, &error));
	}
	ledger = build_ledger(recording);
	OK(kwhy_power_places_find(&ledger->devices[0], recording, 0, ratios, &error));
	double ratio = ratios[build_account(ledger, 0, "kernel") - ledger->devices[0].accounts];

	build_free(recording, ledger);
	return ratio;
}

static void a_power_is_as_unsure_as_the_clock(void **state)
{
	(void)state;
	assert_float_equal(ratio_at_clocks(1980, 1980), 0, 1e-9);
	assert_float_equal(ratio_at_clocks(1965, 1980), 0,
		1e-9); /* the clock differs by 15 MHz, its smallest step, which adds no uncertainty */
	assert_float_equal(ratio_at_clocks(1600, 2000), log(1900.0 / 1700) / 1.349, 0.001);
}

static void a_power_is_unsure_by_how_much_longer_launches_take_in_place(void **state)
{
	const struct plan slower = {.place_ns = 102000, .burst_blocks = 64, .burst_launches = BURST};
	const struct plan longer = {.place_ns = 110000, .burst_blocks = 64, .burst_launches = BURST};
	const struct plan shorter = {.place_ns = 90000, .burst_blocks = 64, .burst_launches = BURST};
	const struct plan alike = {.place_ns = 100000, .burst_blocks = 64, .burst_launches = BURST};

	(void)state;
	assert_float_equal(place_ratio_of(&slower), 1.8 * log(1.02), 0.002);
	assert_float_equal(place_ratio_of(&longer), hypot(1.8 * 0.03, 0.58 * (log(1.1) - 0.03)), 0.002);
	assert_float_equal(place_ratio_of(&shorter), hypot(1.8 * 0.03, 0.58 * (-log(0.9) - 0.03)), 0.002);
	assert_float_equal(place_ratio_of(&alike), 0, 1e-9);
}

/*
 * In place, launches with one size of the grid take 2 % longer than in bursts, those with another size 2 %
 * less. The errors of their powers must count as independent.
 */
static void grids_of_one_kernel_are_not_wrong_in_the_same_way(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;
	double ratios[8];
	int64_t now_ns = 0;

	(void)state;
	for (int i = 0; i < IN_PLACE; i++) {
		add_kernel(recording, &now_ns, 400000, "other", 64);
		add_kernel(recording, &now_ns, 102000, "kernel", 64);
		add_kernel(recording, &now_ns, 400000, "other", 64);
		add_kernel(recording, &now_ns, 98000, "kernel", 32);
	}
	for (uint32_t blocks = 32; blocks <= 64; blocks += 32) {
		add_kernel(recording, &now_ns, 400000, "other", 64);
		for (int i = 0; i < BURST; i++)
			add_kernel(recording, &now_ns, 100000, "kernel", blocks);
	}
	ledger = build_ledger(recording);
	OK(kwhy_power_places_find(&ledger->devices[0], recording, 0, ratios, &error));
	assert_float_equal(ratios[build_account(ledger, 0, "kernel") - ledger->devices[0].accounts],
		1.8 * 0.02 * M_SQRT1_2, 0.002);
	build_free(recording, ledger);
}

static void launches_of_many_sizes_are_not_compared(void **state)
{
	const struct plan sizes = {
		.place_ns = 50000, .step_ns = 5000, .burst_blocks = 64, .burst_launches = BURST};
	const struct plan grids = {.place_ns = 150000, .burst_blocks = 128, .burst_launches = BURST};

	(void)state;
	assert_float_equal(place_ratio_of(&sizes), 0, 1e-9);
	assert_float_equal(place_ratio_of(&grids), 0, 1e-9);
}

static void a_few_launches_in_a_row_are_no_burst(void **state)
{
	const struct plan few = {.place_ns = 150000, .burst_blocks = 64, .burst_launches = 50};

	(void)state;
	assert_float_equal(place_ratio_of(&few), 0, 1e-9);
}

/*
 * Returns the relative uncertainty of the power of "kernel": the program launches it 30 times for
 * 100 us, then kwhy probe repeats it 200 times. Before each repeat a copy that is named copy_name
 * and takes copy_ns restores memory; copy_ns 0: no copy.
 */
static double probed_ratio_of(int64_t copy_ns, const char *copy_name)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;
	double ratios[8];
	int64_t now_ns = 0;
	double ratio = NAN;

	for (int i = 0; i < IN_PLACE; i++) {
		add_kernel(recording, &now_ns, 400000, "other", 64);
		add_kernel(recording, &now_ns, 100000, "kernel", 64);
	}
	for (int i = 0; i < BURST; i++) {
		struct kwhy_activity repeat;

		if (copy_ns) {
			struct kwhy_activity copy = build_activity(
				recording, 0, now_ns, now_ns + copy_ns, copy_name);

			copy.kind = KWHY_ACTIVITY_COPY;
			copy.origin = KWHY_ORIGIN_PROBER;
			build_add(recording, copy);
			now_ns += copy_ns + 1000;
		}
		repeat = build_activity(recording, 0, now_ns, now_ns + 100000, "kernel");
		repeat.blocks = 64;
		repeat.origin = KWHY_ORIGIN_REPEAT;
		build_add(recording, repeat);
		now_ns += 101000;
	}
	ledger = build_ledger(recording);
	OK(kwhy_power_places_find(&ledger->devices[0], recording, 0, ratios, &error));
	for (size_t i = 0; i < ledger->devices[0].account_count; i++)
		if (!strcmp(ledger->devices[0].accounts[i].name, "kernel") &&
			ledger->devices[0].accounts[i].category != KWHY_CATEGORY_PROBING)
			ratio = ratios[i];
	build_free(recording, ledger);
	return ratio;
}

static void copies_between_repeats_make_the_power_unsure_unless_bursts_show_theirs(void **state)
{
	(void)state;
	assert_float_equal(probed_ratio_of(0, NULL), 0.02, 1e-6);
	assert_float_equal(probed_ratio_of(50000, ""), hypot(0.02, 0.06), 1e-6);
	assert_float_equal(probed_ratio_of(50000, "d2d for kernel"), 0.02, 1e-6);
	/* with copies ten times as long as the kernel the uncertainty is 0.4, as without any burst */
	assert_float_equal(probed_ratio_of(1000000, ""), hypot(0.02, 0.4), 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_power_is_unsure_by_how_much_longer_launches_take_in_place),
		cmocka_unit_test(grids_of_one_kernel_are_not_wrong_in_the_same_way),
		cmocka_unit_test(launches_of_many_sizes_are_not_compared),
		cmocka_unit_test(a_few_launches_in_a_row_are_no_burst),
		cmocka_unit_test(a_power_is_as_unsure_as_the_clock),
		cmocka_unit_test(copies_between_repeats_make_the_power_unsure_unless_bursts_show_theirs),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
