/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stat/summary.h"

#include <math.h>

/* Relative half-width beyond which more runs are recommended. */
#define ENOUGH_RATIO 0.1
#define RUNS_MAX 1e6

const char *kwhy_stat_interval_basis_name(enum kwhy_stat_interval_basis basis)
{
	static const char *const names[] = {
		[KWHY_STAT_BY_NONE] = NULL, [KWHY_STAT_BY_RUNS] = "runs", [KWHY_STAT_BY_METER] = "meter"};

	return names[basis];
}

double kwhy_stat_half_ratio(const struct kwhy_stat_figure *figure)
{
	const struct kwhy_estimate *estimate = &figure->estimate;

	return fabs((estimate->high - estimate->low) / 2 / estimate->mean);
}

/* Makes a figure; `low` and `high` are the meter's interval, used for a single run. */
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

/* A run's value of a figure, with the meter's interval. */
struct sample {
	double value, low, high;
};

typedef struct sample sample_of(
	const struct kwhy_stat *stat, const struct kwhy_stat_run *run, size_t domain, size_t work);

static struct sample plain(double value)
{
	return (struct sample){value, NAN, NAN};
}

static struct sample elapsed(
	const struct kwhy_stat *stat, const struct kwhy_stat_run *run, size_t domain, size_t work)
{
	(void)stat;
	(void)domain;
	(void)work;
	return plain(run->seconds);
}

static struct sample user(
	const struct kwhy_stat *stat, const struct kwhy_stat_run *run, size_t domain, size_t work)
{
	(void)stat;
	(void)domain;
	(void)work;
	return plain(run->user_s);
}

static struct sample system_time(
	const struct kwhy_stat *stat, const struct kwhy_stat_run *run, size_t domain, size_t work)
{
	(void)stat;
	(void)domain;
	(void)work;
	return plain(run->system_s);
}

static struct sample gross(
	const struct kwhy_stat *stat, const struct kwhy_stat_run *run, size_t domain, size_t work)
{
	const struct kwhy_stat_energy *energy = &run->energies[domain];

	(void)stat;
	(void)work;
	return (struct sample){energy->joules, energy->low_j, energy->high_j};
}

static struct sample net(
	const struct kwhy_stat *stat, const struct kwhy_stat_run *run, size_t domain, size_t work)
{
	struct kwhy_stat_energy energy = kwhy_stat_net(
		&stat->domains[domain], &run->energies[domain], run->seconds);

	(void)work;
	return (struct sample){energy.joules, energy.low_j, energy.high_j};
}

static struct sample count_of_work(
	const struct kwhy_stat *stat, const struct kwhy_stat_run *run, size_t domain, size_t work)
{
	(void)stat;
	(void)domain;
	return plain(run->work[work]);
}

/* The mean over the runs that count; `values` has space for all. */
static struct kwhy_stat_figure over_runs(
	const struct kwhy_stat *stat, double *values, sample_of *sample, size_t domain, size_t work)
{
	struct sample last = plain(NAN);
	struct kwhy_estimate estimate;
	size_t count = 0;

	for (size_t r = 0; r < stat->run_count; r++) {
		struct sample one;

		if (!stat->runs[r].counted)
			continue;
		one = sample(stat, &stat->runs[r], domain, work);
		if (isfinite(one.value)) {
			values[count++] = one.value;
			last = one;
		}
	}
	kwhy_estimate_of(values, count, &estimate);
	return figure_of(&estimate, last.low, last.high);
}

static double end_of(double end, double value)
{
	return isnan(end) ? value : end;
}

/* Quotient of two values of one run; unknown where either is unmetered. */
static struct sample quotient(struct sample above, struct sample below)
{
	double least = end_of(below.low, below.value);

	if (isnan(above.low) && isnan(below.low))
		return plain(above.value / below.value);
	return (struct sample){above.value / below.value,
		fmax(0, end_of(above.low, above.value) / end_of(below.high, below.value)),
		least > 0 ? end_of(above.high, above.value) / least : INFINITY};
}

/* Dividend and divisor, each of one run. */
struct ratio {
	sample_of *above, *below;
};

static const struct ratio mean_power = {gross, elapsed}, work_per_s = {count_of_work, elapsed},
			  joules_per_unit = {gross, count_of_work}, units_per_joule = {count_of_work, gross};

