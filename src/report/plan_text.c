/* SPDX-License-Identifier: Apache-2.0 */
#include "report/plan.h"

#include "base/quantity.h"
#include "model/run_energy.h"
#include "report/table.h"
#include "report/text_context.h"

#include <math.h>
#include <stdio.h>

#define NJ_PER_KWH 3.6e15

/* Inputs and output that the functions of this file share. */
struct page {
	const struct kwhy_plan *plan;
	const struct kwhy_report *report;
	struct kwhy_text_context context;
};

static bool has_energy(const struct page *page)
{
	return page->plan->before.energy_nj != KWHY_UNKNOWN_NJ;
}

/*
 * Writes to `text` how much of the run's energy is estimated because no reading covers it; "" if all is
 * metered. Returns `text`.
 */
static const char *worked_out(const struct kwhy_report *report, char *text, size_t size)
{
	char energy[KWHY_QUANTITY_BYTES];
	double sum_nj = 0;

	for (size_t d = 0; d < report->ledger->device_count; d++)
		sum_nj += fmax(0, kwhy_run_energy_of(&report->ledger->devices[d]).recorded_unmetered_nj);
	*text = 0;
	if (sum_nj > 0)
		snprintf(text, size, ", %s of it estimated where no reading was",
			kwhy_quantity_si(energy, sum_nj * 1e-9, "J", 3));
	return text;
}

const char *kwhy_plan_no_energy(const struct kwhy_plan *plan, const struct kwhy_report *report)
{
	const struct kwhy_ledger *ledger = report->ledger;

	if (plan->before.energy_nj != KWHY_UNKNOWN_NJ)
		return NULL;
	for (size_t d = 0; ledger && d < ledger->device_count; d++)
		if (ledger->devices[d].energy.known)
			return "powers of part of the run, or of idling, are not known";
	return kwhy_totals_no_energy(report->recording);
}

const char *kwhy_plan_lost(const struct kwhy_report *report)
{
	return kwhy_lost_work(&report->recording->lost)
		? "rows are lost, and what ran in them counts as idle here: no more than this is saved"
		: NULL;
}

static void write_lost(const struct page *page)
{
	const char *lost = kwhy_plan_lost(page->report);

	if (lost)
		kwhy_text_context_linef(&page->context, "", "%s", lost);
}

static void write_before(const struct page *page)
{
	const struct kwhy_projection *before = &page->plan->before;
	const struct kwhy_recording *recording = page->report->recording;
	char time[KWHY_QUANTITY_BYTES], energy[KWHY_QUANTITY_BYTES], rest[96];
	const char *path = recording->source_count ? recording->sources[0].path : "the recording";

	kwhy_quantity_time(time, before->time_ns);
	if (has_energy(page))
		kwhy_text_context_linef(&page->context, "", "%s: %s and %s as recorded%s", path, time,
			kwhy_quantity_energy(energy, before->energy_nj),
			worked_out(page->report, rest, sizeof(rest)));
	else
		kwhy_text_context_linef(&page->context, "", "%s: %s as recorded; energy of the run: %s", path,
			time, kwhy_plan_no_energy(page->plan, page->report));
}

/*
 * `saved` as a share of `whole`, the time (ns) or energy (nJ) of the run before all changes; NAN: `whole` is
 * not above 0.
 */
static double share(int64_t saved, int64_t whole)
{
	return whole > 0 ? (double)saved / (double)whole : NAN;
}

const char *kwhy_plan_share(
	char out[KWHY_PLAN_SHARE_BYTES], enum kwhy_bound bound, int64_t saved, int64_t whole)
{
	static const char *const signs[KWHY_BOUND_COUNT] = {"", "≤ ", "≥ "};
	char percent[KWHY_QUANTITY_BYTES];

	kwhy_quantity_percent(percent, share(saved, whole));
	snprintf(out, KWHY_PLAN_SHARE_BYTES, "%s%s", whole > 0 ? signs[bound] : "", percent);
	return out;
}

static void add_share(struct kwhy_table *table, enum kwhy_bound bound, int64_t saved, int64_t whole)
{
	char cell[KWHY_PLAN_SHARE_BYTES];

	kwhy_table_cell(table, kwhy_plan_share(cell, bound, saved, whole));
}

