/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "sensor/nvml/update.h"

#include <stdlib.h>

#define MS INT64_C(1000000)

/*
 * A simulated counter. It is updated at known times, and read at the times that the code under test asks for.
 * worst_ns: largest error of an update's time that this code reported.
 */
struct world {
	int64_t period_ns, phase_ns, jitter_ns, call_ns, slow_ns, late_ns, late_one_in;
	int64_t renewal_ns; /* length of the first read after an update, ns; 0: like other reads */
	struct kwhy_nvml_update update;
	int64_t now_ns, value;
	uint64_t random;
	int64_t reported, reads, worst_ns, last_edge_ns;
};

static int64_t draw(struct world *world, int64_t most)
{
	world->random = world->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return most > 0 ? (int64_t)(world->random >> 33) % most : 0;
}

/*
 * Returns the time of the counter's update with this number, ns. The jitter is pseudo-random, but the same in
 * each call with the same number.
 */
static int64_t edge_ns(const struct world *world, int64_t number)
{
	struct world seeded = {.random = (uint64_t)number * 2654435761U};
	int64_t jitter = world->jitter_ns ? draw(&seeded, 2 * world->jitter_ns) - world->jitter_ns : 0;

	return world->phase_ns + number * world->period_ns + jitter;
}

static int64_t ticks_before(const struct world *world, int64_t time_ns)
{
	int64_t number = (time_ns - world->phase_ns) / world->period_ns + 2;

	while (edge_ns(world, number) > time_ns)
		number--;
	return number;
}

static void read_once(struct world *world)
{
	int64_t begin = world->now_ns, end = begin + world->call_ns, value, reported_ns;
	bool changed;

	if (draw(world, 10) == 0)
		end += draw(world, world->slow_ns + 1);
	if (world->renewal_ns && ticks_before(world, end) != world->value)
		end = begin + world->renewal_ns;
	value = ticks_before(
		world, world->slow_ns ? begin + draw(world, end - begin) : begin + world->call_ns / 2);
	changed = value != world->value;
	world->value = value;
	world->reads++;
	if (kwhy_nvml_update_read(&world->update, begin, end, changed, &reported_ns)) {
		int64_t off_ns = llabs(reported_ns - edge_ns(world, value));

		world->worst_ns = off_ns > world->worst_ns ? off_ns : world->worst_ns;
		assert_true(reported_ns > world->last_edge_ns);
		assert_true(off_ns <= world->update.reported_unsure_ns + 2 * MS ||
			world->update.phase == KWHY_NVML_UPDATE_FAST);
		world->last_edge_ns = reported_ns;
		world->reported++;
	}
	assert_true(world->update.next_ns > begin);
	world->now_ns = world->update.next_ns > end ? world->update.next_ns : end;
	if (draw(world, world->late_one_in) == 0)
		world->now_ns += draw(world, world->late_ns + 1);
}

static void run_for(struct world *world, int64_t length_ns)
{
	int64_t until_ns = world->now_ns + length_ns;

	world->reported = world->reads = world->worst_ns = 0;
	while (world->now_ns < until_ns)
		read_once(world);
}

static struct world new_world(int64_t period_ns)
{
	return (struct world){
		.period_ns = period_ns,
		.phase_ns = 31 * MS,
		.call_ns = MS / 10,
		.late_ns = MS / 10,
		.now_ns = 5000 * MS,
		.update = {.wanted_ns = 100 * MS},
	};
}

static void ticks_of_an_h200_are_all_caught_when_asked_for(void **state)
{
	struct world world = new_world(100 * MS);

	(void)state;
	world.jitter_ns = MS / 25;
	run_for(&world, 1000 * MS);
	assert_in_range(world.reported, 8, 10);
	run_for(&world, 60000 * MS);
	assert_in_range(world.reported, 599, 601);
	assert_in_range(world.reads, 600, 2600);
	assert_true(world.worst_ns < 3 * MS / 2);
}

