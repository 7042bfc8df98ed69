/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/pairs_show.h"

#include "base/file.h"
#include "bench/pairs/store.h"
#include "cli/bench/pairs_simulators.h"
#include "cli/output.h"
#include "import/kineto/pair_traces.h"
#include "pairs/analysis.h"
#include "report/page/page.h"
#include "report/pairs.h"
#include "report/pairs/compat.h"

#include <stdio.h>

enum { PATH_BYTES = 4096 };

bool kwhy_pairs_folder_is_one(const char *folder)
{
	return kwhy_pair_store_is_one(folder) || kwhy_pair_traces_is_one(folder);
}

enum kwhy_status kwhy_pairs_folder_read(const char *folder, struct kwhy_pairs **out, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (kwhy_pair_store_is_one(folder) || !kwhy_pair_traces_is_one(folder))
		return kwhy_pair_store_read(folder, out, error);
	status = kwhy_import_pair_traces(folder, out, error);
	for (size_t i = 0; !status && i < (*out)->config_count; i++)
		kwhy_pair_sum_up(&(*out)->configs[i]);
	return status;
}

static void write_csv(const struct kwhy_pairs *pairs, struct kwhy_text *out)
{
	kwhy_text_addf(out, "%s\n", kwhy_pair_row_names);
	for (size_t i = 0; i < pairs->config_count; i++)
		for (size_t k = 0; k < pairs->configs[i].sample_count; k++)
			kwhy_pair_row_write(pairs, i, k, out);
}

static enum kwhy_status write_page(
	const struct kwhy_pairs *pairs, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_text json = {0};
	enum kwhy_status status = kwhy_report_pairs_json(pairs, &json, error);

	if (!status)
		status = kwhy_report_pairs_page(json.data, out, error);
	kwhy_text_done(&json);
	return status;
}

static enum kwhy_status render(const struct kwhy_pairs *pairs, const struct kwhy_pairs_show *show,
	enum kwhy_output_form form, struct kwhy_text *out, struct kwhy_error *error)
{
	const struct kwhy_text_style style = {.columns = show->output ? 80 : kwhy_output_columns(),
		.color = !show->output && kwhy_output_color(show->no_color),
		.verbose = show->verbose};

	if (show->compat)
		return kwhy_report_pairs_compat(pairs, show->compat, out, error);
	if (form == KWHY_OUTPUT_JSON)
		return kwhy_report_pairs_json(pairs, out, error);
	if (form == KWHY_OUTPUT_TEXT)
		return kwhy_report_pairs_text(pairs, &style, out, error);
	if (form == KWHY_OUTPUT_HTML)
		return write_page(pairs, out, error);
	write_csv(pairs, out);
	return kwhy_text_check(out, error);
}

/*
 * With --simulators, writes its files; with --against, compares the measurement with the predictions. The
 * summaries of both are added to the report `out` if its form is text.
 */
static enum kwhy_status add_simulators(const struct kwhy_pairs *pairs, const struct kwhy_pairs_show *show,
	enum kwhy_output_form form, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_text words = {0};
	enum kwhy_status status = KWHY_OK;

	if (show->simulators)
		status = kwhy_pairs_simulate(pairs, show->simulators, &words, error);
	if (!status && show->against)
		status = kwhy_pairs_hold_against(pairs, show->against, &words, error);
	if (!status && form == KWHY_OUTPUT_TEXT && words.data)
		kwhy_text_add(out, words.data);
	kwhy_text_done(&words);
	return status ? status : kwhy_text_check(out, error);
}

enum kwhy_status kwhy_pairs_form_of(
	const struct kwhy_pairs_show *show, enum kwhy_output_form *out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_output_form_of(
		show->output, show->json ? KWHY_OUTPUT_JSON : KWHY_OUTPUT_TEXT, out, error);

	if (!status && (show->compat || show->against) && *out != KWHY_OUTPUT_TEXT)
		return kwhy_fail(error, KWHY_E_USAGE,
			"%s writes text only; leave out --json, or let -o end in .txt",
			show->compat ? "--compat" : "--against");
	return status;
}

enum kwhy_status kwhy_pairs_show(
	const struct kwhy_pairs *pairs, const struct kwhy_pairs_show *show, struct kwhy_error *error)
{
	enum kwhy_output_form form;
	struct kwhy_text text = {0};
	enum kwhy_status status = kwhy_pairs_form_of(show, &form, error);

	if (!status)
		status = render(pairs, show, form, &text, error);
	if (!status)
		status = add_simulators(pairs, show, form, &text, error);
	if (!status)
		return kwhy_output_result(show->output, "pairs", form, &text, error);
	kwhy_text_done(&text);
	return status;
}

/*
 * Writes `text` to a file in pairs->folder unless `status`, the result of making the text, is an error, which
 * is then returned. Frees `text` in any case.
 */
static enum kwhy_status put(const struct kwhy_pairs *pairs, const char *name, struct kwhy_text *text,
	enum kwhy_status status, struct kwhy_error *error)
{
	char path[PATH_BYTES];

	if (!status && snprintf(path, sizeof(path), "%s/%s", pairs->folder, name) >= PATH_BYTES)
		status = kwhy_fail(error, KWHY_E_USAGE, "the folder's name is too long; name another one");
	if (!status)
		status = kwhy_file_write(path, text->data, text->length, error);
	kwhy_text_done(text);
	return status;
}

static enum kwhy_status keep_rank(const struct kwhy_pairs *pairs, uint32_t rank, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	char name[64];
	enum kwhy_status status;

	snprintf(name, sizeof(name), "metadata_rank_%u.yml", rank);
	status = put(pairs, name, &text, kwhy_report_pairs_metadata(pairs, rank, &text, error), error);
	snprintf(name, sizeof(name), "rank_%u.pt.trace.json", rank);
	if (!status)
		status = put(
			pairs, name, &text, kwhy_report_pairs_trace(pairs, rank, false, &text, error), error);
	snprintf(name, sizeof(name), "rank_%u_CPU_trace.json", rank);
	if (!status)
		status = put(
			pairs, name, &text, kwhy_report_pairs_trace(pairs, rank, true, &text, error), error);
	return status;
}

enum kwhy_status kwhy_pairs_keep(const struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status = kwhy_report_pairs_json(pairs, &text, error);

	status = put(pairs, "pairs.json", &text, status, error);
	for (uint32_t i = 0; !status && i < pairs->gpu_count; i++)
		status = keep_rank(pairs, i, error);
	return status;
}
