/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/llm/by_kernel.h"
#include "cli/llm/plan.h"
#include "cli/llm/show_csv.h"
#include "cli/llm/show_joules.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "launch/stop.h"
#include "llm/client.h"
#include "report/page/page.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN_BYTES_MAX = 4096 };

/* State of one `kwhy llm`, which loads a server and measures it. */
struct job {
	const struct kwhy_llm_options *options;
	struct kwhy_llm_plan plan;
	struct kwhy_llm_client *client;
	struct kwhy_llm_meter meter;
	struct kwhy_llm_energy idle;
	struct kwhy_llm_joules joules; /* joules of single requests */
	char *model;		       /* name of the model that the server serves */
	struct kwhy_text token;	       /* token for the `kwhy serve` at --meters */
	uint64_t sent;
	struct kwhy_progress *progress;
	bool is_stopped;
};

static void set_defaults(void *options)
{
	*(struct kwhy_llm_options *)options = (struct kwhy_llm_options){.endpoint = "chat",
		.seconds = 30,
		.ramp = 3,
		.stall = 30,
		.idle = 5,
		.words = "128",
		.max_tokens = "128",
		.arrivals = "poisson",
		.burstiness = 0.25,
		.trace_speed = 1,
		.turns = 1,
		.seed = 1};
}

/* --- The run --- */

static enum kwhy_status find_server(struct job *job, struct kwhy_error *error)
{
	const struct kwhy_llm_server server = {job->options->url, secure_getenv("KWHY_LLM_KEY")};
	enum kwhy_status status = kwhy_llm_client_open(&server, &job->client, error);

	if (!status && !job->plan.question.model) {
		status = kwhy_llm_client_model(job->client, &job->model, error);
		job->plan.question.model = job->model;
	}
	if (!status && !job->plan.question.whole)
		status = kwhy_llm_client_takes_usage_each(job->client, &job->plan.question,
			(int64_t)(job->options->stall * 1e9), &job->plan.question.usage_each, error);
	return status;
}

/*
 * Gets the token for the remote meters: the content of the file that --meters-token names, else
 * KWHY_METERS_TOKEN; *out is NULL if neither is given.
 */
static enum kwhy_status find_token(struct job *job, const char **out, struct kwhy_error *error)
{
	const char *path = job->options->meters_token;
	enum kwhy_status status = KWHY_OK;

	*out = secure_getenv("KWHY_METERS_TOKEN");
	if (path)
		status = kwhy_file_read(path, TOKEN_BYTES_MAX, &job->token, error);
	if (!status && path) {
		while (job->token.length && strchr(" \t\r\n", job->token.data[job->token.length - 1]))
			job->token.data[--job->token.length] = '\0';
		*out = job->token.data;
	}
	if (!status && *out && !**out)
		status = kwhy_fail(error, KWHY_E_INPUT, "the token for --meters is empty");
	if (!status && *out && strpbrk(*out, " \r\n"))
		status = kwhy_fail(error, KWHY_E_INPUT, "the token for --meters is one line without blanks");
	return status;
}

static enum kwhy_status start_remote(struct job *job, struct kwhy_error *error)
{
	struct kwhy_llm_meters meters = {.url = job->options->meters,
		.ca_path = job->options->meters_ca,
		.devices = job->options->device};
	enum kwhy_status status = find_token(job, &meters.token, error);

	return status ? status : kwhy_llm_meter_open_remote(&job->meter, &meters, error);
}

static enum kwhy_status start_meters(struct job *job, struct kwhy_error *error)
{
	if (job->options->no_energy) {
		job->meter.missing = "--no-energy";
		return KWHY_OK;
	}
	if (job->options->meters)
		return start_remote(job, error);
	return kwhy_llm_meter_open(&job->meter, job->options->device, job->options->replay, error);
}

static enum kwhy_status tick(void *context, struct kwhy_error *error)
{
	struct job *job = context;
	enum kwhy_status status = kwhy_stop_check(error);

	return status ? status : kwhy_llm_meter_tick(&job->meter, error);
}

/*
 * Gets the energy of a load's steady window (row->gross and row->net), and adds the load's requests and the
 * meters' readings during the load to job->joules, which divides the energy among the requests.
 */
static enum kwhy_status meter_load(
	struct job *job, struct kwhy_llm_row *row, struct kwhy_llm_run *run, struct kwhy_error *error)
{
	struct kwhy_llm_series series = {0};
	struct kwhy_llm_energy ramp;
	enum kwhy_status status = kwhy_llm_meter_window(
		&job->meter, run->start_ns, run->steady_start_ns, &series, &ramp, error);

