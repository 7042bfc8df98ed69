/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/whole_make.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Power and readings are simulated in steps of 0.5 ms. Except for short activities, all start and end at a
 * step.
 */
#define STEP_NS 500000
#define STEP_S 0.5e-3
enum { STEPS_MAX = 12000, KINDS = 6, MEAN_STEPS = 2000 };

enum trouble {
	TROUBLE_NONE,
	TROUBLE_HOLE,
	TROUBLE_RESET,
	TROUBLE_JUMP,
	TROUBLE_STUCK,
	TROUBLE_SCALE, /* power meters show 1.1 to 1.6 times the power */
	TROUBLE_FEW,
	TROUBLE_LATE,
	TROUBLE_OTHER_WORK, /* the readings are of other work than that recorded */
	TROUBLE_UNITS,	    /* the readings are 1,000 times too large or too small, as in a wrong unit */
	TROUBLE_COUNT
};

enum shape {
	SHAPE_USUAL,
	SHAPE_SHORT, /* work of 1 to 150 ms */
	SHAPE_MANY,  /* every kernel has a name of its own */
	SHAPE_EMPTY, /* no work */
	SHAPE_COUNT
};

struct metered {
	struct whole_random random;
	struct whole_made *made;
	struct kwhy_recording *recording;
	uint32_t device, stream, copy_stream;
	double idle_w, kind_w[KINDS];
	uint32_t kind_blocks[KINDS], kinds;
	int64_t run_ns, end_ns; /* end of the work, and of the recorded time */
	double *power_w;	/* [STEPS_MAX] from 0 on */
	enum trouble trouble;
	int64_t trouble_ns;
	double trouble_ratio, tau_s;
	int64_t delay_ns;
	uint32_t correlation;
	enum shape shape;
	int64_t burst_start_ns, burst_end_ns; /* the last burst of kwhy probe; both 0: none */
};

static uint32_t below(struct metered *metered, uint32_t limit)
{
	return whole_below(&metered->random, limit);
}

static bool once_in(struct metered *metered, uint32_t times)
{
	return whole_once_in(&metered->random, times);
}

static double between(struct metered *metered, double low, double high)
{
	return whole_between(&metered->random, low, high);
}

static void add_power(struct metered *metered, int64_t start_ns, int64_t end_ns, double power_w)
{
	for (int64_t step = start_ns / STEP_NS; step < end_ns / STEP_NS && step < STEPS_MAX; step++)
		metered->power_w[step] += power_w;
}

static void add_kernel(
	struct metered *metered, int64_t start_ns, int64_t end_ns, uint32_t kind, uint8_t origin)
{
	static const char *const names[KINDS] = {
		"gemm_a", "gemm_b", "softmax", "reduce", "flash_fwd", "ncclReduce"};
	struct kwhy_activity row = build_activity(
		metered->recording, metered->stream, start_ns, end_ns, names[kind]);
	char name[24];

	if (metered->shape == SHAPE_MANY) {
		snprintf(name, sizeof(name), "%s %u", names[kind], metered->correlation % 60);
		row.name = build_name(metered->recording, name);
	}
	row.blocks = metered->kind_blocks[kind];
	row.kind = kind == 5 ? KWHY_ACTIVITY_COLLECTIVE : KWHY_ACTIVITY_KERNEL;
	row.threads_per_block = 256;
	row.origin = origin;
	row.call = origin == KWHY_ORIGIN_PROGRAM ? metered->correlation : KWHY_NONE;
	if (origin == KWHY_ORIGIN_PROGRAM)
		build_call(metered->recording, 0, start_ns - 90000, start_ns - 60000, "cudaLaunchKernel",
			metered->correlation++);
	build_add(metered->recording, row);
	add_power(metered, start_ns, end_ns, metered->kind_w[kind]);
}

