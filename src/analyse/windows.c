/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/windows.h"

#include "ledger/energy/apportion.h"
#include "ledger/energy/running_power.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Energy and time, in one window, of the activities of one account, or of the time in which nothing ran. */
struct sum {
	double energy_nj;
	int64_t time_ns;
};

struct walk {
	const struct kwhy_analysis *analysis;
	struct kwhy_analysis_window *windows;
	size_t count;
	int64_t *edges_ns; /* [2 * count] starts and ends of the windows on the recording's clock */
	size_t *first;	   /* [device_count + 1] number of accounts of all devices before each device, so that
			      first[device] + i numbers its account i; at the end the number of all accounts */
	struct sum *sums;  /* [count * (first[device_count] + 1)] for each window: one sum per account, then
			      the sum of the time in which nothing ran */
};

static const struct kwhy_device_ledger *device_at(const struct walk *walk, size_t device)
{
	return &walk->analysis->ledger->devices[device];
}

static size_t account_count(const struct walk *walk)
{
	return walk->first[walk->analysis->ledger->device_count];
}

static struct sum *sum_of(const struct walk *walk, size_t window, size_t account)
{
	return &walk->sums[window * (account_count(walk) + 1) + account];
}

/* --- Checks --- */

static enum kwhy_status check_window(const struct walk *walk, size_t window, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = walk->analysis->recording;
	const int64_t *edges_ns = &walk->edges_ns[2 * window];

	if (edges_ns[0] >= recording->start_ns && edges_ns[1] <= recording->end_ns)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_UNSUPPORTED,
		"window %zu is from %.3f s to %.3f s after the recording's start, and the recording has "
		"%.3f s: record from before the first window until after the last",
		window + 1, (double)(edges_ns[0] - recording->start_ns) * 1e-9,
		(double)(edges_ns[1] - recording->start_ns) * 1e-9,
		(double)(recording->end_ns - recording->start_ns) * 1e-9);
}

static enum kwhy_status set_edges(struct walk *walk, struct kwhy_error *error)
{
	const struct kwhy_recording *recording = walk->analysis->recording;
	enum kwhy_status status = KWHY_OK;

	if (!recording->unix_clock)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the recording's times are not Unix times, so that it is unknown what ran during "
			"which load: kwhy record, kwhy probe and most profilers state Unix times");
	for (size_t i = 0; !status && i < walk->count; i++) {
		const struct kwhy_analysis_window *window = &walk->windows[i];
		int64_t *edges_ns = &walk->edges_ns[2 * i];

		if (window->start_unix_ns >= window->end_unix_ns ||
			(i && window->start_unix_ns < walk->windows[i - 1].end_unix_ns) ||
			__builtin_sub_overflow(
				window->start_unix_ns, recording->origin_unix_ns, &edges_ns[0]) ||
			__builtin_sub_overflow(window->end_unix_ns, recording->origin_unix_ns, &edges_ns[1]))
			return kwhy_fail(error, KWHY_E_INPUT,
				"window %zu does not begin after the one before and end after its start",
				i + 1);
		status = check_window(walk, i, error);
	}
	return status;
}

/* --- Sums --- */

/*
 * Weight by which an activity shares the energy of a device with the activities that run at the same time:
 * the power of its class in W, idle power included; 0: it has none.
 */
static double weight_of(const struct walk *walk, uint32_t device, uint32_t row)
{
	const struct kwhy_device_ledger *ledger = device_at(walk, device);
	size_t first = walk->analysis->recording->activities.first[device];
	uint32_t class = ledger->accounts[ledger->account_of[row - first]].power_class;

	return class == KWHY_NONE ? 0 : ledger->classes[class].power_w;
}

