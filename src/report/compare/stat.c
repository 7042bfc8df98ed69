/* SPDX-License-Identifier: Apache-2.0 */
#include "report/compare/stat.h"

#include "import/own_result.h"
#include "import/results/values.h"
#include "model/ledger.h"
#include "report/stat/columns.h"

#include <math.h>
#include <string.h>

/* State of a comparison: both JSON documents and the result. */
struct pairing {
	struct kwhy_stat_comparison *out;
	json_t *roots[2];
	size_t change_space;
	bool no_memory;
};

static struct kwhy_estimate estimate_of(const json_t *figure)
{
	double count = kwhy_json_real_of(figure, "count");

	return (struct kwhy_estimate){
		.count = count > 0 ? (size_t)count : 0,
		.mean = kwhy_json_real_of(figure, "mean"),
		.low = kwhy_json_real_of(figure, "low"),
		.high = kwhy_json_real_of(figure, "high"),
		.deviation = kwhy_json_real_of(figure, "deviation"),
		.least = kwhy_json_real_of(figure, "least"),
		.most = kwhy_json_real_of(figure, "most"),
	};
}

static const char *keep(struct pairing *pairing, const char *text)
{
	const char *copy = kwhy_arena_copy(&pairing->out->arena, text);

	pairing->no_memory |= !copy;
	return copy ? copy : "";
}

static void add_change(struct pairing *pairing, const char *name, const char *domain, const char *unit,
	const json_t *const figures[2])
{
	struct kwhy_stat_comparison *out = pairing->out;
	struct kwhy_stat_change change = {.a = estimate_of(figures[0]), .b = estimate_of(figures[1])};

	if (out->change_count == pairing->change_space || !change.a.count || !change.b.count)
		return;
	change.name = keep(pairing, name);
	change.domain = keep(pairing, domain);
	change.unit = keep(pairing, unit);
	kwhy_difference_of(&change.a, &change.b, &change.difference);
	out->changes[out->change_count++] = change;
}

/*
 * Adds the columns that are compared. For columns of some work, `work` is its unit, with which their names
 * begin.
 */
static void add_columns(struct pairing *pairing, const struct kwhy_columns *columns, const char *work,
	const char *domain, const json_t *const objects[2])
{
	for (size_t i = 0; i < columns->count; i++) {
		const struct kwhy_column *column = &columns->items[i];
		char name[96];

		if (!column->change)
			continue;
		snprintf(name, sizeof(name), "%.80s%s", work, column->change);
		add_change(pairing, name, domain, kwhy_column_unit_symbol(column->unit),
			(const json_t *const[2]){json_object_get(objects[0], column->key),
				json_object_get(objects[1], column->key)});
	}
}

static void add_domains(struct pairing *pairing)
{
	const json_t *others = json_object_get(pairing->roots[1], "domains");
	size_t i;
	json_t *domain;

	json_array_foreach(json_object_get(pairing->roots[0], "domains"), i, domain)
	{
		const char *name = kwhy_json_text_of(domain, "name");
		const json_t *const both[2] = {domain, kwhy_json_named(others, "name", name)};

		add_columns(pairing, &kwhy_stat_domain_columns, "", name, both);
	}
}

static void add_work(struct pairing *pairing)
{
	const json_t *others = json_object_get(pairing->roots[1], "work");
	size_t i, d;
	json_t *work, *domain;

	json_array_foreach(json_object_get(pairing->roots[0], "work"), i, work)
	{
		const char *unit = kwhy_json_text_of(work, "unit");
		const json_t *const both[2] = {work, kwhy_json_named(others, "unit", unit)};
		const json_t *domains = json_object_get(both[1], "domains");

		add_columns(pairing, &kwhy_stat_work_columns, unit, "", both);
		json_array_foreach(json_object_get(work, "domains"), d, domain)
		{
			const char *name = kwhy_json_text_of(domain, "name");
			const json_t *const of[2] = {domain, kwhy_json_named(domains, "name", name)};

			add_columns(pairing, &kwhy_stat_work_domain_columns, unit, name, of);
		}
	}
}

/*
 * Joules (out[0]) and seconds (out[1]) of one run until its metric reached the value; both NAN if it never
 * did.
 */
