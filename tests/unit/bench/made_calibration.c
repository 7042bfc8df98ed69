/* SPDX-License-Identifier: Apache-2.0 */
#include "made_calibration.h"

#include "fit/lag.h"

#include <stdio.h>
#include <stdlib.h>

#define MS INT64_C(1000000)
#define GRID_NS (MS / 2)
#define CLEAN_W 78.5
#define CONTEXT_W 121.5
#define LOAD_W 358.0
#define CONTEXT_NS (3000 * MS)
#define LOADS_NS (6000 * MS)
#define REST_NS (1200 * MS)

static const struct {
	const char *name;
	int64_t on_ms, off_ms;
	uint32_t pulses;
} plan[] = {
	{"step", 500, 0, 3}, {"20/80 ms", 20, 80, 15}, {"50/50 ms", 50, 50, 15}, {"500/500 ms", 500, 500, 2}};

enum { PLAN_COUNT = sizeof(plan) / sizeof(plan[0]), PULSES_MAX = 64 };

/* What the meters show over time, on a fine grid: power of the samples (ring_w) and mean power (mean_w). */
struct curve {
	struct kwhy_lag_reading *at; /* [count] readings, one every GRID_NS from time 0 on */
	double *ring_w, *mean_w;
	size_t count;
};

static int64_t plan_loads(struct kwhy_calibration *made)
{
	int64_t now_ns = LOADS_NS;

	for (size_t i = 0; i < PLAN_COUNT; i++) {
		struct kwhy_phase *phase = &made->phases[made->phase_count++];

		*phase = (struct kwhy_phase){.kind = KWHY_PHASE_LOAD,
			.load = {.name = plan[i].name,
				.burn = KWHY_BURN_FMA,
				.on_ns = plan[i].on_ms * MS,
				.off_ns = plan[i].off_ms * MS,
				.pulses = plan[i].pulses},
			.start_ns = now_ns,
			.first_pulse = made->pulse_count,
			.pulse_count = plan[i].pulses};
		now_ns += 2 * MS;
		for (uint32_t k = 0; k < plan[i].pulses; k++) {
			made->pulses[made->pulse_count++] = (struct kwhy_pulse){
				now_ns, now_ns + plan[i].on_ms * MS};
			now_ns += (plan[i].on_ms + plan[i].off_ms) * MS;
		}
		now_ns += REST_NS;
		phase->end_ns = now_ns;
	}
	return now_ns + 500 * MS;
}

static void plan_idle(struct kwhy_calibration *made)
{
	made->phases[0] = (struct kwhy_phase){
		.kind = KWHY_PHASE_CLEAN_IDLE, .start_ns = 500 * MS, .end_ns = 2500 * MS};
	made->phases[1] = (struct kwhy_phase){
		.kind = KWHY_PHASE_CONTEXT_IDLE, .start_ns = 3500 * MS, .end_ns = 5500 * MS};
	made->phase_count = 2;
}

static struct curve show(const struct kwhy_calibration *made, int64_t end_ns)
{
	struct curve curve = {.count = (size_t)(end_ns / GRID_NS)};
	struct kwhy_lag_stretch stretch = {made->pulses, made->pulse_count, NULL, curve.count};

	curve.at = calloc(curve.count, sizeof(*curve.at));
	curve.ring_w = calloc(curve.count, sizeof(double));
	curve.mean_w = calloc(curve.count, sizeof(double));
	for (size_t i = 0; i < curve.count; i++)
		curve.at[i].time_ns = (int64_t)i * GRID_NS;
	stretch.readings = curve.at;
	kwhy_lag_shown(KWHY_LAG_LOW_PASS, &stretch, 0.0145, 0.0035, curve.ring_w);
	kwhy_lag_shown(KWHY_LAG_MEAN, &stretch, 1, 0, curve.mean_w);
	for (size_t i = 0; i < curve.count; i++) {
		double base_w = curve.at[i].time_ns < CONTEXT_NS ? CLEAN_W : CONTEXT_W;

		curve.ring_w[i] = base_w + (LOAD_W - CONTEXT_W) * curve.ring_w[i];
		curve.mean_w[i] = base_w + (LOAD_W - CONTEXT_W) * curve.mean_w[i];
	}
	return curve;
}

static void add(struct kwhy_calibration *made, enum kwhy_meter meter, int64_t time_ns, double value)
{
	struct kwhy_meter_series *series = &made->meters[meter];

	((struct kwhy_reading *)(size_t)series->items)[series->count++] = (struct kwhy_reading){
		time_ns, (int64_t)(value + 0.5)};
}

static void read_ring(struct kwhy_calibration *made, const struct curve *curve, int64_t end_ns)
{
	int64_t k = 0;

	for (int64_t time_ns = 7 * MS; time_ns < end_ns; time_ns += 20 * MS + MS / 50, k++)
		add(made, KWHY_METER_NVML_SAMPLE, time_ns + (k % 5 == 3 ? 8 * MS : 0),
			1e3 * curve->ring_w[time_ns / GRID_NS]);
}

static void read_others(struct kwhy_calibration *made, const struct curve *curve)
{
	double joules = 1000;
	size_t tick = (size_t)(100 * MS / GRID_NS), shown = 0;

	for (size_t i = 0; i < curve->count; i++) {
		joules += curve->ring_w[i] * (double)GRID_NS * 1e-9;
		if (i % tick == tick / 3)
			add(made, KWHY_METER_NVML_ENERGY, curve->at[i].time_ns, 1e3 * joules);
		if (i % tick == tick / 2)
			shown = i;
		if (i % (tick / 2) || !shown)
			continue;
		add(made, KWHY_METER_NVML_AVERAGE, curve->at[i].time_ns, 1e3 * curve->mean_w[shown]);
		add(made, KWHY_METER_NVML_INSTANT, curve->at[i].time_ns, 1e3 * curve->ring_w[shown]);
	}
}

struct kwhy_calibration *made_calibration(void)
{
	struct kwhy_calibration *made = calloc(1, sizeof(*made));
	struct curve curve;
	int64_t end_ns;

	made->pulses = kwhy_arena_alloc(&made->arena, PULSES_MAX, sizeof(*made->pulses));
	plan_idle(made);
	end_ns = plan_loads(made);
	curve = show(made, end_ns);
	for (int meter = 0; meter < KWHY_METER_COUNT; meter++)
		made->meters[meter].items = kwhy_arena_alloc(
			&made->arena, (size_t)(end_ns / (10 * MS)), sizeof(struct kwhy_reading));
	read_ring(made, &curve, end_ns);
	read_others(made, &curve);
	free(curve.at);
	free(curve.ring_w);
	free(curve.mean_w);
	snprintf(made->gpu.name, sizeof(made->gpu.name), "NVIDIA H200");
	snprintf(made->gpu.driver_api, sizeof(made->gpu.driver_api), "13.0");
	made->gpu.sm_count = 132;
	made->driver = "580.159.04";
	made->limit_mw = 700000;
	made->seed = 5;
	made->started_unix_ns = INT64_C(1790000000000000000);
	made->costs = kwhy_call_costs_unknown();
	made->costs.launch_s = (struct kwhy_measured){2.2e-6, 1e-7};
	return made;
}
