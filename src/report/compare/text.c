/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/compare/parts.h"
#include "report/projection_check.h"
#include "report/shown_name.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Largest relative difference between the counts of A and B that gets no note, because steps that are cut off
 * at the ends of a recording can cause it.
 */
#define COUNT_RATIO 0.01
/* Least share of the time of all accounts that an account must have for a note about it. */
#define TIME_RATIO 0.01
/*
 * COUNT_LINES: number of accounts that are listed because their counts differ. BESIDE_NAME_COLUMNS: columns
 * of a line of that list that are kept free for what is not the account's name.
 */
enum { COUNT_LINES = 3, BESIDE_NAME_COLUMNS = 30 };

static void write_side(
	const struct kwhy_text_context *context, const char *lead, const struct kwhy_side *side, size_t runs)
{
	char count[48] = "";

	if (runs > 1)
		snprintf(count, sizeof(count), ", %zu runs", runs);
	kwhy_text_context_linef(context, lead, "%s%s%s%s%s", side->label, count, *side->device ? ", " : "",
		side->device,
		side->energy_nj == KWHY_UNKNOWN_NJ ? ", time only"
			: side->modelled	   ? ", modelled powers"
						   : "");
}

/* Adds a row of the summary, unless it is unknown on both sides. */
static void add_row(struct kwhy_table *table, const struct kwhy_comparison *comparison, const char *name,
	const struct kwhy_change *change, const char *unit)
{
	const double a = change->a.mean, b = change->b.mean;
	char text[KWHY_QUANTITY_BYTES];

	if (!isfinite(a) && !isfinite(b))
		return;
	kwhy_table_cell(table, name);
	for (size_t side = 0; side < 2; side++)
		kwhy_table_cell(table, kwhy_compare_value(text, side ? b : a, unit, 3));
	if (!kwhy_comparison_is_repeated(comparison)) {
		kwhy_compare_add_change(table, b - a, unit);
		if (*unit)
			kwhy_compare_add_ratio(table, a, b);
		else
			kwhy_table_cell(table, "");
		return;
	}
	/* The change of a ratio from 50 % to 60 % is shown as 10 percentage points and not as 20 %. */
	if (*unit)
		kwhy_compare_add_ratio(table, a, b);
	else
		kwhy_compare_add_change(table, b - a, unit);
	kwhy_compare_add_interval(table, &change->difference, !*unit);
}

/*
 * Words that follow a throughput in steps: " over the run" if the number of steps was stated as work, which
 * is divided by the time of the run. A number of steps that ranges in the trace show is divided by the time
 * of the steps' loop and gets no words.
 */
static const char *over_run(const struct kwhy_rate *rate)
{
	return rate->kind == KWHY_RATE_WORK && strcmp(rate->name, "steps") == 0 ? " over the run" : "";
}

/*
 * Adds the throughput that the comparison chose (comparison->rate), then that of all other work that both
 * sides state.
 */
static void add_throughput(struct kwhy_table *table, const struct kwhy_comparison *comparison)
{
	struct kwhy_change change = kwhy_change_of_figure(comparison, KWHY_FIGURE_THROUGHPUT);
	const char *counted = comparison->rate.kind == KWHY_RATE_LAUNCHES ? "launches"
									  : comparison->rate.name;
	char name[80];

	snprintf(name, sizeof(name), "throughput, %.40s%s", counted ? counted : "",
		over_run(&comparison->rate));
	add_row(table, comparison, name, &change, "/s");
	for (size_t i = 0; i < comparison->a->work_count; i++) {
		const struct kwhy_rate rate = {KWHY_RATE_WORK, comparison->a->work[i].unit, NULL};

		if (comparison->rate.kind == KWHY_RATE_WORK && counted && strcmp(rate.name, counted) == 0)
			continue;
		change = kwhy_change_of_rate(comparison, &rate);
		snprintf(name, sizeof(name), "throughput, %.40s%s", rate.name, over_run(&rate));
		if (kwhy_side_work_of(comparison->b, rate.name))
			add_row(table, comparison, name, &change, "/s");
	}
}

static void add_work(struct kwhy_table *table, const struct kwhy_comparison *comparison)
{
	for (size_t i = 0; i < comparison->a->work_count; i++) {
		const char *unit = comparison->a->work[i].unit;
		const struct kwhy_change change = kwhy_change_of_each(comparison, unit);
		char name[64];

		snprintf(name, sizeof(name), "energy each, %.40s", unit);
		if (kwhy_side_work_of(comparison->b, unit))
			add_row(table, comparison, name, &change, "J");
	}
}

