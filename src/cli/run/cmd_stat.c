/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/run/stat_kernels.h"
#include "cli/run/stat_meter.h"
#include "cli/run/stat_run.h"
#include "cli/run/stat_spec.h"
#include "report/stat.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Shortest interval of --interval, ms. NVML's samples are 20 ms apart, so the energy of shorter intervals
 * would only be interpolated.
 */
#define INTERVAL_MIN_MS 20
#define IDLE_MIN_S 0.5
#define IDLE_MAX_S 3600

struct stat_options {
	uint64_t runs, warmup;
	double interval_ms, idle_s;
	struct kwhy_strings work, metrics, meters, powers;
	const char *devices, *replay, *save, *output;
	bool json, csv, verbose;
};

static void set_defaults(void *options)
{
	struct stat_options *stat = options;

	stat->runs = 1;
	stat->interval_ms = stat->idle_s = NAN;
}

/* State of one `kwhy stat`. */
struct job {
	const struct stat_options *options;
	struct kwhy_signals signals;
	struct kwhy_stat stat;
	struct kwhy_stat_specs specs;
	struct kwhy_environment environment; /* environment of the measured command */
	struct kwhy_stat_work_file work_file;
	struct kwhy_stat_meter meter;
	struct kwhy_stat_runner runner;
	int exit;
};

static enum kwhy_status check_options(
	const struct stat_options *options, const struct kwhy_operands *operands, struct kwhy_error *error)
{
	if (!operands->count)
		return kwhy_fail(error, KWHY_E_USAGE, "stat needs a command: kwhy stat -- CMD [ARGS]");
	if (options->runs < 1 || options->runs > KWHY_STAT_RUNS_MAX)
		return kwhy_fail(error, KWHY_E_USAGE, "--repeat takes 1 to %d runs", KWHY_STAT_RUNS_MAX);
	if (options->interval_ms < INTERVAL_MIN_MS)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--interval takes %d ms or more: meters show nothing finer", INTERVAL_MIN_MS);
	if (options->idle_s < IDLE_MIN_S || options->idle_s > IDLE_MAX_S)
		return kwhy_fail(error, KWHY_E_USAGE, "--idle-baseline takes %g to %d seconds", IDLE_MIN_S,
			IDLE_MAX_S);
	if (options->json && options->csv)
		return kwhy_fail(error, KWHY_E_USAGE, "--json and --csv are two forms; choose one");
	return kwhy_stat_kernels_check(&options->powers, error);
}

static enum kwhy_status choose_form(
	const struct stat_options *options, enum kwhy_output_form *out, struct kwhy_error *error)
{
	enum kwhy_status status;

	status = kwhy_output_form_of(options->output,
		options->json	       ? KWHY_OUTPUT_JSON
			: options->csv ? KWHY_OUTPUT_CSV
				       : KWHY_OUTPUT_TEXT,
		out, error);
	if (!status && *out == KWHY_OUTPUT_HTML)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"stat writes no such form as '%.200s'; use -o with .txt, .json or .csv",
			options->output);
	return status;
}

static enum kwhy_status open_meter(struct job *job, struct kwhy_error *error)
{
	const struct stat_options *options = job->options;
	struct kwhy_sensor_request request = {
		.devices = options->devices,
		.meter_files = options->meters.items,
		.meter_file_count = options->meters.count,
		.replay_path = options->replay,
	};
	enum kwhy_status status;

	kwhy_sensor_request_see(&request);
	status = kwhy_stat_meter_open(&job->meter, &request, options->save, error);
	if (!status)
		status = kwhy_stat_meter_describe(&job->meter, &job->stat, error);
	if (!status)
		status = kwhy_stat_meter_await_first(&job->meter, error);
	return status;
}

/* Stores the words of the command, separated by spaces, for the result. */
static enum kwhy_status keep_command(
	struct job *job, const struct kwhy_operands *operands, struct kwhy_error *error)
{
	struct kwhy_text line = {0};
	enum kwhy_status status;

	for (size_t i = 0; i < operands->count; i++)
		kwhy_text_addf(&line, "%s%s", i ? " " : "", operands->items[i]);
	status = kwhy_text_check(&line, error);
	if (!status)
		job->stat.command = kwhy_arena_copy(&job->stat.arena, line.data);
	kwhy_text_done(&line);
	job->stat.runs = kwhy_arena_alloc(&job->stat.arena, job->options->runs, sizeof(*job->stat.runs));
	if (!status && (!job->stat.command || !job->stat.runs))
		return kwhy_fail_memory(error, "the runs");
	return status;
}

/*
 * Whether another run is made: no run has failed, and no signal has asked to end, neither during a run nor
 * between two runs.
 */
static bool goes_on(struct job *job)
{
	return !job->exit && !kwhy_signals_wait(&job->signals, 0);
}

/*
 * Measures idle power if the user asked for it, makes the warm-up runs and then the measured runs. Ends early
 * if a run fails or a signal asks to end.
 */
