/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/model/cap.h"
#include "cli/model/csv.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum { POWER, THROUGHPUT, CAP, COLUMN_COUNT };

struct cap_options {
	struct kwhy_model_options model;
	double slower_percent;
};

static void set_defaults(void *options)
{
	((struct cap_options *)options)->slower_percent = 5;
}

static enum kwhy_status read_sweep(const char *path, struct kwhy_cap *out, struct kwhy_error *error)
{
	static const struct kwhy_csv_column columns[COLUMN_COUNT] = {
		[POWER] = {"power_w", true}, [THROUGHPUT] = {"throughput", true}, [CAP] = {"cap_w", false}};
	struct kwhy_cap_point points[KWHY_CAP_POINTS_MAX];
	struct kwhy_model_csv csv;
	enum kwhy_status status = kwhy_model_csv_read(path, columns, COLUMN_COUNT, 0, &csv, error);

	for (size_t i = 0; !status && i < csv.row_count && i < KWHY_CAP_POINTS_MAX; i++)
		points[i] = (struct kwhy_cap_point){kwhy_model_csv_number(&csv, i, CAP),
			kwhy_model_csv_number(&csv, i, POWER), kwhy_model_csv_number(&csv, i, THROUGHPUT)};
	if (!status)
		status = kwhy_model_csv_of(path, kwhy_cap_of(points, csv.row_count, out, error), error);
	kwhy_model_csv_done(&csv);
	return status;
}

static void fill(const void *answer, struct kwhy_model_page *page)
{
	kwhy_model_cap_write(answer, page);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct cap_options *options = invocation->options;
	struct kwhy_model_cap *answer;
	enum kwhy_status status;

	if (invocation->operands.count != 1)
		return kwhy_fail(error, KWHY_E_USAGE, "model cap takes one CSV of a sweep");
	if (!(options->slower_percent > 0))
		return kwhy_fail(error, KWHY_E_USAGE, "--slower takes a percentage above 0");
	answer = calloc(1, sizeof(*answer));
	if (!answer)
		return kwhy_fail_memory(error, "a sweep");
	answer->slower_percent = options->slower_percent;
	status = read_sweep(invocation->operands.items[0], &answer->cap, error);
	if (!status)
		kwhy_model_cap_advise(answer);
	if (!status)
		status = kwhy_model_page_write(&options->model, "cap", fill, answer, error);
	free(answer);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"slower", 0, "P", "also the least power that is at most P % slower; default 5", KWHY_OPTION_NUMBER,
		offsetof(struct cap_options, slower_percent)},
	KWHY_OPTION_ROWS_MODEL(struct cap_options, model),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_model_cap = {
	.name = "model cap",
	.operands = "SWEEP.csv",
	.summary = "Which power limit takes the least energy, where the sweep can show it.",
	.details = "SWEEP.csv: columns power_w (mean, measured), throughput and, where one was set, cap_w.",
	.options = options_table,
	.options_bytes = sizeof(struct cap_options),
	.defaults = set_defaults,
	.run = run,
};
