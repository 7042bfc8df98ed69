/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/coverage.h"
#include "ledger/parts.h"
#include "ledger/saturate.h"
#include "ledger/sweep.h"
#include "ledger/time/host_sums.h"
#include "ledger/time/resident.h"
#include "ledger/time/time_copies.h"
#include "model/host_wait.h"

#include <math.h>
#include <stdlib.h>

/*
 * Activities are in four groups: kernels and graphs, collectives, copies, memsets. A walk over a device's
 * activities measures, for each set of groups, the time in which activities of exactly these groups run.
 * Every union and every category is a sum of such times.
 */
enum group { COMPUTE, COLLECTIVE, COPY, MEMSET, GROUP_COUNT };
enum { SET_COUNT = 1 << GROUP_COUNT, SMALL_BYTES = 4096 };

static const uint8_t group_of_kind[KWHY_ACTIVITY_KIND_COUNT] = {
	[KWHY_ACTIVITY_KERNEL] = COMPUTE,
	[KWHY_ACTIVITY_COLLECTIVE] = COLLECTIVE,
	[KWHY_ACTIVITY_GRAPH] = COMPUTE,
	[KWHY_ACTIVITY_COPY] = COPY,
	[KWHY_ACTIVITY_MEMSET] = MEMSET,
};

struct tally {
	const struct kwhy_recording *recording;
	uint32_t device;
	const struct kwhy_covered *covered;
	struct kwhy_covered_window *windows; /* windows of the ledger's coverage, one for each of
						covered->windows; NULL: the ledger has none */
	size_t window, unrecorded, probing;  /* indices of the window, of the unrecorded interval and of the
						interval of kwhy probe that the walk has reached */
	struct kwhy_host_wait wait;
	struct kwhy_host_sums host;
	uint32_t last, next; /* last: activity of the program that ended last before the current interval
				(KWHY_NONE: none). next: the program's next activity after it */
	size_t next_own;     /* row from which the search for the program's next activity goes on */
	struct kwhy_device_time time;
	size_t running[GROUP_COUNT];
	int64_t set_ns[SET_COUNT]; /* time in ns in which exactly the groups of a set run; bit g of the index:
				      group g is in the set */
	struct kwhy_resident resident;
	unsigned __int128 share_ns;
	int64_t total_ns[GROUP_COUNT];
	uint64_t count[GROUP_COUNT];
	int64_t known_grid_ns;
};

static bool is_kernel(const struct kwhy_activities *rows, size_t row)
{
	return group_of_kind[rows->kind[row]] <= COLLECTIVE;
}

static void add_memory_row(struct kwhy_device_time *time, const struct kwhy_activities *rows, size_t row)
{
	uint64_t bytes = rows->bytes[row];
	bool known = bytes != KWHY_UNKNOWN_BYTES;

	if (rows->kind[row] == KWHY_ACTIVITY_COPY) {
		time->small_h2d_count += rows->copy_kind[row] == KWHY_COPY_H2D && bytes < SMALL_BYTES;
		return;
	}
	time->memset_unknown_bytes += !known;
	time->memset_bytes = kwhy_saturate_add_unsigned(time->memset_bytes, known ? bytes : 0);
}

/* Adds an activity to the counts and sums that do not depend on what runs at the same time. */
static void add_row(struct tally *tally, size_t row)
{
	const struct kwhy_activities *rows = &tally->recording->activities;
	struct kwhy_device_time *time = &tally->time;
	int64_t length_ns = rows->end_ns[row] - rows->start_ns[row];
	enum group group = group_of_kind[rows->kind[row]];
	uint64_t share;

	tally->count[group]++;
	tally->total_ns[group] = kwhy_saturate_add(tally->total_ns[group], length_ns);
	time->graph_count += rows->kind[row] == KWHY_ACTIVITY_GRAPH;
	if (!is_kernel(rows, row))
		add_memory_row(time, rows, row);
	else if (kwhy_resident_share(&tally->recording->devices[tally->device], rows, row, &share))
		tally->known_grid_ns = kwhy_saturate_add(tally->known_grid_ns, length_ns);
}

static void add_rows(struct tally *tally)
{
	const struct kwhy_activities *rows = &tally->recording->activities;
	struct kwhy_device_time *time = &tally->time;
	const uint64_t *count = tally->count;
	const int64_t *total_ns = tally->total_ns;

	for (size_t i = rows->first[tally->device]; i < rows->first[tally->device + 1]; i++)
		if (rows->origin[i] == KWHY_ORIGIN_PROGRAM)
			add_row(tally, i);
	time->kernel_count = count[COMPUTE] + count[COLLECTIVE];
	time->kernel_total_ns = kwhy_saturate_add(total_ns[COMPUTE], total_ns[COLLECTIVE]);
	time->collective_count = count[COLLECTIVE];
	time->collective_total_ns = total_ns[COLLECTIVE];
	time->copy_count = count[COPY];
	time->copy_total_ns = total_ns[COPY];
	time->memset_count = count[MEMSET];
	time->memset_total_ns = total_ns[MEMSET];
}