static void add_interval(struct walk *walk, uint32_t device, size_t window,
	const struct kwhy_sweep_interval *interval, double energy_nj)
{
	const struct kwhy_device_ledger *ledger = device_at(walk, device);
	size_t first = walk->analysis->recording->activities.first[device];
	double weights = 0;

	if (!interval->row_count) {
		struct sum *nothing = sum_of(walk, window, account_count(walk));

		nothing->energy_nj += energy_nj;
		nothing->time_ns += interval->end_ns - interval->start_ns;
	}
	for (size_t i = 0; i < interval->row_count; i++)
		weights += weight_of(walk, device, interval->rows[i]);
	for (size_t i = 0; i < interval->row_count; i++) {
		uint32_t row = interval->rows[i];
		struct sum *sum = sum_of(walk, window, walk->first[device] + ledger->account_of[row - first]);

		sum->energy_nj += energy_nj *
			(weights > 0 ? weight_of(walk, device, row) / weights
				     : 1 / (double)interval->row_count);
		sum->time_ns += interval->end_ns - interval->start_ns;
	}
}

static enum kwhy_status sum_device(struct walk *walk, uint32_t device, struct kwhy_error *error)
{
	const struct kwhy_analysis *analysis = walk->analysis;
	const struct kwhy_device_time *time = &device_at(walk, device)->time;
	const int64_t *edges_ns = walk->edges_ns;
	int64_t last_ns = edges_ns[2 * walk->count - 1];
	struct kwhy_running_power power = {
		.ledger = analysis->ledger, .recording = analysis->recording, .device = device};
	struct kwhy_sweep_interval interval;
	struct kwhy_sweep sweep;
	enum kwhy_status status = KWHY_OK;
	size_t window = 0;
	int next;

	kwhy_sweep_init(&sweep, analysis->recording, device,
		time->first_ns < edges_ns[0] ? time->first_ns : edges_ns[0], last_ns, edges_ns,
		2 * walk->count);
	while (!status && (next = kwhy_sweep_next(&sweep, &interval, error)) == 0) {
		double energy_nj = kwhy_running_power_nj(&power, &interval);

		while (window < walk->count && edges_ns[2 * window + 1] <= interval.start_ns)
			window++;
		if (window == walk->count || interval.start_ns < edges_ns[2 * window])
			continue;
		if (isnan(energy_nj))
			status = kwhy_fail(error, KWHY_E_UNSUPPORTED,
				"the recording does not know the energy of all of window %zu: it was not "
				"recorded, or no meter was read",
				window + 1);
		else
			add_interval(walk, device, window, &interval, fmax(energy_nj, 0));
	}
	kwhy_sweep_done(&sweep);
	return !status && next < 0 ? error->status : status;
}

/* --- Parts --- */

