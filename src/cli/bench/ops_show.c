/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/ops_show.h"

#include "base/quantity.h"
#include "cli/bench/workload_show.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { CELL_BYTES = 64 };

/* --- Text --- */

/* The units of work whose joules per unit are ranked. Only operations with the same unit are compared. */
static const char *const units[] = {"FLOP", "OP", "B"};

static bool is_multiplied(const char *unit)
{
	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++)
		if (strcmp(units[u], unit) == 0)
			return true;
	return false;
}

/*
 * The unit of a row's rate, per second. "": work of other units than units[], such as transfers and launches,
 * is only counted, as in "56.9 k/s".
 */
static const char *unit_of(const struct kwhy_bench_ops_row *row)
{
	return is_multiplied(row->unit) ? row->unit : "";
}

static void rate_cell(struct kwhy_table *table, const struct kwhy_bench_ops_row *row)
{
	char unit[CELL_BYTES];

	snprintf(unit, sizeof(unit), "%s/s", unit_of(row));
	kwhy_table_real(table, row->missing ? NAN : row->count / row->seconds, unit);
}

static void joules_cell(
	struct kwhy_table *table, const struct kwhy_bench_ops_row *row, const struct kwhy_joules *joules)
{
	struct kwhy_joules each = kwhy_bench_ops_per_unit(row, joules);

	kwhy_workload_joules_short_cell(table, &each);
}

/* Adds a cell with half the width of the interval of the gross energy, in percent of that energy. */
static void spread_cell(struct kwhy_table *table, const struct kwhy_joules *joules)
{
	char text[CELL_BYTES];

	if (isfinite(joules->low) && joules->value > 0)
		snprintf(text, sizeof(text), "±%.2g %%",
			100 * (joules->high - joules->low) / 2 / joules->value);
	else
		snprintf(text, sizeof(text), "n/a");
	kwhy_table_cell(table, text);
}

static bool has_class(const struct kwhy_bench_ops *bench, enum kwhy_ops_class class)
{
	for (size_t i = 0; i < bench->row_count; i++)
		if (bench->rows[i].class == class)
			return true;
	return false;
}

static void write_class(const struct kwhy_bench_ops *bench, enum kwhy_ops_class class,
	const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_LEFT},
		{"rate", KWHY_COLUMN_RIGHT}, {"power", KWHY_COLUMN_RIGHT}, {"gross each", KWHY_COLUMN_RIGHT},
		{"above idle", KWHY_COLUMN_RIGHT}, {"", KWHY_COLUMN_LEFT}};
	const struct kwhy_text_context context = {.style = style, .out = out};
	char title[CELL_BYTES];
	struct kwhy_table table;

	if (!has_class(bench, class))
		return;
	snprintf(title, sizeof(title), "%s", kwhy_ops_class_name(class));
	*title = (char)toupper((unsigned char)*title);
	kwhy_text_context_heading(&context, title, NULL);
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_ops_row *row = &bench->rows[i];

		if (row->class != class)
			continue;
		kwhy_table_cell(&table, row->id);
		rate_cell(&table, row);
		kwhy_table_real(&table, row->energy.mean_w, "W");
		joules_cell(&table, row, &row->energy.gross);
		joules_cell(&table, row, &row->energy.net);
		spread_cell(&table, &row->energy.gross);
	}
	kwhy_table_write(&table, style, out);
}

static void add_window(struct kwhy_table *table, const struct kwhy_bench_ops_row *row)
{
	kwhy_table_cell(table, row->id);
	kwhy_table_real(table, row->count, unit_of(row));
	if (isfinite(row->bytes))
		kwhy_table_real(table, row->bytes, "B");
	else
		kwhy_table_cell(table, "-");
	kwhy_table_real(table, row->seconds, "s");
	kwhy_table_real(table, row->energy.gross.value, "J");
	kwhy_workload_joules_short_cell(table, &row->energy.net);
	kwhy_table_real(table, row->energy.host.value, "J");
}

/*
 * Writes a table of the windows in which the operations ran repeatedly while their rates and energies were
 * measured: work, length, and energies of each window.
 */
static void write_windows(
	const struct kwhy_bench_ops *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_LEFT},
		{"done", KWHY_COLUMN_RIGHT}, {"moved", KWHY_COLUMN_RIGHT}, {"time", KWHY_COLUMN_RIGHT},
		{"gross", KWHY_COLUMN_RIGHT}, {"above idle", KWHY_COLUMN_RIGHT}, {"host", KWHY_COLUMN_RIGHT}};
	const struct kwhy_text_context context = {.style = style, .out = out};
	struct kwhy_table table;
	size_t count = 0;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < bench->row_count; i++)
		if (!bench->rows[i].missing) {
			add_window(&table, &bench->rows[i]);
			count++;
		}
	if (count)
		kwhy_text_context_heading(&context, "Windows", "summary of counts and joules");
	kwhy_table_write(&table, style, out);
}

