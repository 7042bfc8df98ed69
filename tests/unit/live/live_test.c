/* SPDX-License-Identifier: Apache-2.0 */
#include "live/live.h"

#include "cmocka_all.h"

#include <math.h>
#include <string.h>

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)
#define START (1000 * SECOND)

static struct kwhy_error error;

/*
 * A simulated machine: a GPU with an energy counter, a buffer of power samples and a gauge of its utilisation
 * (busy), and a CPU package with a counter.
 */
struct machine {
	struct kwhy_sensors sensors;
	uint32_t counter, ring, busy, package;
	int64_t now_ns;
	double joules;		/* energy used since the start of the simulation */
	int64_t counter_offset; /* subtracted from the counter after a reset, mJ */
	double power_w;
	bool without_counter, without_ring;
};

static uint32_t add_source(struct machine *machine, struct kwhy_source_channel source, double updates_per_s)
{
	struct kwhy_sensor_request request = {0};
	uint32_t index;

	assert_int_equal(
		kwhy_sensors_add_source(&machine->sensors, &source, updates_per_s, &request, &index, &error),
		KWHY_OK);
	return index;
}

static void machine_make(struct machine *machine)
{
	struct kwhy_sensor_device device = {.name = "H200", .uuid = "GPU-1", .mig_index = -1};
	uint32_t index;

	machine->now_ns = START;
	assert_int_equal(kwhy_sensors_add_device(&machine->sensors, &device, &index, &error), KWHY_OK);
	if (!machine->without_counter)
		machine->counter = add_source(machine,
			(struct kwhy_source_channel){.kind = KWHY_SOURCE_METER,
				.meter = KWHY_METER_NVML_ENERGY,
				.period_ns = 100 * MS},
			10);
	if (!machine->without_ring)
		machine->ring = add_source(machine,
			(struct kwhy_source_channel){.kind = KWHY_SOURCE_METER,
				.meter = KWHY_METER_NVML_SAMPLE,
				.period_ns = 20 * MS},
			50);
	machine->busy = add_source(machine,
		(struct kwhy_source_channel){.kind = KWHY_SOURCE_GAUGE, .gauge = KWHY_GAUGE_BUSY}, 1);
	machine->package = add_source(machine,
		(struct kwhy_source_channel){.kind = KWHY_SOURCE_METER,
			.meter = KWHY_METER_RAPL_PACKAGE,
			.device = KWHY_SENSOR_NO_DEVICE,
			.period_ns = 100 * MS,
			.wrap = 1000000000},
		10);
}

static void machine_done(struct machine *machine)
{
	kwhy_arena_done(&machine->sensors.arena);
}

static void push(struct machine *machine, uint32_t source, int64_t value)
{
	kwhy_channel_push(
		&machine->sensors.sources[source].channel, (struct kwhy_reading){machine->now_ns, value});
}

/* Advances the time in steps of 20 ms. The meters show the power and energy without a delay. */
static void pass(struct machine *machine, int64_t length_ns)
{
	for (int64_t end_ns = machine->now_ns + length_ns; machine->now_ns < end_ns;) {
		machine->now_ns += 20 * MS;
		machine->joules += machine->power_w * 0.02;
		if (!machine->without_ring)
			push(machine, machine->ring, (int64_t)(machine->power_w * 1e3));
		if (machine->now_ns % (100 * MS))
			continue;
		if (!machine->without_counter)
			push(machine, machine->counter,
				llround(machine->joules * 1e3) - machine->counter_offset);
		push(machine, machine->package, llround(machine->joules * 1e6) % 1000000000);
	}
}

static struct kwhy_live *live_of(struct machine *machine)
{
	struct kwhy_live *live;

	assert_int_equal(kwhy_live_new(&machine->sensors, machine->now_ns, &live, &error), KWHY_OK);
	return live;
}

static const struct kwhy_live_snapshot *tick(struct machine *machine, struct kwhy_live *live)
{
	assert_int_equal(kwhy_live_tick(live, machine->now_ns, NULL, NAN, &error), KWHY_OK);
	return kwhy_live_snapshot(live);
}

