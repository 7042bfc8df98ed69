/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/llm/show.h"

#include "base/quantity.h"
#include "cli/bench/workload_show.h"
#include "cli/llm/show_compat.h"
#include "cli/llm/show_joules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH_BYTES = 64 };

static const char *const arrival_names[] = {[KWHY_LLM_POISSON] = "poisson",
	[KWHY_LLM_CONSTANT] = "constant",
	[KWHY_LLM_BURST] = "burst",
	[KWHY_LLM_LOGGED] = "logged"};

static const char *length_text(char out[LENGTH_BYTES], const struct kwhy_llm_length *length)
{
	static const char *const names[] = {[KWHY_LLM_LENGTH_UNIFORM] = "uniform",
		[KWHY_LLM_LENGTH_NORMAL] = "normal",
		[KWHY_LLM_LENGTH_LOGNORMAL] = "lognormal"};

	if (length->kind == KWHY_LLM_LENGTH_FIXED)
		snprintf(out, LENGTH_BYTES, "%.0f", length->a);
	else
		snprintf(out, LENGTH_BYTES, "%s:%g,%g", names[length->kind], length->a, length->b);
	return out;
}

/* --- Text --- */

static const char *load_text(char out[LENGTH_BYTES], const struct kwhy_llm_row *row)
{
	if (row->name)
		snprintf(out, LENGTH_BYTES, "%s", row->name);
	else if (!row->load.is_closed)
		snprintf(out, LENGTH_BYTES, "%.4g /s", row->load.arrivals.rate_per_s);
	else
		snprintf(out, LENGTH_BYTES, "%u concurrent", row->load.concurrency);
	return out;
}

static void load_cell(struct kwhy_table *table, const struct kwhy_llm_row *row)
{
	char text[LENGTH_BYTES];

	kwhy_table_cell(table, load_text(text, row));
}

/* Adds a cell with a number without an SI prefix: "0.329" or "1390". */
static void number_cell(struct kwhy_table *table, double value)
{
	char text[KWHY_QUANTITY_BYTES];

	if (value >= 1000)
		snprintf(text, sizeof(text), "%.0f", value);
	else
		snprintf(text, sizeof(text), "%.3g", value);
	kwhy_table_cell(table, isfinite(value) ? text : NULL);
}

static size_t failures_of(const struct kwhy_llm_summary *summary)
{
	return summary->requests - summary->outcomes[KWHY_LLM_DONE];
}

static void write_times(
	const struct kwhy_llm_result *result, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"load", KWHY_COLUMN_LEFT},
		{"requests", KWHY_COLUMN_RIGHT}, {"failed", KWHY_COLUMN_RIGHT},
		{"tokens/s", KWHY_COLUMN_RIGHT}, {"a token", KWHY_COLUMN_RIGHT}, {"p95", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < result->row_count; i++) {
		const struct kwhy_llm_summary *summary = &result->rows[i].summary;

		load_cell(&table, &result->rows[i]);
		kwhy_table_count(&table, summary->requests);
		kwhy_table_count(&table, failures_of(summary));
		number_cell(&table, summary->tokens / summary->seconds);
		kwhy_table_real(&table, summary->token_s.p50, "s");
		kwhy_table_real(&table, summary->token_s.p95, "s");
	}
	kwhy_table_write(&table, style, out);
}

static void write_best(const struct kwhy_text_context *context, const struct kwhy_llm_result *result)
{
	const struct kwhy_llm_row *best = result->best;
	char rate[KWHY_QUANTITY_BYTES], joules[KWHY_QUANTITY_BYTES];

	if (!result->slo)
		return;
	if (!best) {
		kwhy_text_context_linef(context, "limits   ", "%s: no load keeps them", result->slo);
		return;
	}
	kwhy_text_context_linef(context, "limits   ",
		"%s: the largest load within them has %s good answers/s%s%s", result->slo,
		kwhy_quantity_number(rate, (double)best->summary.good / best->summary.seconds),
		best->gross.missing ? "" : ", and takes J/token of ",
		best->gross.missing
			? ""
			: kwhy_quantity_si(joules, best->gross.joules / best->summary.tokens, "J", 3));
}

