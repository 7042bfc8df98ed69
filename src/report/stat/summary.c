/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stat/summary.h"

#include <math.h>

/* A half-width beyond this says little: more runs are asked for. */
#define ENOUGH_RATIO 0.1
#define RUNS_MOST 1e6

/* Values of one figure, run by run, with the meter's own interval where it has one. */
struct series {
	double *values;
	double low, high; /* of the last */
	size_t count;
};

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

static void add_value(struct series *series, double value, double low, double high)
{
	if (!isfinite(value))
		return;
	series->values[series->count++] = value;
	series->low = low;
	series->high = high;
}

static struct kwhy_stat_figure figure_of(struct series *series)
{
	struct kwhy_stat_figure figure = {.basis = KWHY_STAT_BY_NONE};

	kwhy_estimate_of(series->values, series->count, &figure.estimate);
	if (series->count > 1) {
		figure.basis = KWHY_STAT_BY_RUNS;
	} else if (series->count == 1 && isfinite(series->low) && isfinite(series->high)) {
		figure.basis = KWHY_STAT_BY_METER;
		figure.estimate.low = series->low;
		figure.estimate.high = series->high;
	}
	series->count = 0;
	return figure;
}

/* What a run says of a figure. */
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

static struct sample power(
	const struct kwhy_stat *stat, const struct kwhy_stat_run *run, size_t domain, size_t work)
{
	struct sample sample = gross(stat, run, domain, work);

	return (struct sample){
		sample.value / run->seconds, sample.low / run->seconds, sample.high / run->seconds};
}

static struct sample count_of_work(
	const struct kwhy_stat *stat, const struct kwhy_stat_run *run, size_t domain, size_t work)
{
	(void)stat;
	(void)domain;
	return plain(run->work[work]);
}

static struct sample work_per_s(
	const struct kwhy_stat *stat, const struct kwhy_stat_run *run, size_t domain, size_t work)
{
	(void)stat;
	(void)domain;
	return plain(run->work[work] / run->seconds);
}

static struct sample joules_per_unit(
	const struct kwhy_stat *stat, const struct kwhy_stat_run *run, size_t domain, size_t work)
{
	struct sample sample = gross(stat, run, domain, work);

	return (struct sample){
		sample.value / run->work[work], sample.low / run->work[work], sample.high / run->work[work]};
}

static struct sample units_per_joule(
	const struct kwhy_stat *stat, const struct kwhy_stat_run *run, size_t domain, size_t work)
{
	struct sample sample = gross(stat, run, domain, work);
	double count = run->work[work];

	if (!(sample.value > 0))
		return plain(NAN);
	return (struct sample){
		count / sample.value, count / sample.high, sample.low > 0 ? count / sample.low : INFINITY};
}

/* The figure over the runs that count; `values` has room for all. */
static struct kwhy_stat_figure over_runs(
	const struct kwhy_stat *stat, double *values, sample_of *sample, size_t domain, size_t work)
{
	struct series series = {.values = values, .low = NAN, .high = NAN};

	for (size_t r = 0; r < stat->run_count; r++) {
		struct sample one;

		if (!stat->runs[r].counted)
			continue;
		one = sample(stat, &stat->runs[r], domain, work);
		add_value(&series, one.value, one.low, one.high);
	}
	return figure_of(&series);
}

/* The 95 % half-width, as a share, of the mean of so many runs that scatter like those that were made. */
static double half_ratio_of(const struct kwhy_estimate *estimate, double runs)
{
	return kwhy_student_quantile(0.975, runs - 1) * estimate->deviation / sqrt(runs) /
		fabs(estimate->mean);
}

/* As many runs as would bring the interval to a tenth. A single run's is the meter's, and independent. */
static uint64_t runs_needed(const struct kwhy_stat_figure *energy)
{
	double ratio = kwhy_stat_half_ratio(energy) / ENOUGH_RATIO, runs = 2;

	if (!(ratio > 1))
		return 0;
	if (energy->basis == KWHY_STAT_BY_METER)
		return ratio < 1e4 ? (uint64_t)ceil(ratio * ratio) : 0;
	while (runs < RUNS_MOST && half_ratio_of(&energy->estimate, runs) > ENOUGH_RATIO)
		runs += ceil(runs / 20);
	return runs < RUNS_MOST ? (uint64_t)runs : 0;
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
	figures.mean_w = over_runs(stat, values, power, d, 0);
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
	size_t room = stat->domain_count + 1;

	figures->joules_per_unit = kwhy_arena_alloc(&summary->arena, room, sizeof(*figures->joules_per_unit));
	figures->units_per_joule = kwhy_arena_alloc(&summary->arena, room, sizeof(*figures->units_per_joule));
	if (!figures->joules_per_unit || !figures->units_per_joule)
		return kwhy_fail_memory(error, "the summary");
	figures->count = over_runs(stat, values, count_of_work, 0, w);
	figures->per_s = over_runs(stat, values, work_per_s, 0, w);
	for (size_t d = 0; d < stat->domain_count; d++) {
		figures->joules_per_unit[d] = over_runs(stat, values, joules_per_unit, d, w);
		figures->units_per_joule[d] = over_runs(stat, values, units_per_joule, d, w);
	}
	return KWHY_OK;
}

static enum kwhy_status fill(
	const struct kwhy_stat *stat, struct kwhy_stat_summary *summary, struct kwhy_error *error)
{
	double *values = kwhy_arena_alloc(&summary->arena, stat->run_count + 1, sizeof(*values));
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
