/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/recordings/compare_results.h"
#include "cli/recordings/job.h"
#include "import/own_result.h"
#include "import/results/side.h"
#include "report/compare.h"
#include "report/compare/llm.h"
#include "report/page/page.h"
#include "report/projection_check.h"

#include <stdlib.h>
#include <string.h>

/* Largest size of a report.json that is read, bytes. */
#define REPORT_LIMIT_BYTES ((size_t)2000000000)

struct compare_options {
	struct kwhy_job_options job;
	struct kwhy_strings power_a, power_b, trace_a, trace_b, fail_if;
	const char *output, *projected, *summary;
	bool json, no_color;
};

static void set_defaults(void *options)
{
	struct compare_options *compare = options;

	kwhy_job_options_init(&compare->job);
}

/*
 * Where one run of the comparison is stored: its figures, and its report.json if the HTML page includes that.
 */
struct source {
	struct kwhy_side *side;
	struct kwhy_text *json; /* text of the run's report.json; NULL: it is not needed */
};

static enum kwhy_status read_report(const struct source *source, const char *path, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status = kwhy_own_result_read(path, REPORT_LIMIT_BYTES, &text, error);

	if (!status)
		status = kwhy_side_read(source->side, path, text.data, text.length, error);
	if (!status && source->json)
		*source->json = text;
	else
		kwhy_text_done(&text);
	return status;
}

/* One run as the command line describes it: its trace or report, further traces, and power readings. */
struct run {
	char *path;
	const struct kwhy_strings *more, *power;
};

static enum kwhy_status take_side(const struct source *source, const struct run *run,
	const struct kwhy_report *report, struct kwhy_error *error)
{
	struct kwhy_text label = {0};
	enum kwhy_status status;

	kwhy_text_add(&label, run->path);
	if (run->more->count)
		kwhy_text_addf(&label, " and %zu more", run->more->count);
	status = kwhy_text_check(&label, error);
	if (!status)
		status = kwhy_side_of_report(source->side, label.data, report, error);
	if (!status && source->json)
		status = kwhy_report_json(report, source->json, error);
	kwhy_text_done(&label);
	return status;
}

/*
 * Fails with KWHY_E_UNSUPPORTED for a recording of kwhy probe: the host waited while kernels were repeated,
 * so the times in the recording are not those of the program.
 */
static enum kwhy_status refuse_probed(
	const struct kwhy_ledger *ledger, const char *path, struct kwhy_error *error)
{
	for (size_t d = 0; ledger && d < ledger->device_count; d++)
		if (ledger->devices[d].time.probing_ns > 0)
			return kwhy_fail(error, KWHY_E_UNSUPPORTED,
				"%s is a recording of kwhy probe, which cannot be compared: the program "
				"waited while kernels were repeated; record it without, and give this one as "
				"--powers",
				path);
	return KWHY_OK;
}

