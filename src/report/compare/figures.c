/* SPDX-License-Identifier: Apache-2.0 */
#include "report/compare.h"

#include <math.h>
#include <string.h>

/*
 * Computes figures of single runs, the figures of a side from those of its runs, and the changes between two
 * sides.
 */

#define ROUNDING 1e-12

static const struct {
	const char *name, *unit;
} figures[KWHY_FIGURE_COUNT] = {
	[KWHY_FIGURE_THROUGHPUT] = {"throughput", "/s"},
	[KWHY_FIGURE_STEP] = {"step", "s"},
	[KWHY_FIGURE_STEP_ENERGY] = {"step_energy", "J"},
	[KWHY_FIGURE_TIME] = {"time", "s"},
	[KWHY_FIGURE_ENERGY] = {"energy", "J"},
	[KWHY_FIGURE_RUN] = {"run", "J"},
	[KWHY_FIGURE_IDLE] = {"idle", "J"},
	[KWHY_FIGURE_POWER] = {"power", "W"},
	[KWHY_FIGURE_BUSY_RATIO] = {"busy_ratio", ""},
	[KWHY_FIGURE_IDLE_RATIO] = {"idle_ratio", ""},
};

const char *kwhy_figure_name(enum kwhy_figure figure)
{
	return figures[figure].name;
}

const char *kwhy_figure_unit(enum kwhy_figure figure)
{
	return figures[figure].unit;
}

/*
 * The functions from here to value_of() compute figures of one run, NAN if unknown. The figure of a side of
 * several runs is the mean of its runs' own figures, so that figures that add up in each run, such as busy
 * and idle, add up for the side, too.
 */

static double joules(int64_t energy_nj)
{
	return energy_nj == KWHY_UNKNOWN_NJ ? NAN : (double)energy_nj * 1e-9;
}

static double seconds(int64_t time_ns)
{
	return time_ns > 0 ? (double)time_ns * 1e-9 : NAN;
}

/* The quotient of two figures; NAN: one of them is unknown, or the divisor is not above 0. */
static double quotient_of(double above, double below)
{
	return below > 0 ? above / below : NAN;
}

static double rate_of(const struct kwhy_side *run, const struct kwhy_rate *rate)
{
	const struct kwhy_side_account *account;
	const struct kwhy_side_work *work;

	switch (rate ? rate->kind : KWHY_RATE_UNKNOWN) {
	case KWHY_RATE_WORK:
		work = kwhy_side_work_of(run, rate->name);
		return work ? work->count / seconds(run->span_ns) : NAN;
	case KWHY_RATE_STEPS:
		return run->step_count ? (double)run->step_count / seconds(run->loop_ns) : NAN;
	case KWHY_RATE_LAUNCHES:
		account = kwhy_side_account_of(run, rate->category, rate->name);
		return (account ? (double)account->count : 0) / seconds(run->span_ns);
	case KWHY_RATE_UNKNOWN:
		break;
	}
	return NAN;
}

static double figure_of(const struct kwhy_side *run, enum kwhy_figure figure, const struct kwhy_rate *rate)
{
	switch (figure) {
	case KWHY_FIGURE_THROUGHPUT:
		return rate_of(run, rate);
	case KWHY_FIGURE_STEP:
		return quotient_of(seconds(run->loop_ns), (double)run->step_count);
	case KWHY_FIGURE_STEP_ENERGY:
		return quotient_of(joules(run->loop_nj), (double)run->step_count);
	case KWHY_FIGURE_TIME:
		return seconds(run->span_ns);
	case KWHY_FIGURE_ENERGY:
		return joules(run->energy_nj);
	case KWHY_FIGURE_RUN:
		return joules(run->run_nj);
	case KWHY_FIGURE_IDLE:
		return joules(run->idle_nj);
	case KWHY_FIGURE_POWER:
		return run->power_w;
	case KWHY_FIGURE_BUSY_RATIO:
		return run->busy_ratio;
	case KWHY_FIGURE_IDLE_RATIO:
		return quotient_of((double)run->idle_ns, (double)run->spans_ns);
	case KWHY_FIGURE_COUNT:
		break;
	}
	return NAN;
}

/* The quantity of a run that is compared. Only the fields that its kind needs are set. */
struct quantity {
	enum { FIGURE, RATE, EACH, ACCOUNT_COUNT, ACCOUNT_TIME, ACCOUNT_ENERGY, ACCOUNT_IN_ALL } kind;
	const struct kwhy_comparison *comparison;
	enum kwhy_figure figure;
	const struct kwhy_rate *rate;
	const char *unit; /* unit of work */
	const struct kwhy_account_pair *pair;
};

double kwhy_compare_units_of(const struct kwhy_comparison *comparison, const struct kwhy_side *run)
{
	const struct kwhy_side_work *work;

	if (comparison->unit == KWHY_FOR_STEP)
		return (double)run->step_count;
	work = comparison->unit == KWHY_FOR_WORK ? kwhy_side_work_of(run, comparison->unit_name) : NULL;
	return comparison->unit == KWHY_FOR_RUN ? 1 : work ? work->count : NAN;
}

/*
 * Count, time (s) or energy (J) of an account in one run, for one unit of the comparison or, for
 * ACCOUNT_IN_ALL, the energy in the whole run. If the run lacks the account, the value is 0 if the run has
 * work (and, for an energy, if the run's energy is known), else NAN.
 */
