/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/recordings/compare_stat_job.h"
#include "cli/recordings/job.h"
#include "import/own_result.h"
#include "import/results/side.h"
#include "report/compare.h"
#include "report/page/page.h"
#include "report/projection_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest size of a report.json that is read, bytes. */
#define REPORT_LIMIT_BYTES ((size_t)2000000000)

struct compare_options {
	struct kwhy_job_options job;
	struct kwhy_strings power_a, power_b, trace_a, trace_b, fail_if;
	const char *output, *projected;
	bool json, no_color;
};

static void set_defaults(void *options)
{
	struct compare_options *compare = options;

	kwhy_job_options_init(&compare->job);
}

/* Whether a file is a report.json, judged by its first bytes. Other files are traces. */
static bool is_report(const char *path)
{
	char head[256];
	FILE *file = fopen(path, "rbe");
	size_t length = file ? fread(head, 1, sizeof(head), file) : 0;

	if (file)
		fclose(file);
	return length && memmem(head, length, "\"kwhy.report/", 13) != NULL;
}

/* One side of the comparison, and its report.json if the page includes it. */
struct source {
	struct kwhy_side side;
	struct kwhy_text json;
};

static enum kwhy_status read_report(struct source *source, const char *path, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_file_read(path, REPORT_LIMIT_BYTES, &source->json, error);

	if (!status)
		status = kwhy_side_read(&source->side, path, source->json.data, source->json.length, error);
	return status;
}

/* One run as the command line describes it: its trace or report, further traces, power readings. */
struct run {
	char *path;
	const struct kwhy_strings *more, *power;
	bool with_json; /* whether the page needs the run's report.json */
};

static enum kwhy_status take_side(struct source *source, const struct run *run,
	const struct kwhy_report *report, struct kwhy_error *error)
{
	struct kwhy_text label = {0};
	enum kwhy_status status;

	kwhy_text_add(&label, run->path);
	if (run->more->count)
		kwhy_text_addf(&label, " and %zu more", run->more->count);
	status = kwhy_text_check(&label, error);
	if (!status)
		status = kwhy_side_of_report(&source->side, label.data, report, error);
	if (!status && run->with_json)
		status = kwhy_report_json(report, &source->json, error);
	kwhy_text_done(&label);
	return status;
}

/*
 * Refuses a run of kwhy probe. The host waited while kernels were repeated, so its times are not those of the
 * program.
 */
static enum kwhy_status refuse_probed(
	const struct kwhy_ledger *ledger, const char *path, struct kwhy_error *error)
{
	for (size_t d = 0; ledger && d < ledger->device_count; d++)
		if (ledger->devices[d].time.probing_ns > 0)
			return kwhy_fail(error, KWHY_E_UNSUPPORTED,
				"%s is a recording of kwhy probe, which cannot be compared: the program "
				"waited "
				"while kernels were repeated; record it without, and give this one as "
				"--powers",
				path);
	return KWHY_OK;
}

static enum kwhy_status read_traces(struct source *source, const struct run *run,
	const struct kwhy_job_options *options, struct kwhy_error *error)
{
	char **paths = calloc(run->more->count + 1, sizeof(*paths));
	struct kwhy_analysis *analysis;
	enum kwhy_status status;

	if (!paths)
		return kwhy_fail_memory(error, "the list of traces");
	paths[0] = run->path;
	for (size_t i = 0; i < run->more->count; i++)
		paths[i + 1] = (char *)run->more->items[i];
	status = kwhy_job_open(&analysis, options, paths, run->more->count + 1, run->power, NULL, error);
	free(paths);
	if (status)
		return status;
	status = refuse_probed(analysis->ledger, run->path, error);
	if (!status)
		status = take_side(source, run, &analysis->report, error);
	kwhy_analysis_close(analysis);
	return status;
}

static enum kwhy_status read_side(struct source *source, const struct run *run,
	const struct kwhy_job_options *options, struct kwhy_error *error)
{
	if (!is_report(run->path)) {
		enum kwhy_status status = kwhy_own_result_refuse_file(
			run->path, "a report or a trace", error);

		return status ? status : read_traces(source, run, options, error);
	}
	if (run->power->count || run->more->count)
		return kwhy_fail(error, KWHY_E_USAGE,
			"'%.200s' is a report already: further traces and power readings belong to a trace",
			run->path);
	return read_report(source, run->path, error);
}