static int by_energy(const void *left, const void *right)
{
	const struct kwhy_analysis_part *a = left, *b = right;

	if (a->energy_nj != b->energy_nj)
		return a->energy_nj < b->energy_nj ? 1 : -1;
	return strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

static struct kwhy_analysis_part *find_part(
	struct kwhy_analysis_window *window, const struct kwhy_account *account)
{
	for (size_t i = 0; i < window->part_count; i++)
		if (window->parts[i].category == account->category && window->parts[i].name &&
			strcmp(window->parts[i].name, account->name) == 0)
			return &window->parts[i];
	window->parts[window->part_count] = (struct kwhy_analysis_part){
		.name = account->name, .category = account->category};
	return &window->parts[window->part_count++];
}

/*
 * Adds the sum of an account of a device to the parts of a window; accounts of one name and category on
 * several devices are one part. The 90 % interval is that of the account, scaled by energy.
 */
static void add_part(struct kwhy_analysis_window *window, const struct kwhy_account *account,
	const struct sum *sum, int64_t energy_nj)
{
	struct kwhy_analysis_part *part = find_part(window, account);
	double scale = account->gross_nj > 0 ? (double)energy_nj / (double)account->gross_nj : 0;

	part->time_ns += sum->time_ns;
	part->energy_nj += energy_nj;
	part->low_nj += llround(scale * (double)account->low_nj);
	part->high_nj += llround(scale * (double)account->high_nj);
}

static enum kwhy_status make_parts(
	struct walk *walk, size_t at, struct kwhy_apportioner *apportioner, struct kwhy_error *error)
{
	const struct kwhy_ledger *ledger = walk->analysis->ledger;
	struct kwhy_analysis_window *window = &walk->windows[at];
	size_t count = account_count(walk) + 1;
	double *shares = calloc(count, sizeof(*shares)), total_nj = 0;
	int64_t *parts_nj = calloc(count, sizeof(*parts_nj));

	window->parts = calloc(count, sizeof(*window->parts));
	if (!shares || !parts_nj || !window->parts) {
		free(shares);
		free(parts_nj);
		return kwhy_fail_memory(error, "the energy of the windows");
	}
	for (size_t i = 0; i < count; i++) {
		shares[i] = sum_of(walk, at, i)->energy_nj;
		total_nj += shares[i];
	}
	window->energy_nj = llround(total_nj);
	kwhy_apportion(apportioner, window->energy_nj, shares, count, count - 1, parts_nj);
	for (size_t device = 0; device < ledger->device_count; device++)
		for (size_t i = walk->first[device]; i < walk->first[device + 1]; i++)
			if (sum_of(walk, at, i)->time_ns)
				add_part(window, &ledger->devices[device].accounts[i - walk->first[device]],
					sum_of(walk, at, i), parts_nj[i]);
	if (sum_of(walk, at, count - 1)->time_ns)
		window->parts[window->part_count++] = (struct kwhy_analysis_part){NULL, KWHY_CATEGORY_IDLE,
			sum_of(walk, at, count - 1)->time_ns, parts_nj[count - 1], KWHY_UNKNOWN_NJ,
			KWHY_UNKNOWN_NJ};
	qsort(window->parts, window->part_count, sizeof(*window->parts), by_energy);
	free(shares);
	free(parts_nj);
	return KWHY_OK;
}

static enum kwhy_status sum_all(struct walk *walk, struct kwhy_error *error)
{
	const struct kwhy_ledger *ledger = walk->analysis->ledger;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t device = 0; !status && device < ledger->device_count; device++) {
		if (!kwhy_device_was_active(&ledger->devices[device].time))
			continue;
		status = sum_device(walk, device, error);
		for (size_t i = 0; !status && i < walk->count; i++)
			walk->windows[i].idle_nj += llround(kwhy_ledger_idle_nj(
				ledger, device, walk->edges_ns[2 * i], walk->edges_ns[2 * i + 1]));
	}
	return status;
}

static enum kwhy_status walk_all(struct walk *walk, struct kwhy_error *error)
{
	const struct kwhy_ledger *ledger = walk->analysis->ledger;
	struct kwhy_apportioner apportioner = {0};
	enum kwhy_status status = set_edges(walk, error);

	for (size_t i = 0; i < ledger->device_count; i++)
		walk->first[i + 1] = walk->first[i] + ledger->devices[i].account_count;
	walk->sums = calloc(walk->count * (account_count(walk) + 1), sizeof(*walk->sums));
	if (!status && !walk->sums)
		status = kwhy_fail_memory(error, "the energy of the windows");
	if (!status)
		status = kwhy_apportioner_init(&apportioner, account_count(walk) + 1, error);
	if (!status)
		status = sum_all(walk, error);
	for (size_t i = 0; !status && i < walk->count; i++)
		status = make_parts(walk, i, &apportioner, error);
	kwhy_apportioner_done(&apportioner);
	return status;
}

enum kwhy_status kwhy_analysis_windows(const struct kwhy_analysis *analysis,
	struct kwhy_analysis_window *windows, size_t count, struct kwhy_error *error)
{
	struct walk walk = {.analysis = analysis, .windows = windows, .count = count};
	enum kwhy_status status;

	walk.edges_ns = calloc(2 * count + 1, sizeof(*walk.edges_ns));
	walk.first = calloc(analysis->ledger->device_count + 1, sizeof(*walk.first));
	status = walk.edges_ns && walk.first ? walk_all(&walk, error)
					     : kwhy_fail_memory(error, "the energy of the windows");
	free(walk.edges_ns);
	free(walk.first);
	free(walk.sums);
	return status;
}

void kwhy_analysis_windows_done(struct kwhy_analysis_window *windows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(windows[i].parts);
}
