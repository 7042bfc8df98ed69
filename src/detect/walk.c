/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/walk.h"

#include "base/column.h"

#include <stdlib.h>

static uint32_t issued_device(const struct kwhy_detect_view *view, size_t call)
{
	uint32_t row = view->issued[call];

	return row == KWHY_NONE ? KWHY_NONE : kwhy_recording_device_of(view->recording, row);
}

/*
 * The only device on which a process has a stream; KWHY_NONE: there is none, or several. Finds it by binary
 * search, as uses[] is sorted by process.
 */
static uint32_t only_device(const struct kwhy_detect_view *view, uint32_t process)
{
	size_t low = 0, high = view->use_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (view->uses[middle] >> 32 >= process)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == view->use_count || view->uses[low] >> 32 != process ||
		(low + 1 < view->use_count && view->uses[low + 1] >> 32 == process))
		return KWHY_NONE;
	return (uint32_t)view->uses[low];
}

/*
 * The device of the thread's first work or, if it issued none, the only device of its process (KWHY_NONE:
 * that has none or several).
 */
static uint32_t first_device(const struct kwhy_detect_view *view, size_t thread)
{
	const struct kwhy_calls *calls = &view->recording->calls;

	for (size_t i = calls->first[thread]; i < calls->first[thread + 1]; i++)
		if (issued_device(view, i) != KWHY_NONE)
			return issued_device(view, i);
	return only_device(view, view->recording->threads[thread].process);
}

static enum kwhy_status add_segment(
	struct kwhy_detect_view *view, struct kwhy_segment segment, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (segment.device == KWHY_NONE || segment.begin == segment.end)
		return KWHY_OK;
	status = kwhy_column_reserve((void **)&view->segments, &view->segment_capacity,
		view->segment_count + 1, sizeof(*view->segments), "segments of threads", error);
	if (!status)
		view->segments[view->segment_count++] = segment;
	return status;
}

static enum kwhy_status cut_thread(struct kwhy_detect_view *view, size_t thread, struct kwhy_error *error)
{
	const struct kwhy_calls *calls = &view->recording->calls;
	uint32_t begin = (uint32_t)calls->first[thread], end = (uint32_t)calls->first[thread + 1];
	struct kwhy_segment segment = {first_device(view, thread), begin, begin};
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = begin; !status && i < end; i++) {
		uint32_t device = issued_device(view, i);

		if (device == KWHY_NONE || device == segment.device)
			continue;
		segment.end = i;
		status = add_segment(view, segment, error);
		segment = (struct kwhy_segment){device, i, i};
	}
	segment.end = end;
	return status ? status : add_segment(view, segment, error);
}

static int by_device_and_call(const void *a, const void *b)
{
	const struct kwhy_segment *left = a, *right = b;

	if (left->device != right->device)
		return left->device < right->device ? -1 : 1;
	return (left->begin > right->begin) - (left->begin < right->begin);
}

enum kwhy_status kwhy_detect_view_cut_segments(struct kwhy_detect_view *view, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t t = 0; !status && t < view->recording->thread_count; t++)
		status = cut_thread(view, t, error);
	if (!status && view->segment_count > 1)
		qsort(view->segments, view->segment_count, sizeof(*view->segments), by_device_and_call);
	return status;
}

/*
 * Goes to the first call of the current segment. If the segment does not belong to the walk's device, the
 * walk ends.
 */
static void enter(struct kwhy_walk *walk)
{
	const struct kwhy_detect_view *view = walk->view;

	if (walk->segment < view->segment_count && view->segments[walk->segment].device == walk->device)
		walk->next = view->segments[walk->segment].begin;
	else
		walk->segment = view->segment_count;
}

void kwhy_walk_init(struct kwhy_walk *walk, const struct kwhy_detect_view *view, uint32_t device)
{
	size_t low = 0, high = view->segment_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (view->segments[middle].device >= device)
			high = middle;
		else
			low = middle + 1;
	}
	*walk = (struct kwhy_walk){.view = view, .device = device, .segment = low};
	enter(walk);
}

bool kwhy_walk_next(struct kwhy_walk *walk, uint32_t *out_call)
{
	const struct kwhy_detect_view *view = walk->view;
	const struct kwhy_segment *segment;

	if (walk->segment == view->segment_count)
		return false;
	segment = &view->segments[walk->segment];
	walk->fresh = walk->next == segment->begin;
	*out_call = (uint32_t)walk->next++;
	while (walk->next < segment->end && view->outer[walk->next] != walk->next)
		walk->next++;
	if (walk->next == segment->end) {
		walk->segment++;
		enter(walk);
	}
	return true;
}

void kwhy_detect_view_visit_issues(
	const struct kwhy_detect_view *view, uint32_t device, kwhy_issue_visit *visit, void *context)
{
	uint32_t pending = KWHY_NONE, call;
	struct kwhy_walk walk;

	kwhy_walk_init(&walk, view, device);
	while (kwhy_walk_next(&walk, &call)) {
		bool wait = kwhy_detect_view_is_wait(view, call), issues = view->issued[call] != KWHY_NONE;

		if (pending != KWHY_NONE && (wait || issues || walk.fresh)) {
			visit(view, pending, wait && !issues && !walk.fresh ? call : KWHY_NONE, context);
			pending = KWHY_NONE;
		}
		if (!issues)
			continue;
		if (wait)
			visit(view, call, call, context);
		else
			pending = call;
	}
	if (pending != KWHY_NONE)
		visit(view, pending, KWHY_NONE, context);
}
