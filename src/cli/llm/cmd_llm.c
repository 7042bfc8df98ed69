/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "cli/command.h"
#include "cli/llm/show.h"
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

enum {
	LOADS_MAX = 64,
	AT_ONCE_MAX = 1024,
	RATE_MAX = 100000,
	PROMPT_BYTES_MAX = 64 << 20,
	TOKEN_BYTES_MAX = 4096
};

struct llm_options {
	const char *url, *model, *concurrency, *rate, *prompts, *endpoint, *device, *replay, *output;
	const char *meters, *meters_token, *meters_ca;
	double seconds, ramp, stall, idle;
	uint64_t words, max_tokens, seed;
	bool ignore_eos, no_energy, json, quiet;
};

/* State of one call of the command. */
struct job {
	const struct llm_options *options;
	struct kwhy_llm_question question;
	struct kwhy_llm_client *client;
	struct kwhy_llm_meter meter;
	struct kwhy_llm_row rows[LOADS_MAX];
	size_t row_count;
	struct kwhy_llm_energy idle;
	char *model;		/* name of the model that the server serves */
	struct kwhy_text text;	/* content of the file with prompts */
	struct kwhy_text token; /* token for the server of --meters */
	const char **prompts;
	uint64_t sent;
	struct kwhy_progress *progress;
	bool is_stopped;
};

static void set_defaults(void *options)
{
	*(struct llm_options *)options = (struct llm_options){.endpoint = "chat",
		.seconds = 30,
		.ramp = 3,
		.stall = 30,
		.idle = 5,
		.words = 128,
		.max_tokens = 128,
		.seed = 1};
}

/* --- Options --- */

static enum kwhy_status check_times(const struct llm_options *options, struct kwhy_error *error)
{
	if (!(options->seconds > 0 && options->seconds <= 3600))
		return kwhy_fail(error, KWHY_E_USAGE, "--seconds takes more than 0, up to 3600, a load");
	if (!(options->ramp >= 0 && 2 * options->ramp < options->seconds))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--ramp is cut off at both ends: it takes less than half of --seconds");
	if (!(options->stall > 0 && options->stall <= 3600))
		return kwhy_fail(error, KWHY_E_USAGE, "--stall takes more than 0, up to 3600 seconds");
	if (!(options->idle >= 1 && options->idle <= 60))
		return kwhy_fail(error, KWHY_E_USAGE, "--idle takes 1 to 60 seconds");
	if (options->words < 1 || options->words > 1000000 || options->max_tokens < 1 ||
		options->max_tokens > 1000000)
		return kwhy_fail(error, KWHY_E_USAGE, "--prompt-words and --max-tokens take 1 to 1000000");
	return KWHY_OK;
}

static enum kwhy_status add_load(struct job *job, double rate_per_s, double at_once, struct kwhy_error *error)
{
	const struct llm_options *options = job->options;

	if (job->row_count == LOADS_MAX)
		return kwhy_fail(error, KWHY_E_USAGE, "at most %d loads at a time", LOADS_MAX);
	job->rows[job->row_count++].load = (struct kwhy_llm_load){.rate_per_s = rate_per_s,
		.concurrency = (uint32_t)at_once,
		.duration_ns = (int64_t)(options->seconds * 1e9),
		.ramp_ns = (int64_t)(options->ramp * 1e9),
		.stall_ns = (int64_t)(options->stall * 1e9),
		.seed = options->seed};
	return KWHY_OK;
}

static bool is_load(double value, bool is_rate)
{
	return value > 0 && value <= (is_rate ? RATE_MAX : AT_ONCE_MAX) && (is_rate || value == floor(value));
}