static void reach(const json_t *points, double run, double value, bool rises, double out[2])
{
	size_t i;
	json_t *point;

	out[0] = out[1] = NAN;
	json_array_foreach((json_t *)points, i, point)
	{
		double seen = kwhy_json_real_of(point, "value");

		if (kwhy_json_real_of(point, "run") != run || !(rises ? seen >= value : seen <= value))
			continue;
		out[0] = kwhy_json_real_of(point, "joules");
		out[1] = kwhy_json_real_of(point, "time_s");
		return;
	}
}

/* Sets the means of joules and seconds over those runs of a side that reached the value. */
static void reach_of_side(
	struct pairing *pairing, int side, const json_t *points, struct kwhy_stat_reached *out, bool rises)
{
	double joules = 0, time_s = 0;

	for (size_t run = 0; run < pairing->out->runs[side]; run++) {
		double at[2];

		reach(points, (double)run, out->value, rises, at);
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

static struct range range_of(const json_t *points)
{
	struct range range = {NAN, NAN, NAN, NAN};
	size_t i;
	json_t *point;

	json_array_foreach((json_t *)points, i, point)
	{
		double value = kwhy_json_real_of(point, "value");

		if (i == 0)
			range.first = value;
		range.last = value;
		range.least = fmin(range.least, value);
		range.most = fmax(range.most, value);
	}
	return range;
}

/*
 * Chooses values of a metric, from one that both sides started before to the best one that both reached, and
 * compares what it took to reach each of them.
 */
static void compare_curve(
	struct pairing *pairing, const json_t *const points[2], struct kwhy_stat_curve_pair *out)
{
	struct range a = range_of(points[0]), b = range_of(points[1]);
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
			reach_of_side(pairing, side, points[side], level, out->rises);
	}
}

static void add_curves(struct pairing *pairing)
{
	const json_t *others = json_object_get(pairing->roots[1], "metrics");
	size_t i;
	json_t *metric;

	json_array_foreach(json_object_get(pairing->roots[0], "metrics"), i, metric)
	{
		const char *name = kwhy_json_text_of(metric, "name");
		const json_t *other = kwhy_json_named(others, "name", name);
		const json_t *const points[2] = {
			json_object_get(metric, "points"), json_object_get(other, "points")};
		struct kwhy_stat_curve_pair *curve = &pairing->out->curves[pairing->out->curve_count];

		if (!other)
			continue;
		curve->name = keep(pairing, name);
		compare_curve(pairing, points, curve);
		pairing->out->curve_count++;
	}
}

/*
 * Fills in the work of a side. Counts are means over the runs; joules a unit are those of the runs that
 * stated the work.
 */
static void fill_work(
	struct pairing *pairing, struct kwhy_side *side, const json_t *rows, const json_t *domain)
{
	size_t i;
	json_t *row;

