/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/show.h"

#include "base/quantity.h"
#include "cli/bench/workload_show.h"

#include <math.h>
#include <stdio.h>

static double tokens_per_s(const struct kwhy_bench_decode_phase *phase)
{
	return (double)phase->tokens / phase->run_s.median;
}

static struct kwhy_joules per_served_token(
	const struct kwhy_bench_decode_serving *serving, const struct kwhy_joules *joules)
{
	return kwhy_joules_times(joules, 1 / (double)serving->tokens);
}

/* --- Text --- */

/* "61 ±1.2 %" tokens of a joule. */
static void tokens_cell(struct kwhy_table *table, const struct kwhy_joules *joules)
{
	char value[KWHY_QUANTITY_BYTES], text[2 * KWHY_QUANTITY_BYTES];
	double half = (joules->high - joules->low) / 2;

	kwhy_quantity_number(value, 1 / joules->value);
	if (!isfinite(joules->value) || joules->value <= 0)
		snprintf(text, sizeof(text), "n/a");
	else if (isfinite(half))
		snprintf(text, sizeof(text), "%s±%.2g %%", value, 100 * half / joules->value);
	else
		snprintf(text, sizeof(text), "%s", value);
	kwhy_table_cell(table, text);
}

/* Ids of rows are long where pages, caches and GPUs are in them: joules have a table of their own. */
static void write_writing(
	const struct kwhy_bench_decode *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_NAME},
		{"tokens/s", KWHY_COLUMN_RIGHT}, {"token", KWHY_COLUMN_RIGHT}, {"p95", KWHY_COLUMN_RIGHT},
		{"error", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;
	char error[32];

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_decode_row *row = &bench->rows[i];

		kwhy_table_cell(&table, row->id);
		kwhy_table_real(&table, tokens_per_s(&row->phases[KWHY_DECODE_WRITING]), "");
		kwhy_table_real(&table, row->step_s.median, "s");
		kwhy_table_real(&table, row->step_s.p95, "s");
		snprintf(error, sizeof(error), "%.1e", row->error.relative);
		kwhy_table_cell(&table, isfinite(row->error.relative) ? error : NULL);
	}
	kwhy_table_write(&table, style, out);
}

static void write_reading(
	const struct kwhy_bench_decode *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {
		{"", KWHY_COLUMN_NAME}, {"tokens/s", KWHY_COLUMN_RIGHT}, {"run", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_decode_row *row = &bench->rows[i];
		const struct kwhy_bench_decode_phase *phase = &row->phases[KWHY_DECODE_READING];

		if (row->missing)
			continue;
		kwhy_table_cell(&table, row->id);
		kwhy_table_real(&table, tokens_per_s(phase), "");
		kwhy_table_real(&table, phase->run_s.median, "s");
	}
	kwhy_table_write(&table, style, out);
}

static void write_served(
	const struct kwhy_bench_decode *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_NAME}, {"", KWHY_COLUMN_LEFT},
		{"tokens/s", KWHY_COLUMN_RIGHT}, {"first", KWHY_COLUMN_RIGHT}, {"p95", KWHY_COLUMN_RIGHT},
		{"busy", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < bench->row_count; i++)
		for (int s = 0; s < KWHY_DECODE_SEATING_COUNT; s++) {
			const struct kwhy_bench_decode_serving *serving = &bench->rows[i].serving[s];

			if (!serving->sequences)
				continue;
			kwhy_table_cell(&table, s ? "" : bench->rows[i].id);
			kwhy_table_cell(&table, kwhy_decode_seating_name((enum kwhy_decode_seating)s));
			kwhy_table_real(&table, (double)serving->tokens / serving->seconds, "");
			kwhy_table_real(&table, serving->first_s.median, "s");
			kwhy_table_real(&table, serving->first_s.p95, "s");
			kwhy_table_percent(&table, serving->busy_ratio);
		}
	kwhy_table_write(&table, style, out);
}

static void add_joules(struct kwhy_table *table, const char *id, const char *what,
	const struct kwhy_joules *gross, const struct kwhy_joules *net)
{
	kwhy_table_cell(table, id);
	kwhy_table_cell(table, what);
	tokens_cell(table, gross);
	kwhy_workload_joules_short_cell(table, gross);
	kwhy_workload_joules_short_cell(table, net);
}

