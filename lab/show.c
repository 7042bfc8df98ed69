/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "cli/bench/workload_show.h"
#include "lab/workload.h"

#include <math.h>
#include <stdio.h>

enum { COLUMNS_MOST = 16 };

/* --- Values of facts --- */

static const void *fact_of(const struct lab_row *row, const struct lab_column *column)
{
	return (const char *)row->facts + column->offset;
}

static bool is_known(const struct lab_row *row, const struct lab_column *column)
{
	const void *fact = fact_of(row, column);

	if (column->kind == LAB_TEXT)
		return *(const char *const *)fact != NULL;
	if (column->kind == LAB_COUNT || column->kind == LAB_BYTES)
		return *(const uint64_t *)fact != LAB_UNKNOWN;
	if (column->kind == LAB_MEDIAN)
		return ((const struct kwhy_median *)fact)->count > 0;
	return isfinite(*(const double *)fact); /* the first member of joules, too */
}

static bool has_known(const struct lab_row *row, const struct lab_table *table)
{
	for (size_t c = 0; c < table->column_count; c++)
		if (table->columns[c].title && is_known(row, &table->columns[c]))
			return true;
	return false;
}

/* --- Text --- */

static void add_formatted(struct kwhy_table *table, enum lab_kind kind, double value)
{
	char text[KWHY_QUANTITY_BYTES];

	if (kind == LAB_ERROR)
		snprintf(text, sizeof(text), "%.1e", value);
	else
		snprintf(text, sizeof(text), "%.4f", value);
	kwhy_table_cell(table, text);
}

static void add_cell(struct kwhy_table *table, const struct lab_row *row, const struct lab_column *column)
{
	static const char *const units[] = {[LAB_SECONDS] = "s", [LAB_RATE] = "", [LAB_WATTS] = "W"};
	const void *fact = fact_of(row, column);

	if (!is_known(row, column))
		kwhy_table_cell(table, NULL);
	else if (column->kind == LAB_TEXT)
		kwhy_table_cell(table, *(const char *const *)fact);
	else if (column->kind == LAB_COUNT)
		kwhy_table_count(table, *(const uint64_t *)fact);
	else if (column->kind == LAB_BYTES)
		kwhy_table_bytes(table, *(const uint64_t *)fact);
	else if (column->kind == LAB_RATIO)
		kwhy_table_percent(table, *(const double *)fact);
	else if (column->kind == LAB_MEDIAN)
		kwhy_table_real(table, ((const struct kwhy_median *)fact)->median, "s");
	else if (column->kind == LAB_JOULES)
		kwhy_workload_joules_short_cell(table, fact);
	else if (column->kind == LAB_ERROR || column->kind == LAB_NUMBER)
		add_formatted(table, column->kind, *(const double *)fact);
	else
		kwhy_table_real(table, *(const double *)fact, units[column->kind]);
}

/* A table whose columns depend on what the rows have. */
struct page {
	const struct lab_bench *bench;
	struct kwhy_table_column columns[COLUMNS_MOST];
	size_t column_count;
	bool has_titles, has_phases, has_steps;
	struct kwhy_table table;
};

static void add_column(struct page *page, const char *title, enum kwhy_column_kind kind)
{
	page->columns[page->column_count++] = (struct kwhy_table_column){title, kind};
}

static void look(struct page *page, const struct lab_bench *bench)
{
	*page = (struct page){.bench = bench};
	for (size_t i = 0; i < bench->row_count; i++) {
		page->has_titles = page->has_titles || bench->rows[i].title;
		page->has_phases = page->has_phases || bench->rows[i].phase_count > 1;
		page->has_steps = page->has_steps || bench->rows[i].steps;
	}
}

static void add_phase_name(struct page *page, const struct lab_phase *phase)
{
	if (page->has_phases)
		kwhy_table_cell(&page->table, phase->name ? phase->name : "");
}

static void add_times(struct page *page, const struct lab_row *row, size_t p)
{
	const struct lab_phase *phase = &row->phases[p];
	struct kwhy_table *table = &page->table;
	bool is_first = p == 0;

	kwhy_table_cell(table, is_first ? lab_row_name(row) : "");
	if (page->has_titles)
		kwhy_table_cell(table, is_first && row->title ? row->title : "");
	add_phase_name(page, phase);
	kwhy_table_real(table, phase->run_s.median, "s");
	if (page->has_steps) {
		kwhy_table_real(table, is_first ? row->step_s.median : NAN, "s");
		kwhy_table_real(table, is_first ? row->step_p99_s : NAN, "s");
	}
	if (page->bench->workload->item.rate_title)
		kwhy_table_real(table, 1 / lab_phase_item_s(phase), "");
	kwhy_table_percent(table, is_first ? row->busy_ratio : NAN);
}

