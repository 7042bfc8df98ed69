/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"

#include <string.h>

static void a_collective_with_no_kernel_beside_can_hide_in_kernel_time(void **state)
{
	struct build build = build_new(1);
	uint32_t side = build_stream(&build, 0);

	(void)state;
	build_kernel(&build, 0, "k", 0, 100);
	build_collective(&build, side, 80, 200); /* a kernel runs during its first 20 us */
	build_kernel(&build, 0, "k", 200, 300);
	/*
	 * the collective is exposed for 100 us; kernels run for 180 us without it, so all of that could be
	 * hidden
	 */
	ASSERT_FINDING(build_find(&build, "exposed-collectives", NULL), 1, 100, 100);
	build_free(&build);
}

static void hiding_ends_where_kernel_time_does(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_kernel(&build, 0, "k", 0, 30);
	build_collective(&build, 0, 30, 200);
	ASSERT_FINDING(build_find(&build, "exposed-collectives", NULL), 1, 170, 30);
	build_free(&build);
}

static void a_collective_beside_a_kernel_is_hidden(void **state)
{
	struct build build = build_new(1);
	uint32_t side = build_stream(&build, 0);

	(void)state;
	build_kernel(&build, 0, "k", 0, 100);
	build_collective(&build, side, 20, 90);
	assert_null(build_find(&build, "exposed-collectives", NULL));
	build_free(&build);
}

static void collectives_with_a_kernel_beside_most_of_their_time_are_not_counted(void **state)
{
	struct build build = build_new(1);
	uint32_t side = build_stream(&build, 0);

	(void)state;
	build_kernel(&build, 0, "k", 0, 100);
	build_collective(&build, side, 20, 110); /* its last 10 us are exposed */
	build_collective(&build, side, 110, 130);
	ASSERT_FINDING(build_find(&build, "exposed-collectives", NULL), 1, 30, 20);
	assert_null(build_find(&build, "exposed-collectives", "exposed-collectives.min_count=2"));
	build_free(&build);
}

/*
 * If records were lost, a kernel that is missing may have run during the collective; the finding must say so.
 */
static void an_exposed_collective_says_where_rows_are_lost(void **state)
{
	struct build build = build_new(1);
	const struct kwhy_finding *finding;

	(void)state;
	build.recording->lost.dropped_records = 1;
	build_kernel(&build, 0, "k", 0, 100);
	build_collective(&build, 0, 100, 200);
	finding = build_find(&build, "exposed-collectives", NULL);
	assert_non_null(strstr(
		finding->saving.assumption, "; rows are lost, and what ran in them hides nothing here"));
	build_free(&build);
}

/*
 * Makes two devices. Device 0 computes until first_us, device 1 until second_us; both are then in a
 * collective until 200 us.
 */
static struct build two_ranks(int64_t first_us, int64_t second_us)
{
	struct build build = build_new(2);

	build_kernel(&build, 0, "k", 0, first_us);
	build_collective(&build, 0, first_us, 200);
	build_kernel(&build, 1, "k", 0, second_us);
	build_collective(&build, 1, second_us, 200);
	return build;
}

static void a_device_that_computes_longer_makes_the_others_wait(void **state)
{
	struct build build = two_ranks(180, 100);
	const struct kwhy_finding *finding = build_find(&build, "rank-imbalance", NULL);

	(void)state;
	/* the slowest computes 180 us, the mean is 140 us: evenly divided work would take 40 us less */
	ASSERT_FINDING(finding, 2, 40, 40);
	assert_int_equal(finding->device, KWHY_NONE);
	assert_int_equal(finding->evidence_count, 2);
	assert_string_equal(finding->evidence[0].what, "device 0 computes 180 \xC2\xB5s, the slowest");
	assert_string_equal(finding->evidence[1].what, "device 1 computes 100 \xC2\xB5s");
	build_free(&build);
}

static void the_energy_of_waiting_devices_is_idle_energy_at_least(void **state)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct build build = two_ranks(180, 100);
	const struct kwhy_finding *finding;

	(void)state;
	build_finish(&build, true);
	finding = build_detect(&build, "rank-imbalance", &options);
	assert_non_null(finding);
	assert_int_equal(finding->energy_nj, 80000 * 100); /* 80 us at 100 W */
	for (size_t d = 0; d < 2; d++) {
		build.ledger->devices[d].energy.measured_nj = KWHY_UNKNOWN_NJ;
		build.ledger->devices[d].energy.modelled = true;
	}
	finding = build_detect(&build, "rank-imbalance", &options);
	assert_int_equal(finding->energy_nj, 80000 * 100); /* the same with assumed powers: 80 us at 100 W */
	build_free(&build);
}

enum { RANKS = 8, STEPS = 10 };

