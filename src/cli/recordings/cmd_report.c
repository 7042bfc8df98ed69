/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "cli/bench/pairs_show.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/pager.h"
#include "cli/recordings/job.h"
#include "cli/recordings/job_report.h"
#include "import/own_result.h"
#include "pairs/analysis.h"
#include "report/page/page.h"
#include "report/page/timeline.h"

#include <stdlib.h>
#include <string.h>

/* largest size of a file of results, bytes */
enum { RESULT_MAX_BYTES = 64 << 20 };

/*
 * Kinds of results in JSON for which kwhy report writes an HTML page of its own: results of kwhy bench ops
 * ("ops"), machine profiles that contain such results ("profile"), and results of the program kwhy-lab (the
 * other kinds).
 */
static const char *const shown_results[] = {"ops", "profile", "twin", "flow", "train", "decode"};

static bool has_page(const char *path)
{
	for (size_t i = 0; i < sizeof(shown_results) / sizeof(shown_results[0]); i++)
		if (kwhy_own_result_is(path, shown_results[i]))
			return true;
	return false;
}

struct report_options {
	struct kwhy_job_options job;
	const char *output, *csv;
	struct kwhy_strings sections;
	bool plan, json, brief, no_color;
};

static void set_defaults(void *options)
{
	struct report_options *report = options;

	kwhy_job_options_init(&report->job);
}

typedef enum kwhy_status csv_writer(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error);

/* Finds the writer of the table with this name. NULL: there is no such table. */
static csv_writer *csv_writer_of(const char *name)
{
	static const struct {
		const char *name;
		csv_writer *write;
	} writers[] = {{"accounts", kwhy_report_accounts_csv}, {"findings", kwhy_report_findings_csv},
		{"waits", kwhy_report_waits_csv}};

	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
		if (strcmp(name, writers[i].name) == 0)
			return writers[i].write;
	return NULL;
}

static enum kwhy_status check_sections(const struct report_options *options, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < options->sections.count; i++)
		status = kwhy_report_section_check(options->sections.items[i], error);
	return status;
}

/*
 * Checks that --section, --brief and --plan can be used with the form `form` and with one another, and that
 * the sections named exist.
 */
static enum kwhy_status check_form(
	const struct report_options *options, enum kwhy_output_form form, struct kwhy_error *error)
{
	if (options->sections.count && form != KWHY_OUTPUT_TEXT)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--section chooses parts of the text; JSON, CSV and pages have all of them");
	if (options->brief && form != KWHY_OUTPUT_JSON)
		return kwhy_fail(error, KWHY_E_USAGE, "--brief shortens JSON; add --json");
	if (options->plan && form == KWHY_OUTPUT_CSV)
		return kwhy_fail(error, KWHY_E_USAGE, "--plan goes into text, JSON and pages, not into CSV");
	if (options->plan && options->brief)
		return kwhy_fail(error, KWHY_E_USAGE, "--brief has no plan; leave out --plan or --brief");
	return check_sections(options, error);
}

static enum kwhy_status find_form(
	const struct report_options *options, enum kwhy_output_form *out, struct kwhy_error *error)
{
	if (options->json && options->csv)
		return kwhy_fail(error, KWHY_E_USAGE, "--json and --csv are two forms; choose one");
	return kwhy_output_form_of(options->output,
		options->json	       ? KWHY_OUTPUT_JSON
			: options->csv ? KWHY_OUTPUT_CSV
				       : KWHY_OUTPUT_TEXT,
		out, error);
}

/* Finds the form of the report on a trace, and checks that the options apply to it. */
static enum kwhy_status choose_form(
	const struct report_options *options, enum kwhy_output_form *out, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (options->csv && !csv_writer_of(options->csv))
		return kwhy_fail(error, KWHY_E_USAGE, "--csv takes accounts, findings or waits, not '%.60s'",
			options->csv);
	status = find_form(options, out, error);
	return status ? status : check_form(options, *out, error);
}

/*
 * Fails with KWHY_E_UNSUPPORTED if the recording is so large that computing a plan would take longer than a
 * report may.
 */
static enum kwhy_status check_plan(const struct kwhy_recording *recording, struct kwhy_error *error)
{
	size_t rows = recording->activities.count + recording->calls.count;

	if (rows > KWHY_SAVINGS_ROWS_MAX)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%zu activities and calls are more than a report plans for; kwhy whatif --plan does",
			rows);
	return KWHY_OK;
}

/*
 * Makes a plan of the changes that do not alter the program's results, with their projected savings.
 * KWHY_E_UNSUPPORTED: the recording is too large or does not allow projections.
 */
static enum kwhy_status make_plan(
	struct kwhy_analysis *analysis, struct kwhy_plan **out, struct kwhy_error *error)
{
	enum kwhy_status status = check_plan(analysis->recording, error);