/* State of a comparison of two files. */
struct comparing {
	struct source a, b;
	struct kwhy_projection_check check;
	struct kwhy_comparison comparison;
	struct kwhy_condition *conditions;
	struct kwhy_verdict *verdicts;
	size_t condition_count;
};

static void done(struct comparing *comparing)
{
	kwhy_comparison_done(&comparing->comparison);
	kwhy_projection_check_done(&comparing->check);
	kwhy_side_done(&comparing->a.side);
	kwhy_side_done(&comparing->b.side);
	kwhy_text_done(&comparing->a.json);
	kwhy_text_done(&comparing->b.json);
	free(comparing->conditions);
	free(comparing->verdicts);
}

static enum kwhy_status parse_conditions(
	struct comparing *comparing, const struct kwhy_strings *texts, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	comparing->conditions = calloc(texts->count + 1, sizeof(*comparing->conditions));
	comparing->verdicts = calloc(texts->count + 1, sizeof(*comparing->verdicts));
	if (!comparing->conditions || !comparing->verdicts)
		return kwhy_fail_memory(error, "the conditions");
	comparing->condition_count = texts->count;
	for (size_t i = 0; !status && i < texts->count; i++)
		status = kwhy_condition_parse(texts->items[i], &comparing->conditions[i], error);
	return status;
}

static enum kwhy_status check_conditions(
	struct comparing *comparing, enum kwhy_exit *out_exit, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < comparing->condition_count; i++) {
		status = kwhy_condition_check(
			&comparing->conditions[i], &comparing->comparison, &comparing->verdicts[i], error);
		if (!status && comparing->verdicts[i].exceeded)
			*out_exit = KWHY_EXIT_EXCEEDED;
	}
	return status;
}

static struct kwhy_text_style style_of(const struct compare_options *options)
{
	bool terminal = !options->output || strcmp(options->output, "-") == 0;

	return (struct kwhy_text_style){.columns = terminal ? kwhy_output_columns() : 80,
		.color = terminal && kwhy_output_color(options->no_color),
		.verbose = options->job.verbose};
}

static enum kwhy_status render_page(const struct comparing *comparing,
	const struct kwhy_conditions *conditions, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_text json = {0};
	enum kwhy_status status = kwhy_compare_json(&comparing->comparison, conditions, &json, error);

	if (!status)
		status = kwhy_report_compare_page(
			json.data, comparing->a.json.data, comparing->b.json.data, out, error);
	kwhy_text_done(&json);
	return status;
}

static enum kwhy_status render(const struct comparing *comparing, const struct compare_options *options,
	enum kwhy_output_form form, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_conditions conditions = {
		comparing->conditions, comparing->verdicts, comparing->condition_count};
	struct kwhy_text_style style = style_of(options);

	if (form == KWHY_OUTPUT_HTML)
		return render_page(comparing, &conditions, out, error);
	return form == KWHY_OUTPUT_JSON
		? kwhy_compare_json(&comparing->comparison, &conditions, out, error)
		: kwhy_compare_text(&comparing->comparison, &conditions, &style, out, error);
}

static enum kwhy_status write_out(const struct comparing *comparing, const struct compare_options *options,
	enum kwhy_output_form form, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	char *place = NULL;
	enum kwhy_status status = render(comparing, options, form, &text, error);

	if (!status)
		status = kwhy_output_path(options->output, "compare", form, &place, error);
	if (!status)
		status = kwhy_output_write(place, &text, error);
	free(place);
	kwhy_text_done(&text);
	return status;
}

static enum kwhy_status choose_form(
	const struct compare_options *options, enum kwhy_output_form *out, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	*out = KWHY_OUTPUT_JSON;
	if (!options->json)
		status = kwhy_output_form_of(options->output, KWHY_OUTPUT_TEXT, out, error);
	if (!status && *out == KWHY_OUTPUT_CSV)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"compare writes no such form as '%.200s'; use -o with .txt, .json or .html",
			options->output);
	return status;
}

/* Reads a projection that kwhy whatif made from run A. */
static enum kwhy_status read_projection(
	struct comparing *comparing, const char *path, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status;

	if (!path)
		return KWHY_OK;
	status = kwhy_file_read(path, REPORT_LIMIT_BYTES, &text, error);
	if (!status)
		status = kwhy_projection_check_read(&comparing->check, path, text.data, text.length, error);
	if (!status)
		comparing->comparison.check = &comparing->check;
	kwhy_text_done(&text);
	return status;
}

