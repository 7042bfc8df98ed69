/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/whole_make.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LAST = 240 }; /* the latest start, in units of time */

struct timed {
	struct whole_random random;
	struct kwhy_recording *recording;
	int64_t unit_ns;
	uint32_t devices, processes, threads, streams, calls;
};

uint32_t whole_below(struct whole_random *random, uint32_t limit)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return (uint32_t)((random->state * 2685821657736338717u >> 33) % limit);
}

bool whole_once_in(struct whole_random *random, uint32_t times)
{
	return whole_below(random, times) == 0;
}

double whole_between(struct whole_random *random, double low, double high)
{
	return low + (high - low) * (double)whole_below(random, 1000) / 1000;
}

static uint32_t below(struct timed *timed, uint32_t limit)
{
	return whole_below(&timed->random, limit);
}

static bool once_in(struct timed *timed, uint32_t times)
{
	return whole_once_in(&timed->random, times);
}

static int64_t time_of(struct timed *timed)
{
	return (int64_t)below(timed, LAST) * timed->unit_ns;
}

/* Returns a length that is often 0 and rarely long. */
static int64_t length_of(struct timed *timed)
{
	static const uint32_t limits[] = {1, 4, 20, 60};

	return (int64_t)below(timed, limits[below(timed, 4)]) * timed->unit_ns;
}

static uint32_t name_of(struct timed *timed, const char *prefix, uint32_t limit)
{
	char text[32];

	snprintf(text, sizeof(text), "%s %u", prefix, below(timed, limit));
	return build_name(timed->recording, text);
}

static void add_machines(struct timed *timed)
{
	const uint32_t count = below(timed, 3);

	for (uint32_t i = 0; i < count; i++)
		build_machine(timed->recording, once_in(timed, 3) ? "same" : i ? "right" : "left");
}

static uint32_t machine_of(struct timed *timed)
{
	const uint32_t count = (uint32_t)timed->recording->machine_count;

	return count && !once_in(timed, 4) ? below(timed, count) : KWHY_NONE;
}

static void add_devices(struct timed *timed)
{
	timed->devices = 1 + below(timed, 3);
	for (uint32_t i = 0; i < timed->devices; i++) {
		struct kwhy_device device = {.index = (int32_t)i,
			.rank = once_in(timed, 2) ? KWHY_NONE : below(timed, 3),
			.machine = machine_of(timed),
			.name = once_in(timed, 5)   ? NULL
				: once_in(timed, 6) ? "Other"
						    : "Device",
			.sm_count = below(timed, 3) * 4,
			.threads_per_sm = below(timed, 3) * 512,
			.registers_per_sm = once_in(timed, 2) ? 65536 : 0,
			.shared_bytes_per_sm = once_in(timed, 2) ? 100000 : 0,
			.memory_bytes = once_in(timed, 2) ? 5000 : 0,
			.limit_mw = -1,
			.context_idle_mw = -1,
			.clean_idle_mw = -1};

		OK(kwhy_recording_add_device(timed->recording, &device, NULL, &error));
	}
}

static void add_processes(struct timed *timed)
{
	timed->processes = 1 + below(timed, 3);
	for (uint32_t i = 0; i < timed->processes; i++) {
		struct kwhy_process process = {.pid = 10 + i,
			.rank = once_in(timed, 2) ? KWHY_NONE : below(timed, 3),
			.machine = machine_of(timed)};

		OK(kwhy_recording_add_process(timed->recording, &process, NULL, &error));
	}
	timed->threads = 1 + below(timed, 4);
	for (uint32_t i = 0; i < timed->threads; i++)
		build_thread(timed->recording, below(timed, timed->processes), i);
	timed->streams = 1 + below(timed, 5);
	for (uint32_t i = 0; i < timed->streams; i++) {
		const uint32_t device = below(timed, timed->devices);

		build_stream(timed->recording, device, below(timed, timed->processes), i);
	}
}

static void add_calls(struct timed *timed)
{
	static const char *const names[] = {"cudaGetDevice", "cudaLaunchKernel", "cudaMemcpy",
		"cudaStreamSynchronize", "cudaMalloc", "cudaFree", "cudaMemcpyAsync",
		"cudaDeviceSynchronize"};

	timed->calls = once_in(timed, 4) ? 0 : 1 + below(timed, 40);
	for (uint32_t i = 0; i < timed->calls; i++) {
		const int64_t start_ns = time_of(timed), end_ns = start_ns + length_of(timed) + 1 + i;
		const uint32_t thread = below(timed, timed->threads);

		build_call(timed->recording, thread, start_ns, end_ns, names[below(timed, 8)], i);
	}
}

