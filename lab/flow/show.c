/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/show.h"

#include "base/quantity.h"
#include "cli/bench/workload_show.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- Text --- */

static void flows_cell(struct kwhy_table *table, uint32_t flows)
{
	char text[KWHY_QUANTITY_BYTES];

	snprintf(text, sizeof(text), "%u", flows);
	kwhy_table_cell(table, text);
}

static bool has_run(const struct kwhy_bench_flow_row *row)
{
	return row->on_gpu && row->run_count;
}

static void write_times(
	const struct kwhy_bench_flow *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_LEFT}, {"", KWHY_COLUMN_NAME},
		{"flows", KWHY_COLUMN_RIGHT}, {"step", KWHY_COLUMN_RIGHT}, {"p99", KWHY_COLUMN_RIGHT},
		{"flow-steps/s", KWHY_COLUMN_RIGHT}, {"calls", KWHY_COLUMN_RIGHT},
		{"waits", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_flow_row *row = &bench->rows[i];
		bool has_calls = has_run(row);

		kwhy_table_cell(&table, row->id);
		kwhy_table_cell(&table, row->title);
		flows_cell(&table, row->flows);
		kwhy_table_real(
			&table, row->on_gpu ? row->step_s.median : row->run_s.median / row->steps, "s");
		kwhy_table_real(&table, row->step_p99_s, "s");
		kwhy_table_real(&table, row->flow_steps_per_s, "");
		if (has_calls) {
			kwhy_table_count(&table, row->tally.calls);
			kwhy_table_count(&table, row->tally.waits);
		} else {
			kwhy_table_cell(&table, row->on_gpu ? NULL : "-");
			kwhy_table_cell(&table, row->on_gpu ? NULL : "-");
		}
	}
	kwhy_table_write(&table, style, out);
}

/* What there is to say of a GPU's utilisation, side by side, and what the variant needs of it. */
static void write_use(
	const struct kwhy_bench_flow *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_LEFT},
		{"flows", KWHY_COLUMN_RIGHT}, {"NVML", KWHY_COLUMN_RIGHT}, {"busy", KWHY_COLUMN_RIGHT},
		{"roofline", KWHY_COLUMN_RIGHT}, {"of", KWHY_COLUMN_RIGHT}, {"memory", KWHY_COLUMN_RIGHT},
		{"error", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_flow_row *row = &bench->rows[i];
		char error[KWHY_QUANTITY_BYTES];

		if (!has_run(row))
			continue;
		snprintf(error, sizeof(error), "%.1e", row->proof.numbers.error_h);
		kwhy_table_cell(&table, row->id);
		flows_cell(&table, row->flows);
		kwhy_table_percent(&table, row->nvml_ratio);
		kwhy_table_percent(&table, row->busy_ratio);
		kwhy_table_percent(&table, row->roofline_ratio);
		kwhy_table_cell(&table, kwhy_flow_precision_name(row->precision));
		kwhy_table_bytes(&table, row->memory_bytes);
		kwhy_table_cell(&table, isfinite(row->proof.numbers.error_h) ? error : NULL);
	}
	kwhy_table_write(&table, style, out);
}

static struct kwhy_workload_energies energies_of(const struct kwhy_bench_flow *bench)
{
	struct kwhy_workload_energies energies = {0};

	for (size_t i = 0; i < bench->row_count; i++)
		if (has_run(&bench->rows[i]))
			kwhy_workload_energies_add(&energies, bench->rows[i].name, &bench->rows[i].energy);
	return energies;
}

static void write_joules(
	const struct kwhy_bench_flow *bench, const struct kwhy_sheet *sheet, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_LEFT},
		{"flows", KWHY_COLUMN_RIGHT}, {"power", KWHY_COLUMN_RIGHT}, {"gross", KWHY_COLUMN_RIGHT},
		{"above idle", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	if (!energies_of(bench).known)
		return;
	kwhy_sheet_heading(sheet, "Energy of a million flow-steps", NULL);
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_flow_row *row = &bench->rows[i];
		struct kwhy_joules gross = kwhy_bench_flow_per_million(row, &row->energy.gross),
				   net = kwhy_bench_flow_per_million(row, &row->energy.net);

		if (!has_run(row))
			continue;
		kwhy_table_cell(&table, row->id);
		flows_cell(&table, row->flows);
		kwhy_table_real(&table, row->energy.mean_w, "W");
		kwhy_workload_joules_cell(&table, &gross);
		kwhy_workload_joules_cell(&table, &net);
	}
	kwhy_table_write(&table, sheet->style, out);
}