static const struct kwhy_bench_ops_row *best_of(const struct kwhy_bench_ops *bench, const char *unit)
{
	const struct kwhy_bench_ops_row *best = NULL;
	double least = INFINITY;

	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_ops_row *row = &bench->rows[i];
		double each = kwhy_bench_ops_per_unit(row, &row->energy.gross).value;

		if (!row->missing && strcmp(row->unit, unit) == 0 && each < least) {
			best = row;
			least = each;
		}
	}
	return best;
}

static struct kwhy_workload_energies energies_of(const struct kwhy_bench_ops *bench)
{
	struct kwhy_workload_energies energies = {0};

	for (size_t i = 0; i < bench->row_count; i++)
		if (!bench->rows[i].missing)
			kwhy_workload_energies_add(&energies, bench->rows[i].id, &bench->rows[i].energy);
	return energies;
}

/*
 * Writes the gross energy per unit of work of each operation, grouped by unit. The column "of the least" is
 * this energy divided by the least energy per unit among the operations with the same unit.
 */
static void write_ranking(
	const struct kwhy_bench_ops *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_LEFT}, {"a", KWHY_COLUMN_LEFT},
		{"gross", KWHY_COLUMN_RIGHT}, {"of the least", KWHY_COLUMN_RIGHT}};
	const struct kwhy_text_context context = {.style = style, .out = out};
	struct kwhy_table table;

	if (!energies_of(bench).known)
		return;
	kwhy_text_context_heading(&context, "Efficiency", "each unit by itself");
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		const struct kwhy_bench_ops_row *best = best_of(bench, units[u]);

		for (size_t i = 0; best && i < bench->row_count; i++) {
			const struct kwhy_bench_ops_row *row = &bench->rows[i];

			if (row->missing || strcmp(row->unit, units[u]) != 0)
				continue;
			kwhy_table_cell(&table, row->id);
			kwhy_table_cell(&table, row->unit);
			joules_cell(&table, row, &row->energy.gross);
			kwhy_table_real(&table,
				kwhy_bench_ops_per_unit(row, &row->energy.gross).value /
					kwhy_bench_ops_per_unit(best, &best->energy.gross).value,
				"");
		}
	}
	kwhy_table_write(&table, style, out);
}

/*
 * Adds a balance point of the roofline (work per byte of device memory) to a table. Values below 1 are
 * written as decimal fractions, without an SI prefix.
 */
static void write_balance(struct kwhy_table *table, double value, const char *unit)
{
	char text[CELL_BYTES + KWHY_QUANTITY_BYTES];

	if (!(value >= 0 && value < 1)) {
		kwhy_table_real(table, value, unit);
		return;
	}
	snprintf(text, sizeof(text), "%.3f %s", value, unit);
	kwhy_table_cell(table, text);
}

static void write_roofs(
	const struct kwhy_bench_ops *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_LEFT},
		{"equal time", KWHY_COLUMN_RIGHT}, {"equal energy", KWHY_COLUMN_RIGHT}};
	const struct kwhy_text_context context = {.style = style, .out = out};
	struct kwhy_table table;
	char unit[CELL_BYTES];

	if (!bench->roof_count)
		return;
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < bench->roof_count; i++) {
		const struct kwhy_bench_ops_roof *roof = &bench->roofs[i];

		snprintf(unit, sizeof(unit), "%s/B", roof->compute->unit);
		kwhy_table_cell(&table, roof->compute->id);
		write_balance(&table, roof->time_balance, unit);
		write_balance(&table, roof->energy_balance, unit);
	}
	kwhy_text_context_heading(&context, "Where arithmetic and device memory balance", NULL);
	kwhy_table_write(&table, style, out);
}

static void write_notes(const struct kwhy_bench_ops *bench, const struct kwhy_text_context *context)
{
	const struct kwhy_workload_energies energies = energies_of(bench);

	for (size_t i = 0; i < bench->row_count; i++)
		kwhy_workload_missing_note(context, bench->rows[i].id, bench->rows[i].missing);
	kwhy_workload_end_notes(context, &energies, bench->energy_missing, bench->ended);
}

