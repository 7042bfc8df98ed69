/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/sweep.h"

#include "base/column.h"

#include <stdlib.h>

static int64_t last_end(const struct kwhy_activities *rows, size_t from, size_t to)
{
	int64_t last = from < to ? rows->end_ns[from] : 0;

	for (size_t i = from; i < to; i++)
		last = rows->end_ns[i] > last ? rows->end_ns[i] : last;
	return last;
}

void kwhy_sweep_init(struct kwhy_sweep *sweep, const struct kwhy_recording *recording, uint32_t device,
	int64_t start_ns, int64_t end_ns, const int64_t *cuts, size_t cut_count)
{
	const struct kwhy_activities *rows = &recording->activities;
	size_t first = rows->first[device];

	*sweep = (struct kwhy_sweep){
		.recording = recording,
		.next = first,
		.end = rows->first[device + 1],
		.cuts = cuts,
		.cut_count = cut_count,
		.now_ns = start_ns,
		.limit_ns = end_ns,
	};
	if (start_ns == KWHY_UNKNOWN_TIME)
		sweep->now_ns = first < sweep->end ? rows->start_ns[first] : 0;
	if (end_ns == KWHY_UNKNOWN_TIME)
		sweep->limit_ns = first < sweep->end ? last_end(rows, first, sweep->end) : sweep->now_ns;
	while (sweep->next_cut < cut_count && cuts[sweep->next_cut] <= sweep->now_ns)
		sweep->next_cut++;
}

void kwhy_sweep_done(struct kwhy_sweep *sweep)
{
	free(sweep->rows);
	free(sweep->started);
	free(sweep->ended);
	sweep->rows = sweep->started = sweep->ended = NULL;
}

static void sift_up(struct kwhy_sweep *sweep, uint32_t row)
{
	const int64_t *end_ns = sweep->recording->activities.end_ns;
	size_t at = sweep->row_count++;

	for (; at > 0 && end_ns[sweep->rows[(at - 1) / 2]] > end_ns[row]; at = (at - 1) / 2)
		sweep->rows[at] = sweep->rows[(at - 1) / 2];
	sweep->rows[at] = row;
}

/* Removes the top of the heap: takes the last activity as the new top and moves it down to its place. */
static void sift_down(struct kwhy_sweep *sweep)
{
	const int64_t *end_ns = sweep->recording->activities.end_ns;
	size_t count = --sweep->row_count, at = 0;
	uint32_t row = sweep->rows[count];

	for (size_t child = 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && end_ns[sweep->rows[child + 1]] < end_ns[sweep->rows[child]])
			child++;
		if (end_ns[row] <= end_ns[sweep->rows[child]])
			break;
		sweep->rows[at] = sweep->rows[child];
		at = child;
	}
	sweep->rows[at] = row;
}

static int64_t first_end(const struct kwhy_sweep *sweep)
{
	return sweep->row_count ? sweep->recording->activities.end_ns[sweep->rows[0]] : INT64_MAX;
}

static enum kwhy_status append(
	uint32_t **rows, size_t *count, size_t *capacity, uint32_t row, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_column_reserve(
		(void **)rows, capacity, *count + 1, sizeof(**rows), "running activities", error);

	if (!status)
		(*rows)[(*count)++] = row;
	return status;
}

static enum kwhy_status drop_ended(struct kwhy_sweep *sweep, struct kwhy_error *error)
{
	sweep->ended_count = 0;
	while (first_end(sweep) <= sweep->now_ns) {
		enum kwhy_status status = append(
			&sweep->ended, &sweep->ended_count, &sweep->ended_capacity, sweep->rows[0], error);

		if (status)
			return status;
		sift_down(sweep);
	}
	return KWHY_OK;
}

static enum kwhy_status take_started(struct kwhy_sweep *sweep, struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &sweep->recording->activities;
	enum kwhy_status status = KWHY_OK;

	sweep->started_count = 0;
	for (; sweep->next < sweep->end && rows->start_ns[sweep->next] <= sweep->now_ns; sweep->next++) {
		if (rows->end_ns[sweep->next] <= sweep->now_ns)
			continue;
		status = append(&sweep->started, &sweep->started_count, &sweep->started_capacity,
			(uint32_t)sweep->next, error);
		if (!status)
			status = kwhy_column_reserve((void **)&sweep->rows, &sweep->row_capacity,
				sweep->row_count + 1, sizeof(*sweep->rows), "running activities", error);
		if (status)
			return status;
		sift_up(sweep, (uint32_t)sweep->next);
	}
	return KWHY_OK;
}

/*
 * The next time at which an activity starts or ends, at which the caller wants intervals split, or at which
 * the walk ends.
 */
static int64_t next_change(struct kwhy_sweep *sweep)
{
	const struct kwhy_activities *rows = &sweep->recording->activities;
	int64_t change = sweep->limit_ns;

	if (first_end(sweep) < change)
		change = first_end(sweep);
	if (sweep->next < sweep->end && rows->start_ns[sweep->next] < change)
		change = rows->start_ns[sweep->next];
	while (sweep->next_cut < sweep->cut_count && sweep->cuts[sweep->next_cut] <= sweep->now_ns)
		sweep->next_cut++;
	if (sweep->next_cut < sweep->cut_count && sweep->cuts[sweep->next_cut] < change)
		change = sweep->cuts[sweep->next_cut];
	return change;
}

int kwhy_sweep_next(struct kwhy_sweep *sweep, struct kwhy_sweep_interval *out, struct kwhy_error *error)
{
	if (sweep->now_ns >= sweep->limit_ns)
		return 1;
	if (drop_ended(sweep, error) || take_started(sweep, error))
		return -1;
	*out = (struct kwhy_sweep_interval){
		.start_ns = sweep->now_ns,
		.end_ns = next_change(sweep),
		.rows = sweep->rows,
		.row_count = sweep->row_count,
		.started = sweep->started,
		.started_count = sweep->started_count,
		.ended = sweep->ended,
		.ended_count = sweep->ended_count,
	};
	sweep->now_ns = out->end_ns;
	return 0;
}
