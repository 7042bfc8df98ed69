/* SPDX-License-Identifier: Apache-2.0 */
#include "base/statistics.h"
#include "ledger/energy/apportion.h"
#include "ledger/parts.h"
#include "ledger/sweep.h"

#include <math.h>
#include <stdlib.h>

/*
 * Estimates time and energy of the accounts in the whole run from windows at random times: a ratio estimate
 * with the windows as clusters (docs/attribution.md). Sweeps once over the activities, and goes twice over
 * the accounts that run in each window. Windows that were not chosen at random, such as those at the ends of
 * the run, are known exactly and are no part of the sample.
 */

/* Least number of random windows from which an error is estimated. */
enum { WINDOWS_MIN = 3 };

/* Probability up to the upper end of a two-sided 90 % interval. */
#define BOTH_SIDES 0.95

/* Sums of one account: of its energy in nJ or, if energies are unknown, of its time in ns. */
struct sum {
	double now;	/* sum in the current window */
	double certain; /* sum in windows that are not random; it is known exactly and is no part of the
			   sample */
	double all;	/* sum in all random windows so far */
	/*
	 * Over pairs of successive random windows: sum of the squared change of the account's sum, and sum of
	 * that change times the change of `wholes`.
	 */
	double squares, products;
	double last;		    /* value of `now` in the latest random window in which the account ran */
	size_t last_drawn;	    /* number, from 0 on, of that window */
	double time_ns, certain_ns; /* time in ns in random windows, and in other windows */
	double now_ns;
	int64_t last_ns; /* time up to which `now_ns` is complete */
	size_t running;
	bool is_listed;
};

struct sampling {
	const struct kwhy_recording *recording;
	struct kwhy_device_ledger *device_ledger;
	uint32_t device;
	struct sum *sums; /* [account_count] sums of each account */
	uint32_t *listed; /* indices of the accounts that run now or have run in the current window; is_listed
			     is set for these */
	size_t listed_count;
	double *wholes;	     /* [drawn_count] sum over all accounts in each random window */
	size_t drawn;	     /* number of random windows so far */
	double all, squares; /* all: sum of `wholes`; squares: sum of the squared changes of `wholes` from one
				random window to the next */
	double certain;
};

static void settle(struct sum *sum, int64_t now_ns)
{
	sum->now_ns += (double)sum->running * (double)(now_ns - sum->last_ns);
	sum->last_ns = now_ns;
}

static struct sum *list(struct sampling *sampling, uint32_t account)
{
	struct sum *sum = &sampling->sums[account];

	if (!sum->is_listed) {
		sampling->listed[sampling->listed_count++] = account;
		sum->now_ns = 0;
	}
	sum->is_listed = true;
	return sum;
}

static void follow(struct sampling *sampling, const struct kwhy_sweep_interval *stretch)
{
	const uint32_t *account_of = sampling->device_ledger->account_of;
	const size_t first = sampling->recording->activities.first[sampling->device];

	for (size_t i = 0; i < stretch->ended_count; i++) {
		struct sum *sum = list(sampling, account_of[stretch->ended[i] - first]);

		settle(sum, stretch->start_ns);
		sum->running--;
	}
	for (size_t i = 0; i < stretch->started_count; i++) {
		struct sum *sum = list(sampling, account_of[stretch->started[i] - first]);

		settle(sum, stretch->start_ns);
		sum->running++;
	}
}

/* Begins a window: drops the times of the running accounts before it. */
static void begin_window(struct sampling *sampling, int64_t start_ns)
{
	for (size_t i = 0; i < sampling->listed_count; i++) {
		struct sum *sum = &sampling->sums[sampling->listed[i]];

		sum->now_ns = 0;
		sum->last_ns = start_ns;
	}
}

/* Energy in nJ of an account in time_ns at its mean power; if the device's energies are unknown, time_ns. */
static double weigh(const struct sampling *sampling, uint32_t account, double time_ns)
{
	const struct kwhy_account *row = &sampling->device_ledger->accounts[account];

	if (!sampling->device_ledger->energy.known)
		return time_ns;
	return row->mean_power_mw > 0 ? (double)row->mean_power_mw * 1e-3 * time_ns : 0;
}