static void write_latencies(
	const struct kwhy_llm_result *result, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"load", KWHY_COLUMN_LEFT},
		{"first", KWHY_COLUMN_RIGHT}, {"p95", KWHY_COLUMN_RIGHT}, {"p99", KWHY_COLUMN_RIGHT},
		{"answer", KWHY_COLUMN_RIGHT}, {"p95", KWHY_COLUMN_RIGHT}, {"p99", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < result->row_count; i++) {
		const struct kwhy_llm_summary *summary = &result->rows[i].summary;

		load_cell(&table, &result->rows[i]);
		kwhy_table_real(&table, summary->first_s.p50, "s");
		kwhy_table_real(&table, summary->first_s.p95, "s");
		kwhy_table_real(&table, summary->first_s.p99, "s");
		kwhy_table_real(&table, summary->answer_s.p50, "s");
		kwhy_table_real(&table, summary->answer_s.p95, "s");
		kwhy_table_real(&table, summary->answer_s.p99, "s");
	}
	kwhy_table_write(&table, style, out);
}

/* Joules divided by a count; NAN if the count is 0. */
static struct kwhy_joules joules_by(const struct kwhy_llm_energy *energy, double count)
{
	const struct kwhy_joules joules = {energy->joules, energy->low_j, energy->high_j};

	return kwhy_joules_times(&joules, count > 0 ? 1 / count : NAN);
}

static void joules_cell(struct kwhy_table *table, const struct kwhy_llm_energy *energy, double count)
{
	const struct kwhy_joules joules = joules_by(energy, count);

	kwhy_workload_joules_cell(table, &joules);
}

static void write_energies(
	const struct kwhy_llm_result *result, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"load", KWHY_COLUMN_LEFT},
		{"power", KWHY_COLUMN_RIGHT}, {"tokens/J", KWHY_COLUMN_RIGHT}, {"J/token", KWHY_COLUMN_RIGHT},
		{"above idle", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < result->row_count; i++) {
		const struct kwhy_llm_row *row = &result->rows[i];

		load_cell(&table, row);
		kwhy_table_real(&table, row->gross.joules / row->gross.seconds, "W");
		number_cell(&table, row->summary.tokens / row->gross.joules);
		joules_cell(&table, &row->gross, row->summary.tokens);
		joules_cell(&table, &row->net, row->summary.tokens);
	}
	kwhy_table_write(&table, style, out);
}

