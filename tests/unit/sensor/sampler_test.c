/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "fake_clock.h"

#include "sensor/sampler.h"

#include <math.h>
#include <string.h>

#define MS INT64_C(1000000)
#define START (1000 * MS)

/*
 * A reading task that records when it ran. spend_ns: simulated length of its next read; ask_after_ns: delay
 * after which it asks to run again, 0: after its period.
 */
struct probe {
	struct fake_clock *fake;
	int64_t times_ns[256], spend_ns, ask_after_ns;
	size_t count;
};

static int64_t probe_read(void *state, uint32_t argument, int64_t now_mono_ns)
{
	struct probe *probe = state;
	int64_t spend_ns = probe->spend_ns;

	(void)argument;
	probe->times_ns[probe->count++ % 256] = now_mono_ns;
	probe->spend_ns = 0;
	fake_spend(probe->fake, spend_ns);
	return probe->ask_after_ns ? now_mono_ns + probe->ask_after_ns : 0;
}

struct bench {
	struct fake_clock fake;
	struct probe probes[2];
	struct kwhy_sensor_task tasks[2];
	struct kwhy_sensors sensors;
	struct kwhy_sampler *sampler;
	struct kwhy_error error;
};

static int setup(void **state)
{
	static struct bench bench;

	memset(&bench, 0, sizeof(bench));
	fake_clock_init(&bench.fake, START, 5000 * MS);
	for (size_t i = 0; i < 2; i++) {
		bench.probes[i].fake = &bench.fake;
		bench.tasks[i] = (struct kwhy_sensor_task){
			"probe", &bench.probes[i], 0, 100 * MS, probe_read};
	}
	bench.tasks[1].period_ns = 250 * MS;
	bench.sensors.tasks = bench.tasks;
	bench.sensors.task_count = 2;
	*state = &bench;
	return 0;
}

static int teardown(void **state)
{
	struct bench *bench = *state;

	fake_clock_done(&bench->fake);
	return 0;
}

static void start(struct bench *bench)
{
	assert_int_equal(
		kwhy_sampler_start(&bench->sensors, &bench->fake.clock, &bench->sampler, &bench->error),
		KWHY_OK);
}

static void tasks_run_at_once_and_then_on_their_own_grid(void **state)
{
	struct bench *bench = *state;
	struct kwhy_sampler_cost cost;

	start(bench);
	fake_run_to(&bench->fake, START + 1000 * MS);
	assert_int_equal(bench->probes[0].count, 11);
	assert_int_equal(bench->probes[1].count, 5);
	for (int i = 0; i <= 10; i++)
		assert_int_equal(bench->probes[0].times_ns[i], START + i * 100 * MS);
	assert_int_equal(bench->probes[1].times_ns[4], START + 1000 * MS);
	kwhy_sampler_stop(bench->sampler, &cost);
	assert_int_equal(cost.reads, 11 + 5 + 2);
	assert_int_equal(cost.missed, 0);
	assert_int_equal(cost.running_ns, 1000 * MS);
	assert_int_equal(cost.started_mono_ns, START);
}

static void a_time_that_a_task_asks_for_goes_before_its_period(void **state)
{
	struct bench *bench = *state;

	bench->probes[0].ask_after_ns = 7 * MS;
	start(bench);
	fake_run_to(&bench->fake, START + 70 * MS);
	assert_int_equal(bench->probes[0].count, 11);
	assert_int_equal(bench->probes[0].times_ns[10], START + 70 * MS);
	kwhy_sampler_stop(bench->sampler, NULL);
}

static void a_task_that_wants_nothing_more_runs_only_when_flushed(void **state)
{
	struct bench *bench = *state;

	bench->probes[0].ask_after_ns = INT64_MAX - 10 * START;
	start(bench);
	fake_run_to(&bench->fake, START + 5000 * MS);
	assert_int_equal(bench->probes[0].count, 1);
	kwhy_sampler_flush(bench->sampler);
	assert_int_equal(bench->probes[0].count, 2);
	kwhy_sampler_stop(bench->sampler, NULL);
	assert_int_equal(bench->probes[0].count, 3);
}

static void deadlines_missed_in_a_slow_read_are_skipped_and_counted(void **state)
{
	struct bench *bench = *state;
	struct kwhy_sampler_cost cost;

	bench->probes[0].spend_ns = 330 * MS;
	start(bench);
	fake_run_to(&bench->fake, START + 600 * MS);
	assert_int_equal(bench->probes[0].times_ns[1], START + 400 * MS);
	assert_int_equal(bench->probes[1].times_ns[0], START + 330 * MS);
	kwhy_sampler_stop(bench->sampler, &cost);
	assert_int_equal(cost.missed, 4); /* three of task 0, one of task 1 */
	assert_int_equal(cost.longest_read_ns, 330 * MS);
}

