/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/options.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/recordings/change_options.h"
#include "cli/recordings/job.h"
#include "cli/recordings/replay_show.h"
#include "launch/stop.h"

#include <string.h>

enum { REPEAT_MAX = 100000 };

struct replay_options {
	struct kwhy_job_options job;
	struct kwhy_change_options changes;
	const char *backend, *device, *output;
	uint64_t repeat;
	double seconds;
	bool json, no_color;
};

static void set_defaults(void *options)
{
	struct replay_options *replay = options;

	kwhy_job_options_init(&replay->job);
	kwhy_change_options_init(&replay->changes);
	replay->backend = "cuda";
	replay->repeat = KWHY_COUNT_NOT_GIVEN;
	replay->seconds = NAN;
}

/*
 * Fails with KWHY_E_USAGE if the change host-speed is requested, because a replay runs at the speed of this
 * host.
 */
static enum kwhy_status check_changes(
	const struct kwhy_whatif_request *change_requests, size_t count, struct kwhy_error *error)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(change_requests[i].change->id, "host-speed") == 0)
			return kwhy_fail(error, KWHY_E_USAGE,
				"a replay has the host that it runs on: --host-speed is for kwhy whatif");
	return KWHY_OK;
}

static enum kwhy_status make_request(const struct replay_options *options, struct kwhy_replay_request *out,
	struct kwhy_whatif_request change_requests[KWHY_CHANGE_OPTIONS], struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_backend_read(options->backend, &out->backend, error);

	if (!status)
		status = kwhy_change_options_list(
			&options->changes, change_requests, &out->change_request_count, error);
	if (!status)
		status = check_changes(change_requests, out->change_request_count, error);
	if (status)
		return status;
	if (options->repeat < 1 || (options->repeat > REPEAT_MAX && options->repeat != KWHY_COUNT_NOT_GIVEN))
		return kwhy_fail(error, KWHY_E_USAGE, "--repeat takes 1 to %d runs", REPEAT_MAX);
	if (options->seconds < 0 || options->seconds > 600)
		return kwhy_fail(error, KWHY_E_USAGE, "--seconds takes 0 to 600 seconds");
	out->change_requests = change_requests;
	out->device = options->device;
	out->repeat = options->repeat == KWHY_COUNT_NOT_GIVEN ? 0 : (uint32_t)options->repeat;
	out->energy_s = kwhy_bench_energy_s(options->seconds, out->backend, KWHY_BENCH_ENERGY_S);
	return KWHY_OK;
}

static enum kwhy_status find_form(
	const struct replay_options *options, enum kwhy_output_form *out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_output_form_of(
		options->output, options->json ? KWHY_OUTPUT_JSON : KWHY_OUTPUT_TEXT, out, error);

	if (!status && *out != KWHY_OUTPUT_JSON && *out != KWHY_OUTPUT_TEXT)
		status = kwhy_fail(error, KWHY_E_USAGE, "replay writes .txt and .json");
	return status;
}

static enum kwhy_status write_result(const struct replay_options *options, enum kwhy_output_form form,
	const struct kwhy_replay *replay, const struct kwhy_report *report, struct kwhy_error *error)
{
	bool terminal = !options->output || strcmp(options->output, "-") == 0;
	struct kwhy_text_style style = {.columns = terminal ? kwhy_output_columns() : 80,
		.color = terminal && kwhy_output_color(options->no_color)};
	struct kwhy_text text = {0};

	if (form == KWHY_OUTPUT_JSON)
		kwhy_replay_json(replay, report, &text);
	else
		kwhy_replay_text(replay, report, &style, &text);
	return kwhy_output_result(options->output, "replay", form, &text, error);
}

static enum kwhy_status replay_job(struct kwhy_replay_request *request, struct kwhy_analysis *analysis,
	bool is_quiet, struct kwhy_replay **out, struct kwhy_error *error)
{
	struct kwhy_whatif *whatif;
	enum kwhy_status status = kwhy_analysis_graph(analysis, &whatif, error);

	if (status)
		return status;
	request->context = kwhy_progress_begin(is_quiet);
	request->progress = kwhy_bench_tell;
	kwhy_stop_watch(is_quiet);
	status = kwhy_replay(whatif, request, out, error);
	kwhy_progress_end(request->context);
	return status;
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct replay_options *options = invocation->options;
	struct kwhy_whatif_request change_requests[KWHY_CHANGE_OPTIONS];
	struct kwhy_replay_request request = {0};
	struct kwhy_replay *replay;
	enum kwhy_output_form form;
	struct kwhy_analysis *analysis;
	enum kwhy_status status = find_form(options, &form, error);

	if (!status)
		status = make_request(options, &request, change_requests, error);
	if (status)
		return status;
	if (!invocation->operands.count)
		return kwhy_fail(error, KWHY_E_USAGE, "replay needs a recording or a trace");
	status = kwhy_job_open(&analysis, &options->job, invocation->operands.items,
		invocation->operands.count, &options->job.power, invocation->line, error);
	if (status)
		return status;
	status = replay_job(&request, analysis, options->job.quiet, &replay, error);
	if (!status) {
		status = write_result(options, form, replay, &analysis->report, error);
		if (!status && replay->ended)
			*invocation->exit = KWHY_EXIT_FAILED;
		kwhy_replay_free(replay);
	}
	kwhy_analysis_close(analysis);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"backend", 0, "NAME", "cuda, hip or host; default cuda", KWHY_OPTION_TEXT,
		offsetof(struct replay_options, backend)},
	{"device", 0, "GPU", "its number or PCI address; default 0", KWHY_OPTION_TEXT,
		offsetof(struct replay_options, device)},
	{"repeat", 0, "N", "timed runs, at least; default 6, or fewer in a minute", KWHY_OPTION_COUNT,
		offsetof(struct replay_options, repeat)},
	{"seconds", 0, "S", "of repeated runs for the energy; default 10 on a GPU, 0: none",
		KWHY_OPTION_NUMBER, offsetof(struct replay_options, seconds)},
#define X(function, argument, number, least, bound, effort, risk, id, title, finding, premise, help) \
	KWHY_OPTION_ROW_CHANGE_##argument(                                                           \
		struct replay_options, changes, KWHY_WHATIF_##function##_AT, id, help),
#include "whatif/changes.def"
#undef X
	{"power", 0, "FILE", "power readings: CSV, or a log of nvidia-smi, DCGM, ...; may be given again",
		KWHY_OPTION_LIST, offsetof(struct replay_options, job.power)},
	{"output", 'o', "FILE|-", "write there; .txt .json say the form", KWHY_OPTION_TEXT,
		offsetof(struct replay_options, output)},
	{"json", 0, NULL, "write JSON", KWHY_OPTION_FLAG, offsetof(struct replay_options, json)},
	{"no-color", 0, NULL, "no colour (NO_COLOR does the same)", KWHY_OPTION_FLAG,
		offsetof(struct replay_options, no_color)},
	KWHY_OPTION_ROWS_JOB(struct replay_options, job),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_replay = {
	.name = "replay",
	.operands = "REC|TRACE...",
	.summary = "Make a recording's calls again on this GPU, as they were and changed.",
	.details = "Copies, waits, streams, threads and pauses are the recorded ones; kernels stand for the "
		   "recorded ones, of their length, grid and power. Run unchanged it says how far it is off; "
		   "then, with changes, it measures what they would bring.",
	.options = options_table,
	.options_bytes = sizeof(struct replay_options),
	.defaults = set_defaults,
	.run = run,
};
