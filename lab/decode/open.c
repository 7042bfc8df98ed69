/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/library.h"
#include "lab/kernels.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	OPTION_BYTES = 32,
	MANY = 64,
	SPLITS_MOST = KWHY_DECODE_SPLITS_MOST,
	SHARES_MOST = 8,
	STATIC_SHARED_BYTES = 16384
};

static const char *const kernel_names[KWHY_DECODE_KERNEL_COUNT] = {
	[KWHY_DECODE_FILL] = "kwhy_decode_fill",
	[KWHY_DECODE_FILL_FLOATS] = "kwhy_decode_fill_floats",
	[KWHY_DECODE_PLAIN] = "kwhy_decode_plain",
	[KWHY_DECODE_PLAIN_FLOATS] = "kwhy_decode_plain_floats",
	[KWHY_DECODE_RESET] = "kwhy_decode_reset",
	[KWHY_DECODE_BEGIN] = "kwhy_decode_begin",
	[KWHY_DECODE_ATTEND] = "kwhy_decode_attend",
	[KWHY_DECODE_RECALL] = "kwhy_decode_recall",
	[KWHY_DECODE_READ] = "kwhy_decode_read",
	[KWHY_DECODE_NORMALISE] = "kwhy_decode_normalise",
	[KWHY_DECODE_THIN + KWHY_DECODE_ATTENTION] = "kwhy_decode_thin_attention",
	[KWHY_DECODE_THIN + KWHY_DECODE_PROJECTION] = "kwhy_decode_thin_project",
	[KWHY_DECODE_THIN + KWHY_DECODE_WIDENING] = "kwhy_decode_thin_widen",
	[KWHY_DECODE_THIN + KWHY_DECODE_NARROWING] = "kwhy_decode_thin_narrow",
	[KWHY_DECODE_THIN_HEAD] = "kwhy_decode_thin_head",
	[KWHY_DECODE_JOINT_ATTEND] = "kwhy_decode_joint_attend",
	[KWHY_DECODE_JOINT_INNER] = "kwhy_decode_joint_inner",
	[KWHY_DECODE_JOINT_HEAD] = "kwhy_decode_joint_head",
	[KWHY_DECODE_CROWD_ATTEND] = "kwhy_decode_crowd_attend",
	[KWHY_DECODE_CROWD_INNER] = "kwhy_decode_crowd_inner",
	[KWHY_DECODE_CROWD_END] = "kwhy_decode_crowd_end",
	[KWHY_DECODE_CROWD_HEAD] = "kwhy_decode_crowd_head",
	[KWHY_DECODE_WHOLE] = "kwhy_decode_whole",
	[KWHY_DECODE_SETTLE] = "kwhy_decode_settle",
	[KWHY_DECODE_WIDE32] = "kwhy_decode_wide32",
	[KWHY_DECODE_WIDE64] = "kwhy_decode_wide64",
	[KWHY_DECODE_SOME] = "kwhy_decode_some",
	[KWHY_DECODE_FOLD_SUMS] = "kwhy_decode_fold_sums",
	[KWHY_DECODE_FOLD_BEGIN] = "kwhy_decode_fold_begin",
	[KWHY_DECODE_FOLD + KWHY_DECODE_ATTENTION] = "kwhy_decode_fold_attention",
	[KWHY_DECODE_FOLD + KWHY_DECODE_PROJECTION] = "kwhy_decode_fold_project",
	[KWHY_DECODE_FOLD + KWHY_DECODE_WIDENING] = "kwhy_decode_fold_widen",
	[KWHY_DECODE_FOLD + KWHY_DECODE_NARROWING] = "kwhy_decode_fold_narrow",
	[KWHY_DECODE_PICK] = "kwhy_decode_pick",
	[KWHY_DECODE_CHOOSE] = "kwhy_decode_choose",
	[KWHY_DECODE_BEAM_RANK] = "kwhy_decode_beam_rank",
	[KWHY_DECODE_BEAM_CHOOSE] = "kwhy_decode_beam_choose",
};

const char *kwhy_decode_launching_name(enum kwhy_decode_launching launching)
{
	static const char *const names[KWHY_DECODE_LAUNCHING_COUNT] = {"calls", "graph", "early", "device"};

	return names[launching];
}

const char *kwhy_decode_products_name(enum kwhy_decode_products products)
{
	static const char *const names[KWHY_DECODE_PRODUCTS_COUNT] = {"best", "own", "cublaslt"};

	return names[products];
}

