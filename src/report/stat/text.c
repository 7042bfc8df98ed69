/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/stat.h"
#include "report/stat/columns.h"
#include "report/stat/kernels.h"
#include "report/text_context.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 4, INTERVALS_SHOWN = 200 };

struct page {
	const struct kwhy_stat *stat;
	const struct kwhy_stat_summary *summary;
	struct kwhy_text_context text_context;
};

static void cell(struct kwhy_table *table, double value, const char *unit)
{
	char text[KWHY_QUANTITY_BYTES];

	kwhy_table_cell(table, isfinite(value) ? kwhy_quantity_si(text, value, unit, DIGITS) : NULL);
}

static void write_energy(const struct page *page)
{
	struct kwhy_text_table table = {.parts = {&kwhy_stat_domain_columns}};

	if (!page->stat->domain_count) {
		kwhy_text_context_paragraph(
			&page->text_context, "  energy: ", "not available: no meter was found");
		return;
	}
	for (size_t d = 0; d < page->stat->domain_count; d++) {
		const struct kwhy_stat_row row = kwhy_stat_row_of(
			page->stat, page->summary, d, KWHY_STAT_NO_WORK);

		if (row.domain.kind == KWHY_STAT_TOTAL && d)
			kwhy_table_rule(&table.table);
		kwhy_text_table_add(&table, &row);
	}
	kwhy_table_write(&table.table, page->text_context.style, page->text_context.out);
}

static void write_idle(const struct page *page)
{
	char idle[KWHY_QUANTITY_BYTES], context[KWHY_QUANTITY_BYTES], share[KWHY_QUANTITY_BYTES];

	if (isnan(page->stat->idle_s)) {
		if (page->stat->domain_count)
			kwhy_text_context_paragraph(&page->text_context, "  above idle: ",
				"not available (--idle-baseline SECONDS measures idle first)");
		return;
	}
	for (size_t d = 0; d < page->stat->domain_count; d++) {
		const struct kwhy_stat_domain *domain = &page->stat->domains[d];
		const struct kwhy_stat_domain_figures *figures = &page->summary->domains[d];

		if (domain->kind == KWHY_STAT_TOTAL || isnan(domain->idle.watts))
			continue;
		kwhy_quantity_si(idle, domain->idle.watts, "W", 3);
		if (isfinite(figures->context_j))
			kwhy_text_context_linef(&page->text_context, "  ",
				"%s: idle %s, measured over %.3g s before the first run; with a context "
				"alone %s by the machine profile, so %s a run above idle are the context's",
				domain->name, idle, page->stat->idle_s,
				kwhy_quantity_si(context, domain->context_idle_w, "W", 3),
				kwhy_quantity_si(share, figures->context_j, "J", 3));
		else
			kwhy_text_context_linef(&page->text_context, "  ",
				"%s: idle %s, measured over %.3g s before the first run", domain->name, idle,
				page->stat->idle_s);
	}
}

static void write_time(const struct page *page)
{
	const struct kwhy_stat_row row = kwhy_stat_row_of(
		page->stat, page->summary, KWHY_STAT_NO_DOMAIN, KWHY_STAT_NO_WORK);
	const struct kwhy_columns *columns = &kwhy_stat_time_columns;
	struct kwhy_text line = {0};
	char text[KWHY_SHOWN_BYTES];

	for (size_t i = 0; i < columns->count; i++) {
		const char *shown = kwhy_column_show(columns, &columns->items[i], text, &row);

		kwhy_text_addf(
			&line, "%s%s%s", i ? ", " : "", shown ? shown : "n/a", columns->items[i].title);
	}
	kwhy_text_context_paragraph(&page->text_context, "  ", line.failed ? "" : line.data);
	page->text_context.out->failed |= line.failed;
	kwhy_text_done(&line);
}

static void write_work(const struct page *page)
{
	size_t domain = kwhy_stat_main_domain(page->stat);
	bool is_metered = domain != KWHY_STAT_NO_DOMAIN;
	struct kwhy_text_table table = {
		.parts = {&kwhy_stat_work_columns, is_metered ? &kwhy_stat_work_domain_columns : NULL}};
	char remark[96];

	if (!page->stat->work_count)
		return;
	snprintf(remark, sizeof(remark), "with the energy of %s",
		is_metered ? page->stat->domains[domain].name : "");
	kwhy_text_context_heading(&page->text_context, "Work", is_metered ? remark : NULL);
	for (size_t w = 0; w < page->stat->work_count; w++) {
		const struct kwhy_stat_row row = kwhy_stat_row_of(page->stat, page->summary, domain, w);

		kwhy_text_table_add(&table, &row);
	}
	kwhy_table_write(&table.table, page->text_context.style, page->text_context.out);
}