static void slow_calls_make_edges_less_sure_but_do_not_lose_them(void **state)
{
	struct world world = new_world(100 * MS);

	(void)state;
	world.call_ns = 3 * MS;
	world.late_ns = MS;
	run_for(&world, 1000 * MS);
	run_for(&world, 30000 * MS);
	assert_in_range(world.reported, 299, 301);
	assert_in_range(world.reads, 300, 900);
	assert_true(world.worst_ns < 6 * MS);
}

/*
 * Reads take as long as on an H200: 3.2 ms in the median, and one in ten up to 15 ms. The value that a read
 * returns is that of a random time during the read.
 */
static void rare_catches_keep_the_grid_of_an_h200(void **state)
{
	struct world world = new_world(100030000);
	int64_t reported;

	(void)state;
	world.update.wanted_ns = 20000 * MS;
	world.jitter_ns = MS / 5;
	world.call_ns = 16 * MS / 5;
	world.slow_ns = 12 * MS;
	world.late_ns = MS;
	run_for(&world, 20000 * MS);
	assert_in_range(world.reported, 3, 20);
	run_for(&world, 600000 * MS);
	reported = world.reported;
	assert_in_range(reported, 28, 65);
	assert_true(world.reads < 30 * 8);
	assert_true(world.worst_ns < 8 * MS);
	for (int i = 0; i < 20; i++) { /* unscheduled reads, 40 ms after an update */
		world.now_ns = edge_ns(&world, ticks_before(&world, world.now_ns) + 3) + 40 * MS;
		world.reported = 0;
		read_once(&world);
		assert_int_equal(world.reported, 1);
	}
	assert_true(world.worst_ns < 8 * MS);
}

/*
 * Reads take as long as on a busy H200: 2.4 ms, and 14 ms for the first read after an update. The time of an
 * update must be found all the same.
 */
static void edges_of_a_busy_h200_are_caught_in_the_long_reads_they_cause(void **state)
{
	struct world world = new_world(100 * MS);

	(void)state;
	world.update.wanted_ns = 20000 * MS;
	world.call_ns = 12 * MS / 5;
	world.renewal_ns = 14 * MS;
	run_for(&world, 1000 * MS);
	assert_in_range(world.reported, 1, 10);
	run_for(&world, 120000 * MS);
	assert_in_range(world.reported, 7, 40);
	assert_true(world.reads < 30 * 10);
	assert_true(world.worst_ns < 12 * MS);
	for (int i = 0; i < 20; i++) { /* unscheduled reads, 50 ms after an update */
		run_for(&world, 500 * MS);
		world.now_ns = edge_ns(&world, ticks_before(&world, world.now_ns) + 2) + 50 * MS;
		world.reported = 0;
		read_once(&world);
		assert_int_equal(world.reported, 1);
	}
}

/* Simulates length_ns. Returns the longest time between two updates that were reported, ns. */
static int64_t longest_silence_ns(struct world *world, int64_t length_ns)
{
	const int64_t until_ns = world->now_ns + length_ns;
	int64_t before_ns = world->now_ns, longest_ns = 0;

	world->reported = world->reads = world->worst_ns = 0;
	while (world->now_ns < until_ns) {
		const int64_t reported = world->reported;

		read_once(world);
		if (world->reported == reported)
			continue;
		longest_ns = world->last_edge_ns - before_ns > longest_ns ? world->last_edge_ns - before_ns
									  : longest_ns;
		before_ns = world->last_edge_ns;
	}
	return longest_ns;
}

/*
 * Reads take as long as on a busy H200. The counter's period differs from 100 ms by up to 0.004 %, and the
 * reading thread may be up to 3 ms late. An update is wanted every 20 s, and its exact time is searched for
 * (with several reads) only every 300 s; between, single reads must suffice.
 */
static void single_reads_between_catches_report_as_often_with_few_reads(void **state)
{
	static const int64_t periods_ns[] = {100000000, 100003000, 99996000};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct world world = new_world(periods_ns[i]);

		world.update.wanted_ns = 20000 * MS;
		world.update.catch_ns = 300000 * MS;
		world.jitter_ns = MS / 5;
		world.call_ns = 12 * MS / 5;
		world.renewal_ns = 14 * MS;
		world.late_ns = 3 * MS;
		run_for(&world, 600000 * MS);
		assert_true(longest_silence_ns(&world, 3600000 * MS) < 22000 * MS);
		assert_true(world.worst_ns < 12 * MS);
		assert_in_range(world.reads, 3600 / 20 - 8, 3600 / 20 + 3600 / 300 * 12);
	}
}

