/* SPDX-License-Identifier: Apache-2.0 */
#include "varied.h"

#include "ok.h"
#include "varied_ops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kwhy_error error;

enum { US = 1000, OPS_MAX = 6, ROUNDS_MAX = 24, THEME = 5 };

uint32_t varied_below(uint64_t *state, uint32_t limit)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)((*state * 2685821657736338717u >> 32) % limit);
}

static uint32_t below(struct varied_program *program, uint32_t limit)
{
	return varied_below(&program->random, limit);
}

static void add_devices(struct varied_program *program)
{
	static const char *const names[] = {"NVIDIA H200", "NVIDIA A100-SXM4-80GB", "Tesla V100-SXM2-16GB",
		"Tesla P100-PCIE-16GB", "AMD Instinct MI300X", NULL};
	static const uint32_t sms[] = {100, 132, 8, 0};
	uint32_t name = below(program, 6), sm_count = sms[below(program, 4)];
	bool ranked = below(program, 2), known = below(program, 2);

	for (uint32_t d = 0; d < program->device_count; d++) {
		struct kwhy_device device = {.index = (int32_t)d,
			.rank = ranked ? d : KWHY_NONE,
			.machine = KWHY_NONE,
			.name = names[name],
			.sm_count = sm_count,
			.memory_bytes = below(program, 3) ? UINT64_C(1) << 30 : 0,
			.threads_per_sm = name == 0 ? 2048 : 0,
			.registers_per_sm = name == 0 ? 65536 : 0,
			.limit_mw = -1,
			.context_idle_mw = known ? 80000 : -1,
			.clean_idle_mw = known ? 60000 : -1};

		OK(kwhy_recording_add_device(program->recording, &device, NULL, &error));
	}
}

/* Adds a process that uses no device, with a thread. */
static void add_idle_process(struct varied_program *program, uint32_t index)
{
	struct kwhy_process process = {.pid = 99, .rank = KWHY_NONE, .machine = KWHY_NONE};
	struct kwhy_thread thread = {.process = index, .tid = program->thread_count};

	OK(kwhy_recording_add_process(program->recording, &process, NULL, &error));
	OK(kwhy_recording_add_thread(program->recording, &thread, NULL, &error));
	program->thread_process[program->thread_count++] = index;
}

/* Adds one process for each device or, if `shared`, one for all, with its threads and streams. */
static void add_processes(struct varied_program *program)
{
	bool shared = below(program, 3) == 0;
	uint32_t process_count = shared ? 1 : program->device_count;
	uint32_t threads = 1 + (below(program, 3) == 0), streams = 1 + below(program, 2);

	if (program->mixed) {
		threads = 1 + below(program, process_count < 3 ? 3 : 2);
		streams = 1 + below(program, program->device_count < VARIED_DEVICES ? 3 : 2);
	}
	for (uint32_t p = 0; p < process_count; p++) {
		struct kwhy_process process = {.pid = 100 + p, .rank = KWHY_NONE, .machine = KWHY_NONE};

		OK(kwhy_recording_add_process(program->recording, &process, NULL, &error));
		for (uint32_t t = 0; t < threads && program->thread_count < VARIED_THREADS; t++) {
			struct kwhy_thread thread = {.process = p, .tid = program->thread_count};

			program->thread_process[program->thread_count++] = p;
			OK(kwhy_recording_add_thread(program->recording, &thread, NULL, &error));
		}
	}
	if (below(program, 4) == 0 && program->thread_count < VARIED_THREADS)
		add_idle_process(program, process_count);
	for (uint32_t s = 0; s < program->device_count * streams; s++) {
		struct kwhy_stream stream = {.device = s % program->device_count,
			.process = shared ? 0 : s % program->device_count,
			.context = 1,
			.id = s};

		program->stream_device[s] = stream.device;
		program->stream_process[s] = stream.process;
		OK(kwhy_recording_add_stream(program->recording, &stream, NULL, &error));
	}
	program->stream_count = program->device_count * streams;
}

static uint32_t thread_of(struct varied_program *program, uint32_t process)
{
	uint32_t thread = below(program, program->thread_count);

	while (program->thread_process[thread] != process)
		thread = (thread + 1) % program->thread_count;
	return thread;
}