static enum kwhy_status read_traces(const struct source *source, const struct run *run,
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

static enum kwhy_status read_side(const struct source *source, const struct run *run,
	const struct kwhy_job_options *options, struct kwhy_error *error)
{
	if (!kwhy_own_result_is(run->path, "report")) {
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

/* State of a comparison. sides[] has the runs of A, then the runs of B. */
struct comparing {
	struct kwhy_side *sides;
	size_t counts[2]; /* number of runs of A and B */
	struct kwhy_text json[2];
	struct kwhy_projection_check check;
	struct kwhy_comparison comparison;
	struct kwhy_compare_gates gates;
};

static void done(struct comparing *comparing)
{
	kwhy_comparison_done(&comparing->comparison);
	kwhy_projection_check_done(&comparing->check);
	for (size_t i = 0; comparing->sides && i < comparing->counts[0] + comparing->counts[1]; i++)
		kwhy_side_done(&comparing->sides[i]);
	free(comparing->sides);
	kwhy_text_done(&comparing->json[0]);
	kwhy_text_done(&comparing->json[1]);
	kwhy_compare_gates_done(&comparing->gates);
}

static struct kwhy_text_style style_of(const struct compare_options *options)
{
	bool terminal = !options->output || strcmp(options->output, "-") == 0;

	return (struct kwhy_text_style){.columns = terminal ? kwhy_output_columns() : 80,
		.color = terminal && kwhy_output_color(options->no_color),
		.verbose = options->job.verbose};
}

static enum kwhy_status write_page(const void *of, const struct kwhy_conditions *conditions,
	struct kwhy_text *out, struct kwhy_error *error)
{
	const struct comparing *comparing = of;
	struct kwhy_text json = {0};
	enum kwhy_status status = kwhy_compare_json(&comparing->comparison, conditions, &json, error);

	if (!status)
		status = kwhy_report_compare_page(
			json.data, comparing->json[0].data, comparing->json[1].data, out, error);
	kwhy_text_done(&json);
	return status;
}

static enum kwhy_status write_json(const void *of, const struct kwhy_conditions *conditions,
	struct kwhy_text *out, struct kwhy_error *error)
{
	return kwhy_compare_json(&((const struct comparing *)of)->comparison, conditions, out, error);
}

static enum kwhy_status write_text(const void *of, const struct kwhy_conditions *conditions,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error)
{
	return kwhy_compare_text(&((const struct comparing *)of)->comparison, conditions, style, out, error);
}

static enum kwhy_status choose_form(
	const struct compare_options *options, enum kwhy_output_form *out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_output_form_of(
		options->output, options->json ? KWHY_OUTPUT_JSON : KWHY_OUTPUT_TEXT, out, error);

	if (!status && *out == KWHY_OUTPUT_CSV)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"compare writes no such form as '%.200s'; use -o with .txt, .json or .html",
			options->output);
	return status;
}

/* Reads the projection of --projected, which kwhy whatif made from run A, if the user gave it. */
static enum kwhy_status read_projection(
	struct comparing *comparing, const char *path, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status;

	if (!path)
		return KWHY_OK;
	status = kwhy_own_result_read(path, REPORT_LIMIT_BYTES, &text, error);
	if (!status)
		status = kwhy_projection_check_read(&comparing->check, path, text.data, text.length, error);
	if (!status)
		comparing->comparison.check = &comparing->check;
	kwhy_text_done(&text);
	return status;
}

static enum kwhy_status read_runs(struct comparing *comparing, const struct kwhy_invocation *invocation,
	bool with_json, struct kwhy_error *error)
{
	const struct compare_options *options = invocation->options;
	const size_t count = comparing->counts[0] + comparing->counts[1];
	enum kwhy_status status = KWHY_OK;

	comparing->sides = calloc(count, sizeof(*comparing->sides));
	if (!comparing->sides)
		return kwhy_fail_memory(error, "the runs");
	for (size_t i = 0; !status && i < count; i++) {
		const bool is_b = i >= comparing->counts[0];
		const struct run run = {invocation->operands.items[i],
			is_b ? &options->trace_b : &options->trace_a,
			is_b ? &options->power_b : &options->power_a};
		const struct source source = {
			&comparing->sides[i], with_json ? &comparing->json[is_b] : NULL};

		status = read_side(&source, &run, &options->job, error);
	}
	return status;
}

static enum kwhy_status run_steps(struct comparing *comparing, const struct kwhy_invocation *invocation,
	const struct kwhy_compare_outputs *outputs, struct kwhy_error *error)
{
	const struct compare_options *options = invocation->options;
	const struct kwhy_compare_renderer renderer = {comparing, write_text, write_json, write_page};
	enum kwhy_status status = read_runs(comparing, invocation, outputs->form == KWHY_OUTPUT_HTML, error);
	const struct kwhy_side_runs runs[2] = {{comparing->sides, comparing->counts[0]},
		{comparing->sides + comparing->counts[0], comparing->counts[1]}};

	if (!status)
		status = kwhy_compare_runs(&comparing->comparison, runs, error);
	if (!status)
		status = read_projection(comparing, options->projected, error);
	if (!status)
		status = kwhy_compare_gates_check(&comparing->gates, &comparing->comparison, error);
	if (!status)
		status = kwhy_compare_write(&renderer, &comparing->gates, outputs, error);
	return status;
}

/*
 * Sets counts[] to the number of operands that are runs of A and of B. Runs of B are those after "--";
 * without "--" there must be two operands, one of A and one of B.
 */
static enum kwhy_status divide(
	const struct kwhy_operands *operands, size_t counts[2], struct kwhy_error *error)
{
	size_t after = operands->after_dashes;

	if ((!after || after == operands->count) && operands->count == 2)
		after = 1;
	for (size_t i = operands->count - after; i < operands->count; i++)
		if (operands->items[i][0] == '-')
			return kwhy_fail(error, KWHY_E_USAGE,
				"'%.60s' stands after '--', where only runs of B do: write options before "
				"the runs",
				operands->items[i]);
	if (!after || after >= operands->count)
		return kwhy_fail(error, KWHY_E_USAGE,
			"compare takes two reports or traces, A and B, or several runs of each: A1 A2 -- B1 "
			"B2");
	counts[0] = operands->count - after;
	counts[1] = after;
	if (counts[0] > KWHY_RUNS_MAX || counts[1] > KWHY_RUNS_MAX)
		return kwhy_fail(
			error, KWHY_E_USAGE, "compare takes at most %d runs of a side", KWHY_RUNS_MAX);
	return KWHY_OK;
}

/*
 * Fails with KWHY_E_USAGE if one file is given twice for one side. Two equal results would hide the scatter
 * of that side, so that any change would look significant.
 */
static enum kwhy_status refuse_twice(
	const struct kwhy_operands *operands, const size_t counts[2], struct kwhy_error *error)
{
	for (size_t j = 1; j < operands->count; j++)
		for (size_t i = j < counts[0] ? 0 : counts[0]; i < j; i++)
			if (kwhy_file_is_same(operands->items[i], operands->items[j]))
				return kwhy_fail(error, KWHY_E_USAGE,
					"%s is given twice; give each run of a side once",
					operands->items[j]);
	return KWHY_OK;
}

/* What is compared: recordings or reports, or results of kwhy stat or kwhy llm. */
enum subject { OF_RUNS, OF_STAT, OF_LLM };

/*
 * Fails if an option or the form is not possible with several runs of a side or with results of kwhy stat or
 * kwhy llm.
 */
static enum kwhy_status refuse_misfits(const struct compare_options *options, const size_t counts[2],
	enum subject subject, enum kwhy_output_form form, struct kwhy_error *error)
{
	const bool several = counts[0] + counts[1] > 2, is_stat = subject == OF_STAT;

	if (subject != OF_RUNS && options->projected)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--projected needs recordings or reports of both runs, not what kwhy %s wrote",
			is_stat ? "stat" : "llm");
	if (is_stat && several)
		return kwhy_fail(error, KWHY_E_USAGE,
			"a result of kwhy stat has several runs already: give one for A and one for B");
	if (several &&
		(options->projected || options->power_a.count || options->power_b.count ||
			options->trace_a.count || options->trace_b.count))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--projected, --power-a, --power-b, --trace-a and --trace-b are for one run of A and "
			"one of B; with several, give a report.json of each");
	if (several && form == KWHY_OUTPUT_HTML)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"there is no page of several runs of a side; use -o with .txt or .json, or "
			"--summary");
	return KWHY_OK;
}