static void take_idle(struct sampling *sampling, const struct kwhy_covered_window *window)
{
	for (size_t i = 0; i < sampling->device_ledger->account_count; i++) {
		const uint32_t category = sampling->device_ledger->accounts[i].category;

		if (kwhy_category_is_idle((enum kwhy_category)category))
			list(sampling, (uint32_t)i)
				->now_ns = (double)window->idle_ns[category - KWHY_CATEGORY_SYNC];
	}
}

/*
 * Adds the change `step` of an account's sum, from random window `drawn` - 1 to `drawn`, to its squares and
 * products. The first window (0) has no change before it.
 */
static void add_step(const struct sampling *sampling, struct sum *sum, size_t drawn, double step)
{
	if (drawn == 0 || drawn >= sampling->device_ledger->coverage.drawn_count)
		return;
	sum->squares += step * step;
	sum->products += step * (sampling->wholes[drawn] - sampling->wholes[drawn - 1]);
}

/*
 * Adds the changes of an account's sum up to the current random window, in which it ran. If it did not run in
 * the window before, these are the change to 0 after the last window in which it ran, and the change from 0
 * now.
 */
static void add_steps(const struct sampling *sampling, struct sum *sum)
{
	const bool is_next = sum->all > 0 && sum->last_drawn + 1 == sampling->drawn;

	if (sum->all > 0 && !is_next)
		add_step(sampling, sum, sum->last_drawn + 1, -sum->last);
	add_step(sampling, sum, sampling->drawn, is_next ? sum->now - sum->last : sum->now);
	sum->last = sum->now;
	sum->last_drawn = sampling->drawn;
}

static void fold(struct sampling *sampling, struct sum *sum, bool is_drawn)
{
	sum->time_ns += is_drawn ? sum->now_ns : 0;
	sum->certain_ns += is_drawn ? 0 : sum->now_ns;
	sum->certain += is_drawn ? 0 : sum->now;
	if (!is_drawn) {
		sampling->certain += sum->now;
		return;
	}
	if (sum->now > 0)
		add_steps(sampling, sum);
	sum->all += sum->now;
}

static void count_drawn(struct sampling *sampling, double whole)
{
	const double step = sampling->drawn ? whole - sampling->wholes[sampling->drawn - 1] : 0;

	sampling->wholes[sampling->drawn] = whole;
	sampling->all += whole;
	sampling->squares += step * step;
}

static void end_window(struct sampling *sampling, const struct kwhy_covered_window *window)
{
	const bool is_drawn = kwhy_window_is_drawn(&sampling->device_ledger->coverage, window);
	double whole = 0;
	size_t kept = 0;

	for (size_t i = 0; i < sampling->listed_count; i++)
		settle(&sampling->sums[sampling->listed[i]], window->end_ns);
	take_idle(sampling, window);
	for (size_t i = 0; i < sampling->listed_count; i++) {
		struct sum *sum = &sampling->sums[sampling->listed[i]];

		sum->now = weigh(sampling, sampling->listed[i], sum->now_ns);
		whole += sum->now;
	}
	if (!sampling->device_ledger->energy.known)
		whole = (double)(window->end_ns - window->start_ns);
	if (is_drawn)
		count_drawn(sampling, whole);
	for (size_t i = 0; i < sampling->listed_count; i++) {
		struct sum *sum = &sampling->sums[sampling->listed[i]];

		fold(sampling, sum, is_drawn);
		sum->is_listed = sum->running > 0;
		if (sum->is_listed)
			sampling->listed[kept++] = sampling->listed[i];
	}
	sampling->listed_count = kept;
	sampling->drawn += is_drawn;
}

/*
 * Sweeps over the activities, split at the starts and ends of all windows, and completes the sums of each
 * window.
 */