const char *kwhy_decode_weights_name(enum kwhy_decode_weights weights)
{
	static const char *const names[KWHY_DECODE_WEIGHTS_COUNT] = {
		"fp32", "tf32", "bf16", "fp16", "fp8", "int8", "int4", "fp16-2:4"};

	return names[weights];
}

/* Tokens that any pass has in hand, with those of a wide block's rest. */
static uint64_t token_room(const struct kwhy_decode_request *request)
{
	uint32_t each = request->prompt > KWHY_DECODE_CHECK_PROMPT ? request->prompt
								   : KWHY_DECODE_CHECK_PROMPT;

	return ((uint64_t)request->slots * each + MANY - 1) / MANY * MANY;
}

/* Tokens times splits that wide products leave; prompts are tokens enough not to be split much. */
static uint64_t part_room(const struct kwhy_decode_request *request)
{
	uint64_t steps = ((uint64_t)request->slots + MANY - 1) / MANY * MANY * SPLITS_MOST,
		 prompts = token_room(request);

	return steps > prompts ? steps : prompts;
}

/* A part of the memory. */
struct part {
	uint64_t *place, bytes;
};

/* Each begins at a multiple of 256 bytes; gives where the next one does. */
static uint64_t place_parts(const struct part *parts, size_t count, uint64_t next)
{
	for (size_t i = 0; i < count; i++) {
		*parts[i].place = next;
		next += (parts[i].bytes + 255) / 256 * 256;
	}
	return next;
}

static uint64_t lay_out_model(struct kwhy_decode *decode, uint64_t next)
{
	const struct kwhy_decode_shape *shape = decode->request.shape;
	struct kwhy_decode_args *args = &decode->args;
	enum kwhy_decode_weights weights = decode->request.weights;
	uint64_t rows = (uint64_t)kwhy_decode_first_row(shape, KWHY_DECODE_MATRICES) * shape->layers,
		 words = kwhy_decode_vocabulary_room(shape), width = shape->width;
	const struct part parts[] = {
		{&args->layers,
			kwhy_decode_weight_bytes(
				weights, kwhy_decode_weights_before(shape, shape->layers, 0))},
		{&args->words, kwhy_decode_weight_bytes(weights, words * width)},
		{&args->scales, rows * sizeof(float)},
		{&args->biases, rows * sizeof(float)},
		{&args->word_scales, words * sizeof(float)},
		{&args->places, (uint64_t)args->room * width * sizeof(float)},
	};

	decode->weight_bytes = parts[0].bytes + parts[1].bytes;
	return place_parts(parts, sizeof(parts) / sizeof(parts[0]), next);
}

static uint64_t lay_out_tokens(struct kwhy_decode *decode, uint64_t next)
{
	const struct kwhy_decode_request *request = &decode->request;
	const struct kwhy_decode_shape *shape = request->shape;
	struct kwhy_decode_args *args = &decode->args;
	uint64_t tokens = token_room(request), slots = request->slots, width = shape->width,
		 mixed = (uint64_t)shape->heads * KWHY_DECODE_HEAD,
		 act = kwhy_decode_act_bytes(request->weights),
		 places = request->page ? (uint64_t)args->page_count * request->page : slots * args->room,
		 cache = shape->layers * places * mixed * kwhy_decode_kept_bytes(request);
	const struct part parts[] = {
		{&args->keys, cache},
		{&args->values, cache},
		{&args->x, tokens * width * sizeof(float)},
		{&args->normal, tokens * width * act},
		{&args->queries, tokens * mixed * act},
		{&args->mixed, tokens * mixed * act},
		{&args->inner, tokens * shape->inner * act},
		{&args->parts, part_room(request) * width * sizeof(float)},
		{&args->pieces,
			(uint64_t)KWHY_DECODE_FEW * shape->heads * SHARES_MOST * (KWHY_DECODE_HEAD + 2) *
				sizeof(float)},
		{&args->best, slots * sizeof(uint64_t)},
		{&args->at, slots * sizeof(uint32_t)},
		{&args->prompt, tokens * sizeof(uint32_t)},
		{&args->chosen, slots * args->room * sizeof(uint32_t)},
		{&args->times, args->room * sizeof(uint64_t)},
		{&args->arrived, sizeof(uint32_t)},
		{&args->pages, slots * args->pages_each * sizeof(uint32_t)},
		{&decode->first, slots * sizeof(uint64_t)},
		{&decode->logits, slots * shape->vocabulary * sizeof(float)},
	};

	return place_parts(parts, sizeof(parts) / sizeof(parts[0]), next);
}

