/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recordings/compare_results.h"

#include "import/own_result.h"
#include "report/compare/stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAT_LIMIT_BYTES ((size_t)1000000000)
/*
 * Width in columns to which names are shortened in a summary. A browser shows the summary, so names may be
 * longer than on a terminal.
 */
enum { SUMMARY_COLUMNS = 160 };

enum kwhy_status kwhy_compare_gates_parse(struct kwhy_compare_gates *gates, const struct kwhy_strings *texts,
	kwhy_compare_gate_parse *parse, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	gates->conditions = calloc(texts->count + 1, sizeof(*gates->conditions));
	gates->verdicts = calloc(texts->count + 1, sizeof(*gates->verdicts));
	if (!gates->conditions || !gates->verdicts)
		return kwhy_fail_memory(error, "the conditions");
	gates->count = texts->count;
	for (size_t i = 0; !status && i < texts->count; i++)
		status = parse(texts->items[i], &gates->conditions[i], error);
	return status;
}

enum kwhy_status kwhy_compare_gates_check(
	struct kwhy_compare_gates *gates, const struct kwhy_comparison *comparison, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < gates->count; i++) {
		status = kwhy_condition_check(&gates->conditions[i], comparison, &gates->verdicts[i], error);
		gates->exceeded |= !status && gates->verdicts[i].exceeded;
	}
	return status;
}

void kwhy_compare_gates_done(struct kwhy_compare_gates *gates)
{
	free(gates->conditions);
	free(gates->verdicts);
}

static enum kwhy_status render(const struct kwhy_compare_renderer *renderer,
	const struct kwhy_conditions *conditions, const struct kwhy_compare_outputs *outputs,
	struct kwhy_text *out, struct kwhy_error *error)
{
	if (outputs->form == KWHY_OUTPUT_HTML)
		return renderer->page(renderer->comparison, conditions, out, error);
	if (outputs->form == KWHY_OUTPUT_JSON)
		return renderer->json(renderer->comparison, conditions, out, error);
	return renderer->text(renderer->comparison, conditions, outputs->style, out, error);
}

/*
 * Writes the text of the comparison as Markdown to the file `path`, under a heading that, if there are
 * conditions of --fail-if, says whether one of them is met.
 */
static enum kwhy_status write_summary(const struct kwhy_compare_renderer *renderer,
	const struct kwhy_conditions *conditions, bool exceeded, const char *path, struct kwhy_error *error)
{
	const struct kwhy_text_style style = {.columns = SUMMARY_COLUMNS, .markdown = true};
	struct kwhy_text text = {0};
	enum kwhy_status status;

	kwhy_text_addf(&text, "## kwhy compare%s\n\n",
		!conditions->count ? ""
			: exceeded ? ": a condition is exceeded"
				   : ": all conditions are kept");
	status = renderer->text(renderer->comparison, conditions, &style, &text, error);
	if (!status)
		status = kwhy_output_write(path, &text, error);
	kwhy_text_done(&text);
	return status;
}

enum kwhy_status kwhy_compare_write(const struct kwhy_compare_renderer *renderer,
	const struct kwhy_compare_gates *gates, const struct kwhy_compare_outputs *outputs,
	struct kwhy_error *error)
{
	const struct kwhy_conditions conditions = {gates->conditions, gates->verdicts, gates->count};
	struct kwhy_text text = {0};
	enum kwhy_status status = render(renderer, &conditions, outputs, &text, error);

	if (!status && outputs->summary)
		status = write_summary(renderer, &conditions, gates->exceeded, outputs->summary, error);
	if (!status)
		return kwhy_output_result(outputs->output, "compare", outputs->form, &text, error);
	kwhy_text_done(&text);
	return status;
}

static enum kwhy_status write_text(const void *comparison, const struct kwhy_conditions *conditions,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error)
{
	return kwhy_compare_stat_text(comparison, conditions, style, out, error);
}

static enum kwhy_status write_json(const void *comparison, const struct kwhy_conditions *conditions,
	struct kwhy_text *out, struct kwhy_error *error)
{
	return kwhy_compare_stat_json(comparison, conditions, out, error);
}

static enum kwhy_status read_result(struct kwhy_read_stat *result, const char *path, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status = kwhy_own_result_read(path, STAT_LIMIT_BYTES, &text, error);

	if (!status)
		status = kwhy_read_stat_of(result, path, text.data ? text.data : "", text.length, error);
	kwhy_text_done(&text);
	return status;
}

enum kwhy_status kwhy_compare_results(char *const paths[2], struct kwhy_compare_gates *gates,
	const struct kwhy_compare_outputs *outputs, struct kwhy_error *error)
{
	struct kwhy_read_stat results[2] = {0};
	struct kwhy_stat_comparison comparison = {0};
	const struct kwhy_compare_renderer renderer = {&comparison, write_text, write_json, NULL};
	enum kwhy_status status = KWHY_OK;

	if (outputs->form == KWHY_OUTPUT_HTML)
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"there is no page of two results of kwhy stat; use -o with .txt or .json");
	for (size_t i = 0; !status && i < 2; i++)
		status = read_result(&results[i], paths[i], error);
	if (!status)
		status = kwhy_compare_stat(&comparison, &results[0], &results[1], error);
	if (!status)
		status = kwhy_compare_gates_check(gates, &comparison.figures, error);
	if (!status)
		status = kwhy_compare_write(&renderer, gates, outputs, error);
	kwhy_compare_stat_done(&comparison);
	kwhy_read_stat_done(&results[0]);
	kwhy_read_stat_done(&results[1]);
	return status;
}
