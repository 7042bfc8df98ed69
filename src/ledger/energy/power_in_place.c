/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/power_in_place.h"

#include "base/column.h"
#include "base/map.h"
#include "ledger/probing.h"
#include "ledger/work_clock.h"

#include <math.h>
#include <stdlib.h>

/*
 * A burst is a kernel launched many times in a row. BETWEEN_MAX_RATIO: largest time of other activities
 * between two of its launches, as a share of a launch's duration. BURST_MIN_NS: least sum of the durations of
 * its launches.
 */
#define BETWEEN_MAX_RATIO 0.2
#define BURST_MIN_NS 10e6
/* Least number of launches of a burst, and of launches whose mean duration is used. */
#define LAUNCHES_MIN 20
/*
 * Largest coefficient of variation of durations that belong to the same work; a larger one means that the
 * sizes of the work differ.
 */
#define SCATTER_MAX_RATIO 0.15
/*
 * CLOCK_MAX: largest relative difference between durations in bursts and in place that is taken to be due to
 * the clock (bursts that slow down by more are left out, ledger/probing.h); the rest is due to the caches.
 * POWER_OF_CLOCK, POWER_OF_CACHES: standard deviation of the logarithm of the power, divided by that part of
 * the difference (power_in_place.h).
 */
#define CLOCK_MAX 0.03
#define POWER_OF_CLOCK 1.8
#define POWER_OF_CACHES 0.58

/*
 * kwhy probe restores a kernel's memory by copies between its repeats, so readings show the power of kernel
 * and copies together. Unless a burst consists of these copies alone, they are assumed to draw the same power
 * as other copies of their size. POWER_OF_COPIES: relative standard deviation of their power above idle under
 * this assumption. On an H200, copies at 2.05 to 2.14 TB/s drew 555 to 790 W; a uniform distribution over
 * this range has a standard deviation of 68 W, 12 % of 550 W above idle. COPIES_MAX: upper bound on the
 * relative standard deviation that this adds to the kernel's power; the kernel's kind alone, without any
 * burst, determines that power as well.
 */
#define POWER_OF_COPIES 0.12
#define COPIES_MAX 0.4

/*
 * Standard deviation of the logarithm of the ratio of the powers in place and in bursts if the durations do
 * not differ: temperature and the state of the memory may. On three H200, the powers of 99 operations in
 * probed loops differ from those in place by 3.8 % (root mean square; docs/results/probe.md, three further
 * cards). The ledger's uncertainty was 3.5 %, of which an assumed ratio of 1.3 % was a part.
 */
#define POWER_ELSE 0.02

struct launches {
	double count, time_ns, time_ns2; /* time_ns2: sum of the squared durations */
};

/*
 * Launches of one account with one number of blocks (grid). burst, place: launches in bursts, and between
 * other work.
 */
struct kind {
	uint32_t account, blocks;
	double last_end_ns; /* busy time of the device, in ns, at the end of the latest of these launches */
	struct launches
		row; /* launches since the latest interruption by other work; end_row() adds them to `burst`
			if they are at least LAUNCHES_MIN launches and BURST_MIN_NS, otherwise to `place` */
	struct launches burst, place;
	double copies_ns; /* time of kwhy probe's copies before repeats of this kernel; without copies that
			     have a burst of their own, whose power is known */
};

struct search {
	const struct kwhy_activities *rows;
	struct kwhy_map keys;
	struct kind *kinds;
	size_t count, capacity;
	uint32_t *latest; /* [account_count] index in kinds of each account's latest launch; the next launch
			     mostly has the same number of blocks */
	double busy_ns;	  /* busy time of the device up to the current activity */
	double copies_ns; /* time of kwhy probe's copies since the latest launch or repeat, without copies
			     that have bursts of their own */
	bool is_probed;	  /* kwhy probe ran, and the activities state which of them are its repeats */
};

static void add_launches(struct launches *sum, const struct launches *more)
{
	sum->count += more->count;
	sum->time_ns += more->time_ns;
	sum->time_ns2 += more->time_ns2;
}

static void end_row(struct kind *kind)
{
	const bool is_burst = kind->row.count >= LAUNCHES_MIN && kind->row.time_ns >= BURST_MIN_NS;

	add_launches(is_burst ? &kind->burst : &kind->place, &kind->row);
	kind->row = (struct launches){0};
}

static enum kwhy_status find_kind(
	struct search *search, uint32_t account, size_t row, struct kind **out, struct kwhy_error *error)
{
	const uint32_t blocks = search->rows->blocks[row];
	uint32_t number = search->latest[account];
	enum kwhy_status status;

