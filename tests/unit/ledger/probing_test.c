/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/probing.h"

#include "model/run_energy.h"
#include "unit/ledger/metered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_W 120.0
#define CLEAN_W 80.0
#define LONG_W 500.0
#define SHORT_W 300.0
#define COPY_W 350.0

enum {
	CYCLES = 24,
	LOOPS = 40,
	REPEATS = 60,
	COPIES = 2,
	RUNS_MAX = CYCLES * (2 * LOOPS + 1 + REPEATS + COPIES) + 1
};

static const struct metered_level levels[] = {{0, IDLE_W}};

struct made {
	struct metered_run runs[RUNS_MAX];
	uint8_t origin[RUNS_MAX];
	size_t count, burst_count;
	struct kwhy_burst bursts[CYCLES];
	double now_s;
};

static void add_run(struct made *made, const char *name, double power_w, enum kwhy_activity_origin origin)
{
	made->runs[made->count] = (struct metered_run){made->now_s, made->now_s + 1e-3, power_w, name};
	made->origin[made->count++] = (uint8_t)origin;
	made->now_s += 1e-3;
}

/*
 * Adds LOOPS rounds of the kernels "long" and "short" by the program, 1 ms each, and then a burst of one of
 * them with the copies by which kwhy probe saves and restores memory.
 */
static void make_cycle(struct made *made, bool is_long)
{
	for (int i = 0; i < LOOPS; i++) {
		add_run(made, "long", LONG_W, KWHY_ORIGIN_PROGRAM);
		add_run(made, "short", SHORT_W, KWHY_ORIGIN_PROGRAM);
	}
	made->bursts[made->burst_count].stream = KWHY_NONE;
	made->bursts[made->burst_count].start_ns = llround(1e9 * made->now_s);
	add_run(made, "save", COPY_W, KWHY_ORIGIN_PROBER);
	made->now_s += 1e-3;
	for (int i = 0; i <= REPEATS; i++)
		add_run(made, is_long ? "long" : "short", is_long ? LONG_W : SHORT_W,
			i ? KWHY_ORIGIN_REPEAT : KWHY_ORIGIN_PROGRAM);
	add_run(made, "put back", COPY_W, KWHY_ORIGIN_PROBER);
	made->bursts[made->burst_count++].end_ns = llround(1e9 * made->now_s);
}

/* Makes a recording of kwhy probe in which the program's work begins at from_s, with these idle levels. */
static struct kwhy_recording *make_probed_at(
	double from_s, const struct metered_level *idle_levels, size_t level_count)
{
	static struct made made;
	struct metered_plan plan = {.levels = idle_levels,
		.level_count = level_count,
		.runs = made.runs,
		.noise_w = 2,
		.seed = 3};
	struct kwhy_recording *recording;

	made = (struct made){.now_s = from_s};
	for (int i = 0; i < CYCLES; i++)
		make_cycle(&made, i % 2 == 0);
	add_run(&made, "short", SHORT_W, KWHY_ORIGIN_PROGRAM);
	plan.run_count = made.count;
	plan.end_s = made.now_s + 1;
	recording = metered_build(&plan);
	for (size_t i = 0; i < made.count; i++)
		recording->activities.origin[i] = made.origin[i];
	for (size_t i = 0; i < made.burst_count; i++)
		OK(kwhy_recording_add_burst(recording, &made.bursts[i], &error));
	OK(kwhy_recording_finish(recording, &error));
	return recording;
}

static struct kwhy_recording *make_probed(void)
{
	return make_probed_at(1, levels, 1);
}

static struct kwhy_ledger *program_ledger(struct kwhy_recording *recording)
{
	const struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_ledger *ledger;

	OK(kwhy_ledger_new_of_program(recording, &options, &ledger, &error));
	return ledger;
}

static const struct kwhy_account *account_of(
	const struct kwhy_ledger *ledger, const char *name, enum kwhy_category category)
{
	for (size_t i = 0; i < ledger->devices[0].account_count; i++) {
		const struct kwhy_account *account = &ledger->devices[0].accounts[i];

		if (!strcmp(account->name, name) && account->category == category)
			return account;
	}
	fail_msg("no account of %s", name);
	return NULL;
}

