/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/slow_kernels.h"
#include "detect/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Gauges of the share of time in which memory (the first one) and arithmetic units were active. An interval
 * counts if the first and at least one other gauge was read at its end.
 */
static const enum kwhy_gauge gauges[] = {KWHY_GAUGE_DRAM_ACTIVE, KWHY_GAUGE_TENSOR_ACTIVE,
	KWHY_GAUGE_FP32_ACTIVE, KWHY_GAUGE_FP16_ACTIVE, KWHY_GAUGE_FP64_ACTIVE, KWHY_GAUGE_INTEGER_ACTIVE};

enum { GAUGES = sizeof(gauges) / sizeof(gauges[0]), INTERVALS_MIN = 2 };

/*
 * An interval counts for kernels of one name if they fill at least this share of it; their activity is then
 * the gauge's value divided by the share that they fill.
 */
static const double FILLED = 0.9;

struct counters {
	const struct kwhy_detect_context *context;
	const struct kwhy_gauge_series *series[GAUGES];
	/* index, in each series, of the first reading at or after the end of the current interval */
	size_t at[GAUGES];
	size_t row;	   /* first activity that may overlap the next interval */
	double *inside_ns; /* [names] time that kernels of each name run inside the current interval; 0
			      between intervals */
	double *filled_ns; /* [names] total length of the intervals that kernels of each name filled */
	/*
	 * [names] sum, over the intervals that kernels of each name filled, of their length times the
	 * activity (activity_at()) of these kernels
	 */
	double *active_ns;
	uint32_t *intervals;
};

static const struct kwhy_gauge_series *find_series(
	const struct kwhy_recording *recording, uint32_t device, enum kwhy_gauge gauge)
{
	for (size_t i = 0; i < recording->gauge_count; i++)
		if (recording->gauges[i].device == device && recording->gauges[i].gauge == (uint32_t)gauge)
			return &recording->gauges[i];
	return NULL;
}

/*
 * The highest of the gauges' values at a reading of the memory gauge, as a share of time from 0 to 1. NAN: no
 * arithmetic gauge was read at the same time.
 */
static double activity_at(struct counters *counters, size_t reading)
{
	int64_t time_ns = counters->series[0]->time_ns[reading];
	double share = NAN;

	for (size_t g = 1; g < GAUGES; g++) {
		const struct kwhy_gauge_series *series = counters->series[g];

		while (series && counters->at[g] < series->count &&
			series->time_ns[counters->at[g]] < time_ns)
			counters->at[g]++;
		if (series && counters->at[g] < series->count && series->time_ns[counters->at[g]] == time_ns)
			share = fmax(share, (double)series->value[counters->at[g]] * 1e-3);
	}
	return isnan(share) ? NAN : fmax(share, (double)counters->series[0]->value[reading] * 1e-3);
}

static double overlap_ns(const struct kwhy_activities *rows, size_t row, int64_t start_ns, int64_t end_ns)
{
	int64_t first_ns = rows->start_ns[row] > start_ns ? rows->start_ns[row] : start_ns;
	int64_t last_ns = rows->end_ns[row] < end_ns ? rows->end_ns[row] : end_ns;

	return last_ns > first_ns ? (double)(last_ns - first_ns) : 0;
}

/*
 * Adds the parts of the activities' times that lie inside the interval, multiplied by `sign`, to inside_ns of
 * their names. Returns the name with the largest sum. A call with 1 and one with -1 leave all sums at 0.
 */
static uint32_t add_rows(struct counters *counters, int64_t start_ns, int64_t end_ns, double sign)
{
	const struct kwhy_activities *rows = &counters->context->recording->activities;
	const struct kwhy_device_view *seen = &counters->context->view->devices[counters->context->device];
	uint32_t most = 0;

	while (counters->row < seen->end && rows->end_ns[counters->row] <= start_ns)
		counters->row++;
	for (size_t i = counters->row; i < seen->end && rows->start_ns[i] < end_ns; i++) {
		uint32_t name = rows->name[i];

		counters->inside_ns[name] += sign * overlap_ns(rows, i, start_ns, end_ns);
		if (counters->inside_ns[name] > counters->inside_ns[most])
			most = name;
	}
	return most;
}

static void look_at(struct counters *counters, size_t reading)
{
	int64_t start_ns = counters->series[0]->time_ns[reading - 1];
	int64_t end_ns = counters->series[0]->time_ns[reading];
	double length_ns = (double)(end_ns - start_ns), activity = activity_at(counters, reading), filled;
	uint32_t name;

	if (isnan(activity))
		return;
	name = add_rows(counters, start_ns, end_ns, 1);
	filled = counters->inside_ns[name] / length_ns;
	add_rows(counters, start_ns, end_ns, -1);
	if (filled < FILLED)
		return;
	counters->filled_ns[name] += length_ns;
	counters->active_ns[name] += fmin(1, activity / filled) * length_ns;
	counters->intervals[name]++;
}

static enum kwhy_status sum_up(struct counters *counters, double *out)
{
	size_t names = counters->context->recording->names.count;

