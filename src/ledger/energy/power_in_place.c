/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/power_in_place.h"

#include "base/column.h"
#include "base/map.h"
#include "ledger/probing.h"
#include "ledger/work_clock.h"

#include <math.h>
#include <stdlib.h>

/*
 * Largest gap between two launches of one burst (a kernel launched many times in a row), as a share of a
 * launch's duration; and least length of a burst in ns.
 */
#define BETWEEN_MAX_RATIO 0.2
#define BURST_MIN_NS 10e6
/* Least number of launches in a burst, or for a mean duration to be used. */
#define LAUNCHES_MIN 20
/*
 * Largest coefficient of variation of durations that belong to the same work; a larger one means that the
 * sizes of the work differ.
 */
#define SCATTER_MAX_RATIO 0.15
/*
 * Largest relative difference of durations that the clock can cause: bursts that slow down by more are left
 * out (ledger/probing.h). The rest of a difference is due to the caches. The POWER_OF_ values are the
 * standard deviation of the power's logarithm divided by the difference (power_in_place.h).
 */
#define CLOCK_MAX 0.03
#define POWER_OF_CLOCK 1.8
#define POWER_OF_CACHES 0.58

/*
 * Copies between repeats restore the kernel's memory. If no burst has these copies alone, they are assumed to
 * draw the power of all copies of their size. POWER_OF_COPIES: relative standard deviation of their power
 * above idle under this assumption. On an H200, copies at 2.05 to 2.14 TB/s drew 555 to 790 W. If all powers
 * in this range are equally likely, their standard deviation is 68 W, which is 12 % of 550 W above idle. The
 * kernel's power, which remains after the copies are taken off, gets at most the relative standard deviation
 * COPIES_MAX: the kernel's kind alone, which needs no burst, determines the power with that uncertainty.
 */
#define POWER_OF_COPIES 0.12
#define COPIES_MAX 0.4

/*
 * Standard deviation of the power's logarithm if durations do not differ, because temperature and the state
 * of the memory may still differ. On an H200, 25 operations have durations that differ by less than 2 % (sets
 * D, E and F of docs/results/probe.md). Their powers in place and in bursts differ by 3.3 % (root mean
 * square); the uncertainty of the readings alone would cause 2.7 to 3.1 %.
 */
#define POWER_ELSE 0.013

struct launches {
	double count, time_ns, time_ns2; /* time_ns2: sum of the squared durations */
};

/* Launches of one account with one number of blocks. */
struct kind {
	uint32_t account, blocks;
	double last_end_ns;  /* busy time of the device at the end of the account's latest launch */
	struct launches row; /* launches of the current series without gaps, which is a burst if it becomes
				long enough */
	struct launches burst, place;
	double copies_ns; /* time of copies before repeats of the kernel, if no burst has these copies alone
			   */
};

struct search {
	const struct kwhy_activities *rows;
	struct kwhy_map keys;
	struct kind *kinds;
	size_t count, capacity;
	uint32_t *latest; /* [accounts] index of the entry of each account's latest launch, since the next
			     launch mostly has the same number of blocks */
	double busy_ns;	  /* busy time of the device up to the current activity */
	double copies_ns; /* time of kwhy probe's copies since the latest repeat or launch */
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
 * Adds an activity of a recording with kwhy probe. Repeats count as launches in bursts, however short the
 * bursts are; launches of the program count as launches in place (between other work).
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

/* Whether there are enough launches, and their durations are similar. */
static bool are_one_work(const struct launches *launches)
{
	double mean_ns = launches->time_ns / launches->count;

	return launches->count >= LAUNCHES_MIN && mean_ns > 0 &&
		launches->time_ns2 / launches->count - mean_ns * mean_ns <=
		SCATTER_MAX_RATIO * SCATTER_MAX_RATIO * mean_ns * mean_ns;
}

/* Logarithm of (mean duration between other work / mean duration in bursts); 0: they cannot be compared. */
static double difference(const struct kind *kind)
{
	const struct launches *burst = &kind->burst, *place = &kind->place;

	if (!are_one_work(burst) || !are_one_work(place))
		return 0;
	return log(place->time_ns / place->count / (burst->time_ns / burst->count));
}

/*
 * Standard deviation of the power's logarithm that follows from a difference of durations, with the sign of
 * the difference.
 */
static double spread_of(double difference)
{
	const double clock = fmin(fabs(difference), CLOCK_MAX);

	return copysign(
		hypot(POWER_OF_CLOCK * clock, POWER_OF_CACHES * (fabs(difference) - clock)), difference);
}

/*
 * Time by which a grid is weighted. It is the time of all launches of the grid or, in a recording with kwhy
 * probe, the time of the program's launches.
 */
static double kind_ns(const struct search *search, const struct kind *kind)
{
	return kind->place.time_ns + (search->is_probed ? 0 : kind->burst.time_ns);
}

/* Standard deviation of the power's logarithm that follows from copies between repeats. */
static double spread_of_copies(const struct kind *kind)
{
	return kind->burst.time_ns > 0
		? fmin(POWER_OF_COPIES * kind->copies_ns / kind->burst.time_ns, COPIES_MAX)
		: 0;
}

/* Sums over the grids of an account, weighted with time. */
struct sum {
	double time_ns, spread_ns, spread_ns2; /* spread_ns2: sum of the squares */
	double copies_ns; /* the part of the spread that copies cause, weighted in the same way */
	double probed_ns; /* time of the grids that kwhy probe repeated */
};

/*
 * Writes the weighted standard deviation of each account. If the differences of an account's grids have one
 * common cause, their errors add with their signs; if they have several causes, their squares add. The
 * larger of the two results is taken.
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
 * Where the clock changes while the program's work runs, as it does at the power limit, the powers of kernels
 * change with it. The model has only one power for each kernel, so the scatter of the clock is added to the
 * uncertainty of that power.
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