/* The ratio of sums over the runs that count and have both; `values` has space for all, twice. */
static struct kwhy_stat_figure ratio_over_runs(
	const struct kwhy_stat *stat, double *values, const struct ratio *ratio, size_t domain, size_t work)
{
	double *above = values, *below = values + stat->run_count;
	struct sample last = plain(NAN);
	struct kwhy_estimate estimate;
	size_t count = 0;

	for (size_t r = 0; r < stat->run_count; r++) {
		struct sample upper = ratio->above(stat, &stat->runs[r], domain, work);
		struct sample lower = ratio->below(stat, &stat->runs[r], domain, work);

		if (!stat->runs[r].counted || !isfinite(upper.value) || !isfinite(lower.value))
			continue;
		above[count] = upper.value;
		below[count++] = lower.value;
		last = quotient(upper, lower);
	}
	kwhy_ratio_of(above, below, count, &estimate);
	return figure_of(&estimate, last.low, last.high);
}

/* The 95 % half-width, as a share, of the mean of this many runs that scatter like those that were made. */
static double half_ratio_of(const struct kwhy_estimate *estimate, double runs)
{
	return kwhy_student_quantile(0.975, runs - 1) * estimate->deviation / sqrt(runs) /
		fabs(estimate->mean);
}

/*
 * Number of runs that would bring the half-width to a tenth. A single run's interval is the meter's and does
 * not depend on the number.
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

static void fill_domain(
	const struct kwhy_stat *stat, double *values, size_t d, struct kwhy_stat_domain_figures *out)
{
	struct kwhy_stat_domain_figures figures = {.peak_w = NAN};
	double measured;

	for (size_t r = 0; r < stat->run_count; r++)
		if (stat->runs[r].counted)
			add_run(&figures, &stat->domains[d], &stat->runs[r], &stat->runs[r].energies[d]);
	figures.energy_j = over_runs(stat, values, gross, d, 0);
	figures.net_j = over_runs(stat, values, net, d, 0);
	figures.mean_w = ratio_over_runs(stat, values, &mean_power, d, 0);
	measured = (double)figures.energy_j.estimate.count;
	figures.meter_half_ratio = measured > 0 ? figures.meter_half_ratio / measured : NAN;
	figures.context_j = measured > 0 ? figures.context_j / measured : NAN;
	figures.runs_needed = runs_needed(&figures.energy_j);
	*out = figures;
}

static enum kwhy_status fill_work(const struct kwhy_stat *stat, struct kwhy_stat_summary *summary,
	double *values, size_t w, struct kwhy_error *error)
{
	struct kwhy_stat_work_figures *figures = &summary->work[w];
	size_t space = stat->domain_count + 1;

	figures->joules_per_unit = kwhy_arena_alloc(
		&summary->arena, space, sizeof(*figures->joules_per_unit));
	figures->units_per_joule = kwhy_arena_alloc(
		&summary->arena, space, sizeof(*figures->units_per_joule));
	if (!figures->joules_per_unit || !figures->units_per_joule)
		return kwhy_fail_memory(error, "the summary");
	figures->count = over_runs(stat, values, count_of_work, 0, w);
	figures->per_s = ratio_over_runs(stat, values, &work_per_s, 0, w);
	for (size_t d = 0; d < stat->domain_count; d++) {
		figures->joules_per_unit[d] = ratio_over_runs(stat, values, &joules_per_unit, d, w);
		figures->units_per_joule[d] = ratio_over_runs(stat, values, &units_per_joule, d, w);
	}
	return KWHY_OK;
}

static enum kwhy_status fill(
	const struct kwhy_stat *stat, struct kwhy_stat_summary *summary, struct kwhy_error *error)
{
	double *values = kwhy_arena_alloc(&summary->arena, 2 * stat->run_count + 1, sizeof(*values));
	enum kwhy_status status = KWHY_OK;

	summary->domains = kwhy_arena_alloc(
		&summary->arena, stat->domain_count + 1, sizeof(*summary->domains));
	summary->work = kwhy_arena_alloc(&summary->arena, stat->work_count + 1, sizeof(*summary->work));
	if (!values || !summary->domains || !summary->work)
		return kwhy_fail_memory(error, "the summary");
	summary->max_rss_bytes = NAN;
	for (size_t r = 0; r < stat->run_count; r++) {
		if (!stat->runs[r].counted)
			continue;
		summary->counted++;
		summary->max_rss_bytes = fmax(summary->max_rss_bytes, stat->runs[r].max_rss_bytes);
	}
	summary->elapsed_s = over_runs(stat, values, elapsed, 0, 0);
	summary->user_s = over_runs(stat, values, user, 0, 0);
	summary->system_s = over_runs(stat, values, system_time, 0, 0);
	for (size_t d = 0; d < stat->domain_count; d++)
		fill_domain(stat, values, d, &summary->domains[d]);
	for (size_t w = 0; !status && w < stat->work_count; w++)
		status = fill_work(stat, summary, values, w, error);
	return status;
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
