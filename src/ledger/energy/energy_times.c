/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_findings.h"

#include "ledger/saturate.h"

#include <math.h>
#include <stdlib.h>

/*
 * Recorded and metered time, on the clock of the activities: the metered intervals, moved earlier by the
 * meter's lag, cut to the recorded windows, and joined where they touch.
 */
struct runs {
	struct kwhy_window *windows;
	size_t count;
	double metered_ns; /* total length of the metered intervals, unrecorded time included */
};

int64_t kwhy_energy_lag_ns(const struct kwhy_energy_findings *findings)
{
	return findings->total->is_deconvolved ? 0
					       : llround((findings->delay_s + findings->powers->tau_s) * 1e9);
}

static void add_run(struct runs *runs, int64_t start_ns, int64_t end_ns)
{
	if (start_ns >= end_ns)
		return;
	if (runs->count && runs->windows[runs->count - 1].end_ns == start_ns)
		runs->windows[runs->count - 1].end_ns = end_ns;
	else
		runs->windows[runs->count++] = (struct kwhy_window){start_ns, end_ns};
}

/*
 * Adds those parts of the metered intervals that lie inside recorded windows. Intervals and windows are in
 * order of time; an interval may overlap several windows, and a window several intervals.
 */
static void add_runs(struct runs *runs, const struct kwhy_energy_findings *findings)
{
	const struct kwhy_metered_total *total = findings->total;
	const struct kwhy_covered *covered = findings->covered;
	const int64_t lag_ns = kwhy_energy_lag_ns(findings);
	size_t window = 0;

	for (size_t i = 0; i < total->count; i++) {
		const struct kwhy_metered_interval *interval = &total->intervals[i];
		const int64_t start_ns = kwhy_saturate_add(interval->start_ns, -lag_ns);
		const int64_t end_ns = kwhy_saturate_add(interval->end_ns, -lag_ns);

		runs->metered_ns += (double)(interval->end_ns - interval->start_ns);
		while (window < covered->count && covered->windows[window].end_ns <= start_ns)
			window++;
		for (size_t w = window; w < covered->count && covered->windows[w].start_ns < end_ns; w++) {
			const struct kwhy_window *known = &covered->windows[w];

			add_run(runs, known->start_ns > start_ns ? known->start_ns : start_ns,
				known->end_ns < end_ns ? known->end_ns : end_ns);
		}
	}
}

static enum kwhy_status runs_init(
	struct runs *runs, const struct kwhy_energy_findings *findings, struct kwhy_error *error)
{
	*runs = (struct runs){.windows = calloc(findings->total->count + findings->covered->count + 1,
				      sizeof(*runs->windows))};
	if (!runs->windows)
		return kwhy_fail_memory(error, "metered intervals");
	add_runs(runs, findings);
	return KWHY_OK;
}

/* Length in ns of the parts of [start_ns, end_ns) inside windows, which are in order. */
static double inside(const struct kwhy_window *windows, size_t count, int64_t start_ns, int64_t end_ns)
{
	size_t low = 0, high = count;
	double sum_ns = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (windows[middle].end_ns <= start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && windows[low].start_ns < end_ns; low++) {
		int64_t from_ns = windows[low].start_ns, to_ns = windows[low].end_ns;

		from_ns = from_ns < start_ns ? start_ns : from_ns;
		to_ns = to_ns > end_ns ? end_ns : to_ns;
		sum_ns += (double)(to_ns - from_ns);
	}
	return sum_ns;
}

/*
 * Mean power of idle time with a context before and after the activities, divided by the idle level.
 * outside_ns is the length of that time. The ratio is above 1 if idle was elevated in it, else 1.
 */