static void add_copy(struct metered *metered, int64_t start_ns, int64_t end_ns, uint8_t kind, uint8_t origin)
{
	struct kwhy_activity row = build_activity(
		metered->recording, metered->copy_stream, start_ns, end_ns, "");

	row.kind = kind == KWHY_COPY_UNKNOWN ? KWHY_ACTIVITY_MEMSET : KWHY_ACTIVITY_COPY;
	row.copy_kind = kind;
	row.src_memory = kind == KWHY_COPY_D2D ? KWHY_MEMORY_DEVICE : KWHY_MEMORY_PINNED;
	row.dst_memory = KWHY_MEMORY_DEVICE;
	row.bytes = 1 << 24;
	row.origin = origin;
	build_add(metered->recording, row);
	add_power(metered, start_ns, end_ns, kind == KWHY_COPY_H2D ? 12 : 150);
}

/*
 * Adds a burst of kwhy probe for a kernel, in some cases with a clock that falls during it. Returns its end.
 */
static int64_t add_burst(struct metered *metered, int64_t start_ns, uint32_t kind)
{
	const uint32_t repeats = 6 + below(metered, 60);
	const bool slows = once_in(metered, 4), copies = once_in(metered, 2);
	struct kwhy_burst burst = {
		.start_ns = start_ns - STEP_NS / 2, .repeats = repeats, .blocks = 300, .form = copies};
	int64_t at_ns = start_ns;

	for (uint32_t i = 0; i < repeats; i++) {
		int64_t length_ns = 4 * STEP_NS + (slows ? (int64_t)i * 20000 : 0);

		if (copies) {
			add_copy(metered, at_ns, at_ns + STEP_NS, KWHY_COPY_D2D, KWHY_ORIGIN_PROBER);
			at_ns += STEP_NS;
		}
		add_kernel(metered, at_ns, at_ns + length_ns, kind, KWHY_ORIGIN_REPEAT);
		at_ns += length_ns;
	}
	at_ns = (at_ns / STEP_NS + 3) * STEP_NS;
	burst.end_ns = at_ns;
	metered->burst_start_ns = start_ns;
	metered->burst_end_ns = at_ns;
	OK(kwhy_recording_add_burst(metered->recording, &burst, &error));
	return at_ns + STEP_NS;
}

/* Adds a kernel many times in a row, launched by the program itself. Returns the end. */
static int64_t add_series(struct metered *metered, int64_t at_ns, uint32_t kind)
{
	const uint32_t count = 18 + below(metered, 8);
	const int64_t length_ns = (1 + below(metered, 3)) * STEP_NS,
		      gap_ns = length_ns / 5 - (int64_t)below(metered, 2);

	for (uint32_t i = 0; i < count; i++) {
		add_kernel(metered, at_ns, at_ns + length_ns, kind, KWHY_ORIGIN_PROGRAM);
		at_ns += length_ns + gap_ns;
	}
	return (at_ns / STEP_NS + 1) * STEP_NS;
}

static int64_t add_one(struct metered *metered, int64_t at_ns, bool probed, bool overlaps)
{
	const uint32_t kind = below(metered, metered->kinds);
	const int64_t length_ns = (int64_t)(2 + below(metered, 90)) * STEP_NS;

	if (once_in(metered, 14))
		return add_series(metered, at_ns, kind);
	if (once_in(metered, 6)) {
		static const uint8_t copies[] = {
			KWHY_COPY_H2D, KWHY_COPY_D2H, KWHY_COPY_D2D, KWHY_COPY_UNKNOWN, KWHY_COPY_P2P};

		add_copy(metered, at_ns, at_ns + length_ns, copies[below(metered, 5)], KWHY_ORIGIN_PROGRAM);
		return at_ns + length_ns;
	}
	add_kernel(metered, at_ns, at_ns + length_ns, kind, KWHY_ORIGIN_PROGRAM);
	if (overlaps && once_in(metered, 3))
		add_copy(metered, at_ns + length_ns / 2 / STEP_NS * STEP_NS, at_ns + length_ns, KWHY_COPY_H2D,
			KWHY_ORIGIN_PROGRAM);
	if (probed && once_in(metered, 3))
		return add_burst(metered, at_ns + length_ns, kind);
	return at_ns + length_ns;
}

