/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels and products a pass through the layers takes, in which grids. */
#include "lab/decode/inside.h"
#include "lab/next.h"

enum { THREADS = 256, WARPS = THREADS / 32, PICK_THREADS = 1024, CHOOSE_THREADS = 512 };

struct launch {
	enum lab_decode_kernel kernel;
	uint32_t blocks, threads;
	uint32_t numbers[3]; /* behind the args */
};

enum kwhy_status lab_decode_enter(
	const struct lab_decode_replica *replica, uint32_t rank, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = replica->ranks[rank].gpu;

	return gpu->ops->enter(gpu, error);
}

enum kwhy_status lab_decode_copy(const struct lab_decode_rank *rank, uint64_t to, uint64_t from, size_t bytes,
	struct kwhy_error *error)
{
	const struct kwhy_gpu_copy copy = {to, from, bytes};
	enum kwhy_status status = rank->gpu->ops->enter(rank->gpu, error);

	return status ? status : rank->gpu->ops->copy_now(rank->gpu, &copy, error);
}

enum kwhy_status lab_decode_send(const struct lab_decode_replica *replica, uint64_t address, const void *from,
	size_t bytes, struct kwhy_error *error)
{
	uint64_t place = address - replica->ranks[0].memory;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < replica->rank_count; i++)
		status = lab_decode_copy(&replica->ranks[i], replica->ranks[i].memory + place,
			kwhy_gpu_address(from), bytes, error);
	return status;
}

enum kwhy_status lab_decode_await(struct lab_decode_issue *issue)
{
	for (uint32_t i = 0; !issue->status && i < issue->replica->rank_count; i++) {
		struct lab_decode_rank *rank = &issue->replica->ranks[i];

		issue->status = lab_decode_enter(issue->replica, i, issue->error);
		NEXT(issue->status, rank->gpu->ops->synchronize(rank->gpu, rank->stream, issue->error));
	}
	return issue->status;
}

/* --- On every GPU --- */

enum kwhy_status lab_decode_launch(const struct lab_decode_rank *rank, enum lab_decode_kernel kernel,
	const struct kwhy_gpu_grid *grid, void **arguments, struct kwhy_error *error)
{
	const struct kwhy_gpu_launch call = {.kernel = rank->kernels[kernel],
		.blocks = grid->blocks,
		.threads_per_block = grid->threads_per_block,
		.arguments = arguments,
		.stream = rank->stream};
	enum kwhy_status status = rank->gpu->ops->enter(rank->gpu, error);

	return status ? status : rank->gpu->ops->launch(rank->gpu, &call, error);
}

static void launch(struct lab_decode_issue *issue, const struct launch *launch)
{
	struct lab_decode_replica *replica = issue->replica;
	const struct kwhy_gpu_grid grid = {.blocks = launch->blocks, .threads_per_block = launch->threads};
	uint32_t numbers[3] = {launch->numbers[0], launch->numbers[1], launch->numbers[2]};

	for (uint32_t i = 0; !issue->status && i < replica->rank_count; i++) {
		struct lab_decode_rank *rank = &replica->ranks[i];
		void *arguments[] = {&rank->args, &numbers[0], &numbers[1], &numbers[2]};

		issue->status = lab_decode_launch(rank, launch->kernel, &grid, arguments, issue->error);
	}
	replica->kernel_count++;
}

void lab_decode_issue_reset(struct lab_decode_issue *issue, uint32_t at, bool has_first)
{
	for (uint32_t i = 0; !issue->status && i < issue->replica->rank_count; i++) {
		struct lab_decode_rank *rank = &issue->replica->ranks[i];
		const struct kwhy_gpu_grid grid = {(rank->args.slots + 63) / 64, 64, 0};
		uint64_t first = has_first ? rank->first : 0;
		void *arguments[] = {&rank->args, &at, &first};

		issue->status = lab_decode_launch(rank, LAB_DECODE_RESET, &grid, arguments, issue->error);
	}
}