static void write_request_energies(
	const struct kwhy_llm_result *result, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	static const struct kwhy_table_column columns[] = {{"load", KWHY_COLUMN_LEFT},
		{"J/request", KWHY_COLUMN_RIGHT}, {"above idle", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < result->row_count; i++) {
		const struct kwhy_llm_row *row = &result->rows[i];

		load_cell(&table, row);
		joules_cell(&table, &row->gross, row->summary.answers);
		joules_cell(&table, &row->net, row->summary.answers);
	}
	kwhy_table_write(&table, style, out);
}

static void write_counts(const struct kwhy_text_context *context, const struct kwhy_llm_result *result)
{
	size_t done = 0, without = 0, fewer = 0, stated = 0, counted = 0;
	uint64_t tokens = 0, pieces = 0;

	for (size_t i = 0; i < result->row_count; i++) {
		const struct kwhy_llm_summary *summary = &result->rows[i].summary;

		done += summary->outcomes[KWHY_LLM_DONE];
		without += summary->without_usage;
		counted += summary->counted;
		fewer += summary->fewer_than_pieces;
		stated += summary->stated;
		tokens += summary->usage_tokens;
		pieces += summary->usage_pieces;
	}
	if (done > without + counted)
		kwhy_text_context_linef(context, "tokens   ",
			"as the server counts them%s: %llu, in %llu pieces of text",
			without + counted ? ", where it does" : "", (unsigned long long)tokens,
			(unsigned long long)pieces);
	if (without)
		kwhy_text_context_linef(context, "tokens   ",
			"%zu of %zu answers came without usage: there a piece of text counts as one token",
			without, done);
	if (counted)
		kwhy_text_context_linef(context, "tokens   ",
			"%zu of %zu answers came without usage: %s counts their tokens", counted, done,
			result->tokenizer);
	if (stated < done - without - counted && tokens != pieces)
		kwhy_text_context_linef(context, "tokens   ",
			"%zu answers state no usage for each piece: tokens of a piece are by its size",
			done - without - counted - stated);
	if (fewer)
		kwhy_text_context_linef(context, "tokens   ",
			"%zu answers claim fewer tokens than pieces of text came: counts and text do not "
			"agree",
			fewer);
}

static void write_failures(const struct kwhy_text_context *context, const struct kwhy_llm_result *result)
{
	for (size_t kind = KWHY_LLM_DONE + 1; kind < KWHY_LLM_OUTCOME_COUNT; kind++) {
		size_t count = 0;
		int http = 0;

		for (size_t i = 0; i < result->row_count; i++) {
			count += result->rows[i].summary.outcomes[kind];
			if (kind == KWHY_LLM_STATUS && !http)
				http = result->rows[i].summary.failed_status;
		}
		if (count && http)
			kwhy_text_context_linef(context, "failed   ", "%zu %s: HTTP status %d first", count,
				kwhy_llm_outcome_name((enum kwhy_llm_outcome)kind), http);
		else if (count)
			kwhy_text_context_linef(context, "failed   ", "%zu %s: %s", count,
				kwhy_llm_outcome_name((enum kwhy_llm_outcome)kind),
				kwhy_llm_outcome_words((enum kwhy_llm_outcome)kind));
	}
}

static void write_late(const struct kwhy_text_context *context, const struct kwhy_llm_result *result)
{
	double late_s = 0;
	char text[KWHY_QUANTITY_BYTES];

	for (size_t i = 0; i < result->row_count; i++)
		late_s = fmax(late_s, result->rows[i].summary.late_s);
	if (late_s > 0.01)
		kwhy_text_context_linef(context, "late     ",
			"requests were sent up to %s after they were due; their times count from when they "
			"were due",
			kwhy_quantity_si(text, late_s, "s", 3));
}

static bool has_energy(const struct kwhy_llm_result *result)
{
	for (size_t i = 0; i < result->row_count; i++)
		if (!result->rows[i].gross.missing)
			return true;
	return false;
}

/* Writes why the energy of loads is unknown. A reason that several loads share is written once. */
static void write_missing(const struct kwhy_text_context *context, const struct kwhy_llm_result *result)
{
	for (size_t i = 0; i < result->row_count; i++) {
		const char *missing = result->rows[i].gross.missing;
		bool reported = false;

		for (size_t k = 0; missing && k < i && !reported; k++)
			reported = result->rows[k].gross.missing &&
				strcmp(result->rows[k].gross.missing, missing) == 0;
		if (missing && !reported)
			kwhy_text_context_linef(context, "energy   ", "not available%s: %s",
				has_energy(result) ? " of all loads" : "", missing);
	}
}

static void write_energy_words(const struct kwhy_text_context *context, const struct kwhy_llm_result *result)
{
	const struct kwhy_llm_energy *idle = &result->idle;
	char text[KWHY_QUANTITY_BYTES];

	write_missing(context, result);
	if (!has_energy(result))
		return;
	kwhy_text_context_linef(context, "energy   ",
		"the GPUs %s in the steady window, prompts included; intervals %s",
		result->meters ? "whose kwhy serve was asked" : "of this host",
		result->meters ? "hold when it was asked, not what its meters are off by"
			       : "are the meters' alone");
	if (!idle->missing)
		kwhy_text_context_linef(context, "idle     ", "%s with the server up and no request",
			kwhy_quantity_si(text, idle->joules / idle->seconds, "W", 4));
	else
		kwhy_text_context_linef(context, "idle     ", "not available: %s", idle->missing);
}

static void answers_cell(struct kwhy_table *table, const struct kwhy_llm_summary *summary)
{
	char done[KWHY_QUANTITY_BYTES], all[KWHY_QUANTITY_BYTES], text[2 * KWHY_QUANTITY_BYTES + 8];

	kwhy_quantity_count(done, summary->outcomes[KWHY_LLM_DONE]);
	kwhy_quantity_count(all, summary->requests);
	if (failures_of(summary))
		snprintf(text, sizeof(text), "%s of %s", done, all);
	else
		snprintf(text, sizeof(text), "%s", done);
	kwhy_table_cell(table, text);
}

/*
 * Writes the main table of the text: for each load the answers, tokens per second, times to the first and per
 * further token (median and 95th percentile) and, if known, joules per token and good answers per second.
 */
static void write_loads(
	const struct kwhy_llm_result *result, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	struct kwhy_table_column columns[9] = {{"load", KWHY_COLUMN_LEFT}, {"answers", KWHY_COLUMN_RIGHT},
		{"tokens/s", KWHY_COLUMN_RIGHT}, {"first", KWHY_COLUMN_RIGHT}, {"p95", KWHY_COLUMN_RIGHT},
		{"token", KWHY_COLUMN_RIGHT}, {"p95", KWHY_COLUMN_RIGHT}};
	bool is_metered = has_energy(result);
	size_t count = 7;
	struct kwhy_table table;

	if (is_metered)
		columns[count++] = (struct kwhy_table_column){"J/token", KWHY_COLUMN_RIGHT};
	if (result->slo)
		columns[count++] = (struct kwhy_table_column){"good/s", KWHY_COLUMN_RIGHT};
	kwhy_table_init(&table, columns, count);
	for (size_t i = 0; i < result->row_count; i++) {
		const struct kwhy_llm_row *row = &result->rows[i];
		const struct kwhy_llm_summary *summary = &row->summary;

		load_cell(&table, row);
		answers_cell(&table, summary);
		number_cell(&table, summary->tokens / summary->seconds);
		kwhy_table_real(&table, summary->first_s.p50, "s");
		kwhy_table_real(&table, summary->first_s.p95, "s");
		kwhy_table_real(&table, summary->token_s.p50, "s");
		kwhy_table_real(&table, summary->token_s.p95, "s");
		if (is_metered)
			kwhy_table_real(&table, row->gross.joules / summary->tokens, "J");
		if (result->slo)
			number_cell(&table, (double)summary->good / summary->seconds);
	}
	kwhy_table_write(&table, style, out);
}

static void write_details(const struct kwhy_text_context *context, const struct kwhy_llm_result *result)
{
	kwhy_text_context_heading(
		context, "Tokens", "a token: time of each after the first; median and 95 %");
	write_times(result, context->style, context->out);
	kwhy_text_context_heading(
		context, "Latency", "to the first token, and to the end of the answer; medians");
	write_latencies(result, context->style, context->out);
	if (!has_energy(result))
		return;
	kwhy_text_context_heading(context, "Energy", "above idle: above the server with no request");
	write_energies(result, context->style, context->out);
	kwhy_text_add(context->out, "\n");
	write_request_energies(result, context->style, context->out);
}

void kwhy_llm_text(
	const struct kwhy_llm_result *result, const struct kwhy_text_style *style, struct kwhy_text *out)
{
	const struct kwhy_text_context context = {.style = style, .out = out};
	char text[LENGTH_BYTES];

	kwhy_text_context_linef(&context, "server   ", "%s, model %s", result->url, result->question->model);
	if (result->question->dialogs)
		kwhy_text_context_linef(&context, "prompts  ", "%zu from a file, round-robin",
			result->question->dialog_count);
	else
		kwhy_text_context_linef(&context, "prompts  ", "made up, of %s %s",
			length_text(text, &result->question->words),
			result->question->costs ? "tokens" : "words");
	kwhy_text_context_heading(
		&context, "Loads", "time to the first token and of each after it; medians, 95 %");
	write_loads(result, style, out);
	if (result->has_details)
		write_details(&context, result);
	kwhy_llm_joules_text(&context, result);
	kwhy_text_add(out, "\n");
	write_best(&context, result);
	write_counts(&context, result);
	write_failures(&context, result);
	write_late(&context, result);
	write_energy_words(&context, result);
	if (result->ended)
		kwhy_text_context_linef(&context, "ended    ", "%s", result->ended);
	for (size_t i = 0; i < result->row_count; i++)
		kwhy_llm_compat_text(
			out, load_text(text, &result->rows[i]), &result->rows[i].compat, result->slo != NULL);
}

/* --- JSON --- */

static void write_spread(struct kwhy_json *json, const char *key, const struct kwhy_llm_distribution *spread)
{
	kwhy_json_row(json, key);
	kwhy_json_count(json, "count", spread->count);
	kwhy_json_real(json, "mean", spread->mean);
	kwhy_json_real(json, "p50", spread->p50);
	kwhy_json_real(json, "p95", spread->p95);
	kwhy_json_real(json, "p99", spread->p99);
	kwhy_json_object_end(json);
}

static void write_energy(struct kwhy_json *json, const struct kwhy_llm_row *row)
{
	const struct kwhy_llm_energy *gross = &row->gross;
	const struct kwhy_joules whole = joules_by(gross, 1);
	double tokens = row->summary.tokens;

	kwhy_json_object(json, "energy");
	kwhy_json_string(json, "missing", gross->missing);
	kwhy_json_string(json, "basis", gross->basis);
	kwhy_workload_joules_json(json, "gross_j", whole);
	kwhy_workload_joules_json(json, "above_idle_j", joules_by(&row->net, 1));
	kwhy_workload_joules_json(json, "j_a_token", joules_by(gross, tokens));
	kwhy_workload_joules_json(json, "above_idle_j_a_token", joules_by(&row->net, tokens));
	kwhy_workload_joules_json(json, "j_a_request", joules_by(gross, row->summary.answers));
	kwhy_workload_joules_json(json, "above_idle_j_a_request", joules_by(&row->net, row->summary.answers));
	kwhy_workload_joules_json(json, "tokens_a_j", kwhy_workload_for_a_joule(tokens, &whole));
	kwhy_json_object_end(json);
}

static void write_outcomes(struct kwhy_json *json, const struct kwhy_llm_summary *summary)
{
	kwhy_json_row(json, "outcomes");
	for (size_t kind = 0; kind < KWHY_LLM_OUTCOME_COUNT; kind++)
		kwhy_json_count(
			json, kwhy_llm_outcome_name((enum kwhy_llm_outcome)kind), summary->outcomes[kind]);
	kwhy_json_object_end(json);
	if (summary->failed_status)
		kwhy_json_int(json, "first_failed_status", summary->failed_status);
	else
		kwhy_json_null(json, "first_failed_status");
}

static void write_row(struct kwhy_json *json, const struct kwhy_llm_result *result, size_t index)
{
	const struct kwhy_llm_row *row = &result->rows[index];
	const struct kwhy_llm_summary *summary = &row->summary;

	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "name", row->name);
	kwhy_json_string(json, "loop", row->load.is_closed ? "closed" : "open");
	kwhy_json_string(
		json, "arrivals", row->load.is_closed ? NULL : arrival_names[row->load.arrivals.kind]);
	kwhy_json_real(json, "rate_per_s", row->load.arrivals.rate_per_s);
	kwhy_json_real(json, "concurrency", row->load.is_closed ? row->load.concurrency : NAN);
	kwhy_json_int(json, "steady_start_unix_ns", row->steady_start_unix_ns);
	kwhy_json_real(json, "steady_s", summary->seconds);
	kwhy_json_count(json, "requests", summary->requests);
	kwhy_json_real(json, "sent_per_s", (double)summary->sent / summary->seconds);
	kwhy_json_real(json, "client_cpu_cores", summary->cpu_cores);
	if (result->slo)
		kwhy_json_count(json, "good", summary->good);
	else
		kwhy_json_null(json, "good");
	kwhy_json_real(json, "good_per_s", result->slo ? (double)summary->good / summary->seconds : NAN);
	write_outcomes(json, summary);
	kwhy_json_count(json, "answers_without_usage", summary->without_usage);
	kwhy_json_count(json, "answers_counted_by_tokenizer", summary->counted);
	kwhy_json_count(json, "answers_of_fewer_tokens_than_pieces", summary->fewer_than_pieces);
	kwhy_json_count(json, "answers_with_usage_of_each_piece", summary->stated);
	kwhy_json_count(json, "usage_tokens", summary->usage_tokens);
	kwhy_json_count(json, "usage_pieces", summary->usage_pieces);
	kwhy_json_real(json, "tokens", summary->tokens);
	kwhy_json_real(json, "tokens_per_s", summary->tokens / summary->seconds);
	kwhy_json_real(json, "prompt_tokens", summary->prompt_tokens);
	kwhy_json_real(json, "cached_prompt_tokens", summary->cached_tokens);
	kwhy_json_real(json, "answers", summary->answers);
	write_spread(json, "first_s", &summary->first_s);
	write_spread(json, "token_s", &summary->token_s);
	write_spread(json, "gap_s", &summary->gap_s);
	write_spread(json, "answer_s", &summary->answer_s);
	kwhy_json_real(json, "late_s", summary->late_s);
	write_energy(json, row);
	kwhy_llm_row_joules_json(json, result, index);
	kwhy_llm_compat_json(json, &row->compat, result->slo != NULL);
	kwhy_json_object_end(json);
}