static void a_single_read_that_shows_no_certain_update_is_repeated(void **state)
{
	struct world world = new_world(100 * MS);
	int64_t asked_ns;

	(void)state;
	world.update.wanted_ns = 20000 * MS;
	world.update.catch_ns = 300000 * MS;
	run_for(&world, 600000 * MS);
	while (world.update.next_ns >= world.update.catch_at_ns)
		read_once(&world);
	asked_ns = world.now_ns + 50 * MS; /* 50 ms late, so that the counter changes during the read */
	world.now_ns = asked_ns;
	world.reported = 0;
	read_once(&world);
	assert_int_equal(world.reported, 0);
	assert_int_equal(world.update.phase, KWHY_NVML_UPDATE_WAIT);
	assert_in_range(world.update.next_ns - asked_ns, 900 * MS, 1200 * MS);
	read_once(&world);
	assert_int_equal(world.reported, 1);
}

static void a_period_that_is_not_quite_100_ms_is_learnt(void **state)
{
	static const int64_t periods_ns[] = {99970000, 100050000, 101500000, 83333333};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct world world = new_world(periods_ns[i]);

		run_for(&world, 2000 * MS);
		run_for(&world, 60000 * MS);
		assert_in_range(
			world.reported, 60000 * MS / periods_ns[i] - 1, 60000 * MS / periods_ns[i] + 1);
		assert_true(world.worst_ns < 3 * MS / 2);
	}
}

static void a_reader_that_often_comes_late_tells_no_wrong_edge(void **state)
{
	struct world world = new_world(100 * MS);

	(void)state;
	run_for(&world, 1000 * MS);
	world.late_ns = 350 * MS;
	world.late_one_in = 4;
	run_for(&world, 60000 * MS);
	assert_true(world.reported > 100);
	assert_true(world.worst_ns < 8 * MS);
}

/*
 * From its first read on the thread is delayed, between and within reads. It derives the counter's period
 * from the first two updates that it finds, which is wrong if it missed an update between them. It must not
 * report a wrong time of an update even so.
 */
static void a_reader_that_is_held_up_from_the_start_tells_no_wrong_edge(void **state)
{
	static const int64_t wanted_ns[] = {100 * MS, 20000 * MS}, late_ns[] = {60 * MS, 150 * MS, 350 * MS};
	int64_t reported = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 6000; seed++) {
		struct world world = new_world(100 * MS);

		world.random = seed * 2654435761U;
		world.update.wanted_ns = wanted_ns[seed % 2];
		world.late_ns = late_ns[seed % 3];
		world.late_one_in = 1 + (int64_t)(seed / 6 % 8) * 4;
		world.slow_ns = seed % 5 ? 0 : 120 * MS;
		world.phase_ns = draw(&world, 100 * MS);
		run_for(&world, 4000 * MS);
		reported += world.reported;
	}
	assert_true(reported > 6000);
}

static void a_phase_that_jumps_is_found_again(void **state)
{
	struct world world = new_world(100 * MS);

	(void)state;
	run_for(&world, 3000 * MS);
	world.phase_ns += 41 * MS;
	run_for(&world, 2000 * MS);
	run_for(&world, 20000 * MS);
	assert_in_range(world.reported, 199, 201);
	assert_true(world.worst_ns < 2 * MS);
}

static void a_counter_that_ticks_often_is_read_as_seldom(void **state)
{
	struct world world = new_world(20 * MS);

	(void)state;
	run_for(&world, 2000 * MS);
	run_for(&world, 30000 * MS);
	assert_in_range(world.reported, 290, 480);
	assert_in_range(world.reads, 290, 1500);
	assert_true(world.worst_ns < 2 * MS);
}

static void a_counter_too_fast_to_resolve_is_read_ten_times_a_second(void **state)
{
	struct world world = new_world(MS);

	(void)state;
	run_for(&world, 3000 * MS);
	assert_int_equal(world.update.phase, KWHY_NVML_UPDATE_FAST);
	run_for(&world, 10000 * MS);
	assert_in_range(world.reported, 98, 101);
	assert_in_range(world.reads, 98, 101);
}