	if (number < search->count && search->kinds[number].blocks == blocks) {
		*out = &search->kinds[number];
		return KWHY_OK;
	}
	status = kwhy_map_number(&search->keys, (uint64_t)account << 32 | blocks, &number, error);
	if (!status && number == search->count) {
		status = kwhy_column_reserve((void **)&search->kinds, &search->capacity, search->count + 1,
			sizeof(*search->kinds), "grids", error);
		if (!status)
			search->kinds[search->count++] = (struct kind){.account = account, .blocks = blocks};
	}
	if (!status)
		*out = &search->kinds[search->latest[account] = number];
	return status;
}

/*
 * Adds an activity to its grid, if kwhy probe ran. Repeats by kwhy probe count as launches in bursts, even if
 * they are fewer or shorter than a burst must be otherwise; launches of the program count as launches in
 * place (between other work).
 */
static void add_probed(struct search *search, struct kind *kind, bool is_repeat, double length_ns)
{
	kind->copies_ns += is_repeat ? search->copies_ns : 0;
	search->copies_ns = 0;
	add_launches(is_repeat ? &kind->burst : &kind->place,
		&(struct launches){1, length_ns, length_ns * length_ns});
}

static enum kwhy_status add_row(struct search *search, uint32_t account, size_t row, struct kwhy_error *error)
{
	const double length_ns = (double)search->rows->end_ns[row] - (double)search->rows->start_ns[row];
	struct kind *kind;
	enum kwhy_status status = find_kind(search, account, row, &kind, error);

	if (status)
		return status;
	if (search->is_probed) {
		add_probed(search, kind, search->rows->origin[row] == KWHY_ORIGIN_REPEAT, length_ns);
		return KWHY_OK;
	}
	if (search->busy_ns - kind->last_end_ns >= BETWEEN_MAX_RATIO * length_ns)
		end_row(kind);
	add_launches(&kind->row, &(struct launches){1, length_ns, length_ns * length_ns});
	search->busy_ns += length_ns;
	kind->last_end_ns = search->busy_ns;
	return KWHY_OK;
}

/* Whether there are at least LAUNCHES_MIN launches, with so similar durations that they did equal work. */
static bool are_one_work(const struct launches *launches)
{
	double mean_ns = launches->time_ns / launches->count;

	return launches->count >= LAUNCHES_MIN && mean_ns > 0 &&
		launches->time_ns2 / launches->count - mean_ns * mean_ns <=
		SCATTER_MAX_RATIO * SCATTER_MAX_RATIO * mean_ns * mean_ns;
}

/* Logarithm of (mean duration in place / mean duration in bursts); 0: one of them is unknown. */
static double difference(const struct kind *kind)
{
	const struct launches *burst = &kind->burst, *place = &kind->place;

	if (!are_one_work(burst) || !are_one_work(place))
		return 0;
	return log(place->time_ns / place->count / (burst->time_ns / burst->count));
}

/*
 * Standard deviation of the logarithm of (power in place / power in bursts) that follows from difference(),
 * with the sign of the difference.
 */
static double spread_of(double difference)
{
	const double clock = fmin(fabs(difference), CLOCK_MAX);

	return copysign(
		hypot(POWER_OF_CLOCK * clock, POWER_OF_CACHES * (fabs(difference) - clock)), difference);
}

/*
 * Time in ns with which a grid is weighted in the mean over the grids of its account: that of all its
 * launches or, if kwhy probe ran, only that of the program's launches.
 */
static double kind_ns(const struct search *search, const struct kind *kind)
{
	return kind->place.time_ns + (search->is_probed ? 0 : kind->burst.time_ns);
}

/*
 * Standard deviation of the logarithm of a grid's power in bursts, due to the unknown power of the copies
 * between the repeats.
 */
static double spread_of_copies(const struct kind *kind)
{
	return kind->burst.time_ns > 0
		? fmin(POWER_OF_COPIES * kind->copies_ns / kind->burst.time_ns, COPIES_MAX)
		: 0;
}

/*
 * Sums over the grids of an account. spread_ns: of spread_of() times kind_ns(); spread_ns2: of the squares of
 * these products.
 */
struct sum {
	double time_ns, spread_ns, spread_ns2; /* spread_ns2: sum of the squares */
	double copies_ns; /* the part of the spread that copies cause, weighted in the same way */
	double probed_ns; /* time of the grids that kwhy probe repeated */
};

