/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "lab/flow/bench.h"
#include "lab/flow/show.h"
#include "lab/lab.h"
#include "launch/stop.h"

#include <stddef.h>
#include <string.h>

struct flow_options {
	const char *backend, *device, *variants, *flows, *path, *precision, *collectives;
	uint64_t steps;
	bool runs_only, components;
	struct kwhy_bench_runs runs;
	struct kwhy_bench_output output;
};

static void set_defaults(void *options)
{
	struct flow_options *flow = options;

	*flow = (struct flow_options){.backend = "cuda",
		.flows = "1000",
		.path = "fixed",
		.precision = "tf32",
		.collectives = "own",
		.steps = KWHY_FLOW_STEPS,
		.runs = KWHY_BENCH_RUNS_DEFAULT};
}

static enum kwhy_status check_counts(const struct flow_options *options, struct kwhy_error *error)
{
	if (options->steps < 1 || options->steps > KWHY_FLOW_STEPS_MOST)
		return kwhy_fail(error, KWHY_E_USAGE, "--steps takes 1 to %d", KWHY_FLOW_STEPS_MOST);
	if (strcmp(options->path, "fixed") != 0 && strcmp(options->path, "argmax") != 0)
		return kwhy_fail(
			error, KWHY_E_USAGE, "--path takes fixed or argmax, not '%.40s'", options->path);
	if (strcmp(options->collectives, "own") != 0 && strcmp(options->collectives, "nccl") != 0)
		return kwhy_fail(error, KWHY_E_USAGE, "--collectives takes own or nccl, not '%.40s'",
			options->collectives);
	return kwhy_bench_runs_check(&options->runs, error);
}

static enum kwhy_status find_precision(
	const char *word, enum kwhy_flow_precision *out, struct kwhy_error *error)
{
	for (size_t p = 0; p < KWHY_FLOW_PRECISION_COUNT; p++)
		if (strcmp(word, kwhy_flow_precision_name((enum kwhy_flow_precision)p)) == 0) {
			*out = (enum kwhy_flow_precision)p;
			return KWHY_OK;
		}
	return kwhy_fail(error, KWHY_E_USAGE, "--precision takes fp32, tf32 or bf16, not '%.40s'", word);
}

static enum kwhy_status make_request(
	const struct flow_options *options, struct kwhy_bench_flow_request *out, struct kwhy_error *error)
{
	enum kwhy_gpu_backend backend = KWHY_GPU_CUDA;
	enum kwhy_flow_precision precision = KWHY_FLOW_TF32;
	enum kwhy_status status = check_counts(options, error);

	if (!status)
		status = kwhy_backend_read(options->backend, &backend, error);
	if (!status)
		status = find_precision(options->precision, &precision, error);
	if (status)
		return status;
	*out = (struct kwhy_bench_flow_request){.backend = backend,
		.device = options->device,
		.variants = options->variants,
		.flows = options->flows,
		.steps = (uint32_t)options->steps,
		.by_argmax = strcmp(options->path, "argmax") == 0,
		.precision = precision,
		.by_nccl = strcmp(options->collectives, "nccl") == 0,
		.repeat = (uint32_t)options->runs.repeat,
		.energy_s = kwhy_bench_energy_s(options->runs.seconds, backend, KWHY_BENCH_ENERGY_S),
		.peaks = backend != KWHY_GPU_HOST && !options->runs_only,
		.runs_only = options->runs_only,
		.components = options->components};
	return KWHY_OK;
}

static enum kwhy_status write_result(const struct flow_options *options, enum kwhy_output_form form,
	const struct kwhy_bench_flow *bench, struct kwhy_error *error)
{
	const struct kwhy_text_style style = {.columns = kwhy_bench_columns(&options->output)};
	struct kwhy_text text = {0}, table = {0};

	if (form == KWHY_OUTPUT_JSON)
		kwhy_bench_flow_json(bench, &text);
	else
		kwhy_bench_flow_text(bench, &style, &text);
	if (options->output.csv)
		kwhy_bench_flow_csv(bench, &table);
	return kwhy_bench_write(&options->output, "flow", form, &text, &table, error);
}

static bool is_wrong(const struct kwhy_bench_flow *bench)
{
	for (size_t i = 0; i < bench->row_count; i++)
		if (bench->rows[i].wrong)
			return true;
	return bench->ended || !kwhy_bench_flow_has_run(bench);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct flow_options *options = invocation->options;
	struct kwhy_bench_flow_request request;
	struct kwhy_bench_flow *bench;
	enum kwhy_output_form form;
	enum kwhy_status status = kwhy_bench_form_find("flow", &options->output, "the steps", &form, error);

	if (!status)
		status = make_request(options, &request, error);
	if (status)
		return status;
	kwhy_stop_watch(options->output.quiet);
	request.context = kwhy_progress_begin(options->output.quiet);
	request.progress = kwhy_bench_tell;
	status = kwhy_bench_flow(&request, &bench, error);
	kwhy_progress_end(request.context);
	if (status)
		return status;
	status = write_result(options, form, bench, error);
	if (!status && is_wrong(bench))
		*invocation->exit = KWHY_EXIT_FAILED;
	kwhy_bench_flow_free(bench);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"backend", 0, "NAME", "cuda, hip or host; default cuda", KWHY_OPTION_TEXT,
		offsetof(struct flow_options, backend)},
	{"device", 0, "GPU", "by number or PCI address; default 0; n6 takes several", KWHY_OPTION_TEXT,
		offsetof(struct flow_options, device)},
	{"variant", 0, "LIST", "of n0, n0c, n0p, n0t, n1 to n5, n2t, n5w, n6 and cpu; default all",
		KWHY_OPTION_TEXT, offsetof(struct flow_options, variants)},
	{"flows", 0, "LIST", "numbers of flows, 1 to 100000; default 1000", KWHY_OPTION_TEXT,
		offsetof(struct flow_options, flows)},
	{"steps", 0, "N", "of a run, 1 to 4000; default 60", KWHY_OPTION_COUNT,
		offsetof(struct flow_options, steps)},
	{"path", 0, "KIND", "fixed (default), or argmax: flows choose by what they carry", KWHY_OPTION_TEXT,
		offsetof(struct flow_options, path)},
	{"precision", 0, "NAME", "of cuBLAS: fp32, tf32 (default) or bf16; n4 and n5w have bf16",
		KWHY_OPTION_TEXT, offsetof(struct flow_options, precision)},
	{"collectives", 0, "NAME", "of n6: own copies (default), or nccl where it is installed",
		KWHY_OPTION_TEXT, offsetof(struct flow_options, collectives)},
	KWHY_OPTION_ROWS_BENCH_RUNS(struct flow_options, runs),
	{"components", 0, NULL,
		"also what neuron, carrier, memory operations and text bridge take, each alone",
		KWHY_OPTION_FLAG, offsetof(struct flow_options, components)},
	{"runs-only", 0, NULL, "nothing beside the runs: no peaks, numbers or busy share", KWHY_OPTION_FLAG,
		offsetof(struct flow_options, runs_only)},
	KWHY_OPTION_ROWS_BENCH_OUTPUT(
		struct flow_options, output, "the time of every step of the first 64 runs of each"),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command lab_command_flow = {
	.name = "flow",
	.operands = "",
	.summary = "Run a workload of few active places in a large lattice in every variant.",
	.options = options_table,
	.options_bytes = sizeof(struct flow_options),
	.defaults = set_defaults,
	.run = run,
};
