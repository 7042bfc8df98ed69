/* SPDX-License-Identifier: Apache-2.0 */
#include "report/compare/stat.h"

#include "model/ledger.h"
#include "report/stat/columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *keep(struct kwhy_stat_comparison *out, const char *text, bool *failed)
{
	const char *copy = kwhy_arena_copy(&out->arena, text);

	*failed |= !copy;
	return copy ? copy : "";
}

/*
 * Adds a change for each of `columns` that is compared and known on both sides. `work` is the unit of work,
 * with which the names of these changes begin; "": they are about no work. `domain` is the meters' domain;
 * "": none. `b` is NULL if the other result has no such domain or work; nothing is added then.
 */
static void add_columns(struct kwhy_stat_comparison *out, const struct kwhy_columns *columns,
	const char *work, const char *domain, const struct kwhy_read_figures *a,
	const struct kwhy_read_figures *b, bool *failed)
{
	for (size_t i = 0; b && i < columns->count; i++) {
		const struct kwhy_column *column = &columns->items[i];
		struct kwhy_figure_change change = {
			.of = domain, .unit = kwhy_column_unit_symbol(column->unit)};
		char name[96];

		if (!column->change)
			continue;
		change.a = kwhy_read_figure_of(a, column->key);
		change.b = kwhy_read_figure_of(b, column->key);
		if (!change.a.count || !change.b.count)
			continue;
		snprintf(name, sizeof(name), "%.80s%s", work, column->change);
		change.name = keep(out, name, failed);
		kwhy_difference_of(&change.a, &change.b, &change.difference);
		out->changes[out->change_count++] = change;
	}
}

static void add_domains(struct kwhy_stat_comparison *out, bool *failed)
{
	const struct kwhy_read_stat *a = out->results[0], *b = out->results[1];

	for (size_t i = 0; i < a->domain_count; i++) {
		const struct kwhy_read_domain *other = kwhy_read_domain_of(
			b->domains, b->domain_count, a->domains[i].name);

		add_columns(out, &kwhy_stat_domain_columns, "", a->domains[i].name, &a->domains[i].figures,
			other ? &other->figures : NULL, failed);
	}
}

static const struct kwhy_read_stat_work *work_of(const struct kwhy_read_stat *result, const char *unit)
{
	for (size_t i = 0; i < result->work_count; i++)
		if (strcmp(result->work[i].unit, unit) == 0)
			return &result->work[i];
	return NULL;
}

static void add_work(struct kwhy_stat_comparison *out, bool *failed)
{
	for (size_t i = 0; i < out->results[0]->work_count; i++) {
		const struct kwhy_read_stat_work *a = &out->results[0]->work[i];
		const struct kwhy_read_stat_work *b = work_of(out->results[1], a->unit);

		if (!b)
			continue;
		add_columns(out, &kwhy_stat_work_columns, a->unit, "", &a->figures, &b->figures, failed);
		for (size_t d = 0; d < a->domain_count; d++) {
			const struct kwhy_read_domain *other = kwhy_read_domain_of(
				b->domains, b->domain_count, a->domains[d].name);

			add_columns(out, &kwhy_stat_work_domain_columns, a->unit, a->domains[d].name,
				&a->domains[d].figures, other ? &other->figures : NULL, failed);
		}
	}
}

/*
 * Joules (out[0]) and seconds (out[1]) from the start of run number `run` until the metric first reached
 * `value`, by rising (`rises`) or falling to it; both NAN if it never did.
 */
static void reach(const struct kwhy_read_metric *metric, double run, double value, bool rises, double out[2])
{
	out[0] = out[1] = NAN;
	for (size_t i = 0; i < metric->point_count; i++) {
		const struct kwhy_read_point *point = &metric->points[i];

		if (point->run != run || !(rises ? point->value >= value : point->value <= value))
			continue;
		out[0] = point->joules;
		out[1] = point->time_s;
		return;
	}
}

/* Sets the means of joules and seconds over those runs of a side that reached the value. */
static void reach_of_side(const struct kwhy_stat_comparison *comparison, int side,
	const struct kwhy_read_metric *metric, struct kwhy_stat_reached *out, bool rises)
{
	double joules = 0, time_s = 0;

	for (size_t run = 0; run < comparison->results[side]->run_count; run++) {
		double at[2];

		reach(metric, (double)run, out->value, rises, at);
		if (isnan(at[1]))
			continue;
		out->runs[side]++;
		joules += at[0];
		time_s += at[1];
	}
	out->joules[side] = out->runs[side] ? joules / (double)out->runs[side] : NAN;
	out->time_s[side] = out->runs[side] ? time_s / (double)out->runs[side] : NAN;
}

struct range {
	double first, last, least, most;
};

static struct range range_of(const struct kwhy_read_metric *metric)
{
	struct range range = {NAN, NAN, NAN, NAN};

	for (size_t i = 0; i < metric->point_count; i++) {
		double value = metric->points[i].value;

		if (i == 0)
			range.first = value;
		range.last = value;
		range.least = fmin(range.least, value);
		range.most = fmax(range.most, value);
	}
	return range;
}

/*
 * Chooses KWHY_STAT_LEVELS values of a metric and compares the joules and seconds that it took to reach each
 * of them. The values are spaced evenly from the better one of the two sides' first values, which itself is
 * left out, to the best value that both sides reached. The better direction is that in which A's metric went
 * from its first to its last value.
 */
