/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/changes.h"

#include "whatif/edits.h"
#include "whatif/parts.h"
#include "whatif/segments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Two changes: kwhy_whatif_batch() merges equal launches in a row into one; kwhy_whatif_grow_batch() makes
 * one step do the work of several.
 */

enum { PERIOD_ROWS = 64 }; /* largest number of launches in a sequence that repeats */

static bool is_kernel(const struct kwhy_whatif *whatif, uint32_t row)
{
	return whatif->recording->activities.kind[row] == KWHY_ACTIVITY_KERNEL;
}

static int64_t length_ns(const struct kwhy_whatif *whatif, uint32_t row)
{
	return kwhy_whatif_own_ns(whatif->graph, &whatif->graph->nodes[row]);
}

/*
 * Number of waves (sets of blocks that run concurrently) in which the kernel's device runs `blocks` blocks;
 * 0: unknown. By its threads alone, a multiprocessor holds threads_per_sm / threads_per_block blocks; one if
 * these are unknown, and for the lower bound of a saving.
 */
static double waves(const struct kwhy_whatif *whatif, uint32_t row, double blocks)
{
	const struct kwhy_recording *recording = whatif->recording;
	const struct kwhy_device *device = &recording->devices[kwhy_recording_device_of(recording, row)];
	uint32_t threads = recording->activities.threads_per_block[row];
	double resident = 1;

	if (!device->sm_count)
		return 0;
	if (whatif->corner != KWHY_CORNER_SLOW && device->threads_per_sm && threads &&
		threads != KWHY_UNKNOWN_U16)
		resident = fmax(floor((double)device->threads_per_sm / threads), 1);
	return ceil(blocks / (resident * device->sm_count));
}

/*
 * Length of a kernel in ns if it had `times` as many blocks. The length grows with the number of waves or,
 * where blocks or device are unknown, by `times`. For the upper bound of the saving it does not grow, since
 * all blocks may wait for the same thing concurrently.
 */
static double grown_ns(const struct kwhy_whatif *whatif, uint32_t row, double times)
{
	const uint32_t blocks = whatif->recording->activities.blocks[row];
	const double now_ns = (double)length_ns(whatif, row);
	const double now = blocks == KWHY_UNKNOWN_BLOCKS ? 0 : waves(whatif, row, blocks);

	if (whatif->corner == KWHY_CORNER_FAST)
		return now_ns;
	return now_ns * (now > 0 ? waves(whatif, row, blocks * times) / now : times);
}

static bool is_same_launch(const struct kwhy_whatif *whatif, uint32_t a, uint32_t b)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;

	return rows->name[a] == rows->name[b] && is_kernel(whatif, a) && is_kernel(whatif, b) &&
		rows->blocks[a] == rows->blocks[b] && rows->stream[a] == rows->stream[b] &&
		rows->threads_per_block[a] == rows->threads_per_block[b];
}

/* A sequence of `period` launches that follows itself, so that it occurs `times` times in a row. */
struct loop {
	size_t period, times;
};

static struct loop loop_of(
	const struct kwhy_whatif *whatif, const uint32_t *rows, size_t count, size_t period)
{
	size_t end = period;

	while (end < count && is_same_launch(whatif, rows[end - period], rows[end]))
		end++;
	return (struct loop){period, end / period};
}

/*
 * The repeated sequence from rows[0] on, of at most PERIOD_ROWS launches and `most` repetitions, that leaves
 * the fewest launches when its repetitions are merged; {1, 1}: there is none.
 */
static struct loop find_loop(
	const struct kwhy_whatif *whatif, const uint32_t *rows, size_t count, size_t most)
{
	struct loop best = {1, 1};

	for (size_t period = 1; period <= PERIOD_ROWS && 2 * period <= count; period++) {
		size_t space = period * most < count ? period * most : count;
		struct loop loop;

		if (!is_same_launch(whatif, rows[0], rows[period]))
			continue;
		loop = loop_of(whatif, rows, space, period);
		if ((loop.times - 1) * period > (best.times - 1) * best.period)
			best = loop;
	}
	return best;
}

struct batched {
	uint64_t from, to;
};

static void batch_loop(struct kwhy_whatif *whatif, const uint32_t *rows, const struct loop *loop)
{
	for (size_t i = 0; i < loop->period; i++) {
		kwhy_whatif_resize_row(whatif, rows[i], grown_ns(whatif, rows[i], (double)loop->times));
		for (size_t turn = 1; turn < loop->times; turn++)
			kwhy_whatif_drop_row(whatif, rows[turn * loop->period + i]);
	}
}

