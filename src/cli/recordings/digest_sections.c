/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recordings/digest_sections.h"

#include "digest/fold.h"
#include "record/section.h"
#include "record/section_state.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUM_SUFFIX ".sqlite"

/* The sum of one part of the recording. */
struct sum {
	char *name; /* name of the file; NULL: another sum has taken this one in */
	struct kwhy_digest digest;
};

struct adding {
	struct kwhy_digest_sections *sections;
	struct kwhy_section_state state;
	struct sum *sums;
	size_t count;
	struct kwhy_error *error;
};

static enum kwhy_status new_sum(struct adding *adding, const char *name, struct sum **out)
{
	struct sum *sums = reallocarray(adding->sums, adding->count + 1, sizeof(*sums));

	if (!sums)
		return kwhy_fail_memory(adding->error, "digests");
	adding->sums = sums;
	*out = &sums[adding->count];
	**out = (struct sum){.name = strdup(name)};
	if (!(*out)->name)
		return kwhy_fail_memory(adding->error, "digests");
	adding->count++;
	return KWHY_OK;
}

static enum kwhy_status read_sum(struct adding *adding, const char *name)
{
	char *path = NULL;
	struct sum *sum;
	enum kwhy_status status = new_sum(adding, name, &sum);

	if (status)
		return status;
	if (asprintf(&path, "%s/%s", adding->state.before, name) < 0)
		return kwhy_fail_memory(adding->error, "digests");
	status = kwhy_digest_read_all(path, &sum->digest, adding->error);
	free(path);
	return status;
}

static bool is_sum(const char *name)
{
	const size_t length = strlen(name), tail = strlen(SUM_SUFFIX);

	return length > tail && !strcmp(name + length - tail, SUM_SUFFIX);
}

static enum kwhy_status read_sums(struct adding *adding)
{
	DIR *entries = adding->state.before ? opendir(adding->state.before) : NULL;
	enum kwhy_status status = KWHY_OK;

	if (adding->state.before && !entries)
		return kwhy_fail(adding->error, KWHY_E_IO, "cannot read folder '%.300s': %s",
			adding->state.before, strerror(errno));
	for (struct dirent *entry = entries ? readdir(entries) : NULL; !status && entry;
		entry = readdir(entries))
		if (is_sum(entry->d_name))
			status = read_sum(adding, entry->d_name);
	if (entries)
		closedir(entries);
	return status;
}

static bool has_device(const struct kwhy_digest *digest, const char *uuid)
{
	for (size_t i = 0; uuid && i < digest->device_count; i++)
		if (digest->device[i].uuid && !strcmp(digest->device[i].uuid, uuid))
			return true;
	return false;
}

/*
 * The sum that a section's digest belongs to: that of the same file. A device that nothing used in this
 * section belongs to the rank that used it before. NULL: there is none yet.
 */
static struct sum *find_sum(
	const struct adding *adding, const struct kwhy_digest *digest, const char *name, bool is_unused)
{
	for (size_t i = 0; is_unused && i < adding->count; i++)
		if (adding->sums[i].name && !kwhy_digest_is_unused(&adding->sums[i].digest) &&
			has_device(&adding->sums[i].digest, digest->device->uuid))
			return &adding->sums[i];
	for (size_t i = 0; i < adding->count; i++)
		if (adding->sums[i].name && !strcmp(adding->sums[i].name, name))
			return &adding->sums[i];
	return NULL;
}

/* Adds to a rank's sum those of its devices that nothing used until now. */
static enum kwhy_status take_unused(const struct adding *adding, struct sum *into)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < adding->count; i++) {
		struct sum *unused = &adding->sums[i];

		if (unused == into || !unused->name || !kwhy_digest_is_unused(&unused->digest) ||
			!has_device(&into->digest, unused->digest.device->uuid))
			continue;
		status = kwhy_digest_fold(&into->digest, &unused->digest, adding->error);
		free(unused->name);
		unused->name = NULL;
	}
	return status;
}

static enum kwhy_status add_part(
	struct adding *adding, struct kwhy_digest *digest, const struct kwhy_digest_part *part)
{
	const bool is_unused = part->device != KWHY_NONE;
	char *path = adding->sections->name_file(adding->sections->context, digest, part);
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *name = slash ? slash + 1 : path;
	struct sum *sum;
	enum kwhy_status status = KWHY_OK;

