/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stat/summary.h"

#include <math.h>

/*
 * More runs are recommended if the half-width of the interval of the mean energy is more than this share of
 * the mean energy.
 */
#define ENOUGH_RATIO 0.1
#define RUNS_MAX 1e6

double kwhy_stat_half_ratio(const struct kwhy_stat_figure *figure)
{
	const struct kwhy_estimate *estimate = &figure->estimate;

	return fabs((estimate->high - estimate->low) / 2 / estimate->mean);
}

/*
 * Makes a figure from an estimate over runs. If it has no interval because it is of a single run, it gets the
 * interval of the run's meter, [low, high].
 */
static struct kwhy_stat_figure figure_of(const struct kwhy_estimate *estimate, double low, double high)
{
	struct kwhy_stat_figure figure = {.estimate = *estimate, .basis = KWHY_STAT_BY_NONE};

	if (isfinite(estimate->low)) {
		figure.basis = KWHY_STAT_BY_RUNS;
	} else if (estimate->count == 1 && isfinite(low) && isfinite(high)) {
		figure.basis = KWHY_STAT_BY_METER;
		figure.estimate.low = low;
		figure.estimate.high = high;
	}
	return figure;
}

struct kwhy_stat_sample kwhy_stat_gross(const struct kwhy_stat_row *row, const struct kwhy_stat_run *run)
{
	const struct kwhy_stat_energy *energy = &run->energies[row->d];

	return (struct kwhy_stat_sample){energy->joules, energy->low_j, energy->high_j};
}

struct kwhy_stat_figure kwhy_stat_mean(const struct kwhy_stat_row *row, kwhy_stat_sample_of *sample)
{
	const struct kwhy_stat *stat = row->stat;
	struct kwhy_stat_sample last = {NAN, NAN, NAN};
	struct kwhy_estimate estimate;
	size_t count = 0;

	for (size_t r = 0; r < stat->run_count; r++) {
		struct kwhy_stat_sample one;

		if (!stat->runs[r].counted)
			continue;
		one = sample(row, &stat->runs[r]);
		if (isfinite(one.value)) {
			row->summary->values[count++] = one.value;
			last = one;
		}
	}
	kwhy_estimate_of(row->summary->values, count, &estimate);
	return figure_of(&estimate, last.low, last.high);
}

static double end_of(double end, double value)
{
	return isnan(end) ? value : end;
}

/*
 * Quotient of two values of one run. If one has an interval, that of the quotient reaches from its least to
 * its largest value within the intervals of both.
 */
static struct kwhy_stat_sample quotient(struct kwhy_stat_sample above, struct kwhy_stat_sample below)
{
	double least = end_of(below.low, below.value);

	if (isnan(above.low) && isnan(below.low))
		return (struct kwhy_stat_sample){above.value / below.value, NAN, NAN};
	return (struct kwhy_stat_sample){above.value / below.value,
		fmax(0, end_of(above.low, above.value) / end_of(below.high, below.value)),
		least > 0 ? end_of(above.high, above.value) / least : INFINITY};
}

struct kwhy_stat_figure kwhy_stat_ratio(
	const struct kwhy_stat_row *row, kwhy_stat_sample_of *above, kwhy_stat_sample_of *below)
{
	const struct kwhy_stat *stat = row->stat;
	double *uppers = row->summary->values, *lowers = uppers + stat->run_count;
	struct kwhy_stat_sample last = {NAN, NAN, NAN};
	struct kwhy_estimate estimate;
	size_t count = 0;

	for (size_t r = 0; r < stat->run_count; r++) {
		struct kwhy_stat_sample upper = above(row, &stat->runs[r]);
		struct kwhy_stat_sample lower = below(row, &stat->runs[r]);

		if (!stat->runs[r].counted || !isfinite(upper.value) || !isfinite(lower.value))
			continue;
		uppers[count] = upper.value;
		lowers[count++] = lower.value;
		last = quotient(upper, lower);
	}
	kwhy_ratio_of(uppers, lowers, count, &estimate);
	return figure_of(&estimate, last.low, last.high);
}

/*
 * Half-width of the 95 % interval of the mean over `runs` runs, as a share of the mean, if these runs scatter
 * as much as those that were made.
 */
