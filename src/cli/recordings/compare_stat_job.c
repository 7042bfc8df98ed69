/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recordings/compare_stat_job.h"

#include "base/file.h"
#include "report/compare/stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAT_LIMIT_BYTES ((size_t)1000000000)

bool kwhy_is_stat(const char *path)
{
	char head[256];
	FILE *file = fopen(path, "rbe");
	size_t length = file ? fread(head, 1, sizeof(head), file) : 0;

	if (file)
		fclose(file);
	return length && memmem(head, length, "\"kwhy.stat/", 11) != NULL;
}

static enum kwhy_status check(struct kwhy_stat_comparison *comparison, const struct kwhy_strings *texts,
	struct kwhy_condition *conditions, struct kwhy_verdict *verdicts, enum kwhy_exit *out_exit,
	struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < texts->count; i++) {
		status = kwhy_condition_parse(texts->items[i], &conditions[i], error);
		if (!status)
			status = kwhy_condition_check(
				&conditions[i], &comparison->figures, &verdicts[i], error);
		if (!status && verdicts[i].exceeded)
			*out_exit = KWHY_EXIT_EXCEEDED;
	}
	return status;
}

static enum kwhy_status write_out(const struct kwhy_stat_comparison *comparison,
	const struct kwhy_conditions *conditions, const struct kwhy_compare_stat_options *options,
	struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	char *place = NULL;
	enum kwhy_status status;

	if (options->form == KWHY_OUTPUT_JSON)
		status = kwhy_compare_stat_json(comparison, conditions, &text, error);
	else
		status = kwhy_compare_stat_text(comparison, conditions, options->style, &text, error);
	if (!status)
		status = kwhy_output_path(options->output, "compare", options->form, &place, error);
	if (!status)
		status = kwhy_output_write(place, &text, error);
	free(place);
	kwhy_text_done(&text);
	return status;
}

static enum kwhy_status judge(struct kwhy_stat_comparison *comparison,
	const struct kwhy_compare_stat_options *options, enum kwhy_exit *out_exit, struct kwhy_error *error)
{
	size_t count = options->fail_if->count;
	struct kwhy_condition *conditions = calloc(count + 1, sizeof(*conditions));
	struct kwhy_verdict *verdicts = calloc(count + 1, sizeof(*verdicts));
	enum kwhy_exit verdict = KWHY_EXIT_DONE;
	enum kwhy_status status;

	if (!conditions || !verdicts)
		status = kwhy_fail_memory(error, "the conditions");
	else
		status = check(comparison, options->fail_if, conditions, verdicts, &verdict, error);
	if (!status)
		status = write_out(
			comparison, &(struct kwhy_conditions){conditions, verdicts, count}, options, error);
	if (!status)
		*out_exit = verdict;
	free(conditions);
	free(verdicts);
	return status;
}

enum kwhy_status kwhy_compare_stat_run(const struct kwhy_compare_stat_options *options, char *const paths[2],
	enum kwhy_exit *out_exit, struct kwhy_error *error)
{
	struct kwhy_text texts[2] = {{0}};
	const struct kwhy_text *const both[2] = {&texts[0], &texts[1]};
	const char *const labels[2] = {paths[0], paths[1]};
	struct kwhy_stat_comparison comparison = {0};
	enum kwhy_status status = KWHY_OK;

	if (options->form == KWHY_OUTPUT_HTML)
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"there is no page of two results of kwhy stat; use -o with .txt or .json");
	for (size_t i = 0; !status && i < 2; i++)
		status = kwhy_file_read(paths[i], STAT_LIMIT_BYTES, &texts[i], error);
	if (!status)
		status = kwhy_compare_stat(&comparison, labels, both, error);
	if (!status)
		status = judge(&comparison, options, out_exit, error);
	kwhy_compare_stat_done(&comparison);
	kwhy_text_done(&texts[0]);
	kwhy_text_done(&texts[1]);
	return status;
}
