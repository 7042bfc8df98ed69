/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page.h"

#include "report/brief.h"
#include "report/opened.h"
#include "report/page/block.h"
#include "report/page/timeline.h"

#include <string.h>

/*
 * The page's HTML with its script, which is built from web/ and embedded by template.c, as the bytes from
 * kwhy_page_template to kwhy_page_template_end. In a build without Node.js there are none.
 */
extern const char kwhy_page_template[];
extern const char kwhy_page_template_end[];

static const char data_mark[] = "<!--KWHY-DATA-->";

/* Whether this build contains the page. A build that was configured without Node.js does not. */
static bool is_available(void)
{
	return &kwhy_page_template_end[0] > &kwhy_page_template[0];
}

static const char *find_mark(void)
{
	return memmem(kwhy_page_template, (size_t)(kwhy_page_template_end - kwhy_page_template), data_mark,
		sizeof(data_mark) - 1);
}

static enum kwhy_status begin(struct kwhy_text *out, const char **mark, struct kwhy_error *error)
{
	*mark = is_available() ? find_mark() : NULL;
	if (!*mark)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"this build of kwhy has no report page (it was configured without Node.js); "
			"configure with -DKWHY_PAGE=ON after scripts/setup, or write -o report.json instead");
	kwhy_text_add_bytes(out, kwhy_page_template, (size_t)(*mark - kwhy_page_template));
	return KWHY_OK;
}

static enum kwhy_status end(struct kwhy_text *out, const char *mark, struct kwhy_error *error)
{
	mark += sizeof(data_mark) - 1;
	kwhy_text_add_bytes(out, mark, (size_t)(kwhy_page_template_end - mark));
	return kwhy_text_check(out, error);
}

/* Adds the block "kwhy-brief" with what the first screen of the text report shows, as JSON. */
static enum kwhy_status add_brief(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_text json = {0};
	enum kwhy_status status = kwhy_report_brief_page(report, &json, error);

	if (!status)
		status = kwhy_page_block("kwhy-brief", json.data, json.length, out, error);
	kwhy_text_done(&json);
	return status;
}

static enum kwhy_status add_report(const struct kwhy_report *report, const struct kwhy_opened *opened,
	struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_text json = {0};
	enum kwhy_status status = kwhy_report_json_opened(report, opened, &json, error);

	if (!status)
		status = kwhy_page_block("kwhy-report", json.data, json.length, out, error);
	kwhy_text_done(&json);
	return status;
}

static enum kwhy_status add_timeline(const struct kwhy_report *report, const struct kwhy_opened *opened,
	size_t exact_rows, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_text container = {0};
	enum kwhy_status status = kwhy_report_timeline(
		report, opened->devices, exact_rows, &container, error);

	if (!status)
		status = kwhy_page_block("kwhy-timeline", container.data, container.length, out, error);
	kwhy_text_done(&container);
	return status;
}

static enum kwhy_status add_plan(const struct kwhy_plan *plan, const struct kwhy_report *report,
	struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_text json = {0};
	enum kwhy_status status = kwhy_plan_json(plan, report, &json, error);

	if (!status)
		status = kwhy_page_block("kwhy-plan", json.data, json.length, out, error);
	kwhy_text_done(&json);
	return status;
}

enum kwhy_status kwhy_report_page(const struct kwhy_report *report, const struct kwhy_plan *plan,
	size_t exact_rows, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_opened opened;
	const char *mark;
	enum kwhy_status status = begin(out, &mark, error);

	if (!status)
		status = kwhy_opened_init(&opened, report, error);
	if (status)
		return status;
	status = add_brief(report, out, error);
	if (!status)
		status = add_report(report, &opened, out, error);
	if (!status && plan)
		status = add_plan(plan, report, out, error);
	if (!status)
		status = add_timeline(report, &opened, exact_rows, out, error);
	kwhy_opened_done(&opened);
	return status ? status : end(out, mark, error);
}

enum kwhy_status kwhy_report_compare_page(const char *compare_json, const char *before_json,
	const char *after_json, struct kwhy_text *out, struct kwhy_error *error)
{
	const char *mark;
	enum kwhy_status status = begin(out, &mark, error);

	if (!status)
		status = kwhy_page_block("kwhy-compare", compare_json, strlen(compare_json), out, error);
	if (!status)
		status = kwhy_page_block("kwhy-report-a", before_json, strlen(before_json), out, error);
	if (!status)
		status = kwhy_page_block("kwhy-report-b", after_json, strlen(after_json), out, error);
	return status ? status : end(out, mark, error);
}

enum kwhy_status kwhy_report_block_page(
	const char *block, const char *json, struct kwhy_text *out, struct kwhy_error *error)
{
	const char *mark;
	enum kwhy_status status = begin(out, &mark, error);

	if (!status)
		status = kwhy_page_block(block, json, strlen(json), out, error);
	return status ? status : end(out, mark, error);
}

enum kwhy_status kwhy_report_transfers_page(
	const char *transfers_json, struct kwhy_text *out, struct kwhy_error *error)
{
	return kwhy_report_block_page("kwhy-transfers", transfers_json, out, error);
}

enum kwhy_status kwhy_report_pairs_page(
	const char *pairs_json, struct kwhy_text *out, struct kwhy_error *error)
{
	return kwhy_report_block_page("kwhy-pairs", pairs_json, out, error);
}

enum kwhy_status kwhy_report_llm_page(const char *llm_json, struct kwhy_text *out, struct kwhy_error *error)
{
	return kwhy_report_block_page("kwhy-llm", llm_json, out, error);
}

enum kwhy_status kwhy_report_plan_page(const struct kwhy_plan *plan, const struct kwhy_report *report,
	struct kwhy_text *out, struct kwhy_error *error)
{
	const char *mark;
	enum kwhy_status status = begin(out, &mark, error);

	if (!status)
		status = add_plan(plan, report, out, error);
	return status ? status : end(out, mark, error);
}
