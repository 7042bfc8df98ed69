/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/workload.h"
#include "cli/bench/workload_show.h"
#include "lab/decode/decode.h"
#include "lab/next.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPT = 128, TOKENS = 128, SEQUENCES_MAX = 100000 };

struct options {
	struct lab_options shared;
	const char *shape, *weights, *batch, *launching, *tp, *dp;
	uint64_t prompt, tokens, top_k, seed;
	double temperature, top_p, arrivals;
};

struct facts {
	struct lab_decode_facts of;
	struct lab_decode_error error;
	struct lab_decode_served together, continuous;
};

/* Data of the benchmark. */
struct context {
	const struct lab_decode_shape *shape;
	/*
	 * [0]: answer for all weights; [1]: answer for pruned weights; an answer that no row needs has the
	 * shape NULL
	 */
	struct lab_decode_answer answers[2];
};

/*
 * The phases of a row in their order: writing tokens; reading prompts; serving arriving sequences in whole
 * batches (TOGETHER); serving them with continuous batching. The last two exist only with --arrivals.
 */
enum phase { WRITING, READING, TOGETHER, CONTINUOUS, PHASES };

/* A row of the benchmark while it is measured, with its decoder. */
struct opened {
	const struct lab_bench *bench;
	const struct lab_row *row;
	struct lab_decode *decode;
};

static const struct options *options_of(const struct lab_bench *bench)
{
	return (const struct options *)bench->options;
}

static const struct context *context_of(const struct lab_bench *bench)
{
	return bench->context;
}

/* The variant of a row: its request, without the GPUs. */
static const struct lab_decode_request *request_of(const struct lab_row *row)
{
	return row->variant;
}

static bool is_pruned(const struct lab_row *row)
{
	return request_of(row)->weights == LAB_DECODE_SPARSE;
}

/* --- Options --- */

static void set_defaults(void *options)
{
	*(struct options *)options = (struct options){.shared = LAB_OPTIONS_DEFAULT(&lab_decode),
		.prompt = PROMPT,
		.tokens = TOKENS,
		.seed = 1,
		.top_p = 1};
}

/*
 * Name of the shape: that of --shape; by default "opt-125m", but "small" on the host back end, which is only
 * there to try the command without a GPU.
 */
static const char *shape_name(const struct lab_bench *bench)
{
	const char *name = options_of(bench)->shape;

	return name ? name : bench->backend == KWHY_GPU_HOST ? "small" : "opt-125m";
}

static enum kwhy_status check_choice(const struct options *options, struct kwhy_error *error)
{
	if (!(options->temperature >= 0) || options->temperature > 100)
		return kwhy_fail(
			error, KWHY_E_USAGE, "--temperature takes 0 to 100; 0: the likeliest token, always");
	if (!(options->top_p > 0) || options->top_p > 1)
		return kwhy_fail(error, KWHY_E_USAGE, "--top-p takes a share above 0, 1 at most");
	if ((options->top_k || options->top_p < 1) && options->temperature == 0)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--top-k and --top-p are of tokens that are drawn; give --temperature, such as 1, "
			"too");
	if (!(options->arrivals >= 0))
		return kwhy_fail(error, KWHY_E_USAGE, "--arrivals takes sequences a second, such as 100");
	return KWHY_OK;
}

static enum kwhy_status read_options(
	const struct lab_bench *bench, struct context *context, struct kwhy_error *error)
{
	static const struct lab_bounds bounds[] = {{"prompt", offsetof(struct options, prompt), 2, 2046},
		{"tokens", offsetof(struct options, tokens), 2, 2046},
		{"top-k", offsetof(struct options, top_k), 0, UINT32_MAX},
		{"seed", offsetof(struct options, seed), 0, UINT32_MAX}};
	const struct options *options = options_of(bench);
	const char *names[LAB_DECODE_SHAPE_COUNT];
	size_t shape = 0;
	enum kwhy_status status = lab_bounds_check(options, bounds, 4, error);

	for (size_t i = 0; i < LAB_DECODE_SHAPE_COUNT; i++)
		names[i] = lab_decode_shapes[i].name;
	NEXT(status, lab_word_find("shape", shape_name(bench), names, LAB_DECODE_SHAPE_COUNT, &shape, error));
	context->shape = &lab_decode_shapes[shape];
	if (!status && options->prompt + options->tokens > context->shape->positions)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--prompt and --tokens take together at most the %u positions of %s",
			context->shape->positions, context->shape->name);
	return status ? status : check_choice(options, error);
}

