/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/llm/by_kernel.h"

#include "analyse/windows.h"
#include "base/quantity.h"
#include "cli/recordings/job.h"
#include "import/own_result.h"
#include "import/results/llm.h"
#include "model/known_sum.h"
#include "report/json/writer.h"
#include "report/table.h"
#include "report/text_context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define RESULT_BYTES_MAX ((size_t)64 << 20)
enum { ROWS_SHOWN = 8 };

struct matched {
	const struct kwhy_llm_options *options;
	struct kwhy_read_llm result;
	struct kwhy_analysis_window *windows; /* [result.load_count] energy of the steady window of each load,
						 divided among kernels */
	struct kwhy_analysis *analysis;	      /* owns the names of the windows' parts */
};

static enum kwhy_status check(
	const struct kwhy_llm_options *options, enum kwhy_output_form form, struct kwhy_error *error)
{
	if (!options->recording || !options->result || options->url)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--recording FILE and --result FILE go together, after the run: give no --url");
	if (form != KWHY_OUTPUT_TEXT && form != KWHY_OUTPUT_JSON)
		return kwhy_fail(
			error, KWHY_E_USAGE, "--recording writes text or JSON: -o FILE.txt or .json");
	return KWHY_OK;
}

static enum kwhy_status read_result(struct matched *matched, struct kwhy_error *error)
{
	const char *path = matched->options->result;
	struct kwhy_text text = {0};
	enum kwhy_status status = kwhy_own_result_read(path, RESULT_BYTES_MAX, &text, error);

	if (!status)
		status = kwhy_read_llm_of(&matched->result, path, text.data, text.length, error);
	kwhy_text_done(&text);
	for (size_t i = 0; !status && i < matched->result.load_count; i++) {
		const struct kwhy_read_llm_steady *steady = &matched->result.steady[i];

		if (steady->start_unix_ns <= 0 || !(steady->seconds > 0 && steady->seconds < 1e6))
			status = kwhy_fail(error, KWHY_E_INPUT,
				"%.300s: load %zu states no steady_start_unix_ns and steady_s: run kwhy llm "
				"again with this version",
				path, i + 1);
	}
	return status;
}

static enum kwhy_status divide(struct matched *matched, struct kwhy_error *error)
{
	const struct kwhy_llm_options *options = matched->options;
	struct kwhy_job_options job;
	const struct kwhy_strings none = {0};
	char *path = (char *)options->recording;
	struct kwhy_error reason;
	size_t count = matched->result.load_count;
	enum kwhy_status status;

	matched->windows = calloc(count, sizeof(*matched->windows));
	if (!matched->windows)
		return kwhy_fail_memory(error, "the loads");
	for (size_t i = 0; i < count; i++) {
		const struct kwhy_read_llm_steady *steady = &matched->result.steady[i];

		matched->windows[i].start_unix_ns = steady->start_unix_ns;
		matched->windows[i].end_unix_ns = steady->start_unix_ns + llround(steady->seconds * 1e9);
	}
	kwhy_job_options_init(&job);
	job.quiet = options->quiet;
	status = kwhy_job_open(&matched->analysis, &job, &path, 1, &none, NULL, error);
	if (status)
		return status;
	status = kwhy_analysis_windows(matched->analysis, matched->windows, count, &reason);
	if (status == KWHY_E_UNSUPPORTED || status == KWHY_E_INPUT)
		status = kwhy_fail(error, status, "%.200s with the loads of %.200s: %s", options->recording,
			options->result, reason.text);
	else if (status)
		*error = reason;
	return status;
}

/* --- Text --- */

static int64_t gaps_of(const struct kwhy_analysis_window *window)
{
	for (size_t i = 0; i < window->part_count; i++)
		if (!window->parts[i].name)
			return window->parts[i].energy_nj;
	return 0;
}

/*
 * Adds a cell with half the width of the interval of a part's energy, in percent of that energy; empty if the
 * interval is unknown.
 */
static void add_interval(struct kwhy_table *table, const struct kwhy_analysis_part *part)
{
	char text[KWHY_QUANTITY_BYTES];
	bool is_known = part->low_nj != KWHY_UNKNOWN_NJ && part->high_nj > part->low_nj;

	if (is_known)
		snprintf(text, sizeof(text), "±%.2g %%",
			50 * (double)(part->high_nj - part->low_nj) / (double)part->energy_nj);
	kwhy_table_cell(table, is_known ? text : "");
}

static void add_row(struct kwhy_table *table, const struct kwhy_analysis_part *part,
	const struct kwhy_analysis_window *window, const struct kwhy_read_llm_steady *steady)
{
	double joules = (double)part->energy_nj * 1e-9;

	if (part->name && part->category <= KWHY_CATEGORY_COLLECTIVE)
		kwhy_table_kernel(table, part->name);
	else
		kwhy_table_cell(table, part->name ? part->name : "nothing ran");
	kwhy_table_percent(table, (double)part->energy_nj / (double)window->energy_nj);
	add_interval(table, part);
	kwhy_table_real(table, joules / steady->answers, "J");
	kwhy_table_real(table, joules / steady->prompt_tokens, "J");
	kwhy_table_real(table, joules / steady->output_tokens, "J");
}

