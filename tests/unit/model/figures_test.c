/* SPDX-License-Identifier: Apache-2.0 */
#include "../expected_text.h"
#include "base/text.h"
#include "cmocka_all.h"
#include "model/gpu_generation.h"
#include "model/gpu_peaks.h"
#include "model/held_cause.h"
#include "model/host_time.h"
#include "model/host_wait.h"
#include "model/learnt.h"
#include "model/operator_work.h"
#include "model/probing.h"
#include "model/range_overlaps.h"
#include "ok.h"
#include "unit/guarded_memory.h"
#include "varied.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * For many small random recordings, compares what the model computes from them with a stored file: tables of
 * the finished recording, host states in the gaps of a device, causes, work of operators, overlaps of ranges,
 * and the meters' readings that are kept. The file has a digest of each recording's text. The allocator puts
 * guards around memory, so that reading beyond an array changes the digest.
 */

static struct kwhy_error error;

enum { VARIED = 200, MIXED = 300, METERED = 700, NESTED = 200 };

static void mix(uint64_t *sum, uint64_t value)
{
	*sum = (*sum ^ value) * UINT64_C(1099511628211);
	*sum ^= *sum >> 29;
}

static void write_sum(struct kwhy_text *out, const char *what, uint64_t sum)
{
	kwhy_text_addf(out, " %s %" PRIu32, what, (uint32_t)(sum >> 13));
}

static void write_activities(struct kwhy_text *out, const struct kwhy_recording *recording)
{
	const struct kwhy_activities *rows = &recording->activities;
	uint64_t sum = 0;

	for (size_t i = 0; i < rows->count; i++) {
#define X(type, column) mix(&sum, (uint64_t)rows->column[i]);
		KWHY_ACTIVITY_COLUMNS(X)
#undef X
	}
	for (size_t d = 0; d <= recording->device_count; d++)
		mix(&sum, rows->first[d]);
	write_sum(out, "activities", sum);
}

static void write_calls(struct kwhy_text *out, const struct kwhy_recording *recording)
{
	const struct kwhy_calls *rows = &recording->calls;
	uint64_t sum = 0;

	for (size_t i = 0; i < rows->count; i++) {
		mix(&sum, (uint64_t)rows->start_ns[i]);
		mix(&sum, (uint64_t)rows->end_ns[i]);
		mix(&sum, rows->name[i]);
		mix(&sum, rows->thread[i]);
		mix(&sum, rows->class[i]);
	}
	for (size_t i = 0; i < recording->range_count; i++)
		mix(&sum, (uint64_t)(recording->ranges[i].start_ns ^ recording->ranges[i].end_ns << 9));
	write_sum(out, "calls", sum);
}

static void write_host_ranges(struct kwhy_text *out, const struct kwhy_recording *recording)
{
	const struct kwhy_host_ranges *rows = &recording->host_ranges;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < rows->count; i++) {
		const int64_t middle_ns = (rows->start_ns[i] + rows->end_ns[i]) / 2;

#define X(type, column) mix(&sum, (uint64_t)rows->column[i]);
		KWHY_HOST_RANGE_COLUMNS(X)
#undef X
		mix(&sum, (uint64_t)kwhy_held_cause_of(recording, i));
		mix(&sum, kwhy_host_range_source(recording, i));
		mix(&sum, kwhy_host_range_at(recording, rows->thread[i], rows->start_ns[i]));
		mix(&sum, kwhy_host_range_at(recording, rows->thread[i], rows->end_ns[i]));
		mix(&sum,
			kwhy_host_range_over(
				recording, rows->thread[i], rows->start_ns[i] - 2000, middle_ns));
		mix(&sum,
			kwhy_host_range_over(recording, rows->thread[i], middle_ns, rows->end_ns[i] + 2000));
	}
	for (uint32_t i = 0; i < recording->calls.count; i++)
		mix(&sum, kwhy_host_range_of_call(recording, i));
	write_sum(out, "host", sum);
}

static void write_operators(struct kwhy_text *out, const struct kwhy_recording *recording)
{
	const struct kwhy_host_ranges *rows = &recording->host_ranges;
	double flop = 0, bytes = 0;

	for (size_t i = 0; i < rows->count; i++) {
		struct kwhy_operator_work work;
		uint32_t shape = kwhy_host_range_shape(rows, i);

		if (!shape ||
			!kwhy_operator_work(kwhy_names_get(&recording->names, rows->name[i]),
				kwhy_names_get(&recording->names, shape), &work))
			continue;
		flop += work.flop * (work.precision + 1);
		bytes += work.bytes;
	}
	kwhy_text_addf(out, " operators %.7g %.7g", flop, bytes);
}

