/* SPDX-License-Identifier: Apache-2.0 */
/* A pass through all layers: which kernels and products it launches, and with which grids. */
#include "lab/decode/inside.h"

#include <stdlib.h>

/* --- Launches, waits and copies on all GPUs of a decoder --- */

void lab_decode_launch(const struct lab_decode_rank *rank, enum lab_decode_kernel kernel, uint32_t blocks,
	const struct lab_decode_call *call)
{
#define THREADS(upper, lower, threads) threads,
	static const uint32_t threads[] = {LAB_DECODE_KERNELS(THREADS)};
	const struct lab_rank_launch launch = {kernel, blocks, threads[kernel], &rank->args, call};

	lab_rank_launch(&rank->base, &launch);
}

static void launch(struct lab_decode_replica *replica, enum lab_decode_kernel kernel, uint32_t blocks,
	struct lab_decode_call call)
{
	for (uint32_t i = 0; i < replica->rank_count; i++)
		lab_decode_launch(&replica->ranks[i], kernel, blocks, &call);
	replica->kernel_count++;
}

#define LAUNCH(replica, kernel, blocks, ...) \
	launch(replica, LAB_DECODE_##kernel, blocks, (struct lab_decode_call){__VA_ARGS__})

void lab_decode_wait(const struct lab_decode_replica *replica)
{
	for (uint32_t i = 0; i < replica->rank_count; i++)
		lab_rank_wait(&replica->ranks[i].base);
}

void lab_decode_send(
	const struct lab_decode_replica *replica, uint64_t address, const void *from, size_t bytes)
{
	uint64_t place = address - replica->ranks[0].base.memory;

	for (uint32_t i = 0; i < replica->rank_count; i++)
		lab_rank_copy(&replica->ranks[i].base, replica->ranks[i].base.memory + place,
			kwhy_gpu_address(from), bytes);
}

void lab_decode_send_prompts(
	const struct lab_decode_replica *replica, const struct lab_decode_prompts *prompts)
{
	uint32_t count = prompts->slots * prompts->each, *tokens = malloc(count * sizeof(*tokens));

	for (uint32_t i = 0; tokens && i < count; i++)
		tokens[i] = lab_decode_prompt_token(replica->request->shape,
			prompts->first + i / prompts->each % prompts->distinct, i % prompts->each);
	if (!tokens && !replica->tries->status)
		replica->tries->status = kwhy_fail_memory(replica->tries->error, "the prompts of decode");
	lab_decode_send(replica, replica->ranks[0].args.prompt, tokens, count * sizeof(*tokens));
	free(tokens);
}

void lab_decode_send_own_prompts(const struct lab_decode_replica *replica)
{
	const struct lab_decode_prompts own = {
		replica->slots, replica->request->prompt, replica->first_sequence, replica->slots};

	lab_decode_send_prompts(replica, &own);
}

void lab_decode_issue_reset(struct lab_decode_replica *replica, uint32_t at, bool has_first)
{
	LAUNCH(replica, RESET, (replica->ranks[0].args.slots + 63) / 64, .at = at, .has_first = has_first);
}

/* --- Products --- */

/*
 * Arguments of a kernel that uses the result of the product with a layer's matrix. By `row` and
 * `rows` the kernel also finds the scales and biases of that matrix.
 */
static struct lab_decode_call behind(
	const struct lab_decode_replica *replica, uint32_t layer, uint32_t matrix)
{
	return (struct lab_decode_call){.layer = layer,
		.row = lab_decode_row(&replica->part, layer, matrix),
		.rows = lab_decode_rows(&replica->part, matrix)};
}

/*
 * Number of tokens with which a product is made. For factors of 8 bits cuBLASLt needs a multiple of 16, and
 * more than 16. The results of tokens beyond the last are not used; their memory is allocated.
 */
static uint32_t multiplied_tokens(const struct lab_decode_kind *kind, uint32_t tokens)
{
	uint32_t whole = lab_decode_round_up(tokens, 16);

	return lab_number_bytes(kind->factors) > 1 ? tokens : whole < 32 ? 32 : whole;
}

/* The product of activations [m tokens][k] and weights [n rows][k]. */
static struct lab_product product_of(const struct lab_decode_rank *rank, uint32_t matrix)
{
	const struct lab_decode_shape *part = &rank->replica->part;
	const struct lab_decode_kind *kind = rank->replica->kind;
	bool is_words = matrix == LAB_DECODE_WORDS;

	return (struct lab_product){
		.m = multiplied_tokens(kind, is_words ? rank->args.slots : rank->args.tokens),
		.n = is_words ? rank->args.word_count : lab_decode_rows(part, matrix),
		.k = is_words ? part->width : lab_decode_columns(part, matrix),
		.right_turned = true,
		.factors = kind->factors,
		.out = kind->factors == LAB_INT8 ? LAB_INT32 : LAB_FP32};
}

/*
 * Queues a product on one GPU. Packed weights, which cuBLASLt does not support, are expanded first. For
 * LAB_DECODE_WORDS the matrix is the table of token vectors, stored after the last layer's weights: each GPU
 * stores the whole table, but multiplies with the rows of its own part of the vocabulary.
 */
static void multiply_on(struct lab_decode_rank *rank, uint32_t layer, uint32_t matrix)
{
	const struct lab_decode_replica *replica = rank->replica;
	bool is_words = matrix == LAB_DECODE_WORDS;
	uint32_t skipped = is_words ? rank->args.first_word : 0,
		 row = lab_decode_row(&replica->part, layer, matrix) + skipped;
	uint64_t before = lab_decode_weights_before(&replica->part, layer, matrix) +
		(uint64_t)skipped * replica->part.width;
	struct lab_tries *tries = rank->base.tries;
	struct lab_product product = product_of(rank, matrix);
	struct lab_operands at = {rank->args.acts, rank->layers + lab_decode_weight_bytes(replica, before),
		is_words ? rank->args.logits : rank->args.sums};
	const struct lab_decode_call expanding = {.from = at.right,
		.to = rank->dense,
		.row_scales = rank->args.scales + row * sizeof(float),
		.rows = product.n,
		.columns = product.k};
	const struct lab_blaslt_plan *plan = NULL;

	lab_rank_enter(&rank->base);
	if (rank->args.packing) {
		lab_decode_launch(rank, LAB_DECODE_EXPAND, product.n, &expanding);
		at.right = rank->dense;
	}
	TRY(tries, lab_blaslt_plan, rank->base.blaslt, &product, NULL, &plan);
	TRY(tries, lab_blaslt_multiply, rank->base.blaslt, plan, &at);
}

static void multiply(struct lab_decode_replica *replica, uint32_t layer, uint32_t matrix)
{
	for (uint32_t i = 0; i < replica->rank_count; i++)
		multiply_on(&replica->ranks[i], layer, matrix);
	replica->kernel_count += replica->kind->packing ? 2 : 1;
}

/* --- Between GPUs --- */

/*
 * Multiplies the results of a product by their scales and adds them up over the GPUs of a decoder
 * (all-reduce). Does nothing if the decoder has one GPU.
 */
static void add_up(struct lab_decode_replica *replica, uint32_t layer, uint32_t matrix)
{
	const struct lab_decode_args *a = &replica->ranks[0].args;
	uint64_t places[LAB_DECODE_GPUS_MAX];

	if (!replica->group)
		return;
	launch(replica, LAB_DECODE_SCALE, a->tokens, behind(replica, layer, matrix));
	for (uint32_t i = 0; i < replica->rank_count; i++)
		places[i] = replica->ranks[i].args.sums;
	TRY(replica->tries, replica->group->ops->sum_floats, replica->group, places, a->tokens * a->width);
}

static void share_words(struct lab_decode_replica *replica)
{
	uint64_t best[LAB_DECODE_GPUS_MAX], from[LAB_DECODE_GPUS_MAX], to[LAB_DECODE_GPUS_MAX];
	const struct lab_decode_args *a = &replica->ranks[0].args;

	if (!replica->group)
		return;
	for (uint32_t i = 0; i < replica->rank_count; i++) {
		best[i] = replica->ranks[i].args.best;
		from[i] = replica->ranks[i].args.logits;
		to[i] = replica->ranks[i].args.all_logits;
	}
	TRY(replica->tries, replica->group->ops->max, replica->group, best, a->slots);
	if (a->temperature > 0)
		TRY(replica->tries, replica->group->ops->gather, replica->group, from, to,
			a->slots * a->word_count / 2);
}

/* --- A pass --- */

static void attend(struct lab_decode_replica *replica, uint32_t layer)
{
	const struct lab_decode_args *a = &replica->ranks[0].args;
	uint32_t units = a->tokens * a->heads, each = a->each == 1 ? 1 : LAB_DECODE_THREADS / 32;

	launch(replica, LAB_DECODE_KEEP, a->tokens, behind(replica, layer, LAB_DECODE_ATTENTION));
	LAUNCH(replica, ATTEND, (units + each - 1) / each, .layer = layer);
	if (lab_number_bytes(replica->kind->factors) == 1)
		LAUNCH(replica, ACTIVATE, a->tokens, 0);
}

/*
 * Queues a layer. The kernel NORMALISE first adds the result of the product before it to x, the sum
 * that runs through all layers. In layer 0 no product precedes the first NORMALISE, which therefore
 * adds nothing.
 */
static void run_layer(struct lab_decode_replica *replica, uint32_t layer)
{
	uint32_t tokens = replica->ranks[0].args.tokens;

	if (layer)
		launch(replica, LAB_DECODE_NORMALISE, tokens,
			behind(replica, layer - 1, LAB_DECODE_DOWN_PROJECTION));
	else
		LAUNCH(replica, NORMALISE, tokens, 0);
	multiply(replica, layer, LAB_DECODE_ATTENTION);
	attend(replica, layer);
	multiply(replica, layer, LAB_DECODE_PROJECTION);
	add_up(replica, layer, LAB_DECODE_PROJECTION);
	launch(replica, LAB_DECODE_NORMALISE, tokens, behind(replica, layer, LAB_DECODE_PROJECTION));
	multiply(replica, layer, LAB_DECODE_UP_PROJECTION);
	launch(replica, LAB_DECODE_ACTIVATE, tokens, behind(replica, layer, LAB_DECODE_UP_PROJECTION));
	multiply(replica, layer, LAB_DECODE_DOWN_PROJECTION);
	add_up(replica, layer, LAB_DECODE_DOWN_PROJECTION);
}

/*
 * Queues a pass through all layers, either for one token of each slot or for the prompts, whichever the
 * kernels' args describe.
 */
static void issue_pass(struct lab_decode_replica *replica)
{
	const struct lab_decode_args *a = &replica->ranks[0].args;
	struct lab_decode_call last = behind(replica, replica->part.layers - 1, LAB_DECODE_DOWN_PROJECTION);

	last.is_last = 1;
	replica->kernel_count = 0;
	LAUNCH(replica, BEGIN, a->tokens, 0);
	for (uint32_t layer = 0; layer < replica->part.layers; layer++)
		run_layer(replica, layer);
	launch(replica, LAB_DECODE_NORMALISE, a->slots, last);
	multiply(replica, last.layer, LAB_DECODE_WORDS);
	LAUNCH(replica, PICK, a->slots, 0);
	share_words(replica);
	if (a->temperature > 0)
		LAUNCH(replica, CHOOSE, a->slots, 0);
	if (a->each == 1)
		replica->step_kernels = replica->kernel_count;
}

static void set_each(struct lab_decode_replica *replica, uint32_t each)
{
	for (uint32_t i = 0; i < replica->rank_count; i++) {
		replica->ranks[i].args.each = each;
		replica->ranks[i].args.tokens = replica->ranks[i].args.slots * each;
	}
}

void lab_decode_issue_prompts(struct lab_decode_replica *replica, uint32_t each)
{
	set_each(replica, each);
	lab_decode_issue_reset(replica, each - 1, false);
	issue_pass(replica);
	set_each(replica, 1);
}

/* --- Graphs --- */

void lab_decode_issue(struct lab_decode_replica *replica, enum lab_decode_work work)
{
	const struct lab_rank *rank = &replica->ranks[0].base;

	if (replica->graphs[work]) {
		lab_rank_enter(rank);
		TRY(replica->tries, rank->gpu->ops->graph_launch, rank->gpu, rank->stream,
			replica->graphs[work]);
	} else if (work == LAB_DECODE_STEP)
		issue_pass(replica);
	else
		lab_decode_issue_prompts(replica, replica->request->prompt);
}

struct recording {
	struct lab_decode_replica *replica;
	enum lab_decode_work work;
};

static enum kwhy_status record(void *context, struct kwhy_error *error)
{
	const struct recording *recording = context;
	struct lab_tries *tries = recording->replica->tries;

	tries->error = error;
	lab_decode_issue(recording->replica, recording->work);
	return tries->status;
}

/*
 * Runs both units of work (prompts, step) once, so that drivers and libraries have loaded what they need.
 * Then, if the request asks for graphs, captures one graph of each.
 */
void lab_decode_capture(struct lab_decode_replica *replica)
{
	const struct lab_rank *rank = &replica->ranks[0].base;
	struct recording recording = {.replica = replica};

	lab_decode_issue(replica, LAB_DECODE_READING);
	lab_decode_issue(replica, LAB_DECODE_STEP);
	lab_decode_wait(replica);
	for (int work = 0; replica->request->launching == LAB_DECODE_GRAPH && work < LAB_DECODE_WORK_COUNT;
		work++) {
		recording.work = (enum lab_decode_work)work;
		TRY(replica->tries, kwhy_gpu_capture, rank->gpu, rank->stream, record, &recording,
			&replica->graphs[work]);
	}
}