static void write_load(const struct kwhy_text_context *context, const struct matched *matched, size_t load)
{
	static const struct kwhy_table_column columns[] = {{"kernel", KWHY_COLUMN_NAME},
		{"share", KWHY_COLUMN_RIGHT}, {"90 %", KWHY_COLUMN_RIGHT}, {"J/request", KWHY_COLUMN_RIGHT},
		{"J/prompt", KWHY_COLUMN_RIGHT}, {"J/output", KWHY_COLUMN_RIGHT}};
	const struct kwhy_analysis_window *window = &matched->windows[load];
	const struct kwhy_read_llm_steady *steady = &matched->result.steady[load];
	struct kwhy_analysis_part others = {.name = "others", .category = KWHY_CATEGORY_OVERLAP},
				  sum = {.name = "sum",
					  .category = KWHY_CATEGORY_OVERLAP,
					  .energy_nj = window->energy_nj,
					  .low_nj = window->energy_nj,
					  .high_nj = window->energy_nj};
	char energy[KWHY_QUANTITY_BYTES];
	struct kwhy_table table;

	kwhy_text_context_heading(context, matched->result.loads[load],
		"joules per request, per prompt token, per output token");
	kwhy_text_context_linef(context, "energy   ",
		"%s in %.3g s; idle devices would have drawn %.1f %% of it, "
		"%.1f %% was drawn while nothing ran",
		kwhy_quantity_si(energy, (double)window->energy_nj * 1e-9, "J", 3), steady->seconds,
		100 * (double)window->idle_nj / (double)window->energy_nj,
		100 * (double)gaps_of(window) / (double)window->energy_nj);
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < window->part_count; i++) {
		const struct kwhy_analysis_part *part = &window->parts[i];

		if (matched->options->details || i < ROWS_SHOWN) {
			add_row(&table, part, window, steady);
			continue;
		}
		others.energy_nj += part->energy_nj;
		kwhy_known_add(&others.low_nj, part->low_nj);
		kwhy_known_add(&others.high_nj, part->high_nj);
	}
	if (others.energy_nj)
		add_row(&table, &others, window, steady);
	kwhy_table_rule(&table);
	add_row(&table, &sum, window, steady);
	kwhy_table_write(&table, context->style, context->out);
}

/* --- JSON --- */

static void write_part(struct kwhy_json *json, const struct kwhy_analysis_part *part,
	const struct kwhy_read_llm_steady *steady)
{
	double joules = (double)part->energy_nj * 1e-9;

	kwhy_json_row(json, NULL);
	kwhy_json_string(json, "name", part->name);
	kwhy_json_string(json, "category", kwhy_category_name(part->category));
	kwhy_json_int(json, "time_ns", part->time_ns);
	kwhy_json_int(json, "energy_nj", part->energy_nj);
	kwhy_json_known(json, "low_nj", part->low_nj);
	kwhy_json_known(json, "high_nj", part->high_nj);
	kwhy_json_real(json, "j_a_request", joules / steady->answers);
	kwhy_json_real(json, "j_a_prompt_token", joules / steady->prompt_tokens);
	kwhy_json_real(json, "j_an_output_token", joules / steady->output_tokens);
	kwhy_json_object_end(json);
}

static void write_json(const struct matched *matched, struct kwhy_text *out)
{
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", "kwhy.llm-kernels/1");
	kwhy_json_string(&json, "recording", matched->options->recording);
	kwhy_json_string(&json, "result", matched->options->result);
	kwhy_json_array(&json, "loads");
	for (size_t i = 0; i < matched->result.load_count; i++) {
		const struct kwhy_analysis_window *window = &matched->windows[i];
		const struct kwhy_read_llm_steady *steady = &matched->result.steady[i];

		kwhy_json_object(&json, NULL);
		kwhy_json_string(&json, "name", matched->result.loads[i]);
		kwhy_json_real(&json, "seconds", steady->seconds);
		kwhy_json_int(&json, "energy_nj", window->energy_nj);
		kwhy_json_int(&json, "idle_nj", window->idle_nj);
		kwhy_json_int(&json, "gaps_nj", gaps_of(window));
		kwhy_json_real(&json, "requests", steady->answers);
		kwhy_json_real(&json, "prompt_tokens", steady->prompt_tokens);
		kwhy_json_real(&json, "output_tokens", steady->output_tokens);
		kwhy_json_array(&json, "parts");
		for (size_t k = 0; k < window->part_count; k++)
			write_part(&json, &window->parts[k], steady);
		kwhy_json_array_end(&json);
		kwhy_json_object_end(&json);
	}
	kwhy_json_array_end(&json);
	kwhy_json_object_end(&json);
	kwhy_text_add(out, "\n");
}

static enum kwhy_status write_all(
	const struct matched *matched, enum kwhy_output_form form, struct kwhy_error *error)
{
	const struct kwhy_text_style style = {
		.columns = matched->options->output ? 100 : kwhy_output_columns()};
	struct kwhy_text text = {0};
	const struct kwhy_text_context context = {.style = &style, .out = &text};

	if (form == KWHY_OUTPUT_JSON)
		write_json(matched, &text);
	for (size_t i = 0; form == KWHY_OUTPUT_TEXT && i < matched->result.load_count; i++)
		write_load(&context, matched, i);
	return kwhy_output_result(matched->options->output, "llm-kernels", form, &text, error);
}

enum kwhy_status kwhy_llm_by_kernel(
	const struct kwhy_llm_options *options, enum kwhy_output_form form, struct kwhy_error *error)
{
	struct matched matched = {.options = options};
	enum kwhy_status status = check(options, form, error);

	if (!status)
		status = read_result(&matched, error);
	if (!status)
		status = divide(&matched, error);
	if (!status)
		status = write_all(&matched, form, error);
	if (matched.windows)
		kwhy_analysis_windows_done(matched.windows, matched.result.load_count);
	free(matched.windows);
	kwhy_read_llm_done(&matched.result);
	if (matched.analysis)
		kwhy_analysis_close(matched.analysis);
	return status;
}
