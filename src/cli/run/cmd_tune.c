/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/output.h"
#include "cli/run/tune_sweep.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tune_options {
	struct kwhy_model_options model;
	struct kwhy_strings work;
	double from, to, slower_percent;
	uint64_t device, values, repeats, warmup, seed;
	bool allow_set;
};

static void set_defaults(void *options)
{
	struct tune_options *tune = options;

	tune->from = tune->to = NAN;
	tune->slower_percent = 5;
	tune->values = 8;
	tune->repeats = tune->warmup = 1;
}

static enum kwhy_status check_options(
	const struct tune_options *options, const struct kwhy_operands *operands, struct kwhy_error *error)
{
	enum kwhy_output_form form;

	if (!operands->count)
		return kwhy_fail(error, KWHY_E_USAGE,
			"tune needs a command after its options: --allow-set -- CMD [ARGS]");
	if (!options->allow_set)
		return kwhy_fail(error, KWHY_E_USAGE,
			"tune changes a setting of the device while it runs, and puts it back: allow that "
			"with --allow-set");
	if (options->values < KWHY_CAP_POINTS_MIN || options->repeats < 1 ||
		options->values > KWHY_CAP_POINTS_MAX || options->repeats > KWHY_CAP_POINTS_MAX ||
		options->values * options->repeats > KWHY_CAP_POINTS_MAX)
		return kwhy_fail(error, KWHY_E_USAGE,
			"tune takes %d values or more, and at most %d runs in all", (int)KWHY_CAP_POINTS_MIN,
			(int)KWHY_CAP_POINTS_MAX);
	if (!(options->slower_percent > 0))
		return kwhy_fail(error, KWHY_E_USAGE, "--slower takes a percentage above 0");
	if (options->work.count > 1)
		return kwhy_fail(error, KWHY_E_USAGE, "tune takes one --work");
	return kwhy_model_form_of(&options->model, &form, error);
}

static enum kwhy_status fit(const struct kwhy_tune_sweep *sweep, enum kwhy_tune_kind kind,
	struct kwhy_model_cap *answer, struct kwhy_error *error)
{
	struct kwhy_cap_point points[KWHY_CAP_POINTS_MAX];
	enum kwhy_status status;

	for (size_t i = 0; i < sweep->count; i++) {
		const struct kwhy_tune_point *point = &sweep->points[i];

		points[i] = (struct kwhy_cap_point){kind == KWHY_TUNE_CAP ? point->value * 1e-3 : NAN,
			point->joules / point->seconds, point->work / point->seconds};
	}
	status = kwhy_cap_of(points, sweep->count, &answer->cap, error);
	if (!status)
		kwhy_model_cap_advise(answer);
	return status;
}

/*
 * The clock rate, in MHz, at which the device draws power_w, interpolated linearly between the run with the
 * next lower and the run with the next higher mean power; NAN: one of these is missing.
 */
static double clock_for(const struct kwhy_tune_sweep *sweep, double power_w)
{
	double below_w = -INFINITY, above_w = INFINITY, below = NAN, above = NAN;

	for (size_t i = 0; i < sweep->count; i++) {
		double found_w = sweep->points[i].joules / sweep->points[i].seconds;

		if (found_w <= power_w && found_w > below_w) {
			below_w = found_w;
			below = sweep->points[i].value;
		}
		if (found_w >= power_w && found_w < above_w) {
			above_w = found_w;
			above = sweep->points[i].value;
		}
	}
	return above_w == below_w ? above
				  : below + (above - below) * (power_w - below_w) / (above_w - below_w);
}

static void write_clocks(const struct kwhy_tune_sweep *sweep, const struct kwhy_model_cap *answer,
	struct kwhy_model_page *page)
{
	if (page->is_json)
		kwhy_json_list(&page->json, "clocks_mhz");
	for (int goal = 0; goal < KWHY_MODEL_CAP_GOALS; goal++) {
		double power_w = answer->advice[goal].power_w.value;

		if (page->is_json)
			kwhy_json_real(&page->json, NULL, clock_for(sweep, power_w));
		else if (isfinite(clock_for(sweep, power_w)))
			kwhy_text_context_linef(&page->context, "", "a clock of %.0f MHz gives %.4g W",
				clock_for(sweep, power_w), power_w);
	}
	if (page->is_json)
		kwhy_json_array_end(&page->json);
}

static void write_points(
	const struct kwhy_tune_sweep *sweep, enum kwhy_tune_kind kind, struct kwhy_model_page *page)
{
	kwhy_json_string(&page->json, "setting", kind == KWHY_TUNE_CAP ? "cap_w" : "clock_mhz");
	kwhy_json_array(&page->json, "runs");
	for (size_t i = 0; i < sweep->count; i++) {
		const struct kwhy_tune_point *point = &sweep->points[i];

		kwhy_json_row(&page->json, NULL);
		kwhy_json_real(&page->json, "value",
			kind == KWHY_TUNE_CAP ? point->value * 1e-3 : (double)point->value);
		kwhy_json_real(&page->json, "seconds", point->seconds);
		kwhy_json_real(&page->json, "joules", point->joules);
		kwhy_json_real(&page->json, "work", point->work);
		kwhy_json_object_end(&page->json);
	}
	kwhy_json_array_end(&page->json);
}

/*
 * Writes the answer to the output file or, without one, to standard error, because the measured command
 * writes to standard output.
 */
static enum kwhy_status end_page(
	struct kwhy_model_page *page, const struct kwhy_model_options *model, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (model->output)
		return kwhy_model_page_end(page, model, KWHY_OK, error);
	if (page->is_json)
		kwhy_json_object_end(&page->json);
	status = kwhy_text_check(&page->text, error);
	if (!status && fwrite(page->text.data, 1, page->text.length, stderr) != page->text.length)
		status = kwhy_fail(error, KWHY_E_IO, "cannot write to standard error: %s", strerror(errno));
	kwhy_text_done(&page->text);
	return status;
}