	if (!path)
		return kwhy_fail_memory(adding->error, "the name of a digest");
	sum = find_sum(adding, digest, name, is_unused);
	if (!sum)
		status = new_sum(adding, name, &sum);
	free(path);
	if (status)
		return status;
	status = kwhy_digest_fold(&sum->digest, digest, adding->error);
	return status || is_unused ? status : take_unused(adding, sum);
}

static enum kwhy_status add_section(struct adding *adding, const struct kwhy_analysis *analysis)
{
	const struct kwhy_digest_input input = {
		analysis->recording, analysis->ledger, analysis->findings, true};
	struct kwhy_digest_parts parts = {0};
	enum kwhy_status status = kwhy_digest_parts(analysis->recording, &parts, adding->error);

	for (size_t i = 0; !status && i < parts.count; i++) {
		struct kwhy_digest digest = {0};

		status = kwhy_digest_make_whole(&input, &parts, i, &digest, adding->error);
		if (!status)
			status = add_part(adding, &digest, &parts.items[i]);
		kwhy_digest_done(&digest);
	}
	free(parts.items);
	return status;
}

static enum kwhy_status read_section(struct adding *adding)
{
	char *const paths[] = {(char *)adding->state.section};
	struct kwhy_digest_sections *sections = adding->sections;
	struct kwhy_analysis *analysis;
	enum kwhy_status status = kwhy_job_open(
		&analysis, sections->job, paths, 1, &sections->job->power, NULL, adding->error);

	if (status)
		return status;
	for (size_t i = 0; i < analysis->recording->source_count; i++)
		analysis->recording->sources[i].path = sections->recording;
	status = add_section(adding, analysis);
	kwhy_analysis_close(analysis);
	return status;
}

static enum kwhy_status write_digest(struct adding *adding, struct sum *sum)
{
	struct kwhy_digest digest = {0};
	char *path = NULL;
	enum kwhy_status status = kwhy_digest_fit(&sum->digest, &digest, adding->error);

	if (!status && asprintf(&path, "%s/%s", adding->sections->output, sum->name) < 0)
		status = kwhy_fail_memory(adding->error, "the name of a digest");
	if (!status)
		status = kwhy_digest_save(&digest, path, adding->error);
	adding->sections->written += !status;
	free(path);
	kwhy_digest_done(&digest);
	return status;
}

/* Writes all sums to the next state. */
static enum kwhy_status write_sums(struct adding *adding)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < adding->count; i++) {
		char *path = NULL;

		if (!adding->sums[i].name)
			continue;
		if (asprintf(&path, "%s/%s", adding->state.next, adding->sums[i].name) < 0)
			return kwhy_fail_memory(adding->error, "digests");
		status = kwhy_digest_save(&adding->sums[i].digest, path, adding->error);
		free(path);
	}
	return status;
}

static void adding_done(struct adding *adding)
{
	for (size_t i = 0; i < adding->count; i++) {
		free(adding->sums[i].name);
		kwhy_digest_done(&adding->sums[i].digest);
	}
	free(adding->sums);
	kwhy_section_state_close(&adding->state);
}

static enum kwhy_status add(struct adding *adding)
{
	const struct kwhy_record_section_request request = {.recording = adding->sections->recording,
		.rest = adding->state.before,
		.out_section = adding->state.section,
		.out_rest = adding->state.next};
	struct kwhy_record_section section;
	enum kwhy_status status = read_sums(adding);

	if (!status)
		status = kwhy_record_section_cut(&request, &section, adding->error);
	if (!status && section.is_cut)
		status = read_section(adding);
	if (!status)
		status = write_sums(adding);
	/* the digests come after the state, so that they never show what a later call would add again */
	if (!status)
		status = kwhy_section_state_keep(&adding->state, adding->error);
	for (size_t i = 0; !status && i < adding->count; i++)
		if (adding->sums[i].name)
			status = write_digest(adding, &adding->sums[i]);
	return status;
}

enum kwhy_status kwhy_digest_sections_add(struct kwhy_digest_sections *sections, struct kwhy_error *error)
{
	struct adding adding = {.sections = sections, .error = error};
	enum kwhy_status status;

	sections->written = 0;
	status = kwhy_section_state_open(&adding.state, sections->recording, error);
	if (!status)
		status = add(&adding);
	adding_done(&adding);
	return status;
}