/* What GPUs send each other, and what beams keep. */
static uint64_t lay_out_further(struct kwhy_decode *decode, uint64_t next)
{
	const struct kwhy_decode_request *request = &decode->request;
	struct kwhy_decode_args *args = &decode->args;
	uint64_t slots = request->slots, width = request->shape->width, ranks = kwhy_decode_ranks(decode);
	const struct part shared[] =
		{
			{&args->narrow_parts, part_room(request) * width * sizeof(float)},
			{&args->x_between, KWHY_DECODE_FEW * width * sizeof(float)},
			{&args->inbox, 2 * ranks * KWHY_DECODE_FEW * width * sizeof(uint64_t)},
			{&args->bests, ranks * slots * 2 * sizeof(uint64_t)},
			{&args->meet, KWHY_DECODE_MEET_COUNT * sizeof(uint32_t)},
		},
			  beams[] = {
				  {&args->sources, 2 * slots * args->room * sizeof(uint32_t)},
				  {&args->scores, slots * sizeof(float)},
				  {&args->first_scores, slots * sizeof(float)},
				  {&args->candidates, slots * KWHY_DECODE_BEAMS_MOST * sizeof(uint64_t)},
			  };

	uint64_t layers = request->shape->layers,
		 rows = layers * kwhy_decode_first_row(request->shape, KWHY_DECODE_MATRICES);
	const struct part joint[] = {{&args->x_between, 3 * KWHY_DECODE_CROWD * width * sizeof(float)},
		{&args->row_sums, rows * sizeof(float)},
		{&args->moments, (2 * layers + 1) * slots * 2 * sizeof(float)}};

	args->narrow_parts = args->parts;
	if (ranks == 1)
		next = place_parts(joint, sizeof(joint) / sizeof(joint[0]), next);
	if (ranks > 1)
		next = place_parts(shared, sizeof(shared) / sizeof(shared[0]), next);
	if (kwhy_decode_has_beams(decode))
		next = place_parts(beams, sizeof(beams) / sizeof(beams[0]), next);
	return next;
}

/* The parts of the memory; gives the bytes in all. */
static uint64_t lay_out(struct kwhy_decode *decode, uint64_t start)
{
	uint64_t next = lay_out_model(decode, start);

	next = lay_out_tokens(decode, next);
	return lay_out_further(decode, next) - start;
}

enum kwhy_status kwhy_decode_open_kernels(const struct kwhy_decode *decode, struct kwhy_gpu *gpu,
	struct kwhy_gpu_module **out, const struct kwhy_gpu_kernel *out_kernels[KWHY_DECODE_KERNEL_COUNT],
	struct kwhy_error *error)
{
	const struct kwhy_decode_shape *shape = decode->request.shape;
	char words[9][OPTION_BYTES];
	const char *const options[] = {words[0], words[1], words[2], words[3], words[4], words[5], words[6],
		words[7], words[8], NULL};
	const struct kwhy_gpu_source source = {.title = "decode.cu",
		.text = kwhy_kernels_decode,
		.options = options,
		.on_host = kwhy_decode_host_kernels};
	enum kwhy_status status;

	snprintf(words[0], OPTION_BYTES, "-DWEIGHTS=%d", (int)decode->request.weights);
	snprintf(words[1], OPTION_BYTES, "-DWIDTH=%u", shape->width);
	snprintf(words[2], OPTION_BYTES, "-DINNER=%u", shape->inner);
	snprintf(words[3], OPTION_BYTES, "-DRANKS=%u", kwhy_decode_ranks(decode));
	snprintf(words[6], OPTION_BYTES, "-DBEAM=%d", decode->request.beams > 1);
	snprintf(words[5], OPTION_BYTES, "-DPAGE=%u", decode->request.page);
	snprintf(words[4], OPTION_BYTES, "-DHEADS_HERE=%u", shape->heads);
	snprintf(words[7], OPTION_BYTES, "-DFEW_SLOTS=%u", kwhy_decode_known_slots(decode));
	snprintf(words[8], OPTION_BYTES, "-DSHORT_CACHE=%d", decode->request.has_short_cache);
	status = gpu->ops->module_new(gpu, &source, out, error);
	for (size_t k = 0; !status && k < KWHY_DECODE_KERNEL_COUNT; k++)
		status = gpu->ops->kernel_find(gpu, *out, kernel_names[k], &out_kernels[k], error);
	return status;
}