static void batch_segment(struct kwhy_whatif *whatif, const struct kwhy_whatif_segment *segment, size_t most,
	struct batched *batched)
{
	for (size_t begin = 0; begin < segment->row_count;) {
		const uint32_t *rows = &segment->rows[begin];
		struct loop loop = find_loop(whatif, rows, segment->row_count - begin, most);

		if (loop.times > 1) {
			batch_loop(whatif, rows, &loop);
			batched->from += loop.times * loop.period;
			batched->to += loop.period;
		}
		begin += loop.times * loop.period;
	}
}

void kwhy_whatif_batch(struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	struct kwhy_whatif_segments segments;
	struct kwhy_whatif_segment segment;
	struct batched batched = {0};

	if (!kwhy_whatif_segments_init(&segments, whatif))
		return;
	segments.rhythm_is_whole = true;
	while (kwhy_whatif_segments_next(&segments, &segment))
		batch_segment(whatif, &segment, number, &batched);
	kwhy_whatif_segments_done(&segments);
	effect->places = batched.from;
	if (batched.from)
		kwhy_whatif_say(effect,
			"%s launches, of one kernel and grid in a row or of a sequence that follows itself, "
			"become %s of up to %u times the blocks, longer by how often those fill the device; "
			"they depend on nothing of each other",
			KWHY_WHATIF_COUNT(batched.from), KWHY_WHATIF_COUNT(batched.to), number);
	else
		kwhy_whatif_refuse(effect,
			"no kernel, and no sequence of kernels, is launched twice in a row with one grid");
}

/*
 * Length of a kernel in ns in a step that does the work of `times` steps. If at least half of the
 * multiprocessors already have a block, further blocks share multiprocessors, and the length grows with the
 * number of blocks on each. A part of the length does not grow: that of the shortest recorded kernel, which
 * hardly does any work. On an H200, matrix products of 128 blocks took 1.9 times as long with 256 blocks, and
 * kernels of 3 to 6 us took 1.3 to 1.5 times as long (docs/results/projections.md). Kernels on fewer
 * multiprocessors grow as by grown_ns().
 */
static double length_in_batch_ns(const struct kwhy_whatif *whatif, uint32_t row, double times)
{
	const struct kwhy_recording *recording = whatif->recording;
	const double multiprocessors = recording->devices[kwhy_recording_device_of(recording, row)].sm_count;
	const uint32_t blocks = recording->activities.blocks[row];
	const double now_ns = (double)length_ns(whatif, row);
	double least_ns;

	if (whatif->corner == KWHY_CORNER_FAST || !(multiprocessors > 0) || blocks == KWHY_UNKNOWN_BLOCKS ||
		blocks < multiprocessors / 2)
		return grown_ns(whatif, row, times);
	if (whatif->corner == KWHY_CORNER_SLOW)
		return fmax(grown_ns(whatif, row, times),
			now_ns * fmax(blocks * times, multiprocessors) / fmax(blocks, multiprocessors));
	least_ns = fmin(now_ns, isfinite(whatif->costs.least_kernel_ns) ? whatif->costs.least_kernel_ns : 0);
	return least_ns +
		(now_ns - least_ns) * fmax(blocks * times, multiprocessors) / fmax(blocks, multiprocessors);
}

/*
 * Gives a kernel or copy of the first step of a batch (the steps that become one) its work in all `times`
 * steps. Other activities stay as they are.
 */
static void grow_row(struct kwhy_whatif *whatif, uint32_t row, double times)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;

	if (rows->kind[row] == KWHY_ACTIVITY_KERNEL) {
		kwhy_whatif_resize_row(whatif, row, length_in_batch_ns(whatif, row, times));
	} else if (rows->kind[row] == KWHY_ACTIVITY_COPY && rows->bytes[row] != KWHY_UNKNOWN_BYTES) {
		struct kwhy_whatif_cost cost = kwhy_whatif_row_copy_cost(
			whatif, row, (double)kwhy_whatif_copy_bytes(whatif, row) * times);
		double own_ns = kwhy_whatif_cost_at(&cost, whatif->corner);
		double most_ns = (double)length_ns(whatif, row) * times;

		kwhy_whatif_resize_row(whatif, row, isfinite(own_ns) ? fmin(own_ns, most_ns) : most_ns);
	}
}