/* Reads a list of loads: "1,2,4". Each is at most `most`, and a whole number unless loads are rates. */
static enum kwhy_status add_loads(struct job *job, const char *list, bool is_rate, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	const char *at = list;

	do {
		char *end;
		double value = strtod(at, &end);

		if (end == at || (*end && (*end != ',' || !end[1])) || !is_load(value, is_rate))
			return kwhy_fail(error, KWHY_E_USAGE,
				"--%s takes %s up to %d with commas between, not '%.40s'",
				is_rate ? "rate" : "concurrency",
				is_rate ? "requests a second" : "whole numbers",
				is_rate ? RATE_MAX : AT_ONCE_MAX, list);
		status = is_rate ? add_load(job, value, AT_ONCE_MAX, error)
				 : add_load(job, NAN, value, error);
		at = *end ? end + 1 : end;
	} while (!status && *at);
	return status;
}

static enum kwhy_status read_prompts(struct job *job, struct kwhy_error *error)
{
	size_t lines = 1, count = 0;
	enum kwhy_status status = kwhy_file_read(job->options->prompts, PROMPT_BYTES_MAX, &job->text, error);

	if (status)
		return status;
	for (size_t i = 0; i < job->text.length; i++)
		lines += job->text.data[i] == '\n';
	job->prompts = calloc(lines, sizeof(*job->prompts));
	if (!job->prompts)
		return kwhy_fail_memory(error, "the prompts");
	for (char *rest = job->text.data, *line; rest && (line = strtok_r(rest, "\n", &rest));)
		job->prompts[count++] = line;
	if (!count)
		return kwhy_fail(error, KWHY_E_INPUT, "%s has no line with a prompt", job->options->prompts);
	job->question.prompts = job->prompts;
	job->question.prompt_count = count;
	return KWHY_OK;
}

static enum kwhy_status set_question(struct job *job, struct kwhy_error *error)
{
	const struct llm_options *options = job->options;
	bool is_chat = strcmp(options->endpoint, "chat") == 0;

	if (!is_chat && strcmp(options->endpoint, "completions") != 0)
		return kwhy_fail(error, KWHY_E_USAGE, "--endpoint takes chat or completions, not '%.40s'",
			options->endpoint);
	job->question = (struct kwhy_llm_question){
		.endpoint = is_chat ? KWHY_LLM_CHAT : KWHY_LLM_COMPLETIONS,
		.model = options->model,
		.words = options->words,
		.max_tokens = options->max_tokens,
		.seed = options->seed,
		.ignore_eos = options->ignore_eos,
	};
	return options->prompts ? read_prompts(job, error) : KWHY_OK;
}

/* Checks that at most one source of energy is given. */
static enum kwhy_status check_meters(const struct llm_options *options, struct kwhy_error *error)
{
	if (!options->meters && (options->meters_token || options->meters_ca))
		return kwhy_fail(error, KWHY_E_USAGE, "--meters-token and --meters-ca go with --meters");
	if (options->meters && (options->replay || options->no_energy))
		return kwhy_fail(
			error, KWHY_E_USAGE, "--meters does not go with --power-file or --no-energy");
	return KWHY_OK;
}

static enum kwhy_status plan(struct job *job, struct kwhy_error *error)
{
	const struct llm_options *options = job->options;
	enum kwhy_status status;

	if (!options->url)
		return kwhy_fail(error, KWHY_E_USAGE,
			"which server? name it with --url, like http://localhost:8000/v1");
	status = check_times(options, error);
	if (!status)
		status = check_meters(options, error);
	if (!status && options->concurrency)
		status = add_loads(job, options->concurrency, false, error);
	if (!status && options->rate)
		status = add_loads(job, options->rate, true, error);
	if (!status && !job->row_count)
		status = add_loads(job, "1,2,4,8", false, error);
	return status ? status : set_question(job, error);
}

/* --- The run --- */

static enum kwhy_status find_server(struct job *job, struct kwhy_error *error)
{
	const struct kwhy_llm_server server = {job->options->url, secure_getenv("KWHY_LLM_KEY")};
	enum kwhy_status status = kwhy_llm_client_open(&server, &job->client, error);

