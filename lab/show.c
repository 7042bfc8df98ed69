/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "cli/bench/workload_show.h"
#include "cli/progress.h"
#include "lab/workload.h"
#include "launch/stop.h"

#include <math.h>
#include <stdio.h>

enum { COLUMNS_MAX = 16 };

/* --- Columns that all workloads have --- */

#define ROW(title, key, kind, member) LAB_COLUMN(title, key, kind, struct lab_row, member, ROW)
#define PHASE(title, key, kind, member) LAB_COLUMN(title, key, kind, struct lab_phase, member, PHASE)

static const struct lab_column time_columns[] = {
	ROW(NULL, "id", TEXT, id),
	ROW(NULL, "name", TEXT, name),
	ROW("", "title", TITLE, title),
	ROW(NULL, "after", TEXT, after),
	ROW(NULL, "change", TEXT, change),
	ROW(NULL, "missing", TEXT, missing),
	ROW(NULL, "wrong", TEXT, wrong),
	PHASE("", "name", TEXT, name),
	PHASE(NULL, "items_a_run", NUMBER, items),
	PHASE(NULL, "runs", COUNT, run_count),
	PHASE("run", "run_s", MEDIAN, run_s),
	ROW("step", "step_s", MEDIAN, step_s),
	ROW("p99", "step_p99_s", SECONDS, step_p99_s),
	ROW(NULL, "step_clock", TEXT, step_clock),
	PHASE("items/s", "items_per_s", RATE, items_per_s),
	ROW("busy", "busy_ratio", RATIO, busy_ratio),
};

static const struct lab_column energy_columns[] = {
	PHASE("", NULL, TEXT, name),
	PHASE(NULL, "energy_runs", COUNT, energy_runs),
	PHASE(NULL, "window_s", SECONDS, energy.seconds),
	PHASE(NULL, "basis", TEXT, energy.basis),
	PHASE("J/item", "gross_j_per_item", JOULES, gross),
	PHASE("above idle", "net_j_per_item", JOULES, net),
	PHASE(NULL, "host_j_per_item", JOULES, host),
	PHASE(NULL, "items_per_j", JOULES, items_per_j),
	PHASE("power", "mean_w", WATTS, energy.mean_w),
	ROW("NVML", "nvml_ratio", RATIO, nvml_ratio),
};

static const struct lab_table times = {NULL, NULL, LAB_COLUMNS(time_columns)},
			      energies = {"Energy", NULL, LAB_COLUMNS(energy_columns)};

/* Address of a column's value, for the phase with index `p`. */
static const void *value_of(const struct lab_row *row, size_t p, const struct lab_column *column)
{
	const void *of = column->of == LAB_OF_ROW ? row
		: column->of == LAB_OF_PHASE	  ? (const void *)&row->phases[p]
						  : row->facts;

	return (const char *)of + column->offset;
}

/* --- The text page --- */

static bool is_text(const struct lab_column *column)
{
	return column->kind == LAB_TEXT || column->kind == LAB_TITLE;
}

static bool is_known(const struct lab_row *row, size_t p, const struct lab_column *column)
{
	const void *value = value_of(row, p, column);

	if (is_text(column))
		return *(const char *const *)value != NULL;
	if (column->kind == LAB_COUNT || column->kind == LAB_BYTES)
		return *(const uint64_t *)value != LAB_UNKNOWN;
	if (column->kind == LAB_MEDIAN)
		return ((const struct kwhy_median *)value)->count > 0;
	/* the value is a double, or a struct kwhy_joules, whose first member is a double */
	return isfinite(*(const double *)value);
}

/*
 * Whether a table shows a row's phase `p`: one of the table's columns has a value that is not a text. Phases
 * after the first are judged by the columns of phases only.
 */
