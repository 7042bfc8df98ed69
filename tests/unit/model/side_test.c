/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/side.h"
#include "ok.h"

/* Tests of the sums over the devices of one side of a comparison. */

static struct kwhy_error error;

static const struct kwhy_side_device metered = {.name = "GPU",
	.first_ns = 0,
	.last_ns = 2000,
	.span_ns = 2000,
	.busy_ns = 1000,
	.idle_ns = 1000,
	.attributed_nj = 400000,
	.metered_ns = 2000,
	.context_idle_w = 100};

/* Returns the side made of the device `metered` and of `second`. run_nj: energy of the run, nJ. */
static struct kwhy_side side_of(const struct kwhy_side_device *second, int64_t run_nj)
{
	const struct kwhy_side_counts counts = {0};
	struct kwhy_side side = {0};
	struct kwhy_side_sums sums;

	OK(kwhy_side_begin(&sums, &side, &counts, &error));
	kwhy_side_add_device(&sums, &metered);
	kwhy_side_add_device(&sums, second);
	kwhy_side_end(&sums, run_nj, KWHY_UNKNOWN_NJ, KWHY_UNKNOWN_NJ);
	return side;
}

static void energies_of_devices_are_added(void **state)
{
	struct kwhy_side side = side_of(&metered, 800000);

	(void)state;
	assert_int_equal(side.energy_nj, 800000);
	assert_int_equal(side.seen_run_nj, 800000);
	assert_true(side.power_w == 400);
	kwhy_side_done(&side);
}

/*
 * If the energy of one device that worked is unknown, the energy of the side must be unknown, because the sum
 * of the others would be too small.
 */
static void the_energy_of_some_devices_is_not_that_of_all(void **state)
{
	struct kwhy_side_device second = metered;
	struct kwhy_side side;

	(void)state;
	second.attributed_nj = KWHY_UNKNOWN_NJ;
	second.metered_ns = 0;
	side = side_of(&second, KWHY_UNKNOWN_NJ);
	assert_int_equal(side.energy_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(side.idle_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(side.seen_run_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(side.net_nj, KWHY_UNKNOWN_NJ);
	assert_true(isnan(side.power_w));
	kwhy_side_done(&side);
}

static void a_device_without_work_needs_no_energy(void **state)
{
	const struct kwhy_side_device idle = {.name = "GPU",
		.attributed_nj = KWHY_UNKNOWN_NJ,
		.context_idle_w = NAN,
		.unseen_ns = INFINITY};
	struct kwhy_side side = side_of(&idle, 400000);

	(void)state;
	assert_int_equal(side.energy_nj, 400000);
	kwhy_side_done(&side);
}

static void the_shortest_work_has_a_busy_ratio_and_no_work_has_none(void **state)
{
	struct kwhy_side_device device = {.name = "GPU", .span_ns = 1, .busy_ns = 1, .context_idle_w = NAN};
	const struct kwhy_side_counts counts = {0};
	struct kwhy_side side = {0};
	struct kwhy_side_sums sums;

	(void)state;
	for (int span = 1; span >= 0; span--) {
		OK(kwhy_side_begin(&sums, &side, &counts, &error));
		device.span_ns = device.busy_ns = span;
		kwhy_side_add_device(&sums, &device);
		kwhy_side_end(&sums, KWHY_UNKNOWN_NJ, KWHY_UNKNOWN_NJ, KWHY_UNKNOWN_NJ);
		assert_true(span ? side.busy_ratio == 1 : isnan(side.busy_ratio));
		kwhy_side_done(&side);
	}
}

/*
 * Accounts of one name on two devices are fitted separately, so their errors are independent: half-widths of
 * 30 and 40 nJ add up to 50 nJ.
 */
static void accounts_of_one_name_are_added_and_all_rows_are_found(void **state)
{
	const struct kwhy_side_account rows[] = {{"copy", "k", 1, 10, 100, 90, 110},
		{"compute", "k", 2, 20, 1000, 970, 1030}, {"compute", "k", 3, 30, 2000, 1960, 2040},
		{"compute", "a", 4, 40, 10, 9, 11}};
	const struct kwhy_side_counts counts = {.accounts = 4, .findings = 2, .work = 3};
	const struct kwhy_side_account *account;
	struct kwhy_side side = {0};
	struct kwhy_side_sums sums;

	(void)state;
	OK(kwhy_side_begin(&sums, &side, &counts, &error));
	for (size_t i = 0; i < 4; i++)
		kwhy_side_add_account(&sums, &rows[i], 0);
	kwhy_side_add_device(&sums, &metered);
	kwhy_side_add_finding(&sums, &(struct kwhy_side_finding){"sync", "b", 1, 1});
	kwhy_side_add_finding(&sums, &(struct kwhy_side_finding){"copies", "a", 1, 1});
	kwhy_side_add_work(&sums, &(struct kwhy_side_work){"tokens", 4096, NAN});
	kwhy_side_add_work(&sums, &(struct kwhy_side_work){"images", 0, NAN});
	kwhy_side_add_work(&sums, &(struct kwhy_side_work){"steps", 8, NAN});
	for (int i = 0; i < 1000; i++)
		kwhy_side_add_call(&sums, i % 2 ? "cudaLaunchKernel" : "cuLaunchKernelEx", 1, 5000);
	kwhy_side_add_call(&sums, "cudaMalloc", 1, 1e9);
	kwhy_side_end(&sums, 800000, KWHY_UNKNOWN_NJ, KWHY_UNKNOWN_NJ);
	assert_int_equal(side.account_count, 3);
	account = kwhy_side_account_of(&side, "compute", "k");
	assert_int_equal(account->count, 5);
	assert_int_equal(account->time_ns, 50);
	assert_int_equal(account->gross_nj, 3000);
	assert_int_equal(account->low_nj, 2950);
	assert_int_equal(account->high_nj, 3050);
	assert_int_equal(kwhy_side_account_of(&side, "copy", "k")->count, 1);
	assert_int_equal(kwhy_side_account_of(&side, "compute", "a")->count, 4);
	assert_null(kwhy_side_account_of(&side, "copy", "a"));
	assert_true(kwhy_side_has_finding(&side, "sync") && kwhy_side_has_finding(&side, "copies"));
	assert_false(kwhy_side_has_finding(&side, "launch-bound"));
	assert_true(kwhy_side_work_of(&side, "tokens")->count == 4096);
	assert_true(kwhy_side_work_of(&side, "steps")->count == 8);
	assert_null(kwhy_side_work_of(&side, "images")); /* no work in images was stated */
	assert_true(side.launch_ns == 5000);
	kwhy_side_done(&side);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(energies_of_devices_are_added),
		cmocka_unit_test(the_energy_of_some_devices_is_not_that_of_all),
		cmocka_unit_test(a_device_without_work_needs_no_energy),
		cmocka_unit_test(accounts_of_one_name_are_added_and_all_rows_are_found),
		cmocka_unit_test(the_shortest_work_has_a_busy_ratio_and_no_work_has_none),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
