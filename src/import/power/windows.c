/* SPDX-License-Identifier: Apache-2.0 */
#include "import/power/windows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	GAP_SHARE = 100
}; /* the log is refused if the gaps between a GPU's windows exceed 1/100 of the time from the first to the
      last */

static int64_t start_of(const struct kwhy_power_entry *entry)
{
	return entry->time_ns - entry->length_ns;
}

/*
 * Sorts windows by GPU, then by start, then by falling length, so that a window comes before the windows
 * inside it.
 */
static int compare(const void *a, const void *b)
{
	const struct kwhy_power_entry *left = a, *right = b;

	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	if (start_of(left) != start_of(right))
		return start_of(left) < start_of(right) ? -1 : 1;
	return (left->length_ns < right->length_ns) - (left->length_ns > right->length_ns);
}

/* The counter readings that replace the windows of a log, at most two for each window. */
struct unrolled {
	struct kwhy_power_entry *entries;
	size_t count;
};

static void add(struct unrolled *out, const struct kwhy_power_entry *window, int64_t time_ns, int64_t value)
{
	struct kwhy_power_entry entry = *window;

	entry.time_ns = time_ns;
	entry.length_ns = 0;
	entry.value = value;
	entry.role = KWHY_POWER_ROLE_COUNTER;
	out->entries[out->count++] = entry;
}

static enum kwhy_status refuse_gaps(
	const struct kwhy_power_log *log, int64_t gaps_ns, int64_t span_ns, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s: between its windows lie %.3f of %.3f s, whose energy it does not hold; %s", log->path,
		(double)gaps_ns * 1e-9, (double)span_ns * 1e-9, log->dialect->cure);
}

/*
 * For logs of Zeus: makes a counter of each GPU that is 0 at the start of its first window and grows by each
 * window's energy. A window that begins inside an earlier one is counted as unread.
 */
static enum kwhy_status chain(struct kwhy_power_log *log, struct unrolled *out, struct kwhy_error *error)
{
	int64_t start_ns = 0, end_ns = 0, gaps_ns = 0, total = 0;

	for (size_t i = 0; i < log->entry_count; i++) {
		const struct kwhy_power_entry *window = &log->entries[i];
		const bool is_first = i == 0 || log->entries[i - 1].key != window->key;

		if (is_first) {
			start_ns = end_ns = start_of(window);
			gaps_ns = total = 0;
			add(out, window, start_ns, 0);
		}
		if (start_of(window) < end_ns) {
			kwhy_power_log_skip(log, window->place, (struct kwhy_span){"", 0},
				"the window begins within another one, whose energy holds its own");
			continue;
		}
		gaps_ns += start_of(window) - end_ns;
		end_ns = window->time_ns;
		if (gaps_ns > (end_ns - start_ns) / GAP_SHARE)
			return refuse_gaps(log, gaps_ns, end_ns - start_ns, error);
		if (__builtin_add_overflow(total, window->value, &total))
			return kwhy_fail(
				error, KWHY_E_INPUT, "%s: its energies add up to no number", log->path);
		add(out, window, end_ns, total);
	}
	return KWHY_OK;
}

static bool overlaps(const struct kwhy_power_entry *entry, const struct kwhy_power_window *work)
{
	return !work->known || (start_of(entry) <= work->end_ns && entry->time_ns >= work->start_ns);
}

/*
 * For logs of CodeCarbon: makes a counter from the rows of the run that overlaps `work`. The energy in each
 * row is that since the start of the run.
 */
static enum kwhy_status choose_run(struct kwhy_power_log *log, const struct kwhy_power_window *work,
	struct unrolled *out, struct kwhy_error *error)
{
	const struct kwhy_power_entry *first = NULL;

	for (size_t i = 0; i < log->entry_count; i++) {
		if (!overlaps(&log->entries[i], work))
			continue;
		if (first && first->run != log->entries[i].run)
			return kwhy_fail(error, KWHY_E_INPUT,
				"%s holds several runs that overlap with the trace, %.64s and %.64s; keep "
				"the rows of one",
				log->path, kwhy_names_get(&log->names, first->run),
				kwhy_names_get(&log->names, log->entries[i].run));
		first = first ? first : &log->entries[i];
	}
	/*
	 * If no run overlaps the work, the last row's run is used; kwhy_power_window_check() then refuses the
	 * file with a message that states the intervals of log and trace.
	 */
	if (!first)
		first = &log->entries[log->entry_count - 1];
	for (size_t i = 0; i < log->entry_count; i++) {
		if (log->entries[i].run != first->run)
			continue;
		if (out->count == 0)
			add(out, &log->entries[i], start_of(&log->entries[i]), 0);
		add(out, &log->entries[i], log->entries[i].time_ns, log->entries[i].value);
	}
	return KWHY_OK;
}

enum kwhy_status kwhy_power_windows_unroll(
	struct kwhy_power_log *log, const struct kwhy_power_window *work_unix, struct kwhy_error *error)
{
	const bool has_runs = log->dialect->shape == KWHY_POWER_WINDOWS_UP_TO;
	struct unrolled out = {NULL, 0};
	enum kwhy_status status;

	if (log->dialect->shape == KWHY_POWER_READINGS)
		return KWHY_OK;
	out.entries = calloc(2 * log->entry_count, sizeof(*out.entries));
	if (!out.entries)
		return kwhy_fail_memory(error, "the windows of a power log");
	qsort(log->entries, log->entry_count, sizeof(*log->entries), compare);
	status = has_runs ? choose_run(log, work_unix, &out, error) : chain(log, &out, error);
	if (status) {
		free(out.entries);
		return status;
	}
	log->entry_capacity = 2 * log->entry_count;
	log->entry_count = out.count;
	free(log->entries);
	log->entries = out.entries;
	return KWHY_OK;
}