static void describe_copy(struct timed *timed, struct kwhy_activity *row)
{
	row->copy_kind = row->kind == KWHY_ACTIVITY_COPY ? (uint8_t)below(timed, KWHY_COPY_KIND_COUNT) : 0;
	row->bytes = once_in(timed, 5) ? KWHY_UNKNOWN_BYTES
		: once_in(timed, 3)    ? 4094 + below(timed, 4)
		: once_in(timed, 3)    ? (uint64_t)1 << below(timed, 40)
				       : below(timed, 4);
	row->src_memory = (uint8_t)below(timed, 4);
	row->dst_memory = (uint8_t)below(timed, 4);
	row->name = once_in(timed, 4) ? name_of(timed, "move", 2) : build_name(timed->recording, "");
}

static void describe_grid(struct timed *timed, struct kwhy_activity *row)
{
	static const uint16_t threads[] = {1, 32, 33, 128, 256, 1024, 2048, KWHY_UNKNOWN_U16};
	static const uint16_t registers[] = {0, 16, 32, 33, 64, 255, KWHY_UNKNOWN_U16};
	static const uint32_t shared[] = {0, 1, 1024, 50000, 100000, 100001, KWHY_NONE};

	row->blocks = once_in(timed, 6) ? KWHY_UNKNOWN_BLOCKS : below(timed, 40);
	row->threads_per_block = threads[below(timed, 8)];
	row->registers = registers[below(timed, 7)];
	row->shared_bytes = shared[below(timed, 7)];
	row->name = once_in(timed, 9) ? build_name(timed->recording, "") : name_of(timed, "kernel", 5);
}

static void add_activities(struct timed *timed)
{
	const uint32_t count = below(timed, 45);
	const bool probed = once_in(timed, 3);

	for (uint32_t i = 0; i < count; i++) {
		struct kwhy_activity row = kwhy_activity_unknown();

		row.kind = (uint8_t)(once_in(timed, 3) ? below(timed, KWHY_ACTIVITY_KIND_COUNT) : 0);
		row.start_ns = time_of(timed);
		row.end_ns = row.start_ns + length_of(timed);
		row.stream = below(timed, timed->streams);
		row.call = timed->calls ? below(timed, timed->calls + 3) : KWHY_NONE;
		if (row.kind >= KWHY_ACTIVITY_COPY)
			describe_copy(timed, &row);
		else
			describe_grid(timed, &row);
		if (probed && once_in(timed, 3))
			row.origin = once_in(timed, 4) ? KWHY_ORIGIN_PROBER : KWHY_ORIGIN_REPEAT;
		build_add(timed->recording, row);
	}
}

static void add_bursts(struct timed *timed)
{
	const uint32_t count = below(timed, 6);

	for (uint32_t i = 0; i < count; i++) {
		struct kwhy_burst burst = {.start_ns = time_of(timed),
			.name = name_of(timed, "kernel", 5),
			.process = below(timed, timed->processes),
			.stream = below(timed, timed->streams),
			.repeats = 3};

		burst.end_ns = burst.start_ns + length_of(timed);
		OK(kwhy_recording_add_burst(timed->recording, &burst, &error));
	}
}

static void add_collectives(struct timed *timed)
{
	const uint32_t rows = (uint32_t)timed->recording->activities.count;

	for (uint32_t i = 0; rows && i < 3; i++) {
		struct kwhy_collective collective = {
			.activity = below(timed, rows), .group_size = 2 + i, .sequence = i};

		OK(kwhy_recording_add_collective(timed->recording, &collective, &error));
	}
}

static void add_ranges(struct timed *timed)
{
	const uint32_t count = below(timed, 16);
	const bool regular = once_in(timed, 2);
	/*
	 * a pause before one of the steps. Steps belong to one loop if the pause is at most 10 periods of
	 * 14 units; this pause is as long, one unit shorter or one unit longer
	 */
	const uint32_t paused = once_in(timed, 2) ? 1 + below(timed, 4) : count;
	const int64_t pause = 14 * 10 - 14 + 6 - 1 + below(timed, 3);

	for (uint32_t i = 0; i < count; i++) {
		struct kwhy_range range = {.start_ns = regular
				? ((int64_t)i * 14 + (i >= paused ? pause : 0)) * timed->unit_ns
				: time_of(timed),
			.name = name_of(timed, once_in(timed, 2) ? "step" : "range", 4),
			.thread = once_in(timed, 6) ? KWHY_NONE : below(timed, timed->threads),
			.kind = regular ? KWHY_RANGE_STEP : below(timed, KWHY_RANGE_KIND_COUNT)};

		range.end_ns = range.start_ns +
			(regular || once_in(timed, 3) ? 6 * timed->unit_ns : 2 * length_of(timed));
		OK(kwhy_recording_add_range(timed->recording, &range, &error));
	}
}