	if (!status && !job->question.model) {
		status = kwhy_llm_client_model(job->client, &job->model, error);
		job->question.model = job->model;
	}
	if (!status)
		status = kwhy_llm_client_takes_usage_each(job->client, &job->question,
			(int64_t)(job->options->stall * 1e9), &job->question.usage_each, error);
	return status;
}

/* Reads the token from the file or the environment; *out is NULL if neither has a token. */
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

static enum kwhy_status run_load(struct job *job, struct kwhy_llm_row *row, struct kwhy_error *error)
{
	struct kwhy_llm_run run;
	enum kwhy_status status = kwhy_llm_client_run(
		job->client, &job->question, job->sent, &row->load, tick, job, &run, error);

	if (!status)
		status = kwhy_llm_summarise(&run, &row->summary, error);
	if (!status)
		status = kwhy_llm_meter_window(
			&job->meter, run.steady_start_ns, run.steady_end_ns, &row->gross, error);
	if (!status)
		row->net = kwhy_llm_energy_net(&row->gross, &job->idle);
	job->sent += run.count;
	kwhy_llm_run_done(&run);
	return status;
}

static enum kwhy_status measure(struct job *job, struct kwhy_error *error)
{
	enum kwhy_status status = find_server(job, error);

	if (!status)
		status = start_meters(job, error);
	if (!status) {
		kwhy_progress_step(job->progress, "measuring the idle server", NULL);
		status = kwhy_llm_meter_rest(&job->meter, job->options->idle, &job->idle, error);
	}
	for (size_t i = 0; !status && i < job->row_count; i++) {
		kwhy_progress_step(job->progress, "loading the server", NULL);
		status = run_load(job, &job->rows[i], error);
		/* the results of earlier loads remain valid */
		if (status == KWHY_E_LOST && i > 0 && kwhy_stop_asked()) {
			job->row_count = i;
			job->is_stopped = true;
			return KWHY_OK;
		}
	}
	return status;
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
	kwhy_llm_json(result, &json);
	status = kwhy_text_check(&json, error);
	if (!status && form == KWHY_OUTPUT_HTML)
		status = kwhy_report_llm_page(json.data, out, error);
	else if (!status)
		kwhy_text_add_bytes(out, json.data, json.length);
	kwhy_text_done(&json);
	return status ? status : kwhy_text_check(out, error);
}

static enum kwhy_status write_result(
	const struct job *job, enum kwhy_output_form form, struct kwhy_error *error)
{
	const struct llm_options *options = job->options;
	const struct kwhy_text_style style = {.columns = options->output ? 100 : kwhy_output_columns()};
	const struct kwhy_llm_result result = {options->url, options->meters, &job->question, job->rows,
		job->row_count, job->idle, job->is_stopped ? "it was interrupted" : NULL};
	struct kwhy_text text = {0};
	enum kwhy_status status = render(&result, form, &style, &text, error);

	if (!status)
		return kwhy_output_result(options->output, "llm", form, &text, error);
	kwhy_text_done(&text);
	return status;
}

static bool has_answers(const struct job *job)
{
	for (size_t i = 0; i < job->row_count; i++)
		if (job->rows[i].summary.outcomes[KWHY_LLM_DONE])
			return true;
	return false;
}

static void end(struct job *job)
{
	kwhy_llm_meter_close(&job->meter);
	kwhy_llm_client_close(job->client);
	free(job->model);
	free(job->prompts);
	kwhy_text_done(&job->text);
	kwhy_text_done(&job->token);
}

