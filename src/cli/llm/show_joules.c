/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/llm/show_joules.h"

#include "base/clock.h"
#include "base/csv_cell.h"
#include "base/quantity.h"
#include "llm/pace.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- Text --- */

struct shown {
	const char *label, *words;
	const struct kwhy_llm_coefficient *figure;
	double amount;
};

static void write_known(const struct kwhy_text_context *context, const struct shown *shown)
{
	const struct kwhy_llm_coefficient *figure = shown->figure;
	char value[KWHY_QUANTITY_BYTES], interval[KWHY_QUANTITY_BYTES];

	kwhy_text_context_linef(context, shown->label, "%s %s %s",
		kwhy_quantity_si(value, figure->value, "J", 3),
		kwhy_quantity_interval(interval, figure->value, figure->low, figure->high), shown->words);
}

static void write_coefficients(const struct kwhy_text_context *context, const struct kwhy_llm_result *result)
{
	const struct kwhy_llm_power_fit *fit = &result->joules->fit;
	const char *cure = result->row_count && result->rows[0].name ? "take more --seconds" : "try --design";
	const double *amount = fit->amount;
	const struct shown rows[] = {{"prefill  ", "a prompt token with its share of batches",
					     &fit->prefill_j, amount[KWHY_LLM_WORK_PROMPT]},
		{"prompt   ", "a prompt token", &fit->work_j[KWHY_LLM_WORK_PROMPT],
			amount[KWHY_LLM_WORK_PROMPT]},
		{"cached   ", "a prompt token in the prefix cache", &fit->work_j[KWHY_LLM_WORK_CACHED],
			amount[KWHY_LLM_WORK_CACHED]},
		{"batch    ", "a batch of prompts, besides their tokens", &fit->work_j[KWHY_LLM_WORK_BATCH],
			amount[KWHY_LLM_WORK_BATCH]},
		{"decoding ", "an output token with its share of steps and its context", &fit->decode_j,
			amount[KWHY_LLM_WORK_OUTPUT]},
		{"output   ", "an output token", &fit->work_j[KWHY_LLM_WORK_OUTPUT],
			amount[KWHY_LLM_WORK_OUTPUT]},
		{"step     ", "a step, which the answers under way share", &fit->work_j[KWHY_LLM_WORK_STEP],
			amount[KWHY_LLM_WORK_STEP]},
		{"context  ", "a token of context that an output token reads",
			&fit->work_j[KWHY_LLM_WORK_CONTEXT], amount[KWHY_LLM_WORK_CONTEXT]}};
	struct kwhy_text unknown = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!(rows[i].amount > 0))
			continue;
		if (rows[i].figure->is_known)
			write_known(context, &rows[i]);
		else
			kwhy_text_addf(&unknown, "%s%s", unknown.length ? "; " : "", rows[i].words);
	}
	if (unknown.length && !unknown.failed)
		kwhy_text_context_linef(context, "not known",
			" the loads do not determine the joules of: %s. For these, %s", unknown.data, cure);
	kwhy_text_done(&unknown);
}

/*
 * Adds a cell with a mean in J and its interval, mean ± half. The cell is empty if `half` is NAN: the fit
 * constrained all coefficients from which the mean is computed to 0. It is "not known" if `half` is larger
 * than the mean.
 */
static void mean_cell(struct kwhy_table *table, double mean, double half)
{
	char value[KWHY_QUANTITY_BYTES], interval[KWHY_QUANTITY_BYTES], text[2 * KWHY_QUANTITY_BYTES];

	if (half > mean) {
		kwhy_table_cell(table, "not known");
		return;
	}
	snprintf(text, sizeof(text), "%s %s", kwhy_quantity_si(value, mean, "J", 3),
		kwhy_quantity_interval(interval, mean, fmax(mean - half, 0), mean + half));
	kwhy_table_cell(table, isfinite(half) ? text : NULL);
}