/*
 * Makes eight ranks with ten steps. In each step a rank computes for 1000 us to 1003 us, and then is in a
 * collective that ends on all ranks at the same time, 107 us or more after the last one came. Rank `slow`
 * computes 10 us per percent longer or, if host_is_late, begins so much later.
 */
static struct build eight_ranks(uint32_t slow, int percent, bool host_is_late)
{
	struct build build = build_new(RANKS);
	int64_t at = 0;

	for (int step = 0; step < STEPS; step++, at += 1110 + 10 * percent) {
		for (uint32_t rank = 0; rank < RANKS; rank++) {
			int64_t more = rank == slow ? 10 * percent : 0,
				start = at + (host_is_late ? more : 0);
			int64_t end = at + 1000 + (rank * 7 + (unsigned)step * 3) % 4 + more;

			build_kernel(&build, rank, "k", start, end);
			build_collective(&build, rank, end, at + 1110 + 10 * percent);
		}
	}
	for (uint32_t rank = 0; rank < RANKS; rank++)
		build.recording->devices[rank].rank = rank;
	return build;
}

/*
 * A rank that is 5 %, 10 % or 30 % slower (of ten steps of 1 ms), or begins so much later, must be found and
 * named first. The energy is that of the seven others, at 100 W while they wait.
 */
static void one_rank_that_is_slower_is_named_first(void **state)
{
	static const int percents[] = {5, 10, 30};

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		struct kwhy_detect_options options = kwhy_detect_options_default();
		struct build build = eight_ranks(3, percents[i / 2], i % 2);
		/*
		 * if the host is late, the delay before the first step is before all records, so only nine of
		 * ten count
		 */
		int64_t waited_us = (i % 2 ? 90 : 100) * percents[i / 2];
		const struct kwhy_finding *finding;

		build_finish(&build, true);
		finding = build_detect(&build, "rank-imbalance", &options);
		assert_non_null(finding);
		assert_ptr_equal(finding, &build.findings->items[0]);
		assert_non_null(strstr(finding->title, "Straggler: 7 devices wait "));
		assert_non_null(strstr(finding->title, "rank 3"));
		assert_non_null(strstr(finding->evidence[0].what, "rank 3"));
		assert_in_range(finding->time_ns, (waited_us - 20) * 1000, (waited_us + 20) * 1000);
		assert_in_range(
			finding->energy_nj, 7 * (waited_us - 30) * 100000, 7 * (waited_us + 30) * 100000);
		build_free(&build);
	}
}

static void among_equal_ranks_none_is_named(void **state)
{
	struct build build = eight_ranks(RANKS, 0, false);

	(void)state;
	assert_null(build_find(&build, "rank-imbalance", NULL));
	build_free(&build);
}

/* If records were lost, a rank's computing may be missing in part; the finding must say so. */
static void an_imbalance_says_where_rows_are_lost(void **state)
{
	struct build build = two_ranks(180, 100);
	const struct kwhy_finding *finding = build_find(&build, "rank-imbalance", NULL);

	(void)state;
	assert_null(strstr(finding->saving.assumption, "lost"));
	build_free(&build);
	build = two_ranks(180, 100);
	build.recording->lost.skipped_events = 1;
	finding = build_find(&build, "rank-imbalance", NULL);
	assert_non_null(strstr(finding->saving.assumption,
		"; rows are lost, and what ran in them is missing from a device's compute time"));
	build_free(&build);
}

static void devices_that_compute_alike_are_balanced(void **state)
{
	struct build build = two_ranks(180, 175);

	(void)state;
	assert_null(build_find(&build, "rank-imbalance", NULL));
	build_free(&build);
}

static void devices_that_never_meet_are_not_compared(void **state)
{
	struct build build = build_new(2);

	(void)state;
	build_kernel(&build, 0, "k", 0, 180);
	build_kernel(&build, 1, "k", 0, 20);
	assert_null(build_find(&build, "rank-imbalance", NULL));
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_collective_with_no_kernel_beside_can_hide_in_kernel_time),
		cmocka_unit_test(hiding_ends_where_kernel_time_does),
		cmocka_unit_test(a_collective_beside_a_kernel_is_hidden),
		cmocka_unit_test(collectives_with_a_kernel_beside_most_of_their_time_are_not_counted),
		cmocka_unit_test(an_exposed_collective_says_where_rows_are_lost),
		cmocka_unit_test(a_device_that_computes_longer_makes_the_others_wait),
		cmocka_unit_test(the_energy_of_waiting_devices_is_idle_energy_at_least),
		cmocka_unit_test(one_rank_that_is_slower_is_named_first),
		cmocka_unit_test(among_equal_ranks_none_is_named),
		cmocka_unit_test(an_imbalance_says_where_rows_are_lost),
		cmocka_unit_test(devices_that_compute_alike_are_balanced),
		cmocka_unit_test(devices_that_never_meet_are_not_compared),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