static void write_times(
	const struct lab_bench *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	struct page page;

	look(&page, bench);
	add_column(&page, "", page.has_titles ? KWHY_COLUMN_LEFT : KWHY_COLUMN_NAME);
	if (page.has_titles)
		add_column(&page, "", KWHY_COLUMN_NAME);
	if (page.has_phases)
		add_column(&page, "", KWHY_COLUMN_LEFT);
	add_column(&page, "run", KWHY_COLUMN_RIGHT);
	if (page.has_steps) {
		add_column(&page, "step", KWHY_COLUMN_RIGHT);
		add_column(&page, "p99", KWHY_COLUMN_RIGHT);
	}
	if (bench->workload->item.rate_title)
		add_column(&page, bench->workload->item.rate_title, KWHY_COLUMN_RIGHT);
	add_column(&page, "busy", KWHY_COLUMN_RIGHT);
	kwhy_table_init(&page.table, page.columns, page.column_count);
	for (size_t i = 0; i < bench->row_count; i++)
		for (size_t p = 0; p < bench->rows[i].phase_count; p++)
			if (p == 0 || bench->rows[i].phases[p].run_count)
				add_times(&page, &bench->rows[i], p);
	kwhy_table_write(&page.table, style, out);
}

static void write_table(
	const struct lab_bench *bench, const struct lab_table *of, const struct kwhy_sheet *sheet)
{
	struct page page = {.bench = bench};
	size_t rows = 0;

	add_column(&page, "", KWHY_COLUMN_NAME);
	for (size_t c = 0; c < of->column_count && page.column_count < COLUMNS_MOST; c++)
		if (of->columns[c].title)
			add_column(&page, of->columns[c].title,
				of->columns[c].kind == LAB_TEXT ? KWHY_COLUMN_LEFT : KWHY_COLUMN_RIGHT);
	kwhy_table_init(&page.table, page.columns, page.column_count);
	for (size_t i = 0; i < bench->row_count; i++) {
		if (!lab_row_has_run(&bench->rows[i]) || !has_known(&bench->rows[i], of))
			continue;
		rows++;
		kwhy_table_cell(&page.table, lab_row_name(&bench->rows[i]));
		for (size_t c = 0; c < of->column_count; c++)
			if (of->columns[c].title)
				add_cell(&page.table, &bench->rows[i], &of->columns[c]);
	}
	if (rows)
		kwhy_sheet_heading(sheet, of->heading, NULL);
	if (rows)
		kwhy_table_write(&page.table, sheet->style, sheet->out);
	else
		kwhy_text_done(&page.table.cells);
}

static struct kwhy_workload_energies energies_of(const struct lab_bench *bench)
{
	struct kwhy_workload_energies energies = {0};

	for (size_t i = 0; i < bench->row_count; i++)
		for (size_t p = 0; p < bench->rows[i].phase_count; p++)
			if (bench->rows[i].phases[p].run_count && bench->rows[i].gpus)
				kwhy_workload_energies_add(&energies, bench->rows[i].phases[p].window,
					&bench->rows[i].phases[p].energy);
	return energies;
}

static struct kwhy_joules joules_of_items(
	const struct lab_bench *bench, const struct lab_phase *phase, const struct kwhy_joules *joules)
{
	struct kwhy_joules one = lab_phase_joules(phase, joules);

	return kwhy_joules_times(&one, bench->workload->item.joules_of);
}

static void add_energy(struct page *page, const struct lab_row *row, size_t p)
{
	const struct lab_phase *phase = &row->phases[p];
	struct kwhy_joules gross = joules_of_items(page->bench, phase, &phase->energy.gross),
			   net = joules_of_items(page->bench, phase, &phase->energy.net);

	kwhy_table_cell(&page->table, p ? "" : lab_row_name(row));
	add_phase_name(page, phase);
	kwhy_workload_joules_cell(&page->table, &gross);
	kwhy_workload_joules_cell(&page->table, &net);
	kwhy_table_real(&page->table, phase->energy.mean_w, "W");
	kwhy_table_percent(&page->table, p ? NAN : row->nvml_ratio);
}