	return status
		? status
		: kwhy_job_status(
			  kwhy_analysis_plan(analysis, false, out, error->text, sizeof(error->text)), error);
}

static enum kwhy_status render_page(
	struct kwhy_analysis *analysis, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_plan *plan = NULL;
	enum kwhy_status status = kwhy_analysis_add_model_power(analysis, error);

	if (!status)
		status = make_plan(analysis, &plan, error);
	if (!status)
		status = kwhy_analysis_add_stretch(analysis, plan, error);
	if (!status || (status == KWHY_E_UNSUPPORTED && !plan))
		status = kwhy_report_page(&analysis->report, plan, KWHY_TIMELINE_EXACT_ROWS, out, error);
	kwhy_analysis_plan_free(plan);
	return status;
}

static enum kwhy_status render(struct kwhy_analysis *analysis, const struct kwhy_report *report,
	const struct report_options *options, enum kwhy_output_form form, struct kwhy_text *out,
	struct kwhy_error *error)
{
	bool terminal = !options->output || strcmp(options->output, "-") == 0;
	struct kwhy_text_style style = {.columns = terminal ? kwhy_output_columns() : 80,
		.color = terminal && kwhy_output_color(options->no_color),
		.verbose = options->job.verbose,
		.sections = options->sections.items,
		.section_count = options->sections.count};

	switch (form) {
	case KWHY_OUTPUT_HTML:
		return render_page(analysis, out, error);
	case KWHY_OUTPUT_JSON:
		return (options->brief ? kwhy_report_brief : kwhy_report_json)(report, out, error);
	case KWHY_OUTPUT_CSV:
		return csv_writer_of(options->csv ? options->csv : "accounts")(report, out, error);
	default:
		return kwhy_report_text(report, &style, out, error);
	}
}

/*
 * Adds the plan of --plan to the report. If it cannot be computed (KWHY_E_UNSUPPORTED), report->no_plan says
 * why, and KWHY_OK is returned.
 */
static enum kwhy_status add_plan(struct kwhy_analysis *analysis, struct kwhy_report *report,
	struct kwhy_plan **out, struct kwhy_error *why_not)
{
	enum kwhy_status status = make_plan(analysis, out, why_not);

	if (status == KWHY_E_UNSUPPORTED)
		report->no_plan = why_not->text;
	else if (!status)
		report->plan = *out;
	return status == KWHY_E_UNSUPPORTED ? KWHY_OK : status;
}

/*
 * Writes the report to its destination. Text with --verbose or --section, which is mostly longer than a
 * screen, goes through a pager on a terminal.
 */
static enum kwhy_status deliver(const struct report_options *options, enum kwhy_output_form form,
	const struct kwhy_text *text, struct kwhy_error *error)
{
	const bool is_long = form == KWHY_OUTPUT_TEXT && (options->job.verbose || options->sections.count);
	char *place = NULL;
	enum kwhy_status status;

	if (is_long && !options->output)
		return kwhy_pager_write(text, error);
	status = kwhy_output_path(options->output, "report", form, &place, error);
	if (!status)
		status = kwhy_output_write(place, text, error);
	free(place);
	return status;
}

static enum kwhy_status write_report(struct kwhy_analysis *analysis, const struct report_options *options,
	enum kwhy_output_form form, struct kwhy_error *error)
{
	struct kwhy_report report = analysis->report;
	struct kwhy_text text = {0};
	struct kwhy_plan *plan = NULL;
	struct kwhy_error why_not;
	enum kwhy_status status = KWHY_OK;

	if (options->plan && form != KWHY_OUTPUT_HTML) {
		status = add_plan(analysis, &report, &plan, &why_not);
		if (status)
			*error = why_not;
	}
	if (!status)
		status = render(analysis, &report, options, form, &text, error);
	if (!status)
		status = deliver(options, form, &text, error);
	kwhy_text_done(&text);
	kwhy_analysis_plan_free(plan);
	return status;
}

/* Writes the report on a folder of measured pairs (kwhy bench pairs). */
static enum kwhy_status report_pairs(
	const struct report_options *options, const char *folder, struct kwhy_error *error)
{
	const struct kwhy_pairs_show show = {.output = options->output,
		.json = options->json,
		.verbose = options->job.verbose,
		.no_color = options->no_color};
	struct kwhy_pairs *pairs = NULL;
	enum kwhy_status status;

	if (options->brief || options->sections.count)
		return kwhy_fail(error, KWHY_E_USAGE,
			"%.200s: a measurement of pairs has neither --brief nor --section", folder);
	status = kwhy_pairs_folder_read(folder, &pairs, error);
	if (!status)
		status = kwhy_pairs_conclude(pairs, error);
	if (!status)
		status = kwhy_pairs_show(pairs, &show, error);
	kwhy_pairs_free(pairs);
	return status;
}