static void take_piece(void *sum, int64_t start_ns, int64_t end_ns, uint32_t row)
{
	mix(sum, (uint64_t)start_ns);
	mix(sum, (uint64_t)end_ns);
	mix(sum, row);
}

struct divided {
	struct kwhy_host_time time;
	struct kwhy_host_wait wait;
	uint64_t pieces;
	int64_t parts_ns[KWHY_HOST_STATE_COUNT];
};

static void divide(struct divided *divided, const struct kwhy_host_span *gap, uint32_t before, uint32_t after)
{
	int64_t part_ns[KWHY_HOST_STATE_COUNT], sum_ns = 0;

	kwhy_host_time_divide(&divided->time, gap, before, after, take_piece, &divided->pieces);
	OK(kwhy_host_wait_divide(&divided->wait, gap, after, part_ns, &error));
	for (int i = 0; i < KWHY_HOST_STATE_COUNT; i++) {
		divided->parts_ns[i] += part_ns[i];
		sum_ns += part_ns[i];
	}
	assert_int_equal(sum_ns, gap->end_ns - gap->start_ns);
}

/*
 * Appends what the host did in all gaps between a device's activities, and the time in each host state, ns.
 */
static void write_gaps(struct kwhy_text *out, const struct kwhy_recording *recording, uint32_t device)
{
	const struct kwhy_activities *rows = &recording->activities;
	struct divided divided = {.pieces = 0};
	uint32_t last = KWHY_NONE;

	OK(kwhy_host_time_init(&divided.time, recording, &error));
	OK(kwhy_host_wait_init(&divided.wait, recording, device, &error));
	for (uint32_t i = (uint32_t)rows->first[device]; i < rows->first[device + 1]; i++) {
		struct kwhy_host_span gap = {last == KWHY_NONE ? 0 : rows->end_ns[last], rows->start_ns[i]};

		if (gap.start_ns < gap.end_ns)
			divide(&divided, &gap, last, i);
		if (last == KWHY_NONE || rows->end_ns[i] > rows->end_ns[last])
			last = i;
	}
	write_sum(out, "gaps", divided.pieces);
	for (int i = 0; i < KWHY_HOST_STATE_COUNT; i++)
		kwhy_text_addf(out, " %" PRId64, divided.parts_ns[i]);
	kwhy_host_time_done(&divided.time);
	kwhy_host_wait_done(&divided.wait);
}

static void write_device(struct kwhy_text *out, const struct kwhy_device *device)
{
	const struct kwhy_gpu_generation *generation = kwhy_gpu_generation_of(device);
	struct kwhy_gpu_peaks peaks = kwhy_gpu_peaks_of(device, NULL);

	kwhy_text_addf(out, " %s %d %.7g", generation->link, (int)generation->tensor_cores,
		isnan(peaks.bytes_per_s) ? 0 : peaks.bytes_per_s);
}

static void write_overlaps(
	struct kwhy_text *out, const struct kwhy_recording *recording, const struct kwhy_ledger *ledger)
{
	struct kwhy_range_overlaps *overlaps = malloc(sizeof(*overlaps));
	uint64_t sum = 0;

	assert_non_null(overlaps);
	assert_true(kwhy_range_overlaps_of(recording, ledger->ranges, ledger->range_count, overlaps));
	for (size_t a = 0; a < overlaps->count; a++) {
		mix(&sum, (uint64_t)overlaps->union_ns[a]);
		for (size_t b = 0; b < overlaps->count; b++)
			mix(&sum,
				kwhy_range_overlaps_has(overlaps, a, b) +
					2U * kwhy_range_overlaps_beside(overlaps, a, b));
	}
	write_sum(out, "overlaps", sum);
	free(overlaps);
}

static void write_learnt(
	struct kwhy_text *out, const struct kwhy_recording *recording, const struct kwhy_ledger *ledger)
{
	for (uint32_t d = 0; d < recording->device_count; d++) {
		size_t count = ledger->devices[d].account_count;
		struct kwhy_learnt_grid *grids = calloc(count, sizeof(*grids));

		assert_non_null(grids);
		OK(kwhy_learnt_grids_find(recording, d, &ledger->devices[d], grids, &error));
		for (size_t i = 0; i < count; i++)
			kwhy_text_addf(out, " %" PRIu32 "x%" PRIu32, grids[i].blocks, grids[i].threads);
		free(grids);
	}
}