static void add_work(struct metered *metered, int64_t from_ns, int64_t to_ns)
{
	const bool probed = metered->made->of_program || once_in(metered, 8), overlaps = once_in(metered, 2);
	int64_t at_ns = from_ns;

	while (at_ns < to_ns) {
		const int64_t end_ns = add_one(metered, at_ns, probed, overlaps);

		if (once_in(metered, 3))
			build_call(metered->recording, 0, at_ns + STEP_NS, end_ns + STEP_NS / 2,
				"cudaDeviceSynchronize", KWHY_NONE);
		metered->run_ns = end_ns;
		at_ns = end_ns +
			(once_in(metered, 3) ? (int64_t)below(metered, 160) : (int64_t)below(metered, 5)) *
				STEP_NS;
	}
}

/*
 * Adds the idle power to all steps: in some recordings with clean idle before or after the work, or with
 * elevated idle around it.
 */
static void make_levels(struct metered *metered, int64_t from_ns)
{
	const bool clean_before = once_in(metered, 3), clean_after = once_in(metered, 3),
		   elevated = once_in(metered, 4);
	const double clean_w = metered->idle_w * between(metered, 0.55, 0.9);
	const int64_t made_ns = from_ns - (int64_t)(40 + below(metered, 300)) * STEP_NS,
		      gone_ns = metered->run_ns + (int64_t)(300 + below(metered, 300)) * STEP_NS;

	for (int64_t step = 0; step < STEPS_MAX; step++) {
		const int64_t at_ns = step * STEP_NS;
		double level_w = metered->idle_w;

		if ((clean_before && at_ns < made_ns) || (clean_after && at_ns >= gone_ns))
			level_w = clean_w;
		else if (elevated && at_ns >= metered->run_ns + 300000000)
			level_w += 6;
		metered->power_w[step] += level_w;
	}
}

/* Whether a reading at this time is left out. */
static bool is_lost(struct metered *metered, int64_t time_ns, size_t number)
{
	switch (metered->trouble) {
	case TROUBLE_HOLE:
		return time_ns > metered->trouble_ns && time_ns < metered->trouble_ns + 400000000;
	case TROUBLE_FEW:
		return number % 16 != 0;
	case TROUBLE_LATE:
		return time_ns < metered->trouble_ns;
	default:
		return false;
	}
}

static int64_t shown_value(struct metered *metered, enum kwhy_meter meter, int64_t time_ns, double value)
{
	const bool counter = kwhy_meter_is_counter(meter), past = time_ns >= metered->trouble_ns;

	if (counter && metered->trouble == TROUBLE_RESET && past)
		return llround(value * 0.3);
	if (counter && metered->trouble == TROUBLE_JUMP && past)
		return llround(value + 2000 * (meter == KWHY_METER_ROCM_ENERGY ? 1000 : 1));
	if (counter && metered->trouble == TROUBLE_STUCK)
		return llround(value * 0.5);
	if (!counter && metered->trouble == TROUBLE_SCALE)
		return llround(value * metered->trouble_ratio);
	if (metered->trouble == TROUBLE_UNITS)
		return llround(value * (metered->trouble_ratio > 1.3 ? 1000 : 1e-3));
	return llround(value);
}

struct meter_plan {
	enum kwhy_meter meter;
	uint32_t period;
	double noise_w;
};

static void add_readings(
	struct metered *metered, const struct meter_plan *plan, int64_t from_ns, int64_t to_ns)
{
	const bool counter = kwhy_meter_is_counter(plan->meter), mean = kwhy_meter_is_mean(plan->meter);
	const double per_j = counter ? 1e9 / (double)kwhy_meter_unit_nj(plan->meter) : 0;
	double filtered_w = metered->power_w[0], sum_w = filtered_w * MEAN_STEPS, count_j = 1000;
	size_t number = 0;

	for (int64_t step = 0; step < STEPS_MAX; step++) {
		const int64_t shown_ns = (step + 1) * STEP_NS + metered->delay_ns;
		const double old_w = metered->power_w[step < MEAN_STEPS ? 0 : step - MEAN_STEPS];
		double value;

		filtered_w += (metered->power_w[step] - filtered_w) *
			(metered->tau_s > 0 ? 1 - exp(-STEP_S / metered->tau_s) : 1);
		sum_w += metered->power_w[step] - old_w;
		count_j += filtered_w * STEP_S;
		if (step % plan->period || shown_ns < from_ns || shown_ns > to_ns)
			continue;
		value = counter ? count_j * per_j
			: mean	? 1e3 * sum_w / MEAN_STEPS
				: 1e3 * (filtered_w + plan->noise_w * between(metered, -1, 1));
		if (!is_lost(metered, shown_ns, number++))
			OK(kwhy_recording_add_reading(metered->recording, plan->meter, metered->device, 0,
				shown_ns, shown_value(metered, plan->meter, shown_ns, value), &error));
	}
}

