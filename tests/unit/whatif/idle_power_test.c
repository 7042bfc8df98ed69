/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"
#include "whatif/whatif.h"

#include <math.h>

/* Tests the power of an idle device that kwhy derives from the accounts of a ledger. */

static struct kwhy_error error;

enum { US = 1000, SPAN_US = 1000, ACCOUNTS_MAX = 16 };

static struct kwhy_account account_of(enum kwhy_category category, int64_t power_w)
{
	const int64_t energy_nj = power_w * SPAN_US * US;

	return (struct kwhy_account){.category = category,
		.name = "",
		.gross_nj = energy_nj,
		.low_nj = energy_nj,
		.high_nj = energy_nj,
		.time_ns = SPAN_US * US,
		.mean_power_mw = power_w * 1000,
		.basis = KWHY_BASIS_DATA,
		.group = KWHY_NONE,
		.power_class = KWHY_NONE};
}

/*
 * Checks the idle power for a ledger with an account "idle" of 100 W and the account `more`. Accounts beyond
 * account_count must not be read.
 */
static void assert_idle_w(struct kwhy_account more, double expected_w)
{
	struct build build = build_new(1);
	struct kwhy_account accounts[ACCOUNTS_MAX];
	struct kwhy_device_ledger *device;
	struct kwhy_whatif *whatif;
	size_t count = 0;

	build_kernel(&build, 0, "k", 0, 10);
	build_kernel(&build, 0, "k", SPAN_US - 10, SPAN_US);
	build_finish(&build, true);
	device = &build.ledger->devices[0];
	for (; count < device->account_count; count++)
		accounts[count] = device->accounts[count];
	assert_true(count + 3 <= ACCOUNTS_MAX);
	accounts[count++] = account_of(KWHY_CATEGORY_IDLE, 100);
	accounts[count++] = more;
	accounts[count] = account_of(KWHY_CATEGORY_IDLE, 900);
	device->accounts = accounts;
	device->account_count = count;
	assert_int_equal(kwhy_whatif_new(build.recording, build.ledger, NULL, &whatif, &error), KWHY_OK);
	assert_float_equal((float)whatif->idle_w[0], (float)expected_w, 1e-3);
	kwhy_whatif_free(whatif);
	build_free(&build);
}

static void idle_time_of_the_run_shows_the_idle_power(void **state)
{
	struct kwhy_account unknown = account_of(KWHY_CATEGORY_IDLE, 300), without_power = unknown;

	(void)state;
	assert_idle_w(account_of(KWHY_CATEGORY_IDLE, 300), 200);
	assert_idle_w(account_of(KWHY_CATEGORY_COMPUTE, 300), 100);
	unknown.gross_nj = KWHY_UNKNOWN_NJ;
	assert_idle_w(unknown, 100);
	without_power.mean_power_mw = -1;
	assert_idle_w(without_power, 100);
}

/*
 * Accounts of time before and after the run, of unrecorded time and of probing must not count: other work may
 * run then.
 */
static void time_outside_of_the_run_does_not_show_it(void **state)
{
	(void)state;
	assert_idle_w(account_of(KWHY_CATEGORY_OUTSIDE, 300), 100);
	assert_idle_w(account_of(KWHY_CATEGORY_UNRECORDED, 300), 100);
	assert_idle_w(account_of(KWHY_CATEGORY_PROBING, 300), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_time_of_the_run_shows_the_idle_power),
		cmocka_unit_test(time_outside_of_the_run_does_not_show_it),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