static enum kwhy_status write_answer(const struct kwhy_tune_sweep *sweep, const struct kwhy_model_cap *answer,
	enum kwhy_tune_kind kind, const struct kwhy_model_options *model, struct kwhy_error *error)
{
	struct kwhy_model_page page;
	enum kwhy_status status = kwhy_model_page_begin(&page, model, "tune", error);

	if (status)
		return status;
	if (page.is_json)
		write_points(sweep, kind, &page);
	kwhy_model_cap_write(answer, &page);
	if (kind == KWHY_TUNE_CLOCK)
		write_clocks(sweep, answer, &page);
	return end_page(&page, model, error);
}

/* The runs of the sweep over power limits or clocks, and the advice that follows from them. */
struct tuning {
	struct kwhy_tune_sweep sweep;
	struct kwhy_model_cap answer;
};

static enum kwhy_status tune(struct tuning *tuning, enum kwhy_tune_kind kind,
	const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct tune_options *options = invocation->options;
	const struct kwhy_tune_request request = {.kind = kind,
		.device = options->device,
		.values = options->values,
		.repeats = options->repeats,
		.warmup = options->warmup,
		.seed = options->seed,
		.from = options->from,
		.to = options->to,
		.work = &options->work,
		.argv = invocation->operands.items,
		.argc = invocation->operands.count};
	const struct kwhy_error *left = &tuning->sweep.left;
	enum kwhy_status status = kwhy_tune_sweep_run(&tuning->sweep, &request, error);

	tuning->answer.slower_percent = options->slower_percent;
	if (!status && tuning->sweep.exit) {
		kwhy_output_message(left->status ? "the sweep was ended"
						 : "the sweep was ended; the setting is put back");
		*invocation->exit = (enum kwhy_exit)tuning->sweep.exit;
	} else if (!status) {
		status = fit(&tuning->sweep, kind, &tuning->answer, error);
		if (!status)
			status = write_answer(&tuning->sweep, &tuning->answer, kind, &options->model, error);
	}
	return kwhy_output_later(status, left, error);
}

static enum kwhy_status run_kind(
	enum kwhy_tune_kind kind, const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	enum kwhy_status status = check_options(invocation->options, &invocation->operands, error);
	struct tuning *tuning;

	if (status)
		return status;
	tuning = calloc(1, sizeof(*tuning));
	if (!tuning)
		return kwhy_fail_memory(error, "a sweep");
	tuning->sweep.guard.pipe = -1;
	status = tune(tuning, kind, invocation, error);
	kwhy_tune_sweep_done(&tuning->sweep);
	free(tuning);
	return status;
}

static enum kwhy_status run_cap(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	return run_kind(KWHY_TUNE_CAP, invocation, error);
}

static enum kwhy_status run_clock(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	return run_kind(KWHY_TUNE_CLOCK, invocation, error);
}

static const struct kwhy_option options_table[] = {
	{"allow-set", 0, NULL, "allow that the setting is changed while this runs", KWHY_OPTION_FLAG,
		offsetof(struct tune_options, allow_set)},
	{"device", 0, "N", "device to tune; default 0", KWHY_OPTION_COUNT,
		offsetof(struct tune_options, device)},
	{"from", 0, "V", "lowest value, in W or MHz", KWHY_OPTION_NUMBER,
		offsetof(struct tune_options, from)},
	{"to", 0, "V", "highest value, in W or MHz", KWHY_OPTION_NUMBER, offsetof(struct tune_options, to)},
	{"values", 0, "N", "values between them; default 8", KWHY_OPTION_COUNT,
		offsetof(struct tune_options, values)},
	{"repeat", 'r', "N", "run the command N times at each value; default 1", KWHY_OPTION_COUNT,
		offsetof(struct tune_options, repeats)},
	{"warmup", 0, "N", "run it N times before, unmeasured; default 1", KWHY_OPTION_COUNT,
		offsetof(struct tune_options, warmup)},
	{"work", 0, "UNIT[=WHAT]", "work: a number, REGEX in its output, or what it reports",
		KWHY_OPTION_LIST, offsetof(struct tune_options, work)},
	{"slower", 0, "P", "also the least power that is at most P % slower; default 5", KWHY_OPTION_NUMBER,
		offsetof(struct tune_options, slower_percent)},
	{"seed", 0, "N", "seed of the order of the values", KWHY_OPTION_COUNT,
		offsetof(struct tune_options, seed)},
	KWHY_OPTION_ROWS_MODEL(struct tune_options, model),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

#define DETAILS                                                                                         \
	"The setting is put back at the end, on a signal, and by a guard process when kwhy is killed. " \
	"Refused where others use the device. Results go to standard error or -o FILE."

const struct kwhy_command kwhy_command_tune_cap = {
	.name = "tune cap",
	.operands = "--allow-set [--] CMD [ARGS]",
	.summary = "Sweep the power limit under a command; say which one takes least energy.",
	.details = DETAILS,
	.options = options_table,
	.options_bytes = sizeof(struct tune_options),
	.defaults = set_defaults,
	.run = run_cap,
	.operand_is_command = true,
};

const struct kwhy_command kwhy_command_tune_clock = {
	.name = "tune clock",
	.operands = "--allow-set [--] CMD [ARGS]",
	.summary = "Sweep the graphics clock under a command; say which one takes least energy.",
	.details = DETAILS,
	.options = options_table,
	.options_bytes = sizeof(struct tune_options),
	.defaults = set_defaults,
	.run = run_clock,
	.operand_is_command = true,
};