/*
 * Advances the time by half_seconds updates of kwhy, one every 0.5 s. Checks at each that the energy has not
 * fallen. Returns the last snapshot.
 */
static const struct kwhy_live_snapshot *run(struct machine *machine, struct kwhy_live *live, int half_seconds)
{
	const struct kwhy_live_snapshot *snapshot = kwhy_live_snapshot(live);

	for (int i = 0; i < half_seconds; i++) {
		double before_j = snapshot->metered[0].energy_j;

		pass(machine, 500 * MS);
		snapshot = tick(machine, live);
		assert_false(snapshot->metered[0].energy_j < before_j);
	}
	return snapshot;
}

static void assert_near(double value, double wanted, double within)
{
	if (!(fabs(value - wanted) <= within))
		fail_msg("%g is not within %g of %g", value, within, wanted);
}

static void before_the_first_tick_everything_is_unknown(void **state)
{
	struct machine machine = {.power_w = 300};
	struct kwhy_live *live;
	const struct kwhy_live_snapshot *snapshot;

	(void)state;
	machine_make(&machine);
	live = live_of(&machine);
	snapshot = tick(&machine, live);
	assert_int_equal(snapshot->device_count, 1);
	assert_int_equal(snapshot->metered_count, 2);
	assert_ptr_equal(snapshot->devices[0].metered, &snapshot->metered[0]);
	assert_true(isnan(snapshot->metered[0].energy_j));
	assert_true(isnan(snapshot->metered[0].mean_w));
	assert_true(isnan(snapshot->metered[0].idle_j));
	assert_false(snapshot->devices[0].gauges[KWHY_GAUGE_BUSY].known);
	assert_true(isnan(snapshot->sources[0].age_s));
	kwhy_live_free(live);
	machine_done(&machine);
}

/*
 * The package draws 300 W, as the GPU does. In each half second its CPUs are busy for 0.25 s, of which kwhy's
 * threads take 1 ms: 1/250 of the package's energy is kwhy's.
 */
static void the_sampler_has_its_part_of_the_packages_energy(void **state)
{
	struct machine machine = {.power_w = 300};
	struct kwhy_sampler_cost cost = {0};
	const struct kwhy_live_snapshot *snapshot;
	struct kwhy_live *live;
	double before_j = 0;

	(void)state;
	machine_make(&machine);
	live = live_of(&machine);
	snapshot = kwhy_live_snapshot(live);
	for (int i = 0; i < 80; i++) {
		pass(&machine, 500 * MS);
		cost.cpu_ns += MS;
		assert_int_equal(kwhy_live_tick(live, machine.now_ns, &cost, 77 + 0.25 * i, &error), KWHY_OK);
		if (i < 4)
			assert_true(isnan(snapshot->cost.sampler_j));
		else if (i > 10)
			assert_false(snapshot->cost.sampler_j < before_j);
		before_j = snapshot->cost.sampler_j;
	}
	assert_near(snapshot->cost.sampler_j, 300 * 40 * 0.08 / 20, 4);
	kwhy_live_free(live);
	machine_done(&machine);
}

static void without_busy_time_the_samplers_energy_is_not_known(void **state)
{
	struct machine machine = {.power_w = 300};
	struct kwhy_sampler_cost cost = {.cpu_ns = MS};
	struct kwhy_live *live;

	(void)state;
	machine_make(&machine);
	live = live_of(&machine);
	for (int i = 0; i < 20; i++) {
		pass(&machine, 500 * MS);
		assert_int_equal(kwhy_live_tick(live, machine.now_ns, &cost, NAN, &error), KWHY_OK);
	}
	assert_true(isnan(kwhy_live_snapshot(live)->cost.sampler_j));
	kwhy_live_free(live);
	machine_done(&machine);
}