static void add_row_joules(struct kwhy_table *table, const struct kwhy_bench_decode_row *row)
{
	/* what the benchmark is about first */
	static const enum kwhy_decode_phase phases[] = {KWHY_DECODE_WRITING, KWHY_DECODE_READING};

	for (size_t p = 0; p < sizeof(phases) / sizeof(phases[0]); p++) {
		const struct kwhy_bench_decode_phase *phase = &row->phases[phases[p]];
		struct kwhy_joules gross = kwhy_bench_decode_per_token(phase, &phase->energy.gross),
				   net = kwhy_bench_decode_per_token(phase, &phase->energy.net);

		add_joules(table, p ? "" : row->id, kwhy_decode_phase_name(phases[p]), &gross, &net);
	}
	for (int s = 0; s < KWHY_DECODE_SEATING_COUNT; s++) {
		const struct kwhy_bench_decode_serving *serving = &row->serving[s];
		struct kwhy_joules gross = per_served_token(serving, &serving->energy.gross),
				   net = per_served_token(serving, &serving->energy.net);

		if (serving->sequences)
			add_joules(table, "", kwhy_decode_seating_name((enum kwhy_decode_seating)s), &gross,
				&net);
	}
}

static void add_phases(struct kwhy_workload_energies *energies, const struct kwhy_bench_decode_phase phases[])
{
	for (int p = 0; p < KWHY_DECODE_PHASE_COUNT; p++)
		kwhy_workload_energies_add(energies, phases[p].window, &phases[p].energy);
}

/* A row has one of each phase, and of all that is measured beside. */
static struct kwhy_workload_energies energies_of(const struct kwhy_bench_decode *bench)
{
	struct kwhy_workload_energies energies = {0};

	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_decode_row *row = &bench->rows[i];

		if (row->missing)
			continue;
		add_phases(&energies, row->phases);
		if (row->ranks > 1)
			add_phases(&energies, row->alone);
		for (int s = 0; s < KWHY_DECODE_SEATING_COUNT; s++)
			if (row->serving[s].sequences)
				kwhy_workload_energies_add(
					&energies, row->serving[s].window, &row->serving[s].energy);
	}
	return energies;
}

static void write_joules(
	const struct kwhy_bench_decode *bench, const struct kwhy_sheet *sheet, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_NAME}, {"", KWHY_COLUMN_LEFT},
		{"tokens/J", KWHY_COLUMN_RIGHT}, {"J/token", KWHY_COLUMN_RIGHT}, {"net", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	if (!energies_of(bench).known)
		return;
	kwhy_sheet_heading(sheet, "Energy of a token", NULL);
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < bench->row_count; i++)
		if (!bench->rows[i].missing)
			add_row_joules(&table, &bench->rows[i]);
	kwhy_table_write(&table, sheet->style, out);
}

static bool has_several(const struct kwhy_bench_decode *bench)
{
	for (size_t i = 0; i < bench->row_count; i++)
		if (bench->rows[i].ranks > 1 && !bench->rows[i].missing)
			return true;
	return false;
}

static void write_exposed(
	const struct kwhy_bench_decode *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"", KWHY_COLUMN_NAME}, {"", KWHY_COLUMN_LEFT},
		{"run", KWHY_COLUMN_RIGHT}, {"alone", KWHY_COLUMN_RIGHT}, {"exposed", KWHY_COLUMN_RIGHT},
		{"a token", KWHY_COLUMN_RIGHT}, {"J/token", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < bench->row_count; i++)
		for (enum kwhy_decode_phase p = 0; p < KWHY_DECODE_PHASE_COUNT; p++) {
			const struct kwhy_bench_decode_row *row = &bench->rows[i];
			double run_s = row->phases[p].run_s.median, alone_s = row->alone[p].run_s.median;
			struct kwhy_joules joules = kwhy_bench_decode_exposed_joules(row, p);

			if (row->ranks < 2 || row->missing)
				continue;
			kwhy_table_cell(&table, p ? "" : row->id);
			kwhy_table_cell(&table, kwhy_decode_phase_name(p));
			kwhy_table_real(&table, run_s, "s");
			kwhy_table_real(&table, alone_s, "s");
			kwhy_table_percent(&table, (run_s - alone_s) / run_s);
			kwhy_table_real(&table, kwhy_bench_decode_exposed_s(row, p), "s");
			kwhy_workload_joules_short_cell(&table, &joules);
		}
	kwhy_table_write(&table, style, out);
}