static enum subject subject_of(const char *path)
{
	if (kwhy_own_result_is(path, "stat"))
		return OF_STAT;
	return kwhy_own_result_is(path, "llm") ? OF_LLM : OF_RUNS;
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct compare_options *options = invocation->options;
	struct comparing comparing = {0};
	struct kwhy_text_style style = style_of(options);
	struct kwhy_compare_outputs outputs = {&style, options->output, KWHY_OUTPUT_TEXT, options->summary};
	enum kwhy_status status = choose_form(options, &outputs.form, error);
	enum subject subject = OF_RUNS;

	if (!status)
		status = divide(&invocation->operands, comparing.counts, error);
	if (!status)
		status = refuse_twice(&invocation->operands, comparing.counts, error);
	if (!status) {
		subject = subject_of(invocation->operands.items[0]);
		status = refuse_misfits(options, comparing.counts, subject, outputs.form, error);
	}
	if (!status)
		status = kwhy_compare_gates_parse(&comparing.gates, &options->fail_if,
			subject == OF_LLM ? kwhy_compare_llm_condition : kwhy_condition_parse, error);
	if (!status && options->summary)
		status = kwhy_output_check("--summary", options->summary, error);
	if (!status && subject == OF_STAT)
		status = kwhy_compare_results(invocation->operands.items, &comparing.gates, &outputs, error);
	else if (!status && subject == OF_LLM)
		status = kwhy_compare_llm_results(
			invocation->operands.items, comparing.counts, &comparing.gates, &outputs, error);
	else if (!status)
		status = run_steps(&comparing, invocation, &outputs, error);
	if (!status && comparing.gates.exceeded)
		*invocation->exit = KWHY_EXIT_EXCEEDED;
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
	{"fail-if", 0, "CONDITION", "exit 3 when it holds: step>+3%, throughput<-2%", KWHY_OPTION_LIST,
		offsetof(struct compare_options, fail_if)},
	{"projected", 0, "FILE",
		"check a projection: what kwhy whatif --json projected for A against what B measured",
		KWHY_OPTION_TEXT, offsetof(struct compare_options, projected)},
	{"summary", 0, "FILE", "write a summary in Markdown, for a pull request", KWHY_OPTION_TEXT,
		offsetof(struct compare_options, summary)},
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
	.operands = "A B | A1 A2 ... -- B1 B2 ...",
	.summary = "Compare runs, account by account, with significance.",
	.details = "A and B are traces, report.json files written before, or results of kwhy llm or\n"
		   "stat. Several runs of each side show which changes are more than chance.\n"
		   "Conditions: a change from A to B ('step>+3%', 'time>+0.5s'), or a value of B\n"
		   "('power>300W'). Figures: throughput, throughput:UNIT, step, step_energy, time,\n"
		   "energy, run, idle, power, busy_ratio, idle_ratio, account-time:NAME,\n"
		   "account-energy:NAME, account:NAME, each:UNIT. 'finding:new': B has a kind of\n"
		   "finding that A lacks. Results of kwhy llm are compared load by load, with\n"
		   "figures like ttft.p99>+10% or throughput:8 concurrent<-2%. A text longer than\n"
		   "the terminal goes through $PAGER.",
	.options = options_table,
	.options_bytes = sizeof(struct compare_options),
	.defaults = set_defaults,
	.run = run,
};