static void write_lengths(const struct kwhy_text_context *context, const struct kwhy_llm_joules *joules)
{
	static const struct kwhy_table_column columns[] = {{"tokens of a request", KWHY_COLUMN_LEFT},
		{"requests", KWHY_COLUMN_RIGHT}, {"prompt", KWHY_COLUMN_RIGHT}, {"output", KWHY_COLUMN_RIGHT},
		{"prefill", KWHY_COLUMN_RIGHT}, {"decoding", KWHY_COLUMN_RIGHT}};
	struct kwhy_llm_length_group groups[KWHY_LLM_LENGTH_GROUPS];
	struct kwhy_table table;
	char text[64];

	kwhy_llm_joules_by_length(joules, groups);
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < KWHY_LLM_LENGTH_GROUPS; i++) {
		const struct kwhy_llm_length_group *group = &groups[i];
		double count = (double)group->count;

		if (!group->count)
			continue;
		if (group->tokens_to == INT64_MAX)
			snprintf(text, sizeof(text), "%lld and more", (long long)group->tokens_from);
		else
			snprintf(text, sizeof(text), "%lld to %lld", (long long)group->tokens_from,
				(long long)group->tokens_to - 1);
		kwhy_table_cell(&table, text);
		kwhy_table_count(&table, group->count);
		snprintf(text, sizeof(text), "%.0f", group->prompt_tokens / count);
		kwhy_table_cell(&table, text);
		snprintf(text, sizeof(text), "%.0f", group->output_tokens / count);
		kwhy_table_cell(&table, text);
		mean_cell(&table, group->prefill_j / count, group->prefill_half_j / count);
		mean_cell(&table, group->decode_j / count, group->decode_half_j / count);
	}
	kwhy_table_write(&table, context->style, context->out);
}

static bool is_metered(const struct kwhy_llm_joules *joules)
{
	for (size_t i = 0; i < joules->count; i++)
		if (joules->loads[i].reading_count)
			return true;
	return false;
}

void kwhy_llm_joules_text(const struct kwhy_text_context *context, const struct kwhy_llm_result *result)
{
	const struct kwhy_llm_joules *joules = result->joules;

	if (!is_metered(joules))
		return;
	kwhy_text_context_heading(context, "Joules of requests", "above idle; means, and 90 % intervals");
	if (joules->missing.status) {
		kwhy_text_context_linef(context, "requests ", "not available: %s", joules->missing.text);
		return;
	}
	write_lengths(context, joules);
	kwhy_text_add(context->out, "\n");
	write_coefficients(context, result);
}

/* --- JSON --- */

static void write_coefficient(
	struct kwhy_json *json, const char *key, const struct kwhy_llm_coefficient *figure, double amount)
{
	kwhy_json_object(json, key);
	kwhy_json_real(json, "value", figure->value);
	kwhy_json_real(json, "low", figure->low);
	kwhy_json_real(json, "high", figure->high);
	kwhy_json_bool(json, "is_known", figure->is_known);
	kwhy_json_real(json, "amount", amount);
	kwhy_json_object_end(json);
}

