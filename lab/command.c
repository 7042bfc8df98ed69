/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"
#include "lab/workload.h"
#include "launch/stop.h"

static enum kwhy_status write_result(
	const struct lab_bench *bench, enum kwhy_output_form form, struct kwhy_error *error)
{
	const struct kwhy_bench_output *output = &bench->options->output;
	const struct kwhy_text_style style = {.columns = kwhy_bench_columns(output)};
	struct kwhy_text text = {0}, table = {0};

	if (form == KWHY_OUTPUT_JSON)
		lab_show_json(bench, &text);
	else
		lab_show_text(bench, &style, &text);
	if (output->csv)
		lab_show_csv(bench, &table);
	return kwhy_bench_write(output, bench->workload->command.name, form, &text, &table, error);
}

enum kwhy_status lab_command_run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct lab_options *options = invocation->options;
	const char *name = options->workload->command.name;
	struct lab_bench *bench;
	enum kwhy_output_form form;
	enum kwhy_status status = kwhy_bench_form_find(name, &options->output, "a table", &form, error);
	void *progress;

	if (status)
		return status;
	kwhy_stop_watch(options->output.quiet);
	progress = kwhy_progress_begin(options->output.quiet);
	status = lab_bench_run(options, kwhy_bench_tell, progress, &bench, error);
	kwhy_progress_end(progress);
	if (status)
		return status;
	status = write_result(bench, form, error);
	if (!status && (bench->ended || !lab_bench_is_right(bench)))
		*invocation->exit = KWHY_EXIT_FAILED;
	lab_bench_free(bench);
	return status;
}