static double account_value_of(const struct quantity *quantity, const struct kwhy_side *run)
{
	const struct kwhy_side_account *account = kwhy_side_account_of(
		run, quantity->pair->category, quantity->pair->name);
	const double absent = kwhy_side_has_work(run) ? 0 : NAN;
	const double units = kwhy_compare_units_of(quantity->comparison, run);
	double energy_j;

	if (quantity->kind == ACCOUNT_COUNT)
		return quotient_of(account ? (double)account->count : absent, units);
	if (quantity->kind == ACCOUNT_TIME)
		return quotient_of(account ? (double)account->time_ns * 1e-9 : absent, units);
	energy_j = account ? joules(account->gross_nj) : run->energy_nj == KWHY_UNKNOWN_NJ ? NAN : absent;
	return quantity->kind == ACCOUNT_IN_ALL ? energy_j : quotient_of(energy_j, units);
}

static double value_of(const struct quantity *quantity, const struct kwhy_side *run)
{
	const struct kwhy_side_work *work;

	switch (quantity->kind) {
	case FIGURE:
		return figure_of(run, quantity->figure, &quantity->comparison->rate);
	case RATE:
		return rate_of(run, quantity->rate);
	case EACH:
		work = kwhy_side_work_of(run, quantity->unit);
		return work ? work->each_j : NAN;
	default:
		return account_value_of(quantity, run);
	}
}

/*
 * The figure of a side. It is unknown if the figure of any run is unknown, since a mean over the other runs
 * is not the figure of the side.
 */
static struct kwhy_estimate estimate_of(const struct quantity *quantity, const struct kwhy_side_runs *runs)
{
	struct kwhy_estimate estimate = {
		.count = 1, .low = NAN, .high = NAN, .deviation = NAN, .least = NAN, .most = NAN};
	double values[KWHY_RUNS_MAX] = {NAN};
	bool is_known = true;

	for (size_t i = 0; i < runs->count; i++) {
		values[i] = value_of(quantity, &runs->items[i]);
		is_known &= isfinite(values[i]) != 0;
	}
	estimate.mean = is_known ? values[0] : NAN;
	if (is_known && runs->count > 1)
		kwhy_estimate_of(values, runs->count, &estimate);
	return estimate;
}

/*
 * Sets the interval of an account's energy to the meter's 90 % interval, if the side is a single run. An
 * account that the run lacks has an interval of width 0.
 */
static void set_meter_interval(const struct quantity *quantity, const struct kwhy_side_runs *runs,
	const struct kwhy_side_account *account, struct kwhy_estimate *estimate)
{
	double units;

	if (runs->count > 1)
		return;
	units = quantity->kind == ACCOUNT_IN_ALL
		? 1
		: kwhy_compare_units_of(quantity->comparison, &runs->items[0]);
	estimate->low = account ? joules(account->low_nj) / units : estimate->mean;
	estimate->high = account ? joules(account->high_nj) / units : estimate->mean;
}

static struct kwhy_change change_of(const struct quantity *quantity)
{
	const struct kwhy_side_runs *runs = quantity->comparison->runs;
	struct kwhy_change change = {
		.a = estimate_of(quantity, &runs[0]), .b = estimate_of(quantity, &runs[1])};

	if (quantity->kind == ACCOUNT_ENERGY || quantity->kind == ACCOUNT_IN_ALL) {
		set_meter_interval(quantity, &runs[0], quantity->pair->a, &change.a);
		set_meter_interval(quantity, &runs[1], quantity->pair->b, &change.b);
	}
	/* a difference that is due to rounding counts as 0 */
	if (fabs(change.b.mean - change.a.mean) <= ROUNDING * fabs(change.a.mean))
		change.b.mean = change.a.mean;
	kwhy_difference_of(&change.a, &change.b, &change.difference);
	return change;
}

struct kwhy_change kwhy_change_of_figure(const struct kwhy_comparison *comparison, enum kwhy_figure figure)
{
	return change_of(&(struct quantity){.kind = FIGURE, .comparison = comparison, .figure = figure});
}

struct kwhy_change kwhy_change_of_rate(const struct kwhy_comparison *comparison, const struct kwhy_rate *rate)
{
	return change_of(&(struct quantity){.kind = RATE, .comparison = comparison, .rate = rate});
}

struct kwhy_change kwhy_change_of_each(const struct kwhy_comparison *comparison, const char *unit)
{
	return change_of(&(struct quantity){.kind = EACH, .comparison = comparison, .unit = unit});
}

struct kwhy_change kwhy_change_of_account(
	const struct kwhy_comparison *comparison, const struct kwhy_account_pair *pair)
{
	return change_of(&(struct quantity){.kind = ACCOUNT_IN_ALL, .comparison = comparison, .pair = pair});
}

void kwhy_pair_set_changes(struct kwhy_account_pair *pair, const struct kwhy_comparison *comparison)
{
	struct quantity quantity = {.kind = ACCOUNT_COUNT, .comparison = comparison, .pair = pair};

	for (size_t side = 0; side < 2; side++)
		pair->counts[side] = estimate_of(&quantity, &comparison->runs[side]).mean;
	quantity.kind = ACCOUNT_TIME;
	pair->time = change_of(&quantity);
	quantity.kind = ACCOUNT_ENERGY;
	pair->energy = change_of(&quantity);
}

bool kwhy_difference_is_known(const struct kwhy_difference *difference)
{
	return isfinite(difference->low) && isfinite(difference->high);
}

bool kwhy_difference_is_significant(const struct kwhy_difference *difference)
{
	return difference->low > 0 || difference->high < 0;
}
