/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "lab/decode/bench.h"
#include "lab/decode/show.h"
#include "lab/lab.h"
#include "launch/stop.h"

#include <stddef.h>
#include <string.h>

#define ENERGY_S 8.0

enum { PROMPT = 128, TOKENS = 128 };

struct decode_options {
	const char *backend, *device, *shape, *weights, *batches, *launches, *ranks, *pages, *caches,
		*products;
	uint64_t prompt, tokens, repeat, top_k, seed, beams;
	double seconds, temperature, top_p, arrivals;
	struct kwhy_bench_output output;
};

static void set_defaults(void *options)
{
	struct decode_options *decode = options;

	*decode = (struct decode_options){.backend = "cuda",
		.weights = "bf16",
		.launches = "graph",
		.ranks = "1",
		.pages = "0",
		.caches = "auto",
		.products = "best",
		.prompt = PROMPT,
		.tokens = TOKENS,
		.repeat = KWHY_BENCH_REPEAT,
		.seed = 1,
		.beams = 1,
		.top_p = 1,
		.seconds = NAN};
}

/* What is left open is a model's; on the host, which is there to try it out, small. */
static void fill_in(struct decode_options *options)
{
	const bool on_host = strcmp(options->backend, "host") == 0;

	if (!options->shape)
		options->shape = on_host ? "small" : "opt-125m";
	if (!options->batches)
		options->batches = on_host ? "1,8" : "1,8,64,256";
}

static enum kwhy_status check_choice(const struct decode_options *options, struct kwhy_error *error)
{
	if (!(options->temperature >= 0) || options->temperature > 100)
		return kwhy_fail(
			error, KWHY_E_USAGE, "--temperature takes 0 to 100; 0: the likeliest token, always");
	if (!(options->top_p > 0) || options->top_p > 1)
		return kwhy_fail(error, KWHY_E_USAGE, "--top-p takes a share above 0, 1 at most");
	if (options->top_k > UINT32_MAX || options->seed > UINT32_MAX)
		return kwhy_fail(error, KWHY_E_USAGE, "--top-k and --seed take at most %u", UINT32_MAX);
	if ((options->top_k || options->top_p < 1) && options->temperature == 0)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--top-k and --top-p are of tokens that are drawn; give --temperature, such as 1, "
			"too");
	return KWHY_OK;
}

/* What `kwhy model scale` takes is of one thing on more and more GPUs. */
static enum kwhy_status check_table(const struct decode_options *options, struct kwhy_error *error)
{
	if (options->output.csv &&
		(strchr(options->weights, ',') || strchr(options->batches, ',') ||
			strchr(options->launches, ',') || strchr(options->pages, ',') ||
			strchr(options->caches, ',')))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--csv is of one kind of weights, one batch, one launch, one page and one cache, by "
			"numbers of GPUs; name one each and --tp 1,2");
	return KWHY_OK;
}

static enum kwhy_status make_request(
	const struct decode_options *options, struct kwhy_bench_decode_request *out, struct kwhy_error *error)
{
	enum kwhy_gpu_backend backend = KWHY_GPU_CUDA;
	enum kwhy_status status = kwhy_backend_read(options->backend, &backend, error);

	if (status)
		return status;
	*out = (struct kwhy_bench_decode_request){.backend = backend,
		.devices = options->device,
		.shape = options->shape,
		.weights = options->weights,
		.batches = options->batches,
		.launches = options->launches,
		.ranks = options->ranks,
		.pages = options->pages,
		.caches = options->caches,
		.products = options->products,
		.prompt = (uint32_t)options->prompt,
		.tokens = (uint32_t)options->tokens,
		.repeat = (uint32_t)options->repeat,
		.choice = {(float)options->temperature, (float)options->top_p, (uint32_t)options->top_k,
			(uint32_t)options->seed},
		.beams = (uint32_t)options->beams,
		.energy_s = kwhy_bench_energy_s(options->seconds, backend, ENERGY_S),
		.arrivals_per_s = options->arrivals};
	if (options->beams < 1 || options->beams > KWHY_DECODE_BEAMS_MOST)
		return kwhy_fail(error, KWHY_E_USAGE, "--beam takes 1 to %d ways on of a sequence",
			KWHY_DECODE_BEAMS_MOST);
	if (options->prompt > 65536 || options->tokens > 65536)
		return kwhy_fail(error, KWHY_E_USAGE, "--prompt and --tokens take at most 65536");
	if (options->repeat < 1 || options->repeat > 1000)
		return kwhy_fail(error, KWHY_E_USAGE, "--repeat takes 1 to 1000 runs");
	if (!(options->arrivals >= 0) || options->arrivals > 1e6)
		return kwhy_fail(
			error, KWHY_E_USAGE, "--arrivals takes up to 1e6 sequences a second; 0: none");
	if (options->seconds < 0 || options->seconds > 600)
		return kwhy_fail(error, KWHY_E_USAGE, "--seconds takes 0 to 600 seconds a phase");
	return KWHY_OK;
}