static enum kwhy_status walk_windows(
	struct sampling *sampling, const int64_t *edges, struct kwhy_error *error)
{
	const struct kwhy_coverage_sum *coverage = &sampling->device_ledger->coverage;
	struct kwhy_sweep_interval stretch;
	struct kwhy_sweep sweep;
	size_t window = 0;
	int ended;

	kwhy_sweep_init(&sweep, sampling->recording, sampling->device, coverage->start_ns, coverage->end_ns,
		edges, 2 * coverage->window_count);
	while ((ended = kwhy_sweep_next(&sweep, &stretch, error)) == 0) {
		follow(sampling, &stretch);
		if (window < coverage->window_count && stretch.start_ns == coverage->windows[window].start_ns)
			begin_window(sampling, stretch.start_ns);
		if (window < coverage->window_count && stretch.end_ns == coverage->windows[window].end_ns)
			end_window(sampling, &coverage->windows[window++]);
	}
	kwhy_sweep_done(&sweep);
	return ended < 0 ? error->status : KWHY_OK;
}

static enum kwhy_status walk(struct sampling *sampling, struct kwhy_error *error)
{
	const struct kwhy_coverage_sum *coverage = &sampling->device_ledger->coverage;
	int64_t *edges = calloc(2 * coverage->window_count + 1, sizeof(*edges));
	enum kwhy_status status;

	if (!edges)
		return kwhy_fail_memory(error, "samples of a run");
	for (size_t i = 0; i < coverage->window_count; i++) {
		edges[2 * i] = coverage->windows[i].start_ns;
		edges[2 * i + 1] = coverage->windows[i].end_ns;
	}
	status = walk_windows(sampling, edges, error);
	free(edges);
	return status;
}

/*
 * Half-width of the 90 % interval of an account's share (0 to 1) of the sum over all accounts. Windows are
 * spread evenly over the run, so successive windows are more alike than random pairs; the error is therefore
 * estimated from the changes between them (Wolter 2007, chapter 8).
 */
static double share_error(const struct sampling *sampling, const struct sum *sum)
{
	const struct kwhy_coverage_sum *coverage = &sampling->device_ledger->coverage;
	const double count = (double)coverage->drawn_count, share = sum->all / sampling->all;
	const double seen = fmin(1,
		(double)coverage->drawn_ns / (double)(coverage->select_end_ns - coverage->select_start_ns));
	const double squares = fmax(
		0, sum->squares - 2 * share * sum->products + share * share * sampling->squares);

	return kwhy_student_quantile(BOTH_SIDES, count - 1) *
		sqrt((1 - seen) * count / (count - 1) * squares / 2) / sampling->all;
}

/*
 * Energy in nJ of an account in the whole run: that in windows that are not random, plus its share of the
 * random windows times `rest`, the energy of all other time, recorded or not.
 */
static double whole_share(const struct sampling *sampling, size_t account, double rest)
{
	const struct sum *sum = &sampling->sums[account];

	return sum->certain + (sampling->all > 0 ? sum->all / sampling->all * rest : 0);
}

/*
 * Writes the 90 % interval of an account's energy in the whole run. The errors of attribution (low_nj,
 * high_nj) and of sampling are independent, so their half-widths add in quadrature.
 */
static void write_interval(const struct sampling *sampling, struct kwhy_account *account, double rest_nj)
{
	const double gross = (double)account->gross_nj, whole = (double)account->whole_nj;
	const double times = gross > 0 ? whole / gross : 0, sampled = account->whole_error_ratio * rest_nj;
	const double low = whole - hypot(sampled, times * (gross - (double)account->low_nj));
	const double high = whole + hypot(sampled, times * ((double)account->high_nj - gross));

	account->whole_low_nj = llround(fmax(low, 0));
	account->whole_high_nj = llround(fmin(high, (double)sampling->device_ledger->energy.measured_nj));
	if (account->whole_high_nj < account->whole_nj)
		account->whole_high_nj = account->whole_nj;
}

