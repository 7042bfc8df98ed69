/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recordings/compare_results.h"
#include "import/own_result.h"
#include "report/compare/llm.h"

#include <stdlib.h>

#define LLM_LIMIT_BYTES ((size_t)1000000000)

static enum kwhy_status write_text(const void *comparison, const struct kwhy_conditions *conditions,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error)
{
	return kwhy_compare_llm_text(comparison, conditions, style, out, error);
}

static enum kwhy_status write_json(const void *comparison, const struct kwhy_conditions *conditions,
	struct kwhy_text *out, struct kwhy_error *error)
{
	return kwhy_compare_llm_json(comparison, conditions, out, error);
}

static enum kwhy_status read_result(struct kwhy_read_llm *result, const char *path, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status = kwhy_own_result_read(path, LLM_LIMIT_BYTES, &text, error);

	if (!status)
		status = kwhy_read_llm_of(result, path, text.data ? text.data : "", text.length, error);
	kwhy_text_done(&text);
	return status;
}

static enum kwhy_status check_gates(struct kwhy_compare_gates *gates,
	const struct kwhy_llm_comparison *comparison, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < gates->count; i++) {
		status = kwhy_compare_llm_check(
			&gates->conditions[i], comparison, &gates->verdicts[i], error);
		gates->exceeded |= !status && gates->verdicts[i].exceeded;
	}
	return status;
}

enum kwhy_status kwhy_compare_llm_results(char *const *paths, const size_t counts[2],
	struct kwhy_compare_gates *gates, const struct kwhy_compare_outputs *outputs,
	struct kwhy_error *error)
{
	const size_t count = counts[0] + counts[1];
	struct kwhy_read_llm *results = calloc(count, sizeof(*results));
	const struct kwhy_llm_side sides[2] = {{results, counts[0]}, {results + counts[0], counts[1]}};
	struct kwhy_llm_comparison comparison = {0};
	const struct kwhy_compare_renderer renderer = {&comparison, write_text, write_json, NULL};
	enum kwhy_status status = results ? KWHY_OK : kwhy_fail_memory(error, "the results");

	if (!status && outputs->form == KWHY_OUTPUT_HTML)
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"there is no page of results of kwhy llm; use -o with .txt or .json");
	for (size_t i = 0; !status && i < count; i++)
		status = read_result(&results[i], paths[i], error);
	if (!status)
		status = kwhy_compare_llm(&comparison, sides, error);
	if (!status)
		status = check_gates(gates, &comparison, error);
	if (!status)
		status = kwhy_compare_write(&renderer, gates, outputs, error);
	kwhy_compare_llm_done(&comparison);
	for (size_t i = 0; results && i < count; i++)
		kwhy_read_llm_done(&results[i]);
	free(results);
	return status;
}
