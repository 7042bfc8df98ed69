/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/probing.h"

#include "ledger/work_clock.h"

#include <stdlib.h>
#include <string.h>

/*
 * An interval of kwhy probe counts as throttled if the last quarter of its repeats of a kernel takes more
 * than THROTTLED_RATIO times as long as the first quarter. Intervals with fewer than REPEATS_MIN repeats are
 * not checked.
 */
enum { REPEATS_MIN = 8 };
#define THROTTLED_RATIO 1.03

static bool is_probe(const struct kwhy_activities *rows, size_t row)
{
	return rows->origin[row] != KWHY_ORIGIN_PROGRAM;
}

bool kwhy_probing_is_there(const struct kwhy_recording *recording, uint32_t device)
{
	const struct kwhy_activities *rows = &recording->activities;

	for (size_t row = rows->first[device]; row < rows->first[device + 1]; row++)
		if (is_probe(rows, row))
			return true;
	return false;
}

/*
 * The burst (repeats of one kernel in a row) in which an activity of kwhy probe ran; NULL: none. Bursts are
 * in order of start. Those of one process do not overlap, but bursts of other processes may lie between them.
 */
static const struct kwhy_burst *burst_of(const struct kwhy_recording *recording, size_t row)
{
	const struct kwhy_activities *rows = &recording->activities;
	const uint32_t process = recording->streams[rows->stream[row]].process;
	size_t low = 0, high = recording->burst_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (recording->bursts[middle].start_ns <= rows->start_ns[row])
			low = middle + 1;
		else
			high = middle;
	}
	while (low && recording->bursts[low - 1].process != process)
		low--;
	return low && rows->start_ns[row] < recording->bursts[low - 1].end_ns ? &recording->bursts[low - 1]
									      : NULL;
}

/*
 * Cuts the intervals of kwhy probe at the end of the device's last activity, because the device's run ends
 * there.
 */
static void end_with_work(
	struct kwhy_covered *covered, const struct kwhy_recording *recording, uint32_t device)
{
	const struct kwhy_activities *rows = &recording->activities;
	int64_t end_ns = INT64_MIN;

	for (size_t row = rows->first[device]; row < rows->first[device + 1]; row++)
		end_ns = rows->end_ns[row] > end_ns ? rows->end_ns[row] : end_ns;
	for (size_t i = 0; i < covered->probing_count; i++)
		if (covered->probing[i].end_ns > end_ns)
			covered->probing[i].end_ns = end_ns;
}

/* Adds an interval of kwhy probe, or extends the last one to end_ns if the new one begins in it. */
static void add_probe(struct kwhy_covered *covered, int64_t start_ns, int64_t end_ns)
{
	struct kwhy_window *last = &covered->probing[covered->probing_count];

	if (!covered->probing_count || start_ns > last[-1].end_ns)
		covered->probing[covered->probing_count++] = (struct kwhy_window){start_ns, end_ns};
	else if (last[-1].end_ns < end_ns)
		last[-1].end_ns = end_ns;
}

/*
 * Cuts the time of an activity of the program, such as the launch that is then repeated, out of the last
 * interval of kwhy probe.
 */
static void take_program(struct kwhy_covered *covered, int64_t start_ns, int64_t end_ns)
{
	struct kwhy_window *last = &covered->probing[covered->probing_count];
	int64_t until_ns;

	if (!covered->probing_count || start_ns >= last[-1].end_ns)
		return;
	until_ns = last[-1].end_ns;
	if (start_ns > last[-1].start_ns) {
		last[-1].end_ns = start_ns;
		covered->probing[covered->probing_count++] = (struct kwhy_window){start_ns, until_ns};
		last++;
	}
	last[-1].start_ns = end_ns < until_ns ? end_ns : until_ns;
}

static void drop_empty(struct kwhy_covered *covered)
{
	size_t kept = 0;

	for (size_t i = 0; i < covered->probing_count; i++)
		if (covered->probing[i].start_ns < covered->probing[i].end_ns)
			covered->probing[kept++] = covered->probing[i];
	covered->probing_count = kept;
}

/*
 * Adds the interval of an activity of kwhy probe. A burst blocks the host from its start to its end, so the
 * device waits for kwhy probe from the burst's start on, or from program_end_ns if that is later: the latest
 * end of the program's activities that started earlier.
 */