/* --- Rows --- */

static void add_phases(const struct options *options, struct lab_row *row)
{
	static const char *const names[PHASES] = {"writing", "reading", "together", "continuous"};
	const struct lab_decode_request *request = request_of(row);

	row->phase_count = 0;
	for (size_t i = 0; i < (options->arrivals > 0 ? PHASES : TOGETHER); i++)
		lab_phase_add(row, names[i],
			(double)request->batch * (i == READING ? request->prompt : request->tokens))
			->once = i >= TOGETHER;
}

static enum kwhy_status add_row(
	struct lab_bench *bench, const struct lab_decode_request *request, struct kwhy_error *error)
{
	struct lab_decode_request *own = kwhy_arena_alloc(&bench->arena, 1, sizeof(*own));
	char tp[16] = "", dp[16] = "";
	struct lab_row like = {.gpus = request->tp * request->dp,
			       .steps = request->tokens - 1,
			       .device_clock = true,
			       .variant = own},
		       *row;
	enum kwhy_status status;

	if (!own)
		return kwhy_fail_memory(error, "a row");
	*own = *request;
	if (own->launching == LAB_DECODE_LAUNCHING_COUNT)
		own->launching = own->tp > 1 ? LAB_DECODE_CALLS : LAB_DECODE_GRAPH;
	if (own->tp > 1)
		snprintf(tp, sizeof(tp), " tp%u", own->tp);
	if (own->dp > 1)
		snprintf(dp, sizeof(dp), " dp%u", own->dp);
	like.id = kwhy_arena_printf(&bench->arena, "%s b%u %s%s%s", lab_decode_weights_names[own->weights],
		own->batch, lab_decode_launching_names[own->launching], tp, dp);
	if (!like.id)
		return kwhy_fail_memory(error, "a row");
	status = lab_row_add(bench, &like, 1, &row, error);
	if (!status)
		add_phases(options_of(bench), row);
	return status;
}

/*
 * Options whose values are lists of words. There is one row for every combination of one word from each list.
 * A word is one of `names`, or, if that is NULL, a number from 1 to `most`.
 */
struct list {
	/*
	 * option: name of the option; usual: its default; on_host: its default on the host back end. If the
	 * default is NULL and the option is not given, the request keeps its value.
	 */
	const char *option, *usual, *on_host;
	/*
	 * words: offset of the option's text in struct options; place: offset of the uint32_t in struct
	 * lab_decode_request that is set to the index in `names` or to the number
	 */
	size_t words, place;
	const char *const *names;
	uint32_t most;
};

#define LIST(member) offsetof(struct options, member), offsetof(struct lab_decode_request, member)

static const struct list lists[] = {
	{"weights", "bf16", "bf16", LIST(weights), lab_decode_weights_names, LAB_DECODE_WEIGHTS_COUNT},
	{"batch", "1,8,64,256", "1,8", LIST(batch), NULL, LAB_DECODE_BATCH_MAX},
	{"launch", NULL, NULL, LIST(launching), lab_decode_launching_names, LAB_DECODE_LAUNCHING_COUNT},
	{"tp", "1", "1", LIST(tp), NULL, LAB_DECODE_GPUS_MAX},
	{"dp", "1", "1", LIST(dp), NULL, LAB_DECODE_GPUS_MAX},
};

static enum kwhy_status read_word(
	const struct list *list, const char *word, uint32_t *out, struct kwhy_error *error)
{
	size_t found = 0;
	char *end;
	unsigned long number = strtoul(word, &end, 10);
	enum kwhy_status status = KWHY_OK;

	if (list->names)
		status = lab_word_find(list->option, word, list->names, list->most, &found, error);
	else if (*word < '0' || *word > '9' || *end || number < 1 || number > list->most)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--%s takes numbers from 1 to %u, such as 1,2; not '%s'", list->option, list->most,
			word);
	*out = list->names ? (uint32_t)found : (uint32_t)number;
	return status;
}