static enum kwhy_status write_result(const struct decode_options *options, enum kwhy_output_form form,
	const struct kwhy_bench_decode *bench, struct kwhy_error *error)
{
	const struct kwhy_text_style style = {.columns = kwhy_bench_columns(&options->output)};
	struct kwhy_text text = {0}, table = {0};

	if (form == KWHY_OUTPUT_JSON)
		kwhy_bench_decode_json(bench, &text);
	else
		kwhy_bench_decode_text(bench, &style, &text);
	if (options->output.csv)
		kwhy_bench_decode_csv(bench, &table);
	return kwhy_bench_write(&options->output, "decode", form, &text, &table, error);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	struct decode_options filled = *(const struct decode_options *)invocation->options;
	const struct decode_options *options = &filled;
	struct kwhy_bench_decode_request request;
	struct kwhy_bench_decode *bench;
	enum kwhy_output_form form;
	enum kwhy_status status = kwhy_bench_form_find(
		"decode", &options->output, "tokens/s by number of GPUs", &form, error);

	fill_in(&filled);
	if (!status)
		status = check_table(options, error);
	if (!status)
		status = check_choice(options, error);
	if (!status)
		status = make_request(options, &request, error);
	if (status)
		return status;
	kwhy_stop_watch(options->output.quiet);
	request.context = kwhy_progress_begin(options->output.quiet);
	request.progress = kwhy_bench_tell;
	status = kwhy_bench_decode(&request, &bench, error);
	kwhy_progress_end(request.context);
	if (status)
		return status;
	status = write_result(options, form, bench, error);
	if (!status && (bench->ended || !kwhy_bench_decode_has_run(bench)))
		*invocation->exit = KWHY_EXIT_FAILED;
	kwhy_bench_decode_free(bench);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"backend", 0, "NAME", "cuda or host; default cuda", KWHY_OPTION_TEXT,
		offsetof(struct decode_options, backend)},
	{"device", 0, "LIST", "GPUs by number or PCI address; default the first ones", KWHY_OPTION_TEXT,
		offsetof(struct decode_options, device)},
	{"shape", 0, "NAME", "opt-125m (default), opt-1.3b or small (on the host)", KWHY_OPTION_TEXT,
		offsetof(struct decode_options, shape)},
	{"weights", 0, "LIST", "of fp32, tf32, bf16, fp16, fp8, int8, int4, fp16-2:4; default bf16",
		KWHY_OPTION_TEXT, offsetof(struct decode_options, weights)},
	{"batch", 0, "LIST", "sequences at once, 1 to 1024; default 1,8,64,256, on the host 1,8",
		KWHY_OPTION_TEXT, offsetof(struct decode_options, batches)},
	{"launch", 0, "LIST", "of calls, graph (default), early, and device: all tokens at once",
		KWHY_OPTION_TEXT, offsetof(struct decode_options, launches)},
	{"tp", 0, "LIST", "GPUs that share the decoder, such as 1,2; default 1", KWHY_OPTION_TEXT,
		offsetof(struct decode_options, ranks)},
	{"page", 0, "LIST", "keys and values in pages of so many tokens, 64 or more; default 0: none",
		KWHY_OPTION_TEXT, offsetof(struct decode_options, pages)},
	{"cache", 0, "LIST", "keys and values kept as auto (default: as activations are) or fp8",
		KWHY_OPTION_TEXT, offsetof(struct decode_options, caches)},
	{"products", 0, "WHO", "who multiplies many tokens: best (default), own kernels, or cublaslt",
		KWHY_OPTION_TEXT, offsetof(struct decode_options, products)},
	{"prompt", 0, "N", "tokens that each sequence reads; default 128", KWHY_OPTION_COUNT,
		offsetof(struct decode_options, prompt)},
	{"tokens", 0, "N", "tokens that it writes; default 128", KWHY_OPTION_COUNT,
		offsetof(struct decode_options, tokens)},
	{"temperature", 0, "T", "tokens are drawn, logits divided by it; default 0: the likeliest",
		KWHY_OPTION_NUMBER, offsetof(struct decode_options, temperature)},
	{"top-k", 0, "N", "of the likeliest N alone; default 0: of all", KWHY_OPTION_COUNT,
		offsetof(struct decode_options, top_k)},
	{"top-p", 0, "P", "of as few as have this share of the probability; default 1", KWHY_OPTION_NUMBER,
		offsetof(struct decode_options, top_p)},
	{"seed", 0, "N", "of the draws; default 1", KWHY_OPTION_COUNT, offsetof(struct decode_options, seed)},
	{"beam", 0, "N", "keep the likeliest N ways on of each sequence, 8 at most; default 1: one",
		KWHY_OPTION_COUNT, offsetof(struct decode_options, beams)},
	{"arrivals", 0, "RATE", "serve sequences that arrive at random, so many a second; default 0: none",
		KWHY_OPTION_NUMBER, offsetof(struct decode_options, arrivals)},
	{"repeat", 0, "N", "timed runs of each phase, at least; default 5", KWHY_OPTION_COUNT,
		offsetof(struct decode_options, repeat)},
	{"seconds", 0, "S", "of repeated runs for a phase's energy; default 8 on a GPU, 0: none",
		KWHY_OPTION_NUMBER, offsetof(struct decode_options, seconds)},
	KWHY_OPTION_ROWS_BENCH_OUTPUT(struct decode_options, output,
		"write tokens/s and watts by number of GPUs there, for model scale"),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command lab_command_decode = {
	.name = "decode",
	.operands = "",
	.summary = "Run a decoder of a language model's shape; time and energy of a token.",
	.options = options_table,
	.options_bytes = sizeof(struct decode_options),
	.defaults = set_defaults,
	.run = run,
};
