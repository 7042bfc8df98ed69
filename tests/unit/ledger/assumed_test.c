/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"

#include <math.h>

/*
 * Tests ledgers of powers that the user assumes (--assume-power). Kernels that run at the same time share the
 * device, as in the model that is fitted to readings.
 */

static struct kwhy_ledger *assume(
	struct kwhy_recording *recording, double kernel_w, double copy_w, double idle_w)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();

	options.assumed.given = true;
	options.assumed.category_w[KWHY_CATEGORY_COMPUTE] = kernel_w;
	options.assumed.category_w[KWHY_CATEGORY_COPY] = copy_w;
	options.assumed.category_w[KWHY_CATEGORY_IDLE] = idle_w;
	return build_ledger_with(recording, &options);
}

static int64_t gross_of(const struct kwhy_ledger *ledger, const char *name)
{
	return build_account(ledger, 0, name)->gross_nj;
}

/*
 * Kernel a runs alone from 0 to 100 ns, with b until 200, b alone until 300. The device draws 300 W all the
 * time, also while both run, when each gets half.
 */
static void concurrent_kernels_share_the_watts(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	build_stream(recording, 0, 0, 8);
	build_kernel(recording, 0, 0, 200, "a");
	build_kernel(recording, 1, 100, 300, "b");
	ledger = assume(recording, 300, NAN, 100);
	assert_int_equal(gross_of(ledger, "a"), 300 * 150);
	assert_int_equal(gross_of(ledger, "b"), 300 * 150);
	assert_int_equal(build_account(ledger, 0, "a")->idle_nj, 100 * 150);
	assert_int_equal(build_account(ledger, 0, "a")->net_nj, 200 * 150);
	assert_int_equal(build_account(ledger, 0, "a")->mean_power_mw, 225000);
	assert_int_equal(ledger->devices[0].energy.attributed_nj, 300 * 300);
	build_free(recording, ledger);
}

/* Grids of a quarter of the device each do not hinder each other, so their powers above idle add up. */
static void small_grids_add_up(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_activity activity;
	struct kwhy_ledger *ledger;

	(void)state;
	recording->devices[0].sm_count = 132;
	for (uint32_t i = 0; i < 2; i++) {
		activity = build_activity(recording, i, 0, 100, i ? "b" : "a");
		activity.blocks = 33;
		if (i)
			build_stream(recording, 0, 0, 8);
		build_add(recording, activity);
	}
	ledger = assume(recording, 150, NAN, 100);
	assert_int_equal(gross_of(ledger, "a"), (50 + 50) * 100);
	assert_int_equal(ledger->devices[0].energy.attributed_nj, 200 * 100);
	build_free(recording, ledger);
}

/* A copy adds its power above idle to that of the kernel; idle power is drawn once. */
static void a_copy_adds_its_power_above_idle(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	build_stream(recording, 0, 0, 8);
	build_kernel(recording, 0, 0, 100, "a");
	build_h2d(recording, 1, 0, 100, 4096, "Memcpy HtoD");
	ledger = assume(recording, 300, 120, 100);
	assert_int_equal(ledger->devices[0].energy.attributed_nj, (100 + 200 + 20) * 100);
	assert_int_equal(gross_of(ledger, "a"), (50 + 200) * 100);
	build_free(recording, ledger);
}

/*
 * One assumed power is that of the whole device, however many kernels run at the same time, if it is given
 * for everything (all_w), or for kernels only with no idle power.
 */
static void one_power_for_all_is_the_power_of_the_device(void **state)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		if (i)
			build_stream(recording, 0, 0, 7 + i);
		build_kernel(recording, i, 0, 100, "a");
	}
	build_kernel(recording, 0, 300, 400, "a");
	options.assumed.given = true;
	options.assumed.all_w = 150;
	ledger = build_ledger_with(recording, &options);
	assert_int_equal(gross_of(ledger, "a"), 150 * 200);
	assert_int_equal(ledger->devices[0].energy.attributed_nj, 150 * 400);
	kwhy_ledger_free(ledger);
	options.assumed.all_w = NAN;
	options.assumed.category_w[KWHY_CATEGORY_COMPUTE] = 150;
	OK(kwhy_ledger_new(recording, &options, &ledger, &error));
	assert_int_equal(gross_of(ledger, "a"), 150 * 200);
	build_free(recording, ledger);
}

/*
 * A kernel without an assumed power has no energy. What runs at the same time must not get its part of the
 * idle power.
 */
static void work_without_a_power_stays_unknown(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	build_stream(recording, 0, 0, 8);
	build_kernel(recording, 0, 0, 100, "a");
	build_h2d(recording, 1, 0, 100, 4096, "Memcpy HtoD");
	ledger = assume(recording, 300, NAN, 100);
	assert_int_equal(gross_of(ledger, "a"), (50 + 200) * 100);
	for (size_t i = 0; i < ledger->devices[0].account_count; i++)
		if (ledger->devices[0].accounts[i].category == KWHY_CATEGORY_COPY) {
			assert_int_equal(ledger->devices[0].accounts[i].gross_nj, KWHY_UNKNOWN_NJ);
			assert_int_equal(ledger->devices[0].accounts[i].power_class, KWHY_NONE);
		}
	build_free(recording, ledger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(concurrent_kernels_share_the_watts),
		cmocka_unit_test(small_grids_add_up),
		cmocka_unit_test(a_copy_adds_its_power_above_idle),
		cmocka_unit_test(one_power_for_all_is_the_power_of_the_device),
		cmocka_unit_test(work_without_a_power_stays_unknown),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