static void plain_cell(struct kwhy_table *table, double value)
{
	char text[KWHY_QUANTITY_BYTES];

	snprintf(text, sizeof(text), "%.5g", value);
	kwhy_table_cell(table, isfinite(value) ? text : NULL);
}

static void write_metrics(const struct page *page)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_LEFT},
		{"values", KWHY_COLUMN_RIGHT}, {"first", KWHY_COLUMN_RIGHT}, {"least", KWHY_COLUMN_RIGHT},
		{"most", KWHY_COLUMN_RIGHT}, {"last", KWHY_COLUMN_RIGHT}, {"at", KWHY_COLUMN_RIGHT},
		{"after", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	if (!page->stat->metric_count)
		return;
	kwhy_text_context_heading(
		&page->text_context, "Metrics", "over time and joules; --json has the curves");
	kwhy_table_init(&table, columns, 8);
	for (size_t m = 0; m < page->stat->metric_count; m++) {
		const struct kwhy_stat_metric *metric = &page->stat->metrics[m];
		const struct kwhy_stat_point nothing = {.value = NAN, .time_s = NAN, .joules = NAN};
		const struct kwhy_stat_point *last = metric->count ? &metric->points[metric->count - 1]
								   : &nothing;
		double least = NAN, most = NAN;

		for (size_t i = 0; i < metric->count; i++) {
			least = fmin(least, metric->points[i].value);
			most = fmax(most, metric->points[i].value);
		}
		kwhy_table_cell(&table, metric->name);
		kwhy_table_count(&table, metric->count);
		plain_cell(&table, metric->count ? metric->points[0].value : NAN);
		plain_cell(&table, least);
		plain_cell(&table, most);
		plain_cell(&table, last->value);
		cell(&table, last->time_s, "s");
		cell(&table, last->joules, "J");
	}
	kwhy_table_write(&table, page->text_context.style, page->text_context.out);
}

/*
 * Writes energy and mean power of the main domain in each interval of the power curve. JSON and CSV also have
 * the other domains.
 */
static void write_intervals(const struct page *page)
{
	static const struct kwhy_table_column columns[] = {{"run", KWHY_COLUMN_RIGHT},
		{"from", KWHY_COLUMN_RIGHT}, {"to", KWHY_COLUMN_RIGHT}, {"energy", KWHY_COLUMN_RIGHT},
		{"mean", KWHY_COLUMN_RIGHT}};
	const struct kwhy_stat *stat = page->stat;
	size_t domain = kwhy_stat_main_domain(stat);
	size_t shown = kwhy_text_context_shown(&page->text_context, stat->interval_count, INTERVALS_SHOWN);
	struct kwhy_table table;

	if (!stat->interval_count || domain == KWHY_STAT_NO_DOMAIN)
		return;
	kwhy_text_context_heading(&page->text_context, "Intervals", stat->domains[domain].name);
	kwhy_table_init(&table, columns, 5);
	for (size_t i = 0; i < shown; i++) {
		const struct kwhy_stat_interval *interval = &stat->intervals[i];
		double joules = stat->interval_joules[i * stat->domain_count + domain];

		kwhy_table_count(&table, interval->run + 1);
		cell(&table, interval->start_s, "s");
		cell(&table, interval->end_s, "s");
		cell(&table, joules, "J");
		cell(&table, joules / (interval->end_s - interval->start_s), "W");
	}
	kwhy_table_write(&table, page->text_context.style, page->text_context.out);
	kwhy_text_context_more(&page->text_context, stat->interval_count, shown);
}

/*
 * Whether the text mentions a meter that is missing. With --verbose it mentions all, and always those that
 * only lack a permission. Otherwise it leaves out the meters of GPUs (nvml, rocm) if some GPU is metered, and
 * those of the host (rapl, hwmon) if the host is metered or rapl has been mentioned.
 */
