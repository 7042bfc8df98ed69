/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/probe_job.h"

#include "base/file.h"
#include "cli/output.h"
#include "cli/run/probe_known.h"
#include "cli/run/probe_summary.h"
#include "import/import.h"
#include "record/folder.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fails with KWHY_E_USAGE if the path of the new recording is that of an earlier recording of --append. */
static enum kwhy_status refuse_same(
	const struct kwhy_strings *earlier, const char *path, struct kwhy_error *error)
{
	char whole[PATH_MAX], other[PATH_MAX];
	bool is_same = false;

	for (size_t i = 0; realpath(path, whole) && !is_same && i < earlier->count; i++)
		is_same = realpath(earlier->items[i], other) && !strcmp(other, whole);
	return is_same ? kwhy_fail(error, KWHY_E_USAGE,
				 "--append names '%.300s', where the new recording is to be; name another "
				 "place for that with -o",
				 path)
		       : KWHY_OK;
}

enum kwhy_status kwhy_probe_job_open(struct kwhy_probe_job *job, const struct kwhy_record_options *options,
	const char *path, struct kwhy_error *error)
{
	enum kwhy_status status = refuse_same(&options->earlier, path, error);

	job->options = options;
	job->watch.file = -1;
	job->is_watched = options->progress || (!options->quiet && isatty(STDERR_FILENO));
	if (!status)
		status = kwhy_probing_init(&job->probing, error);
	return status ? status : kwhy_probe_known_list(&job->probing, &options->earlier, &job->known, error);
}

enum kwhy_status kwhy_probe_job_prepare(
	struct kwhy_probe_job *job, const char *folder, struct kwhy_error *error)
{
	struct kwhy_text path = {0};
	enum kwhy_status status;

	if (job->is_watched)
		kwhy_probe_watch_open(&job->watch, folder);
	if (!job->known.length)
		return KWHY_OK;
	kwhy_text_addf(&path, "%s/" KWHY_RECORD_KNOWN_FILE, folder);
	status = kwhy_text_check(&path, error);
	if (!status)
		status = kwhy_file_write(path.data, job->known.data, job->known.length, error);
	kwhy_text_done(&path);
	return status;
}

static enum kwhy_status add_recording(
	struct kwhy_probing *probing, const char *path, struct kwhy_error *error)
{
	const struct kwhy_import_options options = {.partial = true};
	struct kwhy_recording *recording = NULL;
	enum kwhy_status status = kwhy_recording_new(&recording, error);

	if (!status)
		status = kwhy_import_trace(recording, path, &options, error);
	if (!status)
		status = kwhy_recording_finish(recording, error);
	if (!status)
		status = kwhy_probing_add(probing, recording, false, error);
	kwhy_recording_free(recording);
	return status;
}

static void say_lines(struct kwhy_text *text)
{
	for (char *line = text->data, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		kwhy_output_message(line);
	}
}

bool kwhy_probe_job_tell(struct kwhy_probe_job *job, const struct kwhy_recording *recording, const char *path)
{
	const struct kwhy_probe_summary summary = {.path = path,
		.within_ratio = job->options->probe->within_ratio,
		.earlier = &job->options->earlier};
	struct kwhy_text text = {0};
	struct kwhy_error error;
	enum kwhy_status status = recording ? kwhy_probing_add(&job->probing, recording, false, &error)
					    : add_recording(&job->probing, path, &error);

	if (!status) {
		kwhy_probe_summary_write(&summary, &job->probing, &text);
		status = kwhy_text_check(&text, &error);
	}
	if (status)
		kwhy_output_message(error.text);
	else
		say_lines(&text);
	kwhy_text_done(&text);
	return job->probing.different > 0;
}

void kwhy_probe_job_close(struct kwhy_probe_job *job)
{
	kwhy_probe_watch_close(&job->watch);
	kwhy_probing_done(&job->probing);
	kwhy_text_done(&job->known);
}