static void write_probing(struct kwhy_text *out, const struct kwhy_recording *recording)
{
	struct kwhy_probing probing;
	struct kwhy_probing_parts parts;
	struct kwhy_probing_part unprobed[2];

	OK(kwhy_probing_init(&probing, &error));
	OK(kwhy_probing_add(&probing, recording, false, &error));
	parts = kwhy_probing_count(&probing, KWHY_PROBING_WITHIN_RATIO);
	kwhy_text_addf(out,
		" probing %" PRId64 ": %zu %" PRId64 " known %zu %" PRId64 " probed %zu %" PRId64
		" waiting %zu %" PRId64 " bursts %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		" %s in %" PRId64,
		probing.busy_ns, parts.all.accounts, parts.all.busy_ns, parts.known.accounts,
		parts.known.busy_ns, parts.probed.accounts, parts.probed.busy_ns, parts.waiting.accounts,
		parts.waiting.busy_ns, probing.bursts, probing.repeats, probing.checked, probing.different,
		kwhy_names_get(&probing.names, probing.different_name), probing.spent_ns);
	for (size_t i = 0, count = kwhy_probing_list_unprobed(&probing, unprobed, 2); i < count; i++)
		kwhy_text_addf(out, " %s: %zu %" PRId64, unprobed[i].reason, unprobed[i].accounts,
			unprobed[i].busy_ns);
	kwhy_probing_done(&probing);
}

static void write_notes(struct kwhy_text *out, const struct kwhy_recording *recording)
{
	for (size_t i = 0; i < recording->note_count; i++)
		kwhy_text_addf(out, "\n %s: %s", recording->notes[i].id, recording->notes[i].text);
	kwhy_text_addf(out, "\n lost %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		recording->lost.unmatched_launches, recording->lost.unlinked_activities,
		recording->lost.unknown_bytes);
}

static void write_recording(struct kwhy_text *out, struct varied *varied)
{
	const struct kwhy_recording *recording = varied->recording;

	write_activities(out, recording);
	write_calls(out, recording);
	write_host_ranges(out, recording);
	write_operators(out, recording);
	for (uint32_t d = 0; d < recording->device_count; d++) {
		write_device(out, &recording->devices[d]);
		if (recording->calls.count)
			write_gaps(out, recording, d);
	}
	if (varied->ledger) {
		write_overlaps(out, recording, varied->ledger);
		write_learnt(out, recording, varied->ledger);
	}
	write_probing(out, recording);
	write_notes(out, recording);
	varied_free(varied);
}

static uint32_t name_of(struct kwhy_recording *recording, const char *name)
{
	uint32_t id;

	OK(kwhy_names_intern(&recording->names, name, strlen(name), &id, &error));
	return id;
}

static const char *const kernels[] = {"k", "gemm", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "softmax"};

/*
 * Adds a kernel every 50 ms for 3 s and the calls that launched them. Some calls have no kernel, some no
 * name.
 */
static void add_launches(struct kwhy_recording *recording, uint64_t *state)
{
	static const char *const calls[] = {"cudaLaunchKernel", "", "cudaMalloc", "cudaStreamBeginCapture",
		"cudaLaunchKernel", "cudaStreamEndCapture", "cuLaunchKernel"};
	uint32_t sorts = 1 + varied_below(state, 4), lost = varied_below(state, 3);

	for (uint32_t i = 0; i < 60; i++) {
		struct kwhy_activity row = kwhy_activity_unknown();
		const char *name = calls[lost ? varied_below(state, 7) : 0];

		row.start_ns = i * INT64_C(50000000);
		row.end_ns = row.start_ns + 30000000;
		row.stream = 0;
		row.name = name_of(recording, kernels[varied_below(state, sorts)]);
		row.blocks = 8 << varied_below(state, 2);
		row.call = i;
		row.graph_node = varied_below(state, 16) ? KWHY_NONE : 0;
		row.origin = varied_below(state, 9) ? KWHY_ORIGIN_PROGRAM : KWHY_ORIGIN_REPEAT;
		if (lost < 2 || varied_below(state, 8))
			OK(kwhy_recording_add_activity(recording, &row, &error));
		OK(kwhy_recording_add_call(recording, row.start_ns - 5000, row.start_ns - 1000,
			name_of(recording, name), 0, i, &error));
	}
}

