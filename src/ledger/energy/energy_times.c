/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_books.h"

#include <math.h>
#include <stdlib.h>

/* Metered intervals that touch, joined. */
struct runs {
	struct kwhy_window *windows;
	size_t count;
};

static enum kwhy_status runs_init(
	struct runs *runs, const struct kwhy_metered_total *total, struct kwhy_error *error)
{
	*runs = (struct runs){.windows = calloc(total->count + 1, sizeof(*runs->windows))};
	if (!runs->windows)
		return kwhy_fail_memory(error, "metered intervals");
	for (size_t i = 0; i < total->count; i++) {
		struct kwhy_window window = {total->intervals[i].start_ns, total->intervals[i].end_ns};

		if (runs->count && runs->windows[runs->count - 1].end_ns == window.start_ns)
			runs->windows[runs->count - 1].end_ns = window.end_ns;
		else
			runs->windows[runs->count++] = window;
	}
	return KWHY_OK;
}

/* Part of [start_ns, end_ns) inside the runs. */
static double inside(const struct runs *runs, int64_t start_ns, int64_t end_ns)
{
	size_t low = 0, high = runs->count;
	double sum_ns = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (runs->windows[middle].end_ns <= start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < runs->count && runs->windows[low].start_ns < end_ns; low++) {
		int64_t from_ns = runs->windows[low].start_ns, to_ns = runs->windows[low].end_ns;

		from_ns = from_ns < start_ns ? start_ns : from_ns;
		to_ns = to_ns > end_ns ? end_ns : to_ns;
		sum_ns += (double)(to_ns - from_ns);
	}
	return sum_ns;
}

/* What the idle accounts share: idle seconds seen, those outside of the activities apart. */
static void share_idle(const struct kwhy_energy_findings *findings, const struct kwhy_device_ledger *books,
	const struct runs *runs, double *out_inside_ns)
{
	const struct kwhy_posting *posting = findings->posting;
	double idle_ns = posting->base_unscaled_s[posting->class_count] * 1e9, outside_ns = 0, gaps_ns = 0;

	for (size_t i = 0; i < runs->count; i++)
		outside_ns += (double)(runs->windows[i].end_ns - runs->windows[i].start_ns);
	outside_ns -= inside(runs, books->time.first_ns, books->time.last_ns);
	for (size_t i = 0; i < books->account_count; i++)
		if (kwhy_category_is_idle(books->accounts[i].category) &&
			books->accounts[i].category != KWHY_CATEGORY_OUTSIDE)
			gaps_ns += (double)books->accounts[i].time_ns;
	for (size_t i = 0; i < books->account_count; i++) {
		const struct kwhy_account *account = &books->accounts[i];

		if (account->category == KWHY_CATEGORY_OUTSIDE)
			out_inside_ns[i] = outside_ns;
		else if (kwhy_category_is_idle(account->category) && gaps_ns > 0)
			out_inside_ns[i] = fmax(0, idle_ns - outside_ns) *
				((double)account->time_ns / gaps_ns);
	}
}

enum kwhy_status kwhy_energy_times(const struct kwhy_energy_findings *findings,
	const struct kwhy_device_ledger *books, double *out_inside_ns, struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &findings->recording->activities;
	size_t first = rows->first[findings->device], end = rows->first[findings->device + 1];
	struct runs runs;
	enum kwhy_status status = runs_init(&runs, findings->total, error);

	if (status)
		return status;
	for (size_t i = first; i < end; i++)
		out_inside_ns[books->account_of[i - first]] += inside(
			&runs, rows->start_ns[i], rows->end_ns[i]);
	share_idle(findings, books, &runs, out_inside_ns);
	free(runs.windows);
	return KWHY_OK;
}
