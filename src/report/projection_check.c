/* SPDX-License-Identifier: Apache-2.0 */
#include "report/projection_check.h"

#include "base/quantity.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * A note is written if the distance from B's energy above idle to the upper end of its 90 % interval is more
 * than this share of that energy.
 */
#define NET_UNSURE_RATIO 0.1

/* A note is written if host_ratio differs from 1 by at least this much. */
#define HOST_OTHER_RATIO 0.1

static double error_of(int64_t projected, int64_t measured)
{
	if (projected == KWHY_UNKNOWN_NJ || measured == KWHY_UNKNOWN_NJ || measured <= 0)
		return NAN;
	return ((double)projected - (double)measured) / (double)measured;
}

/*
 * Time in ns from the first start to the last end of work on any device; if both are unknown, the longest
 * span of a device. Projections refer to this time.
 */
static int64_t run_ns(const struct kwhy_side *side)
{
	return side->last_ns > side->first_ns ? side->last_ns - side->first_ns : side->span_ns;
}

struct kwhy_projection_errors kwhy_projection_errors_of(
	const struct kwhy_projection_check *check, const struct kwhy_side *a, const struct kwhy_side *b)
{
	return (struct kwhy_projection_errors){error_of(check->after.time_ns, run_ns(b)),
		error_of(check->after.energy_nj, b->seen_run_nj), error_of(check->after.net_nj, b->net_nj),
		b->launch_ns / a->launch_ns, b->launch_ns / a->launch_ns * check->host_speed,
		fabs(error_of(check->before.time_ns, run_ns(a))) <= 0.01};
}

/* Adds the cells after the name: the projected interval, the measured value and the relative error. */
static void add_rest(
	struct kwhy_table *table, const char *low, const char *high, const char *measured, double error_ratio)
{
	char cell[2 * KWHY_QUANTITY_BYTES + 8];

	snprintf(cell, sizeof(cell), "%s to %s", low, high);
	kwhy_table_cell(table, cell);
	kwhy_table_cell(table, measured);
	snprintf(cell, sizeof(cell), "%+.1f %%", error_ratio * 100);
	kwhy_table_cell(table, isfinite(error_ratio) ? cell : NULL);
}

static void add_rows(struct kwhy_table *table, const struct kwhy_comparison *comparison)
{
	const struct kwhy_projection *after = &comparison->check->after;
	struct kwhy_projection_errors errors = kwhy_projection_errors_of(
		comparison->check, comparison->a, comparison->b);
	char low[KWHY_QUANTITY_BYTES], high[KWHY_QUANTITY_BYTES], measured[KWHY_QUANTITY_BYTES];

	kwhy_table_cell(table, "time");
	kwhy_table_time(table, after->time_ns);
	add_rest(table, kwhy_quantity_time(low, after->time_low_ns),
		kwhy_quantity_time(high, after->time_high_ns),
		kwhy_quantity_time(measured, run_ns(comparison->b)), errors.time_ratio);
	if (!isfinite(errors.energy_ratio))
		return;
	kwhy_table_cell(table, "energy");
	kwhy_table_energy(table, after->energy_nj);
	add_rest(table, kwhy_quantity_energy(low, after->energy_low_nj),
		kwhy_quantity_energy(high, after->energy_high_nj),
		kwhy_quantity_energy(measured, comparison->b->seen_run_nj), errors.energy_ratio);
	if (after->net_nj == KWHY_UNKNOWN_NJ || comparison->b->net_nj == KWHY_UNKNOWN_NJ)
		return;
	kwhy_table_cell(table, "above idle");
	kwhy_table_energy(table, after->net_nj);
	add_rest(table, kwhy_quantity_energy(low, after->net_low_nj),
		kwhy_quantity_energy(high, after->net_high_nj),
		kwhy_quantity_energy(measured, comparison->b->net_nj), errors.net_ratio);
}

static void add_saved(struct kwhy_table *table, const char *name, int64_t time_ns, int64_t energy_nj)
{
	kwhy_table_cell(table, name);
	kwhy_table_time(table, time_ns);
	kwhy_table_energy(table, energy_nj);
}

static int64_t less(int64_t before, int64_t after)
{
	return before == KWHY_UNKNOWN_NJ || after == KWHY_UNKNOWN_NJ ? KWHY_UNKNOWN_NJ : before - after;
}

/*
 * Adds a row for each projected change with what it saves beyond the changes above it, then the sum, then the
 * measured saving of B against A. A single change has no measured value, because two runs show only the
 * effect of all changes together.
 */
static void add_changes(const struct kwhy_comparison *comparison, const struct kwhy_text_context *context)
{
	static const struct kwhy_table_column columns[] = {
		{"saves", KWHY_COLUMN_LEFT}, {"time", KWHY_COLUMN_RIGHT}, {"energy", KWHY_COLUMN_RIGHT}};
	const struct kwhy_projection_check *check = comparison->check;
	const struct kwhy_side *a = comparison->a, *b = comparison->b;
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < check->count; i++)
		add_saved(&table, check->list[i].name, check->list[i].saved_ns, check->list[i].saved_nj);
	if (check->count > 1)
		add_saved(&table, "together", less(check->before.time_ns, check->after.time_ns),
			less(check->before.energy_nj, check->after.energy_nj));
	add_saved(&table, "measured", run_ns(a) - run_ns(b), less(a->seen_run_nj, b->seen_run_nj));
	kwhy_table_write(&table, context->style, context->out);
}

/*
 * Says why the interval of B's energy above idle is unknown: either B's idle level is unknown, or the
 * interval of the energy of B's run is.
 */