static void repeats_teach_the_power_of_the_kernel_and_are_no_work_of_the_programs(void **state)
{
	struct kwhy_recording *recording = make_probed();
	struct kwhy_ledger *ledger = program_ledger(recording);
	const struct kwhy_account *kernel = account_of(ledger, "long", KWHY_CATEGORY_COMPUTE);
	const struct kwhy_account *repeats = account_of(ledger, "long", KWHY_CATEGORY_PROBING);

	(void)state;
	assert_int_equal(kernel->count, CYCLES * LOOPS + CYCLES / 2);
	assert_int_equal(kernel->time_ns, (CYCLES * LOOPS + CYCLES / 2) * 1000000);
	assert_int_equal(repeats->count, CYCLES / 2 * REPEATS);
	assert_int_equal(kernel->power_class, repeats->power_class);
	assert_int_equal(kernel->basis, KWHY_BASIS_DATA);
	assert_float_equal((double)kernel->mean_power_mw * 1e-3, LONG_W, 0.03 * LONG_W);
	assert_float_equal((double)account_of(ledger, "short", KWHY_CATEGORY_COMPUTE)->mean_power_mw * 1e-3,
		SHORT_W, 0.03 * SHORT_W);
	assert_true((double)(kernel->high_nj - kernel->low_nj) / 2 < 0.06 * (double)kernel->gross_nj);
	assert_non_null(build_note(ledger, "probed"));
	build_free(recording, ledger);
}

/*
 * The device idles at CLEAN_W for 6 s, until the probed program creates its context. That time must have its
 * own account.
 */
static void time_without_a_context_is_found_before_a_probed_program(void **state)
{
	const struct metered_level both[] = {{0, CLEAN_W}, {6, IDLE_W}};
	struct kwhy_recording *recording = make_probed_at(7, both, 2);
	struct kwhy_ledger *ledger = program_ledger(recording);
	const struct kwhy_account *clean = account_of(
		ledger, "outside: without a context", KWHY_CATEGORY_OUTSIDE);
	const struct kwhy_account *outside = account_of(
		ledger, "outside: before and after", KWHY_CATEGORY_OUTSIDE);

	(void)state;
	assert_float_equal((double)clean->mean_power_mw * 1e-3, CLEAN_W, 0.02 * CLEAN_W);
	assert_float_equal((double)outside->mean_power_mw * 1e-3, IDLE_W, 0.02 * IDLE_W);
	assert_int_equal(account_of(ledger, "long", KWHY_CATEGORY_COMPUTE)->basis, KWHY_BASIS_DATA);
	build_free(recording, ledger);
}

static void time_and_energy_of_a_probe_are_apart_and_all_of_both_balances(void **state)
{
	struct kwhy_recording *recording = make_probed();
	struct kwhy_ledger *ledger = program_ledger(recording);
	const struct kwhy_device_ledger *device_ledger = &ledger->devices[0];
	const struct kwhy_device_time *time = &device_ledger->time;
	double program_j = (CYCLES * LOOPS + CYCLES / 2) * 1e-3 * (LONG_W + SHORT_W) + 1e-3 * SHORT_W;
	int64_t sum_nj = 0;

	(void)state;
	for (size_t i = 0; i < device_ledger->account_count; i++)
		sum_nj += device_ledger->accounts[i].gross_nj;
	assert_int_equal(sum_nj, device_ledger->energy.measured_nj);
	assert_int_equal(
		time->span_ns, time->busy_ns + time->idle_ns + time->probing_ns + time->unrecorded_ns);
	assert_int_equal(time->busy_ns, (CYCLES * (2 * LOOPS + 1) + 1) * 1000000);
	assert_int_equal(time->probing_ns, CYCLES * (REPEATS + COPIES) * 1000000 + CYCLES * 1000000);
	assert_int_equal(time->probing_idle_ns, CYCLES * 1000000);
	assert_int_equal(time->idle_ns, 0);
	assert_int_equal(time->unrecorded_ns, 0);
	assert_int_equal(time->kernel_count, CYCLES * (2 * LOOPS + 1) + 1);
	assert_int_equal(
		account_of(ledger, "probing: nothing ran", KWHY_CATEGORY_PROBING)->time_ns, CYCLES * 1000000);
	assert_float_equal(kwhy_run_energy_of(device_ledger).run_nj * 1e-9, program_j, 0.02 * program_j);
	build_free(recording, ledger);
}