	side->work = kwhy_arena_alloc(&pairing->out->arena, json_array_size(rows) + 1, sizeof(*side->work));
	pairing->no_memory |= !side->work;
	if (!side->work)
		return;
	json_array_foreach((json_t *)rows, i, row)
	{
		double count = kwhy_json_real_of(json_object_get(row, "count"), "mean");
		double each_j = kwhy_json_real_of(kwhy_json_joules_per_unit(row, domain), "mean");

		if (count > 0)
			side->work[side->work_count++] = (struct kwhy_side_work){
				keep(pairing, kwhy_json_text_of(row, "unit")), count, each_j};
	}
}

static void fill_side(struct pairing *pairing, int index)
{
	struct kwhy_side *side = &pairing->out->sides[index];
	const json_t *root = pairing->roots[index],
		     *domain = kwhy_json_main_domain(json_object_get(root, "domains"));
	double joules = kwhy_json_real_of(json_object_get(domain, "energy_j"), "mean");
	double seconds = kwhy_json_real_of(
		json_object_get(json_object_get(root, "time"), "elapsed_s"), "mean");

	side->label = pairing->out->labels[index];
	side->device = "";
	side->energy_nj = isfinite(joules) && fabs(joules) < 9e9 ? (int64_t)(joules * 1e9) : KWHY_UNKNOWN_NJ;
	side->run_nj = KWHY_UNKNOWN_NJ;
	side->run_below_nj = side->run_above_nj = NAN;
	side->span_ns = isfinite(seconds) && seconds < 9e9 ? (int64_t)(seconds * 1e9) : 0;
	side->idle_nj = KWHY_UNKNOWN_NJ;
	side->power_w = kwhy_json_real_of(json_object_get(domain, "mean_w"), "mean");
	side->busy_ratio = NAN;
	fill_work(pairing, side, json_object_get(root, "work"), domain);
}

static enum kwhy_status check_schema(const char *label, const char *schema, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (strcmp(schema, "kwhy.stat/1") == 0)
		return KWHY_OK;
	status = kwhy_own_result_refuse(label, schema, "a result of kwhy stat like the first", error);
	return status
		? status
		: kwhy_fail(error, KWHY_E_INPUT,
			  "%.300s: '%.40s' is no result of kwhy stat that this version knows (kwhy.stat/1)",
			  label, schema);
}

static enum kwhy_status parse(struct pairing *pairing, int side, const char *label,
	const struct kwhy_text *json, struct kwhy_error *error)
{
	json_error_t where;
	json_t *root = json_loadb(json->data, json->length, 0, &where);
	enum kwhy_status status;

	if (!root)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%.300s line %d: %s; write it again with kwhy stat --json", label, where.line,
			where.text);
	pairing->roots[side] = root;
	status = check_schema(label, kwhy_json_text_of(root, "schema"), error);
	if (status)
		return status;
	pairing->out->labels[side] = keep(pairing, label);
	pairing->out->runs[side] = json_array_size(json_object_get(root, "runs"));
	pairing->out->commands[side] = keep(pairing, kwhy_json_text_of(root, "command"));
	fill_side(pairing, side);
	return KWHY_OK;
}

static void pair_up(struct pairing *pairing)
{
	const json_t *const times[2] = {
		json_object_get(pairing->roots[0], "time"), json_object_get(pairing->roots[1], "time")};

	add_columns(pairing, &kwhy_stat_time_columns, "", "", times);
	add_domains(pairing);
	add_work(pairing);
	add_curves(pairing);
}

static enum kwhy_status reserve(struct pairing *pairing, struct kwhy_error *error)
{
	struct kwhy_stat_comparison *out = pairing->out;
	size_t domains = json_array_size(json_object_get(pairing->roots[0], "domains"));
	size_t work = json_array_size(json_object_get(pairing->roots[0], "work"));
	size_t metrics = json_array_size(json_object_get(pairing->roots[0], "metrics"));

	pairing->change_space = kwhy_stat_time_columns.count + kwhy_stat_domain_columns.count * domains +
		work * (kwhy_stat_work_columns.count + kwhy_stat_work_domain_columns.count * domains);
	out->changes = kwhy_arena_alloc(&out->arena, pairing->change_space, sizeof(*out->changes));
	out->curves = kwhy_arena_alloc(&out->arena, metrics + 1, sizeof(*out->curves));
	if (!out->changes || !out->curves)
		return kwhy_fail_memory(error, "the comparison");
	return KWHY_OK;
}

enum kwhy_status kwhy_compare_stat(struct kwhy_stat_comparison *out, const char *const labels[2],
	const struct kwhy_text *const json[2], struct kwhy_error *error)
{
	struct pairing pairing = {.out = out};
	enum kwhy_status status = KWHY_OK;

	*out = (struct kwhy_stat_comparison){0};
	for (int side = 0; !status && side < 2; side++)
		status = parse(&pairing, side, labels[side], json[side], error);
	if (!status)
		status = reserve(&pairing, error);
	if (!status)
		pair_up(&pairing);
	if (!status && pairing.no_memory)
		status = kwhy_fail_memory(error, "the comparison");
	json_decref(pairing.roots[0]);
	json_decref(pairing.roots[1]);
	out->figures.a = &out->sides[0];
	out->figures.b = &out->sides[1];
	if (status)
		kwhy_compare_stat_done(out);
	return status;
}

void kwhy_compare_stat_done(struct kwhy_stat_comparison *comparison)
{
	kwhy_arena_done(&comparison->arena);
	*comparison = (struct kwhy_stat_comparison){0};
}

bool kwhy_stat_is_significant(const struct kwhy_stat_change *change)
{
	return change->difference.low > 0 || change->difference.high < 0;
}