static bool is_row_shown(const struct lab_row *row, size_t p, const struct lab_table *table)
{
	for (size_t c = 0; c < table->column_count && lab_row_has_run(row); c++)
		if (table->columns[c].title && !is_text(&table->columns[c]) &&
			is_known(row, p, &table->columns[c]) &&
			(p == 0 || table->columns[c].of == LAB_OF_PHASE))
			return true;
	return false;
}

static bool is_column_shown(
	const struct lab_bench *bench, const struct lab_table *table, const struct lab_column *column)
{
	for (size_t i = 0; column->title && i < bench->row_count; i++)
		for (size_t p = 0; p < bench->rows[i].phase_count; p++)
			if (is_known(&bench->rows[i], p, column) && is_row_shown(&bench->rows[i], p, table))
				return true;
	return false;
}

static void add_cell(
	struct kwhy_table *table, const struct lab_row *row, size_t p, const struct lab_column *column)
{
	static const char *const units[] = {
		[LAB_SECONDS] = "s", [LAB_RATE] = "", [LAB_NUMBER] = "", [LAB_WATTS] = "W"};
	const void *value = value_of(row, p, column);
	char text[KWHY_QUANTITY_BYTES];

	if (p > 0 && column->of == LAB_OF_ROW)
		kwhy_table_cell(table, "");
	else if (!is_known(row, p, column))
		kwhy_table_cell(table, is_text(column) ? "" : NULL);
	else if (is_text(column))
		kwhy_table_cell(table, *(const char *const *)value);
	else if (column->kind == LAB_COUNT)
		kwhy_table_count(table, *(const uint64_t *)value);
	else if (column->kind == LAB_BYTES)
		kwhy_table_bytes(table, *(const uint64_t *)value);
	else if (column->kind == LAB_RATIO)
		kwhy_table_percent(table, *(const double *)value);
	else if (column->kind == LAB_MEDIAN)
		kwhy_table_real(table, ((const struct kwhy_median *)value)->median, "s");
	else if (column->kind == LAB_JOULES)
		kwhy_workload_joules_cell(table, value);
	else if (column->kind == LAB_ERROR) {
		snprintf(text, sizeof(text), "%.1e", *(const double *)value);
		kwhy_table_cell(table, text);
	} else
		kwhy_table_real(table, *(const double *)value, units[column->kind]);
}

static void write_table(
	const struct lab_bench *bench, const struct lab_table *of, const struct kwhy_text_context *context)
{
	struct kwhy_table_column columns[COLUMNS_MAX] = {{"", KWHY_COLUMN_NAME}};
	const struct lab_column *shown[COLUMNS_MAX];
	size_t count = 1;
	struct kwhy_table table;

	for (size_t c = 0; c < of->column_count && count < COLUMNS_MAX; c++) {
		const struct lab_column *column = &of->columns[c];

		if (!is_column_shown(bench, of, column))
			continue;
		/* the column LAB_TITLE, if there is one, gets the width that the other columns leave;
		 * otherwise column 0 gets it */
		if (column->kind == LAB_TITLE)
			columns[0].kind = KWHY_COLUMN_LEFT;
		columns[count] = (struct kwhy_table_column){column->title,
			column->kind == LAB_TITLE ? KWHY_COLUMN_NAME
				: is_text(column) ? KWHY_COLUMN_LEFT
						  : KWHY_COLUMN_RIGHT};
		shown[count++] = column;
	}
	if (count == 1)
		return;
	if (of->heading)
		kwhy_text_context_heading(context, of->heading, NULL);
	kwhy_table_init(&table, columns, count);
	for (size_t i = 0; i < bench->row_count; i++)
		for (size_t p = 0; p < bench->rows[i].phase_count; p++) {
			if (!is_row_shown(&bench->rows[i], p, of))
				continue;
			kwhy_table_cell(&table, p ? "" : bench->rows[i].name);
			for (size_t c = 1; c < count; c++)
				add_cell(&table, &bench->rows[i], p, shown[c]);
		}
	kwhy_table_write(&table, context->style, context->out);
}