static void add_host_ranges(struct timed *timed)
{
	const uint32_t count = below(timed, 14);

	for (uint32_t i = 0; i < count; i++) {
		struct kwhy_host_range range = {.start_ns = time_of(timed),
			.name = name_of(timed, "host", 4),
			.file = once_in(timed, 2) ? 0 : name_of(timed, "file", 2),
			.thread = below(timed, timed->threads),
			.kind = (uint8_t)(KWHY_HOST_OPERATOR + below(timed, 3))};

		range.line = range.file ? below(timed, 3) : 0;
		range.end_ns = range.start_ns + 2 * length_of(timed);
		OK(kwhy_recording_add_host_range(timed->recording, &range, &error));
	}
}

static void add_memory(struct timed *timed)
{
	const uint32_t count = below(timed, 12);

	for (uint32_t i = 0; i < count; i++) {
		struct kwhy_memory_point point = {.time_ns = time_of(timed),
			.device = below(timed, timed->devices),
			.process = below(timed, timed->processes),
			.allocated_bytes = once_in(timed, 3) ? KWHY_UNKNOWN_BYTES : below(timed, 4) * 1000,
			.reserved_bytes = once_in(timed, 3) ? KWHY_UNKNOWN_BYTES : below(timed, 7) * 1000};

		OK(kwhy_recording_add_memory(timed->recording, &point, &error));
	}
}

static void add_costs(struct timed *timed)
{
	const uint32_t count = below(timed, 8);

	for (uint32_t i = 0; i < count; i++) {
		struct kwhy_cost cost = {.process = below(timed, timed->processes),
			.kind = once_in(timed, 3) ? KWHY_COST_MACHINE : below(timed, KWHY_COST_KIND_COUNT),
			.spent_ns = (int64_t)below(timed, 1000) * 1000000,
			.count = below(timed, 5)};

		if (cost.kind == KWHY_COST_MACHINE) {
			cost.spent_ns = 3000000000;
			cost.count = 1000000000;
		}
		OK(kwhy_recording_add_cost(timed->recording, &cost, &error));
	}
}

static void add_overheads(struct timed *timed)
{
	const uint32_t count = below(timed, 7);

	for (uint32_t i = 0; i < count; i++) {
		struct kwhy_overhead overhead = {.start_ns = time_of(timed),
			.thread = once_in(timed, 4) ? KWHY_NONE : below(timed, timed->threads)};

		overhead.end_ns = overhead.start_ns + 2 * length_of(timed);
		OK(kwhy_recording_add_overhead(timed->recording, &overhead, &error));
	}
}

/*
 * Adds up to three meters of hosts: counters that in one interval may fall, wrap, jump or rise much, and
 * powers.
 */
static void add_host_meters(struct timed *timed)
{
	static const enum kwhy_meter meters[] = {KWHY_METER_RAPL_PACKAGE, KWHY_METER_RAPL_DRAM,
		KWHY_METER_HWMON_ENERGY, KWHY_METER_HWMON_POWER};
	const uint32_t count = below(timed, 4);

	for (uint32_t m = 0; m < count; m++) {
		struct kwhy_power_source source = {.meter = meters[below(timed, 4)],
			.device = KWHY_NONE,
			.domain = m,
			.machine = machine_of(timed),
			.wrap = once_in(timed, 2) ? 100000000 : 0};
		const uint32_t readings = 1 + below(timed, 9);
		const uint32_t odd = below(timed, 12), ratio = 2 + below(timed, 3);
		int64_t value = once_in(timed, 2) ? 85000000 : 0;

		for (uint32_t i = 0; i < readings; i++) {
			/* 100 W for 0.1 s is 10 J; in interval `odd` 20 J to 40 J, or the counter falls */
			value += i == odd ? (int64_t)ratio * 10000000 + (ratio == 3) : 10000000;
			if (value > 100000000)
				value -= 100000001;
			if (i == odd && once_in(timed, 3))
				value = once_in(timed, 2) ? 0 : value + 3000000000;
			OK(kwhy_recording_add_power(timed->recording, &source, (int64_t)i * 100000000,
				kwhy_meter_is_counter(source.meter) ? value
								    : 1000 * (int64_t)below(timed, 99),
				&error));
		}
	}
}