/* Memory is zeros at first: rows behind the last token are multiplied, too. */
static enum kwhy_status open_memory(struct kwhy_decode *decode, struct kwhy_error *error)
{
	const struct kwhy_decode_request *request = &decode->request;
	const struct kwhy_decode_shape *shape = request->shape;
	struct kwhy_gpu *gpu = decode->gpu;
	uint32_t checked = KWHY_DECODE_CHECK_PROMPT + KWHY_DECODE_CHECK_STEPS;
	uint64_t bytes;
	enum kwhy_status status;

	decode->args = (struct kwhy_decode_args){.layer_count = shape->layers,
		.slots = request->slots,
		.cache_slots = request->slots,
		.room = request->prompt + request->tokens,
		.vocabulary = shape->vocabulary,
		.weights = (uint32_t)request->weights,
		.width = shape->width,
		.inner_width = shape->inner,
		.heads = shape->heads,
		.ranks = kwhy_decode_ranks(decode),
		.has_short_cache = request->has_short_cache};
	if (decode->args.room < checked)
		decode->args.room = checked;
	decode->args.sequences = request->slots / (request->beams ? request->beams : 1);
	decode->args.page = request->page;
	decode->args.pages_each = kwhy_decode_pages_each(request, decode->args.room);
	decode->args.page_count = request->slots * decode->args.pages_each + 1;
	decode->part_tokens = part_room(request);
	bytes = decode->bytes = lay_out(decode, 0);
	status = gpu->ops->memory_new(gpu, bytes, &decode->memory, error);
	if (status)
		return status;
	lay_out(decode, decode->memory);
	kwhy_decode_set_choice(decode, true, false);
	return gpu->ops->fill(gpu, decode->stream, decode->memory, 0, bytes, error);
}

static enum kwhy_status open_host(struct kwhy_decode *decode, struct kwhy_error *error)
{
	const struct kwhy_decode_request *request = &decode->request;
	size_t count = (size_t)request->slots * request->prompt;

	decode->prompts = malloc(count * sizeof(*decode->prompts));
	decode->times = calloc(decode->args.room, sizeof(*decode->times));
	decode->bests = calloc(request->slots, sizeof(*decode->bests));
	if (!decode->prompts || !decode->times || !decode->bests)
		return kwhy_fail_memory(error, "a decoder");
	for (size_t i = 0; i < count; i++)
		decode->prompts[i] = kwhy_decode_prompt_token(
			request->shape, (uint32_t)(i / request->prompt), (uint32_t)(i % request->prompt));
	return KWHY_OK;
}

/* As many blocks as run at once, two a multiprocessor at most. */
static enum kwhy_status find_blocks(struct kwhy_decode *decode, struct kwhy_error *error)
{
	const struct kwhy_gpu_facts *facts = &decode->gpu->facts;
	uint32_t resident,
		row = decode->request.shape->width * kwhy_decode_act_bytes(decode->request.weights),
		shared = decode->request.slots * (row + 64) + STATIC_SHARED_BYTES;
	enum kwhy_status status = decode->gpu->ops->resident_blocks(
		decode->gpu, decode->kernels[KWHY_DECODE_WHOLE], 256, &resident, error);

	if (status)
		return status;
	if (facts->shared_bytes_per_sm && resident > facts->shared_bytes_per_sm / shared)
		resident = facts->shared_bytes_per_sm / shared;
	if (facts->sm_count && resident < 1)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"a multiprocessor of %s does not hold %u tokens of %s; launch a graph instead",
			facts->name, decode->request.slots, decode->request.shape->name);
	decode->whole_blocks = facts->sm_count ? facts->sm_count * (resident > 1 ? 2 : 1) : 1;
	return KWHY_OK;
}

static enum kwhy_status prepare(struct kwhy_decode *decode, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = decode->gpu;
	enum kwhy_status status = gpu->ops->enter(gpu, error);

	if (!status)
		status = kwhy_decode_open_kernels(decode, gpu, &decode->module, decode->kernels, error);
	if (!status)
		status = gpu->ops->stream_new(gpu, &decode->stream, error);
	if (!status)
		status = open_memory(decode, error);
	if (!status)
		status = kwhy_decode_peers_open(decode, error);
	if (!status)
		status = open_host(decode, error);
	if (!status)
		status = kwhy_decode_pages_open(decode, error);
	if (!status)
		status = kwhy_decode_weights_fill(decode, error);
	if (!status)
		status = kwhy_decode_peers_begin(decode, error);
	if (!status)
		status = kwhy_decode_library_open(decode, error);
	if (!status && decode->request.launching == KWHY_DECODE_DEVICE)
		status = find_blocks(decode, error);
	return status;
}

