/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/stat.h"
#include "report/stat/summary.h"
#include "report/table.h"
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

/* Writes an amount of work in ones: 12 tokens, never 12000 millitokens. Beyond a million it uses prefixes. */
static const char *amount_of(char out[96], double value, const char *unit)
{
	char text[KWHY_QUANTITY_BYTES];
	const char *space = *unit && *unit != '/' ? " " : "";
	double size = fabs(value);

	if (!isfinite(value))
		return NULL;
	if (size >= 1e6 || strncmp(unit, "flop", 4) == 0)
		snprintf(out, 96, "%s%s", kwhy_quantity_si(text, value, "", DIGITS), unit);
	else if (size >= 1000)
		snprintf(out, 96, "%s%s%s%s", value < 0 ? "-" : "",
			kwhy_quantity_count(text, (uint64_t)(size + 0.5)), space, unit);
	else
		snprintf(out, 96, "%.4g%s%s", value, space, unit);
	return out;
}

static void amount_cell(struct kwhy_table *table, double value, const char *unit)
{
	char text[96];

	kwhy_table_cell(table, amount_of(text, value, unit));
}

static const char *spread_of(char out[KWHY_QUANTITY_BYTES], const struct kwhy_stat_figure *figure)
{
	const struct kwhy_estimate *estimate = &figure->estimate;

	return kwhy_quantity_interval(out, estimate->mean, estimate->low, estimate->high);
}

static void spread_cell(struct kwhy_table *table, const struct kwhy_stat_figure *figure)
{
	char text[KWHY_QUANTITY_BYTES];

	kwhy_table_cell(table, spread_of(text, figure));
}

/* Adds the half-width in the figure's own unit, since the figure may be about 0. */
static void half_cell(struct kwhy_table *table, const struct kwhy_stat_figure *figure, const char *unit)
{
	char number[KWHY_QUANTITY_BYTES], text[KWHY_QUANTITY_BYTES + 4] = "";
	double half = (figure->estimate.high - figure->estimate.low) / 2;

	if (isfinite(half))
		snprintf(text, sizeof(text), "\xc2\xb1%s", kwhy_quantity_si(number, half, unit, 2));
	kwhy_table_cell(table, text);
}

static void add_domain(struct kwhy_table *table, const struct page *page, size_t d)
{
	const struct kwhy_stat_domain *domain = &page->stat->domains[d];
	const struct kwhy_stat_domain_figures *figures = &page->summary->domains[d];

	if (domain->kind == KWHY_STAT_TOTAL)
		kwhy_table_rule(table);
	kwhy_table_cell(table, domain->name);
	cell(table, figures->energy_j.estimate.mean, "J");
	spread_cell(table, &figures->energy_j);
	if (isfinite(page->stat->idle_s)) {
		cell(table, figures->net_j.estimate.mean, "J");
		half_cell(table, &figures->net_j, "J");
	}
	cell(table, figures->mean_w.estimate.mean, "W");
	cell(table, figures->peak_w, "W");
	kwhy_table_cell(table, figures->basis ? figures->basis : "");
}

static void write_energy(const struct page *page)
{
	static const struct kwhy_table_column gross[] = {{"", KWHY_COLUMN_LEFT},
		{"energy", KWHY_COLUMN_RIGHT}, {"95 %", KWHY_COLUMN_RIGHT}, {"mean", KWHY_COLUMN_RIGHT},
		{"peak", KWHY_COLUMN_RIGHT}, {"from", KWHY_COLUMN_LEFT}};
	static const struct kwhy_table_column net[] = {{"", KWHY_COLUMN_LEFT}, {"energy", KWHY_COLUMN_RIGHT},
		{"95 %", KWHY_COLUMN_RIGHT}, {"above idle", KWHY_COLUMN_RIGHT}, {"95 %", KWHY_COLUMN_RIGHT},
		{"mean", KWHY_COLUMN_RIGHT}, {"peak", KWHY_COLUMN_RIGHT}, {"from", KWHY_COLUMN_LEFT}};
	bool with_net = isfinite(page->stat->idle_s);
	struct kwhy_table table;

	if (!page->stat->domain_count) {
		kwhy_text_context_paragraph(
			&page->text_context, "  energy: ", "not available: no meter was found");
		return;
	}
	kwhy_table_init(&table, with_net ? net : gross, with_net ? 8 : 6);
	for (size_t d = 0; d < page->stat->domain_count; d++)
		add_domain(&table, page, d);
	kwhy_table_write(&table, page->text_context.style, page->text_context.out);
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
				"alone "
				"%s by the machine profile, so %s a run above idle are the context's",
				domain->name, idle, page->stat->idle_s,
				kwhy_quantity_si(context, domain->context_idle_w, "W", 3),
				kwhy_quantity_si(share, figures->context_j, "J", 3));
		else
			kwhy_text_context_linef(&page->text_context, "  ",
				"%s: idle %s, measured over %.3g s before the first run", domain->name, idle,
				page->stat->idle_s);
	}
}