/* Activations [m tokens][k] by weights [n rows][k]. */
struct multiplication {
	struct lab_product product;
	struct lab_operands at;
};

/* Of weights that cuBLASLt does not take: as it does. */
static enum kwhy_status expand(struct lab_decode_rank *rank, const struct multiplication *made,
	uint64_t scales, struct kwhy_error *error)
{
	const struct kwhy_gpu_grid grid = {made->product.n, THREADS, 0};
	uint64_t from = made->at.right;
	uint32_t rows = made->product.n, columns = made->product.k, kind = rank->args.kind;
	void *arguments[] = {&from, &scales, &rank->dense, &rows, &columns, &kind};

	return lab_decode_launch(rank, LAB_DECODE_EXPAND, &grid, arguments, error);
}

/* Of 8 bits cuBLASLt wants multiples of 16 tokens, and more than 16; memory of tokens has zeros behind them.
 */
static uint32_t multiplied_tokens(const struct lab_decode_replica *replica, uint32_t tokens)
{
	uint32_t whole = lab_decode_round_up(tokens, 16);

	return !lab_decode_is_scaled(replica->request->weights) ? tokens : whole < 32 ? 32 : whole;
}

static struct multiplication multiplication_of(const struct lab_decode_replica *replica,
	const struct lab_decode_rank *rank, uint32_t layer, uint32_t matrix)
{
	const struct lab_decode_shape *shape = &replica->part;
	const struct lab_decode_args *a = &rank->args;
	enum lab_number factors = replica->kind->factors;
	struct multiplication made = {.product = {.right_turned = true,
					      .factors = factors,
					      .out = factors == LAB_INT8 ? LAB_INT32 : LAB_FP32}};

	made.at.left = a->acts;
	if (matrix == LAB_DECODE_WORDS) {
		made.product.m = multiplied_tokens(replica, a->slots);
		made.product.n = a->word_count;
		made.product.k = a->width;
		made.at.right = a->words +
			lab_decode_weight_bytes(a->kind, (uint64_t)a->first_word * a->width);
		made.at.out = a->logits;
		return made;
	}
	made.product.m = multiplied_tokens(replica, a->tokens);
	made.product.n = lab_decode_rows(shape, matrix);
	made.product.k = lab_decode_columns(shape, matrix);
	made.at.right = rank->layers +
		lab_decode_weight_bytes(a->kind, lab_decode_weights_before(shape, layer, matrix));
	made.at.out = a->sums;
	return made;
}

static uint64_t scales_of(const struct lab_decode_replica *replica, const struct lab_decode_rank *rank,
	uint32_t layer, uint32_t matrix)
{
	const struct lab_decode_shape *shape = &replica->part;
	uint64_t row = (uint64_t)layer * lab_decode_first_row(shape, LAB_DECODE_MATRICES) +
		lab_decode_first_row(shape, matrix);

	return matrix == LAB_DECODE_WORDS ? rank->args.word_scales + rank->args.first_word * sizeof(float)
					  : rank->args.scales + row * sizeof(float);
}

static void multiply(struct lab_decode_issue *issue, uint32_t layer, uint32_t matrix)
{
	struct lab_decode_replica *replica = issue->replica;
	bool is_expanded = lab_decode_is_expanded(replica->request->weights);

	for (uint32_t i = 0; !issue->status && i < replica->rank_count; i++) {
		struct lab_decode_rank *rank = &replica->ranks[i];
		struct multiplication made = multiplication_of(replica, rank, layer, matrix);
		const struct lab_blaslt_plan *plan = NULL;

		issue->status = lab_decode_enter(replica, i, issue->error);
		if (!issue->status && is_expanded) {
			issue->status = expand(
				rank, &made, scales_of(replica, rank, layer, matrix), issue->error);
			made.at.right = rank->dense;
		}
		NEXT(issue->status, lab_blaslt_plan(rank->blaslt, &made.product, NULL, &plan, issue->error));
		NEXT(issue->status, lab_blaslt_multiply(rank->blaslt, plan, &made.at, issue->error));
	}
	replica->kernel_count += is_expanded ? 2 : 1;
}