/*
 * Writes the standard deviation of the logarithm of (power in place / power in bursts) of each account: the
 * mean over its grids, weighted by time. If the differences of the grids' durations have one cause, their
 * errors add with their signs; if they have many, their squares add. The larger result is taken.
 */
static void mean_ratios(struct search *search, struct sum *sums, size_t count, double *out_ratio)
{
	for (size_t i = 0; i < search->count; i++) {
		struct kind *kind = &search->kinds[i];
		struct sum *sum = &sums[kind->account];
		double spread_ns;

		end_row(kind);
		spread_ns = spread_of(difference(kind)) * kind_ns(search, kind);
		sum->time_ns += kind_ns(search, kind);
		sum->spread_ns += spread_ns;
		sum->spread_ns2 += spread_ns * spread_ns;
		sum->copies_ns += spread_of_copies(kind) * kind_ns(search, kind);
		if (search->is_probed && kind->burst.count > 0)
			sum->probed_ns += kind_ns(search, kind);
	}
	for (size_t i = 0; i < count; i++)
		if (sums[i].time_ns > 0)
			out_ratio[i] = hypot(hypot(fmax(fabs(sums[i].spread_ns), sqrt(sums[i].spread_ns2)),
						     sums[i].copies_ns),
					       POWER_ELSE * sums[i].probed_ns) /
				sums[i].time_ns;
}

/*
 * Adds the scatter of the clock to ratio[account_count], the uncertainties of kernels' powers. Where the
 * clock changes while the program's work runs, as it does at the power limit, the powers of kernels change
 * with it, but the model has one power for each kernel.
 */
static enum kwhy_status add_clock(const struct kwhy_device_ledger *device_ledger,
	const struct kwhy_recording *recording, uint32_t device, double *ratio, struct kwhy_error *error)
{
	struct kwhy_work_clock clock;
	enum kwhy_status status = kwhy_work_clock_init(&clock, recording, device, error);

	for (size_t i = 0; !status && i < device_ledger->account_count; i++)
		if (device_ledger->accounts[i].category == KWHY_CATEGORY_COMPUTE)
			ratio[i] = hypot(ratio[i], clock.spread);
	return status;
}

static enum kwhy_status add_rows(struct search *search, const struct kwhy_device_ledger *device_ledger,
	uint32_t device, const uint32_t *twins, struct kwhy_error *error)
{
	const size_t first = search->rows->first[device], end = search->rows->first[device + 1];
	enum kwhy_status status = KWHY_OK;

	for (size_t row = first; !status && row < end; row++) {
		const uint32_t account = device_ledger->account_of[row - first];

		if (search->rows->origin[row] != KWHY_ORIGIN_PROBER)
			status = add_row(
				search, twins[account] == KWHY_NONE ? account : twins[account], row, error);
		else if (search->rows->kind[row] == KWHY_ACTIVITY_COPY && !search->rows->name[row])
			search->copies_ns += (double)search->rows->end_ns[row] -
				(double)search->rows->start_ns[row];
	}
	return status;
}

enum kwhy_status kwhy_power_places_find(const struct kwhy_device_ledger *device_ledger,
	const struct kwhy_recording *recording, uint32_t device, double *out_ratio, struct kwhy_error *error)
{
	struct search search = {
		.rows = &recording->activities, .is_probed = kwhy_probing_is_there(recording, device)};
	uint32_t *twins = calloc(device_ledger->account_count + 1, sizeof(*twins));
	struct sum *sums = calloc(device_ledger->account_count + 1, sizeof(*sums));
	enum kwhy_status status = KWHY_OK;

	search.latest = malloc((device_ledger->account_count + 1) * sizeof(*search.latest));
	if (!twins || !sums || !search.latest)
		status = kwhy_fail_memory(error, "power classes");

	if (!status)
		kwhy_probing_twins(device_ledger, twins);
	for (size_t i = 0; !status && i < device_ledger->account_count; i++) {
		out_ratio[i] = 0;
		search.latest[i] = KWHY_NONE;
	}
	if (!status)
		status = add_rows(&search, device_ledger, device, twins, error);
	if (!status)
		mean_ratios(&search, sums, device_ledger->account_count, out_ratio);
	if (!status)
		status = add_clock(device_ledger, recording, device, out_ratio, error);
	free(sums);
	free(twins);
	free(search.latest);
	free(search.kinds);
	kwhy_map_done(&search.keys);
	return status;
}