static void energy_adds_up_to_what_was_used_since_the_start(void **state)
{
	struct machine machine = {.power_w = 300};
	const struct kwhy_live_snapshot *snapshot;
	struct kwhy_live *live;

	(void)state;
	machine_make(&machine);
	pass(&machine, 2 * SECOND); /* before kwhy starts, so this energy does not count */
	live = live_of(&machine);
	machine.joules = 0;
	machine.counter_offset = -600000;
	snapshot = run(&machine, live, 20);
	machine.power_w = 700;
	snapshot = run(&machine, live, 20);
	assert_near(snapshot->metered[0].energy_j, 10000,
		80); /* the energy may lag by one update of the counter, 70 J */
	assert_near(snapshot->metered[0].mean_w, 700, 0.5);
	assert_near(snapshot->metered[0].low_w, 700, 0.5);
	assert_near(snapshot->since_start_s, 20, 1e-9);
	assert_int_equal(snapshot->sources[0].readings, 220);
	kwhy_live_free(live);
	machine_done(&machine);
}

/*
 * Simulates twenty minutes of changing power; the energy may not fall and must end within within_j of the
 * truth. Power samples come in batches. counter_steps: time between two updates of the counter, in steps of
 * 20 ms; ring_gain: ratio of samples to true power.
 */
static void follow(int counter_steps, double ring_gain, double within_j)
{
	struct machine machine = {.power_w = 120};
	struct kwhy_reading batch[64];
	const struct kwhy_live_snapshot *snapshot = NULL;
	struct kwhy_live *live;
	double before_j = 0;
	size_t waiting = 0;
	uint32_t seed = 1;

	machine_make(&machine);
	live = live_of(&machine);
	for (int step = 1; step <= 1200 * 50; step++) {
		seed = seed * 1664525 + 1013904223;
		if (seed >> 28 == 0)
			machine.power_w = 80 + (double)(seed >> 8 & 0xFFFF) / 65536 * 600;
		machine.now_ns += 20 * MS;
		machine.joules += machine.power_w * 0.02;
		batch[waiting++] = (struct kwhy_reading){
			machine.now_ns, (int64_t)(machine.power_w * 1e3 * ring_gain)};
		if (step % counter_steps == 0 || step == 5)
			push(&machine, machine.counter, llround(machine.joules * 1e3));
		for (size_t i = 0; step % 25 == 0 && i < waiting; i++)
			kwhy_channel_push(&machine.sensors.sources[machine.ring].channel, batch[i]);
		if (step % 25 == 0)
			waiting = 0;
		if (!(seed >> 20 & 1) || step % 17)
			continue;
		snapshot = tick(&machine, live);
		assert_false(snapshot->metered[0].energy_j < before_j);
		if (!isnan(snapshot->metered[0].energy_j))
			before_j = snapshot->metered[0].energy_j;
	}
	snapshot = tick(&machine, live);
	assert_near(snapshot->metered[0].energy_j, machine.joules, within_j);
	kwhy_live_free(live);
	machine_done(&machine);
}

static void energy_stays_with_a_counter_that_is_read_at_every_tick(void **state)
{
	(void)state;
	follow(5, 1, 80);
}

/* The counter is updated only every 20 s. Power samples are wrong by 0.5 %. */
static void energy_stays_with_a_counter_that_is_read_rarely(void **state)
{
	(void)state;
	follow(1000, 1.005, 150);
	follow(1000, 0.995, 150);
}

static void a_counter_goes_on_alone_when_the_samples_end(void **state)
{
	struct machine machine = {.power_w = 400};
	const struct kwhy_live_snapshot *snapshot;
	struct kwhy_live *live;

	(void)state;
	machine_make(&machine);
	live = live_of(&machine);
	run(&machine, live, 20);
	machine.without_ring = true;
	run(&machine, live, 8);
	for (int i = 0; i < 150; i++) {
		machine.power_w = i % 20 < 10 ? 400 : 100;
		snapshot = run(&machine, live, 1);
		assert_near(snapshot->metered[0].energy_j, machine.joules, 60);
	}
	kwhy_live_free(live);
	machine_done(&machine);
}