/* --- Between GPUs --- */

/* What a product has left on each comes to all. */
static void share_parts(struct lab_decode_issue *issue, uint32_t layer, uint32_t matrix)
{
	struct lab_decode_replica *replica = issue->replica;
	uint64_t from[LAB_DECODE_GPUS_MOST], to[LAB_DECODE_GPUS_MOST];
	const struct lab_decode_args *a = &replica->ranks[0].args;
	uint64_t count = (uint64_t)a->tokens * a->width;

	if (!replica->group)
		return;
	launch(issue, &(struct launch){LAB_DECODE_PART, a->tokens, THREADS, {layer, matrix}});
	for (uint32_t i = 0; i < replica->rank_count; i++) {
		to[i] = replica->ranks[i].args.parts;
		from[i] = to[i] + i * count * sizeof(float);
	}
	NEXT(issue->status,
		replica->group->ops->gather(replica->group, from, to, (uint32_t)(count / 2), issue->error));
}

static void share_words(struct lab_decode_issue *issue)
{
	struct lab_decode_replica *replica = issue->replica;
	uint64_t best[LAB_DECODE_GPUS_MOST], from[LAB_DECODE_GPUS_MOST], to[LAB_DECODE_GPUS_MOST];
	const struct lab_decode_args *a = &replica->ranks[0].args;

	if (!replica->group)
		return;
	for (uint32_t i = 0; i < replica->rank_count; i++) {
		best[i] = replica->ranks[i].args.best;
		from[i] = replica->ranks[i].args.logits;
		to[i] = replica->ranks[i].args.all_logits;
	}
	NEXT(issue->status, replica->group->ops->max(replica->group, best, a->slots, issue->error));
	if (!issue->status && a->temperature > 0)
		issue->status = replica->group->ops->gather(
			replica->group, from, to, a->slots * a->word_count / 2, issue->error);
}

/* --- A pass --- */

static void attend(struct lab_decode_issue *issue, uint32_t layer)
{
	const struct lab_decode_args *a = &issue->replica->ranks[0].args;
	uint32_t units = a->tokens * a->heads, warps = a->each == 1 ? WARPS : 1, each = WARPS / warps;

	launch(issue, &(struct launch){LAB_DECODE_KEEP, a->tokens, THREADS, {layer}});
	launch(issue,
		&(struct launch){LAB_DECODE_ATTEND, (units + each - 1) / each, THREADS, {layer, warps}});
	if (lab_decode_is_scaled(issue->replica->request->weights))
		launch(issue,
			&(struct launch){
				LAB_DECODE_ACTIVATE, a->tokens, THREADS, {layer, LAB_DECODE_PROJECTION}});
}

/* matrix: what is still to be added to x, of that layer. */
static void normalise(struct lab_decode_issue *issue, uint32_t layer, uint32_t matrix)
{
	launch(issue,
		&(struct launch){LAB_DECODE_NORMALISE, issue->replica->ranks[0].args.tokens, THREADS,
			{layer, matrix, 0}});
}

static void run_layer(struct lab_decode_issue *issue, uint32_t layer)
{
	normalise(issue, layer ? layer - 1 : 0, layer ? LAB_DECODE_NARROWING : LAB_DECODE_NOTHING);
	multiply(issue, layer, LAB_DECODE_ATTENTION);
	attend(issue, layer);
	multiply(issue, layer, LAB_DECODE_PROJECTION);
	share_parts(issue, layer, LAB_DECODE_PROJECTION);
	normalise(issue, layer, LAB_DECODE_PROJECTION);
	multiply(issue, layer, LAB_DECODE_WIDENING);
	launch(issue,
		&(struct launch){LAB_DECODE_ACTIVATE, issue->replica->ranks[0].args.tokens, THREADS,
			{layer, LAB_DECODE_NARROWING}});
	multiply(issue, layer, LAB_DECODE_NARROWING);
	share_parts(issue, layer, LAB_DECODE_NARROWING);
}

