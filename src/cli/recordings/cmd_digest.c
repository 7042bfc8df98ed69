/* SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"
#include "base/hash.h"
#include "base/output.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/recordings/download.h"
#include "cli/recordings/job.h"
#include "cli/recordings/path_list.h"
#include "digest/make.h"
#include "import/folder.h"
#include "recording/bundle.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct digest_options {
	struct kwhy_job_options job;
	const char *output, *task, *run;
	bool replace, running;
};

/*
 * Which of the listed traces this process digests (--task): those whose index in the list, counted from 0,
 * modulo `tasks` is `task`.
 */
struct share {
	uint64_t task, tasks;
};

struct work {
	const struct digest_options *options;
	struct kwhy_job_options job;
	struct share share;
	size_t traces, digests, failures;
};

static void set_defaults(void *options)
{
	struct digest_options *digest = options;

	kwhy_job_options_init(&digest->job);
}

/*
 * Reads two whole numbers that are at least 0, separated by the character `between`. The first must be
 * below the second.
 */
static bool read_pair(const char *text, char between, int64_t out[2])
{
	const char *at = strchr(text, between);

	return at &&
		kwhy_decimal_within((struct kwhy_span){text, (size_t)(at - text)}, 0, INT64_MAX, &out[0]) &&
		kwhy_decimal_within((struct kwhy_span){at + 1, strlen(at + 1)}, 0, INT64_MAX, &out[1]) &&
		out[0] < out[1];
}

static enum kwhy_status read_share(const char *text, struct share *out, struct kwhy_error *error)
{
	int64_t numbers[2] = {0, 1};

	if (text && !read_pair(text, '/', numbers))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--task takes I/N, the number of this task from 0 and the number of tasks, as 0/16 "
			"to "
			"15/16, not '%.40s'",
			text);
	*out = (struct share){(uint64_t)numbers[0], (uint64_t)numbers[1]};
	return KWHY_OK;
}

/*
 * Reads --run START,END: the start and the end of the whole run as Unix times in nanoseconds; both are 0 if
 * `text` is NULL.
 */
static enum kwhy_status read_run(const char *text, struct kwhy_job_options *out, struct kwhy_error *error)
{
	int64_t times_ns[2] = {0, 0};

	if (text && !read_pair(text, ',', times_ns))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--run takes the start and the end of the run in Unix nanoseconds, START,END, not "
			"'%.60s'",
			text);
	out->run_start_unix_ns = times_ns[0];
	out->run_end_unix_ns = times_ns[1];
	return KWHY_OK;
}

/* Adds the traces in a folder to the list. */
static enum kwhy_status add_folder(struct kwhy_path_list *list, const char *path, struct kwhy_error *error)
{
	struct kwhy_folder folder = {0};
	enum kwhy_status status = kwhy_folder_list(&folder, path, error);

	for (size_t i = 0; !status && i < folder.count; i++)
		status = kwhy_path_list_add_one(list, folder.paths[i], error);
	kwhy_folder_done(&folder);
	return status;
}

static enum kwhy_status list_traces(
	const struct kwhy_path_list *given, struct kwhy_path_list *out, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < given->count; i++)
		status = kwhy_folder_is(given->items[i]) && !kwhy_bundle_is_folder(given->items[i])
			? add_folder(out, given->items[i], error)
			: kwhy_path_list_add_one(out, given->items[i], error);
	return status;
}

/*
 * Whether the file at `path` is a digest of another trace than `digest`: both the identity and the path of
 * its trace differ from those of the trace of `digest`. False also if there is no digest at `path`. If false,
 * `digest` replaces the file.
 */
static bool is_of_another(const char *path, const struct kwhy_digest *digest)
{
	struct kwhy_digest there = {0};
	struct kwhy_error error;
	bool differs = false;

	if (access(path, F_OK) == 0 && kwhy_digest_read_head(path, &there, &error) == KWHY_OK)
		differs = strcmp(there.digest->identity, digest->digest->identity) != 0 &&
			(!there.source_count || !digest->source_count || !there.source->path ||
				strcmp(there.source->path, digest->source->path) != 0);
	kwhy_digest_done(&there);
	return differs;
}

/*
 * Names the file of a digest whose rank is unknown. The name usually contains the identity of the trace,
 * which follows from its content. The content of a growing recording changes, so for the digests of such a
 * recording (--replace, --running) the name has a hash of the boot id and the path instead, and a later
 * digest replaces the earlier one.
 */
