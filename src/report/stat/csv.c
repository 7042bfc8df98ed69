/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stat.h"
#include "report/stat/summary.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Adds a name. Names have no comma and no quote, except those that boards give their domains. */
static void add_name(struct kwhy_text *out, const char *name)
{
	kwhy_text_add(out, "\"");
	for (; *name; name++)
		if (*name == '"')
			kwhy_text_add(out, "\"\"");
		else
			kwhy_text_add_bytes(out, name, 1);
	kwhy_text_add(out, "\"");
}

static void add_number(struct kwhy_text *out, double value)
{
	kwhy_text_add(out, ",");
	if (isfinite(value))
		kwhy_text_addf(out, "%.9g", value);
}

/* The figure that a row is of, and the run or mean it belongs to. */
struct place {
	const char *figure, *of;
	int64_t run; /* -1: over all runs */
	double start_s, end_s;
};

static void add_row(struct kwhy_text *out, const struct place *place, const struct kwhy_stat_figure *figure)
{
	const struct kwhy_estimate *estimate = &figure->estimate;
	const char *basis = kwhy_stat_interval_basis_name(figure->basis);

	kwhy_text_addf(out, "%s,", place->figure);
	add_name(out, place->of);
	kwhy_text_add(out, ",");
	if (place->run >= 0)
		kwhy_text_addf(out, "%" PRId64, place->run);
	add_number(out, place->start_s);
	add_number(out, place->end_s);
	kwhy_text_addf(out, ",%zu", estimate->count);
	add_number(out, estimate->mean);
	add_number(out, estimate->low);
	add_number(out, estimate->high);
	kwhy_text_addf(out, ",%s", basis ? basis : "");
	add_number(out, estimate->deviation);
	add_number(out, estimate->least);
	add_number(out, estimate->most);
	kwhy_text_add(out, "\n");
}

static void add_mean(
	struct kwhy_text *out, const char *name, const char *of, const struct kwhy_stat_figure *figure)
{
	add_row(out, &(struct place){name, of, -1, NAN, NAN}, figure);
}

/* Adds one value, with the meter's interval where there is one. */
static void add_value(struct kwhy_text *out, const struct place *place, double value, double low, double high)
{
	struct kwhy_stat_figure figure = {
		.estimate = {.count = isfinite(value),
			.mean = value,
			.low = low,
			.high = high,
			.deviation = NAN,
			.least = value,
			.most = value},
		.basis = isfinite(low) && isfinite(high) ? KWHY_STAT_BY_METER : KWHY_STAT_BY_NONE,
	};

	add_row(out, place, &figure);
}

static void add_means(
	struct kwhy_text *out, const struct kwhy_stat *stat, const struct kwhy_stat_summary *summary)
{
	add_mean(out, "elapsed_s", "", &summary->elapsed_s);
	add_mean(out, "user_s", "", &summary->user_s);
	add_mean(out, "system_s", "", &summary->system_s);
	add_value(out, &(struct place){"max_rss_bytes", "", -1, NAN, NAN}, summary->max_rss_bytes, NAN, NAN);
	for (size_t d = 0; d < stat->domain_count; d++) {
		const struct kwhy_stat_domain *domain = &stat->domains[d];
		const struct kwhy_stat_domain_figures *figures = &summary->domains[d];

		add_mean(out, "energy_j", domain->name, &figures->energy_j);
		add_mean(out, "net_j", domain->name, &figures->net_j);
		add_mean(out, "mean_w", domain->name, &figures->mean_w);
		add_value(out, &(struct place){"peak_w", domain->name, -1, NAN, NAN}, figures->peak_w, NAN,
			NAN);
		add_value(out, &(struct place){"idle_w", domain->name, -1, NAN, NAN}, domain->idle.watts,
			domain->idle.low_w, domain->idle.high_w);
	}
}

static void add_work(
	struct kwhy_text *out, const struct kwhy_stat *stat, const struct kwhy_stat_summary *summary)
{
	for (size_t w = 0; w < stat->work_count; w++) {
		const char *unit = stat->work[w].unit;

		kwhy_text_addf(out, "%s_", unit);
		add_mean(out, "count", "", &summary->work[w].count);
		kwhy_text_addf(out, "%s_", unit);
		add_mean(out, "per_s", "", &summary->work[w].per_s);
		for (size_t d = 0; d < stat->domain_count; d++) {
			kwhy_text_addf(out, "%s_", unit);
			add_mean(out, "joules_per_unit", stat->domains[d].name,
				&summary->work[w].joules_per_unit[d]);
			kwhy_text_addf(out, "%s_", unit);
			add_mean(out, "units_per_joule", stat->domains[d].name,
				&summary->work[w].units_per_joule[d]);
		}
	}
}

static void add_run(struct kwhy_text *out, const struct kwhy_stat *stat, size_t r)
{
	const struct kwhy_stat_run *run = &stat->runs[r];
	struct place place = {"elapsed_s", "", (int64_t)r, run->start_s, run->start_s + run->seconds};

	add_value(out, &place, run->seconds, NAN, NAN);
	place.figure = "exit";
	add_value(out, &place, run->exit, NAN, NAN);
	place.figure = "energy_j";
	for (size_t d = 0; d < stat->domain_count; d++) {
		place.of = stat->domains[d].name;
		add_value(out, &place, run->energies[d].joules, run->energies[d].low_j,
			run->energies[d].high_j);
	}
	for (size_t w = 0; w < stat->work_count; w++) {
		place.figure = "count";
		place.of = "";
		kwhy_text_addf(out, "%s_", stat->work[w].unit);
		add_value(out, &place, run->work[w], NAN, NAN);
	}
}

/* Adds intervals and metrics; their times are since the start of their run. */
static void add_curves(struct kwhy_text *out, const struct kwhy_stat *stat)
{
	for (size_t i = 0; i < stat->interval_count; i++)
		for (size_t d = 0; d < stat->domain_count; d++)
			add_value(out,
				&(struct place){"interval_j", stat->domains[d].name, stat->intervals[i].run,
					stat->intervals[i].start_s, stat->intervals[i].end_s},
				stat->interval_joules[i * stat->domain_count + d], NAN, NAN);
	for (size_t m = 0; m < stat->metric_count; m++)
		for (size_t i = 0; i < stat->metrics[m].count; i++) {
			const struct kwhy_stat_point *point = &stat->metrics[m].points[i];
			struct place place = {
				"metric", stat->metrics[m].name, point->run, point->time_s, point->time_s};

			add_value(out, &place, point->value, NAN, NAN);
			place.figure = "metric_j";
			add_value(out, &place, point->joules, NAN, NAN);
		}
}

enum kwhy_status kwhy_stat_csv(const struct kwhy_stat *stat, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_stat_summary summary;
	enum kwhy_status status = kwhy_stat_summary_make(stat, &summary, error);

	if (status)
		return status;
	kwhy_text_add(out, "figure,of,run,start_s,end_s,count,mean,low,high,interval,deviation,least,most\n");
	add_means(out, stat, &summary);
	add_work(out, stat, &summary);
	for (size_t r = 0; r < stat->run_count; r++)
		add_run(out, stat, r);
	add_curves(out, stat);
	kwhy_stat_summary_done(&summary);
	return kwhy_text_check(out, error);
}
