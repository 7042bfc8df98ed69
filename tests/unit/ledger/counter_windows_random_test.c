/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the stated interval of the energy that enabled performance counters drew, in simulated runs of random
 * length, work and windows. Enabled counters take 19 to 30 W while the device works, 30 to 34 W while it is
 * idle, and nothing at its power limit, as on an H200.
 */
#include "ledger/energy/energy_meter.h"
#include "unit/ledger/build.h"

#include <math.h>

enum { RUNS = 600, PARTS_MAX = 100000, WINDOWS_MAX = 100, POWERS = 5 };
enum work { SHORT_KERNELS, PHASES, STEPS, BURSTS, AT_THE_LIMIT, DRIFT, WORKS };

#define STEP_S 1e-3
#define TAU_S 14.5e-3
#define LIMIT_W 700.0

struct part {
	double to_s, power_w;
	bool is_busy;
};

struct simulation {
	uint64_t state;
	struct part parts[PARTS_MAX];
	size_t part_count;
	struct kwhy_counter_window windows[WINDOWS_MAX];
	size_t window_count;
	double end_s, start_s, idle_w, idle_extra_w, busy_extra_w;
};

static double between(struct simulation *simulation, double low, double high)
{
	uint64_t mixed;

	simulation->state = simulation->state * 6364136223846793005u + 1442695040888963407u;
	mixed = (simulation->state ^ (simulation->state >> 33)) * 0xff51afd7ed558ccdu;
	return low + (high - low) * (double)((mixed ^ (mixed >> 33)) >> 11) * 0x1p-53;
}

static void add_part(struct simulation *simulation, double length_s, double power_w, bool is_busy)
{
	const double from_s = simulation->part_count ? simulation->parts[simulation->part_count - 1].to_s : 0;

	assert_true(simulation->part_count < PARTS_MAX);
	simulation->parts[simulation->part_count++] = (struct part){from_s + length_s, power_w, is_busy};
}

/* Adds a few parts of that kind of work. */
static void work(struct simulation *simulation, enum work kind, const double *powers_w, double period_s)
{
	const double random_w = powers_w[(int)between(simulation, 0, POWERS)];
	const double at_s = simulation->parts[simulation->part_count - 1].to_s;

	switch (kind) {
	case SHORT_KERNELS:
		for (int i = 0; i < POWERS; i++)
			add_part(simulation, 0.003 + period_s * 0.01 * i, powers_w[i], true);
		return;
	case PHASES:
		add_part(simulation, between(simulation, 0.2, 3), random_w, true);
		add_part(simulation, between(simulation, 0.1, 2), simulation->idle_w, false);
		return;
	case STEPS:
		add_part(simulation, period_s * 0.6, powers_w[0], true);
		add_part(simulation, period_s * 0.4, powers_w[1], true);
		return;
	case BURSTS:
		add_part(simulation, between(simulation, 0.005, 0.1), random_w, true);
		add_part(simulation, between(simulation, 0.01, 0.5), simulation->idle_w, false);
		return;
	case AT_THE_LIMIT:
		add_part(simulation, between(simulation, 0.05, 0.5), LIMIT_W, true);
		add_part(simulation, between(simulation, 0.01, 0.05), powers_w[0], true);
		return;
	default:
		add_part(simulation, 0.05,
			powers_w[0] + (powers_w[1] - powers_w[0]) * at_s / simulation->end_s +
				between(simulation, -40, 40),
			true);
	}
}

static void add_windows(struct simulation *simulation, double share)
{
	double period_s = between(simulation, -0.7, -0.4), from_s = period_s, to_s;

	simulation->window_count = 0;
	while (from_s < simulation->end_s - 0.5) {
		to_s = fmin(simulation->end_s - 0.5, from_s + between(simulation, 0.15, 0.37) + 2 * share);
		simulation->windows[simulation->window_count++] = (struct kwhy_counter_window){
			llround(1e9 * from_s), llround(1e9 * to_s), 0};
		period_s += 2;
		from_s = period_s + between(simulation, 0, 1.3 - 2 * share);
	}
}

static void plan(struct simulation *simulation, enum work kind)
{
	const double period_s = between(simulation, 0.5, 4);
	double powers_w[POWERS];

	simulation->end_s = exp(between(simulation, log(2.5), log(120)));
	simulation->start_s = between(simulation, 0.3, 1.5);
	simulation->idle_w = between(simulation, 110, 130);
	simulation->idle_extra_w = between(simulation, 30, 34);
	simulation->busy_extra_w = between(simulation, 19, 30);
	for (int i = 0; i < POWERS; i++)
		powers_w[i] = between(simulation, 200, 650);
	simulation->part_count = 0;
	add_part(simulation, simulation->start_s, simulation->idle_w - 40, false);
	while (simulation->parts[simulation->part_count - 1].to_s < simulation->end_s - 0.8)
		work(simulation, kind, powers_w, period_s);
	simulation->end_s = simulation->parts[simulation->part_count - 1].to_s + 0.5;
	add_part(simulation, 1, simulation->idle_w, false);
	add_windows(simulation, between(simulation, 0, 1) < 0.6 ? 0.1 : between(simulation, 0.01, 0.6));
}