static char *name_unranked(const struct digest_options *options, const struct kwhy_digest *digest)
{
	const struct kwhy_digest_digest *about = digest->digest;
	const bool replaces = options->replace || options->running;
	char *path = NULL, *real = NULL;
	uint64_t hash;
	int length;

	if (!replaces || !about->boot || !digest->source_count || !digest->source->path) {
		length = asprintf(&path, "%s/trace-%s.sqlite", options->output, about->identity);
	} else {
		/*
		 * the absolute path is hashed, because recordings in other folders may have the same file
		 * name
		 */
		real = realpath(digest->source->path, NULL);
		hash = kwhy_hash_text(
			kwhy_hash_text(KWHY_HASH_START, about->boot), real ? real : digest->source->path);
		length = asprintf(&path, "%s/trace-%016" PRIx64 ".sqlite", options->output, hash);
		free(real);
	}
	return length < 0 ? NULL : path;
}

/*
 * Path of the file for a digest. The file's name contains the digest's rank or, for the part of a device that
 * no rank used, a hash of the device's UUID, so that a digest that is made again replaces the earlier one. If
 * the file of the rank is a digest of another trace, the identity of the trace is added to the name, unless
 * --replace or --running is given. NULL: out of memory. The caller frees the result.
 */
static char *name_file(const struct digest_options *options, const struct kwhy_digest *digest,
	const struct kwhy_digest_part *part)
{
	const char *folder = options->output;
	const struct kwhy_digest_digest *about = digest->digest;
	char *path = NULL;

	if (part->device != KWHY_NONE)
		return asprintf(&path, "%s/device-%016" PRIx64 ".sqlite", folder,
			       kwhy_hash_text(KWHY_HASH_START, digest->device->uuid)) < 0
			? NULL
			: path;
	if (about->rank == KWHY_NONE)
		return name_unranked(options, digest);
	if (asprintf(&path, "%s/rank-%05" PRIu32 ".sqlite", folder, about->rank) < 0)
		return NULL;
	if (options->replace || options->running || !is_of_another(path, digest))
		return path;
	free(path);
	return asprintf(&path, "%s/rank-%05" PRIu32 "-%s.sqlite", folder, about->rank, about->identity) < 0
		? NULL
		: path;
}

static enum kwhy_status save_part(struct work *work, const struct kwhy_digest_input *input,
	const struct kwhy_digest_parts *parts, size_t part, struct kwhy_error *error)
{
	struct kwhy_digest digest = {0};
	enum kwhy_status status = kwhy_digest_make(input, parts, part, &digest, error);
	char *path = status ? NULL : name_file(work->options, &digest, &parts->items[part]);

	if (!status)
		status = kwhy_output_folder(work->options->output, error);
	if (!status)
		status = path ? kwhy_digest_save(&digest, path, error)
			      : kwhy_fail_memory(error, "the name of a digest");
	work->digests += status == KWHY_OK;
	free(path);
	kwhy_digest_done(&digest);
	return status;
}

/*
 * Makes the digests of a trace, one for each rank in it. address: the address from which the file at `path`
 * was downloaded, which the digests then name instead of `path`; NULL: it was not downloaded.
 */
static enum kwhy_status digest_file(
	struct work *work, const char *path, const char *address, struct kwhy_error *error)
{
	char *const paths[] = {(char *)path};
	struct kwhy_digest_parts parts = {0};
	struct kwhy_analysis *analysis;
	enum kwhy_status status = kwhy_job_open(
		&analysis, &work->job, paths, 1, &work->job.power, NULL, error);

	if (status)
		return status;
	for (size_t i = 0; address && i < analysis->recording->source_count; i++)
		analysis->recording->sources[i].path = address;
	status = kwhy_digest_parts(analysis->recording, &parts, error);
	if (!status && !parts.count)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"%s: no device in this trace, so it has no digest; leave it out", path);
	for (size_t i = 0; !status && i < parts.count; i++) {
		const struct kwhy_digest_input input = {
			analysis->recording, analysis->ledger, analysis->findings, work->options->running};

		status = save_part(work, &input, &parts, i, error);
	}
	free(parts.items);
	kwhy_analysis_close(analysis);
	return status;
}

static enum kwhy_status digest_trace(struct work *work, const char *path, struct kwhy_error *error)
{
	struct kwhy_download download;
	enum kwhy_status status;

	if (!kwhy_download_is_address(path))
		return digest_file(work, path, NULL, error);
	status = kwhy_download_get(path, &download, error);
	if (!status) {
		status = digest_file(work, download.path, download.shown, error);
		if (status)
			kwhy_download_name(&download, error);
	}
	kwhy_download_done(&download);
	return status;
}

/*
 * Makes the digests of this task's share of the traces. A trace that cannot be digested is counted and
 * skipped, with a message; if there was such a trace, KWHY_E_INPUT is returned at the end. Wrong options
 * (KWHY_E_USAGE) and exhausted memory end the loop at once.
 */