/* Adds, at random, a prober's burst of repeats of a kernel or a record of launches that were not probed. */
static void add_burst(struct kwhy_recording *recording, uint64_t *state)
{
	static const uint32_t repeats[] = {0, 1, 10, 40};
	const uint32_t name = name_of(recording, kernels[varied_below(state, 2)]);
	const uint32_t blocks = 8 << varied_below(state, 2);
	struct kwhy_burst burst = {
		.name = name, .blocks = blocks, .threads_per_block = KWHY_UNKNOWN_U16, .stream = KWHY_NONE};
	struct kwhy_unprobed unprobed = {
		.name = name, .blocks = blocks, .threads_per_block = KWHY_UNKNOWN_U16};

	burst.start_ns = varied_below(state, 3000) * INT64_C(1000000);
	burst.end_ns = burst.start_ns + 1000 * varied_below(state, 500);
	burst.repeats = repeats[varied_below(state, 4)];
	burst.repeated_ns = burst.repeats * INT64_C(20000000);
	burst.form = (uint8_t)varied_below(state, KWHY_BURST_FORM_COUNT);
	burst.check = (uint8_t)varied_below(state, KWHY_BURST_CHECK_COUNT);
	unprobed.launches = varied_below(state, 4);
	unprobed.reason = varied_below(state, 2) ? "it uses managed memory" : "its launch is cooperative";
	if (varied_below(state, 2))
		OK(kwhy_recording_add_burst(recording, &burst, &error));
	else
		OK(kwhy_recording_add_unprobed(recording, &unprobed, &error));
}

/*
 * Returns a recording of one device, stream, process and thread, without activities. limit_mw: power limit of
 * the device; -1: unknown.
 */
static struct kwhy_recording *owners_new(int64_t limit_mw)
{
	const struct kwhy_device device = {.rank = KWHY_NONE,
		.machine = KWHY_NONE,
		.limit_mw = limit_mw,
		.context_idle_mw = -1,
		.clean_idle_mw = -1};
	const struct kwhy_process process = {.pid = 1, .rank = KWHY_NONE, .machine = KWHY_NONE};
	const struct kwhy_stream stream = {.context = 1, .id = 7};
	const struct kwhy_thread thread = {.process = 0};
	struct kwhy_recording *recording;

	OK(kwhy_recording_new(&recording, &error));
	OK(kwhy_recording_add_device(recording, &device, NULL, &error));
	OK(kwhy_recording_add_process(recording, &process, NULL, &error));
	OK(kwhy_recording_add_stream(recording, &stream, NULL, &error));
	OK(kwhy_recording_add_thread(recording, &thread, NULL, &error));
	return recording;
}

/* Returns a recording whose device works for 3 s, without readings of meters. */
static struct kwhy_recording *metered_new(uint64_t *state)
{
	static const int64_t limits_mw[] = {-1, 300000, 700000};
	struct kwhy_recording *recording = owners_new(limits_mw[varied_below(state, 3)]);

	add_launches(recording, state);
	for (uint32_t i = varied_below(state, 12); i > 0; i--)
		add_burst(recording, state);
	return recording;
}

/*
 * How the readings of a meter are made. Power is power_mw, and jumps to other_mw for a while. The value of a
 * counter may stand still during a jump.
 */
struct course {
	struct kwhy_power_source source;
	int64_t period_ns, power_mw, other_mw, noise_mw, unit_nj;
	uint32_t begin, length, again; /* first reading of the jump, its length in readings, repetitions */
	bool stands;		       /* during jumps a counter shows the same value */
};

static struct course draw_course(uint64_t *state)
{
	static const enum kwhy_meter meters[] = {KWHY_METER_NVML_ENERGY, KWHY_METER_NVML_ENERGY,
		KWHY_METER_NVML_SAMPLE, KWHY_METER_NVML_AVERAGE, KWHY_METER_NVML_INSTANT,
		KWHY_METER_NVML_MEMORY_AVERAGE, KWHY_METER_ROCM_ENERGY, KWHY_METER_ROCM_POWER,
		KWHY_METER_RAPL_PACKAGE, KWHY_METER_RAPL_PACKAGE, KWHY_METER_WALL};
	static const int64_t periods_ms[] = {10, 20, 25, 50, 100, 100, 200};
	static const int64_t powers_mw[] = {
		0, 300, 500, 1900, 2000, 2500, 100000, 200000, 300000, 600000, 600001, 3000000, 3000001};
	static const uint32_t lengths[] = {1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 15, 16, 21, 30, 31, 61};
	static const int64_t noises_mw[] = {0, 1, 333, 1000};
	struct course course = {.period_ns = 1000000 * periods_ms[varied_below(state, 7)]};