/* What sequences that come and go had of the memory, beside what slots that keep theirs have. */
static void write_pages(const struct kwhy_bench_decode_row *row, const struct kwhy_sheet *sheet)
{
	char most[KWHY_QUANTITY_BYTES], mean[KWHY_QUANTITY_BYTES], all[KWHY_QUANTITY_BYTES];
	double page = (double)row->page * (double)row->token_bytes;

	for (int s = 0; s < KWHY_DECODE_SEATING_COUNT; s++) {
		const struct kwhy_bench_decode_serving *serving = &row->serving[s];

		if (!isfinite(serving->pages_mean))
			continue;
		kwhy_quantity_si(most, serving->pages_most * page, "B", 3);
		kwhy_quantity_si(mean, serving->pages_mean * page, "B", 3);
		kwhy_quantity_si(all, (double)row->cache_bytes, "B", 3);
		kwhy_sheet_linef(sheet, "pages  ", "%s, %s: %s of %s at most, %s on average", row->id,
			kwhy_decode_seating_name((enum kwhy_decode_seating)s), most, all, mean);
	}
}

static void write_beams(const struct kwhy_bench_decode *bench, const struct kwhy_sheet *sheet)
{
	double most = NAN;

	for (size_t i = 0; i < bench->row_count; i++)
		most = fmax(most, bench->rows[i].beam_error);
	if (!isfinite(most)) /* no row has any */
		return;
	kwhy_sheet_linef(sheet, "beams  ",
		"%u ways on of each sequence, whose tokens count once; the likeliest's logarithm of a "
		"probability is off by %.2g a token at most",
		bench->beams, most);
}

static void write_notes(const struct kwhy_bench_decode *bench, const struct kwhy_sheet *sheet)
{
	const struct kwhy_workload_energies energies = energies_of(bench);

	kwhy_sheet_linef(sheet, "error  ",
		"of logits against fp32 on the host, over their size: root of the mean squares");
	if (has_several(bench))
		kwhy_sheet_linef(sheet, "alone  ",
			"the same work where nothing is sent and nobody waits; its tokens are wrong");
	if (bench->beams > 1)
		write_beams(bench, sheet);
	if (bench->choice.temperature > 0)
		kwhy_sheet_linef(sheet, "drawn  ",
			"at temperature %.3g, of the likeliest %u (0: all), share %.3g",
			(double)bench->choice.temperature, bench->choice.top_k, (double)bench->choice.top_p);
	for (size_t i = 0; i < bench->row_count; i++)
		write_pages(&bench->rows[i], sheet);
	for (size_t i = 0; i < bench->row_count; i++)
		if (bench->rows[i].serving[0].missing)
			kwhy_sheet_linef(sheet, "note   ", "%s: %s", bench->rows[i].id,
				bench->rows[i].serving[0].missing);
	for (size_t i = 0; i < bench->row_count; i++)
		kwhy_workload_missing_note(sheet, bench->rows[i].id, bench->rows[i].missing);
	kwhy_workload_end_notes(sheet, &energies, bench->energy_missing, bench->ended);
}

void kwhy_bench_decode_text(
	const struct kwhy_bench_decode *bench, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	const struct kwhy_sheet sheet = {.style = style, .out = out};

	kwhy_sheet_linef(&sheet, "", "decode, %s, on %s (%s): prompts of %u tokens, %u written",
		bench->shape->name, bench->gpu.name, kwhy_gpu_backend_name(bench->backend), bench->prompt,
		bench->tokens);
	kwhy_sheet_heading(&sheet, "Writing tokens", NULL);
	write_writing(bench, style, out);
	if (kwhy_bench_decode_has_run(bench)) {
		kwhy_sheet_heading(&sheet, "Reading prompts", NULL);
		write_reading(bench, style, out);
	}
	if (bench->arrivals_per_s > 0) {
		kwhy_text_addf(out, "\n%.4g sequences a second arrive\n", bench->arrivals_per_s);
		write_served(bench, style, out);
	}
	write_joules(bench, &sheet, out);
	if (has_several(bench)) {
		kwhy_sheet_heading(&sheet, "Exposed communication", NULL);
		write_exposed(bench, style, out);
	}
	kwhy_text_add(out, "\n");
	write_notes(bench, &sheet);
}

/* --- JSON --- */