static enum kwhy_status run_steps(struct comparing *comparing, const struct kwhy_invocation *invocation,
	enum kwhy_output_form form, struct kwhy_error *error)
{
	const struct compare_options *options = invocation->options;
	struct run a = {invocation->operands.items[0], &options->trace_a, &options->power_a,
		form == KWHY_OUTPUT_HTML};
	struct run b = {invocation->operands.items[1], &options->trace_b, &options->power_b,
		form == KWHY_OUTPUT_HTML};
	enum kwhy_exit verdict = KWHY_EXIT_DONE;
	enum kwhy_status status = parse_conditions(comparing, &options->fail_if, error);

	if (!status)
		status = read_side(&comparing->a, &a, &options->job, error);
	if (!status)
		status = read_side(&comparing->b, &b, &options->job, error);
	if (!status)
		status = kwhy_compare(&comparing->comparison, &comparing->a.side, &comparing->b.side, error);
	if (!status)
		status = read_projection(comparing, options->projected, error);
	if (!status)
		status = check_conditions(comparing, &verdict, error);
	if (!status)
		status = write_out(comparing, options, form, error);
	if (!status)
		*invocation->exit = verdict;
	return status;
}

static enum kwhy_status run_stats(
	const struct kwhy_invocation *invocation, enum kwhy_output_form form, struct kwhy_error *error)
{
	const struct compare_options *options = invocation->options;
	struct kwhy_text_style style = style_of(options);
	const struct kwhy_compare_stat_options stat = {&options->fail_if, &style, options->output, form};

	return kwhy_compare_stat_run(&stat, invocation->operands.items, invocation->exit, error);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct compare_options *options = invocation->options;
	struct comparing comparing = {0};
	enum kwhy_output_form form;
	enum kwhy_status status = choose_form(options, &form, error);

	if (!status && invocation->operands.count != 2)
		status = kwhy_fail(error, KWHY_E_USAGE, "compare takes two reports or traces, A and B");
	if (!status && kwhy_is_stat(invocation->operands.items[0]) && options->projected)
		status = kwhy_fail(error, KWHY_E_USAGE,
			"--projected needs recordings or reports of both runs, not what kwhy stat wrote");
	else if (!status && kwhy_is_stat(invocation->operands.items[0]))
		status = run_stats(invocation, form, error);
	else if (!status)
		status = run_steps(&comparing, invocation, form, error);
	done(&comparing);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"power-a", 0, "FILE", "power readings of trace A; may be given again", KWHY_OPTION_LIST,
		offsetof(struct compare_options, power_a)},
	{"power-b", 0, "FILE", "power readings of trace B; may be given again", KWHY_OPTION_LIST,
		offsetof(struct compare_options, power_b)},
	{"trace-a", 0, "FILE", "further trace (rank) of run A; may be given again", KWHY_OPTION_LIST,
		offsetof(struct compare_options, trace_a)},
	{"trace-b", 0, "FILE", "further trace (rank) of run B; may be given again", KWHY_OPTION_LIST,
		offsetof(struct compare_options, trace_b)},
	{"fail-if", 0, "CONDITION", "exit 3 when it holds: run>+3%, each:tokens>+3%", KWHY_OPTION_LIST,
		offsetof(struct compare_options, fail_if)},
	{"projected", 0, "FILE",
		"check a projection: what kwhy whatif --json projected for A against what B measured",
		KWHY_OPTION_TEXT, offsetof(struct compare_options, projected)},
	{"output", 'o', "FILE|-", "write there; .txt .json .html say the form", KWHY_OPTION_TEXT,
		offsetof(struct compare_options, output)},
	{"json", 0, NULL, "write the comparison as JSON", KWHY_OPTION_FLAG,
		offsetof(struct compare_options, json)},
	{"no-color", 0, NULL, "no colour (NO_COLOR does the same)", KWHY_OPTION_FLAG,
		offsetof(struct compare_options, no_color)},
	KWHY_OPTION_ROWS_JOB(struct compare_options, job),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_compare = {
	.name = "compare",
	.operands = "A B",
	.summary = "Compare two runs, account by account, with significance.",
	.details = "A and B are traces, or report.json files written before.\n"
		   "Conditions: 'energy>+3%' (change from A to B), 'time>+0.5s', 'power>300W' (value\n"
		   "of B), 'busy_ratio<0.5', 'idle>+10J', 'account:NAME>+1J'.",
	.options = options_table,
	.options_bytes = sizeof(struct compare_options),
	.defaults = set_defaults,
	.run = run,
};