static void the_recording_is_the_programs_when_its_ledger_is_made(void **state)
{
	struct kwhy_recording *recording = make_probed();
	struct kwhy_ledger *ledger = program_ledger(recording);
	const struct kwhy_activities *rows = &recording->activities;

	(void)state;
	assert_int_equal(rows->count, CYCLES * (2 * LOOPS + 1) + 1);
	assert_int_equal(rows->first[1], rows->count);
	for (size_t i = 0; i < rows->count; i++) {
		const struct kwhy_account *account = &ledger->devices[0]
							      .accounts[ledger->devices[0].account_of[i]];

		assert_int_equal(rows->origin[i], KWHY_ORIGIN_PROGRAM);
		assert_string_equal(account->name, kwhy_names_get(&recording->names, rows->name[i]));
		assert_int_equal(account->category, KWHY_CATEGORY_COMPUTE);
	}
	assert_false(ledger->devices[0].coverage.is_in_windows);
	assert_int_equal(ledger->devices[0].coverage.unrecorded_count,
		2 * CYCLES); /* in each burst, time before and after the program's own launch is unrecorded */
	build_free(recording, ledger);
}

/*
 * The time of a burst in the ledger is from its start to its end, which is longer than its activities: the
 * host is blocked all that time.
 */
static void an_interval_reaches_from_the_start_to_the_end_of_its_burst(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_activity repeat = build_activity(recording, 0, 2000, 3000, "a");
	struct kwhy_burst burst = {.start_ns = 1500, .end_ns = 4000, .stream = KWHY_NONE};
	struct kwhy_ledger *ledger;

	(void)state;
	repeat.origin = KWHY_ORIGIN_REPEAT;
	build_kernel(recording, 0, 0, 1000, "a");
	build_add(recording, repeat);
	build_kernel(recording, 0, 4500, 5000, "a");
	OK(kwhy_recording_add_burst(recording, &burst, &error));
	ledger = build_ledger(recording);
	assert_int_equal(ledger->devices[0].time.probing_ns, 2500);
	assert_int_equal(ledger->devices[0].time.probing_idle_ns, 1500);
	assert_int_equal(ledger->devices[0].time.busy_ns, 1500);
	assert_int_equal(ledger->devices[0].time.idle_ns, 1000);
	build_free(recording, ledger);
}

/*
 * A burst begins with a wait for earlier work of the program. Its time in the ledger begins at the end of
 * that work.
 */
static void an_interval_begins_when_the_programs_earlier_work_has_ended(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_activity repeat = build_activity(recording, 0, 2000, 3000, "a");
	struct kwhy_burst burst = {.start_ns = 500, .end_ns = 4000, .stream = KWHY_NONE};
	struct kwhy_ledger *ledger;

	(void)state;
	repeat.origin = KWHY_ORIGIN_REPEAT;
	build_kernel(recording, 0, 0, 1800, "a");
	build_add(recording, repeat);
	OK(kwhy_recording_add_burst(recording, &burst, &error));
	ledger = build_ledger(recording);
	assert_int_equal(ledger->devices[0].time.busy_ns, 1800);
	assert_int_equal(ledger->devices[0].time.probing_idle_ns, 200);
	build_free(recording, ledger);
}

/* A burst of one process takes nothing from the time of a device that another process uses. */
static void a_burst_of_another_process_holds_nobody_else(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_activity repeat = build_activity(recording, 0, 2000, 3000, "a");
	const struct kwhy_burst bursts[] = {{.start_ns = 1900, .end_ns = 3100, .stream = KWHY_NONE},
		{.start_ns = 1950, .end_ns = 9000, .stream = KWHY_NONE, .process = 1}};
	struct kwhy_ledger *ledger;

	(void)state;
	repeat.origin = KWHY_ORIGIN_REPEAT;
	build_kernel(recording, 0, 0, 1000, "a");
	build_add(recording, repeat);
	build_kernel(recording, 0, 9500, 9600, "a");
	for (size_t i = 0; i < 2; i++)
		OK(kwhy_recording_add_burst(recording, &bursts[i], &error));
	ledger = build_ledger(recording);
	assert_int_equal(ledger->devices[0].time.probing_ns, 1200);
	build_free(recording, ledger);
}