static void write_phase(struct kwhy_json *json, const char *key, const struct kwhy_bench_decode_phase *phase)
{
	struct kwhy_joules gross = kwhy_bench_decode_per_token(phase, &phase->energy.gross),
			   net = kwhy_bench_decode_per_token(phase, &phase->energy.net),
			   host = kwhy_bench_decode_per_token(phase, &phase->energy.host);

	kwhy_json_object(json, key);
	kwhy_json_count(json, "tokens_a_run", phase->tokens);
	kwhy_workload_median_json(json, "run_s", &phase->run_s);
	kwhy_json_real(json, "tokens_per_s", tokens_per_s(phase));
	kwhy_json_string(json, "products", phase->products);
	kwhy_json_count(json, "energy_runs", phase->energy_runs);
	kwhy_workload_window_json(json, &phase->energy);
	kwhy_workload_joules_json(json, "gross_j_per_token", gross);
	kwhy_workload_joules_json(json, "net_j_per_token", net);
	kwhy_workload_joules_json(json, "host_j_per_token", host);
	kwhy_json_real(json, "tokens_per_j", 1 / gross.value);
	kwhy_json_real(json, "tokens_per_net_j", net.low > 0 ? 1 / net.value : NAN);
	kwhy_json_object_end(json);
}

static void write_serving(
	struct kwhy_json *json, const struct kwhy_bench_decode_serving *serving, const char *key)
{
	struct kwhy_joules gross = per_served_token(serving, &serving->energy.gross),
			   net = per_served_token(serving, &serving->energy.net);

	kwhy_json_object(json, key);
	kwhy_json_string(json, "missing", serving->missing);
	kwhy_json_count(json, "sequences", serving->sequences);
	kwhy_json_real(json, "seconds", serving->sequences ? serving->seconds : NAN);
	kwhy_json_count(json, "tokens", serving->tokens);
	kwhy_json_count(json, "steps", serving->steps);
	kwhy_json_real(json, "tokens_per_s", (double)serving->tokens / serving->seconds);
	kwhy_json_real(json, "busy_ratio", serving->busy_ratio);
	if (isfinite(serving->pages_mean)) {
		kwhy_json_count(json, "pages_most", serving->pages_most);
		kwhy_json_real(json, "pages_mean", serving->pages_mean);
	}
	kwhy_workload_median_json(json, "first_s", &serving->first_s);
	kwhy_workload_median_json(json, "whole_s", &serving->whole_s);
	kwhy_workload_joules_json(json, "gross_j_per_token", gross);
	kwhy_workload_joules_json(json, "net_j_per_token", net);
	kwhy_json_real(json, "tokens_per_j", 1 / gross.value);
	kwhy_json_object_end(json);
}

/* null where one GPU has nobody to wait for. */
static void write_communication(struct kwhy_json *json, const struct kwhy_bench_decode_row *row)
{
	bool is_known = row->ranks > 1 && !row->missing;

	if (!is_known) {
		kwhy_json_null(json, "alone");
		kwhy_json_null(json, "exposed");
		return;
	}
	kwhy_json_object(json, "alone");
	for (enum kwhy_decode_phase p = 0; p < KWHY_DECODE_PHASE_COUNT; p++)
		write_phase(json, kwhy_decode_phase_name(p), &row->alone[p]);
	kwhy_json_object_end(json);
	kwhy_json_object(json, "exposed");
	for (enum kwhy_decode_phase p = 0; p < KWHY_DECODE_PHASE_COUNT; p++) {
		double seconds = kwhy_bench_decode_exposed_s(row, p);

		kwhy_json_object(json, kwhy_decode_phase_name(p));
		kwhy_json_real(json, "s_per_token", seconds);
		kwhy_json_real(
			json, "ratio", seconds * (double)row->phases[p].tokens / row->phases[p].run_s.median);
		kwhy_workload_joules_json(json, "j_per_token", kwhy_bench_decode_exposed_joules(row, p));
		kwhy_json_object_end(json);
	}
	kwhy_json_object_end(json);
}