	if (!status)
		status = kwhy_llm_meter_window(
			&job->meter, run->steady_start_ns, run->steady_end_ns, &series, &row->gross, error);
	if (!status)
		status = kwhy_llm_meter_window(
			&job->meter, run->steady_end_ns, run->end_ns, &series, &ramp, error);
	if (!status)
		row->net = kwhy_llm_energy_net(&row->gross, &job->idle);
	/*
	 * frees the requests, of which there may be millions, if they are not needed: the energy is unknown,
	 * so it is not divided among them, and --requests is not given
	 */
	if (!status && series.is_broken && !job->options->requests)
		kwhy_llm_run_done(run);
	if (!status)
		status = kwhy_llm_joules_add(
			&job->joules, run, series.items, series.is_broken ? 0 : series.count, error);
	kwhy_llm_series_done(&series);
	return status;
}

static enum kwhy_status run_load(struct job *job, struct kwhy_llm_row *row, struct kwhy_error *error)
{
	struct kwhy_llm_question question = job->plan.question;
	struct kwhy_clock_relation relation;
	struct kwhy_llm_run run;
	enum kwhy_status status;

	question.words = row->words;
	question.max_tokens = row->max_tokens;
	status = kwhy_llm_client_run(job->client, &question, job->sent, &row->load, tick, job, &run, error);
	job->sent += run.count;
	relation = kwhy_clock_relate();
	row->steady_start_unix_ns = kwhy_clock_unix_of_mono(&relation, run.steady_start_ns);
	if (!status)
		status = kwhy_llm_summarise(&run, &job->plan.limits, &row->summary, error);
	if (!status && job->plan.compat)
		status = kwhy_llm_compat_of(&run, job->plan.compat, &job->plan.limits, &row->compat, error);
	if (!status)
		status = meter_load(job, row, &run, error);
	kwhy_llm_run_done(&run);
	return status;
}

static enum kwhy_status rest(struct job *job, struct kwhy_error *error)
{
	struct kwhy_llm_series series = {0};
	struct kwhy_llm_run none = {0};
	enum kwhy_status status = kwhy_llm_meter_rest(
		&job->meter, job->options->idle, &series, &job->idle, error);

	if (!status)
		status = kwhy_llm_joules_add(
			&job->joules, &none, series.items, series.is_broken ? 0 : series.count, error);
	kwhy_llm_series_done(&series);
	return status;
}

static enum kwhy_status measure(struct job *job, struct kwhy_error *error)
{
	enum kwhy_status status = find_server(job, error);

	if (!status)
		status = start_meters(job, error);
	if (!status) {
		kwhy_progress_step(job->progress, "measuring the idle server", NULL);
		status = rest(job, error);
	}
	for (size_t i = 0; !status && i < job->plan.row_count; i++) {
		kwhy_progress_step(job->progress, "loading the server", NULL);
		status = run_load(job, &job->plan.rows[i], error);
		if (!status && i + 1 == job->plan.row_count)
			status = kwhy_llm_plan_search(&job->plan, error);
		/* the user interrupted this load: the run ends with the results of the loads before it */
		if (status == KWHY_E_LOST && i > 0 && kwhy_stop_asked()) {
			job->plan.row_count = i;
			job->is_stopped = true;
			status = KWHY_OK;
		}
	}
	return status ? status : kwhy_llm_joules_finish(&job->joules, error);
}

static enum kwhy_status render(const struct kwhy_llm_result *result, enum kwhy_output_form form,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_text json = {0};
	enum kwhy_status status;

	if (form == KWHY_OUTPUT_TEXT) {
		kwhy_llm_text(result, style, out);
		return kwhy_text_check(out, error);
	}
	if (form == KWHY_OUTPUT_CSV) {
		kwhy_llm_loads_csv(result, out);
		return kwhy_text_check(out, error);
	}
	kwhy_llm_json(result, &json);
	status = kwhy_text_check(&json, error);
	if (!status && form == KWHY_OUTPUT_HTML)
		status = kwhy_report_llm_page(json.data, out, error);
	else if (!status)
		kwhy_text_add_bytes(out, json.data, json.length);
	kwhy_text_done(&json);
	return status ? status : kwhy_text_check(out, error);
}

typedef void table_csv(const struct kwhy_llm_result *result, struct kwhy_text *out);

/*
 * Writes a table as CSV to the file `path`. NULL: the user did not ask for the table, and nothing is written.
 */
static enum kwhy_status write_table(
	const char *path, table_csv *table, const struct kwhy_llm_result *result, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status;

	if (!path)
		return KWHY_OK;
	table(result, &text);
	status = kwhy_text_check(&text, error);
	if (!status)
		status = kwhy_output_write(path, &text, error);
	kwhy_text_done(&text);
	return status;
}

/*
 * Of the loads that kept the limits of --slo (kwhy_llm_plan_is_good()), the one with the most answers that
 * kept them. NULL: no load kept the limits, or there is no --slo.
 */
