/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/record_job.h"

#include "base/clock.h"
#include "base/output.h"
#include "base/temporary.h"
#include "cli/output.h"
#include "cli/recordings/job.h"
#include "cli/run/probe_job.h"
#include "cli/run/record_run.h"
#include "launch/inject.h"
#include "record/folder.h"
#include "record/ranges.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/*
 * Interval at which energy counters are read, ns. A longer interval would be enough for the energy of a long
 * run, but the ledger covers the run only up to the last reading of a counter.
 */
#define COUNTER_PERIOD_NS 2000000000
/*
 * Time between reads of the multiprocessors' clock under kwhy probe, ns. A burst takes 10 to 30 ms, and the
 * ledger leaves out bursts during which the clock differed from that during the program's own launches.
 */
#define CLOCK_PERIOD_NS 5000000
/*
 * Share of the time in which performance counters are sampled if --counter-share is not given. A GPU then
 * draws some 30 W more during a quarter of the time, because the time in which the counters are being enabled
 * adds to this share.
 */
#define COUNTER_SHARE 0.1
#define DIGEST_PERIOD_NS INT64_C(60000000000)

/* State of one `kwhy record` or `kwhy probe`. */
struct job {
	const struct kwhy_record_options *options;
	struct kwhy_arena arena;
	const char *command;
	struct kwhy_record_folder folder;
	uint64_t limit_bytes;
	struct kwhy_signals signals;
	struct kwhy_stat stat; /* stores the units of work */
	struct kwhy_stat_specs specs;
	struct kwhy_environment environment; /* environment of the recorded command */
	struct kwhy_stat_work_file work_file;
	struct kwhy_sensors *sensors;
	struct kwhy_sampler *sampler;
	struct kwhy_record_meters *meters;
	struct kwhy_record_counting counting;
	struct kwhy_record_digests digests;
	bool is_spooled; /* the user wants only digests: the recording is in a temporary folder and is deleted
			    at the end */
	struct kwhy_record_runner runner;
	struct kwhy_child_end end;
	struct kwhy_probe_job probe; /* additional state for kwhy probe */
	bool has_noted_probed;
};

/*
 * The path without slashes at its end, which a shell's completion may add. ".old", which is appended to the
 * path to rename an earlier recording, would otherwise name a file inside that recording's folder.
 */
static const char *without_slashes(struct kwhy_arena *arena, const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return kwhy_arena_printf(arena, "%.*s", (int)length, path);
}

/*
 * Makes a temporary folder for the recording, which is deleted at the end because the user wants only digests
 * (--digest without -o).
 */
static enum kwhy_status make_spool(struct job *job, struct kwhy_error *error)
{
	char path[KWHY_TEMPORARY_BYTES];
	enum kwhy_status status = kwhy_temporary_folder_make(
		path, "record", "the recording until its digest is made", error);

	if (status)
		return status;
	job->folder.path = kwhy_arena_printf(&job->arena, "%s", path);
	if (!job->folder.path) {
		rmdir(path);
		return kwhy_fail_memory(error, "the name of a recording");
	}
	job->is_spooled = true;
	return KWHY_OK;
}

/* Makes the folders of the recording and, if the user wants them, of its digests. */
static enum kwhy_status make_folders(struct job *job, struct kwhy_error *error)
{
	const double every_s = job->options->digest_every_s;
	enum kwhy_status status = kwhy_record_folder_make(&job->folder, &job->arena, error);

	if (status || !job->options->digest)
		return status;
	job->digests = (struct kwhy_record_digests){.recording = job->folder.path,
		.output = job->options->digest,
		.period_ns = isnan(every_s) ? DIGEST_PERIOD_NS : (int64_t)(every_s * 1e9)};
	return kwhy_output_folder(job->options->digest, error);
}

/*
 * Sets the path of the recording, and job->command. The path is -o, a temporary folder if only digests are
 * kept, or run.kwhy; if a launcher started a kwhy process for each rank, it is run.RANK.kwhy.
 */
static enum kwhy_status name_things(
	struct job *job, const struct kwhy_operands *operands, struct kwhy_error *error)
{
	struct kwhy_text line = {0};
	int64_t rank = kwhy_launch_rank();
	enum kwhy_status status;

	if (job->options->digest && !job->options->output) {
		status = make_spool(job, error);
		if (status)
			return status;
	} else if (job->options->output)
		job->folder.path = without_slashes(&job->arena, job->options->output);
	else if (rank >= 0)
		job->folder.path = kwhy_arena_printf(&job->arena, "run.%" PRId64 ".kwhy", rank);
	else
		job->folder.path = "run.kwhy";
	for (size_t i = 0; i < operands->count; i++)
		kwhy_text_addf(&line, "%s%s", i ? " " : "", operands->items[i]);
	status = kwhy_text_check(&line, error);
	if (!status)
		job->command = kwhy_arena_copy(&job->arena, line.data);
	kwhy_text_done(&line);
	return status || (job->folder.path && job->command) ? status
							    : kwhy_fail_memory(error, "the command line");
}

