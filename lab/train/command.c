/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "lab/lab.h"
#include "lab/train/bench.h"
#include "lab/train/show.h"
#include "launch/stop.h"

#include <stddef.h>

enum { CHECK_WIDTH = 512, HOST_WIDTH = 128, HOST_STEPS = 8 };

struct train_options {
	const char *backend, *device, *variants;
	uint64_t width, layers, batch, parts, dp, pp, samples, steps, check_width;
	struct kwhy_bench_runs runs;
	struct kwhy_bench_output output;
};

static void set_defaults(void *options)
{
	struct train_options *train = options;

	*train = (struct train_options){.backend = "cuda",
		.width = KWHY_COUNT_NOT_GIVEN,
		.dp = KWHY_COUNT_NOT_GIVEN,
		.pp = KWHY_COUNT_NOT_GIVEN,
		.samples = KWHY_COUNT_NOT_GIVEN,
		.steps = KWHY_COUNT_NOT_GIVEN,
		.layers = KWHY_TRAIN_LAYERS,
		.batch = KWHY_TRAIN_BATCH,
		.parts = KWHY_TRAIN_PARTS,
		.check_width = CHECK_WIDTH,
		.runs = KWHY_BENCH_RUNS_DEFAULT};
}

/* What is left open is as the guide has it; on the host, which is there to try it out, small. */
static void fill_in(struct train_options *options, bool on_host)
{
	if (options->width == KWHY_COUNT_NOT_GIVEN)
		options->width = on_host ? HOST_WIDTH : KWHY_TRAIN_WIDTH;
	if (options->steps == KWHY_COUNT_NOT_GIVEN)
		options->steps = on_host ? HOST_STEPS : KWHY_TRAIN_STEPS;
	if (options->samples == KWHY_COUNT_NOT_GIVEN)
		options->samples = (KWHY_TRAIN_SAMPLES + options->batch - 1) / options->batch *
			options->batch;
}

static enum kwhy_status check_counts(const struct train_options *options, struct kwhy_error *error)
{
	if (options->width > KWHY_TRAIN_WIDTH_MOST || options->width < 32 || options->width % 32)
		return kwhy_fail(error, KWHY_E_USAGE, "--width takes a multiple of 32, up to %d",
			KWHY_TRAIN_WIDTH_MOST);
	if (options->layers < 1 || options->layers > KWHY_TRAIN_LAYERS_MOST)
		return kwhy_fail(error, KWHY_E_USAGE, "--layers takes 1 to %d", KWHY_TRAIN_LAYERS_MOST);
	if (options->steps < 1 || options->steps > KWHY_TRAIN_STEPS_MOST)
		return kwhy_fail(error, KWHY_E_USAGE, "--steps takes 1 to %d", KWHY_TRAIN_STEPS_MOST);
	if (options->samples < 1 || options->samples > UINT32_MAX || options->samples % options->batch)
		return kwhy_fail(error, KWHY_E_USAGE, "--samples takes a multiple of --batch");
	if (options->check_width % 32 || options->check_width > KWHY_TRAIN_WIDTH_MOST)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--check-width takes a multiple of 32, up to %d, or 0 for no check",
			KWHY_TRAIN_WIDTH_MOST);
	return kwhy_bench_runs_check(&options->runs, error);
}

static enum kwhy_status check_batch(const struct train_options *options, struct kwhy_error *error)
{
	if (options->parts < 1 || options->parts > KWHY_TRAIN_BATCH_MOST || options->batch < 8 ||
		options->batch > KWHY_TRAIN_BATCH_MOST || options->batch % (8 * options->parts))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--batch takes up to %d samples, a multiple of 8 times --parts",
			KWHY_TRAIN_BATCH_MOST);
	return KWHY_OK;
}

static bool is_too_few_or_many(uint64_t gpus)
{
	return gpus != KWHY_COUNT_NOT_GIVEN && (gpus < 1 || gpus > KWHY_TRAIN_RANKS_MOST);
}

/* As many as --dp or --pp says: those of --device, or the first. */
static enum kwhy_status find_devices(
	const struct train_options *options, const char **out, struct kwhy_error *error)
{
	static const char *const firsts[KWHY_TRAIN_RANKS_MOST] = {"0", "0,1", "0,1,2", "0,1,2,3", "0,1,2,3,4",
		"0,1,2,3,4,5", "0,1,2,3,4,5,6", "0,1,2,3,4,5,6,7"};
	uint64_t count = options->dp == KWHY_COUNT_NOT_GIVEN ? options->pp : options->dp, named = 1;

	*out = options->device;
	if (is_too_few_or_many(options->dp) || is_too_few_or_many(options->pp))
		return kwhy_fail(
			error, KWHY_E_USAGE, "--dp and --pp take 1 to %d GPUs", KWHY_TRAIN_RANKS_MOST);
	if (count == KWHY_COUNT_NOT_GIVEN)
		return KWHY_OK;
	if (options->pp != KWHY_COUNT_NOT_GIVEN && options->pp != count)
		return kwhy_fail(error, KWHY_E_USAGE, "--dp and --pp take the same GPUs; give one number");
	for (const char *at = options->device; at && *at; at++)
		named += *at == ',';
	if (options->device && count != named)
		return kwhy_fail(error, KWHY_E_USAGE, "--dp or --pp %u takes as many GPUs; --device names %u",
			(unsigned)count, (unsigned)named);
	if (!options->device)
		*out = firsts[count - 1];
	return KWHY_OK;
}