static enum kwhy_status digest_all(
	struct work *work, const struct kwhy_path_list *traces, struct kwhy_error *error)
{
	for (size_t i = 0; i < traces->count; i++) {
		enum kwhy_status status;

		if (i % work->share.tasks != work->share.task)
			continue;
		work->traces++;
		status = digest_trace(work, traces->items[i], error);
		if (status == KWHY_E_USAGE || status == KWHY_E_MEMORY)
			return status;
		if (status) {
			kwhy_output_message(error->text);
			work->failures++;
		}
	}
	if (work->failures)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%zu of %zu traces have no digest; the messages above say why", work->failures,
			work->traces);
	return KWHY_OK;
}

/*
 * Checks before any trace is read that the output folder can be used or made. It is not made here but with
 * the first digest, so that no empty folder remains if there is no digest.
 */
static enum kwhy_status check_folder(const char *path, struct kwhy_error *error)
{
	size_t length = strlen(path);
	struct stat facts;
	enum kwhy_status status;
	char *name;

	if (lstat(path, &facts) == 0)
		return kwhy_output_folder(path, error);
	while (length > 1 && path[length - 1] == '/')
		length--;
	name = strndup(path, length);
	if (!name)
		return kwhy_fail_memory(error, "a folder's name");
	status = kwhy_output_check("-o", name, error);
	free(name);
	return status;
}

static enum kwhy_status make_digests(
	struct work *work, const struct kwhy_operands *operands, struct kwhy_error *error)
{
	struct kwhy_path_list given = {0}, traces = {0};
	enum kwhy_status status = kwhy_path_list_add(&given, operands, error);

	if (!status)
		status = list_traces(&given, &traces, error);
	if (!status && !traces.count)
		status = kwhy_fail(error, KWHY_E_INPUT, "the list of traces is empty; give at least one");
	if (!status)
		status = check_folder(work->options->output, error);
	if (!status)
		status = digest_all(work, &traces, error);
	kwhy_path_list_done(&given);
	kwhy_path_list_done(&traces);
	return status;
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct digest_options *options = invocation->options;
	struct work work = {.options = options, .job = options->job};
	enum kwhy_status status = read_share(options->task, &work.share, error);
	char message[128];

	if (!status)
		status = read_run(options->run, &work.job, error);
	if (status)
		return status;
	if (!invocation->operands.count)
		return kwhy_fail(error, KWHY_E_USAGE, "digest needs a trace, or - for a list of them");
	if (!work.options->output)
		return kwhy_fail(error, KWHY_E_USAGE, "digest needs -o FOLDER for its files");
	status = make_digests(&work, &invocation->operands, error);
	if (!status && !work.options->job.quiet) {
		snprintf(message, sizeof(message), "%zu digest%s of %zu trace%s in %.60s", work.digests,
			work.digests == 1 ? "" : "s", work.traces, work.traces == 1 ? "" : "s",
			work.options->output);
		kwhy_output_message(message);
	}
	return status;
}

static const struct kwhy_option options_table[] = {
	{"output", 'o', "FOLDER", "write a file for each rank there; the folder is made if it is missing",
		KWHY_OPTION_TEXT, offsetof(struct digest_options, output)},
	{"task", 0, "I/N", "take this share of the list only, from 0/N to N-1/N", KWHY_OPTION_TEXT,
		offsetof(struct digest_options, task)},
	{"replace", 0, NULL, "replace a digest of the same rank, whatever trace it is of", KWHY_OPTION_FLAG,
		offsetof(struct digest_options, replace)},
	{"running", 0, NULL, "the same for a recording that still grows, which is not cut then",
		KWHY_OPTION_FLAG, offsetof(struct digest_options, running)},
	{"run", 0, "START,END", "meters count in this time of the whole run, Unix nanoseconds",
		KWHY_OPTION_TEXT, offsetof(struct digest_options, run)},
	{"power", 0, "FILE", "power readings: CSV, or a log of nvidia-smi, DCGM, ...; may be given again",
		KWHY_OPTION_LIST, offsetof(struct digest_options, job.power)},
	KWHY_OPTION_ROWS_JOB(struct digest_options, job),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_digest = {
	.name = "digest",
	.operands = "REC|TRACE...|-",
	.summary = "Sum up each rank of a large job in a file of at most 100 kB.",
	.details =
		"kwhy report joins any number of digests. Each trace is read by itself, so tasks of a job "
		"can share the work: --task 3/16 takes every 16th trace of the list. A folder stands for "
		"its traces, - for the paths on standard input. A trace may also be an address: https://..., "
		"s3://BUCKET/KEY.",
	.options = options_table,
	.options_bytes = sizeof(struct digest_options),
	.defaults = set_defaults,
	.run = run,
};
