/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recordings/job_report.h"

#include "base/large.h"
#include "cli/recordings/path_list.h"
#include "report/job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool kwhy_job_report_is_of(const struct kwhy_operands *operands)
{
	const struct kwhy_operands first = {.items = operands->items, .count = operands->count ? 1 : 0};
	struct kwhy_path_list list = {0};
	struct kwhy_error error;
	bool is_of;

	if (!first.count)
		return false;
	if (strcmp(first.items[0], "-") == 0)
		return true;
	is_of = kwhy_path_list_add(&list, &first, &error) == KWHY_OK && list.count &&
		kwhy_job_is_digest(list.items[0]);
	kwhy_path_list_done(&list);
	return is_of;
}

static unsigned thread_count(void)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	return processors < 1			    ? 1
		: processors > KWHY_JOB_THREADS_MAX ? KWHY_JOB_THREADS_MAX
						    : (unsigned)processors;
}

static enum kwhy_status render(const struct kwhy_job *job, const struct kwhy_job_report *how,
	struct kwhy_text *text, struct kwhy_error *error)
{
	const bool terminal = !how->output || strcmp(how->output, "-") == 0;
	const struct kwhy_text_style style = {.columns = terminal ? kwhy_output_columns() : 80,
		.color = terminal && kwhy_output_color(how->no_color),
		.verbose = how->verbose};

	switch (how->form) {
	case KWHY_OUTPUT_JSON:
		return kwhy_job_json(job, text, error);
	case KWHY_OUTPUT_CSV:
		return kwhy_job_csv(job, how->csv ? how->csv : "ranks", text, error);
	case KWHY_OUTPUT_HTML:
		return kwhy_job_page(job, text, error);
	default:
		return kwhy_job_text(job, &style, text, error);
	}
}

enum kwhy_status kwhy_job_report_write(
	const struct kwhy_operands *operands, const struct kwhy_job_report *how, struct kwhy_error *error)
{
	struct kwhy_path_list list = {0};
	struct kwhy_text text = {0};
	struct kwhy_job *job = NULL;
	enum kwhy_status status = kwhy_path_list_add(&list, operands, error);

	kwhy_large_heap();
	if (!status)
		status = kwhy_job_read(list.items, list.count, thread_count(), &job, error);
	if (!status)
		status = render(job, how, &text, error);
	if (!status)
		status = kwhy_output_result(how->output, "report", how->form, &text, error);
	else
		kwhy_text_done(&text);
	kwhy_job_free(job);
	kwhy_path_list_done(&list);
	return status;
}