/*
 * In a burst, kwhy probe's copy that saves memory runs before the program's own launch. The host's reason for
 * the idle time before the burst must be that of the launch.
 */
static void the_gap_before_a_burst_waits_for_the_programs_launch(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_activity saved = build_activity(recording, 0, 2000, 2100, "save"), launched, repeat;
	struct kwhy_burst burst = {.start_ns = 1500, .end_ns = 4000, .stream = KWHY_NONE};
	struct kwhy_ledger *ledger;

	(void)state;
	saved.origin = KWHY_ORIGIN_PROBER;
	build_kernel(recording, 0, 0, 1000, "a");
	build_add(recording, saved);
	launched = build_activity(recording, 0, 2200, 2300, "a");
	launched.call = 7;
	build_add(recording, launched);
	repeat = build_activity(recording, 0, 2400, 3900, "a");
	repeat.origin = KWHY_ORIGIN_REPEAT;
	build_add(recording, repeat);
	build_call(recording, 0, 800, 1400, "cudaStreamSynchronize", 6);
	build_call(recording, 0, 2110, 2120, "cudaLaunchKernel", 7);
	OK(kwhy_recording_add_burst(recording, &burst, &error));
	ledger = build_ledger(recording);
	assert_int_equal(ledger->devices[0].time.idle_ns, 500);
	assert_int_equal(ledger->devices[0].time.sync_ns, 400);
	assert_int_equal(ledger->devices[0].host_sum_count, 1);
	assert_int_not_equal(ledger->devices[0].host_sums[0].what, KWHY_HOST_WAIT_UNLINKED);
	build_free(recording, ledger);
}

/*
 * Makes a burst of repeats of 100 us, each step_ns longer than the one before. Returns 1 if it is found to be
 * throttled, else 0.
 */
static size_t throttled_of(int64_t step_ns, int repeats)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_probing_unlike unlike;
	int64_t now_ns = 0;

	for (int i = 0; i < repeats; i++) {
		struct kwhy_activity repeat = build_activity(
			recording, 0, now_ns, now_ns + 100000 + i * step_ns, "a");

		repeat.origin = KWHY_ORIGIN_REPEAT;
		build_add(recording, repeat);
		now_ns = repeat.end_ns;
	}
	OK(kwhy_recording_finish(recording, &error));
	OK(kwhy_probing_unlike_find(recording, 0, &unlike, &error));
	assert_int_equal(unlike.all_count, 1);
	assert_int_equal(unlike.clock_count, 0);
	assert_true(!unlike.throttled_count ||
		(unlike.windows[0].start_ns == 0 && unlike.windows[0].end_ns == now_ns));
	free(unlike.windows);
	kwhy_recording_free(recording);
	return unlike.throttled_count;
}

/*
 * Makes 40 ms of the program, with the clock at own_mhz for 30 ms and other_own_mhz for 10 ms, and a burst of
 * 40 ms with the clock at burst_mhz. The clock is read every 5 ms; 0: it is not read. Returns 1 if the
 * burst's clock is found to be other than the program's, else 0.
 */
