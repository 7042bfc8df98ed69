/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/share.h"

#include "base/random.h"
#include "cmocka_all.h"

#include <math.h>

enum { IDLE = 100, UNKNOWN = 101, HOLDERS = 8 };
#define SECOND INT64_C(1000000000)

static struct kwhy_share_window window_of(
	int64_t energy_nj, const struct kwhy_share_holder *holders, size_t count)
{
	return (struct kwhy_share_window){.energy_nj = energy_nj,
		.length_ns = SECOND,
		.holders = holders,
		.holder_count = count,
		.idle_owner = IDLE,
		.unknown_owner = UNKNOWN,
		.uses_known = true,
		.busy_permille = 500,
		.low_w = 100,
		.high_w = 400};
}

static void a_device_of_one_owner_is_wholly_that_owners(void **state)
{
	const struct kwhy_share_holder holder = {.owner = 3, .part = 1};
	struct kwhy_share_window window = window_of(777, &holder, 1);
	struct kwhy_share_of out[1];

	(void)state;
	assert_int_equal(kwhy_share_divide(&window, out), 1);
	assert_int_equal(out[0].owner, 3);
	assert_int_equal(out[0].share.energy_nj, 777);
	assert_int_equal(out[0].share.low_nj, 777);
	assert_int_equal(out[0].share.high_nj, 777);
	assert_int_equal(out[0].share.idle_nj, 0);
	assert_int_equal(out[0].share.held_ns, SECOND);
	assert_int_equal(out[0].share.busy_ns, SECOND / 2);
	window.busy_permille = 0;
	kwhy_share_divide(&window, out);
	assert_int_equal(out[0].share.energy_nj, 777);
	assert_int_equal(out[0].share.idle_nj, 777);
	assert_int_equal(out[0].share.busy_ns, 0);
	assert_int_equal(out[0].share.unknown_ns, 0);
	window.busy_permille = -1;
	kwhy_share_divide(&window, out);
	assert_int_equal(out[0].share.idle_nj, 0);
	assert_int_equal(out[0].share.unknown_ns, SECOND);
}

static void a_device_of_nobody_is_idle_or_unknown(void **state)
{
	struct kwhy_share_window window = window_of(777, NULL, 0);
	struct kwhy_share_of out[1];

	(void)state;
	assert_int_equal(kwhy_share_divide(&window, out), 1);
	assert_int_equal(out[0].owner, UNKNOWN);
	assert_int_equal(out[0].share.held_ns, 0);
	window.busy_permille = 0;
	kwhy_share_divide(&window, out);
	assert_int_equal(out[0].owner, IDLE);
	assert_int_equal(out[0].share.energy_nj, 777);
	window.busy_permille = -1;
	kwhy_share_divide(&window, out);
	assert_int_equal(out[0].owner, IDLE);
}

static void a_shared_device_is_divided_by_use_within_bounds(void **state)
{
	const struct kwhy_share_holder holders[] = {{0, 60, 1}, {1, 20, 1}, {2, 0, 1}};
	struct kwhy_share_window window = window_of(800, holders, 3);
	struct kwhy_share_of out[3];

	(void)state;
	assert_int_equal(kwhy_share_divide(&window, out), 3);
	assert_int_equal(out[0].share.energy_nj, 600);
	assert_int_equal(out[1].share.energy_nj, 200);
	assert_int_equal(out[2].share.energy_nj, 0);
	/*
	 * Lower bound: the device draws low_w (100 W) while the first owner's kernels run and high_w (400 W)
	 * while those of others do; upper bound: the reverse. The utilisations of 60 % and 20 % are known
	 * within 1 % each.
	 */
	assert_int_equal(out[0].share.low_nj, llround(800.0 * 59 / (59 + 21 * 4)));
	assert_int_equal(out[0].share.high_nj, llround(800.0 * 61 * 4 / (61 * 4 + 19)));
	assert_int_equal(out[2].share.low_nj, 0);
	assert_true(out[2].share.high_nj > 0);
	assert_int_equal(out[1].share.busy_ns, SECOND / 5);
	window.low_w = NAN;
	kwhy_share_divide(&window, out);
	assert_int_equal(out[0].share.low_nj, 0);
	assert_int_equal(out[0].share.high_nj, 800);
}

