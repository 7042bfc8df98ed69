/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/output.h"
#include "bench/calibration/csv.h"
#include "bench/calibration/self_test.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "report/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOAD_S 1.5
#define QUICK_LOAD_S 1.0

struct calibrate_options {
	const char *device, *output, *save, *from;
	double seconds;
	uint64_t seed;
	bool json, quick, quiet;
};

static void set_defaults(void *options)
{
	struct calibrate_options *calibrate = options;

	calibrate->seconds = LOAD_S;
	calibrate->seed = 1;
}

/* Context of the callback that shows the progress of a calibration. */
struct telling {
	const struct calibrate_options *options;
	double seconds;
	struct kwhy_progress *progress; /* NULL: no part of the calibration has begun, or no progress is
					   shown, for example because standard error is no terminal */
	bool announced;
};

/*
 * Prints on standard error what the calibration does and how long it takes, and begins the progress line.
 * Called once, before the first part of the calibration.
 */
static void announce(struct telling *telling)
{
	char line[160];

	snprintf(line, sizeof(line),
		"loads the GPU now and then for %.0f s and reads its meters; nothing is set or changed",
		telling->seconds);
	if (!telling->options->quiet)
		kwhy_output_message(line);
	telling->announced = true;
	telling->progress = kwhy_progress_begin(telling->options->quiet);
}

static void tell(void *context, const char *what)
{
	struct telling *telling = context;

	if (!telling->announced)
		announce(telling);
	kwhy_progress_step(telling->progress, what, NULL);
}

static enum kwhy_status save_table(const struct kwhy_calibration *calibration,
	enum kwhy_calibration_table table, const char *folder, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	char path[4096];
	enum kwhy_status status;

	snprintf(path, sizeof(path), "%s/%s", folder, kwhy_calibration_table_name(table));
	kwhy_calibration_csv(calibration, table, &text);
	status = kwhy_text_check(&text, error);
	if (!status)
		status = kwhy_file_write(path, text.data, text.length, error);
	kwhy_text_done(&text);
	return status;
}

static enum kwhy_status save(
	const struct kwhy_calibration *calibration, const char *folder, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_output_folder(folder, error);

	for (int table = 0; !status && table < KWHY_CALIBRATION_TABLE_COUNT; table++)
		status = save_table(calibration, (enum kwhy_calibration_table)table, folder, error);
	return status;
}

/* Writes the profile to a file, or to standard output if no path is given. */
static enum kwhy_status write_profile(const char *output, const struct kwhy_profile *profile,
	enum kwhy_output_form form, struct kwhy_error *error)
{
	const struct kwhy_text_style style = {.columns = 80};
	struct kwhy_text text = {0};
	char *path = NULL;
	enum kwhy_status status = form == KWHY_OUTPUT_JSON
		? kwhy_report_profile_json(profile, &text, error)
		: kwhy_report_profile_text(profile, &style, &text, error);

	if (!status)
		status = kwhy_output_path(output, "profile", form, &path, error);
	if (!status)
		status = kwhy_output_write(path, &text, error);
	free(path);
	kwhy_text_done(&text);
	return status;
}

static enum kwhy_status show(const struct calibrate_options *options,
	const struct kwhy_calibration *calibration, enum kwhy_output_form form, struct kwhy_error *error)
{
	struct kwhy_profile *profile;
	enum kwhy_status status = kwhy_self_test_profile(calibration, &profile, error);

	if (status)
		return status;
	status = write_profile(options->output, profile, form, error);
	/* If the profile goes to a file, standard output shows a summary. */
	if (!status && options->output && strcmp(options->output, "-") != 0 && form == KWHY_OUTPUT_JSON &&
		!options->quiet)
		status = write_profile(NULL, profile, KWHY_OUTPUT_TEXT, error);
	kwhy_self_test_profile_free(profile);
	return status;
}

static enum kwhy_status check(
	const struct calibrate_options *options, enum kwhy_output_form *out_form, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_output_form_of(
		options->output, options->json ? KWHY_OUTPUT_JSON : KWHY_OUTPUT_TEXT, out_form, error);

	if (status)
		return status;
	if (*out_form != KWHY_OUTPUT_TEXT && *out_form != KWHY_OUTPUT_JSON)
		return kwhy_fail(
			error, KWHY_E_USAGE, "calibrate writes .txt or .json, not %s", options->output);
	if (!(options->seconds >= 0.5 && options->seconds <= 10))
		return kwhy_fail(error, KWHY_E_USAGE, "--seconds takes 0.5 to 10 seconds a load");
	return KWHY_OK;
}

static enum kwhy_status measure(
	const struct calibrate_options *options, struct kwhy_calibration **out, struct kwhy_error *error)
{
	struct telling telling = {.options = options};
	const struct kwhy_calibration_request request = {
		.device = options->device,
		.load_s = options->quick ? QUICK_LOAD_S : options->seconds,
		.quick = options->quick,
		.seed = (uint32_t)options->seed,
		.progress = tell,
		.context = &telling,
	};
	enum kwhy_status status;

	if (options->from)
		return kwhy_calibration_read(options->from, out, error);
	telling.seconds = kwhy_calibration_seconds(&request);
	status = kwhy_calibrate(&request, out, error);
	kwhy_progress_end(telling.progress);
	return status;
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct calibrate_options *options = invocation->options;
	struct kwhy_calibration *calibration;
	enum kwhy_output_form form;
	enum kwhy_status status = check(options, &form, error);

	if (!status)
		status = measure(options, &calibration, error);
	if (status)
		return status;
	if (options->save)
		status = save(calibration, options->save, error);
	if (!status)
		status = show(options, calibration, form, error);
	kwhy_calibration_free(calibration);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"device", 0, "N", "the GPU of this number, as nvidia-smi counts; default 0", KWHY_OPTION_TEXT,
		offsetof(struct calibrate_options, device)},
	{"output", 'o', "FILE", "write there instead of standard output (.txt, .json)", KWHY_OPTION_TEXT,
		offsetof(struct calibrate_options, output)},
	{"json", 0, NULL, "the machine profile as JSON", KWHY_OPTION_FLAG,
		offsetof(struct calibrate_options, json)},
	{"save", 0, "FOLDER", "keep every reading and the times of all loads there as CSV", KWHY_OPTION_TEXT,
		offsetof(struct calibrate_options, save)},
	{"from", 0, "FOLDER", "measure nothing: evaluate again what --save kept there", KWHY_OPTION_TEXT,
		offsetof(struct calibrate_options, from)},
	{"seconds", 0, "S", "length of each load, 0.5 to 10; default 1.5", KWHY_OPTION_NUMBER,
		offsetof(struct calibrate_options, seconds)},
	{"quick", 0, NULL, "a step and two square waves of one second: wider spreads", KWHY_OPTION_FLAG,
		offsetof(struct calibrate_options, quick)},
	{"seed", 0, "N", "of the random data that the loads work on; default 1", KWHY_OPTION_COUNT,
		offsetof(struct calibrate_options, seed)},
	{"quiet", 'q', NULL, "no progress on standard error", KWHY_OPTION_FLAG,
		offsetof(struct calibrate_options, quiet)},
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_calibrate = {
	.name = "calibrate",
	.operands = "",
	.summary = "Test this machine's power meters with known loads; write its profile.",
	.options = options_table,
	.options_bytes = sizeof(struct calibrate_options),
	.defaults = set_defaults,
	.run = run,
};
