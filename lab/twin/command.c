/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "lab/lab.h"
#include "lab/twin/bench.h"
#include "lab/twin/show.h"
#include "launch/stop.h"

#include <stddef.h>
#include <string.h>

struct twin_options {
	const char *backend, *device, *variants, *loop, *collectives;
	uint64_t steps, ranks;
	bool runs_only;
	struct kwhy_bench_runs runs;
	struct kwhy_bench_output output;
};

static void set_defaults(void *options)
{
	struct twin_options *twin = options;

	*twin = (struct twin_options){.backend = "cuda",
		.loop = "closed",
		.collectives = "own",
		.steps = KWHY_TWIN_STEPS,
		.ranks = 1,
		.runs = KWHY_BENCH_RUNS_DEFAULT};
}

/* Which of `count` names it is; -1: none. */
static int find_word(const char *word, const char *const *names, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(word, names[i]) == 0)
			return i;
	return -1;
}

static enum kwhy_status check_counts(const struct twin_options *options, struct kwhy_error *error)
{
	if (options->steps < 1 || options->steps > KWHY_TWIN_STEPS)
		return kwhy_fail(error, KWHY_E_USAGE, "--steps takes 1 to %d", KWHY_TWIN_STEPS);
	if (options->ranks < 1 || options->ranks > KWHY_TWIN_RANKS_MOST)
		return kwhy_fail(error, KWHY_E_USAGE, "--ranks takes 1 to %d", KWHY_TWIN_RANKS_MOST);
	return kwhy_bench_runs_check(&options->runs, error);
}

static enum kwhy_status make_request(
	const struct twin_options *options, struct kwhy_bench_twin_request *out, struct kwhy_error *error)
{
	static const char *const loops[] = {"open", "closed"}, *const collectives[] = {"own", "nccl"};
	int loop = find_word(options->loop, loops, 2),
	    group = find_word(options->collectives, collectives, 2);
	enum kwhy_gpu_backend backend = KWHY_GPU_CUDA;
	enum kwhy_status status = check_counts(options, error);

	if (!status)
		status = kwhy_backend_read(options->backend, &backend, error);
	if (status)
		return status;
	if (loop < 0)
		return kwhy_fail(
			error, KWHY_E_USAGE, "--loop takes open or closed, not '%.40s'", options->loop);
	if (group < 0)
		return kwhy_fail(error, KWHY_E_USAGE, "--collectives takes own or nccl, not '%.40s'",
			options->collectives);
	*out = (struct kwhy_bench_twin_request){.backend = backend,
		.devices = options->device,
		.variants = options->variants,
		.shape = {(uint32_t)options->steps, (uint32_t)options->ranks, loop == 1, 1},
		.collectives = (enum kwhy_twin_collectives)group,
		.repeat = (uint32_t)options->runs.repeat,
		.energy_s = kwhy_bench_energy_s(options->runs.seconds, backend, KWHY_BENCH_ENERGY_S),
		.runs_only = options->runs_only};
	return KWHY_OK;
}

static enum kwhy_status write_result(const struct twin_options *options, enum kwhy_output_form form,
	const struct kwhy_bench_twin *bench, struct kwhy_error *error)
{
	const struct kwhy_text_style style = {.columns = kwhy_bench_columns(&options->output)};
	struct kwhy_text text = {0}, table = {0};

	if (form == KWHY_OUTPUT_JSON)
		kwhy_bench_twin_json(bench, &text);
	else
		kwhy_bench_twin_text(bench, &style, &text);
	if (options->output.csv)
		kwhy_bench_twin_csv(bench, &table);
	return kwhy_bench_write(&options->output, "twin", form, &text, &table, error);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct twin_options *options = invocation->options;
	struct kwhy_bench_twin_request request;
	struct kwhy_bench_twin *bench;
	enum kwhy_output_form form;
	enum kwhy_status status = kwhy_bench_form_find("twin", &options->output, "the steps", &form, error);

	if (!status)
		status = make_request(options, &request, error);
	if (status)
		return status;
	kwhy_stop_watch(options->output.quiet);
	request.context = kwhy_progress_begin(options->output.quiet);
	request.progress = kwhy_bench_tell;
	status = kwhy_bench_twin(&request, &bench, error);
	kwhy_progress_end(request.context);
	if (status)
		return status;
	status = write_result(options, form, bench, error);
	if (!status && (bench->ended || !kwhy_bench_twin_has_run(bench)))
		*invocation->exit = KWHY_EXIT_FAILED;
	kwhy_bench_twin_free(bench);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"backend", 0, "NAME", "cuda, hip or host; default cuda", KWHY_OPTION_TEXT,
		offsetof(struct twin_options, backend)},
	{"device", 0, "LIST", "GPUs by number or PCI address, with commas between; default 0",
		KWHY_OPTION_TEXT, offsetof(struct twin_options, device)},
	{"variant", 0, "LIST", "of v0 to v8, v9, v9b and cpu; default all", KWHY_OPTION_TEXT,
		offsetof(struct twin_options, variants)},
	{"steps", 0, "N", "of a run, 1 to 288; default 288", KWHY_OPTION_COUNT,
		offsetof(struct twin_options, steps)},
	{"ranks", 0, "N", "fields of 256 x 256 cells in a ring, 1 to 8; default 1", KWHY_OPTION_COUNT,
		offsetof(struct twin_options, ranks)},
	{"loop", 0, "KIND", "closed: agents act on what they see (default); open: they do not",
		KWHY_OPTION_TEXT, offsetof(struct twin_options, loop)},
	{"collectives", 0, "NAME", "own (default), or nccl where it is installed", KWHY_OPTION_TEXT,
		offsetof(struct twin_options, collectives)},
	KWHY_OPTION_ROWS_BENCH_RUNS(struct twin_options, runs),
	{"runs-only", 0, NULL, "nothing beside the runs: no floor", KWHY_OPTION_FLAG,
		offsetof(struct twin_options, runs_only)},
	KWHY_OPTION_ROWS_BENCH_OUTPUT(
		struct twin_options, output, "the time of every step of the first 256 runs of each"),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command lab_command_twin = {
	.name = "twin",
	.operands = "",
	.summary = "Run a workload of many small transfers in every variant; time and energy of each.",
	.options = options_table,
	.options_bytes = sizeof(struct twin_options),
	.defaults = set_defaults,
	.run = run,
};