static const char *producer_of(const struct job *job)
{
	return job->options->probe ? "kwhy probe " KWHY_VERSION : "kwhy record " KWHY_VERSION;
}

/* Share of the time in which performance counters are sampled. */
static double counter_share(const struct kwhy_record_options *options)
{
	return isnan(options->counter_percent) ? COUNTER_SHARE : options->counter_percent / 100;
}

/*
 * Opens the sensors and starts the thread that reads them (the sampler). Processes that sample performance
 * counters are forked before that thread exists.
 */
static enum kwhy_status open_sensors(struct job *job, struct kwhy_error *error)
{
	const struct kwhy_record_options *options = job->options;
	struct kwhy_sensor_request request = {
		.devices = options->devices,
		.gauges = true,
		.gauge_period_ns = (int64_t)(options->gauges_s * 1e9),
		.clock_period_ns = options->probe ? CLOCK_PERIOD_NS : 0,
		.counter_period_ns = COUNTER_PERIOD_NS,
		.meter_files = options->meters.items,
		.meter_file_count = options->meters.count,
		.replay_path = options->replay,
	};
	enum kwhy_status status;

	kwhy_sensor_request_see(&request);
	status = kwhy_sensors_open(&request, &job->sensors, error);
	if (!status && options->counters)
		status = kwhy_record_counters_open(job->sensors, producer_of(job), counter_share(options),
			&job->counting.counters, error);
	if (!status && job->sensors->task_count)
		status = kwhy_sampler_start(job->sensors, NULL, &job->sampler, error);
	return status;
}

static enum kwhy_status open_meters(struct job *job, struct kwhy_error *error)
{
	const struct kwhy_record_meters_request request = {
		.path = kwhy_arena_printf(&job->arena, "%s/meters.blocks", job->folder.path),
		.command = job->command,
		.producer = producer_of(job),
		.limit_bytes = job->limit_bytes,
	};

	enum kwhy_status status = request.path
		? kwhy_record_meters_open(&request, job->sensors, &job->meters, error)
		: kwhy_fail_memory(error, "the recording of the meters");

	if (!status)
		kwhy_record_counters_start(job->counting.counters, job->folder.path, job->limit_bytes);
	return status;
}

/*
 * Adds a note to the recording for each device that the user left out and, if there is no meter at all, for
 * each kind of meter that is missing. Reports show these notes.
 */
static void note_absences(struct job *job)
{
	for (size_t i = 0; i < job->sensors->absence_count; i++)
		if (!job->sensors->source_count || job->sensors->absences[i].is_choice)
			kwhy_record_meters_add_note(job->meters, KWHY_NOTE_COMPLETENESS, "no-meter",
				job->sensors->absences[i].text);
}

static void go_without_activity(struct job *job, const char *why)
{
	char text[KWHY_INJECT_ABSENCE_BYTES + 100];

	snprintf(text, sizeof(text), "What the program ran on its devices is not recorded: %s.", why);
	kwhy_record_meters_add_note(job->meters, KWHY_NOTE_COMPLETENESS, "activity-not-recorded", text);
	if (!job->options->power_only) {
		snprintf(text, sizeof(text), "power only: %s", why);
		kwhy_output_message(text);
	}
}

static enum kwhy_status prepare_library(
	struct job *job, const struct kwhy_inject *inject, struct kwhy_error *error)
{
	const struct kwhy_record_options *options = job->options;
	struct kwhy_inject_probe probe = options->probe ? *options->probe : (struct kwhy_inject_probe){0};
	char *folder = realpath(job->folder.path, NULL);
	struct kwhy_inject_request request = {.folder = folder,
		.limit_bytes = job->limit_bytes,
		.graphs = options->graphs,
		.memory = options->memory,
		.without_calls = options->no_calls,
		.without_lines = options->no_lines || options->probe,
		.range = options->range,
		.probe = options->probe ? &probe : NULL,
		.share_ratio = options->duty_percent / 100,
		.window_ns = isnan(options->window_s) ? 0 : (int64_t)(options->window_s * 1e9)};
	enum kwhy_status status;

	if (!folder)
		return kwhy_fail(error, KWHY_E_IO, "cannot find the folder '%.300s': %s", job->folder.path,
			strerror(errno));
	if (getrandom(&request.seed, sizeof(request.seed), 0) != sizeof(request.seed))
		request.seed = (uint64_t)kwhy_clock_unix_ns();
	if (job->probe.known.length)
		probe.known = kwhy_arena_printf(&job->arena, "%s/" KWHY_RECORD_KNOWN_FILE, folder);
	status = kwhy_inject_prepare(inject, &request, &job->environment, error);
	free(folder);
	return status;
}