static void write_table(const struct page *page)
{
	static const struct kwhy_table_column columns[] = {
		{"", KWHY_COLUMN_RIGHT},
		{"change", KWHY_COLUMN_NAME},
		{"time", KWHY_COLUMN_RIGHT},
		{"saves", KWHY_COLUMN_RIGHT},
		{"energy", KWHY_COLUMN_RIGHT},
		{"saves", KWHY_COLUMN_RIGHT},
		{"effort", KWHY_COLUMN_LEFT},
		{"risk", KWHY_COLUMN_LEFT},
	};
	const struct kwhy_plan *plan = page->plan;
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < plan->change_count; i++) {
		const struct kwhy_projected_change *change = &plan->changes[i];
		char number[24];

		snprintf(number, sizeof(number), "%zu", i + 1);
		kwhy_table_cell(&table, number);
		kwhy_table_cell(&table, change->title);
		kwhy_table_time(&table, change->after.time_ns);
		add_share(&table, change->bound, change->saved_ns, plan->before.time_ns);
		kwhy_table_energy(&table, change->after.energy_nj);
		add_share(&table, change->bound, change->saved_nj,
			has_energy(page) ? plan->before.energy_nj : 0);
		kwhy_table_cell(&table, kwhy_effort_name(change->effort));
		kwhy_table_cell(&table, kwhy_risk_name(change->risk));
	}
	kwhy_table_write(&table, page->context.style, page->context.out);
}

/* Explains the words in the table's column "risk" that occur there and are not clear by themselves. */
static void explain_words(const struct page *page)
{
	static const char *const risks[KWHY_RISK_COUNT] = {
		[KWHY_RISK_ORDER] = "right only if nothing relies on the order, or on the wait, that goes",
		[KWHY_RISK_NUMERICS] = "results are other numbers",
	};
	bool reported[KWHY_RISK_COUNT] = {false};
	struct kwhy_text text = {0};

	for (size_t i = 0; i < page->plan->change_count; i++) {
		const enum kwhy_risk risk = page->plan->changes[i].risk;

		if (risks[risk] && !reported[risk])
			kwhy_text_addf(&text, "%s%s: %s", text.length ? "; " : "", kwhy_risk_name(risk),
				risks[risk]);
		reported[risk] = true;
	}
	if (text.length)
		kwhy_text_context_linef(&page->context, "  ", "risk: %s.", text.failed ? "" : text.data);
	page->context.out->failed |= text.failed;
	kwhy_text_done(&text);
}

/* Appends a value with its interval: "1.43 s (1.40 s to 1.52 s)". */
static void add_span(struct kwhy_text *out, const char *value, const char *low, const char *high)
{
	kwhy_text_addf(out, "%s (%s to %s)", value, low, high);
}

static void write_after(const struct page *page, const struct kwhy_projection *after, const char *lead)
{
	char value[KWHY_QUANTITY_BYTES], low[KWHY_QUANTITY_BYTES], high[KWHY_QUANTITY_BYTES];
	struct kwhy_text text = {0};

	add_span(&text, kwhy_quantity_time(value, after->time_ns),
		kwhy_quantity_time(low, after->time_low_ns), kwhy_quantity_time(high, after->time_high_ns));
	if (has_energy(page)) {
		kwhy_text_add(&text, ", ");
		add_span(&text, kwhy_quantity_energy(value, after->energy_nj),
			kwhy_quantity_energy(low, after->energy_low_nj),
			kwhy_quantity_energy(high, after->energy_high_nj));
	}
	kwhy_text_context_paragraph(&page->context, lead, text.data ? text.data : "");
	page->context.out->failed |= text.failed;
	kwhy_text_done(&text);
}

static const char *bound_words(enum kwhy_bound bound)
{
	switch (bound) {
	case KWHY_BOUND_UPPER:
		return "saves at most that";
	case KWHY_BOUND_LOWER:
		return "saves at least that";
	default:
		return "to be expected";
	}
}

static void write_details(const struct page *page)
{
	kwhy_text_context_heading(&page->context, "Assumptions", "after: this change and those above it");
	for (size_t i = 0; i < page->plan->change_count; i++) {
		const struct kwhy_projected_change *change = &page->plan->changes[i];
		char lead[24], number[24] = "";

		snprintf(lead, sizeof(lead), "%3zu. ", i + 1);
		if (change->number)
			snprintf(number, sizeof(number), "=%u", change->number);
		kwhy_text_context_linef(&page->context, lead, "%s [--%s%s], %s", change->title, change->id,
			number, bound_words(change->bound));
		kwhy_text_context_paragraph(&page->context, "     if     ", change->assumption);
		write_after(page, &change->after, "     after  ");
	}
}

