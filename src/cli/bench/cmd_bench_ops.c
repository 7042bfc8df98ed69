/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/ops/ops.h"
#include "cli/bench/ops_show.h"
#include "cli/bench/options.h"
#include "cli/bench/profile_part.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "launch/stop.h"

#include <math.h>
#include <stddef.h>

#define SECONDS 3.0
#define HOST_SECONDS 0.2

enum { MEMORY_MIB = 1024, HOST_MEMORY_MIB = 16 };

struct ops_options {
	const char *backend, *device, *only, *profile;
	uint64_t memory_mib, seed;
	double seconds;
	bool no_energy;
	struct kwhy_bench_output output;
};

static void set_defaults(void *options)
{
	struct ops_options *ops = options;

	ops->backend = "cuda";
	ops->seconds = NAN;
	ops->seed = 1;
	ops->memory_mib = KWHY_COUNT_NOT_GIVEN;
}

static enum kwhy_status make_request(
	const struct ops_options *options, struct kwhy_bench_ops_request *out, struct kwhy_error *error)
{
	enum kwhy_gpu_backend backend = KWHY_GPU_CUDA;
	enum kwhy_status status = kwhy_backend_read(options->backend, &backend, error);
	bool is_host = backend == KWHY_GPU_HOST;
	uint64_t mib = options->memory_mib;
	double seconds = isnan(options->seconds) ? is_host ? HOST_SECONDS : SECONDS : options->seconds;

	if (status)
		return status;
	if (!(seconds > 0 && seconds <= 600))
		return kwhy_fail(error, KWHY_E_USAGE, "--seconds takes more than 0 and at most 600 seconds");
	if (mib == KWHY_COUNT_NOT_GIVEN)
		mib = is_host ? HOST_MEMORY_MIB : MEMORY_MIB;
	if (mib < 1 || mib > 1 << 16)
		return kwhy_fail(error, KWHY_E_USAGE, "--memory takes 1 to 65536 MiB");
	*out = (struct kwhy_bench_ops_request){.backend = backend,
		.devices = options->device,
		.rows = options->only,
		.seconds = seconds,
		.memory_bytes = mib << 20,
		.energy = !options->no_energy && !is_host,
		.seed = (uint32_t)options->seed};
	return KWHY_OK;
}

static enum kwhy_status write_result(const struct ops_options *options, enum kwhy_output_form form,
	const struct kwhy_bench_ops *bench, struct kwhy_error *error)
{
	const struct kwhy_text_style style = {.columns = kwhy_bench_columns(&options->output)};
	struct kwhy_text text = {0}, table = {0};

	if (form == KWHY_OUTPUT_JSON)
		kwhy_bench_ops_json(bench, &text);
	else
		kwhy_bench_ops_text(bench, &style, &text);
	if (options->output.csv)
		kwhy_bench_ops_csv(bench, &table);
	return kwhy_bench_write(&options->output, "ops", form, &text, &table, error);
}

static enum kwhy_status update_profile(
	const char *path, const struct kwhy_bench_ops *bench, struct kwhy_error *error)
{
	struct kwhy_text part = {0};
	enum kwhy_status status;

	kwhy_bench_ops_json(bench, &part);
	status = kwhy_profile_part_put(path, bench->gpus[0].name, "operations", &part, error);
	kwhy_text_done(&part);
	return status;
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct ops_options *options = invocation->options;
	struct kwhy_bench_ops_request request;
	struct kwhy_bench_ops *bench;
	enum kwhy_output_form form;
	enum kwhy_status status = kwhy_bench_form_find(
		"bench ops", &options->output, "a table", &form, error);

	if (!status)
		status = make_request(options, &request, error);
	if (!status)
		status = kwhy_bench_profile_check(options->profile, error);
	if (status)
		return status;
	kwhy_stop_watch(options->output.quiet);
	request.context = kwhy_progress_begin(options->output.quiet);
	request.progress = kwhy_bench_tell;
	status = kwhy_bench_ops(&request, &bench, error);
	kwhy_progress_end(request.context);
	if (status)
		return status;
	status = write_result(options, form, bench, error);
	if (!status && options->profile)
		status = update_profile(options->profile, bench, error);
	if (!status && (bench->ended || !kwhy_bench_ops_has_run(bench)))
		*invocation->exit = KWHY_EXIT_FAILED;
	kwhy_bench_ops_free(bench);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"backend", 0, "NAME", "cuda, hip or host; default cuda", KWHY_OPTION_TEXT,
		offsetof(struct ops_options, backend)},
	{"device", 0, "LIST", "GPUs by number or PCI address; two for peer copies, too; default 0",
		KWHY_OPTION_TEXT, offsetof(struct ops_options, device)},
	{"only", 0, "LIST", "operations or classes, with commas between; default all", KWHY_OPTION_TEXT,
		offsetof(struct ops_options, only)},
	{"seconds", 0, "S", "of each operation; default 3, on the host 0.2", KWHY_OPTION_NUMBER,
		offsetof(struct ops_options, seconds)},
	{"memory", 0, "MIB", "of each large buffer; default 1024, on the host 16", KWHY_OPTION_COUNT,
		offsetof(struct ops_options, memory_mib)},
	{"no-energy", 0, NULL, "rates alone", KWHY_OPTION_FLAG, offsetof(struct ops_options, no_energy)},
	{"seed", 0, "N", "of the random data; default 1", KWHY_OPTION_COUNT,
		offsetof(struct ops_options, seed)},
	{"update-profile", 0, "FILE", "also put the figures into that machine profile", KWHY_OPTION_TEXT,
		offsetof(struct ops_options, profile)},
	KWHY_OPTION_ROWS_BENCH_OUTPUT(struct ops_options, output, "a line an operation"),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_bench_ops = {
	.name = "bench ops",
	.operands = "",
	.summary = "Run single kinds of operation for a fixed time each: rates, and joules of each.",
	.details = "compute:     fp64 fp32 fp16 int32 int8 and -tensor: fp64 tf32 bf16 fp16 fp8 int8\n"
		   "memory:      memory-read memory-write memory-copy cache-read\n"
		   "small:       h2d-small d2h-small launch -queued: h2d d2h launch; graph-kernel\n"
		   "large:       h2d-large d2h-large peer\n"
		   "mixed, collectives: mixed collective",
	.options = options_table,
	.options_bytes = sizeof(struct ops_options),
	.defaults = set_defaults,
	.run = run,
};