void kwhy_bench_ops_text(
	const struct kwhy_bench_ops *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	const struct kwhy_text_context context = {.style = style, .out = out};
	char memory[KWHY_QUANTITY_BYTES];

	kwhy_text_context_linef(&context, "", "operations of %s (%s), buffers of %s of random data",
		bench->gpus[0].name, kwhy_gpu_backend_name(bench->backend),
		kwhy_quantity_bytes(memory, bench->memory_bytes));
	for (int class = 0; class < KWHY_OPS_CLASS_COUNT; class ++)
		write_class(bench, (enum kwhy_ops_class) class, style, out);
	write_windows(bench, style, out);
	write_ranking(bench, style, out);
	write_roofs(bench, style, out);
	kwhy_text_add(out, "\n");
	write_notes(bench, &context);
}

/* --- JSON --- */

static void write_row(struct kwhy_json *json, const struct kwhy_bench_ops_row *row)
{
	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "id", row->id);
	kwhy_json_string(json, "title", row->title);
	kwhy_json_string(json, "class", kwhy_ops_class_name(row->class));
	kwhy_json_string(json, "unit", row->unit);
	kwhy_json_string(json, "missing", row->missing);
	kwhy_json_count(json, "gpus", row->gpus);
	kwhy_json_real(json, "count", row->missing ? NAN : row->count);
	kwhy_json_real(json, "bytes", row->bytes);
	kwhy_json_real(json, "seconds", row->seconds);
	kwhy_json_real(json, "rate_per_s", row->missing ? NAN : row->count / row->seconds);
	kwhy_json_real(json, "mean_w", row->energy.mean_w);
	kwhy_json_string(json, "basis", row->energy.basis);
	kwhy_json_real(json, "gross_j", row->energy.gross.value);
	kwhy_json_real(json, "net_j", row->energy.net.value);
	kwhy_json_real(json, "host_j", row->energy.host.value);
	kwhy_workload_joules_json(json, "gross_j_per_unit", kwhy_bench_ops_per_unit(row, &row->energy.gross));
	kwhy_workload_joules_json(json, "net_j_per_unit", kwhy_bench_ops_per_unit(row, &row->energy.net));
	kwhy_json_object_end(json);
}

void kwhy_bench_ops_json(const struct kwhy_bench_ops *bench, struct kwhy_text *out)
{
	const struct kwhy_workload_energies energies = energies_of(bench);
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", "kwhy.ops/1");
	kwhy_json_string(&json, "backend", kwhy_gpu_backend_name(bench->backend));
	kwhy_json_array(&json, "gpus");
	for (uint32_t i = 0; i < bench->gpu_count; i++)
		kwhy_json_string(&json, NULL, bench->gpus[i].name);
	kwhy_json_array_end(&json);
	kwhy_json_count(&json, "memory_bytes", bench->memory_bytes);
	kwhy_json_count(&json, "seed", bench->seed);
	kwhy_json_string(
		&json, "energy_missing", kwhy_workload_energies_missing(&energies, bench->energy_missing));
	kwhy_json_string(&json, "ended", bench->ended);
	kwhy_json_array(&json, "operations");
	for (size_t i = 0; i < bench->row_count; i++)
		write_row(&json, &bench->rows[i]);
	kwhy_json_array_end(&json);
	kwhy_json_array(&json, "rooflines");
	for (size_t i = 0; i < bench->roof_count; i++) {
		const struct kwhy_bench_ops_roof *roof = &bench->roofs[i];

		kwhy_json_row(&json, NULL);
		kwhy_json_string(&json, "compute", roof->compute->id);
		kwhy_json_string(&json, "memory", roof->memory->id);
		kwhy_json_real(&json, "time_balance_per_byte", roof->time_balance);
		kwhy_json_real(&json, "energy_balance_per_byte", roof->energy_balance);
		kwhy_json_object_end(&json);
	}
	kwhy_json_array_end(&json);
	kwhy_json_object_end(&json);
}

/* --- CSV --- */

static void add_number(struct kwhy_text *out, double value)
{
	if (isfinite(value))
		kwhy_text_addf(out, ",%.9g", value);
	else
		kwhy_text_add(out, ",");
}

void kwhy_bench_ops_csv(const struct kwhy_bench_ops *bench, struct kwhy_text *out)
{
	kwhy_text_add(out, "operation,class,unit,count,bytes,seconds,mean_w,gross_j,net_j,host_j\n");
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_ops_row *row = &bench->rows[i];
		const double numbers[] = {row->missing ? NAN : row->count, row->bytes, row->seconds,
			row->energy.mean_w, row->energy.gross.value, row->energy.net.value,
			row->energy.host.value};

		kwhy_text_addf(out, "%s,%s,%s", row->id, kwhy_ops_class_name(row->class), row->unit);
		for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
			add_number(out, numbers[k]);
		kwhy_text_add(out, "\n");
	}
}