/* Each component of a variant beside what the source document says of it, and the usual run. */
static void add_components(struct kwhy_table *table, const struct kwhy_bench_flow_row *row)
{
	for (size_t c = 0; c <= KWHY_FLOW_COMPONENT_COUNT; c++) {
		bool is_all = c == KWHY_FLOW_COMPONENT_COUNT;
		const struct kwhy_bench_flow_component all = {NAN, row->busy_ratio, row->roofline_ratio},
						       *one = is_all ? &all : &row->components[c];

		if (!is_all && isnan(one->time_ratio))
			continue;
		kwhy_table_cell(table, row->id);
		flows_cell(table, row->flows);
		kwhy_table_cell(table, is_all ? "whole run" : kwhy_flow_components_all[c].name);
		if (is_all)
			kwhy_table_cell(table, "-");
		else
			kwhy_table_percent(table, one->time_ratio);
		kwhy_table_percent(table, one->busy_ratio);
		if (is_all || kwhy_flow_components_all[c].flop)
			kwhy_table_percent(table, one->roofline_ratio);
		else
			kwhy_table_cell(table, "-");
		kwhy_table_percent(table,
			is_all ? KWHY_FLOW_DOCUMENT_RATIO : kwhy_flow_components_all[c].document_ratio);
	}
}

static void write_components(
	const struct kwhy_bench_flow *bench, const struct kwhy_sheet *sheet, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_LEFT},
		{"flows", KWHY_COLUMN_RIGHT}, {"", KWHY_COLUMN_LEFT}, {"time", KWHY_COLUMN_RIGHT},
		{"busy", KWHY_COLUMN_RIGHT}, {"roofline", KWHY_COLUMN_RIGHT},
		{"document", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;
	size_t rows = 0;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < bench->row_count; i++)
		if (isfinite(bench->rows[i].apart_run_s)) {
			add_components(&table, &bench->rows[i]);
			rows++;
		}
	if (rows)
		kwhy_sheet_heading(sheet, "Components, each waited for by itself, of one run", NULL);
	if (rows)
		kwhy_table_write(&table, sheet->style, out);
}

static void write_apart(const struct kwhy_bench_flow *bench, const struct kwhy_sheet *sheet)
{
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_flow_row *row = &bench->rows[i];

		if (isfinite(row->apart_run_s))
			kwhy_sheet_linef(sheet, "apart  ",
				"%s: %.3g times as long with a wait after each component", row->name,
				row->apart_run_s / row->run_s.median);
	}
}

static const struct kwhy_bench_flow_row *fastest(const struct kwhy_bench_flow *bench)
{
	const struct kwhy_bench_flow_row *best = NULL;

	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_flow_row *row = &bench->rows[i];

		if (row->on_gpu && isfinite(row->flow_steps_per_s) &&
			(!best || row->flow_steps_per_s > best->flow_steps_per_s))
			best = row;
	}
	return best;
}

static const struct kwhy_bench_flow_row *find_row(
	const struct kwhy_bench_flow *bench, const char *id, uint32_t flows)
{
	for (size_t i = 0; i < bench->row_count; i++)
		if (strcmp(bench->rows[i].id, id) == 0 && bench->rows[i].flows == flows &&
			isfinite(bench->rows[i].flow_steps_per_s))
			return &bench->rows[i];
	return NULL;
}

static void write_best(const struct kwhy_bench_flow *bench, const struct kwhy_sheet *sheet)
{
	const struct kwhy_bench_flow_row *best = fastest(bench),
					 *naive = best ? find_row(bench, "n0", best->flows) : NULL;

	if (naive && naive != best)
		kwhy_sheet_linef(sheet, "best   ", "%s makes %.3g times the flow-steps of n0 at %u flows",
			best->id, best->flow_steps_per_s / naive->flow_steps_per_s, best->flows);
}

static void write_moved(const struct kwhy_bench_flow *bench, const struct kwhy_sheet *sheet)
{
	for (size_t i = 0; bench->by_argmax && i < bench->row_count; i++) {
		const struct kwhy_bench_flow_row *row = &bench->rows[i];

		if (row->on_gpu && row->proof.flows)
			kwhy_sheet_linef(sheet, "path   ",
				"%s: %u flows of the reference are elsewhere after %u steps", row->id,
				row->proof.numbers.elsewhere, row->proof.steps);
	}
}

static void write_notes(const struct kwhy_bench_flow *bench, const struct kwhy_sheet *sheet)
{
	const struct kwhy_workload_energies energies = energies_of(bench);
	bool is_right = fastest(bench) != NULL;

	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_flow_row *row = &bench->rows[i];

		kwhy_workload_missing_note(sheet, row->name, row->missing);
		if (row->wrong)
			kwhy_sheet_linef(sheet, "wrong  ", "%s: %s", row->name, row->wrong);
		is_right = is_right && !row->wrong;
	}
	if (is_right && !bench->by_argmax)
		kwhy_sheet_linef(sheet, "places ", "those of every step of every run were the reference's");
	write_moved(bench, sheet);
	for (size_t p = 0; p < KWHY_FLOW_PRECISION_COUNT; p++)
		if (isfinite(bench->peak_flop_per_s[p])) {
			char rate[KWHY_QUANTITY_BYTES];

			kwhy_sheet_linef(sheet, "roof   ", "%s: %s, as bench ops measures it",
				kwhy_flow_precision_name((enum kwhy_flow_precision)p),
				kwhy_quantity_si(rate, bench->peak_flop_per_s[p], "FLOP/s", 3));
		}
	if (bench->nvml_missing)
		kwhy_sheet_linef(sheet, "NVML   ", "utilisation not available: %s", bench->nvml_missing);
	kwhy_workload_end_notes(sheet, &energies, bench->energy_missing, bench->ended);
}

