/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/twin/show.h"

#include "base/quantity.h"
#include "cli/bench/workload_show.h"

#include <math.h>
#include <stdio.h>

static struct kwhy_joules per_run(const struct kwhy_bench_twin_row *row, const struct kwhy_joules *joules)
{
	return kwhy_joules_times(joules, row->energy_runs ? 1 / (double)row->energy_runs : NAN);
}

/* --- Text --- */

static void write_times(
	const struct kwhy_bench_twin *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_LEFT}, {"", KWHY_COLUMN_NAME},
		{"run", KWHY_COLUMN_RIGHT}, {"step", KWHY_COLUMN_RIGHT}, {"p99", KWHY_COLUMN_RIGHT},
		{"calls", KWHY_COLUMN_RIGHT}, {"waits", KWHY_COLUMN_RIGHT}, {"J a run", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_twin_row *row = &bench->rows[i];
		struct kwhy_joules gross = per_run(row, &row->energy.gross);
		bool is_gpu = row->gpus > 0;

		kwhy_table_cell(&table, row->id);
		kwhy_table_cell(&table, row->title);
		kwhy_table_real(&table, row->run_s.median, "s");
		kwhy_table_real(&table, row->step_s.median, "s");
		kwhy_table_real(&table, row->step_p99_s, "s");
		if (is_gpu && !row->missing) {
			kwhy_table_count(&table, row->tally.calls);
			kwhy_table_count(&table, row->tally.waits);
		} else {
			kwhy_table_cell(&table, row->missing ? NULL : "-");
			kwhy_table_cell(&table, row->missing ? NULL : "-");
		}
		kwhy_workload_joules_cell(&table, &gross);
	}
	kwhy_table_write(&table, style, out);
}

static void write_moves(
	const struct kwhy_bench_twin *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_LEFT},
		{"to GPU", KWHY_COLUMN_RIGHT}, {"bytes", KWHY_COLUMN_RIGHT}, {"from GPU", KWHY_COLUMN_RIGHT},
		{"bytes", KWHY_COLUMN_RIGHT}, {"kernels", KWHY_COLUMN_RIGHT},
		{"collectives", KWHY_COLUMN_RIGHT}, {"above idle", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_twin_row *row = &bench->rows[i];
		struct kwhy_joules net = per_run(row, &row->energy.net);

		if (!row->gpus || row->missing)
			continue;
		kwhy_table_cell(&table, row->id);
		kwhy_table_count(&table, row->tally.h2d_copies);
		kwhy_table_bytes(&table, row->tally.h2d_bytes);
		kwhy_table_count(&table, row->tally.d2h_copies);
		kwhy_table_bytes(&table, row->tally.d2h_bytes);
		kwhy_table_count(&table, row->tally.kernels);
		kwhy_table_count(&table, row->tally.collectives);
		kwhy_workload_joules_cell(&table, &net);
	}
	kwhy_table_write(&table, style, out);
}

static const struct kwhy_bench_twin_row *fastest(const struct kwhy_bench_twin *bench)
{
	const struct kwhy_bench_twin_row *best = NULL;

	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_twin_row *row = &bench->rows[i];

		if (row->gpus && !row->missing && (!best || row->run_s.median < best->run_s.median))
			best = row;
	}
	return best;
}

static void write_floor(const struct kwhy_bench_twin *bench, const struct kwhy_sheet *sheet)
{
	const struct kwhy_bench_twin_row *best = fastest(bench);
	double run_s = bench->floor_step_s.median * bench->shape.steps;
	char step[KWHY_QUANTITY_BYTES], run[KWHY_QUANTITY_BYTES];

	if (!bench->floor_step_s.count)
		return;
	kwhy_quantity_si(step, bench->floor_step_s.median, "s", 3);
	kwhy_quantity_si(run, run_s, "s", 3);
	kwhy_sheet_linef(sheet, "floor  ",
		"a graph launch, one copy of %d B and a wait take %s: %s for %u steps",
		KWHY_TWIN_OBSERVED_BYTES, step, run, bench->shape.steps);
	if (best)
		kwhy_sheet_linef(
			sheet, "best   ", "%s takes %.3g times that", best->id, best->run_s.median / run_s);
}

/* Of those on GPUs. */
static struct kwhy_workload_energies energies_of(const struct kwhy_bench_twin *bench)
{
	struct kwhy_workload_energies energies = {0};

	for (size_t i = 0; i < bench->row_count; i++)
		if (bench->rows[i].gpus && !bench->rows[i].missing)
			kwhy_workload_energies_add(&energies, bench->rows[i].id, &bench->rows[i].energy);
	return energies;
}

static void write_notes(const struct kwhy_bench_twin *bench, const struct kwhy_sheet *sheet)
{
	const struct kwhy_workload_energies energies = energies_of(bench);

	if (fastest(bench))
		kwhy_sheet_linef(sheet, "bits   ", "every step of every run gave those of the reference");
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_twin_row *row = &bench->rows[i];

		kwhy_workload_missing_note(sheet, row->id, row->missing);
		if (row->device_clock && !row->missing)
			kwhy_sheet_linef(sheet, "note   ",
				"steps of %s by the device's clock; the host sees one launch", row->id);
	}
	kwhy_workload_end_notes(sheet, &energies, bench->energy_missing, bench->ended);
}

