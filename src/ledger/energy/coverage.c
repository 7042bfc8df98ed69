/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/coverage.h"

#include <stdlib.h>

static int compare_windows(const void *a, const void *b)
{
	const struct kwhy_window *left = a, *right = b;

	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return (left->end_ns > right->end_ns) - (left->end_ns < right->end_ns);
}

static void add_window(struct kwhy_covered *covered, int64_t start_ns, int64_t end_ns)
{
	if (start_ns < end_ns)
		covered->windows[covered->count++] = (struct kwhy_window){start_ns, end_ns};
}

/* Joins windows, sorted by start, that touch or overlap. */
static void join_windows(struct kwhy_covered *covered)
{
	size_t kept = 0;

	for (size_t i = 0; i < covered->count; i++) {
		struct kwhy_window window = covered->windows[i];

		if (kept == 0 || covered->windows[kept - 1].end_ns < window.start_ns)
			covered->windows[kept++] = window;
		else if (covered->windows[kept - 1].end_ns < window.end_ns)
			covered->windows[kept - 1].end_ns = window.end_ns;
	}
	covered->count = kept;
}

static void widen(struct kwhy_window *hull, int64_t start_ns, int64_t end_ns)
{
	if (hull->start_ns > hull->end_ns) {
		*hull = (struct kwhy_window){start_ns, end_ns};
		return;
	}
	hull->start_ns = start_ns < hull->start_ns ? start_ns : hull->start_ns;
	hull->end_ns = end_ns > hull->end_ns ? end_ns : hull->end_ns;
}

static void find_hull(struct kwhy_covered *covered, const struct kwhy_recording *recording, uint32_t device)
{
	covered->hull = (struct kwhy_window){1, 0};
	if (covered->count)
		widen(&covered->hull, covered->windows[0].start_ns,
			covered->windows[covered->count - 1].end_ns);
	for (size_t i = 0; i < recording->selection_count; i++) {
		const struct kwhy_selection *selection = &recording->selections[i];

		if (selection->device != device && selection->device != KWHY_NONE)
			continue;
		widen(&covered->hull, selection->start_ns, selection->end_ns);
		if (selection->choice > covered->choice)
			covered->choice = (enum kwhy_choice)selection->choice;
	}
	if (covered->hull.start_ns > covered->hull.end_ns)
		covered->hull = (struct kwhy_window){0, 0};
}

static void hide(struct kwhy_covered *covered, int64_t start_ns, int64_t end_ns)
{
	if (start_ns < end_ns)
		covered->unrecorded[covered->unrecorded_count++] = (struct kwhy_window){start_ns, end_ns};
}

static void find_unrecorded(struct kwhy_covered *covered)
{
	int64_t known_to_ns = covered->hull.start_ns;

	for (size_t i = 0; i < covered->count; i++) {
		hide(covered, known_to_ns, covered->windows[i].start_ns);
		known_to_ns = covered->windows[i].end_ns;
	}
	hide(covered, known_to_ns, covered->hull.end_ns);
}

enum kwhy_status kwhy_covered_init(struct kwhy_covered *covered, const struct kwhy_recording *recording,
	uint32_t device, struct kwhy_error *error)
{
	bool stated = false;

	*covered = (struct kwhy_covered){
		.windows = calloc(recording->coverage_count + 1, sizeof(*covered->windows)),
		.unrecorded = calloc(recording->coverage_count + 2, sizeof(*covered->unrecorded)),
		.is_all_idle = !recording->activities.count};
	if (!covered->windows || !covered->unrecorded) {
		kwhy_covered_done(covered);
		return kwhy_fail_memory(error, "coverage");
	}
	for (size_t i = 0; i < recording->coverage_count; i++) {
		const struct kwhy_coverage *coverage = &recording->coverage[i];

		if (coverage->device != device && coverage->device != KWHY_NONE)
			continue;
		stated = true;
		add_window(covered, coverage->start_ns, coverage->end_ns);
	}
	if (!stated)
		add_window(covered, recording->start_ns, recording->end_ns);
	qsort(covered->windows, covered->count, sizeof(*covered->windows), compare_windows);
	join_windows(covered);
	find_hull(covered, recording, device);
	find_unrecorded(covered);
	covered->is_in_windows = covered->unrecorded_count > 0;
	return KWHY_OK;
}