static void add_meters(struct metered *metered)
{
	static const struct meter_plan sets[][4] = {
		{{KWHY_METER_NVML_ENERGY, 200, 0}, {KWHY_METER_NVML_SAMPLE, 40, 1}},
		{{KWHY_METER_NVML_ENERGY, 200, 0}, {KWHY_METER_NVML_SAMPLE, 40, 4}},
		{{KWHY_METER_NVML_SAMPLE, 40, 1}},
		{{KWHY_METER_NVML_ENERGY, 200, 0}},
		{{KWHY_METER_NVML_INSTANT, 100, 0.5}},
		{{KWHY_METER_NVML_AVERAGE, 200, 0}},
		{{KWHY_METER_NVML_ENERGY, 200, 0}, {KWHY_METER_NVML_AVERAGE, 200, 0}},
		{{KWHY_METER_NVML_INSTANT, 400, 0.5}, {KWHY_METER_NVML_AVERAGE, 200, 0}},
		{{KWHY_METER_NVML_ENERGY, 200, 0}, {KWHY_METER_NVML_SAMPLE, 40, 1},
			{KWHY_METER_NVML_INSTANT, 200, 1}, {KWHY_METER_NVML_AVERAGE, 200, 0}},
		{{KWHY_METER_ROCM_ENERGY, 20, 0}, {KWHY_METER_ROCM_POWER, 200, 0}},
		{{KWHY_METER_ROCM_POWER, 100, 0}},
		{{KWHY_METER_WALL, 2000, 0}},
	};
	const uint32_t set = below(metered, 12);
	/* readings may begin after the recorded time does, and end before, with or after it */
	const int64_t from_ns = once_in(metered, 4) ? 600000000 : 0,
		      to_ns = metered->end_ns + (int64_t)(below(metered, 5)) * 100000000 - 200000000;

	for (size_t i = 0; i < 4; i++)
		if (sets[set][i].period)
			add_readings(metered, &sets[set][i], from_ns, to_ns);
}

static void add_clock(struct metered *metered)
{
	const bool falls = once_in(metered, 2), in_burst = once_in(metered, 2);

	for (int64_t at_ns = 0; at_ns < metered->end_ns; at_ns += 50000000) {
		const bool low = in_burst ? at_ns >= metered->burst_start_ns && at_ns < metered->burst_end_ns
					  : falls && once_in(metered, 3);

		OK(kwhy_recording_add_gauge(metered->recording, KWHY_GAUGE_SM_CLOCK, metered->device, at_ns,
			low ? 1830000000 : 1980000000 - 15000000 * (int64_t)below(metered, 2), &error));
	}
}

static void add_device(struct metered *metered, struct whole_made *made)
{
	struct kwhy_device device = {.index = (int32_t)metered->device,
		.rank = KWHY_NONE,
		.machine = KWHY_NONE,
		.name = "NVIDIA H200",
		.sm_count = once_in(metered, 5) ? 0 : 132,
		.threads_per_sm = 2048,
		.limit_mw = once_in(metered, 4) ? -1 : 700000 - 500000 * (int64_t)once_in(metered, 6),
		.context_idle_mw = once_in(metered, 4) ? 100000 : -1,
		.clean_idle_mw = once_in(metered, 4) ? 70000 : -1};

	OK(kwhy_recording_add_device(made->recording, &device, NULL, &error));
	metered->stream = build_stream(made->recording, metered->device, 0, 2 * metered->device);
	metered->copy_stream = build_stream(made->recording, metered->device, 0, 2 * metered->device + 1);
	metered->idle_w = between(metered, 60, 130);
	metered->kinds = 1 + below(metered, KINDS);
	for (uint32_t i = 0; i < KINDS; i++) {
		static const uint32_t blocks[] = {1056, 132, 131, 66, 12, 1, KWHY_UNKNOWN_BLOCKS, 264};

		metered->kind_w[i] = metered->idle_w * between(metered, 0.3, 4);
		metered->kind_blocks[i] = blocks[below(metered, 8)];
	}
	metered->trouble = once_in(metered, 2) ? TROUBLE_NONE : below(metered, TROUBLE_COUNT);
	metered->trouble_ratio = between(metered, 1.02, 1.6);
	metered->tau_s = once_in(metered, 4) ? 0 : 14.5e-3;
	metered->delay_ns = (int64_t)below(metered, 12) * STEP_NS;
}