/*
 * Writes a distribution of lengths: a number if the length is fixed, a text such as "normal:512,100", or null
 * if `length` is NULL.
 */
static void write_length(struct kwhy_json *json, const char *key, const struct kwhy_llm_length *length)
{
	char text[LENGTH_BYTES];

	if (!length)
		kwhy_json_null(json, key);
	else if (length->kind == KWHY_LLM_LENGTH_FIXED)
		kwhy_json_real(json, key, length->a);
	else
		kwhy_json_string(json, key, length_text(text, length));
}

void kwhy_llm_json(const struct kwhy_llm_result *result, struct kwhy_text *out)
{
	const struct kwhy_llm_question *question = result->question;
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", "kwhy.llm/1");
	kwhy_json_string(&json, "url", result->url);
	kwhy_json_string(&json, "model", question->model);
	kwhy_json_string(&json, "endpoint", question->endpoint == KWHY_LLM_CHAT ? "chat" : "completions");
	write_length(&json, "prompt_words", question->dialogs || question->costs ? NULL : &question->words);
	write_length(&json, "prompt_tokens", !question->dialogs && question->costs ? &question->words : NULL);
	kwhy_json_string(&json, "tokenizer", result->tokenizer);
	write_length(&json, "max_tokens", &question->max_tokens);
	kwhy_json_bool(&json, "streams", !question->whole);
	kwhy_json_string(&json, "slo", result->slo);
	if (result->best)
		kwhy_json_count(&json, "best_load", (uint64_t)(result->best - result->rows) + 1);
	else
		kwhy_json_null(&json, "best_load");
	kwhy_json_count(&json, "seed", question->seed);
	kwhy_json_string(&json, "meters", result->meters);
	kwhy_json_real(&json, "idle_w", result->idle.joules / result->idle.seconds);
	kwhy_json_string(&json, "ended", result->ended);
	kwhy_llm_joules_json(&json, result);
	kwhy_json_array(&json, "loads");
	for (size_t i = 0; i < result->row_count; i++)
		write_row(&json, result, i);
	kwhy_json_array_end(&json);
	kwhy_json_object_end(&json);
}