static const char *unsure_words(const struct kwhy_side *b)
{
	if (isfinite(b->run_above_nj))
		return "B idled too little to show its idle level: how sure what it measured above idle is, "
		       "is not known.";
	return b->modelled ? "B's powers are assumed: how sure what it drew above idle is, is not known."
			   : "How sure the energy of B's run is, is not known, nor how sure what lies above "
			     "idle.";
}

/* Notes the interval of B's energy above idle if it is wide (NET_UNSURE_RATIO), or that it is unknown. */
static void add_net_words(const struct kwhy_side *b, const struct kwhy_text_context *context)
{
	char low[KWHY_QUANTITY_BYTES], high[KWHY_QUANTITY_BYTES];

	if (b->net_nj == KWHY_UNKNOWN_NJ)
		return;
	if (b->net_low_nj == KWHY_UNKNOWN_NJ) {
		kwhy_text_context_paragraph(context, "  ", unsure_words(b));
		return;
	}
	if ((double)(b->net_high_nj - b->net_nj) <= NET_UNSURE_RATIO * fabs((double)b->net_nj))
		return;
	kwhy_text_context_linef(context, "  ",
		"What B measured above idle is %s to %s, as its idle level is known.",
		kwhy_quantity_energy(low, b->net_low_nj), kwhy_quantity_energy(high, b->net_high_nj));
}

/*
 * Notes that launches in B took more or less time than projected, because the host of B is slower or faster
 * than the projection assumed. The errors of the projection then contain the effect of this difference.
 */
static void add_host_words(const struct kwhy_comparison *comparison, const struct kwhy_text_context *context)
{
	struct kwhy_projection_errors errors = kwhy_projection_errors_of(
		comparison->check, comparison->a, comparison->b);
	char words[240];

	if (!(fabs(errors.host_ratio - 1) >= HOST_OTHER_RATIO))
		return;
	snprintf(words, sizeof(words),
		"A launch took %.2f times as long in B as in A: a host of another speed is in these "
		"errors. With --host-speed %.0f kwhy whatif supposes one as fast as B's.",
		errors.launch_ratio, 100 / errors.launch_ratio);
	kwhy_text_context_paragraph(context, "  ", words);
}

void kwhy_projection_check_text(
	const struct kwhy_comparison *comparison, const struct kwhy_text_context *context)
{
	static const struct kwhy_table_column columns[] = {
		{"", KWHY_COLUMN_LEFT},
		{"projected", KWHY_COLUMN_RIGHT},
		{"low to high", KWHY_COLUMN_RIGHT},
		{"B measured", KWHY_COLUMN_RIGHT},
		{"error", KWHY_COLUMN_RIGHT},
	};
	const struct kwhy_projection_check *check = comparison->check;
	struct kwhy_table table;

	if (!check)
		return;
	kwhy_text_context_heading(context, "Projection", NULL);
	kwhy_text_context_linef(context, "  ", "%s: %s", check->label, check->changes);
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	add_rows(&table, comparison);
	kwhy_table_write(&table, context->style, context->out);
	kwhy_text_add(context->out, "\n");
	add_changes(comparison, context);
	add_net_words(comparison->b, context);
	add_host_words(comparison, context);
	if (!kwhy_projection_errors_of(check, comparison->a, comparison->b).is_of_a)
		kwhy_text_context_paragraph(context, "  ",
			"It was made from another run than A: its time before the changes is not A's.");
}

void kwhy_projection_check_json(const struct kwhy_comparison *comparison, struct kwhy_json *json)
{
	const struct kwhy_projection_check *check = comparison->check;
	struct kwhy_projection_errors errors;

	if (!check) {
		kwhy_json_null(json, "projection");
		return;
	}
	errors = kwhy_projection_errors_of(check, comparison->a, comparison->b);
	kwhy_json_row(json, "projection");
	kwhy_json_string(json, "path", check->label);
	kwhy_json_string(json, "changes", check->changes);
	kwhy_json_array(json, "by_change");
	for (size_t i = 0; i < check->count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "change", check->list[i].name);
		kwhy_json_known(json, "saved_ns", check->list[i].saved_ns);
		kwhy_json_known(json, "saved_nj", check->list[i].saved_nj);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	kwhy_json_known(json, "time_ns", check->after.time_ns);
	kwhy_json_known(json, "time_low_ns", check->after.time_low_ns);
	kwhy_json_known(json, "time_high_ns", check->after.time_high_ns);
	kwhy_json_known(json, "energy_nj", check->after.energy_nj);
	kwhy_json_known(json, "low_nj", check->after.energy_low_nj);
	kwhy_json_known(json, "high_nj", check->after.energy_high_nj);
	kwhy_json_real(json, "time_error_ratio", errors.time_ratio);
	kwhy_json_real(json, "energy_error_ratio", errors.energy_ratio);
	kwhy_json_known(json, "net_nj", check->after.net_nj);
	kwhy_json_known(json, "net_low_nj", check->after.net_low_nj);
	kwhy_json_known(json, "net_high_nj", check->after.net_high_nj);
	kwhy_json_known(json, "measured_net_nj", comparison->b->net_nj);
	kwhy_json_known(json, "measured_net_low_nj", comparison->b->net_low_nj);
	kwhy_json_known(json, "measured_net_high_nj", comparison->b->net_high_nj);
	kwhy_json_real(json, "net_error_ratio", errors.net_ratio);
	kwhy_json_real(json, "launch_ratio", errors.launch_ratio);
	kwhy_json_bool(json, "is_of_a", errors.is_of_a);
	kwhy_json_object_end(json);
}