static struct kwhy_workload_energies energies_of(const struct lab_bench *bench)
{
	struct kwhy_workload_energies found = {0};

	for (size_t i = 0; i < bench->row_count; i++)
		for (size_t p = 0; p < bench->rows[i].phase_count; p++)
			if (bench->rows[i].phases[p].run_count && bench->rows[i].gpus)
				kwhy_workload_energies_add(&found, bench->rows[i].phases[p].window,
					&bench->rows[i].phases[p].energy);
	return found;
}

static void write_notes(const struct lab_bench *bench, const struct kwhy_text_context *context)
{
	const struct kwhy_workload_energies found = energies_of(bench);

	kwhy_text_add(context->out, "\n");
	if (bench->workload->verdict && lab_bench_is_right(bench))
		kwhy_text_context_linef(context, "check  ", "%s", bench->workload->verdict);
	if (bench->workload->notes)
		bench->workload->notes(bench, context);
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct lab_row *row = &bench->rows[i];

		kwhy_workload_missing_note(context, row->name, row->missing);
		if (row->wrong)
			kwhy_text_context_linef(context, "WRONG  ", "%s: %s", row->name, row->wrong);
	}
	kwhy_workload_end_notes(context, &found, bench->energy_missing, bench->ended);
}

void lab_show_text(const struct lab_bench *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	const struct lab_workload *workload = bench->workload;
	const struct kwhy_text_context context = {.style = style, .out = out};
	struct kwhy_text line = {0};

	kwhy_text_addf(&line, "%s on %s%s (%s): ", workload->command.name, bench->gpu_facts[0].name,
		bench->gpus.count > 1 ? " and others" : "", kwhy_gpu_backend_name(bench->backend));
	workload->describe(bench, &line);
	kwhy_text_addf(&line, "; an item is a %s", workload->item);
	kwhy_text_context_paragraph(&context, "", line.data ? line.data : "");
	kwhy_text_done(&line);
	kwhy_text_add(out, "\n");
	write_table(bench, &times, &context);
	for (size_t t = 0; t < workload->table_count; t++)
		if (workload->tables[t].heading)
			write_table(bench, &workload->tables[t], &context);
	write_table(bench, &energies, &context);
	write_notes(bench, &context);
}

/* --- JSON --- */

static void write_value(
	struct kwhy_json *json, const struct lab_row *row, size_t p, const struct lab_column *column)
{
	const void *value = value_of(row, p, column);

	if (is_text(column))
		kwhy_json_string(json, column->key, *(const char *const *)value);
	else if (column->kind == LAB_COUNT || column->kind == LAB_BYTES)
		kwhy_json_bytes(json, column->key, *(const uint64_t *)value);
	else if (column->kind == LAB_MEDIAN)
		kwhy_workload_median_json(json, column->key, value);
	else if (column->kind == LAB_JOULES)
		kwhy_workload_joules_json(json, column->key, *(const struct kwhy_joules *)value);
	else
		kwhy_json_real(json, column->key, *(const double *)value);
}

/*
 * Writes to JSON those columns of a table whose values are in a given struct. `of`: LAB_OF_FACTS, LAB_OF_ROW
 * or LAB_OF_PHASE.
 */
static void write_columns(
	struct kwhy_json *json, const struct lab_row *row, size_t p, const struct lab_table *table, int of)
{
	if (table->key)
		kwhy_json_object(json, table->key);
	for (size_t c = 0; c < table->column_count; c++)
		if (table->columns[c].key && (int)table->columns[c].of == of)
			write_value(json, row, p, &table->columns[c]);
	if (table->key)
		kwhy_json_object_end(json);
}