static enum kwhy_status count_streams(struct tally *tally, struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &tally->recording->activities;
	bool *seen = calloc(tally->recording->stream_count + 1, sizeof(*seen));

	if (!seen)
		return kwhy_fail_memory(error, "counting streams");
	for (size_t i = rows->first[tally->device]; i < rows->first[tally->device + 1]; i++) {
		if (rows->origin[i] != KWHY_ORIGIN_PROGRAM)
			continue;
		tally->time.stream_count += !seen[rows->stream[i]];
		seen[rows->stream[i]] = true;
	}
	free(seen);
	return KWHY_OK;
}

/*
 * Updates the numbers of running activities by group. Returns the set of groups that run in the interval, as
 * a bit mask.
 */
static unsigned follow(struct tally *tally, const struct kwhy_sweep_interval *interval)
{
	const uint8_t *kind = tally->recording->activities.kind;
	unsigned set = 0;

	for (size_t i = 0; i < interval->ended_count; i++)
		tally->running[group_of_kind[kind[interval->ended[i]]]]--;
	for (size_t i = 0; i < interval->started_count; i++)
		tally->running[group_of_kind[kind[interval->started[i]]]]++;
	for (unsigned group = 0; group < GROUP_COUNT; group++)
		set |= (tally->running[group] > 0) << group;
	return set;
}

/*
 * Pointer to the idle time, of one category, of the window that contains start_ns. Must be called in order of
 * time, and only if the ledger has windows.
 */
static int64_t *window_idle_ns(struct tally *tally, int64_t start_ns, enum kwhy_category category)
{
	const struct kwhy_covered *covered = tally->covered;

	while (tally->window + 1 < covered->count && covered->windows[tally->window].end_ns <= start_ns)
		tally->window++;
	return &tally->windows[tally->window].idle_ns[category - KWHY_CATEGORY_SYNC];
}

static void add_window_idle(
	struct tally *tally, int64_t start_ns, const int64_t part_ns[KWHY_HOST_STATE_COUNT])
{
	for (uint32_t state = 0; tally->windows && state < KWHY_HOST_STATE_COUNT; state++)
		*window_idle_ns(tally, start_ns, kwhy_category_of_wait(state)) += part_ns[state];
}

/*
 * Finds the program's activities before and after an interval, `last` and `next`. Activities of kwhy probe
 * are skipped: before it repeats a launch of the program it makes copies, so the activity for which the
 * device waits in the gap before these copies is the program's launch. If the program has no later activity,
 * row `next` is taken, whatever its origin.
 */
static void follow_program(struct tally *tally, const struct kwhy_sweep_interval *interval, size_t next)
{
	const struct kwhy_activities *rows = &tally->recording->activities;
	const size_t end = rows->first[tally->device + 1];

	for (size_t i = 0; i < interval->ended_count; i++)
		if (rows->origin[interval->ended[i]] == KWHY_ORIGIN_PROGRAM)
			tally->last = interval->ended[i];
	if (tally->next_own < next)
		tally->next_own = next;
	while (tally->next_own < end && rows->origin[tally->next_own] != KWHY_ORIGIN_PROGRAM)
		tally->next_own++;
	tally->next = (uint32_t)(tally->next_own < end ? tally->next_own : next);
}

static enum kwhy_status add_gap(
	struct tally *tally, const struct kwhy_host_span *gap, struct kwhy_error *error)
{
	struct kwhy_device_time *time = &tally->time;
	int64_t part_ns[KWHY_HOST_STATE_COUNT];
	enum kwhy_status status;