/*
 * Adds a projection's energy times `per_kwh` as a cell: its cost, or its emission in g. "n/a" if the energy
 * is unknown.
 */
static void add_product(struct kwhy_table *table, const struct kwhy_projection *projection, double per_kwh)
{
	char cell[KWHY_QUANTITY_BYTES];
	double value = projection->energy_nj == KWHY_UNKNOWN_NJ
		? NAN
		: (double)projection->energy_nj / NJ_PER_KWH * per_kwh;

	kwhy_quantity_plain(cell, value);
	kwhy_table_cell(table, isfinite(value) ? cell : NULL);
}

/*
 * Adds a row with the cost and the emissions of the run with the first `changes` changes; 0: of the run as
 * recorded. The last cell is the saved share, which is the same for energy, cost and emissions, since these
 * are proportional.
 */
static void add_cost_row(const struct page *page, struct kwhy_table *table, size_t changes)
{
	const struct kwhy_report *report = page->report;
	struct kwhy_plan plan = *page->plan;
	const struct kwhy_projection *before = &plan.before, *after;
	char number[24] = "", saved[KWHY_PLAN_SHARE_BYTES] = "";

	plan.change_count = changes;
	after = changes ? kwhy_plan_after(&plan) : before;
	if (changes) {
		snprintf(number, sizeof(number), "%zu", changes);
		kwhy_plan_share(saved, kwhy_plan_bound(&plan), before->energy_nj - after->energy_nj,
			before->energy_nj);
	}
	kwhy_table_cell(table, number);
	kwhy_table_cell(table, changes ? plan.changes[changes - 1].title : "as recorded");
	if (isfinite(report->price_per_kwh))
		add_product(table, after, report->price_per_kwh);
	if (isfinite(report->intensity_g_per_kwh))
		add_product(table, after, report->intensity_g_per_kwh);
	kwhy_table_cell(table, saved);
}

static void write_costs(const struct page *page)
{
	const struct kwhy_report *report = page->report;
	struct kwhy_table_column columns[5] = {{"", KWHY_COLUMN_RIGHT}, {"change", KWHY_COLUMN_NAME}};
	struct kwhy_table table;
	char cost[48];
	size_t count = 2;

	if (!has_energy(page) || (!isfinite(report->price_per_kwh) && !isfinite(report->intensity_g_per_kwh)))
		return;
	snprintf(cost, sizeof(cost), "cost%s%.32s", report->currency ? ", " : "",
		report->currency ? report->currency : "");
	if (isfinite(report->price_per_kwh))
		columns[count++] = (struct kwhy_table_column){cost, KWHY_COLUMN_RIGHT};
	if (isfinite(report->intensity_g_per_kwh))
		columns[count++] = (struct kwhy_table_column){"CO2e, g", KWHY_COLUMN_RIGHT};
	columns[count++] = (struct kwhy_table_column){"saved so far", KWHY_COLUMN_RIGHT};
	kwhy_text_context_heading(
		&page->context, "Cost and CO2e", "each with this change and those above it");
	kwhy_table_init(&table, columns, count);
	for (size_t i = 0; i <= page->plan->change_count; i++)
		add_cost_row(page, &table, i);
	kwhy_table_write(&table, page->context.style, page->context.out);
}

static void write_total(const struct page *page)
{
	const struct kwhy_projection *before = &page->plan->before, *after = kwhy_plan_after(page->plan);
	enum kwhy_bound bound = kwhy_plan_bound(page->plan);
	struct kwhy_text text = {0};
	char words[KWHY_PLAN_SHARE_BYTES];

	kwhy_text_addf(&text, "all of them: %s of the time",
		kwhy_plan_share(words, bound, before->time_ns - after->time_ns, before->time_ns));
	if (has_energy(page))
		kwhy_text_addf(&text, ", %s of the energy",
			kwhy_plan_share(
				words, bound, before->energy_nj - after->energy_nj, before->energy_nj));
	kwhy_text_context_paragraph(&page->context, "  ", text.data ? text.data : "");
	page->context.out->failed |= text.failed;
	kwhy_text_done(&text);
}