static enum kwhy_status prepare_activity(struct job *job, struct kwhy_error *error)
{
	struct kwhy_inject inject;

	if (job->options->power_only) {
		go_without_activity(job, "--power-only was given");
		return KWHY_OK;
	}
	kwhy_inject_find(&inject);
	if (!inject.library[0]) {
		go_without_activity(job, inject.absence);
		return KWHY_OK;
	}
	if (job->options->no_calls)
		kwhy_record_meters_add_note(job->meters, KWHY_NOTE_COMPLETENESS, "calls-not-recorded",
			"Calls of CUDA were left out (--no-calls): what the host did while a device was idle "
			"is not known.");
	return prepare_library(job, &inject, error);
}

static enum kwhy_status prepare(
	struct job *job, const struct kwhy_operands *operands, struct kwhy_error *error)
{
	const struct kwhy_strings no_metrics = {0};
	enum kwhy_status status = name_things(job, operands, error);

	if (!status && job->options->probe)
		status = kwhy_probe_job_open(&job->probe, job->options, job->folder.path, error);
	if (!status)
		status = kwhy_stat_specs_init(
			&job->specs, &job->options->work, &no_metrics, &job->stat, error);
	if (!status)
		status = kwhy_stat_work_file_open(&job->work_file, &job->environment, error);
	if (!status)
		status = open_sensors(job, error);
	if (!status)
		status = make_folders(job, error);
	if (!status)
		status = open_meters(job, error);
	if (!status && job->options->probe)
		status = kwhy_probe_job_prepare(&job->probe, job->folder.path, error);
	if (!status)
		status = prepare_activity(job, error);
	if (!status)
		note_absences(job);
	job->runner = (struct kwhy_record_runner){.argv = operands->items,
		.sensors = job->sensors,
		.sampler = job->sampler,
		.meters = job->meters,
		.counting = &job->counting,
		.specs = &job->specs,
		.environment = &job->environment,
		.work_file = &job->work_file,
		.stat = &job->stat,
		.signals = &job->signals,
		.replayed = job->options->replay != NULL,
		.delay_s = job->options->delay_s,
		.duration_s = job->options->duration_s,
		.folder = &job->folder,
		.digests = &job->digests,
		.counts = job->options->counts.items,
		.count_count = job->options->counts.count,
		.quiet = job->options->quiet,
		.progress = job->options->progress || job->probe.is_watched,
		.watch = job->probe.is_watched ? &job->probe.watch : NULL,
		.has_windows = job->options->range || !isnan(job->options->duty_percent)};
	return status;
}

/*
 * Prints what kwhy probe repeated. If memory differed after repeats, the exit status becomes
 * KWHY_EXIT_RESULTS_CHANGED.
 */
static void tell_probed(struct job *job, const struct kwhy_recording *recording)
{
	job->has_noted_probed = true;
	if (kwhy_probe_job_tell(&job->probe, recording, job->folder.path))
		job->end.exit = KWHY_EXIT_RESULTS_CHANGED;
}

/*
 * Analyses the recording and writes the short form of its report to standard error, because standard output
 * is the command's. For kwhy probe, also prints what was repeated.
 */
static enum kwhy_status show(struct job *job, struct kwhy_error *error)
{
	struct kwhy_text_style style = {.columns = 80};
	char *const traces[] = {(char *)job->folder.path};
	struct kwhy_job_options options;
	struct kwhy_text text = {0}, more = {0};
	struct kwhy_analysis *analysis;
	enum kwhy_status status;

	kwhy_job_options_init(&options);
	options.quiet = job->options->quiet;
	status = kwhy_job_open(&analysis, &options, traces, 1, &options.power, NULL, error);
	if (status)
		return status;
	if (job->is_spooled)
		kwhy_text_addf(&more, "Digests in %s; of all ranks: kwhy report %s", job->options->digest,
			job->options->digest);
	else if (!job->options->probe)
		kwhy_text_addf(&more, "Recorded in %s; all of it: kwhy report -v %s", job->folder.path,
			job->folder.path);
	style.more = more.data ? more.data : "";
	status = kwhy_text_check(&more, error);
	if (!status)
		status = kwhy_report_text(&analysis->report, &style, &text, error);
	kwhy_text_done(&more);
	if (!status && fwrite(text.data, 1, text.length, stderr) != text.length)
		status = kwhy_fail(error, KWHY_E_IO, "cannot write to standard error: %s", strerror(errno));
	kwhy_text_done(&text);
	if (job->options->probe)
		tell_probed(job, analysis->recording);
	kwhy_analysis_close(analysis);
	return status;
}