static void without_samples_the_parts_of_the_device_decide(void **state)
{
	const struct kwhy_share_holder holders[] = {{0, 0, 60}, {1, 0, 16}};
	struct kwhy_share_window window = window_of(760, holders, 2);
	struct kwhy_share_of out[2];

	(void)state;
	window.uses_known = false;
	window.busy_permille = -1;
	kwhy_share_divide(&window, out);
	assert_int_equal(out[0].share.energy_nj, 600);
	assert_int_equal(out[0].share.low_nj, 0);
	assert_int_equal(out[0].share.high_nj, 760);
	assert_int_equal(out[1].share.energy_nj, 160);
	assert_int_equal(out[1].share.unknown_ns, SECOND);
}

static void holders_of_an_idle_device_have_equal_parts(void **state)
{
	const struct kwhy_share_holder holders[] = {{0, 0, 9}, {1, 0, 1}, {2, 0, 1}};
	struct kwhy_share_window window = window_of(100, holders, 3);
	struct kwhy_share_of out[3];

	(void)state;
	window.busy_permille = 0;
	kwhy_share_divide(&window, out);
	assert_int_equal(out[0].share.energy_nj, 33);
	assert_int_equal(out[1].share.energy_nj, 33);
	assert_int_equal(out[2].share.energy_nj, 34);
	assert_int_equal(out[2].share.idle_nj, 34);
	assert_int_equal(out[2].share.low_nj, 34);
}

/* Random utilisations and energies: the owners' energies must add up to the energy of the device exactly. */
static void shares_add_up_to_the_energy(void **state)
{
	uint64_t random = 41;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct kwhy_share_holder holders[HOLDERS];
		struct kwhy_share_of out[HOLDERS];
		struct kwhy_share_window window = window_of(
			(int64_t)(kwhy_random_next(&random) >> (kwhy_random_next(&random) % 40 + 3)), holders,
			kwhy_random_next(&random) % (HOLDERS + 1));
		int64_t sum_nj = 0;
		size_t count;

		for (size_t i = 0; i < window.holder_count; i++)
			holders[i] = (struct kwhy_share_holder){(uint32_t)i,
				(uint32_t)(kwhy_random_next(&random) % 3 ? kwhy_random_next(&random) % 101
									 : 0),
				(uint32_t)(1 + kwhy_random_next(&random) % 132)};
		window.uses_known = kwhy_random_next(&random) % 2;
		window.busy_permille = (int64_t)(kwhy_random_next(&random) % 3) - 1;
		count = kwhy_share_divide(&window, out);
		for (size_t i = 0; i < count; i++) {
			const struct kwhy_share *share = &out[i].share;

			assert_true(share->energy_nj >= 0);
			assert_true(share->low_nj <= share->energy_nj);
			assert_true(share->high_nj >= share->energy_nj);
			assert_true(share->high_nj <= window.energy_nj);
			sum_nj += share->energy_nj;
		}
		assert_true(sum_nj == window.energy_nj);
	}
}

static void the_hosts_energy_is_divided_by_cpu_time(void **state)
{
	const uint32_t owners[] = {4, 5};
	const int64_t used_ns[] = {3 * SECOND, 1 * SECOND};
	struct kwhy_share_host host = {.energy_nj = 1000,
		.length_ns = SECOND,
		.busy_ns = 8 * SECOND,
		.capacity_ns = 16 * SECOND,
		.owners = owners,
		.used_ns = used_ns,
		.count = 2,
		.idle_owner = IDLE};
	struct kwhy_share_of out[3];

	(void)state;
	kwhy_share_divide_host(&host, out);
	assert_int_equal(out[0].share.energy_nj, 375);
	assert_int_equal(out[0].share.low_nj, 187);
	assert_int_equal(out[1].share.energy_nj, 125);
	assert_int_equal(out[2].owner, IDLE);
	assert_int_equal(out[2].share.energy_nj, 500);
	host.busy_ns = 2 * SECOND; /* busy time of the machine < sum of its owners' CPU times */
	kwhy_share_divide_host(&host, out);
	assert_int_equal(out[0].share.energy_nj, 750);
	assert_int_equal(out[2].share.energy_nj, 0);
	host.busy_ns = host.capacity_ns = 0;
	host.count = 0;
	kwhy_share_divide_host(&host, out);
	assert_int_equal(out[0].share.energy_nj, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_of_one_owner_is_wholly_that_owners),
		cmocka_unit_test(a_device_of_nobody_is_idle_or_unknown),
		cmocka_unit_test(a_shared_device_is_divided_by_use_within_bounds),
		cmocka_unit_test(without_samples_the_parts_of_the_device_decide),
		cmocka_unit_test(holders_of_an_idle_device_have_equal_parts),
		cmocka_unit_test(shares_add_up_to_the_energy),
		cmocka_unit_test(the_hosts_energy_is_divided_by_cpu_time),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