static void (*op_of(uint32_t number))(struct varied_program *program, const struct varied_op *op)
{
	return number < VARIED_OPS ? varied_ops[number] : varied_mixed_ops[number - VARIED_OPS];
}

static struct varied_op draw_op(struct varied_program *program, const uint32_t theme[THEME])
{
	static const int64_t lengths_us[] = {
		1, 2, 3, 5, 8, 10, 10, 11, 20, 21, 50, 99, 100, 101, 400, 1000, 11000};
	static const uint64_t sizes[] = {4, 8, 64, 65, 255, 256, 4096, 65535, 65536, 65537, 1 << 20, 8 << 20,
		64 << 20, KWHY_UNKNOWN_BYTES};
	static const uint32_t repeats[] = {1, 1, 1, 2, 3, 4, 9};
	struct varied_op op = {.run = op_of(theme[below(program, THEME)]),
		.stream = below(program, program->stream_count),
		.repeats = repeats[below(program, 7)],
		.name = below(program, 64),
		.choice = below(program, 64),
		.length_ns = US * lengths_us[below(program, below(program, 4) ? 10 : 17)],
		.bytes = sizes[below(program, 14)]};

	op.thread = thread_of(program, program->stream_process[op.stream]);
	op.other = below(program, program->stream_count);
	if (program->stream_process[op.other] != program->stream_process[op.stream])
		op.other = op.stream;
	return op;
}

static void add_step(struct varied_program *program, int64_t start_ns)
{
	struct kwhy_range range = {
		.start_ns = start_ns, .end_ns = program->host_ns[0], .thread = 0, .kind = KWHY_RANGE_STEP};
	char name[32];

	snprintf(name, sizeof(name), "ProfilerStep#%u", (unsigned)program->round);
	range.name = varied_name(program->recording, name);
	OK(kwhy_recording_add_range(program->recording, &range, &error));
}

/*
 * Runs a few operations again and again, the same in each round; some programs run others before the first
 * round.
 */
static void run_rounds(struct varied_program *program)
{
	struct varied_op ops[OPS_MAX], once;
	uint32_t theme[THEME], count = 1 + below(program, OPS_MAX), rounds = 1 + below(program, ROUNDS_MAX);
	bool steps = below(program, 2), begins_apart = below(program, 2);

	for (uint32_t i = 0; i < THEME; i++)
		theme[i] = below(program, VARIED_OPS);
	for (uint32_t i = 0; i < count; i++)
		ops[i] = draw_op(program, theme);
	once = draw_op(program, theme);
	if (begins_apart)
		once.run(program, &once);
	for (program->round = 0; program->round < rounds; program->round++) {
		int64_t start_ns = program->host_ns[0];

		for (uint32_t i = 0; i < count; i++)
			ops[i].run(program, &ops[i]);
		if (steps)
			add_step(program, start_ns);
	}
}

static void run_some(struct varied_program *program, const uint32_t theme[THEME], uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct varied_op op = draw_op(program, theme);

		op.run(program, &op);
	}
}

/*
 * Runs an operation with random changes: it is left out, runs on another thread of its process, or with its
 * two streams exchanged.
 */
static void run_changed(struct varied_program *program, struct varied_op op)
{
	if (below(program, 8) == 0)
		return;
	if (below(program, 4) == 0)
		op.thread = thread_of(program, program->stream_process[op.stream]);
	if (below(program, 6) == 0) {
		uint32_t stream = op.stream;

		op.stream = op.other;
		op.other = stream;
	}
	op.run(program, &op);
}

/*
 * Runs rounds of a few operations, each round with random changes, and other operations before and after
 * them.
 */
static void run_mixed(struct varied_program *program)
{
	struct varied_op ops[OPS_MAX];
	uint32_t theme[THEME], count = 1 + below(program, OPS_MAX), rounds = 2 + below(program, ROUNDS_MAX);
	bool steps = below(program, 2);

	for (uint32_t i = 0; i < THEME; i++)
		theme[i] = i < 2 ? VARIED_OPS + below(program, VARIED_MIXED_OPS) : below(program, VARIED_OPS);
	for (uint32_t i = 0; i < count; i++)
		ops[i] = draw_op(program, theme);
	run_some(program, theme, below(program, 3));
	for (program->round = 0; program->round < rounds; program->round++) {
		int64_t start_ns = program->host_ns[0];

		for (uint32_t i = 0; i < count; i++)
			run_changed(program, ops[i]);
		if (steps && below(program, 8))
			add_step(program, start_ns);
	}
	run_some(program, theme, below(program, 4));
}

