/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/saturate.h"
#include "ledger/sums/sums.h"
#include "ledger/sweep.h"

#include <stdlib.h>

struct running {
	size_t rows; /* number of the stream's activities that are running */
	int64_t since_ns;
};

/*
 * State of a walk over the activities of a device, which counts what runs on each stream. active: number of
 * streams on which something runs; active_sum: sum of the indices of these streams. If `active` is 1,
 * active_sum is the index of the only one.
 */
struct walk {
	const struct kwhy_recording *recording;
	struct kwhy_stream_sum *sums; /* [stream_count] sums of each stream */
	struct running *running;      /* [stream_count] what runs on each stream */
	size_t active;
	uint64_t active_sum;
};

static void end_row(struct walk *walk, uint32_t row, int64_t now_ns)
{
	uint32_t stream = walk->recording->activities.stream[row];

	if (--walk->running[stream].rows > 0)
		return;
	walk->sums[stream].busy_ns += now_ns - walk->running[stream].since_ns;
	walk->active--;
	walk->active_sum -= stream;
}

static void start_row(struct walk *walk, uint32_t row, int64_t now_ns)
{
	uint32_t stream = walk->recording->activities.stream[row];

	if (walk->running[stream].rows++ > 0)
		return;
	walk->running[stream].since_ns = now_ns;
	walk->active++;
	walk->active_sum += stream;
}

static void add_stretch(struct walk *walk, const struct kwhy_sweep_interval *stretch)
{
	for (size_t i = 0; i < stretch->ended_count; i++)
		end_row(walk, stretch->ended[i], stretch->start_ns);
	for (size_t i = 0; i < stretch->started_count; i++)
		start_row(walk, stretch->started[i], stretch->start_ns);
	if (walk->active == 1)
		walk->sums[walk->active_sum].alone_ns += stretch->end_ns - stretch->start_ns;
}

static enum kwhy_status walk_device(struct walk *walk, uint32_t device, struct kwhy_error *error)
{
	struct kwhy_sweep_interval stretch;
	struct kwhy_sweep sweep;
	int ended;

	kwhy_sweep_init(&sweep, walk->recording, device, KWHY_UNKNOWN_TIME, KWHY_UNKNOWN_TIME, NULL, 0);
	while ((ended = kwhy_sweep_next(&sweep, &stretch, error)) == 0)
		add_stretch(walk, &stretch);
	if (ended > 0)
		for (size_t i = 0; i < sweep.row_count; i++)
			end_row(walk, sweep.rows[i], sweep.limit_ns);
	kwhy_sweep_done(&sweep);
	return ended < 0 ? error->status : KWHY_OK;
}

static void add_rows(struct walk *walk)
{
	const struct kwhy_activities *rows = &walk->recording->activities;

	for (size_t i = 0; i < rows->count; i++) {
		struct kwhy_stream_sum *sum = &walk->sums[rows->stream[i]];

		sum->count++;
		sum->total_ns = kwhy_saturate_add(sum->total_ns, rows->end_ns[i] - rows->start_ns[i]);
	}
}

static size_t keep_used(struct kwhy_stream_sum *sums, size_t count)
{
	size_t used = 0;

	for (size_t stream = 0; stream < count; stream++) {
		if (sums[stream].count == 0)
			continue;
		sums[used] = sums[stream];
		sums[used++].stream = (uint32_t)stream;
	}
	return used;
}

enum kwhy_status kwhy_sums_streams(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	struct walk walk = {.recording = recording};
	enum kwhy_status status = KWHY_OK;

	(void)options;
	walk.sums = kwhy_arena_alloc(&ledger->arena, recording->stream_count, sizeof(*walk.sums));
	walk.running = calloc(recording->stream_count + 1, sizeof(*walk.running));
	if (!walk.sums || !walk.running)
		status = kwhy_fail_memory(error, "sums of streams");
	for (size_t device = 0; !status && device < recording->device_count; device++)
		status = walk_device(&walk, (uint32_t)device, error);
	free(walk.running);
	if (status)
		return status;
	add_rows(&walk);
	ledger->streams = walk.sums;
	ledger->stream_count = keep_used(walk.sums, recording->stream_count);
	return KWHY_OK;
}