static void write_row(struct kwhy_json *json, const struct lab_workload *workload, const struct lab_row *row)
{
	kwhy_json_object(json, NULL);
	write_columns(json, row, 0, &times, LAB_OF_ROW);
	write_columns(json, row, 0, &energies, LAB_OF_ROW);
	kwhy_json_count(json, "gpus", row->gpus);
	for (size_t t = 0; t < workload->table_count; t++)
		write_columns(json, row, 0, &workload->tables[t], LAB_OF_FACTS);
	kwhy_json_array(json, "phases");
	for (size_t p = 0; p < row->phase_count; p++) {
		kwhy_json_object(json, NULL);
		write_columns(json, row, p, &times, LAB_OF_PHASE);
		write_columns(json, row, p, &energies, LAB_OF_PHASE);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	kwhy_json_object_end(json);
}

void lab_show_json(const struct lab_bench *bench, struct kwhy_text *out)
{
	const struct lab_workload *workload = bench->workload;
	const struct kwhy_workload_energies found = energies_of(bench);
	char schema[32];
	struct kwhy_json json;

	snprintf(schema, sizeof(schema), "kwhy.%s/1", workload->command.name);
	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", schema);
	kwhy_json_string(&json, "backend", kwhy_gpu_backend_name(bench->backend));
	kwhy_workload_gpus_json(&json, bench->gpu_facts, bench->gpus.count);
	kwhy_json_string(&json, "item", workload->item);
	workload->head(bench, &json);
	kwhy_json_string(
		&json, "energy_missing", kwhy_workload_energies_missing(&found, bench->energy_missing));
	kwhy_json_string(&json, "nvml_missing", bench->nvml_missing);
	kwhy_json_string(&json, "ended", bench->ended);
	kwhy_json_array(&json, "rows");
	for (size_t i = 0; i < bench->row_count; i++)
		write_row(&json, workload, &bench->rows[i]);
	kwhy_json_array_end(&json);
	kwhy_json_object_end(&json);
}

/* --- CSV --- */

/* Writes the time of each step of up to LAB_RUNS_KEPT runs of each row. */
static void write_steps(const struct lab_bench *bench, struct kwhy_text *out)
{
	kwhy_text_add(out, "variant,run,step,seconds\n");
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct lab_row *row = &bench->rows[i];

		for (size_t at = 0; at < row->kept_runs * row->steps; at++)
			kwhy_text_addf(out, "%s,%zu,%zu,%.9f\n", row->name, at / row->steps, at % row->steps,
				row->step_times[at]);
	}
}

void lab_show_csv(const struct lab_bench *bench, struct kwhy_text *out)
{
	(bench->workload->csv ? bench->workload->csv : write_steps)(bench, out);
}

/* --- The command --- */

static enum kwhy_status write_result(
	const struct lab_bench *bench, enum kwhy_output_form form, struct kwhy_error *error)
{
	const struct kwhy_bench_output *output = &bench->options->output;
	const struct kwhy_text_style style = {.columns = kwhy_bench_columns(output)};
	struct kwhy_text text = {0}, table = {0};

	if (form == KWHY_OUTPUT_JSON)
		lab_show_json(bench, &text);
	else
		lab_show_text(bench, &style, &text);
	if (output->csv)
		lab_show_csv(bench, &table);
	return kwhy_bench_write(output, bench->workload->command.name, form, &text, &table, error);
}

enum kwhy_status lab_command_run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct lab_options *options = invocation->options;
	const char *name = options->workload->command.name;
	struct lab_bench *bench;
	enum kwhy_output_form form;
	enum kwhy_status status = kwhy_bench_form_find(name, &options->output, "a table", &form, error);
	void *progress;

	if (status)
		return status;
	kwhy_stop_watch(options->output.quiet);
	progress = kwhy_progress_begin(options->output.quiet);
	status = lab_bench_run(options, kwhy_bench_tell, progress, &bench, error);
	kwhy_progress_end(progress);
	if (status)
		return status;
	status = write_result(bench, form, error);
	if (!status && (bench->ended || !lab_bench_is_right(bench)))
		*invocation->exit = KWHY_EXIT_FAILED;
	lab_bench_free(bench);
	return status;
}