static enum kwhy_status measure(struct job *job, struct kwhy_error *error)
{
	const struct stat_options *options = job->options;
	const int *asked = &job->signals.asked;
	enum kwhy_status status = KWHY_OK;

	if (!isnan(options->idle_s))
		status = kwhy_stat_run_idle(&job->runner, options->idle_s, error);
	for (uint64_t r = 0; !status && r < options->warmup && goes_on(job); r++)
		status = kwhy_stat_run_unmeasured(&job->runner, &job->exit, error);
	job->stat.started_unix_ns = kwhy_clock_unix_ns();
	for (uint64_t r = 0; !status && r < options->runs && goes_on(job); r++)
		status = kwhy_stat_run(&job->runner, &job->exit, error);
	job->stat.interrupted_by = *asked;
	if (*asked && !job->exit && job->stat.run_count < options->runs)
		job->exit = KWHY_EXIT_SIGNALLED + *asked;
	return status;
}

static enum kwhy_status write_result(
	const struct job *job, enum kwhy_output_form form, struct kwhy_error *error)
{
	const struct stat_options *options = job->options;
	const struct kwhy_text_style style = {.columns = 80, .verbose = options->verbose};
	struct kwhy_text text = {0};
	char *place = NULL;
	enum kwhy_status status;

	if (form == KWHY_OUTPUT_JSON)
		status = kwhy_stat_json(&job->stat, &text, error);
	else if (form == KWHY_OUTPUT_CSV)
		status = kwhy_stat_csv(&job->stat, &text, error);
	else
		status = kwhy_stat_text(&job->stat, &style, &text, error);
	if (!status)
		status = kwhy_output_path(options->output, "stat", form, &place, error);
	if (!status && place)
		status = kwhy_output_write(place, &text, error);
	else if (!status && fwrite(text.data, 1, text.length, stderr) != text.length)
		status = kwhy_fail(error, KWHY_E_IO, "cannot write to standard error: %s", strerror(errno));
	free(place);
	kwhy_text_done(&text);
	return status;
}

static void tell_exit(const struct job *job)
{
	const struct kwhy_stat *stat = &job->stat;
	const struct kwhy_stat_run *last = stat->run_count ? &stat->runs[stat->run_count - 1] : NULL;
	char text[300];

	if (!job->exit)
		return;
	if (last && last->signal)
		snprintf(text, sizeof(text), "'%.150s' was killed by signal %d (%s)", stat->command,
			last->signal, strsignal(last->signal));
	else if (last && last->exit)
		snprintf(text, sizeof(text), "'%.150s' ended with status %d", stat->command, last->exit);
	else if (stat->interrupted_by)
		snprintf(text, sizeof(text), "interrupted by signal %d (%s)", stat->interrupted_by,
			strsignal(stat->interrupted_by));
	else
		snprintf(text, sizeof(text), "'%.150s' failed in a warm-up run, with status %d",
			stat->command, job->exit);
	kwhy_output_message(text);
}

/*
 * Returns `status`. If the command could not be started and no run was made, however, prints the reason and
 * returns KWHY_OK, because job->exit then has the exit status that a shell would give (126 or 127).
 */
static enum kwhy_status end_badly(const struct job *job, enum kwhy_status status, struct kwhy_error *error)
{
	if (status != KWHY_E_INPUT || job->exit < KWHY_EXIT_NOT_EXECUTABLE || job->stat.run_count)
		return status;
	kwhy_output_message(error->text);
	return KWHY_OK;
}

/*
 * Records one more run for --powers, unless a run failed or an end was requested. The measured runs before
 * were not recorded, because recording takes energy.
 */
static enum kwhy_status record_kernels(
	struct job *job, const struct kwhy_operands *operands, struct kwhy_error *error)
{
	const struct stat_options *options = job->options;
	const struct kwhy_stat_kernels_request request = {.powers = &options->powers,
		.meters = &options->meters,
		.devices = options->devices,
		.replay = options->replay,
		.operands = operands};

	if (!options->powers.count || job->exit || job->stat.interrupted_by)
		return KWHY_OK;
	kwhy_signals_close(&job->signals);
	return kwhy_stat_kernels_record(&request, &job->stat, &job->exit, error);
}

static enum kwhy_status run_job(struct job *job, const struct kwhy_operands *operands,
	enum kwhy_output_form form, struct kwhy_error *error)
{
	enum kwhy_status status = measure(job, error), closed;
	struct kwhy_error second = {0};

	closed = kwhy_stat_meter_close(&job->meter, &job->stat.cost, &second);
	if (status)
		return end_badly(job, status, error);
	if (!closed)
		closed = record_kernels(job, operands, &second);
	kwhy_stat_choose_runs(&job->stat);
	if (job->stat.run_count)
		status = write_result(job, form, error);
	tell_exit(job);
	if (!status && closed) {
		*error = second;
		return closed;
	}
	return status;
}