/* Through all layers: a token of each slot, or their prompts, as the args say. */
static void issue_pass(struct lab_decode_issue *issue)
{
	struct lab_decode_replica *replica = issue->replica;
	const struct lab_decode_args *a = &replica->ranks[0].args;

	replica->kernel_count = 0;
	launch(issue, &(struct launch){LAB_DECODE_BEGIN, a->tokens, THREADS, {0}});
	for (uint32_t layer = 0; layer < replica->part.layers; layer++)
		run_layer(issue, layer);
	launch(issue,
		&(struct launch){LAB_DECODE_NORMALISE, a->slots, THREADS,
			{replica->part.layers - 1, LAB_DECODE_NARROWING, 1}});
	multiply(issue, 0, LAB_DECODE_WORDS);
	launch(issue, &(struct launch){LAB_DECODE_PICK, a->slots, PICK_THREADS, {0}});
	share_words(issue);
	if (a->temperature > 0)
		launch(issue, &(struct launch){LAB_DECODE_CHOOSE, a->slots, CHOOSE_THREADS, {0}});
	if (a->each == 1)
		replica->step_kernels = replica->kernel_count;
}

void lab_decode_issue_prompts(struct lab_decode_issue *issue, uint32_t each)
{
	struct lab_decode_replica *replica = issue->replica;

	for (uint32_t i = 0; i < replica->rank_count; i++) {
		replica->ranks[i].args.each = each;
		replica->ranks[i].args.tokens = replica->ranks[i].args.slots * each;
	}
	lab_decode_issue_reset(issue, each - 1, false);
	issue_pass(issue);
	for (uint32_t i = 0; i < replica->rank_count; i++) {
		replica->ranks[i].args.each = 1;
		replica->ranks[i].args.tokens = replica->ranks[i].args.slots;
	}
}

/* --- Graphs --- */

static void launch_graph(struct lab_decode_issue *issue, struct kwhy_gpu_graph *graph)
{
	struct lab_decode_rank *rank = &issue->replica->ranks[0];

	NEXT(issue->status, lab_decode_enter(issue->replica, 0, issue->error));
	NEXT(issue->status, rank->gpu->ops->graph_launch(rank->gpu, rank->stream, graph, issue->error));
}

void lab_decode_issue_step(struct lab_decode_issue *issue)
{
	if (issue->replica->step)
		launch_graph(issue, issue->replica->step);
	else
		issue_pass(issue);
}

void lab_decode_issue_reading(struct lab_decode_issue *issue)
{
	if (issue->replica->reading)
		launch_graph(issue, issue->replica->reading);
	else
		lab_decode_issue_prompts(issue, issue->replica->request->prompt);
}

static enum kwhy_status record_step(void *context, struct kwhy_error *error)
{
	struct lab_decode_issue issue = {context, error, KWHY_OK};

	issue_pass(&issue);
	return issue.status;
}

static enum kwhy_status record_reading(void *context, struct kwhy_error *error)
{
	struct lab_decode_replica *replica = context;
	struct lab_decode_issue issue = {replica, error, KWHY_OK};

	lab_decode_issue_prompts(&issue, replica->request->prompt);
	return issue.status;
}

/* Both have run once before, so that drivers and libraries have loaded what they need. */
enum kwhy_status lab_decode_capture(struct lab_decode_replica *replica, struct kwhy_error *error)
{
	struct lab_decode_rank *rank = &replica->ranks[0];
	struct lab_decode_issue issue = {replica, error, KWHY_OK};
	enum kwhy_status status;

	lab_decode_issue_prompts(&issue, replica->request->prompt);
	issue_pass(&issue);
	status = lab_decode_await(&issue);
	if (status || replica->request->launching != LAB_DECODE_GRAPH)
		return status;
	status = kwhy_gpu_capture(rank->gpu, rank->stream, record_step, replica, &replica->step, error);
	return status ? status
		      : kwhy_gpu_capture(
				rank->gpu, rank->stream, record_reading, replica, &replica->reading, error);
}