static void a_counter_that_is_reset_loses_nothing(void **state)
{
	struct machine machine = {.power_w = 400, .counter_offset = -1000000};
	const struct kwhy_live_snapshot *snapshot;
	struct kwhy_live *live;

	(void)state;
	machine_make(&machine);
	live = live_of(&machine);
	run(&machine, live, 11);
	pass(&machine, 260 * MS);
	machine.counter_offset = llround(machine.joules * 1e3);
	snapshot = run(&machine, live, 20);
	assert_near(snapshot->metered[0].energy_j, machine.joules, 100);
	kwhy_live_free(live);
	machine_done(&machine);
}

/*
 * One reading of the counter is 200 J too low: first the last one before an update of kwhy, then one between
 * two updates. The energy must not rise by that when the counter is right again.
 */
static void a_counter_that_dips_in_one_reading_counts_nothing_more(void **state)
{
	(void)state;
	for (int before_tick = 0; before_tick < 2; before_tick++) {
		struct machine machine = {.power_w = 400, .counter_offset = -1000000};
		const struct kwhy_live_snapshot *snapshot;
		struct kwhy_live *live;

		machine_make(&machine);
		live = live_of(&machine);
		run(&machine, live, 11);
		pass(&machine, before_tick ? 400 * MS : 200 * MS);
		machine.counter_offset += 200000;
		pass(&machine, 100 * MS);
		machine.counter_offset -= 200000;
		pass(&machine, before_tick ? 0 : 200 * MS);
		tick(&machine, live);
		snapshot = run(&machine, live, 20);
		assert_near(snapshot->metered[0].energy_j, machine.joules, 100);
		kwhy_live_free(live);
		machine_done(&machine);
	}
}

static void a_counter_of_the_host_that_wraps_loses_nothing(void **state)
{
	struct machine machine = {.power_w = 200, .joules = 990};
	const struct kwhy_live_snapshot *snapshot;
	struct kwhy_live *live;

	(void)state;
	machine_make(&machine);
	live = live_of(&machine);
	snapshot = run(&machine, live, 40);
	assert_int_equal(snapshot->metered[1].kind, KWHY_METERED_HOST);
	assert_string_equal(snapshot->metered[1].name, "rapl.package-0");
	assert_near(snapshot->metered[1].energy_j, 4000, 60);
	assert_near(snapshot->metered[1].mean_w, 200, 1);
	assert_true(isnan(snapshot->metered[1].low_w));
	assert_true(snapshot->metered[1].history_count > 30);
	kwhy_live_free(live);
	machine_done(&machine);
}

static void energy_without_a_counter_is_the_integral_of_the_powers(void **state)
{
	struct machine machine = {.power_w = 250, .without_counter = true};
	const struct kwhy_live_snapshot *snapshot;
	struct kwhy_live *live;

	(void)state;
	machine_make(&machine);
	live = live_of(&machine);
	snapshot = run(&machine, live, 40);
	assert_near(snapshot->metered[0].energy_j, 5000, 30);
	kwhy_live_free(live);
	machine_done(&machine);
}

static void energy_while_nothing_runs_is_counted_apart(void **state)
{
	struct machine machine = {.power_w = 120};
	const struct kwhy_live_snapshot *snapshot;
	struct kwhy_live *live;

	(void)state;
	machine_make(&machine);
	live = live_of(&machine);
	push(&machine, machine.busy, 0);
	run(&machine, live, 20);
	push(&machine, machine.busy, 950);
	machine.power_w = 600;
	snapshot = run(&machine, live, 20);
	assert_near(snapshot->metered[0].energy_j, 7200, 80);
	assert_near(snapshot->metered[0].idle_j, 1200, 20);
	assert_true(snapshot->devices[0].gauges[KWHY_GAUGE_BUSY].known);
	assert_int_equal(snapshot->devices[0].gauges[KWHY_GAUGE_BUSY].value, 950);
	kwhy_live_free(live);
	machine_done(&machine);
}