/* What enabled counters take at a time, W. */
static double extra_w(
	const struct simulation *simulation, const struct part *part, size_t *window, double at_s)
{
	const int64_t at_ns = llround(1e9 * at_s);

	while (*window < simulation->window_count && simulation->windows[*window].end_ns <= at_ns)
		++*window;
	if (*window >= simulation->window_count || simulation->windows[*window].start_ns > at_ns)
		return 0;
	if (at_s < simulation->start_s)
		return 5;
	return fmin(
		LIMIT_W - part->power_w, part->is_busy ? simulation->busy_extra_w : simulation->idle_extra_w);
}

/* Adds samples of the power every 20 ms. Returns the energy that counters took, J. */
static double meter(struct simulation *simulation, struct kwhy_recording *recording)
{
	double filtered_w = simulation->parts[0].power_w, extra_j = 0, more_w;
	size_t part = 0, window = 0;

	for (int64_t step = -1000; (double)step * STEP_S < simulation->end_s + 0.4; step++) {
		const double at_s = (double)step * STEP_S;

		while (simulation->parts[part].to_s <= at_s)
			part++;
		more_w = extra_w(simulation, &simulation->parts[part], &window, at_s);
		if (at_s >= 0 && at_s < simulation->end_s)
			extra_j += more_w * STEP_S;
		filtered_w += (simulation->parts[part].power_w + more_w - filtered_w) *
			(1 - exp(-STEP_S / TAU_S));
		if (step % 20 == 0)
			OK(kwhy_recording_add_reading(recording, KWHY_METER_NVML_SAMPLE, 0, 0,
				(step + 4) * 1000000,
				llround(1e3 * (filtered_w + between(simulation, -2, 2))), &error));
	}
	return extra_j;
}

/* Whether the interval of the energy that counters took in a random run contains the true energy. */
static bool holds(struct simulation *simulation, enum work kind, const struct kwhy_profile *profile)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_device_meters meters;
	int64_t end_ns;
	double true_j, error_j, half_j;

	plan(simulation, kind);
	recording->devices[0].limit_mw = llround(1e3 * LIMIT_W);
	end_ns = llround(1e9 * simulation->end_s);
	for (size_t i = 0; i < simulation->window_count; i++)
		OK(kwhy_recording_add_counter_window(recording, &simulation->windows[i], &error));
	build_kernel(recording, 0, llround(1e9 * simulation->start_s), end_ns - 500000000, "work");
	OK(kwhy_recording_finish(recording, &error));
	true_j = meter(simulation, recording);
	OK(kwhy_device_meters_find(&meters, recording, 0, profile, &error));
	error_j = 1e-9 * kwhy_counter_windows_nj(&meters.counters, 0, end_ns) - true_j;
	half_j = 1.645 * meters.counters.sd_w * 1e-9 *
		(double)kwhy_counter_windows_ns(&meters.counters, 0, end_ns);
	kwhy_device_meters_done(&meters);
	kwhy_recording_free(recording);
	return fabs(error_j) <= half_j;
}

static void check(const struct kwhy_profile *profile)
{
	static struct simulation simulation = {.state = 20261130};
	int count[WORKS] = {0}, all = 0;

	for (int run = 0; run < RUNS; run++) {
		const bool is_right = holds(&simulation, run % WORKS, profile);

		count[run % WORKS] += is_right;
		all += is_right;
	}
	for (int kind = 0; kind < WORKS; kind++)
		if (count[kind] < RUNS / WORKS * 8 / 10)
			fail_msg("work %d: %d of %d intervals hold", kind, count[kind], RUNS / WORKS);
	if (all < RUNS * 9 / 10)
		fail_msg("%d of %d intervals hold", all, RUNS);
}

static void intervals_hold_without_a_profile(void **state)
{
	(void)state;
	check(NULL);
}

static void intervals_hold_with_the_extra_power_of_a_profile(void **state)
{
	static const struct kwhy_profile profile = {.counter_model = {.spread = 0.1, .sampling_w = 30}};

	(void)state;
	check(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_hold_without_a_profile),
		cmocka_unit_test(intervals_hold_with_the_extra_power_of_a_profile),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
