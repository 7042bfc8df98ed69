/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/powers.h"

#include "analyse/profile_find.h"
#include "base/file.h"
#include "import/import.h"
#include "import/own_result.h"

#include <stdlib.h>

/*
 * Makes the ledger of a finished recording and takes the powers of the ledger's accounts as learnt powers.
 * `path` is the file that the recording was read from.
 */
static enum kwhy_status learn(const struct kwhy_recording *recording,
	const struct kwhy_analysis_options *options, const char *path, struct kwhy_learnt_powers **out,
	struct kwhy_error *error)
{
	struct kwhy_ledger_options ledger_options = kwhy_ledger_options_default();
	struct kwhy_profile *profile = NULL;
	struct kwhy_ledger *ledger;
	enum kwhy_status status = kwhy_profile_read(options->profile_path, recording, &profile, error);

	ledger_options.profile = profile;
	ledger_options.seed = options->seed;
	if (!status)
		status = kwhy_ledger_new(recording, &ledger_options, &ledger, error);
	if (!status) {
		status = kwhy_learnt_powers_collect(recording, ledger, path, out, error);
		kwhy_ledger_free(ledger);
	}
	kwhy_profile_free(profile);
	return status;
}

static bool is_of_writer(const struct kwhy_recording *recording, uint64_t writer)
{
	for (size_t i = 0; i < recording->process_count; i++)
		if (recording->processes[i].writer == writer)
			return true;
	return false;
}

/*
 * Refuses a recording that has a process with the same writer id as one of the run that is analysed, and is
 * thus a copy of a part of it, compressed or not (KWHY_E_USAGE).
 */
static enum kwhy_status check_other(const struct kwhy_recording *recording, const struct kwhy_recording *run,
	const char *path, struct kwhy_error *error)
{
	for (size_t i = 0; i < recording->process_count; i++)
		if (recording->processes[i].writer && is_of_writer(run, recording->processes[i].writer))
			return kwhy_fail(error, KWHY_E_USAGE,
				"--powers %s holds a recording of the run itself, which teaches itself "
				"nothing new; name another recording of the program",
				path);
	return KWHY_OK;
}

static enum kwhy_status import_other(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct kwhy_error why;
	enum kwhy_status status = kwhy_import_trace(recording, path, options, &why);

	if (status == KWHY_E_INPUT)
		return kwhy_fail(error, status,
			"--powers takes a file that kwhy export --to powers wrote, or a recording: %s",
			why.text);
	if (status)
		*error = why;
	return status;
}

static enum kwhy_status read_recording(const struct kwhy_analysis_options *options, const char *path,
	const struct kwhy_recording *run, struct kwhy_learnt_powers **out, struct kwhy_error *error)
{
	const struct kwhy_import_options import = {
		.partial = options->partial, .collectives_path = options->collectives_path};
	struct kwhy_recording *recording;
	enum kwhy_status status = kwhy_recording_new(&recording, error);

	if (status)
		return status;
	status = kwhy_own_result_refuse_file(path, "a file of powers or a recording", error);
	if (!status)
		status = import_other(recording, path, &import, error);
	if (!status)
		status = check_other(recording, run, path, error);
	if (!status)
		status = kwhy_recording_finish(recording, error);
	if (!status)
		status = learn(recording, options, path, out, error);
	kwhy_recording_free(recording);
	return status;
}

static enum kwhy_status check_device(const struct kwhy_learnt_powers *powers,
	const struct kwhy_recording *recording, struct kwhy_error *error)
{
	const char *name = NULL;

	for (size_t d = 0; d < recording->device_count; d++) {
		if (!recording->devices[d].name)
			continue;
		name = recording->devices[d].name;
		if (kwhy_device_names_agree(powers->device_name, name))
			return KWHY_OK;
	}
	return name ? kwhy_fail(error, KWHY_E_INPUT,
			      "%s holds powers of %.100s, and the run is of %.100s; powers hold for one kind "
			      "of device: name a file of that one",
			      powers->path, powers->device_name, name)
		    : kwhy_fail(error, KWHY_E_INPUT,
			      "%s holds powers of %.100s, and nothing says what device the run is of; leave "
			      "--powers out",
			      powers->path, powers->device_name);
}

static enum kwhy_status read_file(struct kwhy_powers_files *files,
	const struct kwhy_analysis_options *options, const char *path, const struct kwhy_recording *recording,
	struct kwhy_error *error)
{
	struct kwhy_learnt_powers *powers;
	enum kwhy_status status = kwhy_own_result_is(path, "powers")
		? kwhy_import_powers(path, &powers, error)
		: read_recording(options, path, recording, &powers, error);

	if (status)
		return status;
	files->items[files->count++] = powers;
	return check_device(powers, recording, error);
}

enum kwhy_status kwhy_powers_files_read(struct kwhy_powers_files *files,
	const struct kwhy_analysis_options *options, const struct kwhy_recording *recording,
	struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	*files = (struct kwhy_powers_files){
		.items = calloc(options->learnt_path_count + 1, sizeof(struct kwhy_learnt_powers *))};
	if (!files->items)
		return kwhy_fail_memory(error, "learnt powers");
	for (size_t i = 0; !status && i < options->learnt_path_count; i++)
		status = read_file(files, options, options->learnt_paths[i], recording, error);
	if (status)
		kwhy_powers_files_done(files);
	return status;
}

enum kwhy_status kwhy_powers_check_paths(const struct kwhy_analysis_options *options,
	const char *const *traces, size_t trace_count, struct kwhy_error *error)
{
	const char *const *powers = options->learnt_paths;

	for (size_t i = 0; i < options->learnt_path_count; i++) {
		for (size_t k = 0; k < trace_count; k++)
			if (kwhy_file_is_same(powers[i], traces[k]))
				return kwhy_fail(error, KWHY_E_USAGE,
					"--powers %s is the run itself, which teaches itself nothing new; "
					"name another recording of the program",
					powers[i]);
		for (size_t k = 0; k < i; k++)
			if (kwhy_file_is_same(powers[i], powers[k]))
				return kwhy_fail(error, KWHY_E_USAGE,
					"--powers names %s twice; it would count twice", powers[i]);
	}
	return KWHY_OK;
}

void kwhy_powers_files_done(struct kwhy_powers_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		kwhy_learnt_powers_free(files->items[i]);
	free(files->items);
	*files = (struct kwhy_powers_files){0};
}