static void the_history_has_a_step_every_half_second_and_ends(void **state)
{
	struct machine machine = {.power_w = 100};
	const struct kwhy_live_snapshot *snapshot;
	struct kwhy_live *live;

	(void)state;
	machine_make(&machine);
	live = live_of(&machine);
	snapshot = run(&machine, live, 10);
	assert_in_range(snapshot->metered[0].history_count, 9, 10);
	machine.power_w = 300;
	snapshot = run(&machine, live, 700);
	assert_int_equal(snapshot->metered[0].history_count, KWHY_LIVE_STEPS);
	for (size_t i = 0; i < KWHY_LIVE_STEPS; i++)
		assert_near((double)snapshot->metered[0].history_w[i], 300, 0.5);
	kwhy_live_free(live);
	machine_done(&machine);
}

static void powers_and_gauges_that_stopped_coming_say_nothing_of_now(void **state)
{
	struct machine machine = {.power_w = 300};
	const struct kwhy_live_snapshot *snapshot;
	struct kwhy_live *live;

	(void)state;
	machine_make(&machine);
	live = live_of(&machine);
	push(&machine, machine.busy, 500);
	run(&machine, live, 10);
	machine.now_ns += 200 * SECOND;
	atomic_store(&machine.sensors.devices[0].lost, true);
	snapshot = tick(&machine, live);
	assert_true(snapshot->devices[0].lost);
	assert_true(isnan(snapshot->metered[0].mean_w));
	assert_false(snapshot->devices[0].gauges[KWHY_GAUGE_BUSY].known);
	assert_near(snapshot->sources[0].age_s, 200, 0.1);
	assert_near(snapshot->metered[0].energy_j, 1500, 40);
	kwhy_live_free(live);
	machine_done(&machine);
}

static void count_call(void *context, const struct kwhy_live_readings *readings)
{
	(void)readings;
	++*(int *)context;
}

static void without_new_readings_nothing_is_computed_until_they_are_old(void **state)
{
	struct machine machine = {.power_w = 300};
	const struct kwhy_live_snapshot *snapshot;
	struct kwhy_live *live;
	double energy_j;
	int calls = 0;

	(void)state;
	machine_make(&machine);
	live = live_of(&machine);
	snapshot = run(&machine, live, 10);
	energy_j = snapshot->metered[0].energy_j;
	kwhy_live_set_follower(live, count_call, &calls);
	for (int i = 0; i < 5; i++) {
		machine.now_ns += 500 * MS;
		tick(&machine, live);
		assert_int_equal(calls, 0);
		assert_near(snapshot->metered[0].mean_w, 300, 0.1);
		assert_true(snapshot->metered[0].energy_j == energy_j);
	}
	machine.now_ns += SECOND;
	tick(&machine, live);
	assert_true(isnan(snapshot->metered[0].mean_w));
	assert_true(snapshot->metered[0].energy_j == energy_j);
	calls = 0;
	run(&machine, live, 1);
	assert_int_equal(calls, snapshot->metered_count);
	assert_near(snapshot->metered[0].mean_w, 300, 0.1);
	kwhy_live_free(live);
	machine_done(&machine);
}

static void a_gauge_that_is_read_rarely_is_shown_for_three_of_its_periods(void **state)
{
	struct machine machine = {.power_w = 300};
	const struct kwhy_live_snapshot *snapshot;
	struct kwhy_live *live;

	(void)state;
	machine_make(&machine);
	machine.sensors.sources[machine.busy].period_ns = 100 * SECOND;
	live = live_of(&machine);
	push(&machine, machine.busy, 500);
	machine.now_ns += 250 * SECOND;
	snapshot = tick(&machine, live);
	assert_true(snapshot->devices[0].gauges[KWHY_GAUGE_BUSY].known);
	machine.now_ns += 60 * SECOND;
	snapshot = tick(&machine, live);
	assert_false(snapshot->devices[0].gauges[KWHY_GAUGE_BUSY].known);
	kwhy_live_free(live);
	machine_done(&machine);
}