static void a_counter_that_stands_still_is_read_four_times_a_second_and_found_when_it_moves(void **state)
{
	struct world world = new_world(INT64_C(1) << 50);

	(void)state;
	run_for(&world, 2000 * MS);
	assert_int_equal(world.update.phase, KWHY_NVML_UPDATE_STILL);
	run_for(&world, 10000 * MS);
	assert_int_equal(world.reported, 0);
	assert_in_range(world.reads, 39, 41);
	world.period_ns = 100 * MS;
	run_for(&world, 3000 * MS);
	run_for(&world, 10000 * MS);
	assert_in_range(world.reported, 99, 101);
}

static void a_counter_that_stands_still_is_found_by_a_reader_that_always_comes_late(void **state)
{
	struct world world = new_world(INT64_C(1) << 50);

	(void)state;
	for (int i = 0; i < 30; i++) {
		read_once(&world);
		world.now_ns += 50 * MS;
	}
	assert_int_equal(world.update.phase, KWHY_NVML_UPDATE_STILL);
	assert_int_equal(world.reported, 0);
}

/*
 * In a whole second reads come 52 ms apart, too late to follow each other closely; only the last one comes 20
 * ms after the read before it, and finds a change. One such change is no proof of a counter that changes
 * between any two reads (phase FAST).
 */
static void one_change_behind_late_reads_is_no_fast_counter(void **state)
{
	struct kwhy_nvml_update update = {.wanted_ns = 500 * MS};
	int64_t now_ns = 5000 * MS, edge_ns;

	(void)state;
	for (int i = 0; i < 20; i++, now_ns += 52 * MS)
		assert_false(kwhy_nvml_update_read(&update, now_ns, now_ns + MS, false, &edge_ns));
	now_ns -= 32 * MS;
	(void)kwhy_nvml_update_read(&update, now_ns, now_ns + MS, true, &edge_ns);
	assert_int_not_equal(update.phase, KWHY_NVML_UPDATE_FAST);
}

static void reads_at_any_other_time_do_no_harm(void **state)
{
	struct world world = new_world(100 * MS);

	(void)state;
	run_for(&world, 1000 * MS);
	for (int i = 0; i < 500; i++) {
		int64_t asked_ns = world.update.next_ns;

		if (world.now_ns < asked_ns)
			world.now_ns -= draw(&world, (asked_ns - world.last_edge_ns) / 2);
		read_once(&world);
	}
	assert_true(world.worst_ns < 5 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_of_an_h200_are_all_caught_when_asked_for),
		cmocka_unit_test(slow_calls_make_edges_less_sure_but_do_not_lose_them),
		cmocka_unit_test(rare_catches_keep_the_grid_of_an_h200),
		cmocka_unit_test(edges_of_a_busy_h200_are_caught_in_the_long_reads_they_cause),
		cmocka_unit_test(single_reads_between_catches_report_as_often_with_few_reads),
		cmocka_unit_test(a_single_read_that_shows_no_certain_update_is_repeated),
		cmocka_unit_test(a_period_that_is_not_quite_100_ms_is_learnt),
		cmocka_unit_test(a_reader_that_often_comes_late_tells_no_wrong_edge),
		cmocka_unit_test(a_reader_that_is_held_up_from_the_start_tells_no_wrong_edge),
		cmocka_unit_test(a_phase_that_jumps_is_found_again),
		cmocka_unit_test(a_counter_that_ticks_often_is_read_as_seldom),
		cmocka_unit_test(a_counter_too_fast_to_resolve_is_read_ten_times_a_second),
		cmocka_unit_test(
			a_counter_that_stands_still_is_read_four_times_a_second_and_found_when_it_moves),
		cmocka_unit_test(a_counter_that_stands_still_is_found_by_a_reader_that_always_comes_late),
		cmocka_unit_test(one_change_behind_late_reads_is_no_fast_counter),
		cmocka_unit_test(reads_at_any_other_time_do_no_harm),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