/*
 * Adds a row for every combination of words of the lists from lists[depth] on; words of earlier lists are
 * already in the request.
 */
static enum kwhy_status add_rows(
	struct lab_bench *bench, size_t depth, struct lab_decode_request *request, struct kwhy_error *error)
{
	const struct list *list = &lists[depth];
	const char *words;
	char word[KWHY_LIST_WORD_BYTES];
	enum kwhy_status status = KWHY_OK;

	if (depth == sizeof(lists) / sizeof(lists[0]))
		return add_row(bench, request, error);
	memcpy(&words, (const char *)bench->options + list->words, sizeof(words));
	words = words ? words : bench->backend == KWHY_GPU_HOST ? list->on_host : list->usual;
	if (!words)
		return add_rows(bench, depth + 1, request, error);
	while (!status && kwhy_bench_list_next(&words, word)) {
		status = read_word(list, word, (uint32_t *)(void *)((char *)request + list->place), error);
		NEXT(status, add_rows(bench, depth + 1, request, error));
	}
	return status;
}

static enum kwhy_status plan(struct lab_bench *bench, struct kwhy_error *error)
{
	const struct options *options = options_of(bench);
	struct context *context = bench->context;
	enum kwhy_status status = read_options(bench, context, error);
	struct lab_decode_request request = {.shape = context->shape,
		.launching = LAB_DECODE_LAUNCHING_COUNT,
		.prompt = (uint32_t)options->prompt,
		.tokens = (uint32_t)options->tokens,
		.choice = {(float)options->temperature, (float)options->top_p, (uint32_t)options->top_k,
			(uint32_t)options->seed}};

	NEXT(status, add_rows(bench, 0, &request, error));
	if (!status && !bench->row_count)
		return kwhy_fail(error, KWHY_E_USAGE,
			"decode has nothing to run: --weights, --batch, --launch, --tp and --dp each name at "
			"least one");
	return status;
}

/* --- Before the rows --- */

static enum kwhy_status begin(struct lab_bench *bench, struct kwhy_error *error)
{
	struct context *context = bench->context;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && !bench->options->runs_only && i < bench->row_count; i++) {
		bool pruned = is_pruned(&bench->rows[i]);

		if (!context->answers[pruned].shape)
			status = lab_decode_answer_init(
				context->shape, pruned, &context->answers[pruned], error);
	}
	return status;
}

static void done(struct lab_bench *bench)
{
	struct context *context = bench->context;

	lab_decode_answer_done(&context->answers[false]);
	lab_decode_answer_done(&context->answers[true]);
}

/* --- A row --- */

static enum kwhy_status open_row(
	struct lab_bench *bench, struct lab_row *row, void *context, struct kwhy_error *error)
{
	struct lab_decode_request request = *request_of(row);
	struct opened *opened = context;

	request.gpus = bench->gpus.items;
	opened->bench = bench;
	opened->row = row;
	return lab_decode_open(&request, &opened->decode, error);
}

static enum kwhy_status check(
	struct lab_bench *bench, struct lab_row *row, void *opened, struct kwhy_error *error)
{
	enum lab_decode_weights weights = request_of(row)->weights;
	double most = lab_decode_kinds[weights].error_most;
	struct lab_decode_error *found = &((struct facts *)row->facts)->error;
	enum kwhy_status status = lab_decode_check(
		((struct opened *)opened)->decode, &context_of(bench)->answers[is_pruned(row)], found, error);

	if (status || found->relative <= most)
		return status;
	return kwhy_fail(error, KWHY_E_INPUT,
		"its logits are %.3g of their size from the reference, more than the %.3g of %s: its tokens "
		"are wrong",
		found->relative, most, lab_decode_weights_names[weights]);
}

static enum kwhy_status start(void *context, size_t phase, struct kwhy_error *error)
{
	return phase == WRITING ? lab_decode_prefill(((struct opened *)context)->decode, NULL, error)
				: KWHY_OK;
}

/*
 * Serves as many sequences as arrive on average, at the rate --arrivals, in the seconds of the
 * energy window (1 s if no energy is measured); at least two for each slot of the batch, but never
 * more than SEQUENCES_MAX.
 */