/* Writes the HTML page of a file of results (shown_results). */
static enum kwhy_status report_results(
	const struct report_options *options, const char *path, struct kwhy_error *error)
{
	struct kwhy_text json = {0}, page = {0};
	enum kwhy_status status = kwhy_file_read(path, RESULT_MAX_BYTES, &json, error);

	if (!status)
		status = kwhy_report_results_page(path, json.data, json.length, &page, error);
	if (!status)
		status = deliver(options, KWHY_OUTPUT_HTML, &page, error);
	kwhy_text_done(&json);
	kwhy_text_done(&page);
	return status;
}

/* Writes the report on the digests of a job. */
static enum kwhy_status report_digests(
	const struct report_options *options, const struct kwhy_operands *operands, struct kwhy_error *error)
{
	struct kwhy_job_report how = {.output = options->output,
		.csv = options->csv,
		.verbose = options->job.verbose,
		.no_color = options->no_color};
	enum kwhy_status status;

	if (options->brief || options->plan || options->sections.count || options->job.power.count)
		return kwhy_fail(error, KWHY_E_USAGE,
			"digests have neither --brief, --plan, --section nor --power; give them the traces, "
			"or "
			"--power to kwhy digest");
	status = find_form(options, &how.form, error);
	return status ? status : kwhy_job_report_write(operands, &how, error);
}

static bool wants_list(const struct report_options *options)
{
	return options->sections.count == 1 && strcmp(options->sections.items[0], "list") == 0;
}

static enum kwhy_status list_sections(struct kwhy_error *error)
{
	struct kwhy_text text = {0};

	kwhy_report_section_list(&text);
	return kwhy_output_result(NULL, NULL, KWHY_OUTPUT_TEXT, &text, error);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct report_options *options = invocation->options;
	enum kwhy_output_form form;
	struct kwhy_analysis *analysis;
	enum kwhy_status status;

	if (wants_list(options))
		return list_sections(error);
	if (kwhy_job_report_is_of(&invocation->operands))
		return report_digests(options, &invocation->operands, error);
	status = choose_form(options, &form, error);
	if (status)
		return status;
	if (!invocation->operands.count)
		return kwhy_fail(error, KWHY_E_USAGE, "report needs a trace");
	if (invocation->operands.count == 1 && kwhy_pairs_folder_is_one(invocation->operands.items[0]))
		return report_pairs(options, invocation->operands.items[0], error);
	if (invocation->operands.count == 1 && form == KWHY_OUTPUT_HTML &&
		has_page(invocation->operands.items[0]))
		return report_results(options, invocation->operands.items[0], error);
	status = kwhy_job_open(&analysis, &options->job, invocation->operands.items,
		invocation->operands.count, &options->job.power, invocation->line, error);
	if (status)
		return status;
	status = write_report(analysis, options, form, error);
	kwhy_analysis_close(analysis);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"power", 0, "FILE", "power readings: CSV, or a log of nvidia-smi, DCGM, ...; may be given again",
		KWHY_OPTION_LIST, offsetof(struct report_options, job.power)},
	{"section", 0, "NAME",
		"show that section (list: their names) instead of one screen; may be given again",
		KWHY_OPTION_LIST, offsetof(struct report_options, sections)},
	{"plan", 0, NULL, "add what changes would save, the best first; a page always has it",
		KWHY_OPTION_FLAG, offsetof(struct report_options, plan)},
	{"output", 'o', "FILE|-", "write there; .txt .json .csv .html say the form", KWHY_OPTION_TEXT,
		offsetof(struct report_options, output)},
	{"json", 0, NULL, "write report.json", KWHY_OPTION_FLAG, offsetof(struct report_options, json)},
	{"brief", 0, NULL, "with --json: at most 4 kB, for programs and agents", KWHY_OPTION_FLAG,
		offsetof(struct report_options, brief)},
	{"csv", 0, "WHAT", "write accounts, findings or waits as CSV; of digests also ranks or collectives",
		KWHY_OPTION_TEXT, offsetof(struct report_options, csv)},
	{"no-color", 0, NULL, "no colour (NO_COLOR does the same)", KWHY_OPTION_FLAG,
		offsetof(struct report_options, no_color)},
	KWHY_OPTION_ROWS_JOB(struct report_options, job),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_report = {
	.name = "report",
	.operands = "REC|TRACE...",
	.summary = "Say where the energy and the time of a run went, and what to do.",
	.details = "Traces: Kineto or Chrome JSON (plain, .gz, .zst), XLA xplane, Perfetto, Nsight Systems "
		   "sqlite, kwhy CSV; several are the ranks of one run. Without power readings: time only. "
		   "Of a large job: digests (kwhy digest), their folders, or - for their paths.",
	.options = options_table,
	.options_bytes = sizeof(struct report_options),
	.defaults = set_defaults,
	.run = run,
};
