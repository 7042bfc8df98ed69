/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/installation.h"
#include "cli/output.h"
#include "host/doctor.h"
#include "report/doctor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct doctor_options {
	const char *output, *device;
	bool json, no_color, verbose;
};

/* Reads the number of a GPU; *out is -1 if `text` is NULL. */
static enum kwhy_status parse_device(const char *text, int64_t *out, struct kwhy_error *error)
{
	char *end;
	long value;

	*out = -1;
	if (!text)
		return KWHY_OK;
	value = strtol(text, &end, 10);
	if (end == text || *end || value < 0 || value > INT32_MAX)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--device takes the number of a GPU as nvidia-smi shows it, not '%.60s'", text);
	*out = value;
	return KWHY_OK;
}

static enum kwhy_status choose_form(
	const struct doctor_options *options, enum kwhy_output_form *out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_output_form_of(
		options->output, options->json ? KWHY_OUTPUT_JSON : KWHY_OUTPUT_TEXT, out, error);

	if (!status && *out != KWHY_OUTPUT_TEXT && *out != KWHY_OUTPUT_JSON)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"doctor writes no such form as '%.200s'; use -o with .txt or .json", options->output);
	return status;
}

static enum kwhy_status render(const struct kwhy_doctor_report *report, const struct doctor_options *options,
	enum kwhy_output_form form, struct kwhy_text *out, struct kwhy_error *error)
{
	bool terminal = !options->output || strcmp(options->output, "-") == 0;
	struct kwhy_text_style style = {.columns = terminal ? kwhy_output_columns() : 80,
		.color = terminal && kwhy_output_color(options->no_color),
		.verbose = options->verbose};

	return form == KWHY_OUTPUT_JSON ? kwhy_doctor_json(report, out, error)
					: kwhy_doctor_text(report, &style, out, error);
}

static enum kwhy_status write_out(const struct kwhy_doctor_report *report,
	const struct doctor_options *options, enum kwhy_output_form form, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	char *place = NULL;
	enum kwhy_status status = render(report, options, form, &text, error);

	if (!status)
		status = kwhy_output_path(options->output, "doctor", form, &place, error);
	if (!status)
		status = kwhy_output_write(place, &text, error);
	free(place);
	kwhy_text_done(&text);
	return status;
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct doctor_options *options = invocation->options;
	struct kwhy_doctor_request request = {.further = KWHY_INSTALLATION_CHECKS};
	struct kwhy_doctor_report report = {0};
	enum kwhy_output_form form;
	enum kwhy_status status = choose_form(options, &form, error);

	if (!status)
		status = parse_device(options->device, &request.gpu, error);
	if (!status)
		status = kwhy_doctor_run(&request, &report, error);
	if (!status)
		status = kwhy_installation_check(&report, error);
	if (!status)
		status = write_out(&report, options, form, error);
	if (!status && kwhy_doctor_count(&report, KWHY_DOCTOR_ADVICE) > 0)
		*invocation->exit = KWHY_EXIT_EXCEEDED;
	kwhy_doctor_done(&report);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"device", 0, "N", "look at that GPU alone", KWHY_OPTION_TEXT,
		offsetof(struct doctor_options, device)},
	{"output", 'o', "FILE|-", "write there; .txt .json say the form", KWHY_OPTION_TEXT,
		offsetof(struct doctor_options, output)},
	{"json", 0, NULL, "write the findings as JSON", KWHY_OPTION_FLAG,
		offsetof(struct doctor_options, json)},
	{"no-color", 0, NULL, "no colour (NO_COLOR does the same)", KWHY_OPTION_FLAG,
		offsetof(struct doctor_options, no_color)},
	{"verbose", 'v', NULL, "also variables that are not set", KWHY_OPTION_FLAG,
		offsetof(struct doctor_options, verbose)},
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_doctor = {
	.name = "doctor",
	.operands = "",
	.summary = "Look for settings of this machine that cost time or joules; change nothing.",
	.details = "Exit status 3: kwhy doctor has advice, something to change.",
	.options = options_table,
	.options_bytes = sizeof(struct doctor_options),
	.run = run,
};