static void write_busy(const struct page *page)
{
	char before[KWHY_QUANTITY_BYTES], after[KWHY_QUANTITY_BYTES];
	const struct kwhy_plan *plan = page->plan;

	if (isfinite(plan->busy_before_ratio) && isfinite(plan->busy_after_ratio))
		kwhy_text_context_linef(&page->context, "  ",
			"busy: %s of the time as recorded, %s with all of them",
			kwhy_quantity_percent(before, plan->busy_before_ratio),
			kwhy_quantity_percent(after, plan->busy_after_ratio));
}

/*
 * Writes to `out` what a refused change saves: "2.8 % of the time, 0.8 % of the energy". If a saved or whole
 * energy is unknown, it writes the time only.
 */
static void add_saved(
	const struct page *page, const struct kwhy_refused_change *refused, char *out, size_t bytes)
{
	const struct kwhy_projection *before = &page->plan->before;
	char time[KWHY_QUANTITY_BYTES], energy[KWHY_QUANTITY_BYTES];

	kwhy_quantity_percent(time, share(refused->saved_ns, before->time_ns));
	snprintf(out, bytes, "%s of the time", time);
	if (!has_energy(page) || refused->saved_nj == KWHY_UNKNOWN_NJ)
		return;
	kwhy_quantity_percent(energy, share(refused->saved_nj, before->energy_nj));
	snprintf(out, bytes, "%s of the time, %s of the energy", time, energy);
}

/*
 * Writes why a change was refused: what it would save beyond the changes in the plan, which is nothing, too
 * little or only under a premise that the recording does not show; or by how much it would lengthen the run.
 */
static void write_too_little(const struct page *page, const struct kwhy_refused_change *refused)
{
	char saves[2 * KWHY_QUANTITY_BYTES + 32], longer[KWHY_QUANTITY_BYTES];

	add_saved(page, refused, saves, sizeof(saves));
	kwhy_quantity_percent(longer, share(-refused->saved_ns, page->plan->before.time_ns));
	if (refused->saved_ns < 0)
		kwhy_text_context_linef(&page->context, "  - ",
			"%s: in addition to the others the run would take %s longer", refused->id, longer);
	else if (!refused->saved_ns && refused->saved_nj <= 0)
		kwhy_text_context_linef(
			&page->context, "  - ", "%s: saves nothing beyond the others", refused->id);
	else if (refused->premise)
		kwhy_text_context_linef(&page->context, "  - ",
			"%s: would save %s beyond the others if %s, which no recording shows", refused->id,
			saves, refused->premise);
	else
		kwhy_text_context_linef(&page->context, "  - ",
			"%s: saves %s beyond the others, too little (--min-gain)", refused->id, saves);
}

static void write_refused(const struct page *page)
{
	const struct kwhy_plan *plan = page->plan;

	if (!plan->refused_count)
		return;
	kwhy_text_context_heading(&page->context, "Left out", NULL);
	for (size_t i = 0; i < plan->refused_count; i++) {
		const struct kwhy_refused_change *refused = &plan->refused[i];

		if (refused->saved_ns == KWHY_UNKNOWN_NS)
			kwhy_text_context_linef(
				&page->context, "  - ", "%s: %s", refused->id, refused->reason);
		else
			write_too_little(page, refused);
	}
}

enum kwhy_status kwhy_plan_text(const struct kwhy_plan *plan, const struct kwhy_report *report,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error)
{
	struct page page = {plan, report, {.report = report, .style = style, .out = out}};

	write_before(&page);
	write_lost(&page);
	if (plan->change_count) {
		kwhy_text_context_heading(
			&page.context, "Changes", "each on top of those above it; shares are of the run");
		write_table(&page);
		write_total(&page);
		write_busy(&page);
		explain_words(&page);
		write_costs(&page);
		write_details(&page);
	}
	write_refused(&page);
	if (plan->change_count) {
		kwhy_text_add(out, "\n");
		kwhy_text_context_paragraph(&page.context, "",
			"Times are from the first start to the last end of device work, energies are of the "
			"devices. In brackets: all costs and powers at one end of their spreads, and what "
			"differs from run to run as far as this one shows it.");
	}
	return kwhy_text_check(out, error);
}