	time->idle_gaps++;
	kwhy_host_sums_add(&tally->host, gap, tally->last, tally->next);
	if (!tally->recording->has_calls) {
		if (tally->windows)
			*window_idle_ns(tally, gap->start_ns, KWHY_CATEGORY_IDLE) += gap->end_ns -
				gap->start_ns;
		return KWHY_OK;
	}
	status = kwhy_host_wait_divide(&tally->wait, gap, tally->next, part_ns, error);
	if (status)
		return status;
	time->sync_ns += part_ns[KWHY_HOST_SYNC];
	time->launch_ns += part_ns[KWHY_HOST_LAUNCH];
	time->alloc_ns += part_ns[KWHY_HOST_ALLOC];
	time->host_ns += part_ns[KWHY_HOST_ELSEWHERE];
	time->sync_gaps += part_ns[KWHY_HOST_SYNC] > 0;
	time->launch_gaps += part_ns[KWHY_HOST_LAUNCH] > 0;
	time->alloc_gaps += part_ns[KWHY_HOST_ALLOC] > 0;
	time->host_gaps += part_ns[KWHY_HOST_ELSEWHERE] > 0;
	add_window_idle(tally, gap->start_ns, part_ns);
	return KWHY_OK;
}

/*
 * Whether an interval is unrecorded time. No interval is only partly unrecorded, because intervals are split
 * at the starts and ends of windows.
 */
static bool is_unrecorded(struct tally *tally, const struct kwhy_sweep_interval *interval)
{
	const struct kwhy_covered *covered = tally->covered;

	while (tally->unrecorded < covered->unrecorded_count &&
		covered->unrecorded[tally->unrecorded].end_ns <= interval->start_ns)
		tally->unrecorded++;
	return tally->unrecorded < covered->unrecorded_count &&
		covered->unrecorded[tally->unrecorded].start_ns <= interval->start_ns;
}

static bool is_probing(struct tally *tally, const struct kwhy_sweep_interval *interval)
{
	const struct kwhy_covered *covered = tally->covered;

	while (tally->probing < covered->probing_count &&
		covered->probing[tally->probing].end_ns <= interval->start_ns)
		tally->probing++;
	return tally->probing < covered->probing_count &&
		covered->probing[tally->probing].start_ns <= interval->start_ns;
}

static void add_unrecorded(struct tally *tally, const struct kwhy_sweep_interval *interval)
{
	const int64_t length_ns = interval->end_ns - interval->start_ns;

	if (!is_probing(tally, interval)) {
		tally->time.unrecorded_ns += length_ns;
		return;
	}
	tally->time.probing_ns += length_ns;
	tally->time.probing_idle_ns += interval->row_count ? 0 : length_ns;
}

static enum kwhy_status add_interval(struct tally *tally, const struct kwhy_sweep_interval *interval,
	size_t next, struct kwhy_error *error)
{
	int64_t length_ns = interval->end_ns - interval->start_ns;
	struct kwhy_host_span gap = {interval->start_ns, interval->end_ns};
	unsigned set = follow(tally, interval);
	uint64_t share = kwhy_resident_follow(&tally->resident, tally->recording, tally->device, interval);

	follow_program(tally, interval, next);
	if (is_unrecorded(tally, interval)) {
		add_unrecorded(tally, interval);
		return KWHY_OK;
	}
	tally->set_ns[set] += length_ns;
	tally->share_ns += (unsigned __int128)share * (uint64_t)length_ns;
	if (interval->row_count > tally->time.max_concurrency)
		tally->time.max_concurrency = (uint32_t)interval->row_count;
	return interval->row_count ? KWHY_OK : add_gap(tally, &gap, error);
}

/*
 * Walks over all intervals of a device and adds up their times. Idle gaps are divided by category; each ends
 * at the start of the next activity or window.
 */
static enum kwhy_status walk(struct tally *tally, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	struct kwhy_sweep sweep;
	struct kwhy_sweep_interval interval;
	int64_t *edges = tally->covered->unrecorded_count ? kwhy_covered_edges(tally->covered) : NULL;
	int ended = 0;

	if (tally->covered->unrecorded_count && !edges)
		return kwhy_fail_memory(error, "the time of a device");
	kwhy_sweep_init(&sweep, tally->recording, tally->device, KWHY_UNKNOWN_TIME, KWHY_UNKNOWN_TIME, edges,
		edges ? 2 * tally->covered->count + 2 : 0);
	tally->time.first_ns = sweep.now_ns;
	tally->time.last_ns = sweep.limit_ns;
	while (!status && (ended = kwhy_sweep_next(&sweep, &interval, error)) == 0)
		status = add_interval(tally, &interval, sweep.next, error);
	kwhy_sweep_done(&sweep);
	free(edges);
	return ended < 0 ? error->status : status;
}

/* Time in ns in which at least one of the groups in `any`, and all of the groups in `all`, run. */
static int64_t sets_ns(const struct tally *tally, unsigned any, unsigned all)
{
	int64_t sum_ns = 0;

	for (unsigned set = 0; set < SET_COUNT; set++)
		if ((set & any) && (set & all) == all)
			sum_ns += tally->set_ns[set];
	return sum_ns;
}