static enum kwhy_status serve(
	const struct opened *opened, bool continuous, struct lab_run *run, struct kwhy_error *error)
{
	uint32_t batch = request_of(opened->row)->batch;
	double seconds = opened->bench->energy_s > 0 ? opened->bench->energy_s : 1,
	       rate_per_s = options_of(opened->bench)->arrivals;
	const struct lab_decode_arrivals arrivals = {.rate_per_s = rate_per_s,
		.count = (uint32_t)fmax(fmin(rate_per_s * seconds, SEQUENCES_MAX), 2 * batch),
		.continuous = continuous};
	struct facts *facts = opened->row->facts;
	struct lab_decode_served *served = continuous ? &facts->continuous : &facts->together;
	enum kwhy_status status;

	if (request_of(opened->row)->dp > 1)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"sequences that arrive are served by one decoder; leave --dp out");
	status = lab_decode_serve(opened->decode, &arrivals, served, error);
	run->run_s = served->seconds;
	run->items = (double)served->tokens;
	return status;
}

static enum kwhy_status run(void *context, size_t phase, struct lab_run *run, struct kwhy_error *error)
{
	const struct opened *opened = context;
	enum kwhy_status status;

	if (phase >= TOGETHER)
		return serve(opened, phase == CONTINUOUS, run, error);
	if (phase == READING)
		return lab_decode_prefill(opened->decode, &run->run_s, error);
	status = lab_decode_write(opened->decode, &run->run_s, error);
	if (!status && run->step_s)
		status = lab_decode_steps(opened->decode, run->step_s, error);
	return status;
}

static enum kwhy_status finish(
	struct lab_bench *bench, struct lab_row *row, void *opened, struct kwhy_error *error)
{
	struct facts *facts = row->facts;

	lab_decode_facts(((struct opened *)opened)->decode, &facts->of);
	facts->of.products = kwhy_arena_copy(&bench->arena, facts->of.products);
	return facts->of.products ? KWHY_OK : kwhy_fail_memory(error, "who made the products");
}

static void close_row(void *context)
{
	lab_decode_close(((struct opened *)context)->decode);
}

/* --- What is shown --- */

static void describe(const struct lab_bench *bench, struct kwhy_text *out)
{
	const struct options *options = options_of(bench);

	kwhy_text_addf(out, "%s, %llu tokens read and %llu written by each sequence",
		context_of(bench)->shape->name, (unsigned long long)options->prompt,
		(unsigned long long)options->tokens);
}

static void write_head(const struct lab_bench *bench, struct kwhy_json *json)
{
	const struct options *options = options_of(bench);

	kwhy_json_string(json, "shape", context_of(bench)->shape->name);
	kwhy_json_count(json, "prompt", options->prompt);
	kwhy_json_count(json, "tokens", options->tokens);
	kwhy_json_real(json, "temperature", options->temperature);
	kwhy_json_count(json, "top_k", options->top_k);
	kwhy_json_real(json, "top_p", options->top_p);
	kwhy_json_count(json, "seed", options->seed);
	kwhy_json_real(json, "arrivals_per_s", options->arrivals);
}

static void write_notes(const struct lab_bench *bench, const struct kwhy_text_context *context)
{
	const struct options *options = options_of(bench);

	if (options->temperature > 0)
		kwhy_text_context_linef(context, "drawn  ", "at temperature %.4g, top-k %llu, top-p %.4g",
			options->temperature, (unsigned long long)options->top_k, options->top_p);
}

static const struct lab_column decoder_columns[] = {
	LAB_FACT(NULL, "weights", TEXT, of.weights),
	LAB_FACT(NULL, "batch", COUNT, of.batch),
	LAB_FACT(NULL, "launch", TEXT, of.launching),
	LAB_FACT(NULL, "tp", COUNT, of.tp),
	LAB_FACT(NULL, "dp", COUNT, of.dp),
	LAB_FACT("products", "products", TEXT, of.products),
	LAB_FACT("gathers", "gathers", TEXT, of.gathers),
	LAB_FACT("kernels", "kernels_a_token", COUNT, of.kernels),
	LAB_FACT("weights", "weight_bytes", BYTES, of.weight_bytes),
	LAB_FACT(NULL, "kv_bytes_a_token", BYTES, of.token_bytes),
	LAB_FACT("KV cache", "kv_bytes", BYTES, of.cache_bytes),
};