/*
 * Appends those parts of a window that lie outside of the intervals `stretches`, which are disjoint and in
 * order of time.
 */
static void cut_window(struct kwhy_covered *covered, struct kwhy_window window,
	const struct kwhy_window *stretches, size_t count)
{
	for (size_t i = 0; i < count && stretches[i].start_ns < window.end_ns; i++) {
		if (stretches[i].end_ns <= window.start_ns)
			continue;
		add_window(covered, window.start_ns, stretches[i].start_ns);
		window.start_ns = stretches[i].end_ns;
	}
	add_window(covered, window.start_ns, window.end_ns);
}

enum kwhy_status kwhy_covered_hide(struct kwhy_covered *covered, const struct kwhy_window *stretches,
	size_t count, struct kwhy_error *error)
{
	struct kwhy_covered whole = *covered;
	size_t next = 0;

	covered->windows = calloc(whole.count + count + 1, sizeof(*covered->windows));
	covered->unrecorded = calloc(whole.count + count + 2, sizeof(*covered->unrecorded));
	covered->count = covered->unrecorded_count = 0;
	if (!covered->windows || !covered->unrecorded) {
		free(covered->windows);
		free(covered->unrecorded);
		*covered = whole;
		return kwhy_fail_memory(error, "coverage");
	}
	for (size_t i = 0; i < whole.count; i++) {
		while (next < count && stretches[next].end_ns <= whole.windows[i].start_ns)
			next++;
		cut_window(covered, whole.windows[i], stretches + next, count - next);
	}
	find_unrecorded(covered);
	free(whole.windows);
	free(whole.unrecorded);
	return KWHY_OK;
}

void kwhy_covered_done(struct kwhy_covered *covered)
{
	free(covered->probing);
	free(covered->windows);
	free(covered->unrecorded);
	*covered = (struct kwhy_covered){0};
}

bool kwhy_covered_holds(const struct kwhy_covered *covered, int64_t start_ns, int64_t end_ns)
{
	size_t low = 0, high = covered->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (covered->windows[middle].start_ns <= start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && end_ns <= covered->windows[low - 1].end_ns;
}

bool kwhy_covered_in_hull(const struct kwhy_covered *covered, int64_t start_ns, int64_t end_ns)
{
	const struct kwhy_window *hull = &covered->hull;

	if (covered->is_all_idle)
		return start_ns < hull->end_ns && end_ns > hull->start_ns;
	return start_ns >= hull->start_ns && end_ns <= hull->end_ns && hull->start_ns < hull->end_ns;
}

int64_t kwhy_covered_ns(const struct kwhy_covered *covered, int64_t start_ns, int64_t end_ns)
{
	size_t low = 0, high = covered->count;
	int64_t sum_ns = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (covered->windows[middle].end_ns <= start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < covered->count && covered->windows[low].start_ns < end_ns; low++) {
		const struct kwhy_window *window = &covered->windows[low];
		int64_t from_ns = window->start_ns > start_ns ? window->start_ns : start_ns;
		int64_t to_ns = window->end_ns < end_ns ? window->end_ns : end_ns;

		sum_ns += to_ns > from_ns ? to_ns - from_ns : 0;
	}
	return sum_ns;
}

int64_t *kwhy_covered_edges(const struct kwhy_covered *covered)
{
	int64_t *edges = calloc(2 * covered->count + 2, sizeof(*edges));

	if (!edges)
		return NULL;
	edges[0] = covered->hull.start_ns;
	for (size_t i = 0; i < covered->count; i++) {
		edges[2 * i + 1] = covered->windows[i].start_ns;
		edges[2 * i + 2] = covered->windows[i].end_ns;
	}
	edges[2 * covered->count + 1] = covered->hull.end_ns;
	return edges;
}