static double outside_ratio(const struct kwhy_energy_findings *findings,
	const struct kwhy_device_ledger *device_ledger, const struct runs *runs, double outside_ns)
{
	double more_ns = 0;

	for (size_t i = 0; i < device_ledger->elevated_idle_count; i++) {
		const struct kwhy_elevated_idle *stretch = &device_ledger->elevated_idle[i];

		more_ns += (stretch->power_w / findings->powers->idle_w - 1) *
			inside(runs->windows, runs->count, stretch->start_ns, stretch->end_ns);
	}
	return outside_ns > 0 && isfinite(more_ns) ? 1 + more_ns / outside_ns : 1;
}

/*
 * Idle time in ns as the meter shows it. Because of the meter's lag, the first interval also shows time
 * before the recording, in which it is unknown what ran. That time, at most the lag, counts as idle time,
 * too. known_ns: all recorded and metered time.
 */
static double idle_seen_ns(const struct kwhy_energy_findings *findings, double known_ns)
{
	const struct kwhy_apportioned *apportioned = findings->apportioned;
	const double idle_ns = apportioned->base_unscaled_s[apportioned->class_count] * 1e9;
	double unseen_ns = known_ns - idle_ns;

	for (size_t c = 0; c < apportioned->class_count; c++)
		unseen_ns -= apportioned->base_unscaled_s[c] * 1e9;
	return idle_ns + fmax(0, fmin(unseen_ns, (double)kwhy_energy_lag_ns(findings)));
}

/* Whether the account is idle time between the first and the last activity. */
static bool is_gap(const struct kwhy_account *account)
{
	return account->is_probing_idle ||
		(kwhy_category_is_idle(account->category) && account->category != KWHY_CATEGORY_OUTSIDE);
}

/*
 * Sets inside_ns of the accounts of time without activities. The accounts of time before the first and after
 * the last activity get the metered time there; the account of unrecorded time gets the metered time outside
 * of recorded windows; the idle accounts between first and last activity share the rest of the idle time that
 * the meter shows, in proportion to their times.
 */
static void share_idle(const struct kwhy_energy_findings *findings,
	const struct kwhy_device_ledger *device_ledger, const struct runs *runs,
	struct kwhy_account_times *times)
{
	const struct kwhy_apportioned *apportioned = findings->apportioned;
	double idle_ns, known_ns = 0, gaps_ns = 0;
	double outside_ns, clean_ns = 0, *out_inside_ns = times->inside_ns;

	for (size_t i = 0; i < runs->count; i++)
		known_ns += (double)(runs->windows[i].end_ns - runs->windows[i].start_ns);
	if (findings->classes->clean != KWHY_NONE)
		clean_ns = apportioned->base_unscaled_s[findings->classes->clean] * 1e9;
	/*
	 * A device without activities has one account only, which gets all metered time, including the parts
	 * of intervals that lie before the recording once they are moved earlier by the meter's lag.
	 */
	if (device_ledger->account_count == 1 && device_ledger->accounts[0].category == KWHY_CATEGORY_OUTSIDE)
		known_ns = runs->metered_ns;
	outside_ns = known_ns - clean_ns -
		inside(runs->windows, runs->count, device_ledger->time.first_ns, device_ledger->time.last_ns);
	idle_ns = idle_seen_ns(findings, known_ns);
	times->outside_ratio = outside_ratio(findings, device_ledger, runs, outside_ns);
	for (size_t i = 0; i < device_ledger->account_count; i++)
		if (is_gap(&device_ledger->accounts[i]))
			gaps_ns += (double)device_ledger->accounts[i].time_ns;
	/*
	 * The account of time before and after the activities gets no metered time if its own time is 0.
	 * Parts of intervals that lie there only because they are moved by the meter's lag go to other
	 * accounts.
	 */
	for (size_t i = 0; i < device_ledger->account_count; i++) {
		const struct kwhy_account *account = &device_ledger->accounts[i];

		if (account->category == KWHY_CATEGORY_OUTSIDE)
			out_inside_ns[i] = account->is_clean ? clean_ns
				: account->time_ns > 0	     ? outside_ns
							     : 0;
		else if (account->category == KWHY_CATEGORY_UNRECORDED)
			out_inside_ns[i] = runs->metered_ns - known_ns;
		else if (is_gap(account) && gaps_ns > 0)
			out_inside_ns[i] = fmax(0, idle_ns - outside_ns) *
				((double)account->time_ns / gaps_ns);
	}
}