static void add_activity(struct kwhy_covered *covered, const struct kwhy_recording *recording, size_t row,
	int64_t program_end_ns)
{
	const struct kwhy_activities *rows = &recording->activities;
	const struct kwhy_burst *burst = burst_of(recording, row);
	int64_t start_ns = rows->start_ns[row], end_ns = rows->end_ns[row];

	if (burst && end_ns < burst->end_ns)
		end_ns = burst->end_ns;
	if (burst && program_end_ns < start_ns)
		start_ns = program_end_ns > burst->start_ns ? program_end_ns : burst->start_ns;
	add_probe(covered, start_ns, end_ns);
}

/*
 * Lists the intervals of kwhy probe in covered->probing. Each activity adds at most one: the array has one
 * entry more than there are activities.
 */
static void list_intervals(
	struct kwhy_covered *covered, const struct kwhy_recording *recording, uint32_t device)
{
	const struct kwhy_activities *rows = &recording->activities;
	int64_t program_end_ns = INT64_MIN;

	for (size_t row = rows->first[device]; row < rows->first[device + 1]; row++) {
		if (is_probe(rows, row)) {
			add_activity(covered, recording, row, program_end_ns);
			continue;
		}
		take_program(covered, rows->start_ns[row], rows->end_ns[row]);
		if (rows->end_ns[row] > program_end_ns)
			program_end_ns = rows->end_ns[row];
	}
	end_with_work(covered, recording, device);
	drop_empty(covered);
}

static enum kwhy_status list_init(struct kwhy_covered *covered, const struct kwhy_recording *recording,
	uint32_t device, struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &recording->activities;

	if (!kwhy_probing_is_there(recording, device))
		return KWHY_OK;
	covered->probing = calloc(
		rows->first[device + 1] - rows->first[device] + 1, sizeof(*covered->probing));
	if (!covered->probing)
		return kwhy_fail_memory(error, "bursts of repeats");
	list_intervals(covered, recording, device);
	return KWHY_OK;
}

enum kwhy_status kwhy_probing_cut(struct kwhy_covered *covered, const struct kwhy_recording *recording,
	uint32_t device, struct kwhy_error *error)
{
	enum kwhy_status status = list_init(covered, recording, device, error);

	if (status || !covered->probing_count)
		return status;
	return kwhy_covered_hide(covered, covered->probing, covered->probing_count, error);
}

/* The repeats of kwhy probe in one interval. */
struct repeats {
	const struct kwhy_activities *rows;
	size_t first, end; /* range [first, end) of rows that contains the repeats */
	size_t count;
};

/* Sum of the durations in ns of the repeats with numbers [from, to), counted from 0 within the interval. */
static double repeats_ns(const struct repeats *repeats, size_t from, size_t to)
{
	double sum_ns = 0;
	size_t number = 0;

	for (size_t row = repeats->first; row < repeats->end; row++) {
		if (repeats->rows->origin[row] != KWHY_ORIGIN_REPEAT)
			continue;
		if (number >= from && number < to)
			sum_ns += (double)repeats->rows->end_ns[row] - (double)repeats->rows->start_ns[row];
		number++;
	}
	return sum_ns;
}

static bool is_throttled(const struct repeats *repeats)
{
	const size_t quarter = repeats->count / 4;

	if (repeats->count < REPEATS_MIN)
		return false;
	return repeats_ns(repeats, repeats->count - quarter, repeats->count) >
		THROTTLED_RATIO * repeats_ns(repeats, 0, quarter);
}

/* Finds the repeats among the activities from `first` on that start before the end of the interval. */
static struct repeats find_repeats(
	const struct kwhy_activities *rows, size_t first, size_t end, const struct kwhy_window *interval)
{
	struct repeats repeats = {.rows = rows, .first = first, .end = first};

	for (; repeats.end < end && rows->start_ns[repeats.end] < interval->end_ns; repeats.end++)
		repeats.count += rows->origin[repeats.end] == KWHY_ORIGIN_REPEAT;
	return repeats;
}

/*
 * Whether SM clocks were read between the first start and the last end of the repeats, and their mean is none
 * of the clocks at which the program's own work ran.
 */
static bool has_other_clock(const struct repeats *repeats, const struct kwhy_work_clock *clock)
{
	const struct kwhy_activities *rows = repeats->rows;
	int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;

	for (size_t row = repeats->first; row < repeats->end; row++) {
		if (rows->origin[row] != KWHY_ORIGIN_REPEAT)
			continue;
		if (rows->start_ns[row] < start_ns)
			start_ns = rows->start_ns[row];
		if (rows->end_ns[row] > end_ns)
			end_ns = rows->end_ns[row];
	}
	return start_ns < end_ns && kwhy_work_clock_differs(clock, start_ns, end_ns);
}