static enum kwhy_status find_form(
	const struct llm_options *options, enum kwhy_output_form *out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_output_form_of(
		options->output, options->json ? KWHY_OUTPUT_JSON : KWHY_OUTPUT_TEXT, out, error);

	if (!status && *out == KWHY_OUTPUT_CSV)
		return kwhy_fail(
			error, KWHY_E_USAGE, "llm writes .txt, .json or .html, not %s", options->output);
	return status;
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	struct job job = {.options = invocation->options};
	enum kwhy_output_form form;
	enum kwhy_status status = find_form(job.options, &form, error);

	if (!status)
		status = plan(&job, error);
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
		offsetof(struct llm_options, url)},
	{"model", 0, "NAME", "as the server names it; default its first", KWHY_OPTION_TEXT,
		offsetof(struct llm_options, model)},
	{"concurrency", 'c', "LIST", "number of concurrent requests, load after load; default 1,2,4,8",
		KWHY_OPTION_TEXT, offsetof(struct llm_options, concurrency)},
	{"rate", 'r', "LIST", "requests a second at random times, load after load", KWHY_OPTION_TEXT,
		offsetof(struct llm_options, rate)},
	{"seconds", 0, "S", "of each load; default 30", KWHY_OPTION_NUMBER,
		offsetof(struct llm_options, seconds)},
	{"ramp", 0, "S", "cut off at both ends of a load; default 3", KWHY_OPTION_NUMBER,
		offsetof(struct llm_options, ramp)},
	{"stall", 0, "S", "timeout for the next byte; default 30", KWHY_OPTION_NUMBER,
		offsetof(struct llm_options, stall)},
	{"idle", 0, "S", "of the idle server before the first load; default 5", KWHY_OPTION_NUMBER,
		offsetof(struct llm_options, idle)},
	{"endpoint", 0, "NAME", "chat or completions; default chat", KWHY_OPTION_TEXT,
		offsetof(struct llm_options, endpoint)},
	{"prompt-words", 0, "N", "of a made-up prompt; default 128", KWHY_OPTION_COUNT,
		offsetof(struct llm_options, words)},
	{"prompts", 0, "FILE", "one prompt per line instead, used round-robin", KWHY_OPTION_TEXT,
		offsetof(struct llm_options, prompts)},
	{"max-tokens", 0, "N", "of an answer; default 128", KWHY_OPTION_COUNT,
		offsetof(struct llm_options, max_tokens)},
	{"ignore-eos", 0, NULL, "ask for all of them (vLLM and others)", KWHY_OPTION_FLAG,
		offsetof(struct llm_options, ignore_eos)},
	{"seed", 0, "N", "of prompts and arrivals; default 1", KWHY_OPTION_COUNT,
		offsetof(struct llm_options, seed)},
	{"meters", 0, "URL", "a kwhy serve next to the server's GPUs, where those are elsewhere",
		KWHY_OPTION_TEXT, offsetof(struct llm_options, meters)},
	{"meters-token", 0, "FILE", "its token; else KWHY_METERS_TOKEN", KWHY_OPTION_TEXT,
		offsetof(struct llm_options, meters_token)},
	{"meters-ca", 0, "FILE", "who signed its certificate (PEM)", KWHY_OPTION_TEXT,
		offsetof(struct llm_options, meters_ca)},
	{"device", 0, "LIST", "the server's GPUs by number; default all", KWHY_OPTION_TEXT,
		offsetof(struct llm_options, device)},
	{"power-file", 0, "FILE", "play back a power CSV instead of this machine's meters", KWHY_OPTION_TEXT,
		offsetof(struct llm_options, replay)},
	{"no-energy", 0, NULL, "times alone", KWHY_OPTION_FLAG, offsetof(struct llm_options, no_energy)},
	{"output", 'o', "FILE", "write there; .txt, .json or .html says the form", KWHY_OPTION_TEXT,
		offsetof(struct llm_options, output)},
	{"json", 0, NULL, "write JSON", KWHY_OPTION_FLAG, offsetof(struct llm_options, json)},
	{"quiet", 'q', NULL, "no progress on standard error", KWHY_OPTION_FLAG,
		offsetof(struct llm_options, quiet)},
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
	.options_bytes = sizeof(struct llm_options),
	.defaults = set_defaults,
	.run = run,
};
