/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/recordings/job.h"
#include "report/export/export.h"

#include <stdio.h>
#include <string.h>

struct export_options {
	struct kwhy_job_options job;
	const char *to, *output;
};

static void set_defaults(void *options)
{
	struct export_options *export = options;

	kwhy_job_options_init(&export->job);
}

static enum kwhy_status choose(
	const struct export_options *options, const struct kwhy_exporter **out, struct kwhy_error *error)
{
	if (options->to)
		*out = kwhy_exporter_find(options->to);
	else
		*out = options->output ? kwhy_exporter_of_file(options->output) : NULL;
	if (*out)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_USAGE,
		"export needs --to perfetto, chrome, sqlite, csv, parquet or powers%s%.60s",
		options->to ? ", not "
			    : ", or -o run.pftrace, .json, .sqlite, .csv, .parquet or .powers.json",
		options->to ? options->to : "");
}

/* Context of the callback that writes the exported file. */
struct work {
	const struct kwhy_exporter *exporter;
	const struct kwhy_report *report;
	bool compress;
};

static enum kwhy_status fill(void *context, const char *beside, struct kwhy_error *error)
{
	const struct work *work = context;

	return work->exporter->write(work->report, beside, work->compress, error);
}

static bool ends_in_gz(const char *path)
{
	size_t length = strlen(path);

	return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

/*
 * Prints which parts of the recording the exported file does not contain, and which it contains in a form
 * that kwhy cannot read. Prints nothing with --quiet.
 */
static void tell_lost(const struct export_options *options, const struct work *work)
{
	const struct kwhy_recording *recording = work->report->recording;
	char message[512];

	if (options->job.quiet)
		return;
	if (work->exporter->loses_readings && recording->power_count) {
		snprintf(message, sizeof(message),
			"%.200s: its meter readings are not read back, so a report of it is of time only; "
			"give them again with --power, or export --to sqlite, which keeps them",
			options->output);
		kwhy_output_message(message);
	}
	if (work->exporter->loses_bursts && recording->burst_count) {
		snprintf(message, sizeof(message),
			"%.200s: it does not mark the repeats of kwhy probe, so a report of it takes their "
			"time for the program's own; make reports from the recording",
			options->output);
		kwhy_output_message(message);
	}
	if (work->exporter->loses_bursts &&
		(recording->perf_sample_count || recording->counter_window_count)) {
		snprintf(message, sizeof(message),
			"%.200s: it does not say when performance counters were sampled, so a report of it "
			"takes the power that this drew for the program's; make reports from the recording",
			options->output);
		kwhy_output_message(message);
	}
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct export_options *options = invocation->options;
	struct work work = {0};
	struct kwhy_analysis *analysis;
	enum kwhy_status status = choose(options, &work.exporter, error);

	if (status)
		return status;
	if (!invocation->operands.count)
		return kwhy_fail(error, KWHY_E_USAGE, "export needs a trace");
	if (!options->output)
		return kwhy_fail(error, KWHY_E_USAGE, "export needs -o FILE, for example -o run%s",
			work.exporter->extension);
	if (strcmp(options->output, "-") == 0)
		return kwhy_fail(error, KWHY_E_USAGE,
			"export writes a whole file, not standard output; give -o FILE, for example -o run%s",
			work.exporter->extension);
	status = kwhy_exporter_check_file(work.exporter, options->output, error);
	if (status)
		return status;
	status = kwhy_job_open(&analysis, &options->job, invocation->operands.items,
		invocation->operands.count, &options->job.power, NULL, error);
	if (status)
		return status;
	work.report = &analysis->report;
	work.compress = ends_in_gz(options->output);
	status = kwhy_file_make(options->output, fill, &work, error);
	if (!status)
		tell_lost(options, &work);
	kwhy_analysis_close(analysis);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"to", 0, "FORM", "perfetto, chrome, sqlite, csv, parquet or powers (default: by FILE's extension)",
		KWHY_OPTION_TEXT, offsetof(struct export_options, to)},
	{"output", 'o', "FILE", "write there; a name that ends in .gz is compressed", KWHY_OPTION_TEXT,
		offsetof(struct export_options, output)},
	{"power", 0, "FILE", "power readings: CSV, or a log of nvidia-smi, DCGM, ...; may be given again",
		KWHY_OPTION_LIST, offsetof(struct export_options, job.power)},
	KWHY_OPTION_ROWS_JOB(struct export_options, job),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_export = {
	.name = "export",
	.operands = "REC|TRACE...",
	.summary = "Write a run, with the energy of each activity, for other tools.",
	.details = "perfetto: stages of GPUs with power counters; chrome: trace events as PyTorch writes "
		   "them; sqlite: tables and views for SQL; csv: kwhy's own form; parquet: the tables of "
		   "sqlite for data frames; powers: what the run taught of the powers of its kernels, for "
		   "--powers. "
		   "Names that end in .pftrace, .json, .sqlite, .csv, .parquet and .powers.json say which, "
		   "all but the last before .gz as well.",
	.options = options_table,
	.options_bytes = sizeof(struct export_options),
	.defaults = set_defaults,
	.run = run,
};
