/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/output.h"
#include "cli/recordings/change_options.h"
#include "cli/recordings/job.h"
#include "report/page/page.h"

#include <string.h>

struct whatif_options {
	struct kwhy_job_options job;
	const char *output;
	bool plan, numerics, json, no_color;
	struct kwhy_change_options changes;
};

static void set_defaults(void *options)
{
	struct whatif_options *whatif = options;

	kwhy_job_options_init(&whatif->job);
	kwhy_change_options_init(&whatif->changes);
}

/* Lists the requested changes. KWHY_E_USAGE: --plan and changes were given together, or neither. */
static enum kwhy_status list_requests(const struct whatif_options *options,
	struct kwhy_whatif_request change_requests[KWHY_CHANGE_OPTIONS], size_t *out_count,
	struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_change_options_list(
		&options->changes, change_requests, out_count, error);

	if (status)
		return status;
	if (options->plan && *out_count)
		return kwhy_fail(
			error, KWHY_E_USAGE, "--plan chooses among all changes: name no other with it");
	if (!options->plan && !*out_count)
		return kwhy_fail(error, KWHY_E_USAGE,
			"whatif needs --plan or changes, as in --pinned --graph; kwhy whatif --help lists "
			"them");
	return KWHY_OK;
}

/* Fails if none of the requested changes is possible. */
static enum kwhy_status fail_refused(const struct kwhy_plan *plan, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status;

	for (size_t i = 0; i < plan->refused_count; i++)
		kwhy_text_addf(&text, "%s--%s cannot be made: %s", i ? "; " : "", plan->refused[i].id,
			plan->refused[i].reason);
	status = kwhy_text_check(&text, error);
	if (!status)
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s", text.data);
	kwhy_text_done(&text);
	return status;
}

static enum kwhy_status project(const struct whatif_options *options, struct kwhy_analysis *analysis,
	const struct kwhy_whatif_request *change_requests, size_t change_request_count,
	struct kwhy_plan **out, struct kwhy_error *error)
{
	struct kwhy_analysis_change changes[KWHY_CHANGE_OPTIONS];
	size_t bytes = sizeof(error->text);

	for (size_t i = 0; i < change_request_count; i++)
		changes[i] = (struct kwhy_analysis_change){
			change_requests[i].change->id, change_requests[i].number};
	return kwhy_job_status(options->plan
			? kwhy_analysis_plan(analysis, options->numerics, out, error->text, bytes)
			: kwhy_analysis_project(
				  analysis, changes, change_request_count, out, error->text, bytes),
		error);
}

static enum kwhy_status make_plan(const struct whatif_options *options, struct kwhy_analysis *analysis,
	const struct kwhy_whatif_request *change_requests, size_t change_request_count,
	enum kwhy_output_form form, struct kwhy_plan **out, struct kwhy_error *error)
{
	enum kwhy_status status = project(
		options, analysis, change_requests, change_request_count, out, error);

	if (status)
		return status;
	if (!options->plan && !(*out)->change_count)
		status = fail_refused(*out, error);
	else if (form == KWHY_OUTPUT_HTML)
		status = kwhy_analysis_add_stretch(analysis, *out, error);
	if (status)
		kwhy_analysis_plan_free(*out);
	return status;
}

static enum kwhy_status form_of(
	const struct whatif_options *options, enum kwhy_output_form *out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_output_form_of(
		options->output, options->json ? KWHY_OUTPUT_JSON : KWHY_OUTPUT_TEXT, out, error);

	if (!status && *out == KWHY_OUTPUT_CSV)
		status = kwhy_fail(error, KWHY_E_USAGE, "whatif writes .txt, .json and .html");
	return status;
}

static enum kwhy_status render(const struct whatif_options *options, enum kwhy_output_form form,
	const struct kwhy_plan *plan, const struct kwhy_report *report, struct kwhy_text *out,
	struct kwhy_error *error)
{
	bool terminal = !options->output || strcmp(options->output, "-") == 0;
	struct kwhy_text_style style = {.columns = terminal ? kwhy_output_columns() : 80,
		.color = terminal && kwhy_output_color(options->no_color)};

