/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/metered.h"

#include <math.h>

#define STEP_S 0.5e-3
#define TAU_S 14.5e-3
#define DELAY_STEPS 7
#define SAMPLE_STEPS 40
#define COUNTER_STEPS 200
#define AFTER_STEPS 400 /* the meters are read for some time after the end of the plan */

struct metering {
	const struct metered_plan *plan;
	const struct metered_windows *windows;
	struct kwhy_recording *recording;
	size_t level, run, window;
	double filtered_w, energy_j;
	uint64_t state;
};

static int64_t ns_of(double seconds)
{
	return llround(seconds / STEP_S) * 500000;
}

/* Power that the enabled performance counters take. */
static double window_w(struct metering *metering, double middle_s)
{
	const struct metered_windows *windows = metering->windows;
	const double middle_ns = 1e9 * middle_s;

	while (metering->window < windows->count &&
		(double)windows->items[metering->window].end_ns < middle_ns)
		metering->window++;
	if (metering->window >= windows->count ||
		(double)windows->items[metering->window].start_ns >= middle_ns)
		return 0;
	return metering->plan->run_count && middle_s < metering->plan->runs[0].from_s ? windows->before_w
										      : windows->power_w;
}

static double power_at(struct metering *metering, double time_s)
{
	const struct metered_plan *plan = metering->plan;
	const double middle_s = time_s + STEP_S / 2;

	while (metering->level + 1 < plan->level_count && plan->levels[metering->level + 1].from_s < middle_s)
		metering->level++;
	while (metering->run < plan->run_count && plan->runs[metering->run].to_s < middle_s)
		metering->run++;
	if (metering->run < plan->run_count && plan->runs[metering->run].from_s < middle_s)
		return plan->runs[metering->run].power_w + window_w(metering, middle_s);
	return plan->levels[metering->level].power_w + window_w(metering, middle_s);
}

static double noise(struct metering *metering)
{
	metering->state = metering->state * 6364136223846793005u + 1442695040888963407u;
	return metering->plan->noise_w * ((double)(metering->state >> 40) * 0x1p-23 - 1);
}

static void read_meters(struct metering *metering, int64_t step)
{
	const int64_t shown_ns = (step + 1 + DELAY_STEPS) * 500000;

	if (step % SAMPLE_STEPS == 0)
		OK(kwhy_recording_add_reading(metering->recording, KWHY_METER_NVML_SAMPLE, 0, 0, shown_ns,
			llround(1e3 * (metering->filtered_w + noise(metering))), &error));
	if (step == 0 && metering->plan->counter_from_s > 0)
		OK(kwhy_recording_add_reading(
			metering->recording, KWHY_METER_NVML_ENERGY, 0, 0, -1000000000, 0, &error));
	if (step % COUNTER_STEPS == 0 && (double)step * STEP_S >= metering->plan->counter_from_s)
		OK(kwhy_recording_add_reading(metering->recording, KWHY_METER_NVML_ENERGY, 0, 0, shown_ns,
			llround(1e3 * metering->energy_j), &error));
}

static void add_runs(struct kwhy_recording *recording, const struct metered_plan *plan)
{
	for (size_t i = 0; i < plan->run_count; i++) {
		const struct metered_run *run = &plan->runs[i];
		struct kwhy_activity row = build_activity(
			recording, 0, ns_of(run->from_s), ns_of(run->to_s), run->name);

		row.blocks = 1056;
		build_add(recording, row);
	}
}

static void add_windows(struct kwhy_recording *recording, const struct metered_windows *windows)
{
	for (size_t i = 0; i < windows->count && !windows->is_unrecorded; i++)
		OK(kwhy_recording_add_counter_window(recording, &windows->items[i], &error));
}

struct kwhy_recording *metered_build(const struct metered_plan *plan)
{
	return metered_build_counted(plan, &(struct metered_windows){0});
}

struct kwhy_recording *metered_build_counted(
	const struct metered_plan *plan, const struct metered_windows *windows)
{
	const int64_t steps = llround(plan->end_s / STEP_S) + AFTER_STEPS;
	const struct kwhy_coverage coverage = {KWHY_NONE, 0, ns_of(plan->end_s)};
	struct metering metering = {
		.plan = plan, .windows = windows, .recording = build_one(), .state = plan->seed};

	metering.recording->devices[0].sm_count = 132;
	metering.recording->devices[0].limit_mw = 700000;
	OK(kwhy_recording_add_coverage(metering.recording, &coverage, &error));
	add_windows(metering.recording, windows);
	add_runs(metering.recording, plan);
	metering.filtered_w = plan->levels[0].power_w;
	for (int64_t step = 0; step < steps; step++) {
		double power_w = power_at(&metering, (double)step * STEP_S);

		metering.filtered_w += (power_w - metering.filtered_w) * (1 - exp(-STEP_S / TAU_S));
		metering.energy_j += metering.filtered_w * STEP_S;
		read_meters(&metering, step);
	}
	return metering.recording;
}