static void add_rows(struct kwhy_account_times *times, const struct kwhy_energy_findings *findings,
	const struct kwhy_device_ledger *device_ledger, const struct runs *runs)
{
	const struct kwhy_activities *rows = &findings->recording->activities;
	const struct kwhy_covered *covered = findings->covered;
	size_t first = rows->first[findings->device], end = rows->first[findings->device + 1];

	for (size_t i = first; i < end; i++) {
		uint32_t account = device_ledger->account_of[i - first];

		times->inside_ns[account] += inside(
			runs->windows, runs->count, rows->start_ns[i], rows->end_ns[i]);
		times->unrecorded_ns[account] += inside(
			covered->unrecorded, covered->unrecorded_count, rows->start_ns[i], rows->end_ns[i]);
	}
}

/*
 * Sums the metered unrecorded time between the first and the last activity, and its energy. An interval that
 * also lies before the first or after the last activity counts in proportion to its unrecorded time between
 * them.
 */
static void add_between(struct kwhy_account_times *times, const struct kwhy_energy_findings *findings,
	const struct kwhy_device_ledger *device_ledger)
{
	const struct kwhy_metered_total *total = findings->total;
	const struct kwhy_window *unrecorded = findings->covered->unrecorded;
	const size_t count = findings->covered->unrecorded_count;
	const int64_t lag_ns = kwhy_energy_lag_ns(findings), first_ns = device_ledger->time.first_ns,
		      last_ns = device_ledger->time.last_ns;

	for (size_t i = 0; i < total->count; i++) {
		const int64_t start_ns = kwhy_saturate_add(total->intervals[i].start_ns, -lag_ns);
		const int64_t end_ns = kwhy_saturate_add(total->intervals[i].end_ns, -lag_ns);
		const int64_t from_ns = start_ns > first_ns ? start_ns : first_ns;
		const int64_t to_ns = end_ns < last_ns ? end_ns : last_ns;
		double all_ns = inside(unrecorded, count, start_ns, end_ns);
		double ours_ns = from_ns < to_ns ? inside(unrecorded, count, from_ns, to_ns) : 0;

		if (from_ns >= to_ns)
			continue;
		/*
		 * Because of the meter's low-pass, an interval in which no time is unrecorded may still show
		 * energy of earlier unrecorded time; all of that energy counts.
		 */
		times->between_nj += findings->apportioned->unrecorded_nj[i] *
			(all_ns > 0 ? ours_ns / all_ns : 1);
		times->between_ns += ours_ns;
	}
}

enum kwhy_status kwhy_energy_times(struct kwhy_account_times *times,
	const struct kwhy_energy_findings *findings, const struct kwhy_device_ledger *device_ledger,
	struct kwhy_error *error)
{
	struct runs runs = {0};
	enum kwhy_status status = KWHY_OK;

	*times = (struct kwhy_account_times){
		.inside_ns = calloc(device_ledger->account_count + 1, sizeof(*times->inside_ns)),
		.unrecorded_ns = calloc(device_ledger->account_count + 1, sizeof(*times->unrecorded_ns)),
		.outside_ratio = 1};
	if (!times->inside_ns || !times->unrecorded_ns)
		status = kwhy_fail_memory(error, "the ledger");
	if (!status)
		status = runs_init(&runs, findings, error);
	if (!status) {
		add_rows(times, findings, device_ledger, &runs);
		share_idle(findings, device_ledger, &runs, times);
		add_between(times, findings, device_ledger);
	}
	free(runs.windows);
	if (status)
		kwhy_account_times_done(times);
	return status;
}

void kwhy_account_times_done(struct kwhy_account_times *times)
{
	free(times->inside_ns);
	free(times->unrecorded_ns);
	*times = (struct kwhy_account_times){0};
}