static void a_gauge_that_is_refused_is_unknown_at_once(void **state)
{
	struct machine machine = {.power_w = 300};
	const struct kwhy_live_snapshot *snapshot;
	struct kwhy_live *live;

	(void)state;
	machine_make(&machine);
	live = live_of(&machine);
	push(&machine, machine.busy, 500);
	atomic_store(&machine.sensors.sources[machine.busy].refused, true);
	snapshot = tick(&machine, live);
	assert_false(snapshot->devices[0].gauges[KWHY_GAUGE_BUSY].known);
	atomic_store(&machine.sensors.sources[machine.busy].refused, false);
	snapshot = tick(&machine, live);
	assert_true(snapshot->devices[0].gauges[KWHY_GAUGE_BUSY].known);
	kwhy_live_free(live);
	machine_done(&machine);
}

static void gauges_of_a_device_that_is_lost_are_unknown_at_once(void **state)
{
	struct machine machine = {.power_w = 300};
	const struct kwhy_live_snapshot *snapshot;
	struct kwhy_live *live;

	(void)state;
	machine_make(&machine);
	live = live_of(&machine);
	push(&machine, machine.busy, 500);
	snapshot = tick(&machine, live);
	assert_true(snapshot->devices[0].gauges[KWHY_GAUGE_BUSY].known);
	atomic_store(&machine.sensors.devices[0].lost, true);
	snapshot = tick(&machine, live);
	assert_false(snapshot->devices[0].gauges[KWHY_GAUGE_BUSY].known);
	kwhy_live_free(live);
	machine_done(&machine);
}

static void what_is_not_there_is_handed_on_in_words(void **state)
{
	struct machine machine = {.power_w = 300};
	struct kwhy_live *live;

	(void)state;
	machine_make(&machine);
	assert_int_equal(
		kwhy_sensors_add_absence(&machine.sensors, "rapl", &error, "no CPU energy"), KWHY_OK);
	live = live_of(&machine);
	assert_int_equal(kwhy_live_snapshot(live)->absence_count, 1);
	assert_string_equal(kwhy_live_snapshot(live)->absences[0].text, "no CPU energy");
	kwhy_live_free(live);
	machine_done(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_the_first_tick_everything_is_unknown),
		cmocka_unit_test(the_sampler_has_its_part_of_the_packages_energy),
		cmocka_unit_test(without_busy_time_the_samplers_energy_is_not_known),
		cmocka_unit_test(energy_adds_up_to_what_was_used_since_the_start),
		cmocka_unit_test(energy_stays_with_a_counter_that_is_read_at_every_tick),
		cmocka_unit_test(energy_stays_with_a_counter_that_is_read_rarely),
		cmocka_unit_test(a_counter_goes_on_alone_when_the_samples_end),
		cmocka_unit_test(a_counter_that_is_reset_loses_nothing),
		cmocka_unit_test(a_counter_that_dips_in_one_reading_counts_nothing_more),
		cmocka_unit_test(a_counter_of_the_host_that_wraps_loses_nothing),
		cmocka_unit_test(energy_without_a_counter_is_the_integral_of_the_powers),
		cmocka_unit_test(energy_while_nothing_runs_is_counted_apart),
		cmocka_unit_test(the_history_has_a_step_every_half_second_and_ends),
		cmocka_unit_test(powers_and_gauges_that_stopped_coming_say_nothing_of_now),
		cmocka_unit_test(without_new_readings_nothing_is_computed_until_they_are_old),
		cmocka_unit_test(a_gauge_that_is_read_rarely_is_shown_for_three_of_its_periods),
		cmocka_unit_test(a_gauge_that_is_refused_is_unknown_at_once),
		cmocka_unit_test(gauges_of_a_device_that_is_lost_are_unknown_at_once),
		cmocka_unit_test(what_is_not_there_is_handed_on_in_words),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