static int64_t end_of(const struct varied_program *program)
{
	int64_t end_ns = 0;

	for (uint32_t t = 0; t < program->thread_count; t++)
		end_ns = program->host_ns[t] > end_ns ? program->host_ns[t] : end_ns;
	for (uint32_t s = 0; s < program->stream_count; s++)
		end_ns = program->stream_ns[s] > end_ns ? program->stream_ns[s] : end_ns;
	return end_ns;
}

/*
 * Adds readings of the activity of memory and arithmetic units of each device, at equal intervals over the
 * whole run.
 */
static void add_gauges(struct varied_program *program)
{
	static const int64_t values[] = {0, 100, 300, 450, 500, 900, 1000};
	int64_t end_ns = end_of(program), period_ns = US * (5 + (int64_t)below(program, 4) * 15);

	for (uint32_t d = 0; d < program->device_count; d++) {
		int64_t memory = values[below(program, 7)], units = values[below(program, 7)];

		for (int64_t i = 0; i < 40 && i * period_ns <= end_ns + period_ns; i++) {
			OK(kwhy_recording_add_gauge(program->recording, KWHY_GAUGE_DRAM_ACTIVE, d,
				i * period_ns, memory, &error));
			if (i % 7 != 3)
				OK(kwhy_recording_add_gauge(program->recording, KWHY_GAUGE_TENSOR_ACTIVE, d,
					i * period_ns, units, &error));
		}
	}
}

static void add_windows(struct varied_program *program)
{
	int64_t end_ns = end_of(program);
	struct kwhy_coverage windows[] = {
		{KWHY_NONE, 0, end_ns / 3}, {KWHY_NONE, end_ns / 3 + 10 * US, end_ns + US}};

	for (size_t i = 0; i < 2; i++)
		OK(kwhy_recording_add_coverage(program->recording, &windows[i], &error));
}

static void finish(struct varied_program *program, bool all)
{
	if (below(program, 4) == 0)
		add_gauges(program);
	if (below(program, 6) == 0)
		program->recording->lost.dropped_records = 3;
	if (below(program, 5) == 0)
		OK(kwhy_recording_add_work(program->recording, "flop_fp32", 1e9, &error));
	if (below(program, 5) == 0)
		OK(kwhy_recording_add_work(program->recording, "bytes", 1e8, &error));
	if (below(program, 8) == 0 && !all && end_of(program) > 30 * US)
		add_windows(program);
	OK(kwhy_recording_finish(program->recording, &error));
}

static struct kwhy_recording *record(uint64_t seed, bool all, bool mixed)
{
	static const int64_t gaps_ns[] = {US, US, US, US, 2 * US, 0, 1, 2};
	struct varied_program program = {.random = (seed + 1) * 0x9E3779B97F4A7C15u, .mixed = mixed};

	OK(kwhy_recording_new(&program.recording, &error));
	program.device_count = below(&program, 2) ? 1 : 2 + below(&program, VARIED_DEVICES - 1);
	program.gap_ns = gaps_ns[below(&program, 8)];
	program.uneven = below(&program, 2);
	add_devices(&program);
	add_processes(&program);
	for (uint32_t t = 0; t < program.thread_count; t++)
		program.host_ns[t] = US * (int64_t)below(&program, 20);
	if (mixed)
		run_mixed(&program);
	else
		run_rounds(&program);
	finish(&program, all);
	return program.recording;
}

/*
 * Gives the ledger's energies intervals as energies from a meter have, and lets the power change over time.
 */
static void widen(struct kwhy_ledger *ledger, const struct kwhy_recording *recording)
{
	static double scales[] = {1, 1.25, 0.75};

	for (size_t d = 0; d < ledger->device_count; d++) {
		struct kwhy_device_ledger *device = &ledger->devices[d];

		for (size_t i = 0; i < device->account_count; i++) {
			if (device->accounts[i].gross_nj == KWHY_UNKNOWN_NJ)
				continue;
			device->accounts[i].low_nj = device->accounts[i].gross_nj * 7 / 8;
			device->accounts[i].high_nj = device->accounts[i].gross_nj * 5 / 4;
		}
		device->curve.edge_ns = kwhy_arena_alloc(&ledger->arena, 4, sizeof(*device->curve.edge_ns));
		for (int i = 0; i < 4; i++)
			device->curve.edge_ns[i] = recording->end_ns / 3 * i + i;
		device->curve.scale = scales;
		device->curve.count = 3;
		device->curve.unmetered_scale = 1;
	}
}

