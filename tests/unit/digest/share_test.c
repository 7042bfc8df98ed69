/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests how the energy of a device that several ranks share is divided: it counts once in the job, and is
 * divided by the time for which each rank's work ran.
 */
#include "cmocka_all.h"
#include "digest/joining.h"

#include <math.h>

enum { RANKS_MAX = 4, GPU = 7, OTHER_GPU = 8 };

/*
 * A rank: id of its device (key), the time interval that its digest covers, busy time of its work in it, and
 * energy of the whole device in it.
 */
struct rank {
	uint64_t key;
	int64_t start_ns, end_ns, busy_ns, measured_nj;
};

static void assert_near(double got, double wanted, double within)
{
	assert_true(fabs(got - wanted) <= within);
}

static void share(const struct rank *ranks, size_t count, struct kwhy_head_device *out)
{
	struct kwhy_head items[RANKS_MAX] = {0};
	const struct kwhy_heads heads = {.items = items, .count = count};
	struct kwhy_error error;

	for (size_t i = 0; i < count; i++) {
		out[i] = (struct kwhy_head_device){.key = ranks[i].key,
			.busy_ns = ranks[i].busy_ns,
			.metered_ns = ranks[i].end_ns - ranks[i].start_ns,
			.measured_nj = ranks[i].measured_nj};
		items[i] = (struct kwhy_head){.start_ns = ranks[i].start_ns,
			.end_ns = ranks[i].end_ns,
			.each = &out[i],
			.device_count = 1};
	}
	assert_int_equal(kwhy_heads_share(&heads, &error), KWHY_OK);
}

static double part(const struct rank *rank, const struct kwhy_head_device *device)
{
	return (double)rank->measured_nj * device->energy_ratio;
}

static void the_energy_of_ranks_side_by_side_counts_once(void **state)
{
	const struct rank ranks[] = {{GPU, 1000, 2000, 300, 500000}, {GPU, 1000, 2000, 100, 500000},
		{OTHER_GPU, 1000, 2000, 100, 700000}};
	struct kwhy_head_device devices[RANKS_MAX];

	(void)state;
	share(ranks, 3, devices);
	assert_true(devices[0].is_shared && devices[1].is_shared && !devices[2].is_shared);
	assert_near(part(&ranks[0], &devices[0]), 375000, 1e-3);
	assert_near(part(&ranks[1], &devices[1]), 125000, 1e-3);
	assert_near(devices[2].energy_ratio, 1, 0);
}

static void only_the_time_that_ranks_share_is_divided(void **state)
{
	/*
	 * time 0 to 50: 10 W, rank 0 alone; 50 to 100: both, 15 W, the mean of their digests; 100 to 150: 20
	 * W, rank 1 alone
	 */
	const struct rank ranks[] = {{GPU, 0, 100, 50, 1000}, {GPU, 50, 150, 50, 2000}};
	/* their intervals do not overlap, so nothing is shared */
	const struct rank apart[] = {{GPU, 0, 100, 50, 1000}, {GPU, 100, 150, 50, 2000}};
	struct kwhy_head_device devices[RANKS_MAX];

	(void)state;
	share(ranks, 2, devices);
	assert_near(part(&ranks[0], &devices[0]), 500 + 375, 1e-6);
	assert_near(part(&ranks[1], &devices[1]), 375 + 1000, 1e-6);
	share(apart, 2, devices);
	assert_true(!devices[0].is_shared && !devices[1].is_shared);
	assert_near(devices[0].energy_ratio, 1, 0);
}

static void what_ran_nothing_or_states_no_clock_is_divided_too(void **state)
{
	const struct rank idle[] = {{GPU, 0, 100, 0, 1000}, {GPU, 0, 100, INT64_MIN, 1000},
		{GPU, 0, 100, 0, 1000}, {GPU, 0, 100, 0, 1000}};
	struct kwhy_head_device devices[RANKS_MAX];
	struct kwhy_head items[2] = {
		{.each = &devices[0], .device_count = 1}, {.each = &devices[1], .device_count = 1}};
	const struct kwhy_heads heads = {.items = items, .count = 2};
	struct kwhy_error error;

	(void)state;
	share(idle, 4, devices);
	for (size_t i = 0; i < 4; i++)
		assert_near(devices[i].energy_ratio, 0.25, 1e-6);
	for (size_t i = 0; i < 2; i++)
		devices[i] = (struct kwhy_head_device){.key = GPU, .metered_ns = 100, .measured_nj = 900};
	assert_int_equal(kwhy_heads_share(&heads, &error), KWHY_OK);
	assert_near(devices[0].energy_ratio + devices[1].energy_ratio, 1, 1e-9);
}

static void unknown_devices_and_modelled_energies_stay(void **state)
{
	const struct rank unknown[] = {{0, 0, 100, 50, 1000}, {0, 0, 100, 50, 1000}};
	const struct rank modelled[] = {{GPU, 0, 100, 50, INT64_MIN}, {GPU, 0, 100, 50, 1000}};
	struct kwhy_head_device devices[RANKS_MAX];

	(void)state;
	share(unknown, 2, devices);
	assert_true(!devices[0].is_shared && devices[0].energy_ratio == 1 && devices[1].energy_ratio == 1);
	share(modelled, 2, devices);
	assert_true(!devices[1].is_shared && devices[0].energy_ratio == 1 && devices[1].energy_ratio == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_energy_of_ranks_side_by_side_counts_once),
		cmocka_unit_test(only_the_time_that_ranks_share_is_divided),
		cmocka_unit_test(what_ran_nothing_or_states_no_clock_is_divided_too),
		cmocka_unit_test(unknown_devices_and_modelled_energies_stay),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
