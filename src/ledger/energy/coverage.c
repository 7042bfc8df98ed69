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

/* Joins windows that touch or overlap; they are sorted by start. */
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

enum kwhy_status kwhy_covered_init(struct kwhy_covered *covered, const struct kwhy_recording *recording,
	uint32_t device, struct kwhy_error *error)
{
	bool stated = false;

	*covered = (struct kwhy_covered){
		.windows = calloc(recording->coverage_count + 1, sizeof(*covered->windows))};
	if (!covered->windows)
		return kwhy_fail_memory(error, "coverage");
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
	return KWHY_OK;
}

void kwhy_covered_done(struct kwhy_covered *covered)
{
	free(covered->windows);
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