static void a_flush_reads_everything_and_moves_no_deadline(void **state)
{
	struct bench *bench = *state;

	start(bench);
	fake_run_to(&bench->fake, START + 30 * MS);
	kwhy_sampler_flush(bench->sampler);
	assert_int_equal(bench->probes[0].times_ns[1], START + 30 * MS);
	assert_int_equal(bench->probes[1].times_ns[1], START + 30 * MS);
	fake_run_to(&bench->fake, START + 100 * MS);
	assert_int_equal(bench->probes[0].times_ns[2], START + 100 * MS);
	assert_int_equal(bench->probes[1].count, 2);
	kwhy_sampler_stop(bench->sampler, NULL);
}

static void the_clocks_drift_is_told_after_ten_seconds_and_not_before(void **state)
{
	struct bench *bench = *state;
	struct kwhy_sampler_cost cost;

	start(bench);
	fake_run_to(&bench->fake, START + 5000 * MS);
	kwhy_sampler_cost(bench->sampler, &cost);
	assert_true(isnan(cost.drift_ratio));
	fake_set_offset(&bench->fake, 5000 * MS + 200000);
	fake_run_to(&bench->fake, START + 20000 * MS);
	kwhy_sampler_stop(bench->sampler, &cost);
	assert_float_equal(cost.drift_ratio, 1e-5, 1e-9);
	assert_int_equal(cost.step_ns, 0);
	assert_int_equal(cost.first.offset_ns, 5000 * MS);
	assert_int_equal(cost.last.offset_ns, 5000 * MS + 200000);
}

static void a_clock_that_is_set_is_a_step_and_no_drift(void **state)
{
	struct bench *bench = *state;
	struct kwhy_sampler_cost cost;

	start(bench);
	fake_run_to(&bench->fake, START + 5000 * MS);
	fake_set_offset(&bench->fake, 2000 * MS);
	fake_run_to(&bench->fake, START + 10000 * MS);
	fake_set_offset(&bench->fake, 2050 * MS);
	fake_run_to(&bench->fake, START + 20000 * MS);
	kwhy_sampler_stop(bench->sampler, &cost);
	assert_int_equal(cost.step_ns, 3000 * MS);
	assert_float_equal(cost.drift_ratio, 0, 0);
}

static void sensors_without_tasks_can_be_sampled_too(void **state)
{
	struct bench *bench = *state;
	struct kwhy_sampler_cost cost;

	bench->sensors.task_count = 0;
	start(bench);
	kwhy_sampler_flush(bench->sampler);
	kwhy_sampler_stop(bench->sampler, &cost);
	assert_int_equal(cost.reads, 0);
}

static void on_this_machine_s_clock_a_sleeper_is_woken_at_once(void **state)
{
	struct bench *bench = *state;
	struct kwhy_sampler_cost cost;

	bench->tasks[0].period_ns = bench->tasks[1].period_ns = INT64_C(3600000) * MS;
	assert_int_equal(kwhy_sampler_start(&bench->sensors, NULL, &bench->sampler, &bench->error), KWHY_OK);
	kwhy_sampler_flush(bench->sampler);
	kwhy_sampler_flush(bench->sampler);
	kwhy_sampler_stop(bench->sampler, &cost);
	assert_in_range(cost.reads, 6, 8); /* two tasks; 3 or 4 rounds, as a flush may be the first */
	assert_true(cost.cpu_ns > 0);
	assert_true(cost.last.offset_ns > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(tasks_run_at_once_and_then_on_their_own_grid),
		TEST(a_time_that_a_task_asks_for_goes_before_its_period),
		TEST(a_task_that_wants_nothing_more_runs_only_when_flushed),
		TEST(deadlines_missed_in_a_slow_read_are_skipped_and_counted),
		TEST(a_flush_reads_everything_and_moves_no_deadline),
		TEST(the_clocks_drift_is_told_after_ten_seconds_and_not_before),
		TEST(a_clock_that_is_set_is_a_step_and_no_drift),
		TEST(sensors_without_tasks_can_be_sampled_too),
		TEST(on_this_machine_s_clock_a_sleeper_is_woken_at_once),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