void kwhy_bench_flow_text(
	const struct kwhy_bench_flow *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	const struct kwhy_sheet sheet = {.style = style, .out = out};

	kwhy_sheet_linef(&sheet, "", "flow on %s (%s): %u step%s, %s", bench->gpu.name,
		kwhy_gpu_backend_name(bench->backend), bench->steps, bench->steps == 1 ? "" : "s",
		bench->by_argmax ? "flows choose their way" : "fixed path");
	kwhy_text_add(out, "\n");
	write_times(bench, style, out);
	if (kwhy_bench_flow_has_run(bench)) {
		kwhy_sheet_heading(&sheet, "Use of the GPU", NULL);
		write_use(bench, style, out);
	}
	write_joules(bench, &sheet, out);
	write_components(bench, &sheet, out);
	kwhy_text_add(out, "\n");
	write_best(bench, &sheet);
	write_apart(bench, &sheet);
	write_notes(bench, &sheet);
}

/* --- JSON --- */

static void write_energy(struct kwhy_json *json, const struct kwhy_bench_flow_row *row)
{
	kwhy_json_object(json, "energy");
	kwhy_json_count(json, "runs", row->energy_runs);
	kwhy_workload_window_json(json, &row->energy);
	kwhy_workload_joules_json(
		json, "gross_j_a_million", kwhy_bench_flow_per_million(row, &row->energy.gross));
	kwhy_workload_joules_json(
		json, "net_j_a_million", kwhy_bench_flow_per_million(row, &row->energy.net));
	kwhy_workload_joules_json(
		json, "host_j_a_million", kwhy_bench_flow_per_million(row, &row->energy.host));
	kwhy_json_object_end(json);
}

static void write_tally(struct kwhy_json *json, const struct kwhy_flow_tally *tally)
{
	kwhy_json_object(json, "a_run");
	kwhy_json_count(json, "calls", tally->calls);
	kwhy_json_count(json, "launches", tally->launches);
	kwhy_json_count(json, "products", tally->products);
	kwhy_json_count(json, "graph_launches", tally->graphs);
	kwhy_json_count(json, "waits", tally->waits);
	kwhy_json_count(json, "allocations", tally->allocations);
	kwhy_json_count(json, "kernels", tally->kernels);
	kwhy_json_count(json, "h2d_copies", tally->h2d_copies);
	kwhy_json_count(json, "h2d_bytes", tally->h2d_bytes);
	kwhy_json_count(json, "d2h_copies", tally->d2h_copies);
	kwhy_json_count(json, "d2h_bytes", tally->d2h_bytes);
	kwhy_json_count(json, "peer_copies", tally->peer_copies);
	kwhy_json_count(json, "peer_bytes", tally->peer_bytes);
	kwhy_json_count(json, "gathers", tally->gathers);
	kwhy_json_count(json, "text_lines", tally->lines);
	kwhy_json_object_end(json);
}

static void write_proof(struct kwhy_json *json, const char *key, const struct kwhy_bench_flow_proof *proof)
{
	kwhy_json_object(json, key);
	kwhy_json_count(json, "flows", proof->flows);
	kwhy_json_count(json, "steps", proof->steps);
	kwhy_json_real(json, "error_h", proof->numbers.error_h);
	kwhy_json_real(json, "error_e", proof->numbers.error_e);
	kwhy_json_real(json, "worst_h", proof->numbers.worst_h);
	kwhy_json_real(json, "tolerance_h", proof->tolerance);
	kwhy_json_count(json, "elsewhere", proof->numbers.elsewhere);
	kwhy_json_real(json, "sum_h", proof->numbers.sum_h);
	kwhy_json_real(json, "sum_e", proof->numbers.sum_e);
	kwhy_json_real(json, "sum_out", proof->numbers.sum_out);
	kwhy_json_object_end(json);
}