static void write_energies(const struct lab_bench *bench, const struct kwhy_sheet *sheet)
{
	struct page page;

	if (!energies_of(bench).known)
		return;
	look(&page, bench);
	kwhy_sheet_heading(sheet, "Energy", NULL);
	add_column(&page, "", KWHY_COLUMN_NAME);
	if (page.has_phases)
		add_column(&page, "", KWHY_COLUMN_LEFT);
	add_column(&page, bench->workload->item.joules_title, KWHY_COLUMN_RIGHT);
	add_column(&page, "above idle", KWHY_COLUMN_RIGHT);
	add_column(&page, "power", KWHY_COLUMN_RIGHT);
	add_column(&page, "NVML", KWHY_COLUMN_RIGHT);
	kwhy_table_init(&page.table, page.columns, page.column_count);
	for (size_t i = 0; i < bench->row_count; i++)
		for (size_t p = 0; p < bench->rows[i].phase_count; p++)
			if (bench->rows[i].gpus && bench->rows[i].phases[p].energy_runs)
				add_energy(&page, &bench->rows[i], p);
	kwhy_table_write(&page.table, sheet->style, sheet->out);
}

/* Some row ran, and none is wrong. */
static bool all_right(const struct lab_bench *bench)
{
	bool has_run = false;

	for (size_t i = 0; i < bench->row_count; i++) {
		if (bench->rows[i].wrong)
			return false;
		has_run = has_run || lab_row_has_run(&bench->rows[i]);
	}
	return has_run;
}

static void write_notes(const struct lab_bench *bench, const struct kwhy_sheet *sheet)
{
	const struct kwhy_workload_energies energies = energies_of(bench);

	kwhy_text_add(sheet->out, "\n");
	if (bench->workload->verdict && all_right(bench))
		kwhy_sheet_linef(sheet, "check  ", "%s", bench->workload->verdict);
	if (bench->workload->notes)
		bench->workload->notes(bench, sheet);
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct lab_row *row = &bench->rows[i];

		kwhy_workload_missing_note(sheet, lab_row_name(row), row->missing);
		if (row->wrong)
			kwhy_sheet_linef(sheet, "WRONG  ", "%s: %s", lab_row_name(row), row->wrong);
	}
	kwhy_workload_end_notes(sheet, &energies, bench->energy_missing, bench->ended);
}

void lab_show_text(const struct lab_bench *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	const struct lab_workload *workload = bench->workload;
	const struct kwhy_sheet sheet = {.style = style, .out = out};
	struct kwhy_text line = {0};

	kwhy_text_addf(&line, "%s on %s%s (%s): ", workload->command.name, bench->gpu_facts[0].name,
		bench->gpus.count > 1 ? " and others" : "", kwhy_gpu_backend_name(bench->backend));
	workload->describe(bench, &line);
	kwhy_sheet_paragraph(&sheet, "", line.data ? line.data : "");
	kwhy_text_done(&line);
	kwhy_text_add(out, "\n");
	write_times(bench, style, out);
	for (size_t t = 0; t < workload->table_count; t++)
		if (workload->tables[t].heading)
			write_table(bench, &workload->tables[t], &sheet);
	write_energies(bench, &sheet);
	write_notes(bench, &sheet);
}

/* --- JSON --- */

static void write_value(struct kwhy_json *json, const struct lab_row *row, const struct lab_column *column)
{
	const void *fact = fact_of(row, column);

	if (column->kind == LAB_TEXT)
		kwhy_json_string(json, column->key, *(const char *const *)fact);
	else if (column->kind == LAB_COUNT || column->kind == LAB_BYTES)
		kwhy_json_bytes(json, column->key, *(const uint64_t *)fact);
	else if (column->kind == LAB_MEDIAN)
		kwhy_workload_median_json(json, column->key, fact);
	else if (column->kind == LAB_JOULES)
		kwhy_workload_joules_json(json, column->key, *(const struct kwhy_joules *)fact);
	else
		kwhy_json_real(json, column->key, *(const double *)fact);
}

static void write_facts(struct kwhy_json *json, const struct lab_row *row, const struct lab_table *table)
{
	if (table->key)
		kwhy_json_object(json, table->key);
	for (size_t c = 0; c < table->column_count; c++)
		if (table->columns[c].key)
			write_value(json, row, &table->columns[c]);
	if (table->key)
		kwhy_json_object_end(json);
}