static enum kwhy_status close_all(struct job *job, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (job->sampler)
		kwhy_sampler_stop(job->sampler, NULL);
	kwhy_record_counters_close(job->counting.counters);
	status = kwhy_record_meters_close(job->meters, error);
	if (job->sensors)
		kwhy_sensors_close(job->sensors);
	kwhy_stat_work_file_close(&job->work_file);
	kwhy_environment_done(&job->environment);
	kwhy_stat_specs_done(&job->specs);
	kwhy_stat_done(&job->stat);
	return status;
}

/*
 * Ends without a recording because no command was run, and removes the folder. If the command could not be
 * started, prints why, and job->end.exit is the exit status that a shell would give. If a signal asked to end
 * before the start (`status` is KWHY_OK), prints that and sets job->end.exit.
 */
static enum kwhy_status end_early(struct job *job, enum kwhy_status status, struct kwhy_error *error)
{
	struct kwhy_error later = {0};
	char text[100];

	if (status == KWHY_E_INPUT && job->end.exit >= KWHY_EXIT_NOT_EXECUTABLE) {
		kwhy_output_message(error->text);
		status = KWHY_OK;
	} else if (!status) {
		job->end.exit = KWHY_EXIT_SIGNALLED + job->signals.asked;
		snprintf(text, sizeof(text), "interrupted by signal %d (%s)", job->signals.asked,
			strsignal(job->signals.asked));
		kwhy_output_message(text);
	}
	if (kwhy_record_folder_unmake(&job->folder, &later))
		return kwhy_output_later(status, &later, error);
	return status;
}

static void tell_exit(const struct job *job)
{
	char text[300];

	if (!job->end.exit)
		return;
	if (job->end.signal)
		snprintf(text, sizeof(text), "'%.150s' was killed by signal %d (%s)", job->command,
			job->end.signal, strsignal(job->end.signal));
	else
		snprintf(text, sizeof(text), "'%.150s' ended with status %d", job->command, job->end.exit);
	kwhy_output_message(text);
}

/*
 * Prints that the last digest failed and where the recording is. The recording is then kept even if only
 * digests were wanted, because nothing else has the data of the run.
 */
static void tell_undigested(struct job *job, const struct kwhy_error *why)
{
	char text[1000];

	snprintf(text, sizeof(text), "%s; the recording is kept in %s", why->text, job->folder.path);
	kwhy_output_message(text);
	job->is_spooled = false;
}

/*
 * Waits until meters have given readings and performance counters are sampled, for a limited time. False: a
 * signal asked to end meanwhile, so the command must not be started.
 */
static bool await_ready(struct job *job)
{
	return kwhy_record_await_first(&job->runner) &&
		kwhy_record_counting_await(&job->counting, &job->signals, job->meters);
}

static enum kwhy_status record(
	struct job *job, const struct kwhy_operands *operands, struct kwhy_error *error)
{
	enum kwhy_status status = prepare(job, operands, error), closed, digested;
	struct kwhy_error second = {0};

	if (!status && await_ready(job))
		status = kwhy_record_run(&job->runner, &job->end, error);
	closed = close_all(job, &second);
	if (!job->end.has_run)
		return end_early(job, status, error);
	if (!status && closed) {
		*error = second;
		status = closed;
	}
	tell_exit(job);
	kwhy_record_folder_clear(job->folder.path);
	digested = kwhy_record_digests_finish(&job->digests, &second);
	if (digested)
		tell_undigested(job, &second);
	/*
	 * If packing or the report fails, the recording is still complete, so the exit status remains that of
	 * the command.
	 */
	if (job->options->one_file && !status && kwhy_record_folder_pack(job->folder.path, &second))
		kwhy_output_message(second.text);
	if (!job->options->quiet && show(job, &second) && !status)
		kwhy_output_message(second.text);
	if (job->options->probe && !job->has_noted_probed)
		tell_probed(job, NULL);
	return status;
}

enum kwhy_status kwhy_record_job_run(const struct kwhy_record_options *options,
	const struct kwhy_operands *operands, enum kwhy_exit *out_exit, struct kwhy_error *error)
{
	struct job job = {.options = options};
	struct kwhy_error later = {0};
	enum kwhy_status status = kwhy_record_options_check(job.options, operands, error);

	if (!status)
		status = kwhy_record_read_bytes("--max-size", options->limit, &job.limit_bytes, error);
	if (!status)
		status = kwhy_signals_open(&job.signals, error);
	if (status)
		return status;
	status = record(&job, operands, error);
	if (!status)
		*out_exit = (enum kwhy_exit)job.end.exit;
	if (job.is_spooled && kwhy_record_folder_delete(job.folder.path, &later))
		status = kwhy_output_later(status, &later, error);
	kwhy_record_folder_release(&job.folder);
	kwhy_signals_close(&job.signals);
	kwhy_probe_job_close(&job.probe);
	kwhy_arena_done(&job.arena);
	return status;
}