static void write_groups(struct kwhy_json *json, const struct kwhy_llm_joules *joules)
{
	struct kwhy_llm_length_group groups[KWHY_LLM_LENGTH_GROUPS];

	kwhy_llm_joules_by_length(joules, groups);
	kwhy_json_array(json, "by_length");
	for (size_t i = 0; i < KWHY_LLM_LENGTH_GROUPS; i++) {
		const struct kwhy_llm_length_group *group = &groups[i];
		double count = (double)group->count;

		if (!group->count)
			continue;
		kwhy_json_object(json, NULL);
		kwhy_json_int(json, "tokens_from", group->tokens_from);
		if (group->tokens_to == INT64_MAX)
			kwhy_json_null(json, "tokens_to");
		else
			kwhy_json_int(json, "tokens_to", group->tokens_to);
		kwhy_json_count(json, "requests", group->count);
		kwhy_json_real(json, "mean_prompt_tokens", group->prompt_tokens / count);
		kwhy_json_real(json, "mean_output_tokens", group->output_tokens / count);
		kwhy_json_real(json, "mean_prefill_j", group->prefill_j / count);
		kwhy_json_real(json, "mean_decode_j", group->decode_j / count);
		kwhy_json_real(json, "half_prefill_j", group->prefill_half_j / count);
		kwhy_json_real(json, "half_decode_j", group->decode_half_j / count);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

void kwhy_llm_joules_json(struct kwhy_json *json, const struct kwhy_llm_result *result)
{
	static const char *const keys[] = {"j_a_prompt_token", "j_a_cached_prompt_token", "j_a_prompt_batch",
		"j_an_output_token", "j_a_step", "j_a_context_token"};
	const struct kwhy_llm_joules *joules = result->joules;
	const struct kwhy_llm_power_fit *fit = &joules->fit;
	bool is_missing = !is_metered(joules) || joules->missing.status;

	kwhy_json_object(json, "requests_energy");
	kwhy_json_string(json, "missing",
		!is_missing		     ? NULL
			: is_metered(joules) ? joules->missing.text
					     : "the energy of the loads is unknown");
	if (!is_missing) {
		write_coefficient(json, "idle_w", &fit->idle_w, fit->seconds);
		for (size_t kind = 0; kind < KWHY_LLM_WORK_COUNT; kind++)
			write_coefficient(json, keys[kind], &fit->work_j[kind], fit->amount[kind]);
		write_coefficient(json, "j_a_prompt_token_with_batches", &fit->prefill_j,
			fit->amount[KWHY_LLM_WORK_PROMPT]);
		write_coefficient(json, "j_an_output_token_with_steps", &fit->decode_j,
			fit->amount[KWHY_LLM_WORK_OUTPUT]);
		kwhy_json_count(json, "intervals", fit->rows);
		kwhy_json_real(json, "residual_ratio", fit->residual_ratio);
		write_groups(json, joules);
	}
	kwhy_json_object_end(json);
}

void kwhy_llm_row_joules_json(struct kwhy_json *json, const struct kwhy_llm_result *result, size_t row)
{
	const struct kwhy_llm_joules *joules = result->joules;
	/* loads[0] is the idle server */
	const struct kwhy_llm_load_joules *load = row + 1 < joules->count ? &joules->loads[row + 1] : NULL;

	kwhy_json_object(json, "requests_nj");
	if (load && load->requests) {
		const struct kwhy_llm_reading *last = &load->readings[load->reading_count - 1];

		kwhy_json_int(json, "metered", last->total_nj - load->readings[0].total_nj);
		kwhy_json_int(json, "prefill", load->prefill_nj);
		kwhy_json_int(json, "decode", load->decode_nj);
		kwhy_json_int(json, "idle", load->idle_nj);
	}
	kwhy_json_object_end(json);
}

/* --- CSV --- */

static void add_time(struct kwhy_text *out, const struct kwhy_llm_run *run, int64_t at_ns)
{
	kwhy_csv_add_real(out, at_ns ? (double)(at_ns - run->start_ns) * 1e-9 : NAN);
}

static void add_count(struct kwhy_text *out, int64_t count)
{
	if (count >= 0)
		kwhy_text_addf(out, ",%lld", (long long)count);
	else
		kwhy_text_add(out, ",");
}

static void add_request(struct kwhy_text *out, size_t row, const struct kwhy_llm_load_joules *load, size_t at)
{
	const struct kwhy_llm_record *record = &load->run.records[at];
	struct kwhy_llm_pace pace;

	kwhy_llm_pace_init(&pace, record);
	kwhy_text_addf(out, "%zu,%s", row + 1, kwhy_llm_outcome_name(record->outcome));
	add_time(out, &load->run, record->due_ns);
	add_time(out, &load->run, record->sent_ns);
	add_time(out, &load->run, record->piece_count ? record->pieces[0].at_ns : 0);
	add_time(out, &load->run, record->end_ns);
	kwhy_csv_add_real(out, record->piece_count ? kwhy_llm_pace_token_s(&pace) : NAN);
	add_count(out, record->prompt_tokens);
	add_count(out, record->cached_tokens);
	add_count(out, record->completion_tokens);
	kwhy_text_addf(out, ",%zu", record->piece_count);
	kwhy_csv_add_real(out, load->requests ? (double)load->requests[at].prefill_nj * 1e-9 : NAN);
	kwhy_csv_add_real(out, load->requests ? (double)load->requests[at].decode_nj * 1e-9 : NAN);
	kwhy_text_add(out, "\n");
}

void kwhy_llm_requests_csv(const struct kwhy_llm_result *result, struct kwhy_text *out)
{
	kwhy_text_add(out,
		"load,outcome,due_s,sent_s,first_s,end_s,token_s,prompt_tokens,cached_tokens,output_tokens,"
		"pieces,prefill_j,decode_j\n");
	for (size_t row = 0; row + 1 < result->joules->count && row < result->row_count; row++) {
		const struct kwhy_llm_load_joules *load = &result->joules->loads[row + 1];

		for (size_t i = 0; i < load->run.count; i++)
			add_request(out, row, load, i);
	}
}

/*
 * Sums, for each interval between two readings, the work of each kind that the requests did in it. The index
 * into the result is KWHY_LLM_WORK_COUNT times the number of the interval, plus the kind. NULL: out of
 * memory. The caller frees the result.
 */
static double *work_of_intervals(const struct kwhy_llm_load_joules *load)
{
	double *sums = calloc(load->reading_count * KWHY_LLM_WORK_COUNT, sizeof(*sums));

	for (size_t i = 0; sums && i < load->shares.count; i++)
		for (size_t kind = 0; kind < KWHY_LLM_WORK_COUNT; kind++)
			sums[load->shares.items[i].interval * KWHY_LLM_WORK_COUNT + kind] +=
				load->shares.items[i].work[kind];
	return sums;
}

static void add_joules(struct kwhy_text *out, int64_t nj, bool is_known)
{
	kwhy_csv_add_real(out, is_known ? (double)nj * 1e-9 : NAN);
}

static void add_windows(struct kwhy_text *out, size_t row, const struct kwhy_llm_load_joules *load,
	const struct kwhy_clock_relation *relation)
{
	double *work = load->reading_count ? work_of_intervals(load) : NULL;

	out->failed |= load->reading_count && !work;
	for (size_t i = 0; i + 1 < load->reading_count && work; i++) {
		const struct kwhy_llm_reading *reading = &load->readings[i];
		const struct kwhy_llm_window_energy window = load->windows
			? load->windows[i]
			: (struct kwhy_llm_window_energy){0};
		int64_t unix_ns = kwhy_clock_unix_of_mono(relation, reading->at_ns);

		kwhy_text_addf(out, "%zu,%lld.%06lld", row, (long long)(unix_ns / 1000000000),
			(long long)(unix_ns % 1000000000 / 1000));
		kwhy_csv_add_real(out, (double)(reading[1].at_ns - reading->at_ns) * 1e-9);
		add_joules(out, reading[1].total_nj - reading->total_nj, true);
		add_joules(out, window.idle_nj, load->windows);
		add_joules(out, window.prefill_nj, load->windows);
		add_joules(out, window.decode_nj, load->windows);
		for (size_t kind = 0; kind < KWHY_LLM_WORK_COUNT; kind++)
			kwhy_csv_add_real(out, work[i * KWHY_LLM_WORK_COUNT + kind]);
		kwhy_text_add(out, "\n");
	}
	free(work);
}

void kwhy_llm_windows_csv(const struct kwhy_llm_result *result, struct kwhy_text *out)
{
	const struct kwhy_clock_relation relation = kwhy_clock_relate();

	kwhy_text_add(out,
		"load,unix_s,seconds,metered_j,idle_j,prefill_j,decode_j,prompt_tokens,cached_tokens,"
		"prompt_batches,output_tokens,steps,context_tokens\n");
	for (size_t row = 0; row < result->joules->count; row++)
		add_windows(out, row, &result->joules->loads[row], &relation);
}