/*
 * Whether energy of a side was metered before its first work, after its last, or on a device without work.
 */
static bool has_outside(const struct kwhy_side *side)
{
	for (size_t i = 0; i < side->account_count; i++)
		if (strcmp(side->accounts[i].category, kwhy_category_name(KWHY_CATEGORY_OUTSIDE)) == 0 &&
			side->accounts[i].gross_nj > 0)
			return true;
	return false;
}

/*
 * Name of the attributed energy in the table; it says whether the joules come from a meter or from assumed
 * powers. In reports "metered" means metered in the run, so metered energy has another name if some of it
 * lies outside of the runs.
 */
static const char *energy_name(const struct kwhy_comparison *comparison)
{
	static const char *const names[2][2] = {
		{"energy, metered", "energy, B modelled"}, {"energy, A modelled", "energy, modelled"}};

	if (!comparison->a->modelled && !comparison->b->modelled &&
		(has_outside(comparison->a) || has_outside(comparison->b)))
		return "metered in and around the run";
	return names[comparison->a->modelled][comparison->b->modelled];
}

static const struct kwhy_table_column single_columns[] = {{"", KWHY_COLUMN_LEFT}, {"A", KWHY_COLUMN_RIGHT},
	{"B", KWHY_COLUMN_RIGHT}, {"change", KWHY_COLUMN_RIGHT}, {"", KWHY_COLUMN_RIGHT}};
static const struct kwhy_table_column repeated_columns[] = {{"", KWHY_COLUMN_LEFT}, {"A", KWHY_COLUMN_RIGHT},
	{"B", KWHY_COLUMN_RIGHT}, {"change", KWHY_COLUMN_RIGHT}, {"95 %", KWHY_COLUMN_RIGHT},
	{"significant", KWHY_COLUMN_LEFT}};

static void write_figures(const struct kwhy_comparison *comparison, const struct kwhy_text_context *context)
{
	static const struct {
		enum kwhy_figure figure;
		const char *name;
	} rows[] = {
		{KWHY_FIGURE_STEP, "time of a step"},
		{KWHY_FIGURE_STEP_ENERGY, "energy of a step"},
		{KWHY_FIGURE_TIME, "time, longest span"},
		{KWHY_FIGURE_ENERGY, NULL},
		{KWHY_FIGURE_IDLE, "of that, the run idling"},
		{KWHY_FIGURE_RUN, "energy of the run"},
		{KWHY_FIGURE_POWER, "average power"},
		{KWHY_FIGURE_BUSY_RATIO, "device busy"},
		{KWHY_FIGURE_IDLE_RATIO, "device idle"},
	};
	const bool repeated = kwhy_comparison_is_repeated(comparison);
	struct kwhy_table table;

	kwhy_table_init(&table, repeated ? repeated_columns : single_columns, repeated ? 6 : 5);
	add_throughput(&table, comparison);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct kwhy_change change = kwhy_change_of_figure(comparison, rows[i].figure);

		add_row(&table, comparison, rows[i].name ? rows[i].name : energy_name(comparison), &change,
			kwhy_figure_unit(rows[i].figure));
	}
	add_work(&table, comparison);
	if (table.cell_count)
		kwhy_text_context_heading(
			context, "Summary", repeated ? "means over the runs of each side" : NULL);
	kwhy_table_write(&table, context->style, context->out);
	if (repeated)
		kwhy_text_context_paragraph(context, "  ",
			"The interval is that of the change, in percent of A (of busy and idle: in "
			"percentage points), by Welch's t over the runs; of a single run compared with "
			"several, by their scatter. \"no\": the runs cannot be distinguished in this "
			"figure.");
}

/* Whether every run of a side recorded work of a device. */
static bool has_work(const struct kwhy_side_runs *runs)
{
	bool all = true;

	for (size_t i = 0; i < runs->count; i++)
		all &= kwhy_side_has_work(&runs->items[i]);
	return all;
}

/* Writes a prominent line if the recording of a run ends early or has no activity of a device. */
static void write_missing(const struct kwhy_text_context *context, const char *letter,
	const struct kwhy_side *side, const struct kwhy_side_runs *runs)
{
	const char *of = runs->count > 1 ? "a run of " : "";

	if (side->truncated)
		kwhy_text_context_linef(context, "!  ",
			"%s%s ends early: its times, counts and energies are of the part that could be read.",
			of, letter);
	if (!has_work(runs))
		kwhy_text_context_linef(context, "!  ",
			"%s%s recorded no activity of a device: there is nothing to compare.", of, letter);
}