void kwhy_bench_twin_text(
	const struct kwhy_bench_twin *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	const struct kwhy_sheet sheet = {.style = style, .out = out};

	kwhy_sheet_linef(&sheet, "", "twin on %s (%s): %u step%s, %u rank%s, %s loop, on %u GPU%s",
		bench->gpus[0].name, kwhy_gpu_backend_name(bench->backend), bench->shape.steps,
		bench->shape.steps == 1 ? "" : "s", bench->shape.ranks, bench->shape.ranks == 1 ? "" : "s",
		bench->shape.closed ? "closed" : "open", bench->gpu_count, bench->gpu_count == 1 ? "" : "s");
	kwhy_text_add(out, "\n");
	write_times(bench, style, out);
	kwhy_sheet_heading(&sheet, "What a run moves", NULL);
	write_moves(bench, style, out);
	kwhy_text_add(out, "\n");
	write_floor(bench, &sheet);
	write_notes(bench, &sheet);
}

/* --- JSON --- */

static void write_tally(struct kwhy_json *json, const struct kwhy_twin_tally *tally)
{
	kwhy_json_object(json, "a_run");
	kwhy_json_count(json, "calls", tally->calls);
	kwhy_json_count(json, "launches", tally->launches);
	kwhy_json_count(json, "graph_launches", tally->graphs);
	kwhy_json_count(json, "batches", tally->batches);
	kwhy_json_count(json, "waits", tally->waits);
	kwhy_json_count(json, "kernels", tally->kernels);
	kwhy_json_count(json, "collectives", tally->collectives);
	kwhy_json_count(json, "h2d_copies", tally->h2d_copies);
	kwhy_json_count(json, "h2d_bytes", tally->h2d_bytes);
	kwhy_json_count(json, "d2h_copies", tally->d2h_copies);
	kwhy_json_count(json, "d2h_bytes", tally->d2h_bytes);
	kwhy_json_count(json, "d2d_copies", tally->d2d_copies);
	kwhy_json_count(json, "d2d_bytes", tally->d2d_bytes);
	kwhy_json_object_end(json);
}

static void write_energy(struct kwhy_json *json, const struct kwhy_bench_twin_row *row)
{
	kwhy_json_object(json, "energy");
	kwhy_json_count(json, "runs", row->energy_runs);
	kwhy_workload_window_json(json, &row->energy);
	kwhy_workload_joules_json(json, "gross_j_a_run", per_run(row, &row->energy.gross));
	kwhy_workload_joules_json(json, "net_j_a_run", per_run(row, &row->energy.net));
	kwhy_workload_joules_json(json, "host_j_a_run", per_run(row, &row->energy.host));
	kwhy_json_object_end(json);
}

static void write_row(struct kwhy_json *json, const struct kwhy_bench_twin_row *row)
{
	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "id", row->id);
	kwhy_json_string(json, "title", row->title);
	kwhy_json_string(json, "after", row->after);
	kwhy_json_string(json, "change", row->change);
	kwhy_json_string(json, "missing", row->missing);
	kwhy_json_count(json, "gpus", row->gpus);
	kwhy_json_count(json, "runs", row->run_count);
	kwhy_workload_median_json(json, "run_s", &row->run_s);
	kwhy_workload_median_json(json, "step_s", &row->step_s);
	kwhy_json_real(json, "step_p99_s", row->step_p99_s);
	kwhy_json_string(json, "step_clock", row->device_clock ? "device" : "host");
	kwhy_json_real(json, "busy_ratio", row->busy_ratio);
	if (row->gpus && !row->missing)
		write_tally(json, &row->tally);
	write_energy(json, row);
	kwhy_json_object_end(json);
}

void kwhy_bench_twin_json(const struct kwhy_bench_twin *bench, struct kwhy_text *out)
{
	const struct kwhy_workload_energies energies = energies_of(bench);
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", "kwhy.twin/1");
	kwhy_json_string(&json, "backend", kwhy_gpu_backend_name(bench->backend));
	kwhy_workload_gpus_json(&json, bench->gpus, bench->gpu_count);
	kwhy_json_count(&json, "steps", bench->shape.steps);
	kwhy_json_count(&json, "ranks", bench->shape.ranks);
	kwhy_json_string(&json, "loop", bench->shape.closed ? "closed" : "open");
	kwhy_json_string(&json, "collectives", bench->collectives);
	kwhy_workload_median_json(&json, "floor_step_s", &bench->floor_step_s);
	kwhy_json_string(
		&json, "energy_missing", kwhy_workload_energies_missing(&energies, bench->energy_missing));
	kwhy_json_string(&json, "ended", bench->ended);
	kwhy_json_array(&json, "variants");
	for (size_t i = 0; i < bench->row_count; i++)
		write_row(&json, &bench->rows[i]);
	kwhy_json_array_end(&json);
	kwhy_json_object_end(&json);
}

/* --- CSV --- */

void kwhy_bench_twin_csv(const struct kwhy_bench_twin *bench, struct kwhy_text *out)
{
	kwhy_text_add(out, "variant,run,step,seconds\n");
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_twin_row *row = &bench->rows[i];

		for (size_t run = 0; run < row->kept_runs; run++)
			for (uint32_t step = 0; step < bench->shape.steps; step++)
				kwhy_text_addf(out, "%s,%zu,%u,%.9f\n", row->id, run, step,
					row->steps[run * bench->shape.steps + step]);
	}
}