static double half_ratio_of(const struct kwhy_estimate *estimate, double runs)
{
	return kwhy_student_quantile(0.975, runs - 1) * estimate->deviation / sqrt(runs) /
		fabs(estimate->mean);
}

/*
 * Number of runs, those made included, with which the half-width of the mean energy would be at most
 * ENOUGH_RATIO of the mean, up to 5 % more than needed. For a single run with the meter's interval, the
 * half-width is assumed to fall with the square root of the number of runs. 0: the half-width already is that
 * small, or RUNS_MAX runs would not suffice.
 */
static uint64_t runs_needed(const struct kwhy_stat_figure *energy)
{
	double ratio = kwhy_stat_half_ratio(energy) / ENOUGH_RATIO, runs = 2;

	if (!(ratio > 1))
		return 0;
	if (energy->basis == KWHY_STAT_BY_METER)
		return ratio < 1e4 ? (uint64_t)ceil(ratio * ratio) : 0;
	while (runs < RUNS_MAX && half_ratio_of(&energy->estimate, runs) > ENOUGH_RATIO)
		runs += ceil(runs / 20);
	return runs < RUNS_MAX ? (uint64_t)runs : 0;
}

static void add_run(struct kwhy_stat_domain_figures *figures, const struct kwhy_stat_domain *domain,
	const struct kwhy_stat_run *run, const struct kwhy_stat_energy *energy)
{
	double context_w = domain->context_idle_w - domain->idle.watts;

	if (energy->missing) {
		figures->missing = energy->missing;
		figures->unmeasured++;
		return;
	}
	figures->basis = energy->basis;
	figures->peak_w = fmax(figures->peak_w, energy->peak_w);
	figures->meter_half_ratio += (energy->high_j - energy->low_j) / 2 / energy->joules;
	figures->context_j += context_w > 0 ? context_w * run->seconds : NAN;
}

static void fill_domain(const struct kwhy_stat *stat, struct kwhy_stat_summary *summary, size_t d)
{
	const struct kwhy_stat_row row = {.stat = stat, .summary = summary, .d = d};
	struct kwhy_stat_domain_figures figures = {.peak_w = NAN};
	double measured;

	for (size_t r = 0; r < stat->run_count; r++)
		if (stat->runs[r].counted)
			add_run(&figures, &stat->domains[d], &stat->runs[r], &stat->runs[r].energies[d]);
	figures.energy_j = kwhy_stat_mean(&row, kwhy_stat_gross);
	measured = (double)figures.energy_j.estimate.count;
	figures.meter_half_ratio = measured > 0 ? figures.meter_half_ratio / measured : NAN;
	figures.context_j = measured > 0 ? figures.context_j / measured : NAN;
	figures.runs_needed = runs_needed(&figures.energy_j);
	summary->domains[d] = figures;
}

static enum kwhy_status fill(
	const struct kwhy_stat *stat, struct kwhy_stat_summary *summary, struct kwhy_error *error)
{
	summary->values = kwhy_arena_alloc(
		&summary->arena, 2 * stat->run_count + 1, sizeof(*summary->values));
	summary->domains = kwhy_arena_alloc(
		&summary->arena, stat->domain_count + 1, sizeof(*summary->domains));
	if (!summary->values || !summary->domains)
		return kwhy_fail_memory(error, "the summary");
	summary->max_rss_bytes = NAN;
	for (size_t r = 0; r < stat->run_count; r++)
		if (stat->runs[r].counted) {
			summary->counted++;
			summary->max_rss_bytes = fmax(summary->max_rss_bytes, stat->runs[r].max_rss_bytes);
		}
	for (size_t d = 0; d < stat->domain_count; d++)
		fill_domain(stat, summary, d);
	return KWHY_OK;
}

enum kwhy_status kwhy_stat_summary_make(
	const struct kwhy_stat *stat, struct kwhy_stat_summary *out, struct kwhy_error *error)
{
	enum kwhy_status status;

	*out = (struct kwhy_stat_summary){0};
	status = fill(stat, out, error);
	if (!status)
		status = kwhy_stat_notes_add(stat, out, error);
	if (status)
		kwhy_stat_summary_done(out);
	return status;
}

void kwhy_stat_summary_done(struct kwhy_stat_summary *summary)
{
	kwhy_arena_done(&summary->arena);
	*summary = (struct kwhy_stat_summary){0};
}