/*
 * Numbers the steps that have work, because batches are made of these alone: places[step] is the number of
 * steps with work before the step. Returns how many steps have work.
 */
static uint32_t number_steps(const struct kwhy_whatif *whatif, uint32_t *places)
{
	uint32_t count = 0;

	memset(places, 0, whatif->step_count * sizeof(*places));
	for (size_t i = 0; i < whatif->recording->activities.count; i++)
		if (whatif->step[i] != KWHY_NONE)
			places[whatif->step[i]] = 1;
	for (uint32_t step = 0; step < whatif->step_count; step++) {
		uint32_t has_work = places[step];

		places[step] = count;
		count += has_work;
	}
	return count;
}

/* Number of an activity's step among the steps with work, from 0 on; KWHY_NONE: it is in no step. */
static uint32_t place_of(const struct kwhy_whatif *whatif, const uint32_t *places, size_t row)
{
	return whatif->step[row] == KWHY_NONE ? KWHY_NONE : places[whatif->step[row]];
}

/*
 * Of every `times` successive steps with work, removes a thread's calls of all but the first step. The pause
 * before a removed call is removed as well: the whole pause if it begins in a step, otherwise only as much as
 * kwhy_whatif_drop_call() removes.
 */
static void drop_steps(struct kwhy_whatif *whatif, const uint32_t *places, size_t thread, uint32_t times)
{
	const struct kwhy_calls *calls = &whatif->recording->calls;
	uint32_t step = KWHY_NONE;

	for (size_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
		uint32_t before = step;

		if (whatif->graph->outer[i] != i)
			continue;
		if (whatif->first_issued[i] < whatif->first_issued[i + 1])
			step = place_of(whatif, places, whatif->issued[whatif->first_issued[i]]);
		if (step == KWHY_NONE || step % times == 0)
			continue;
		if (before == KWHY_NONE)
			kwhy_whatif_drop_call(whatif, (uint32_t)i);
		else
			kwhy_whatif_drop_call_and_pause(whatif, (uint32_t)i);
	}
}

/* Number of steps with work up to the last one that has work on a device. */
static uint32_t steps_on(const struct kwhy_whatif *whatif, const uint32_t *places, uint32_t device)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	uint32_t count = 0;

	for (size_t i = rows->first[device]; i < rows->first[device + 1]; i++) {
		uint32_t step = place_of(whatif, places, i);

		if (step != KWHY_NONE && step >= count)
			count = step + 1;
	}
	return count;
}

/*
 * Merges every `number` consecutive steps of a device into the first of them. The last batch may have fewer.
 */
static void grow_device(struct kwhy_whatif *whatif, const uint32_t *places, uint32_t device, uint32_t number)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	uint32_t count = steps_on(whatif, places, device);

	for (size_t i = rows->first[device]; i < rows->first[device + 1]; i++) {
		uint32_t row = (uint32_t)i, step = place_of(whatif, places, i), times;

		if (step == KWHY_NONE || kwhy_whatif_row_is_dropped(whatif, row))
			continue;
		times = count - step < number ? count - step : number;
		if (step % number)
			kwhy_whatif_drop_row(whatif, row);
		else if (times > 1)
			grow_row(whatif, row, times);
	}
}

void kwhy_whatif_grow_batch(struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	const struct kwhy_recording *recording = whatif->recording;
	uint32_t *places = malloc((whatif->step_count + 1) * sizeof(*places)), count;

	if (!places) {
		whatif->out_of_memory = true;
		return;
	}
	count = number_steps(whatif, places);
	if (count < 2 * number) {
		kwhy_whatif_refuse(effect,
			"fewer than %u steps are known; name the ranges that are steps (--steps)",
			2 * number);
		free(places);
		return;
	}
	for (size_t t = 0; t < recording->thread_count; t++)
		drop_steps(whatif, places, t, number);
	for (uint32_t d = 0; d < recording->device_count; d++)
		grow_device(whatif, places, d, number);
	free(places);
	effect->places = count;
	kwhy_whatif_say(effect,
		"%u steps (%s) do the work of %s%u each; kernels grow with their blocks on each "
		"multiprocessor, copies by their bytes, the host's time and collectives not at all",
		(count + number - 1) / number, whatif->step_words, count % number ? "up to " : "", number);
}