static const struct kwhy_llm_row *best_of(const struct kwhy_llm_plan *plan)
{
	const struct kwhy_llm_row *best = NULL;

	for (size_t i = 0; plan->options->slo && i < plan->row_count; i++)
		if (kwhy_llm_plan_is_good(plan, &plan->rows[i]) &&
			(!best || plan->rows[i].summary.good > best->summary.good))
			best = &plan->rows[i];
	return best;
}

static enum kwhy_status write_result(
	const struct job *job, enum kwhy_output_form form, struct kwhy_error *error)
{
	const struct kwhy_llm_options *options = job->options;
	const struct kwhy_text_style style = {.columns = options->output ? 100 : kwhy_output_columns()};
	const struct kwhy_llm_result result = {options->url, options->meters, &job->plan.question,
		job->plan.rows, job->plan.row_count, job->idle, &job->joules,
		job->is_stopped ? "it was interrupted" : NULL, options->slo, best_of(&job->plan),
		options->details, options->tokenizer};
	struct kwhy_text text = {0};
	enum kwhy_status status = render(&result, form, &style, &text, error);

	if (!status)
		status = write_table(options->requests, kwhy_llm_requests_csv, &result, error);
	if (!status)
		status = write_table(options->windows, kwhy_llm_windows_csv, &result, error);
	if (!status)
		return kwhy_output_result(options->output, "llm", form, &text, error);
	kwhy_text_done(&text);
	return status;
}

static bool has_answers(const struct job *job)
{
	for (size_t i = 0; i < job->plan.row_count; i++)
		if (job->plan.rows[i].summary.outcomes[KWHY_LLM_DONE])
			return true;
	return false;
}