/*
 * Whether an account of kernels, copies or memsets has counts on the two sides that differ by more than 1 %
 * (COUNT_RATIO), and at least 1 % (TIME_RATIO) of the time of all accounts.
 */
static bool counts_differ(const struct kwhy_account_pair *pair, double all_s)
{
	double a = pair->counts[0], b = pair->counts[1];

	if (!kwhy_pair_is_kernel(pair) && strcmp(pair->category, "copy") != 0 &&
		strcmp(pair->category, "memset") != 0)
		return false;
	return fabs(b - a) > COUNT_RATIO * fmax(a, b) &&
		pair->time.a.mean + pair->time.b.mean >= TIME_RATIO * all_s;
}

static void add_shown_name(
	struct kwhy_text *out, const struct kwhy_text_style *style, const struct kwhy_account_pair *pair)
{
	struct kwhy_arena arena = {0};
	const char *name = kwhy_pair_is_kernel(pair) ? kwhy_shown_kernel(&arena, pair->name) : pair->name;

	name = name ? kwhy_shown_cut(&arena, name, style->columns - BESIDE_NAME_COLUMNS) : NULL;
	out->failed |= !name;
	kwhy_text_add(out, name ? name : "");
	kwhy_arena_done(&arena);
}

static void add_number(struct kwhy_text *out, double count)
{
	char text[KWHY_QUANTITY_BYTES];

	kwhy_text_add(out, count == 0 ? "none" : kwhy_compare_count(text, count));
}

/* Writes a sentence such as "A ran 68 of flash_fwd_kernel, B 60 (-11.8 %)." */
static void write_count(const struct kwhy_account_pair *pair, const struct kwhy_comparison *comparison,
	const struct kwhy_text_context *context)
{
	double a = pair->counts[0], b = pair->counts[1];
	struct kwhy_text line = {0};
	char unit[80];

	if (comparison->unit != KWHY_FOR_RUN)
		kwhy_text_addf(&line, "For %s ", kwhy_compare_unit_words(unit, comparison));
	kwhy_text_add(&line, "A ran ");
	add_number(&line, a);
	kwhy_text_add(&line, " of ");
	add_shown_name(&line, context->style, pair);
	kwhy_text_add(&line, ", B ");
	add_number(&line, b);
	if (a > 0 && b > 0)
		kwhy_text_addf(&line, " (%+.1f %%)", (b / a - 1) * 100);
	context->out->failed |= line.failed;
	kwhy_text_context_paragraph(context, "!  ", line.failed ? "" : line.data);
	kwhy_text_done(&line);
}

/* The kernel whose launches the throughput counts; NULL: it counts something else, or nothing. */
static const struct kwhy_account_pair *rate_pair(const struct kwhy_comparison *comparison)
{
	for (size_t i = 0; comparison->rate.kind == KWHY_RATE_LAUNCHES && i < comparison->pair_count; i++)
		if (comparison->pairs[i].name == comparison->rate.name &&
			comparison->pairs[i].category == comparison->rate.category)
			return &comparison->pairs[i];
	return NULL;
}

/*
 * Says by how many percent B did more or less work than A, judged by the launches of the kernel that
 * throughput counts.
 */
static void write_work_done(const struct kwhy_comparison *comparison, const struct kwhy_text_context *context)
{
	const struct kwhy_account_pair *pair = rate_pair(comparison);
	double ratio;

	if (!pair)
		return;
	ratio = pair->counts[1] / pair->counts[0];
	if (fabs(ratio - 1) > COUNT_RATIO)
		kwhy_text_context_linef(context, "!  ",
			"B did %.1f %% %s work than A, judged by how often its kernels ran: compare "
			"throughput and the time of each kernel, not times in all.",
			fabs(ratio - 1) * 100, ratio < 1 ? "less" : "more");
}

/*
 * Writes prominent lines if the sides have different numbers of steps or units of work, if B did more or less
 * work than A, and for accounts whose counts differ.
 */