static void write_phase(struct kwhy_json *json, const struct lab_phase *phase)
{
	struct kwhy_joules gross = lab_phase_joules(phase, &phase->energy.gross),
			   net = lab_phase_joules(phase, &phase->energy.net),
			   host = lab_phase_joules(phase, &phase->energy.host);

	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "name", phase->name);
	kwhy_json_real(json, "items_a_run", phase->items);
	kwhy_json_count(json, "runs", phase->run_count);
	kwhy_workload_median_json(json, "run_s", &phase->run_s);
	kwhy_json_real(json, "items_per_s", 1 / lab_phase_item_s(phase));
	kwhy_json_count(json, "energy_runs", phase->energy_runs);
	kwhy_workload_window_json(json, &phase->energy);
	kwhy_workload_joules_json(json, "gross_j_per_item", gross);
	kwhy_workload_joules_json(json, "net_j_per_item", net);
	kwhy_workload_joules_json(json, "host_j_per_item", host);
	kwhy_workload_joules_json(json, "items_per_j", kwhy_workload_for_a_joule(1, &gross));
	kwhy_json_object_end(json);
}

static void write_row(struct kwhy_json *json, const struct lab_workload *workload, const struct lab_row *row)
{
	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "id", row->id);
	kwhy_json_string(json, "name", lab_row_name(row));
	kwhy_json_string(json, "title", row->title);
	kwhy_json_string(json, "after", row->after);
	kwhy_json_string(json, "change", row->change);
	kwhy_json_string(json, "missing", row->missing);
	kwhy_json_string(json, "wrong", row->wrong);
	kwhy_json_count(json, "gpus", row->gpus);
	kwhy_workload_median_json(json, "step_s", &row->step_s);
	kwhy_json_real(json, "step_p99_s", row->step_p99_s);
	kwhy_json_string(json, "step_clock", row->device_clock ? "device" : "host");
	kwhy_json_real(json, "busy_ratio", row->busy_ratio);
	kwhy_json_real(json, "nvml_ratio", row->nvml_ratio);
	for (size_t t = 0; t < workload->table_count; t++)
		write_facts(json, row, &workload->tables[t]);
	kwhy_json_array(json, "phases");
	for (size_t p = 0; p < row->phase_count; p++)
		write_phase(json, &row->phases[p]);
	kwhy_json_array_end(json);
	kwhy_json_object_end(json);
}

void lab_show_json(const struct lab_bench *bench, struct kwhy_text *out)
{
	const struct lab_workload *workload = bench->workload;
	const struct kwhy_workload_energies energies = energies_of(bench);
	char schema[32];
	struct kwhy_json json;

	snprintf(schema, sizeof(schema), "kwhy.%s/1", workload->command.name);
	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", schema);
	kwhy_json_string(&json, "backend", kwhy_gpu_backend_name(bench->backend));
	kwhy_workload_gpus_json(&json, bench->gpu_facts, bench->gpus.count);
	kwhy_json_string(&json, "item", workload->item.name);
	workload->head(bench, &json);
	kwhy_json_string(
		&json, "energy_missing", kwhy_workload_energies_missing(&energies, bench->energy_missing));
	kwhy_json_string(&json, "nvml_missing", bench->nvml_missing);
	kwhy_json_string(&json, "ended", bench->ended);
	kwhy_json_array(&json, "rows");
	for (size_t i = 0; i < bench->row_count; i++)
		write_row(&json, workload, &bench->rows[i]);
	kwhy_json_array_end(&json);
	kwhy_json_object_end(&json);
}

/* --- CSV --- */

void lab_csv_steps(const struct lab_bench *bench, struct kwhy_text *out)
{
	kwhy_text_add(out, "variant,run,step,seconds\n");
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct lab_row *row = &bench->rows[i];

		for (size_t at = 0; at < row->kept_runs * row->steps; at++)
			kwhy_text_addf(out, "%s,%zu,%zu,%.9f\n", lab_row_name(row), at / row->steps,
				at % row->steps, row->step_times[at]);
	}
}

void lab_show_csv(const struct lab_bench *bench, struct kwhy_text *out)
{
	(bench->workload->csv ? bench->workload->csv : lab_csv_steps)(bench, out);
}