	course.source.meter = meters[varied_below(state, 11)];
	course.source.device = course.source.meter == KWHY_METER_RAPL_PACKAGE ? KWHY_NONE : 0;
	course.source.machine = KWHY_NONE;
	course.unit_nj = kwhy_meter_unit_nj(course.source.meter);
	course.power_mw = powers_mw[varied_below(state, varied_below(state, 3) ? 9 : 13)];
	course.other_mw = powers_mw[varied_below(state, 13)];
	course.noise_mw = noises_mw[varied_below(state, 4)];
	course.begin = varied_below(state, 50);
	course.length = lengths[varied_below(state, 16)];
	course.again = varied_below(state, 3);
	course.stands = varied_below(state, 2);
	if (kwhy_meter_is_counter(course.source.meter) && varied_below(state, 2))
		course.source.wrap = (INT64_C(1) << 32) / (varied_below(state, 2) ? 1 : 4096);
	return course;
}

static bool is_jump(const struct course *course, uint32_t i)
{
	for (uint32_t turn = 0; turn <= course->again; turn++) {
		uint32_t begin = course->begin + 2 * turn * course->length;

		if (i >= begin && i < begin + course->length)
			return true;
	}
	return false;
}

static void add_course(struct kwhy_recording *recording, const struct course *course, uint32_t count)
{
	const bool counts = kwhy_meter_is_counter((enum kwhy_meter)course->source.meter);
	int64_t energy_nj = 0, shown_nj = 0;

	for (uint32_t i = 0; i < count; i++) {
		bool jumps = is_jump(course, i);
		int64_t power_mw = (jumps ? course->other_mw : course->power_mw) + i % 7 * course->noise_mw;
		int64_t value = power_mw;

		energy_nj += power_mw * (course->period_ns / 1000000) * 1000;
		shown_nj = jumps && course->stands ? shown_nj : energy_nj;
		if (counts)
			value = shown_nj / course->unit_nj;
		if (counts && jumps && !course->stands && course->length < 3)
			value += course->other_mw * 1000;
		if (course->source.wrap)
			value %= course->source.wrap;
		OK(kwhy_recording_add_power(
			recording, &course->source, i * course->period_ns, value, &error));
	}
}

static void write_metered(struct kwhy_text *out, uint64_t seed)
{
	uint64_t state = (seed + 1) * 0x9E3779B97F4A7C15u;
	struct kwhy_recording *recording = metered_new(&state);
	uint32_t meters = 1 + varied_below(&state, 2);

	for (uint32_t i = 0; i < meters; i++) {
		struct course course = draw_course(&state);

		add_course(recording, &course, 2 + varied_below(&state, varied_below(&state, 4) ? 120 : 12));
	}
	OK(kwhy_recording_finish(recording, &error));
	for (size_t i = 0; i < recording->power_count; i++) {
		const struct kwhy_power_series *series = &recording->power[i];
		uint64_t sum = 0;

		for (size_t k = 0; k < series->count; k++) {
			mix(&sum, (uint64_t)series->time_ns[k]);
			mix(&sum, (uint64_t)series->value[k]);
		}
		kwhy_text_addf(out, " %u: %zu", (unsigned)series->meter, series->count);
		write_sum(out, "", sum);
	}
	write_probing(out, recording);
	write_notes(out, recording);
	kwhy_recording_free(recording);
}

static void add_range(
	struct kwhy_recording *recording, uint64_t *state, int64_t start_ns, int64_t end_ns, uint32_t thread)
{
	static const char *const names[] = {"DataLoader.next", "aten::item", "aten::mm",
		"nn.Module: Linear_0", "DistributedDataParallel.forward", "nccl:all_reduce",
		"FSDP::pre_forward logging", "Torch-Compiled Region: 0/0", "main", "XlaCompile", "read",
		"empty_cache", "record_param_comms", "FullyShardedDataParallel tokenizer", "aten::view",
		"autograd::engine"};
	static const char *const files[] = {"train.py", "/usr/lib/python3.11/site-packages/torch/nn.py",
		"/program/model.py", "<frozen importlib>", "torch/nn/modules/module.py"};
	static const uint8_t kinds[] = {KWHY_HOST_USER, KWHY_HOST_OPERATOR, KWHY_HOST_PYTHON,
		KWHY_HOST_SYSTEM, KWHY_HOST_NVTX, KWHY_HOST_FRAME};
	struct kwhy_host_range row = {.start_ns = start_ns, .end_ns = end_ns, .thread = thread};
	uint32_t file = varied_below(state, 8);