static const struct lab_column error_columns[] = {
	LAB_FACT("logits off by", "relative", ERROR, error.relative),
	LAB_FACT("at most", "most", ERROR, error.most),
	LAB_FACT("same token", "agreed_ratio", RATIO, error.agreed),
};

#define SERVING(way)                                                                 \
	{                                                                            \
		LAB_FACT(NULL, "sequences", COUNT, way.sequences),                   \
			LAB_FACT("steps", "steps", COUNT, way.steps),                \
			LAB_FACT("slots busy", "busy_ratio", RATIO, way.busy_ratio), \
			LAB_FACT("first token", "first_s", MEDIAN, way.first_s),     \
			LAB_FACT("whole", "whole_s", MEDIAN, way.whole_s),           \
	}

static const struct lab_column together_columns[] = SERVING(together),
			       continuous_columns[] = SERVING(continuous);

static const struct lab_table tables[] = {
	{"Decoder", "decoder", LAB_COLUMNS(decoder_columns)},
	{"Against the reference", "error", LAB_COLUMNS(error_columns)},
	{"Arrivals, together: all wait for the longest", "together", LAB_COLUMNS(together_columns)},
	{"Arrivals, continuous: a free slot takes the next", "continuous", LAB_COLUMNS(continuous_columns)},
};

static const struct kwhy_option option_rows[] = {
	LAB_OPTION("shape", "NAME", TEXT, shape, "opt-125m (default), opt-1.3b or small (on the host)"),
	LAB_OPTION("weights", "LIST", TEXT, weights,
		"of fp32, tf32, bf16, fp16, fp8, int8, int4, fp16-2:4; default bf16"),
	LAB_OPTION("batch", "LIST", TEXT, batch,
		"concurrent sequences, 1 to 1024; default 1,8,64,256, on the host 1,8"),
	LAB_OPTION("launch", "LIST", TEXT, launching, "of graph (default) and calls (default with --tp)"),
	LAB_OPTION("tp", "LIST", TEXT, tp, "GPUs that share a decoder, such as 1,2; default 1"),
	LAB_OPTION("dp", "LIST", TEXT, dp, "decoders that share the batch, such as 1,2; default 1"),
	LAB_OPTION("prompt", "N", COUNT, prompt, "tokens that each sequence reads; default 128"),
	LAB_OPTION("tokens", "N", COUNT, tokens, "tokens that it writes; default 128"),
	LAB_OPTION("temperature", "T", NUMBER, temperature,
		"tokens are drawn, logits divided by it; default 0: the likeliest"),
	LAB_OPTION("top-k", "N", COUNT, top_k, "of the likeliest N alone; default 0: of all"),
	LAB_OPTION("top-p", "P", NUMBER, top_p, "of as few as have this share of the probability; default 1"),
	LAB_OPTION("seed", "N", COUNT, seed, "of the draws; default 1"),
	LAB_OPTION("arrivals", "RATE", NUMBER, arrivals,
		"serve sequences that arrive at random, N a second; default 0: none"),
	LAB_OPTION_ROWS(struct options, "of the rows, as 'bf16 b8 graph'; default all",
		"the time of every token of the first 64 runs of each"),
};

const struct lab_workload lab_decode = {
	.command = {.name = "decode",
		.operands = "",
		.summary = "Run a decoder of a language model's shape; time and energy of a token.",
		.options = option_rows,
		.options_bytes = sizeof(struct options),
		.defaults = set_defaults,
		.run = lab_command_run},
	.item = "token",
	.tables = tables,
	.table_count = sizeof(tables) / sizeof(tables[0]),
	.facts_bytes = sizeof(struct facts),
	.context_bytes = sizeof(struct context),
	.opened_bytes = sizeof(struct opened),
	.plan = plan,
	.begin = begin,
	.done = done,
	.open = open_row,
	.check = check,
	.start = start,
	.run = run,
	.finish = finish,
	.close = close_row,
	.describe = describe,
	.head = write_head,
	.notes = write_notes,
};