/* Writes a CPU time. The system counts it in steps, so 0 means less than a step. */
static const char *cpu_time_of(char out[KWHY_QUANTITY_BYTES], double seconds)
{
	if (!(seconds < 1e-3))
		return kwhy_quantity_si(out, seconds, "s", 3);
	snprintf(out, KWHY_QUANTITY_BYTES, "under 1 ms");
	return out;
}

static void write_time(const struct page *page)
{
	const struct kwhy_stat_summary *summary = page->summary;
	char elapsed[KWHY_QUANTITY_BYTES], user[KWHY_QUANTITY_BYTES], system[KWHY_QUANTITY_BYTES],
		memory[KWHY_QUANTITY_BYTES], spread[KWHY_QUANTITY_BYTES];

	spread_of(spread, &summary->elapsed_s);
	kwhy_text_context_linef(&page->text_context, "  ",
		"%s elapsed%s%s, %s of CPU time in user mode, %s in the system, %s of memory at most",
		kwhy_quantity_si(elapsed, summary->elapsed_s.estimate.mean, "s", DIGITS), *spread ? " " : "",
		spread, cpu_time_of(user, summary->user_s.estimate.mean),
		cpu_time_of(system, summary->system_s.estimate.mean),
		kwhy_quantity_si(memory, summary->max_rss_bytes, "B", 3));
}

/* Singular of a unit: "token" of "tokens". */
static void one_of(char out[64], const char *unit)
{
	size_t length = strlen(unit);

	snprintf(out, 64, "%.*s", (int)(length > 2 && unit[length - 1] == 's' ? length - 1 : length), unit);
}

static void add_work(struct kwhy_table *table, const struct page *page, size_t w, size_t domain)
{
	const struct kwhy_stat_work_figures *figures = &page->summary->work[w];
	const char *unit = page->stat->work[w].unit;
	char one[64], rate[80], efficiency[80], energy[80];

	one_of(one, unit);
	snprintf(rate, sizeof(rate), "%s/s", unit);
	snprintf(efficiency, sizeof(efficiency), strcmp(unit, "flop") == 0 ? "flop/s/W" : "%s/J", unit);
	snprintf(energy, sizeof(energy), "J/%s", one);
	kwhy_table_cell(table, unit);
	amount_cell(table, figures->count.estimate.mean, "");
	amount_cell(table, figures->per_s.estimate.mean, "/s");
	if (domain == KWHY_STAT_NO_DOMAIN)
		return;
	cell(table, figures->joules_per_unit[domain].estimate.mean, energy);
	spread_cell(table, &figures->joules_per_unit[domain]);
	amount_cell(table, figures->units_per_joule[domain].estimate.mean, efficiency);
}

static void write_work(const struct page *page)
{
	static const struct kwhy_table_column timed[] = {
		{"", KWHY_COLUMN_LEFT}, {"a run", KWHY_COLUMN_RIGHT}, {"speed", KWHY_COLUMN_RIGHT}};
	static const struct kwhy_table_column metered[] = {{"", KWHY_COLUMN_LEFT},
		{"a run", KWHY_COLUMN_RIGHT}, {"speed", KWHY_COLUMN_RIGHT}, {"energy", KWHY_COLUMN_RIGHT},
		{"95 %", KWHY_COLUMN_RIGHT}, {"efficiency", KWHY_COLUMN_RIGHT}};
	size_t domain = kwhy_stat_main_domain(page->stat);
	struct kwhy_table table;
	char remark[96];

	if (!page->stat->work_count)
		return;
	snprintf(remark, sizeof(remark), "with the energy of %s",
		domain == KWHY_STAT_NO_DOMAIN ? "" : page->stat->domains[domain].name);
	kwhy_text_context_heading(&page->text_context, "Work", domain == KWHY_STAT_NO_DOMAIN ? NULL : remark);
	kwhy_table_init(&table, domain == KWHY_STAT_NO_DOMAIN ? timed : metered,
		domain == KWHY_STAT_NO_DOMAIN ? 3 : 6);
	for (size_t w = 0; w < page->stat->work_count; w++)
		add_work(&table, page, w, domain);
	kwhy_table_write(&table, page->text_context.style, page->text_context.out);
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

/* Writes the intervals of the main domain; JSON and CSV have the others. */
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
 * Whether an absence is shown. A second vendor's missing GPUs are not shown while the first vendor's are
 * there. A meter that only lacks permission is shown even where a less exact one replaces it.
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
	write_notes(&page);
	kwhy_text_add(out, "\n");
	kwhy_stat_summary_done(&summary);
	return kwhy_text_check(out, error);
}
