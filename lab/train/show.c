/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/train/show.h"

#include "cli/bench/workload_show.h"

#include <math.h>
#include <stdio.h>

/* --- What the figures come to --- */

static double samples_per_s(const struct kwhy_bench_train *bench, const struct kwhy_bench_train_row *row)
{
	return bench->shape.batch / kwhy_bench_train_step_s(bench, row);
}

static double flop_per_s(const struct kwhy_bench_train *bench, const struct kwhy_bench_train_row *row)
{
	return kwhy_train_step_flop(&bench->shape) / kwhy_bench_train_step_s(bench, row);
}

static struct kwhy_joules gross_a_step(
	const struct kwhy_bench_train *bench, const struct kwhy_bench_train_row *row)
{
	return kwhy_bench_train_step_joules(bench, row, &row->energy.gross);
}

/* --- Text --- */

static void write_figures(
	const struct kwhy_bench_train *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_LEFT}, {"", KWHY_COLUMN_NAME},
		{"step", KWHY_COLUMN_RIGHT}, {"samples/s", KWHY_COLUMN_RIGHT}, {"FLOP/s", KWHY_COLUMN_RIGHT},
		{"loss", KWHY_COLUMN_RIGHT}, {"off by", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_train_row *row = &bench->rows[i];
		char loss[32] = "n/a", error[32] = "n/a";

		if (!row->missing)
			snprintf(loss, sizeof(loss), "%.4f", (double)row->losses[bench->shape.steps - 1]);
		if (isfinite(row->errors.first))
			snprintf(error, sizeof(error), "%.0e", row->errors.first);
		kwhy_table_cell(&table, row->id);
		kwhy_table_cell(&table, row->title);
		kwhy_table_real(&table, kwhy_bench_train_step_s(bench, row), "s");
		kwhy_table_real(&table, samples_per_s(bench, row), "");
		kwhy_table_real(&table, flop_per_s(bench, row), "");
		kwhy_table_cell(&table, loss);
		kwhy_table_cell(&table, error);
	}
	kwhy_table_write(&table, style, out);
}

static void write_energies(
	const struct kwhy_bench_train *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_LEFT},
		{"J a step", KWHY_COLUMN_RIGHT}, {"above idle", KWHY_COLUMN_RIGHT},
		{"samples/J", KWHY_COLUMN_RIGHT}, {"FLOP/J", KWHY_COLUMN_RIGHT},
		{"power", KWHY_COLUMN_RIGHT}};
	double flop = kwhy_train_step_flop(&bench->shape);
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_train_row *row = &bench->rows[i];
		struct kwhy_joules gross = gross_a_step(bench, row),
				   net = kwhy_bench_train_step_joules(bench, row, &row->energy.net);

		kwhy_table_cell(&table, row->id);
		kwhy_workload_joules_cell(&table, &gross);
		kwhy_workload_joules_cell(&table, &net);
		kwhy_table_real(&table, bench->shape.batch / gross.value, "");
		kwhy_table_real(&table, flop / gross.value, "");
		kwhy_table_real(&table, row->energy.mean_w, "W");
	}
	kwhy_table_write(&table, style, out);
}

static void write_makings(
	const struct kwhy_bench_train *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_LEFT},
		{"GPUs", KWHY_COLUMN_RIGHT}, {"launches", KWHY_COLUMN_RIGHT}, {"waits", KWHY_COLUMN_RIGHT},
		{"memory", KWHY_COLUMN_RIGHT}, {"activations", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_train_row *row = &bench->rows[i];

		if (row->missing)
			continue;
		kwhy_table_cell(&table, row->id);
		kwhy_table_count(&table, row->gpus);
		kwhy_table_count(&table, row->tally.launches + row->tally.graphs);
		kwhy_table_count(&table, row->tally.waits);
		kwhy_table_bytes(&table, row->bytes);
		kwhy_table_bytes(&table, row->activation_bytes);
	}
	kwhy_table_write(&table, style, out);
}