static void write_counts(const struct kwhy_comparison *comparison, const struct kwhy_text_context *context)
{
	double all_s = 0;
	size_t count = 0;

	for (size_t i = 0; i < comparison->pair_count; i++)
		all_s += comparison->pairs[i].time.a.mean + comparison->pairs[i].time.b.mean;
	if (comparison->unit != KWHY_FOR_RUN && comparison->unit_counts[0] != comparison->unit_counts[1])
		kwhy_text_context_linef(context, "!  ", "A has %.10g %s%s, B %.10g: accounts are for %s",
			comparison->unit_counts[0], comparison->unit_name,
			comparison->unit == KWHY_FOR_STEP ? "s" : "", comparison->unit_counts[1],
			kwhy_compare_unit_words((char[80]){0}, comparison));
	write_work_done(comparison, context);
	for (size_t i = 0; i < comparison->pair_count; i++)
		if (counts_differ(&comparison->pairs[i], all_s) && count++ < COUNT_LINES)
			write_count(&comparison->pairs[i], comparison, context);
	if (count > COUNT_LINES)
		kwhy_text_context_linef(
			context, "!  ", "and %zu more accounts whose counts differ", count - COUNT_LINES);
}

/*
 * If whole runs are compared, says why accounts are not compared per step or unit of work, and which kernel's
 * launches the throughput counts.
 */
static void write_rate_words(
	const struct kwhy_comparison *comparison, const struct kwhy_text_context *context)
{
	struct kwhy_text line = {0};
	bool has_kernels = false;

	for (size_t i = 0; i < comparison->pair_count; i++)
		has_kernels |= kwhy_pair_is_kernel(&comparison->pairs[i]);
	if (comparison->unit != KWHY_FOR_RUN || !has_kernels)
		return;
	kwhy_text_addf(&line, "%s. ",
		comparison->a->step_count && comparison->b->step_count ? "Not every run has steps"
			: comparison->a->step_count || comparison->b->step_count
			? "Only one side has steps"
			: "The sides state neither steps nor the same work");
	if (comparison->rate.kind == KWHY_RATE_LAUNCHES) {
		kwhy_text_add(&line, "Throughput is by launches of ");
		add_shown_name(&line, context->style, rate_pair(comparison));
		kwhy_text_add(&line, ". ");
	} else if (comparison->rate.kind == KWHY_RATE_UNKNOWN) {
		kwhy_text_add(
			&line, "Throughput is unknown, as launches of kernels do not agree on the work. ");
	}
	kwhy_text_add(&line, "--steps and --work state them.");
	context->out->failed |= line.failed;
	kwhy_text_context_paragraph(context, "  ", line.failed ? "" : line.data);
	kwhy_text_done(&line);
}

/* Writes those findings of one side whose kind the other side does not have. */
static void write_findings(const struct kwhy_text_context *context, const char *title,
	const struct kwhy_side *of, const struct kwhy_side *other)
{
	bool any = false;

	for (size_t i = 0; i < of->finding_count; i++) {
		if (kwhy_side_has_finding(other, of->findings[i].id))
			continue;
		if (!any)
			kwhy_text_context_heading(context, title, NULL);
		any = true;
		kwhy_text_context_linef(
			context, "  - ", "%s [%s]", of->findings[i].title, of->findings[i].id);
	}
}

enum kwhy_status kwhy_compare_text(const struct kwhy_comparison *comparison,
	const struct kwhy_conditions *conditions, const struct kwhy_text_style *style, struct kwhy_text *out,
	struct kwhy_error *error)
{
	struct kwhy_text_context context = {.style = style, .out = out};
	bool can_compare;

	write_side(&context, "A  ", comparison->a, comparison->runs[0].count);
	write_side(&context, "B  ", comparison->b, comparison->runs[1].count);
	if (style->markdown)
		kwhy_compare_conditions_text(&context, conditions);
	write_missing(&context, "A", comparison->a, &comparison->runs[0]);
	write_missing(&context, "B", comparison->b, &comparison->runs[1]);
	can_compare = has_work(&comparison->runs[0]) && has_work(&comparison->runs[1]);
	if (can_compare)
		write_counts(comparison, &context);
	write_figures(comparison, &context);
	if (can_compare)
		write_rate_words(comparison, &context);
	kwhy_projection_check_text(comparison, &context);
	if (can_compare)
		kwhy_compare_accounts_text(comparison, &context);
	write_findings(&context, "Findings gone", comparison->a, comparison->b);
	write_findings(&context, "Findings new", comparison->b, comparison->a);
	if (!style->markdown)
		kwhy_compare_conditions_text(&context, conditions);
	return kwhy_text_check(out, error);
}
