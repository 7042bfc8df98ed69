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
		.first_end_ns = INT64_MAX,
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
	sweep->rows = NULL;
}

static void drop_ended(struct kwhy_sweep *sweep)
{
	const int64_t *end_ns = sweep->recording->activities.end_ns;
	size_t kept = 0;

	if (sweep->first_end_ns > sweep->now_ns)
		return;
	sweep->first_end_ns = INT64_MAX;
	for (size_t i = 0; i < sweep->row_count; i++) {
		uint32_t row = sweep->rows[i];

		if (end_ns[row] <= sweep->now_ns)
			continue;
		sweep->rows[kept++] = row;
		if (end_ns[row] < sweep->first_end_ns)
			sweep->first_end_ns = end_ns[row];
	}
	sweep->row_count = kept;
}

static enum kwhy_status take_started(struct kwhy_sweep *sweep, struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &sweep->recording->activities;

	for (; sweep->next < sweep->end && rows->start_ns[sweep->next] <= sweep->now_ns; sweep->next++) {
		int64_t end_ns = rows->end_ns[sweep->next];
		enum kwhy_status status;

		if (end_ns <= sweep->now_ns)
			continue;
		status = kwhy_column_reserve((void **)&sweep->rows, &sweep->row_capacity,
			sweep->row_count + 1, sizeof(*sweep->rows), "running activities", error);
		if (status)
			return status;
		sweep->rows[sweep->row_count++] = (uint32_t)sweep->next;
		if (end_ns < sweep->first_end_ns)
			sweep->first_end_ns = end_ns;
	}
	return KWHY_OK;
}

/* The next time at which anything changes. */
static int64_t next_change(struct kwhy_sweep *sweep)
{
	const struct kwhy_activities *rows = &sweep->recording->activities;
	int64_t change = sweep->limit_ns;

	if (sweep->first_end_ns < change)
		change = sweep->first_end_ns;
	if (sweep->next < sweep->end && rows->start_ns[sweep->next] < change)
		change = rows->start_ns[sweep->next];
	while (sweep->next_cut < sweep->cut_count && sweep->cuts[sweep->next_cut] <= sweep->now_ns)
		sweep->next_cut++;
	if (sweep->next_cut < sweep->cut_count && sweep->cuts[sweep->next_cut] < change)
		change = sweep->cuts[sweep->next_cut];
	return change;
}

int kwhy_sweep_next(struct kwhy_sweep *sweep, struct kwhy_stretch *out, struct kwhy_error *error)
{
	if (sweep->now_ns >= sweep->limit_ns)
		return 1;
	drop_ended(sweep);
	if (take_started(sweep, error))
		return -1;
	out->start_ns = sweep->now_ns;
	out->end_ns = next_change(sweep);
	out->rows = sweep->rows;
	out->row_count = sweep->row_count;
	sweep->now_ns = out->end_ns;
	return 0;
}