static void write_check(const struct kwhy_bench_train *bench, const struct kwhy_sheet *sheet)
{
	const struct kwhy_train_shape *checked = &bench->checked;

	if (!checked->steps) {
		kwhy_sheet_linef(sheet, "check  ", "nothing was held against the reference: not asked for");
		return;
	}
	kwhy_sheet_linef(sheet, "check  ",
		"'off by' is the distance of AdamW's first moments from the reference's, of their size, "
		"after %u "
		"step%s on %u layer%s of %u and batches of %u",
		checked->steps, checked->steps == 1 ? "" : "s", checked->layers,
		checked->layers == 1 ? "" : "s", checked->width, checked->batch);
}

/* Of all that ran; nothing where a variant was wrong, which its row says, or none ran. */
static bool gave_the_same_bits(const struct kwhy_bench_train *bench)
{
	return kwhy_bench_train_has_run(bench) && !bench->is_wrong;
}

static struct kwhy_workload_energies energies_of(const struct kwhy_bench_train *bench)
{
	struct kwhy_workload_energies energies = {0};

	for (size_t i = 0; i < bench->row_count; i++)
		if (!bench->rows[i].missing)
			kwhy_workload_energies_add(&energies, bench->rows[i].id, &bench->rows[i].energy);
	return energies;
}

static void write_notes(const struct kwhy_bench_train *bench, const struct kwhy_sheet *sheet)
{
	const struct kwhy_workload_energies energies = energies_of(bench);

	write_check(bench, sheet);
	if (gave_the_same_bits(bench))
		kwhy_sheet_linef(sheet, "losses ", "every run of a variant gave the same bits");
	for (size_t i = 0; i < bench->row_count; i++)
		kwhy_workload_missing_note(sheet, bench->rows[i].id, bench->rows[i].missing);
	kwhy_workload_end_notes(sheet, &energies, bench->energy_missing, bench->ended);
}

void kwhy_bench_train_text(
	const struct kwhy_bench_train *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	const struct kwhy_sheet sheet = {.style = style, .out = out};
	const struct kwhy_train_shape *shape = &bench->shape;

	kwhy_sheet_linef(&sheet, "", "train on %s (%s): %u layer%s of %u, batches of %u, %u step%s a run",
		bench->gpus[0].name, kwhy_gpu_backend_name(bench->backend), shape->layers,
		shape->layers == 1 ? "" : "s", shape->width, shape->batch, shape->steps,
		shape->steps == 1 ? "" : "s");
	kwhy_text_add(out, "\n");
	write_figures(bench, style, out);
	if (energies_of(bench).known) {
		kwhy_text_add(out, "\n");
		write_energies(bench, style, out);
	}
	if (kwhy_bench_train_has_run(bench)) {
		kwhy_sheet_heading(&sheet, "What a run asks for", NULL);
		write_makings(bench, style, out);
	}
	kwhy_text_add(out, "\n");
	write_notes(bench, &sheet);
}

/* --- JSON --- */

static void write_energy(
	struct kwhy_json *json, const struct kwhy_bench_train *bench, const struct kwhy_bench_train_row *row)
{
	struct kwhy_joules gross = gross_a_step(bench, row);

	kwhy_json_object(json, "energy");
	kwhy_json_count(json, "runs", row->energy_runs);
	kwhy_workload_window_json(json, &row->energy);
	kwhy_workload_joules_json(json, "gross_j_a_step", gross);
	kwhy_workload_joules_json(
		json, "net_j_a_step", kwhy_bench_train_step_joules(bench, row, &row->energy.net));
	kwhy_workload_joules_json(
		json, "host_j_a_step", kwhy_bench_train_step_joules(bench, row, &row->energy.host));
	kwhy_workload_joules_json(
		json, "samples_per_j", kwhy_workload_for_a_joule(bench->shape.batch, &gross));
	kwhy_workload_joules_json(
		json, "flop_per_j", kwhy_workload_for_a_joule(kwhy_train_step_flop(&bench->shape), &gross));
	kwhy_json_object_end(json);
}

static void write_errors(struct kwhy_json *json, const struct kwhy_train_errors *errors)
{
	kwhy_json_row(json, "errors");
	kwhy_json_real(json, "loss", errors->loss);
	kwhy_json_real(json, "first_moment", errors->first);
	kwhy_json_real(json, "second_moment", errors->second);
	kwhy_json_real(json, "weights_way", errors->weights);
	kwhy_json_object_end(json);
}