/*
 * Time of the category of a set of groups. Compute together with a collective or copy is overlap. Any other
 * set has the category of its first group in the order compute, collective, copy, memset; the empty set is
 * idle.
 */
static int64_t *category_of_set(struct kwhy_device_time *time, unsigned set)
{
	if (set & 1u << COMPUTE)
		return set & (1u << COLLECTIVE | 1u << COPY) ? &time->overlap_ns : &time->compute_ns;
	if (set & 1u << COLLECTIVE)
		return &time->collective_ns;
	if (set & 1u << COPY)
		return &time->copy_ns;
	return set & 1u << MEMSET ? &time->memset_ns : &time->idle_ns;
}

static void derive_unions(struct tally *tally)
{
	const unsigned kernels = 1u << COMPUTE | 1u << COLLECTIVE;
	struct kwhy_device_time *time = &tally->time;

	for (unsigned set = 0; set < SET_COUNT; set++)
		*category_of_set(time, set) += tally->set_ns[set];
	time->span_ns = time->last_ns - time->first_ns;
	time->busy_ns = time->span_ns - time->unrecorded_ns - time->probing_ns - time->idle_ns;
	time->kernel_union_ns = sets_ns(tally, kernels, 0);
	time->collective_union_ns = sets_ns(tally, 1u << COLLECTIVE, 0);
	time->collective_overlap_ns = sets_ns(tally, kernels, kernels);
	time->collective_exposed_ns = time->collective_union_ns - time->collective_overlap_ns;
	time->copy_union_ns = sets_ns(tally, 1u << COPY, 0);
	time->memset_union_ns = sets_ns(tally, 1u << MEMSET, 0);
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

static void derive_ratios(struct tally *tally)
{
	struct kwhy_device_time *time = &tally->time;
	double total_ns = (double)time->kernel_total_ns + (double)time->copy_total_ns +
		(double)time->memset_total_ns;
	double share_ns = (double)tally->share_ns / (double)KWHY_RESIDENT_FULL;
	double known_ns = (double)(time->span_ns - time->unrecorded_ns - time->probing_ns);
	bool grids_known = time->kernel_total_ns == 0 || tally->known_grid_ns > 0;

	time->mean_concurrency = ratio(total_ns, (double)time->busy_ns);
	time->busy_ratio = ratio((double)time->busy_ns, known_ns);
	time->sm_weighted_ratio = grids_known ? ratio(share_ns, known_ns) : NAN;
	time->sm_weighted_known_ratio = ratio((double)tally->known_grid_ns, (double)time->kernel_total_ns);
	time->roofline_ratio = NAN;
}

static void forget_host(struct kwhy_device_time *time)
{
	time->sync_ns = time->launch_ns = time->alloc_ns = time->host_ns = KWHY_UNKNOWN_NS;
}

/* Writes, for each window, its time before the first or after the last activity. */
static void add_window_outside(struct tally *tally)
{
	const struct kwhy_device_time *time = &tally->time;

	for (size_t i = 0; tally->windows && i < tally->covered->count; i++) {
		struct kwhy_covered_window *window = &tally->windows[i];
		int64_t from_ns = window->start_ns > time->first_ns ? window->start_ns : time->first_ns;
		int64_t to_ns = window->end_ns < time->last_ns ? window->end_ns : time->last_ns;

		window->idle_ns[KWHY_CATEGORY_OUTSIDE - KWHY_CATEGORY_SYNC] = window->end_ns -
			window->start_ns - (to_ns > from_ns ? to_ns - from_ns : 0);
	}
}

enum kwhy_status kwhy_ledger_time(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_covered *covered, struct kwhy_error *error)
{
	struct tally tally = {.recording = recording,
		.device = device,
		.covered = covered,
		.windows = ledger->devices[device].coverage.windows,
		.last = KWHY_NONE};
	enum kwhy_status status = count_streams(&tally, error);

	kwhy_host_sums_init(&tally.host, recording, error);
	if (!status && recording->has_calls)
		status = kwhy_host_wait_init(&tally.wait, recording, device, error);
	if (!status)
		status = walk(&tally, error);
	if (!status)
		status = kwhy_host_sums_finish(&tally.host, ledger, device);
	kwhy_host_sums_done(&tally.host);
	kwhy_host_wait_done(&tally.wait);
	if (status)
		return status;
	add_rows(&tally);
	derive_unions(&tally);
	add_window_outside(&tally);
	derive_ratios(&tally);
	if (!recording->has_calls)
		forget_host(&tally.time);
	ledger->devices[device].time = tally.time;
	return kwhy_ledger_time_copies(ledger, recording, device, error);
}