	switch (form) {
	case KWHY_OUTPUT_HTML:
		return kwhy_report_plan_page(plan, report, out, error);
	case KWHY_OUTPUT_JSON:
		return kwhy_plan_json(plan, report, out, error);
	default:
		return kwhy_plan_text(plan, report, &style, out, error);
	}
}

static enum kwhy_status write_plan(const struct whatif_options *options, enum kwhy_output_form form,
	const struct kwhy_plan *plan, const struct kwhy_report *report, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status = render(options, form, plan, report, &text, error);

	if (!status)
		return kwhy_output_result(options->output, "whatif", form, &text, error);
	kwhy_text_done(&text);
	return status;
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct whatif_options *options = invocation->options;
	struct kwhy_whatif_request change_requests[KWHY_CHANGE_OPTIONS];
	struct kwhy_plan *plan;
	struct kwhy_analysis *analysis;
	size_t change_request_count;
	enum kwhy_output_form form;
	enum kwhy_status status = list_requests(options, change_requests, &change_request_count, error);

	if (!status)
		status = form_of(options, &form, error);
	if (status)
		return status;
	if (!invocation->operands.count)
		return kwhy_fail(error, KWHY_E_USAGE, "whatif needs a recording or a trace");
	status = kwhy_job_open(&analysis, &options->job, invocation->operands.items,
		invocation->operands.count, &options->job.power, invocation->line, error);
	if (status)
		return status;
	if (!analysis->recording->activities.count)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"%.200s holds no activity of a device, so there is nothing to change; record what "
			"runs on the GPUs, as kwhy record does without --power-only",
			invocation->operands.items[0]);
	if (!status)
		status = make_plan(
			options, analysis, change_requests, change_request_count, form, &plan, error);
	if (!status) {
		status = write_plan(options, form, plan, &analysis->report, error);
		kwhy_analysis_plan_free(plan);
	}
	kwhy_analysis_close(analysis);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"plan", 0, NULL, "choose among all changes, the best first", KWHY_OPTION_FLAG,
		offsetof(struct whatif_options, plan)},
	{"numerics", 0, NULL, "let the plan use changes whose results are other numbers", KWHY_OPTION_FLAG,
		offsetof(struct whatif_options, numerics)},
#define X(function, argument, number, least, bound, effort, risk, id, title, finding, premise, help) \
	KWHY_OPTION_ROW_CHANGE_##argument(                                                           \
		struct whatif_options, changes, KWHY_WHATIF_##function##_AT, id, help),
#include "whatif/changes.def"
#undef X
	{"power", 0, "FILE", "power readings: CSV, or a log of nvidia-smi, DCGM, ...; may be given again",
		KWHY_OPTION_LIST, offsetof(struct whatif_options, job.power)},
	{"output", 'o', "FILE|-", "write there; .txt .json .html say the form", KWHY_OPTION_TEXT,
		offsetof(struct whatif_options, output)},
	{"json", 0, NULL, "write JSON", KWHY_OPTION_FLAG, offsetof(struct whatif_options, json)},
	{"no-color", 0, NULL, "no colour (NO_COLOR does the same)", KWHY_OPTION_FLAG,
		offsetof(struct whatif_options, no_color)},
	KWHY_OPTION_ROWS_JOB(struct whatif_options, job),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_whatif = {
	.name = "whatif",
	.operands = "REC|TRACE...",
	.summary = "Say what changes to a program would save, by its recording.",
	.details = "The recording is changed as the program would be and simulated. Changes are made in the "
		   "order of the list above; --plan takes the one that saves most, then the next, until "
		   "none is left that saves --min-gain of the time or of the energy. A text longer than the "
		   "terminal goes through $PAGER.",
	.options = options_table,
	.options_bytes = sizeof(struct whatif_options),
	.defaults = set_defaults,
	.run = run,
};