static void write_row(struct kwhy_json *json, const struct kwhy_bench_decode_row *row)
{
	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "id", row->id);
	kwhy_json_string(json, "weights", kwhy_decode_weights_name(row->weights));
	kwhy_json_count(json, "batch", row->batch);
	kwhy_json_count(json, "gpus", row->ranks);
	kwhy_json_count(json, "page_tokens", row->page);
	kwhy_json_string(json, "cache", row->has_short_cache ? "fp8" : "auto");
	kwhy_json_string(json, "launch", kwhy_decode_launching_name(row->launching));
	kwhy_json_string(json, "missing", row->missing);
	if (!row->missing) {
		kwhy_json_count(json, "kernels_a_token", row->kernels);
		kwhy_json_count(json, "weight_bytes", row->weight_bytes);
		kwhy_json_count(json, "cache_bytes_a_token", row->token_bytes);
		kwhy_json_count(json, "cache_bytes", row->cache_bytes);
	}
	kwhy_json_row(json, "error");
	kwhy_json_real(json, "relative", row->error.relative);
	kwhy_json_real(json, "most", row->error.most);
	kwhy_json_real(json, "agreed", row->error.agreed);
	kwhy_json_object_end(json);
	kwhy_json_real(json, "pruned_error", row->pruned_error);
	kwhy_json_real(json, "beam_error", row->beam_error);
	kwhy_workload_median_json(json, "token_s", &row->step_s);
	for (int p = 0; p < KWHY_DECODE_PHASE_COUNT; p++)
		write_phase(json, kwhy_decode_phase_name((enum kwhy_decode_phase)p), &row->phases[p]);
	write_communication(json, row);
	for (int s = 0; s < KWHY_DECODE_SEATING_COUNT; s++)
		write_serving(json, &row->serving[s], kwhy_decode_seating_name((enum kwhy_decode_seating)s));
	kwhy_json_object_end(json);
}

static void write_shape(struct kwhy_json *json, const struct kwhy_decode_shape *shape)
{
	kwhy_json_row(json, "shape");
	kwhy_json_string(json, "name", shape->name);
	kwhy_json_count(json, "layers", shape->layers);
	kwhy_json_count(json, "width", shape->width);
	kwhy_json_count(json, "heads", shape->heads);
	kwhy_json_count(json, "inner", shape->inner);
	kwhy_json_count(json, "vocabulary", shape->vocabulary);
	kwhy_json_count(json, "weights", kwhy_decode_weight_count(shape));
	kwhy_json_object_end(json);
}

void kwhy_bench_decode_json(const struct kwhy_bench_decode *bench, struct kwhy_text *out)
{
	const struct kwhy_workload_energies energies = energies_of(bench);
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", "kwhy.decode/1");
	kwhy_json_string(&json, "backend", kwhy_gpu_backend_name(bench->backend));
	kwhy_workload_gpu_json(&json, "gpu", &bench->gpu);
	write_shape(&json, bench->shape);
	kwhy_json_count(&json, "prompt", bench->prompt);
	kwhy_json_count(&json, "tokens", bench->tokens);
	kwhy_json_count(&json, "beams", bench->beams);
	kwhy_json_real(&json, "arrivals_per_s", bench->arrivals_per_s);
	kwhy_json_row(&json, "choice");
	kwhy_json_real(&json, "temperature", (double)bench->choice.temperature);
	kwhy_json_count(&json, "top_k", bench->choice.top_k);
	kwhy_json_real(&json, "top_p", (double)bench->choice.top_p);
	kwhy_json_count(&json, "seed", bench->choice.seed);
	kwhy_json_object_end(&json);
	kwhy_json_string(
		&json, "energy_missing", kwhy_workload_energies_missing(&energies, bench->energy_missing));
	kwhy_json_string(&json, "ended", bench->ended);
	kwhy_json_array(&json, "rows");
	for (size_t i = 0; i < bench->row_count; i++)
		write_row(&json, &bench->rows[i]);
	kwhy_json_array_end(&json);
	kwhy_json_object_end(&json);
}

/* --- CSV --- */

void kwhy_bench_decode_csv(const struct kwhy_bench_decode *bench, struct kwhy_text *out)
{
	kwhy_text_add(out, "workers,throughput,power_w\n");
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct kwhy_bench_decode_row *row = &bench->rows[i];
		const struct kwhy_bench_decode_phase *phase = &row->phases[KWHY_DECODE_WRITING];

		if (row->missing)
			continue;
		kwhy_text_addf(out, "%u,%.9g,", row->ranks, tokens_per_s(phase));
		if (isfinite(phase->energy.mean_w))
			kwhy_text_addf(out, "%.9g", phase->energy.mean_w);
		kwhy_text_add(out, "\n");
	}
}