static size_t other_clocks_of(int64_t own_mhz, int64_t other_own_mhz, int64_t burst_mhz)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_probing_unlike unlike;

	for (int64_t i = 0; i < 80; i++) {
		struct kwhy_activity activity = build_activity(
			recording, 0, i * 1000000, (i + 1) * 1000000, "a");
		const int64_t mhz = i >= 40 ? burst_mhz : i >= 30 ? other_own_mhz : own_mhz;

		activity.origin = i >= 40 ? KWHY_ORIGIN_REPEAT : KWHY_ORIGIN_PROGRAM;
		build_add(recording, activity);
		if (i % 5 == 2 && mhz)
			OK(kwhy_recording_add_gauge(
				recording, KWHY_GAUGE_SM_CLOCK, 0, i * 1000000 + 500, mhz * 1000000, &error));
	}
	OK(kwhy_recording_finish(recording, &error));
	OK(kwhy_probing_unlike_find(recording, 0, &unlike, &error));
	assert_int_equal(unlike.all_count, 1);
	assert_int_equal(unlike.throttled_count, 0);
	assert_true(!unlike.clock_count || unlike.windows[0].start_ns == 40000000);
	free(unlike.windows);
	kwhy_recording_free(recording);
	return unlike.clock_count;
}

static void a_burst_with_another_clock_than_the_programs_is_left_out(void **state)
{
	(void)state;
	assert_int_equal(other_clocks_of(1980, 1980, 1980), 0);
	assert_int_equal(other_clocks_of(1980, 1980, 1965), 0); /* 15 MHz is the smallest step of the clock */
	assert_int_equal(other_clocks_of(1980, 1980, 1935), 1);
	assert_int_equal(other_clocks_of(1500, 1500, 1980), 1);
	assert_int_equal(other_clocks_of(1980, 1500, 1700),
		0); /* the clock differs as much within the program itself */
	assert_int_equal(other_clocks_of(1980, 1980, 0), 0); /* not read */
	assert_int_equal(other_clocks_of(0, 0, 1500), 0);
}

/*
 * In every fourth burst the clock is lower, and therefore the power. These bursts must not be used for the
 * powers, and must be counted.
 */
static void bursts_with_another_clock_teach_nothing_and_are_counted(void **state)
{
	struct kwhy_recording *recording = make_probed();
	struct kwhy_ledger *ledger;
	const struct kwhy_burst *bursts = recording->bursts;

	(void)state;
	for (int64_t time_ns = 0; time_ns < bursts[CYCLES - 1].end_ns; time_ns += 5000000) {
		int64_t hz = INT64_C(1980000000);

		for (size_t i = 0; i < CYCLES; i += 4)
			if (time_ns >= bursts[i].start_ns && time_ns < bursts[i].end_ns)
				hz = INT64_C(1700000000);
		OK(kwhy_recording_add_gauge(recording, KWHY_GAUGE_SM_CLOCK, 0, time_ns, hz, &error));
	}
	ledger = program_ledger(recording);
	assert_non_null(strstr(build_note(ledger, "bursts-other-clock"), "6 of 24 bursts"));
	assert_null(build_note(ledger, "bursts-throttled"));
	assert_float_equal((double)account_of(ledger, "long", KWHY_CATEGORY_COMPUTE)->mean_power_mw * 1e-3,
		LONG_W, 0.03 * LONG_W);
	build_free(recording, ledger);
}

static void a_burst_whose_repeats_take_ever_longer_is_throttled(void **state)
{
	(void)state;
	assert_int_equal(throttled_of(0, 100), 0);
	assert_int_equal(throttled_of(100, 100), 1);
	assert_int_equal(throttled_of(30, 100), 0);
	assert_int_equal(throttled_of(5000, 7), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repeats_teach_the_power_of_the_kernel_and_are_no_work_of_the_programs),
		cmocka_unit_test(time_without_a_context_is_found_before_a_probed_program),
		cmocka_unit_test(time_and_energy_of_a_probe_are_apart_and_all_of_both_balances),
		cmocka_unit_test(the_recording_is_the_programs_when_its_ledger_is_made),
		cmocka_unit_test(an_interval_reaches_from_the_start_to_the_end_of_its_burst),
		cmocka_unit_test(an_interval_begins_when_the_programs_earlier_work_has_ended),
		cmocka_unit_test(a_burst_of_another_process_holds_nobody_else),
		cmocka_unit_test(the_gap_before_a_burst_waits_for_the_programs_launch),
		cmocka_unit_test(a_burst_with_another_clock_than_the_programs_is_left_out),
		cmocka_unit_test(bursts_with_another_clock_teach_nothing_and_are_counted),
		cmocka_unit_test(a_burst_whose_repeats_take_ever_longer_is_throttled),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