static void add_coverage(struct timed *timed)
{
	const uint32_t count = below(timed, 9);
	const bool chosen = once_in(timed, 2);
	struct kwhy_selection selection = {
		.device = once_in(timed, 3) ? below(timed, timed->devices) : KWHY_NONE,
		.choice = once_in(timed, 3) ? below(timed, KWHY_CHOICE_COUNT) : KWHY_CHOICE_DUTY,
		.start_ns = (int64_t)below(timed, 3) * timed->unit_ns,
		.end_ns = (int64_t)(LAST - 40 + below(timed, 90)) * timed->unit_ns,
		.share_ratio = 0.4};
	int64_t at_ns = 0;

	if (once_in(timed, 3))
		return;
	for (uint32_t i = 0; i < count; i++) {
		struct kwhy_coverage window = {once_in(timed, 5) ? below(timed, timed->devices) : KWHY_NONE,
			at_ns + (int64_t)below(timed, 12) * timed->unit_ns, 0};

		at_ns = window.end_ns = window.start_ns + (int64_t)(10 + below(timed, 40)) * timed->unit_ns;
		OK(kwhy_recording_add_coverage(timed->recording, &window, &error));
	}
	if (chosen && count)
		OK(kwhy_recording_add_selection(timed->recording, &selection, &error));
}

static void add_work(struct timed *timed)
{
	static const char *const units[] = {"flop_bf16", "flop_fp32", "bytes", "flop", "flop_int3", "tokens"};
	const double run_s = (double)timed->unit_ns * 1e-9;
	const uint32_t count = once_in(timed, 2) ? below(timed, 4) : 0;

	for (uint32_t i = 0; i < count; i++) {
		const char *unit = units[below(timed, 6)];

		OK(kwhy_recording_add_work(
			timed->recording, unit, run_s * 1e9 * (double)below(timed, 300), &error));
	}
}

static void set_options(struct timed *timed, struct whole_made *made)
{
	static const char *const steps[] = {"step 1", "step*", "step 2", "range*"};

	kwhy_profile_init(&made->profile);
	made->profile.sm_count = 8;
	made->profile.peak_flop_per_s[KWHY_PRECISION_BF16] = 1e9;
	if (once_in(timed, 2))
		made->profile.peak_flop_per_s[KWHY_PRECISION_FP32] = 2e9;
	if (once_in(timed, 2))
		made->profile.peak_bytes_per_s = 1e9;
	made->options = kwhy_ledger_options_default();
	if (once_in(timed, 2))
		made->options.profile = &made->profile;
	if (once_in(timed, 3))
		made->options.step_name = steps[below(timed, 4)];
	made->options.assumed.given = once_in(timed, 3);
	made->options.assumed.all_w = once_in(timed, 2) ? NAN : 200;
	for (size_t i = 0; i < KWHY_CATEGORY_COUNT; i++)
		made->options.assumed.category_w[i] = once_in(timed, 2) ? NAN : 100 + 10 * (double)i;
	for (size_t i = 0; i < KWHY_COPY_KIND_COUNT; i++)
		made->options.assumed.copy_w[i] = once_in(timed, 2) ? NAN : 50 + 5 * (double)i;
	made->of_program = once_in(timed, 2);
}

void whole_make_timed(struct whole_made *made, uint64_t seed)
{
	static const int64_t units_ns[] = {1, 10, 1000, 1000000};
	struct timed timed = {.random = {(seed + 1) * 0x9E3779B97F4A7C15u}};

	memset(made, 0, sizeof(*made));
	OK(kwhy_recording_new(&made->recording, &error));
	timed.recording = made->recording;
	timed.unit_ns = units_ns[whole_below(&timed.random, 4)];
	add_machines(&timed);
	add_devices(&timed);
	add_processes(&timed);
	add_calls(&timed);
	add_activities(&timed);
	add_bursts(&timed);
	add_collectives(&timed);
	add_ranges(&timed);
	add_host_ranges(&timed);
	add_memory(&timed);
	add_costs(&timed);
	add_overheads(&timed);
	add_host_meters(&timed);
	add_coverage(&timed);
	add_work(&timed);
	set_options(&timed, made);
}