static struct kwhy_ledger *modelled(const struct kwhy_recording *recording, uint64_t seed)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();
	struct kwhy_ledger *ledger;

	options.assumed.given = true;
	options.assumed.all_w = seed % 4 ? 200 : 500;
	for (int i = 0; i < KWHY_CATEGORY_COUNT; i++)
		options.assumed.category_w[i] = NAN;
	for (int i = 0; i < KWHY_COPY_KIND_COUNT; i++)
		options.assumed.copy_w[i] = NAN;
	options.assumed.category_w[KWHY_CATEGORY_COMPUTE] = 300;
	options.assumed.category_w[KWHY_CATEGORY_COLLECTIVE] = 250;
	options.assumed.category_w[KWHY_CATEGORY_IDLE] = 80;
	OK(kwhy_ledger_new(recording, &options, &ledger, &error));
	if (seed % 4 < 2)
		widen(ledger, recording);
	return ledger;
}

static struct kwhy_measured measured(double value)
{
	return (struct kwhy_measured){value, value / 10};
}

static struct kwhy_transfer_curve curves[] = {
	{.strategy = "pinned",
		.direction = KWHY_TRANSFER_H2D,
		.clock = KWHY_TRANSFER_BACK_TO_BACK,
		.segments = {{1, 65536, 2e-6, 1e-10}, {65536, 1 << 24, 4e-6, 0.25e-10}},
		.segment_count = 2,
		.residual_ratio = 0.01},
	{.strategy = "pageable",
		.direction = KWHY_TRANSFER_H2D,
		.clock = KWHY_TRANSFER_BY_HOST,
		.segments = {{1, 1 << 24, 5e-6, 1e-10}},
		.segment_count = 1,
		.residual_ratio = NAN},
	{.strategy = "pinned",
		.direction = KWHY_TRANSFER_D2H,
		.clock = KWHY_TRANSFER_ISOLATED,
		.segments = {{1, 4096, 3e-6, 1e-10}, {4096, 1 << 24, 5e-6, 0.5e-10}},
		.segment_count = 2,
		.residual_ratio = 0.05},
};

static const struct kwhy_transfers transfers = {.curves = curves, .curve_count = 3};

static void fill_profile(struct kwhy_profile *profile)
{
	kwhy_profile_init(profile);
	profile->launch_s = measured(2.5e-6);
	profile->graph_launch_s = measured(6e-6);
	profile->graph_launch_node_s = measured(0.25e-6);
	profile->graph_start_node_s = measured(0.125e-6);
	profile->graph_node_s = measured(1.25e-6);
	profile->queued_kernel_s = measured(1.75e-6);
	profile->h2d_pinned_rate_bytes_per_s = measured(50e9);
	profile->h2d_pageable_rate_bytes_per_s = measured(8e9);
	profile->d2h_pinned_rate_bytes_per_s = measured(40e9);
	profile->d2h_pageable_rate_bytes_per_s = measured(5e9);
	profile->peak_flop_per_s[KWHY_PRECISION_FP32] = 50e12;
	profile->peak_flop_per_s[KWHY_PRECISION_TF32] = 300e12;
	profile->peak_bytes_per_s = 3e12;
}

static struct varied complete(struct kwhy_recording *recording, uint64_t seed)
{
	struct varied varied = {.recording = recording};

	if (seed % 3)
		varied.ledger = modelled(varied.recording, seed);
	varied.has_profile = seed % 2;
	if (varied.has_profile)
		fill_profile(&varied.profile);
	if (seed % 4 == 1)
		varied.profile.transfers = &transfers;
	return varied;
}

struct varied varied_new(uint64_t seed, bool all)
{
	return complete(record(seed, all, false), seed);
}

struct varied varied_mixed_new(uint64_t seed)
{
	return complete(record(seed, true, true), seed);
}

void varied_free(struct varied *varied)
{
	kwhy_ledger_free(varied->ledger);
	kwhy_recording_free(varied->recording);
}