static enum kwhy_status prepare(
	struct job *job, const struct kwhy_operands *operands, struct kwhy_error *error)
{
	const struct stat_options *options = job->options;
	enum kwhy_status status = keep_command(job, operands, error);

	job->stat.wanted_runs = options->runs;
	job->stat.warmup_runs = options->warmup;
	job->stat.interval_s = options->interval_ms * 1e-3;
	job->stat.idle_s = NAN;
	if (!status)
		status = kwhy_stat_specs_init(
			&job->specs, &options->work, &options->metrics, &job->stat, error);
	if (!status && job->specs.reporting)
		status = kwhy_stat_work_file_open(&job->work_file, &job->environment, error);
	if (!status)
		status = open_meter(job, error);
	job->runner = (struct kwhy_stat_runner){.argv = operands->items,
		.meter = &job->meter,
		.specs = &job->specs,
		.environment = &job->environment,
		.work_file = &job->work_file,
		.signals = &job->signals,
		.stat = &job->stat};
	return status;
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	struct job job = {.options = invocation->options};
	struct kwhy_error ignored = {0};
	enum kwhy_output_form form;
	enum kwhy_status status = check_options(job.options, &invocation->operands, error);

	if (!status)
		status = choose_form(job.options, &form, error);
	if (!status)
		status = kwhy_signals_open(&job.signals, error);
	if (status)
		return status;
	status = prepare(&job, &invocation->operands, error);
	if (!status)
		status = run_job(&job, &invocation->operands, form, error);
	else if (kwhy_stat_meter_close(&job.meter, &job.stat.cost, &ignored))
		(void)ignored;
	if (!status)
		*invocation->exit = (enum kwhy_exit)job.exit;
	kwhy_stat_work_file_close(&job.work_file);
	kwhy_environment_done(&job.environment);
	kwhy_stat_specs_done(&job.specs);
	kwhy_stat_done(&job.stat);
	kwhy_signals_close(&job.signals);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"repeat", 'r', "N", "run the command N times; default 1", KWHY_OPTION_COUNT,
		offsetof(struct stat_options, runs)},
	{"warmup", 0, "N", "run it N times before, unmeasured", KWHY_OPTION_COUNT,
		offsetof(struct stat_options, warmup)},
	{"work", 0, "UNIT[=WHAT]",
		"work: a number, REGEX in its output, or what it reports; may be given again",
		KWHY_OPTION_LIST, offsetof(struct stat_options, work)},
	{"metric", 0, "NAME=REGEX", "a value in its output, over time and joules; may be given again",
		KWHY_OPTION_LIST, offsetof(struct stat_options, metrics)},
	{"interval", 'I', "MS", "energy every MS milliseconds too", KWHY_OPTION_NUMBER,
		offsetof(struct stat_options, interval_ms)},
	{"idle-baseline", 0, "S", "measure idle for S seconds first, for net energy", KWHY_OPTION_NUMBER,
		offsetof(struct stat_options, idle_s)},
	{"device", 0, "LIST", "GPUs to measure, like 0,2; default those that CUDA shows", KWHY_OPTION_TEXT,
		offsetof(struct stat_options, devices)},
	{"meter", 0, "FILE", "a wall meter's power CSV, followed while it grows", KWHY_OPTION_LIST,
		offsetof(struct stat_options, meters)},
	{"power-file", 0, "FILE", "play back a power CSV instead of this machine's meters", KWHY_OPTION_TEXT,
		offsetof(struct stat_options, replay)},
	{"save-power", 0, "FILE", "keep all readings there as power CSV", KWHY_OPTION_TEXT,
		offsetof(struct stat_options, save)},
	{"powers", 0, "FILE",
		"record one more run, and give its energy by kernel with powers learnt elsewhere; may be "
		"given again",
		KWHY_OPTION_LIST, offsetof(struct stat_options, powers)},
	{"json", 0, NULL, "the result as JSON, with every run", KWHY_OPTION_FLAG,
		offsetof(struct stat_options, json)},
	{"csv", 0, NULL, "the result as CSV, a figure a row", KWHY_OPTION_FLAG,
		offsetof(struct stat_options, csv)},
	{"output", 'o', "FILE|-", "write the result there instead of standard error", KWHY_OPTION_TEXT,
		offsetof(struct stat_options, output)},
	{"verbose", 'v', NULL, "show every interval, and every kind of meter that is missing",
		KWHY_OPTION_FLAG, offsetof(struct stat_options, verbose)},
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_stat = {
	.name = "stat",
	.operands = "[--] CMD [ARGS]",
	.summary = "Energy, time and work of a command, over runs of it.",
	.details = "The command's input and output are its own; kwhy's result goes to standard error, and "
		   "its exit status is the command's (127: not found, 126: cannot run).",
	.options = options_table,
	.options_bytes = sizeof(struct stat_options),
	.defaults = set_defaults,
	.run = run,
	.operand_is_command = true,
};