static enum kwhy_status write_energy(const struct sampling *sampling, struct kwhy_error *error)
{
	struct kwhy_device_ledger *device_ledger = sampling->device_ledger;
	const double whole_nj = (double)device_ledger->energy.measured_nj;
	const double rest_nj = fmax(0, whole_nj - sampling->certain);
	double *shares = calloc(device_ledger->account_count + 1, sizeof(*shares));
	int64_t *sums_nj = calloc(device_ledger->account_count + 1, sizeof(*sums_nj));
	struct kwhy_apportioner apportioner = {0};
	enum kwhy_status status = shares && sums_nj
		? kwhy_apportioner_init(&apportioner, device_ledger->account_count + 1, error)
		: kwhy_fail_memory(error, "samples of a run");

	for (size_t i = 0; !status && i < device_ledger->account_count; i++)
		shares[i] = whole_share(sampling, i, rest_nj);
	if (!status)
		kwhy_apportion(&apportioner, device_ledger->energy.measured_nj, shares,
			device_ledger->account_count, 0, sums_nj);
	for (size_t i = 0; !status && i < device_ledger->account_count; i++) {
		if (device_ledger->accounts[i].category == KWHY_CATEGORY_UNRECORDED)
			continue;
		device_ledger->accounts[i].whole_nj = sums_nj[i];
		write_interval(sampling, &device_ledger->accounts[i], rest_nj);
	}
	kwhy_apportioner_done(&apportioner);
	free(shares);
	free(sums_nj);
	return status;
}

/*
 * Writes the time of each account in the whole run, estimated from random windows, and the half-width of the
 * 90 % interval of the account's share of the sum over all accounts (share_error()).
 */
static void write_times(const struct sampling *sampling)
{
	struct kwhy_coverage_sum *coverage = &sampling->device_ledger->coverage;
	const double times = (double)(coverage->select_end_ns - coverage->select_start_ns) /
		(double)coverage->drawn_ns;

	for (size_t i = 0; i < sampling->device_ledger->account_count; i++) {
		struct kwhy_account *account = &sampling->device_ledger->accounts[i];
		struct sum *sum = &sampling->sums[i];

		if (sum->all > 0)
			add_step(sampling, sum, sum->last_drawn + 1, -sum->last);

		if (account->category == KWHY_CATEGORY_UNRECORDED)
			continue;
		account->has_whole = true;
		account->whole_ns = llround(fmin(sum->certain_ns + times * sum->time_ns, 0x1p62));
		account->whole_error_ratio = share_error(sampling, sum);
		coverage->share_error_ratio = fmax(coverage->share_error_ratio, account->whole_error_ratio);
	}
}

static enum kwhy_status estimate(struct sampling *sampling, struct kwhy_error *error)
{
	const size_t accounts = sampling->device_ledger->account_count;
	enum kwhy_status status;

	sampling->sums = calloc(accounts + 1, sizeof(*sampling->sums));
	sampling->listed = calloc(accounts + 1, sizeof(*sampling->listed));
	sampling->wholes = calloc(sampling->device_ledger->coverage.drawn_count, sizeof(*sampling->wholes));
	status = sampling->sums && sampling->listed && sampling->wholes
		? walk(sampling, error)
		: kwhy_fail_memory(error, "samples of a run");
	if (!status && sampling->all > 0) {
		write_times(sampling);
		if (sampling->device_ledger->energy.known && !sampling->device_ledger->energy.modelled)
			status = write_energy(sampling, error);
	}
	free(sampling->sums);
	free(sampling->listed);
	free(sampling->wholes);
	return status;
}

enum kwhy_status kwhy_ledger_sampling(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	uint32_t device, struct kwhy_error *error)
{
	struct sampling sampling = {
		.recording = recording, .device_ledger = &ledger->devices[device], .device = device};
	const struct kwhy_coverage_sum *coverage = &sampling.device_ledger->coverage;

	if (coverage->choice != KWHY_CHOICE_DUTY || coverage->drawn_count < WINDOWS_MIN)
		return KWHY_OK;
	return estimate(&sampling, error);
}