static void add_run(struct metered *metered)
{
	const int64_t from_ns = (int64_t)(600 + below(metered, 1200)) * STEP_NS,
		      long_ns = (int64_t)(300 + below(metered, 2200)) * STEP_NS,
		      short_ns = (int64_t)(1 + below(metered, 300)) * STEP_NS,
		      to_ns = from_ns + (metered->shape == SHAPE_SHORT ? short_ns : long_ns);

	metered->run_ns = to_ns;
	if (metered->shape != SHAPE_EMPTY)
		add_work(metered, from_ns, to_ns);
	metered->end_ns = metered->run_ns + (int64_t)(1 + below(metered, 1600)) * STEP_NS;
	metered->trouble_ns = from_ns + (to_ns - from_ns) / 3;
	make_levels(metered, from_ns);
	if (metered->trouble == TROUBLE_OTHER_WORK)
		for (int64_t step = 0; step < STEPS_MAX; step++)
			metered->power_w[step] = metered->idle_w * (2 + sin((double)(step / 160)));
	add_meters(metered);
	if (once_in(metered, 2))
		add_clock(metered);
}

/* Adds records of what was recorded: one for all of the time, one for each of some windows, or none. */
static void add_coverage(struct metered *metered)
{
	const struct kwhy_coverage all = {
		KWHY_NONE, metered->shape == SHAPE_EMPTY ? 333000000 : 0, metered->end_ns};
	const struct kwhy_selection selection = {KWHY_NONE,
		once_in(metered, 4) ? KWHY_CHOICE_RANGE : KWHY_CHOICE_DUTY, 100000000, metered->end_ns, NULL,
		0.4};

	if (metered->made->of_program || !once_in(metered, 4)) {
		if (!once_in(metered, 6) || metered->shape == SHAPE_EMPTY)
			OK(kwhy_recording_add_coverage(metered->recording, &all, &error));
		return;
	}
	for (int64_t at_ns = 100000000; at_ns < metered->end_ns; at_ns += 300000000) {
		struct kwhy_coverage window = {KWHY_NONE, at_ns + (int64_t)below(metered, 100) * 1000000, 0};

		window.end_ns = window.start_ns + 120000000;
		OK(kwhy_recording_add_coverage(metered->recording, &window, &error));
	}
	OK(kwhy_recording_add_selection(metered->recording, &selection, &error));
}

static void make_profile(struct metered *metered, struct whole_made *made)
{
	static const char *const gemm[] = {"gemm*"}, *const soft[] = {"soft*", "red*"};
	struct kwhy_profile *profile = &made->profile;

	kwhy_profile_init(profile);
	profile->sm_count = 132;
	profile->sensor.time_constant_s = (struct kwhy_measured){14.5e-3, 0.1e-3};
	if (once_in(metered, 2))
		profile->sensor.delay_s = (struct kwhy_measured){3e-3, 0.5e-3};
	if (once_in(metered, 2))
		profile->clean_idle_w = (struct kwhy_measured){65, 1};
	if (once_in(metered, 2))
		profile->context_idle_w = (struct kwhy_measured){metered->idle_w, 2};
	made->known_powers[0] = (struct kwhy_known_power){
		"gemm_a", {metered->idle_w + metered->kind_w[0], 10}};
	profile->known_powers = made->known_powers;
	profile->known_power_count = below(metered, 2);
	made->kinds[0] = (struct kwhy_kind_power){"gemm", gemm, 1, {200, 40}};
	made->kinds[1] = (struct kwhy_kind_power){"small", soft, 2, {90, 30}};
	profile->kernel_kinds = (struct kwhy_kernel_kinds){5e-3, 0.3, 0.5, made->kinds, below(metered, 3)};
	if (once_in(metered, 2))
		made->options.profile = profile;
}

