/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv_cell.h"
#include "report/stat.h"
#include "report/stat/columns.h"

#include <inttypes.h>
#include <math.h>

/*
 * What a row of the CSV describes: the figure's name, the domain or metric that it is of ("": none), the run,
 * and the interval in s that it covers (NAN: none).
 */
struct place {
	const char *figure, *of;
	int64_t run; /* index of the run; -1: the figure is over all counted runs */
	double start_s, end_s;
};

static void add_row(struct kwhy_text *out, const struct place *place, const struct kwhy_stat_figure *figure)
{
	const struct kwhy_estimate *estimate = &figure->estimate;
	const char *basis = kwhy_stat_interval_basis_name(figure->basis);

	kwhy_text_addf(out, "%s,", place->figure);
	kwhy_csv_add_shown_text(out, place->of);
	kwhy_text_add(out, ",");
	if (place->run >= 0)
		kwhy_text_addf(out, "%" PRId64, place->run);
	kwhy_csv_add_real(out, place->start_s);
	kwhy_csv_add_real(out, place->end_s);
	kwhy_text_addf(out, ",%zu", estimate->count);
	kwhy_csv_add_real(out, estimate->mean);
	kwhy_csv_add_real(out, estimate->low);
	kwhy_csv_add_real(out, estimate->high);
	kwhy_text_addf(out, ",%s", basis ? basis : "");
	kwhy_csv_add_real(out, estimate->deviation);
	kwhy_csv_add_real(out, estimate->least);
	kwhy_csv_add_real(out, estimate->most);
	kwhy_text_add(out, "\n");
}

/* Adds a row with one value, which has no interval. */
static void add_value(struct kwhy_text *out, const struct place *place, double value)
{
	const struct kwhy_stat_figure figure = kwhy_stat_single(value, NAN, NAN);

	add_row(out, place, &figure);
}

/*
 * Adds a row for each column that has the output CSV. If `row` is about some work, the names of the figures
 * begin with its unit and '_'.
 */
static void add_columns(struct kwhy_text *out, const struct kwhy_columns *columns, struct place *place,
	const struct kwhy_stat_row *row)
{
	for (size_t i = 0; i < columns->count; i++) {
		struct kwhy_value value;

		if (!(columns->items[i].outputs & KWHY_IN_CSV))
			continue;
		value = kwhy_column_value(&columns->items[i], row);
		place->figure = columns->items[i].key;
		if (row->work.unit)
			kwhy_text_addf(out, "%s_", row->work.unit);
		if (value.kind == KWHY_VALUE_FIGURE)
			add_row(out, place, &value.figure);
		else
			add_value(out, place, kwhy_value_number(&value));
	}
}

static void add_means(
	struct kwhy_text *out, const struct kwhy_stat *stat, const struct kwhy_stat_summary *summary)
{
	struct kwhy_stat_row row = kwhy_stat_row_of(stat, summary, KWHY_STAT_NO_DOMAIN, KWHY_STAT_NO_WORK);
	struct place place = {.of = "", .run = -1, .start_s = NAN, .end_s = NAN};

	add_columns(out, &kwhy_stat_time_columns, &place, &row);
	for (size_t d = 0; d < stat->domain_count; d++) {
		row = kwhy_stat_row_of(stat, summary, d, KWHY_STAT_NO_WORK);
		place.of = row.domain.name;
		add_columns(out, &kwhy_stat_domain_columns, &place, &row);
	}
	for (size_t w = 0; w < stat->work_count; w++) {
		row = kwhy_stat_row_of(stat, summary, KWHY_STAT_NO_DOMAIN, w);
		place.of = "";
		add_columns(out, &kwhy_stat_work_columns, &place, &row);
		for (size_t d = 0; d < stat->domain_count; d++) {
			row = kwhy_stat_row_of(stat, summary, d, w);
			place.of = row.domain.name;
			add_columns(out, &kwhy_stat_work_domain_columns, &place, &row);
		}
	}
}

static void add_run(struct kwhy_text *out, const struct kwhy_stat *stat, size_t r)
{
	struct kwhy_stat_row row = kwhy_stat_run_row_of(stat, r, KWHY_STAT_NO_DOMAIN);
	struct place place = {NULL, "", (int64_t)r, row.run.start_s, row.run.start_s + row.run.seconds};

	add_columns(out, &kwhy_stat_run_columns, &place, &row);
	for (size_t d = 0; d < stat->domain_count; d++) {
		row = kwhy_stat_run_row_of(stat, r, d);
		place.of = row.domain.name;
		add_columns(out, &kwhy_stat_run_domain_columns, &place, &row);
	}
	place.figure = "count";
	place.of = "";
	for (size_t w = 0; w < stat->work_count; w++) {
		kwhy_text_addf(out, "%s_", stat->work[w].unit);
		add_value(out, &place, row.run.work[w]);
	}
}

/*
 * Adds the intervals of the power curve and the values of metrics. Their times are in s since the start of
 * their run.
 */
static void add_curves(struct kwhy_text *out, const struct kwhy_stat *stat)
{
	for (size_t i = 0; i < stat->interval_count; i++)
		for (size_t d = 0; d < stat->domain_count; d++)
			add_value(out,
				&(struct place){"interval_j", stat->domains[d].name, stat->intervals[i].run,
					stat->intervals[i].start_s, stat->intervals[i].end_s},
				stat->interval_joules[i * stat->domain_count + d]);
	for (size_t m = 0; m < stat->metric_count; m++)
		for (size_t i = 0; i < stat->metrics[m].count; i++) {
			const struct kwhy_stat_point *point = &stat->metrics[m].points[i];
			struct place place = {
				"metric", stat->metrics[m].name, point->run, point->time_s, point->time_s};

			add_value(out, &place, point->value);
			place.figure = "metric_j";
			add_value(out, &place, point->joules);
		}
}

/* Adds time and energy of the kernels of the run that kwhy stat recorded because of the option --powers. */
static void add_kernels(struct kwhy_text *out, const struct kwhy_stat_recorded *recorded)
{
	for (size_t i = 0; i < recorded->kernel_count; i++) {
		const struct kwhy_stat_kernel *kernel = &recorded->kernels[i];
		struct kwhy_stat_figure energy = kwhy_stat_single(
			kernel->joules, kernel->low_j, kernel->high_j);
		struct place place = {"kernel_s", kernel->name, -1, NAN, NAN};

		add_value(out, &place, kernel->seconds);
		place.figure = "kernel_j";
		add_row(out, &place, &energy);
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
	for (size_t r = 0; r < stat->run_count; r++)
		add_run(out, stat, r);
	add_curves(out, stat);
	add_kernels(out, &stat->recorded);
	kwhy_stat_summary_done(&summary);
	return kwhy_text_check(out, error);
}