static void compare_curve(const struct kwhy_stat_comparison *comparison,
	const struct kwhy_read_metric *const metrics[2], struct kwhy_stat_curve_pair *out)
{
	struct range a = range_of(metrics[0]), b = range_of(metrics[1]);
	double from, to;

	out->rises = a.last > a.first;
	from = out->rises ? fmax(a.first, b.first) : fmin(a.first, b.first);
	to = out->rises ? fmin(a.most, b.most) : fmax(a.least, b.least);
	if (!isfinite(from) || !isfinite(to) || (out->rises ? to <= from : to >= from))
		return;
	for (size_t i = 0; i < KWHY_STAT_LEVELS; i++) {
		struct kwhy_stat_reached *level = &out->levels[out->level_count++];

		level->value = from + (to - from) * (double)(i + 1) / KWHY_STAT_LEVELS;
		if (i + 1 == KWHY_STAT_LEVELS)
			level->value = to;
		for (int side = 0; side < 2; side++)
			reach_of_side(comparison, side, metrics[side], level, out->rises);
	}
}

static void add_curves(struct kwhy_stat_comparison *out)
{
	const struct kwhy_read_stat *a = out->results[0], *b = out->results[1];

	for (size_t i = 0; i < a->metric_count; i++)
		for (size_t j = 0; j < b->metric_count; j++) {
			const struct kwhy_read_metric *const metrics[2] = {&a->metrics[i], &b->metrics[j]};
			struct kwhy_stat_curve_pair *curve = &out->curves[out->curve_count];

			if (strcmp(metrics[0]->name, metrics[1]->name) != 0)
				continue;
			curve->name = metrics[0]->name;
			compare_curve(out, metrics, curve);
			out->curve_count++;
			break;
		}
}

/*
 * Fills in the work of a side: counts, means over the runs, and joules per unit of the main domain over those
 * runs that stated an amount of this work.
 */
static void fill_work(struct kwhy_stat_comparison *out, struct kwhy_side *side,
	const struct kwhy_read_stat *result, bool *failed)
{
	side->work = kwhy_arena_alloc(&out->arena, result->work_count + 1, sizeof(*side->work));
	*failed |= !side->work;
	for (size_t i = 0; side->work && i < result->work_count; i++) {
		const struct kwhy_read_stat_work *work = &result->work[i];
		const struct kwhy_read_domain *domain = kwhy_read_domain_of(
			work->domains, work->domain_count, result->main_domain);
		double count = kwhy_read_figure_of(&work->figures, "count").mean;

		if (count > 0)
			side->work[side->work_count++] = (struct kwhy_side_work){work->unit, count,
				kwhy_read_figure_of(domain ? &domain->figures : NULL, "joules_per_unit")
					.mean};
	}
}

static void fill_side(struct kwhy_stat_comparison *out, struct kwhy_side *side,
	const struct kwhy_read_stat *result, bool *failed)
{
	const struct kwhy_read_domain *domain = kwhy_read_domain_of(
		result->domains, result->domain_count, result->main_domain);
	double joules = kwhy_read_figure_of(domain ? &domain->figures : NULL, "energy_j").mean;
	double seconds = kwhy_read_figure_of(&result->time, "elapsed_s").mean;

	side->label = result->label;
	side->device = "";
	side->energy_nj = isfinite(joules) && fabs(joules) < 9e9 ? (int64_t)(joules * 1e9) : KWHY_UNKNOWN_NJ;
	side->run_nj = side->idle_nj = side->loop_nj = KWHY_UNKNOWN_NJ;
	side->run_below_nj = side->run_above_nj = NAN;
	side->span_ns = isfinite(seconds) && seconds < 9e9 ? (int64_t)(seconds * 1e9) : 0;
	side->power_w = kwhy_read_figure_of(domain ? &domain->figures : NULL, "mean_w").mean;
	side->busy_ratio = NAN;
	fill_work(out, side, result, failed);
}

static enum kwhy_status reserve(struct kwhy_stat_comparison *out, struct kwhy_error *error)
{
	const struct kwhy_read_stat *a = out->results[0];
	size_t changes = kwhy_stat_time_columns.count + kwhy_stat_domain_columns.count * a->domain_count;

	for (size_t i = 0; i < a->work_count; i++)
		changes += kwhy_stat_work_columns.count +
			kwhy_stat_work_domain_columns.count * a->work[i].domain_count;
	out->changes = kwhy_arena_alloc(&out->arena, changes, sizeof(*out->changes));
	out->curves = kwhy_arena_alloc(&out->arena, a->metric_count + 1, sizeof(*out->curves));
	return out->changes && out->curves ? KWHY_OK : kwhy_fail_memory(error, "the comparison");
}

enum kwhy_status kwhy_compare_stat(struct kwhy_stat_comparison *out, const struct kwhy_read_stat *a,
	const struct kwhy_read_stat *b, struct kwhy_error *error)
{
	enum kwhy_status status;
	bool failed = false;

	*out = (struct kwhy_stat_comparison){.results = {a, b}};
	status = reserve(out, error);
	if (!status) {
		add_columns(out, &kwhy_stat_time_columns, "", "", &a->time, &b->time, &failed);
		add_domains(out, &failed);
		add_work(out, &failed);
		add_curves(out);
		fill_side(out, &out->sides[0], a, &failed);
		fill_side(out, &out->sides[1], b, &failed);
		status = failed ? kwhy_fail_memory(error, "the comparison")
				: kwhy_compare(&out->figures, &out->sides[0], &out->sides[1], error);
	}
	if (status)
		kwhy_compare_stat_done(out);
	return status;
}

void kwhy_compare_stat_done(struct kwhy_stat_comparison *comparison)
{
	kwhy_comparison_done(&comparison->figures);
	kwhy_arena_done(&comparison->arena);
	*comparison = (struct kwhy_stat_comparison){0};
}