	counters->inside_ns = calloc(names + 1, sizeof(*counters->inside_ns));
	counters->filled_ns = calloc(names + 1, sizeof(*counters->filled_ns));
	counters->active_ns = calloc(names + 1, sizeof(*counters->active_ns));
	counters->intervals = calloc(names + 1, sizeof(*counters->intervals));
	if (!counters->inside_ns || !counters->filled_ns || !counters->active_ns || !counters->intervals)
		return kwhy_fail_memory(counters->context->error, "counters of kernels");
	for (size_t i = 1; i < counters->series[0]->count; i++)
		look_at(counters, i);
	for (size_t i = 0; i < names; i++)
		if (counters->intervals[i] >= INTERVALS_MIN)
			out[i] = counters->active_ns[i] / counters->filled_ns[i];
	return KWHY_OK;
}

enum kwhy_status kwhy_slow_by_counters(const struct kwhy_detect_context *context, double *out)
{
	struct counters counters = {.context = context, .row = context->view->devices[context->device].begin};
	enum kwhy_status status;

	for (size_t i = 0; i < context->recording->names.count; i++)
		out[i] = NAN;
	for (size_t g = 0; g < GAUGES; g++)
		counters.series[g] = find_series(context->recording, context->device, gauges[g]);
	if (!counters.series[0])
		return KWHY_OK;
	status = sum_up(&counters, out);
	free(counters.inside_ns);
	free(counters.filled_ns);
	free(counters.active_ns);
	free(counters.intervals);
	return status;
}

enum { SIZES_MAX = 64 };

/*
 * Least size in bytes of an array of which caches hold only a part; chosen above the L2 cache of an H200,
 * which has 50 MB.
 */
static const uint64_t ARRAY_BYTES_MIN = 64 << 20;

struct sizes {
	uint64_t bytes[SIZES_MAX];
	double sum[SIZES_MAX]; /* total bytes of all copies of that size */
	size_t count;
	double total; /* total bytes of all copies */
};

static void add_size(struct sizes *sizes, uint64_t bytes)
{
	size_t i = 0;

	sizes->total += (double)bytes;
	while (i < sizes->count && sizes->bytes[i] != bytes)
		i++;
	if (i == SIZES_MAX || bytes < ARRAY_BYTES_MIN)
		return;
	sizes->bytes[i] = bytes;
	sizes->sum[i] += (double)bytes;
	sizes->count += i == sizes->count;
}

void kwhy_slow_arrays_find(const struct kwhy_detect_context *context, struct kwhy_slow_arrays *out)
{
	const struct kwhy_activities *rows = &context->recording->activities;
	const struct kwhy_device_view *seen = &context->view->devices[context->device];
	struct sizes sizes = {.count = 0};

	for (size_t i = seen->begin; i < seen->end; i++)
		if (rows->kind[i] == KWHY_ACTIVITY_COPY && rows->bytes[i] != KWHY_UNKNOWN_BYTES &&
			(rows->copy_kind[i] == KWHY_COPY_H2D || rows->copy_kind[i] == KWHY_COPY_D2H))
			add_size(&sizes, rows->bytes[i]);
	out->count = 0;
	for (size_t i = 0; i < sizes.count && out->count < 2; i++)
		if (2 * sizes.sum[i] >= sizes.total)
			out->bytes[out->count++] = sizes.bytes[i];
}

static bool is_launched_for(uint64_t values, uint64_t blocks, uint64_t threads)
{
	return values > (blocks - 1) * threads && values <= blocks * threads;
}

uint64_t kwhy_slow_array_bytes(
	const struct kwhy_slow_arrays *arrays, const struct kwhy_recording *recording, size_t row)
{
	uint64_t blocks = recording->activities.blocks[row], found = 0;
	uint64_t threads = recording->activities.threads_per_block[row];

	if (blocks == KWHY_UNKNOWN_BLOCKS || blocks == 0 || threads == KWHY_UNKNOWN_U16)
		return 0;
	for (size_t i = 0; i < arrays->count; i++)
		if (arrays->bytes[i] > found &&
			(is_launched_for(arrays->bytes[i] / 4, blocks, threads) ||
				is_launched_for(arrays->bytes[i] / 8, blocks, threads)))
			found = arrays->bytes[i];
	return found;
}

/*
 * Whether the whole run was recorded and this device alone was active, so that the work stated for the run is
 * that of its activities.
 */
static bool is_whole_run(const struct kwhy_detect_context *context)
{
	const struct kwhy_ledger *ledger = context->ledger;
	size_t active = 0;

	if (!ledger || context->device >= ledger->device_count ||
		ledger->devices[context->device].coverage.choice != KWHY_CHOICE_ALL ||
		ledger->devices[context->device].time.unrecorded_ns > 0)
		return false;
	for (size_t d = 0; d < context->recording->device_count; d++)
		active += context->view->devices[d].begin < context->view->devices[d].end;
	return active == 1;
}

double kwhy_slow_by_stated_work(const struct kwhy_detect_context *context, const struct kwhy_gpu_peaks *peaks)
{
	const struct kwhy_recording *recording = context->recording;
	double arithmetic_s = 0, memory_s = 0;

	for (size_t i = 0; i < recording->work_count; i++) {
		const struct kwhy_work *work = &recording->work[i];
		enum kwhy_precision precision;

		if (strcmp(work->unit, "bytes") == 0)
			memory_s += work->count / peaks->bytes_per_s;
		else if (kwhy_unit_precision(work->unit, &precision))
			arithmetic_s += work->count / peaks->flop_per_s[precision];
	}
	if (!(arithmetic_s + memory_s > 0) || !is_whole_run(context))
		return NAN;
	return 1e9 * fmax(arithmetic_s, memory_s);
}