static void write_components_json(struct kwhy_json *json, const struct kwhy_bench_flow_row *row)
{
	kwhy_json_real(json, "apart_run_s", row->apart_run_s);
	kwhy_json_array(json, "components");
	for (size_t c = 0; c < KWHY_FLOW_COMPONENT_COUNT; c++) {
		const struct kwhy_bench_flow_component *one = &row->components[c];

		if (isnan(one->time_ratio))
			continue;
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "name", kwhy_flow_components_all[c].name);
		kwhy_json_real(json, "time_ratio", one->time_ratio);
		kwhy_json_real(json, "busy_ratio", one->busy_ratio);
		kwhy_json_real(json, "roofline_ratio", one->roofline_ratio);
		kwhy_json_real(json, "document_ratio", kwhy_flow_components_all[c].document_ratio);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static void write_row(struct kwhy_json *json, const struct kwhy_bench_flow_row *row)
{
	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "id", row->id);
	kwhy_json_string(json, "title", row->title);
	kwhy_json_string(json, "after", row->after);
	kwhy_json_string(json, "change", row->change);
	kwhy_json_string(json, "missing", row->missing);
	kwhy_json_string(json, "wrong", row->wrong);
	kwhy_json_count(json, "flows", row->flows);
	kwhy_json_count(json, "steps", row->steps);
	kwhy_json_string(json, "products", row->products);
	kwhy_json_count(json, "gpus", row->gpu_count);
	if (has_run(row))
		kwhy_json_count(json, "memory_bytes", row->memory_bytes);
	else
		kwhy_json_string(json, "memory_bytes", NULL);
	kwhy_json_string(json, "collectives",
		row->gpu_count < 2	     ? NULL
			: row->tally.gathers ? "nccl"
					     : "own");
	kwhy_json_string(json, "precision", kwhy_flow_precision_name(row->precision));
	kwhy_json_count(json, "runs", row->run_count);
	kwhy_workload_median_json(json, "run_s", &row->run_s);
	kwhy_workload_median_json(json, "step_s", &row->step_s);
	kwhy_json_real(json, "step_p99_s", row->step_p99_s);
	kwhy_json_string(json, "step_clock", row->device_clock ? "device" : "host");
	kwhy_json_real(json, "flow_steps_per_s", row->flow_steps_per_s);
	kwhy_json_real(json, "nvml_ratio", row->nvml_ratio);
	kwhy_json_real(json, "busy_ratio", row->busy_ratio);
	kwhy_json_real(json, "roofline_ratio", row->roofline_ratio);
	if (has_run(row))
		write_tally(json, &row->tally);
	if (row->proof.flows)
		write_proof(json, "proof", &row->proof);
	if (row->crowd.flows)
		write_proof(json, "crowd", &row->crowd);
	if (isfinite(row->apart_run_s))
		write_components_json(json, row);
	write_energy(json, row);
	kwhy_json_object_end(json);
}

static void write_head(struct kwhy_json *json, const struct kwhy_bench_flow *bench)
{
	const struct kwhy_workload_energies energies = energies_of(bench);

	kwhy_json_string(json, "schema", "kwhy.flow/1");
	kwhy_json_string(json, "backend", kwhy_gpu_backend_name(bench->backend));
	kwhy_workload_gpu_json(json, "gpu", &bench->gpu);
	kwhy_json_count(json, "steps", bench->steps);
	kwhy_json_string(json, "path", bench->by_argmax ? "argmax" : "fixed");
	kwhy_json_count(json, "flop_a_flow_step", KWHY_FLOW_FLOP);
	kwhy_json_row(json, "peak_flop_per_s");
	for (size_t p = 0; p < KWHY_FLOW_PRECISION_COUNT; p++)
		kwhy_json_real(json, kwhy_flow_precision_name((enum kwhy_flow_precision)p),
			bench->peak_flop_per_s[p]);
	kwhy_json_object_end(json);
	kwhy_json_string(
		json, "energy_missing", kwhy_workload_energies_missing(&energies, bench->energy_missing));
	kwhy_json_string(json, "nvml_missing", bench->nvml_missing);
	kwhy_json_string(json, "ended", bench->ended);
}

void kwhy_bench_flow_json(const struct kwhy_bench_flow *bench, struct kwhy_text *out)
{
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	write_head(&json, bench);
	kwhy_json_array(&json, "variants");
	for (size_t i = 0; i < bench->row_count; i++)
		write_row(&json, &bench->rows[i]);
	kwhy_json_array_end(&json);
	kwhy_json_object_end(&json);
}

/* --- CSV --- */

void kwhy_bench_flow_csv(const struct kwhy_bench_flow *bench, struct kwhy_text *out)
{
	kwhy_text_add(out, "variant,flows,run,step,seconds\n");
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_flow_row *row = &bench->rows[i];

		for (size_t run = 0; run < row->kept_runs; run++)
			for (uint32_t step = 0; step < row->steps; step++)
				kwhy_text_addf(out, "%s,%u,%zu,%u,%.9f\n", row->id, row->flows, run, step,
					row->step_times[run * row->steps + step]);
	}
}