static void write_tally(struct kwhy_json *json, const struct kwhy_train_tally *tally)
{
	kwhy_json_row(json, "a_run");
	kwhy_json_count(json, "launches", tally->launches);
	kwhy_json_count(json, "graph_launches", tally->graphs);
	kwhy_json_count(json, "copies", tally->copies);
	kwhy_json_count(json, "waits", tally->waits);
	kwhy_json_object_end(json);
}

static void write_losses(
	struct kwhy_json *json, const struct kwhy_bench_train *bench, const struct kwhy_bench_train_row *row)
{
	kwhy_json_list(json, "losses");
	for (uint32_t i = 0; i < bench->shape.steps; i++)
		kwhy_json_real(json, NULL, (double)row->losses[i]);
	kwhy_json_array_end(json);
}

static void write_row(
	struct kwhy_json *json, const struct kwhy_bench_train *bench, const struct kwhy_bench_train_row *row)
{
	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "id", row->id);
	kwhy_json_string(json, "title", row->title);
	kwhy_json_string(json, "after", row->after);
	kwhy_json_string(json, "change", row->change);
	kwhy_json_string(json, "missing", row->missing);
	kwhy_json_count(json, "gpus", row->gpus);
	kwhy_json_string(json, "products", row->products);
	write_errors(json, &row->errors);
	if (!row->missing) {
		kwhy_workload_median_json(json, "run_s", &row->run_s);
		kwhy_json_real(json, "step_s", kwhy_bench_train_step_s(bench, row));
		kwhy_json_real(json, "samples_per_s", samples_per_s(bench, row));
		kwhy_json_real(json, "flop_per_s", flop_per_s(bench, row));
		kwhy_json_count(json, "memory_bytes", row->bytes);
		kwhy_json_count(json, "activation_bytes", row->activation_bytes);
		write_tally(json, &row->tally);
		write_energy(json, bench, row);
		write_losses(json, bench, row);
	}
	kwhy_json_object_end(json);
}

static void write_shape(struct kwhy_json *json, const char *key, const struct kwhy_train_shape *shape)
{
	kwhy_json_row(json, key);
	kwhy_json_count(json, "width", shape->width);
	kwhy_json_count(json, "layers", shape->layers);
	kwhy_json_count(json, "batch", shape->batch);
	kwhy_json_count(json, "parts", shape->parts);
	kwhy_json_count(json, "samples", shape->samples);
	kwhy_json_count(json, "steps", shape->steps);
	kwhy_json_object_end(json);
}

void kwhy_bench_train_json(const struct kwhy_bench_train *bench, struct kwhy_text *out)
{
	const struct kwhy_workload_energies energies = energies_of(bench);
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", "kwhy.train/1");
	kwhy_json_string(&json, "backend", kwhy_gpu_backend_name(bench->backend));
	kwhy_workload_gpus_json(&json, bench->gpus, bench->gpu_count);
	write_shape(&json, "shape", &bench->shape);
	if (bench->checked.steps)
		write_shape(&json, "checked", &bench->checked);
	else
		kwhy_json_null(&json, "checked");
	kwhy_json_real(&json, "flop_a_step", kwhy_train_step_flop(&bench->shape));
	kwhy_json_string(
		&json, "energy_missing", kwhy_workload_energies_missing(&energies, bench->energy_missing));
	kwhy_json_string(&json, "ended", bench->ended);
	kwhy_json_array(&json, "variants");
	for (size_t i = 0; i < bench->row_count; i++)
		write_row(&json, bench, &bench->rows[i]);
	kwhy_json_array_end(&json);
	kwhy_json_object_end(&json);
}

/* --- CSV --- */

/* All steps of a variant are alike: up to a step's loss its part of a run has gone. */
void kwhy_bench_train_csv(const struct kwhy_bench_train *bench, struct kwhy_text *out)
{
	kwhy_text_add(out, "variant,step,loss,seconds,joules\n");
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_train_row *row = &bench->rows[i];
		double seconds = kwhy_bench_train_step_s(bench, row), joules = gross_a_step(bench, row).value;

		for (uint32_t step = 0; step < bench->shape.steps && !row->missing; step++) {
			kwhy_text_addf(out, "%s,%u,%.9g,%.9g,", row->id, step, (double)row->losses[step],
				seconds * step);
			if (isfinite(joules))
				kwhy_text_addf(out, "%.9g", joules * step);
			kwhy_text_add(out, "\n");
		}
	}
}