static enum kwhy_status make_request(
	const struct train_options *given, struct kwhy_bench_train_request *out, struct kwhy_error *error)
{
	struct train_options options = *given;
	enum kwhy_gpu_backend backend;
	enum kwhy_status status = kwhy_backend_read(options.backend, &backend, error);

	if (status)
		return status;
	status = find_devices(given, &options.device, error);
	if (!status)
		status = check_batch(&options, error);
	if (!status)
		fill_in(&options, backend == KWHY_GPU_HOST);
	if (!status)
		status = check_counts(&options, error);
	if (status)
		return status;
	*out = (struct kwhy_bench_train_request){.backend = backend,
		.devices = options.device,
		.variants = options.variants,
		.shape = {(uint32_t)options.width, (uint32_t)options.layers, (uint32_t)options.batch,
			(uint32_t)options.parts, (uint32_t)options.samples, (uint32_t)options.steps},
		.check_width = (uint32_t)options.check_width,
		.repeat = (uint32_t)options.runs.repeat,
		.energy_s = kwhy_bench_energy_s(options.runs.seconds, backend, KWHY_BENCH_ENERGY_S)};
	return KWHY_OK;
}

static enum kwhy_status write_result(const struct train_options *options, enum kwhy_output_form form,
	const struct kwhy_bench_train *bench, struct kwhy_error *error)
{
	const struct kwhy_text_style style = {.columns = kwhy_bench_columns(&options->output)};
	struct kwhy_text text = {0}, table = {0};

	if (form == KWHY_OUTPUT_JSON)
		kwhy_bench_train_json(bench, &text);
	else
		kwhy_bench_train_text(bench, &style, &text);
	if (options->output.csv)
		kwhy_bench_train_csv(bench, &table);
	return kwhy_bench_write(&options->output, "train", form, &text, &table, error);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct train_options *options = invocation->options;
	struct kwhy_bench_train_request request;
	struct kwhy_bench_train *bench;
	enum kwhy_output_form form;
	enum kwhy_status status = kwhy_bench_form_find("train", &options->output, "the losses", &form, error);

	if (!status)
		status = make_request(options, &request, error);
	if (status)
		return status;
	kwhy_stop_watch(options->output.quiet);
	request.context = kwhy_progress_begin(options->output.quiet);
	request.progress = kwhy_bench_tell;
	status = kwhy_bench_train(&request, &bench, error);
	kwhy_progress_end(request.context);
	if (status)
		return status;
	status = write_result(options, form, bench, error);
	if (!status && (bench->ended || bench->is_wrong || !kwhy_bench_train_has_run(bench)))
		*invocation->exit = KWHY_EXIT_FAILED;
	kwhy_bench_train_free(bench);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"backend", 0, "NAME", "cuda, hip or host; default cuda", KWHY_OPTION_TEXT,
		offsetof(struct train_options, backend)},
	{"device", 0, "LIST", "GPUs by number or PCI address, with commas between; default 0",
		KWHY_OPTION_TEXT, offsetof(struct train_options, device)},
	{"dp", 0, "N", "GPUs of 'parallel', which share the batch; default those of --device",
		KWHY_OPTION_COUNT, offsetof(struct train_options, dp)},
	{"pp", 0, "N", "GPUs of 'pipeline', which share the layers; default those of --device",
		KWHY_OPTION_COUNT, offsetof(struct train_options, pp)},
	{"variant", 0, "LIST",
		"of fp32, bf16, queued, cublas, fused, graph, checkpoint, accumulate, pipeline and "
		"parallel; default all",
		KWHY_OPTION_TEXT, offsetof(struct train_options, variants)},
	{"width", 0, "N", "features of a layer; default 4096, on the host 128", KWHY_OPTION_COUNT,
		offsetof(struct train_options, width)},
	{"layers", 0, "N", "default 2", KWHY_OPTION_COUNT, offsetof(struct train_options, layers)},
	{"batch", 0, "N", "samples a step; default 64", KWHY_OPTION_COUNT,
		offsetof(struct train_options, batch)},
	{"parts", 0, "N", "of a batch in 'accumulate' and 'pipeline'; default 4", KWHY_OPTION_COUNT,
		offsetof(struct train_options, parts)},
	{"samples", 0, "N", "that are gone over; default 2048", KWHY_OPTION_COUNT,
		offsetof(struct train_options, samples)},
	{"steps", 0, "N", "of a run; default 96, on the host 8", KWHY_OPTION_COUNT,
		offsetof(struct train_options, steps)},
	{"check-width", 0, "N", "of what is held against the reference; default 512, 0: nothing is",
		KWHY_OPTION_COUNT, offsetof(struct train_options, check_width)},
	KWHY_OPTION_ROWS_BENCH_RUNS(struct train_options, runs),
	KWHY_OPTION_ROWS_BENCH_OUTPUT(
		struct train_options, output, "loss against time and energy, of every step and variant"),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command lab_command_train = {
	.name = "train",
	.operands = "",
	.summary = "Train a perceptron in every variant; time and energy a step, loss against energy.",
	.options = options_table,
	.options_bytes = sizeof(struct train_options),
	.defaults = set_defaults,
	.run = run,
};