	row.start_ns -= 10 * varied_below(state, 6);
	row.end_ns += 10 * varied_below(state, 6);
	row.name = name_of(recording, names[varied_below(state, 16)]);
	row.kind = kinds[varied_below(state, 6)];
	row.file = file < 5 ? name_of(recording, files[file]) : 0;
	row.line = file < 5 ? 1 + file : 0;
	if (row.kind == KWHY_HOST_FRAME)
		row.start_ns = KWHY_UNKNOWN_TIME;
	OK(kwhy_recording_add_host_range(recording, &row, &error));
}

/*
 * Appends the figures of a recording with nested host ranges on two threads. The threads launch kernels and
 * wait at times that often equal the start or end of a range.
 */
static void write_nested(struct kwhy_text *out, uint64_t seed)
{
	static const char *const calls[] = {
		"cudaLaunchKernel", "cudaStreamSynchronize", "cudaMalloc", "cudaGetDevice", "cudaMemcpy"};
	uint64_t state = (seed + 1) * 0x9E3779B97F4A7C15u;
	struct kwhy_recording *recording = owners_new(-1);
	int64_t free_ns[2] = {0, 0}, device_ns = 0;
	const struct kwhy_thread thread = {.process = 0, .tid = 2};

	OK(kwhy_recording_add_thread(recording, &thread, NULL, &error));
	for (uint32_t i = 0; i < 40; i++) {
		uint32_t at = varied_below(&state, 2), call = varied_below(&state, 5);
		int64_t start_ns = free_ns[at] + 10 * varied_below(&state, 3);
		int64_t end_ns = start_ns + 10 * varied_below(&state, 5);
		uint32_t depth = varied_below(&state, 4);

		OK(kwhy_recording_add_call(
			recording, start_ns, end_ns, name_of(recording, calls[call]), at, i, &error));
		for (uint32_t d = 0; d < depth; d++)
			add_range(recording, &state, start_ns, end_ns, at);
		free_ns[at] = end_ns;
		if (call == 0) {
			struct kwhy_activity row = kwhy_activity_unknown();

			row.start_ns = device_ns > start_ns ? device_ns : start_ns;
			row.start_ns += 10 * varied_below(&state, 5);
			row.end_ns = device_ns = row.start_ns + 10 * (1 + varied_below(&state, 3));
			row.stream = 0;
			row.name = name_of(recording, kernels[0]);
			row.call = varied_below(&state, 6) ? i : KWHY_NONE;
			OK(kwhy_recording_add_activity(recording, &row, &error));
		}
	}
	OK(kwhy_recording_finish(recording, &error));
	write_activities(out, recording);
	write_calls(out, recording);
	write_host_ranges(out, recording);
	write_gaps(out, recording, 0);
	write_notes(out, recording);
	kwhy_recording_free(recording);
}

/*
 * Appends the digest of the text of case `number`. If the environment has KWHY_SHOW_CASE=N, the text of case
 * N is printed.
 */
static void write_case(struct kwhy_text *out, uint64_t number)
{
	const char *shown = getenv("KWHY_SHOW_CASE");
	struct kwhy_text text = {0};
	struct varied varied;

	if (number < VARIED + MIXED) {
		varied = number < VARIED ? varied_new(number, false) : varied_mixed_new(number);
		write_recording(&text, &varied);
	} else if (number < VARIED + MIXED + METERED) {
		write_metered(&text, number);
	} else {
		write_nested(&text, number);
	}
	kwhy_text_addf(out, "case %" PRIu64 " %" PRIu32 "\n", number, digest_of_text(text.data));
	if (shown && strtoull(shown, NULL, 10) == number)
		printf("%s", text.data);
	kwhy_text_done(&text);
	check_arena_guards(false);
}

static void the_digests_of_models_are_as_before(void **state)
{
	struct kwhy_text out = {0};

	(void)state;
	for (uint64_t number = 0; number < VARIED + MIXED + METERED + NESTED; number++)
		write_case(&out, number);
	assert_expected_text("model/figures.expected", out.data);
	kwhy_text_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_digests_of_models_are_as_before)};

	return kwhy_test_main(tests, NULL, NULL);
}