uint32_t kwhy_decode_kept_bytes(const struct kwhy_decode_request *request)
{
	return request->has_short_cache ? 1 : kwhy_decode_act_bytes(request->weights);
}

static enum kwhy_status check_cache(const struct kwhy_decode_request *request, struct kwhy_error *error)
{
	if (request->has_short_cache && kwhy_decode_act_bytes(request->weights) == 4)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"keys and values in fp8 are of activations of 16 bits; take other weights than fp32 "
			"and tf32");
	return KWHY_OK;
}

static enum kwhy_status check_further(const struct kwhy_decode_request *request, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_decode_page_check(request, error);

	if (!status)
		status = check_cache(request, error);
	if (!status)
		status = kwhy_decode_beam_check_request(request, error);
	return status ? status : kwhy_decode_part_check(request, error);
}

static enum kwhy_status check_device(const struct kwhy_decode_request *request, struct kwhy_error *error)
{
	const struct kwhy_gpu_facts *facts = &request->gpu->facts;
	bool cache_is_why = request->has_short_cache && facts->architecture >= 80;
	int least = request->weights == KWHY_DECODE_FP8 || request->has_short_cache ? 89 : 80;

	if (facts->architecture && (facts->architecture < least || request->gpu->ops->name[0] != 'c'))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s has no tensor instructions for %s; they want NVIDIA's compute capability %d.%d",
			facts->name,
			cache_is_why ? "keys and values in fp8" : kwhy_decode_weights_name(request->weights),
			least / 10, least % 10);
	return KWHY_OK;
}

static enum kwhy_status check_request(const struct kwhy_decode_request *request, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (request->slots < 1 || request->slots > KWHY_DECODE_SLOTS_MOST)
		return kwhy_fail(error, KWHY_E_INPUT, "decode: a batch of %u; there may be 1 to %d sequences",
			request->slots, KWHY_DECODE_SLOTS_MOST);
	if (request->prompt < 2 || request->tokens < 2 ||
		request->prompt + request->tokens > request->shape->positions)
		return kwhy_fail(error, KWHY_E_INPUT,
			"decode: %u tokens behind a prompt of %u; each is at least 2, and %s knows %u "
			"positions",
			request->tokens, request->prompt, request->shape->name, request->shape->positions);
	if (request->launching == KWHY_DECODE_DEVICE && request->slots > KWHY_DECODE_FEW)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"all tokens in one launch are of %d sequences at most; launch a graph instead",
			KWHY_DECODE_FEW);
	if (request->launching == KWHY_DECODE_DEVICE && request->choice.temperature > 0)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"all tokens in one launch are the likeliest; to draw them launch a graph instead");
	status = check_device(request, error);
	return status ? status : check_further(request, error);
}

enum kwhy_status kwhy_decode_open(
	const struct kwhy_decode_request *request, struct kwhy_decode **out, struct kwhy_error *error)
{
	struct kwhy_decode *decode;
	enum kwhy_status status = check_request(request, error);

	if (status)
		return status;
	decode = calloc(1, sizeof(*decode));
	if (!decode)
		return kwhy_fail_memory(error, "a decoder");
	decode->request = *request;
	decode->whole = request->shape;
	kwhy_decode_part_of(request->shape, request->peer_count + 1, &decode->part);
	decode->request.shape = &decode->part;
	if (request->peer_count)
		decode->request.products = KWHY_DECODE_PRODUCTS_OWN;
	decode->gpu = request->gpu;
	snprintf(decode->products, sizeof(decode->products), "own kernels");
	status = prepare(decode, error);
	if (status)
		kwhy_decode_close(decode);
	else
		*out = decode;
	return status;
}

void kwhy_decode_close(struct kwhy_decode *decode)
{
	struct kwhy_error ignored;
	struct kwhy_gpu *gpu;

	if (!decode)
		return;
	gpu = decode->gpu;
	kwhy_decode_peers_close(decode);
	/* What is still queued, after a failure, must not find its memory gone. */
	if (decode->stream)
		(void)gpu->ops->synchronize(gpu, decode->stream, &ignored);
	kwhy_decode_forget_graphs(decode);
	kwhy_decode_library_close(decode);
	gpu->ops->memory_free(gpu, decode->memory);
	gpu->ops->stream_free(gpu, decode->stream);
	gpu->ops->module_free(gpu, decode->module);
	kwhy_decode_pages_close(decode);
	free(decode->prompts);
	free(decode->times);
	free(decode->bests);
	free(decode);
}