/*
 * Writes the intervals of list->probing whose clock was not that of the program's work, or fell, and counts
 * them. out->windows may be list->probing.
 */
static void keep_unlike(const struct kwhy_covered *list, const struct kwhy_activities *rows, uint32_t device,
	const struct kwhy_work_clock *clock, struct kwhy_probing_unlike *out)
{
	size_t row = rows->first[device], count = 0;

	for (size_t i = 0; i < list->probing_count; i++) {
		const struct kwhy_window interval = list->probing[i];
		const struct repeats repeats = find_repeats(rows, row, rows->first[device + 1], &interval);
		const bool is_slower = is_throttled(&repeats),
			   is_other = !is_slower && has_other_clock(&repeats, clock);

		row = repeats.end;
		out->all_count += repeats.count > 0;
		out->throttled_count += is_slower;
		out->clock_count += is_other;
		if (is_slower || is_other)
			out->windows[count++] = interval;
	}
}

enum kwhy_status kwhy_probing_unlike_find(const struct kwhy_recording *recording, uint32_t device,
	struct kwhy_probing_unlike *out, struct kwhy_error *error)
{
	struct kwhy_work_clock clock;
	struct kwhy_covered list = {0};
	enum kwhy_status status = kwhy_work_clock_init(&clock, recording, device, error);

	if (!status)
		status = list_init(&list, recording, device, error);
	if (status)
		return status;
	*out = (struct kwhy_probing_unlike){.windows = list.probing};
	keep_unlike(&list, &recording->activities, device, &clock, out);
	return KWHY_OK;
}

void kwhy_probing_twins(const struct kwhy_device_ledger *device_ledger, uint32_t *out_twins)
{
	for (size_t i = 0; i < device_ledger->account_count; i++) {
		out_twins[i] = KWHY_NONE;
		if (device_ledger->accounts[i].category != KWHY_CATEGORY_PROBING ||
			device_ledger->accounts[i].is_probing_idle)
			continue;
		for (size_t k = 0; k < device_ledger->account_count && out_twins[i] == KWHY_NONE; k++)
			if (device_ledger->accounts[k].category <= KWHY_CATEGORY_MEMSET &&
				!strcmp(device_ledger->accounts[k].name, device_ledger->accounts[i].name))
				out_twins[i] = (uint32_t)k;
	}
}

static void move_row(struct kwhy_activities *rows, size_t to, size_t from)
{
#define X(type, column) rows->column[to] = rows->column[from];
	KWHY_ACTIVITY_COLUMNS(X)
#undef X
}

/*
 * Renumbers the entries of recording->collectives that belong to activity `from`, which was moved to row `to`
 * because activities of kwhy probe were removed. Entries of removed activities are left out. *next: next
 * entry to read; *kept: number of entries kept.
 */
static void move_collectives(
	struct kwhy_recording *recording, size_t from, size_t to, size_t *kept, size_t *next)
{
	struct kwhy_collective *all = recording->collectives;

	while (*next < recording->collective_count && all[*next].activity < from)
		(*next)++;
	while (*next < recording->collective_count && all[*next].activity == from) {
		all[*kept] = all[(*next)++];
		all[(*kept)++].activity = (uint32_t)to;
	}
}

void kwhy_probing_drop(struct kwhy_ledger *ledger, struct kwhy_recording *recording)
{
	struct kwhy_activities *rows = &recording->activities;
	size_t kept = 0, row = 0, kept_collectives = 0, collective = 0;

	for (size_t device = 0; device < recording->device_count; device++) {
		const size_t first = row, end = rows->first[device + 1];
		uint32_t *account_of = ledger->devices[device].account_of;
		const size_t kept_first = kept;

		rows->first[device] = kept_first;
		for (; row < end; row++) {
			if (is_probe(rows, row))
				continue;
			account_of[kept - kept_first] = account_of[row - first];
			move_collectives(recording, row, kept, &kept_collectives, &collective);
			move_row(rows, kept++, row);
		}
	}
	rows->first[recording->device_count] = kept;
	rows->count = kept;
	recording->collective_count = kept_collectives;
}