static void end(struct job *job)
{
	kwhy_llm_meter_close(&job->meter);
	kwhy_llm_client_close(job->client);
	free(job->model);
	kwhy_llm_plan_done(&job->plan);
	kwhy_llm_joules_done(&job->joules);
	kwhy_text_done(&job->token);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	struct job job = {.options = invocation->options};
	enum kwhy_output_form form;
	enum kwhy_status status = kwhy_output_form_of(
		job.options->output, job.options->json ? KWHY_OUTPUT_JSON : KWHY_OUTPUT_TEXT, &form, error);

	if (!status && (job.options->recording || job.options->result))
		return kwhy_llm_by_kernel(job.options, form, error);
	if (!status && job.options->requests)
		status = kwhy_output_check("--requests", job.options->requests, error);
	if (!status && job.options->windows)
		status = kwhy_output_check("--windows", job.options->windows, error);
	if (!status)
		status = kwhy_llm_plan_make(job.options, &job.plan, error);
	if (!status) {
		kwhy_stop_watch(job.options->quiet);
		job.progress = kwhy_progress_begin(job.options->quiet);
		status = measure(&job, error);
		kwhy_progress_end(job.progress);
	}
	if (!status)
		status = write_result(&job, form, error);
	if (!status && (job.is_stopped || !has_answers(&job)))
		*invocation->exit = KWHY_EXIT_FAILED;
	end(&job);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"url", 0, "URL", "the server, like http://localhost:8000/v1", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_llm_options, url)},
	{"model", 0, "NAME", "as the server names it; default its first", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_llm_options, model)},
	{"concurrency", 'c', "LIST", "number of concurrent requests, load after load; default 1,2,4,8",
		KWHY_OPTION_TEXT, offsetof(struct kwhy_llm_options, concurrency)},
	{"rate", 'r', "LIST", "requests per second, load after load", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_llm_options, rate)},
	{"arrivals", 0, "KIND", "of --rate: poisson (default), constant or burst", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_llm_options, arrivals)},
	{"burstiness", 0, "X", "shape of the gaps of burst; default 0.25", KWHY_OPTION_NUMBER,
		offsetof(struct kwhy_llm_options, burstiness)},
	{"slo", 0, "LIMITS", "of good answers, like ttft=300ms,tpot=40ms,e2e=5s,share=95%", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_llm_options, slo)},
	{"search", 0, NULL, "find the largest rate within --slo", KWHY_OPTION_FLAG,
		offsetof(struct kwhy_llm_options, search)},
	{"seconds", 0, "S", "of each load; default 30", KWHY_OPTION_NUMBER,
		offsetof(struct kwhy_llm_options, seconds)},
	{"ramp", 0, "S", "cut off at both ends of a load; default 3", KWHY_OPTION_NUMBER,
		offsetof(struct kwhy_llm_options, ramp)},
	{"stall", 0, "S", "timeout for the next byte; default 30", KWHY_OPTION_NUMBER,
		offsetof(struct kwhy_llm_options, stall)},
	{"idle", 0, "S", "of the idle server before the first load; default 5", KWHY_OPTION_NUMBER,
		offsetof(struct kwhy_llm_options, idle)},
	{"endpoint", 0, "NAME", "chat or completions; default chat", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_llm_options, endpoint)},
	{"prompt-words", 0, "N",
		"of a made-up prompt; default 128; or uniform:LOW,HIGH, normal:MEAN,SD, "
		"lognormal:MEDIAN,SIGMA",
		KWHY_OPTION_TEXT, offsetof(struct kwhy_llm_options, words)},
	{"tokenizer", 0, "FILE", "tokenizer.json (BPE) that counts tokens where the server states none",
		KWHY_OPTION_TEXT, offsetof(struct kwhy_llm_options, tokenizer)},
	{"prompt-tokens", 0, "N", "of a made-up prompt by --tokenizer, instead of --prompt-words",
		KWHY_OPTION_TEXT, offsetof(struct kwhy_llm_options, prompt_tokens)},
	{"shared-words", 0, "N", "that all made-up prompts begin with", KWHY_OPTION_COUNT,
		offsetof(struct kwhy_llm_options, shared_words)},
	{"turns", 0, "N", "of made-up conversations; default 1", KWHY_OPTION_COUNT,
		offsetof(struct kwhy_llm_options, turns)},
	{"prompts", 0, "FILE", "prompts instead, round-robin: a line each, .jsonl, or .json (ShareGPT)",
		KWHY_OPTION_TEXT, offsetof(struct kwhy_llm_options, prompts)},
	{"trace", 0, "FILE", "requests of a log at their times (.jsonl, as Mooncake's)", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_llm_options, trace)},
	{"trace-speed", 0, "X", "times faster than the log; default 1", KWHY_OPTION_NUMBER,
		offsetof(struct kwhy_llm_options, trace_speed)},
	{"max-tokens", 0, "N", "of an answer; default 128; or a distribution as above", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_llm_options, max_tokens)},
	{"ignore-eos", 0, NULL, "ask for all of them (vLLM and others)", KWHY_OPTION_FLAG,
		offsetof(struct kwhy_llm_options, ignore_eos)},
	{"no-stream", 0, NULL, "ask for answers in one piece", KWHY_OPTION_FLAG,
		offsetof(struct kwhy_llm_options, no_stream)},
	{"seed", 0, "N", "of prompts and arrivals; default 1", KWHY_OPTION_COUNT,
		offsetof(struct kwhy_llm_options, seed)},
	{"meters", 0, "URL", "a kwhy serve next to the server's GPUs, where those are elsewhere",
		KWHY_OPTION_TEXT, offsetof(struct kwhy_llm_options, meters)},
	{"meters-token", 0, "FILE", "its token; else KWHY_METERS_TOKEN", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_llm_options, meters_token)},
	{"meters-ca", 0, "FILE", "who signed its certificate (PEM)", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_llm_options, meters_ca)},
	{"device", 0, "LIST", "the server's GPUs by number; default all", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_llm_options, device)},
	{"power-file", 0, "FILE", "play back a power CSV instead of this machine's meters", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_llm_options, replay)},
	{"design", 0, NULL, "loads that distinguish the joules of prompts, outputs and steps",
		KWHY_OPTION_FLAG, offsetof(struct kwhy_llm_options, design)},
	{"details", 0, NULL, "all tables: whole answers, intervals of joules", KWHY_OPTION_FLAG,
		offsetof(struct kwhy_llm_options, details)},
	{"compat", 0, "TOOL", "also print the figures as vllm or aiperf define them", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_llm_options, compat)},
	{"requests", 0, "FILE", "write a CSV line for each request", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_llm_options, requests)},
	{"windows", 0, "FILE", "write a CSV line for each second, with its joules and work", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_llm_options, windows)},
	{"recording", 0, "FILE", "joules by kernel of the loads of --result, by this recording of the server",
		KWHY_OPTION_TEXT, offsetof(struct kwhy_llm_options, recording)},
	{"result", 0, "FILE", "JSON of an earlier run, for --recording", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_llm_options, result)},
	{"no-energy", 0, NULL, "times alone", KWHY_OPTION_FLAG, offsetof(struct kwhy_llm_options, no_energy)},
	{"output", 'o', "FILE", "write there; .txt, .json, .csv or .html says the form", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_llm_options, output)},
	{"json", 0, NULL, "write JSON", KWHY_OPTION_FLAG, offsetof(struct kwhy_llm_options, json)},
	{"quiet", 'q', NULL, "no progress on standard error", KWHY_OPTION_FLAG,
		offsetof(struct kwhy_llm_options, quiet)},
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_llm = {
	.name = "llm",
	.operands = "",
	.summary = "Put load on a server of language models; time and energy of its tokens.",
	.details = "Keys come from the environment: KWHY_LLM_KEY for the server, KWHY_METERS_TOKEN for "
		   "--meters.",
	.options = options_table,
	.options_bytes = sizeof(struct kwhy_llm_options),
	.defaults = set_defaults,
	.run = run,
};