static void make_learnt(struct metered *metered, struct whole_made *made)
{
	static const char *const names[] = {"gemm_a", "gemm_b", "gemm_a", "softmax"};

	for (size_t i = 0; i < 4; i++)
		made->learnt_items[i] = (struct kwhy_learnt_power){.name = names[i],
			.grid = {i == 2 ? KWHY_UNKNOWN_BLOCKS : metered->kind_blocks[i], i == 1 ? 128 : 256},
			.above_idle_w = between(metered, 0.9, 1.2) *
				metered->kind_w[i == 2	 ? 0
						: i == 3 ? 2
							 : i],
			.sd_w = 5};
	if (once_in(metered, 2))
		made->learnt_items[0].above_idle_w *= 3;
	made->learnt = (struct kwhy_learnt_powers){
		.device_name = once_in(metered, 5) ? "Other" : "nvidia-h200",
		.items = made->learnt_items,
		.count = 4};
	made->learnt_list[0] = &made->learnt;
	made->options.learnt = made->learnt_list;
	made->options.learnt_count = once_in(metered, 4);
}

static void set_options(struct metered *metered, struct whole_made *made)
{
	made->options.seed = below(metered, 3);
	made->options.ignore_counter = once_in(metered, 8);
	made->options.assumed.given = once_in(metered, 8);
	made->options.assumed.all_w = 150;
	for (size_t i = 0; i < KWHY_CATEGORY_COUNT; i++)
		made->options.assumed.category_w[i] = NAN;
	for (size_t i = 0; i < KWHY_COPY_KIND_COUNT; i++)
		made->options.assumed.copy_w[i] = NAN;
}

static void add_ranges(struct metered *metered)
{
	for (int64_t at_ns = 0, i = 0; at_ns < metered->end_ns; at_ns += 500000000, i++) {
		build_range(metered->recording, 0, at_ns + 1000 * i, at_ns + 350000000,
			i % 2 ? "odd" : "even", KWHY_RANGE_STEP);
		build_range(metered->recording, i % 3 ? 0 : KWHY_NONE, at_ns, at_ns + 90000000, "part",
			KWHY_RANGE_NVTX);
	}
}

static void make(struct whole_made *made, uint64_t seed, uint32_t device_count)
{
	int64_t end_ns = 0;
	struct metered metered = {.random = {(seed + 1) * 0x9E3779B97F4A7C15u}, .made = made};

	memset(made, 0, sizeof(*made));
	OK(kwhy_recording_new(&made->recording, &error));
	metered.recording = made->recording;
	metered.power_w = calloc(STEPS_MAX, sizeof(double));
	made->options = kwhy_ledger_options_default();
	made->of_program = once_in(&metered, 4);
	metered.shape = once_in(&metered, 2) ? SHAPE_USUAL : below(&metered, SHAPE_COUNT);
	if (metered.shape == SHAPE_MANY && seed % 4)
		metered.shape = SHAPE_SHORT;
	build_process(made->recording, 1);
	build_thread(made->recording, 0, 1);
	for (; metered.device < device_count; metered.device++) {
		memset(metered.power_w, 0, STEPS_MAX * sizeof(double));
		add_device(&metered, made);
		add_run(&metered);
		end_ns = metered.end_ns > end_ns ? metered.end_ns : end_ns;
	}
	metered.end_ns = end_ns;
	add_coverage(&metered);
	add_ranges(&metered);
	make_profile(&metered, made);
	make_learnt(&metered, made);
	set_options(&metered, made);
	if (once_in(&metered, 4))
		OK(kwhy_recording_add_power_file(
			made->recording, &(struct kwhy_power_file){.path = "power.csv"}, &error));
	free(metered.power_w);
}

void whole_make_metered(struct whole_made *made, uint64_t seed)
{
	make(made, seed, 1);
}

void whole_make_two(struct whole_made *made, uint64_t seed)
{
	make(made, seed, 2);
}