static bool is_reported(const struct page *page, const struct kwhy_stat_absence *absence)
{
	bool host_reported = false, device = false, host = false;

	for (size_t d = 0; d < page->stat->domain_count; d++) {
		device |= page->stat->domains[d].kind == KWHY_STAT_DEVICE;
		host |= page->stat->domains[d].kind == KWHY_STAT_HOST;
	}
	for (const struct kwhy_stat_absence *other = page->stat->absences; other < absence; other++)
		host_reported |= strcmp(other->backend, "rapl") == 0;
	if (page->text_context.style->verbose || absence->is_refused)
		return true;
	if (strcmp(absence->backend, "nvml") == 0 || strcmp(absence->backend, "rocm") == 0)
		return !device;
	if (strcmp(absence->backend, "rapl") == 0 || strcmp(absence->backend, "hwmon") == 0)
		return !host && !host_reported;
	return true;
}

static void write_meaning(const struct page *page)
{
	const struct kwhy_stat_summary *summary = page->summary;
	size_t main_domain = kwhy_stat_main_domain(page->stat);
	double meter = main_domain == KWHY_STAT_NO_DOMAIN ? NAN
							  : summary->domains[main_domain].meter_half_ratio;
	char ratio[KWHY_QUANTITY_BYTES];

	if (summary->counted > 1)
		kwhy_text_context_linef(&page->text_context, "  ",
			"means of %zu runs; 95 %% intervals of how runs scatter (Student's t)%s%s",
			summary->counted,
			isnan(meter) ? "" : "; the meter alone is sure of one run to \xc2\xb1",
			isnan(meter) ? "" : kwhy_quantity_percent(ratio, meter));
	else if (!isnan(meter))
		kwhy_text_context_paragraph(
			&page->text_context, "  ", "one run: its interval is the meter's own; -r repeats it");
	if (!isnan(meter))
		kwhy_text_context_paragraph(
			&page->text_context, "  ", "a constant gain error of the meter is in no interval");
}

static void write_cost(const struct page *page)
{
	const struct kwhy_stat_cost *cost = &page->stat->cost;
	double joules = kwhy_stat_cost_j(page->stat);
	char energy[80] = "its joules: not available";

	if (isfinite(joules))
		snprintf(energy, sizeof(energy), "%s%.2g J (modelled)",
			isfinite(page->stat->idle_s) ? "" : "at most ", joules);
	kwhy_text_context_linef(&page->text_context, "  ",
		"reading the meters took %.1f ms of CPU time while it ran, %.3f %% of a core; %s",
		1e3 * cost->cpu_s, 100 * cost->cpu_s / cost->running_s, energy);
}

static void write_notes(const struct page *page)
{
	const struct kwhy_stat *stat = page->stat;

	kwhy_text_add(page->text_context.out, "\n");
	write_meaning(page);
	for (size_t i = 0; i < page->summary->note_count; i++)
		kwhy_text_context_paragraph(&page->text_context, "  note: ", page->summary->notes[i]);
	for (size_t i = 0; i < stat->absence_count; i++)
		if (stat->absences[i].is_choice)
			kwhy_text_context_paragraph(&page->text_context, "  note: ", stat->absences[i].text);
		else if (is_reported(page, &stat->absences[i]))
			kwhy_text_context_linef(&page->text_context, "  not available: ", "%s: %s",
				stat->absences[i].backend, stat->absences[i].text);
	if (stat->cost.running_s > 0 && stat->domain_count)
		write_cost(page);
}

enum kwhy_status kwhy_stat_text(const struct kwhy_stat *stat, const struct kwhy_text_style *style,
	struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_stat_summary summary;
	enum kwhy_status status = kwhy_stat_summary_make(stat, &summary, error);
	struct page page = {stat, &summary, {.style = style, .out = out}};

	if (status)
		return status;
	kwhy_text_add(out, "\n");
	kwhy_text_context_paragraph(&page.text_context, "kwhy stat: ", stat->command);
	kwhy_text_add(out, "\n");
	write_energy(&page);
	write_time(&page);
	write_idle(&page);
	write_work(&page);
	write_metrics(&page);
	write_intervals(&page);
	kwhy_stat_kernels_text(stat, &page.text_context);
	write_notes(&page);
	kwhy_text_add(out, "\n");
	kwhy_stat_summary_done(&summary);
	return kwhy_text_check(out, error);
}
