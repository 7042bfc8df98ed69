/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels a pass through the layers takes, in which grids. */
#include "lab/decode/library.h"

enum {
	FEW_THREADS = 256,
	NARROW_THREADS = 512,
	MANY_THREADS = 128,
	NORMALISE_THREADS = 64, /* of single tokens */
	MANY = 64,
	SOME_ROWS = 32,
	READ_QUERIES = 128,
	STAGES = 4,
	SHARES_MOST = 8,
	PAD_BYTES = 64,
	PICKING_THREADS = 256,
	PICKING_BLOCKS = 4, /* of a slot */
	CHOOSING_THREADS = 512
};

void kwhy_decode_issue(struct kwhy_decode_issue *issue, const struct kwhy_decode_launch *launch)
{
	struct kwhy_decode *decode = issue->decode;
	struct kwhy_decode_launch own = *launch;
	struct kwhy_decode_args args;
	void *arguments[] = {&args, &own.numbers[0], &own.numbers[1], &own.numbers[2]};
	const struct kwhy_gpu_launch call = {.blocks = launch->blocks,
		.threads_per_block = launch->threads,
		.arguments = arguments,
		.shared_bytes = launch->shared_bytes,
		.cooperative = launch->kernel == KWHY_DECODE_WHOLE,
		.early = decode->request.launching == KWHY_DECODE_EARLY &&
			launch->kernel >= KWHY_DECODE_ATTEND};

	if (issue->status)
		return;
	if (launch->kernel == KWHY_DECODE_RESET)
		arguments[2] = &own.address;
	for (uint32_t rank = 0; !issue->status && rank < kwhy_decode_ranks(decode); rank++) {
		if (decode->recorded && rank != decode->recorded - 1)
			continue;
		args = kwhy_decode_args_of(decode, rank);
		own.address = kwhy_decode_address_on(decode, rank, launch->address);
		issue->status = kwhy_decode_launch_on(decode, rank, launch->kernel, &call, issue->error);
	}
	decode->kernel_count++;
}

enum kwhy_status kwhy_decode_await(struct kwhy_decode_issue *issue)
{
	return issue->status ? issue->status : kwhy_decode_synchronize(issue->decode, issue->error);
}

static uint32_t shared_of_few(const struct kwhy_decode *decode)
{
	uint32_t row = decode->args.width * kwhy_decode_act_bytes(decode->request.weights) + PAD_BYTES;

	return decode->args.tokens * row;
}

void kwhy_decode_issue_reset(struct kwhy_decode_issue *issue, uint32_t at, uint64_t first)
{
	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_RESET,
			.blocks = (issue->decode->args.slots + 63) / 64,
			.threads = 64,
			.numbers = {at},
			.address = first});
}

static void issue_begin(struct kwhy_decode_issue *issue, bool is_joint)
{
	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_BEGIN,
			.blocks = issue->decode->args.tokens,
			.threads = FEW_THREADS,
			.numbers = {is_joint}});
}

/* Warps of a block that take a head of a token: one where all heads are on the GPU at once all the same. */
static uint32_t attending_warps(const struct kwhy_decode *decode, uint32_t units, uint32_t most)
{
	return units >= kwhy_decode_place_count(decode) * 16 && decode->gpu->facts.sm_count ? 1 : most;
}

static void issue_attend(struct kwhy_decode_issue *issue, uint32_t layer, bool is_joined, uint32_t threads)
{
	const struct kwhy_decode_args *args = &issue->decode->args;
	uint32_t units = args->tokens * issue->decode->request.shape->heads * args->shares,
		 warps = attending_warps(issue->decode, units, threads / 32), each = threads / 32 / warps;

	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_ATTEND,
			.blocks = (units + each - 1) / each,
			.threads = threads,
			.numbers = {layer, is_joined, warps}});
}

/* --- Few tokens --- */

static void issue_thin(struct kwhy_decode_issue *issue, uint32_t layer, uint32_t matrix)
{
	const struct kwhy_decode *decode = issue->decode;
	bool is_direct = matrix == KWHY_DECODE_NARROWING ||
		(matrix == KWHY_DECODE_PROJECTION && decode->args.shares == 1);

	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = (enum kwhy_decode_kernel)(KWHY_DECODE_THIN + matrix),
			.blocks = kwhy_decode_rows(decode->request.shape, matrix) / 8,
			.threads = matrix == KWHY_DECODE_NARROWING ? NARROW_THREADS : FEW_THREADS,
			.shared_bytes = is_direct ? 0 : shared_of_few(decode),
			.numbers = {layer}});
}

static void issue_few(struct kwhy_decode_issue *issue)
{
	struct kwhy_decode *decode = issue->decode;
	uint32_t tiles = kwhy_decode_words_most(decode) / 8, most = kwhy_decode_place_count(decode) * 4;

	issue_begin(issue, false);
	for (uint32_t layer = 0; layer < decode->args.layer_count; layer++) {
		issue_thin(issue, layer, KWHY_DECODE_ATTENTION);
		issue_attend(issue, layer, false, FEW_THREADS);
		issue_thin(issue, layer, KWHY_DECODE_PROJECTION);
		issue_thin(issue, layer, KWHY_DECODE_WIDENING);
		issue_thin(issue, layer, KWHY_DECODE_NARROWING);
	}
	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_THIN_HEAD,
			.blocks = tiles < most ? tiles : most,
			.threads = FEW_THREADS,
			.shared_bytes = shared_of_few(decode)});
}

/* --- Many tokens --- */

/* Prompts are attended to by blocks of 128 queries. */
static void issue_read(struct kwhy_decode_issue *issue, uint32_t layer, bool is_joined)
{
	const struct kwhy_decode_args *args = &issue->decode->args;

	if (args->each == 1) {
		if (kwhy_decode_is_recalled(issue->decode))
			kwhy_decode_issue_recall(issue, layer, is_joined);
		else
			issue_attend(issue, layer, is_joined, MANY_THREADS);
		return;
	}
	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_READ,
			.blocks = args->slots * issue->decode->request.shape->heads *
				((args->each + READ_QUERIES - 1) / READ_QUERIES),
			.threads = FEW_THREADS,
			.numbers = {layer, is_joined}});
}

/* A product whose blocks are too few has its columns split. */
static uint32_t split_count(const struct kwhy_decode *decode, uint32_t matrix)
{
	const struct kwhy_decode_shape *shape = decode->request.shape;
	uint32_t rows = decode->args.tokens <= KWHY_DECODE_SOME_MOST ? SOME_ROWS : MANY,
		 blocks = kwhy_decode_group_count(decode->args.tokens) * (shape->width / rows),
		 wanted = kwhy_decode_place_count(decode) * 3 / 2 / blocks,
		 most = kwhy_decode_columns(shape, matrix) / 256;

	if (most > KWHY_DECODE_SPLITS_MOST)
		most = KWHY_DECODE_SPLITS_MOST;
	if (most > decode->part_tokens / decode->args.tokens)
		most = (uint32_t)(decode->part_tokens / decode->args.tokens);
	wanted = wanted < most ? wanted : most;
	return wanted < 1 ? 1 : wanted;
}

static void issue_wide(struct kwhy_decode_issue *issue, uint32_t layer, uint32_t matrix)
{
	const struct kwhy_decode *decode = issue->decode;
	const struct kwhy_decode_args *args = &decode->args;
	enum kwhy_decode_weights weights = decode->request.weights;
	bool is_words = matrix == KWHY_DECODE_WORDS;
	uint32_t units = kwhy_decode_each(weights) * kwhy_decode_act_bytes(weights) / 16,
		 rows = is_words ? kwhy_decode_words_most(decode)
				 : kwhy_decode_rows(decode->request.shape, matrix),
		 splits = matrix == KWHY_DECODE_PROJECTION ? args->project_splits
		: matrix == KWHY_DECODE_NARROWING	   ? args->narrow_splits
							   : 1,
		 groups = kwhy_decode_group_count(is_words ? args->slots : args->tokens) * splits,
		 tile = rows / 64 * groups < kwhy_decode_place_count(decode) ? 32 : 64,
		 stage = (units == 1 ? 2 : 1) * (MANY * 4 * units + tile * 4) * 16;

	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = tile == 32 ? KWHY_DECODE_WIDE32 : KWHY_DECODE_WIDE64,
			.blocks = rows / tile * groups,
			.threads = MANY_THREADS,
			.shared_bytes = STAGES * stage,
			.numbers = {layer, matrix}});
}

static void issue_some(struct kwhy_decode_issue *issue, uint32_t layer, uint32_t matrix)
{
	const struct kwhy_decode_args *args = &issue->decode->args;
	uint32_t splits = matrix == KWHY_DECODE_PROJECTION ? args->project_splits
		: matrix == KWHY_DECODE_NARROWING	   ? args->narrow_splits
							   : 1;

	if (args->tokens > KWHY_DECODE_SOME_MOST) {
		issue_wide(issue, layer, matrix);
		return;
	}
	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_SOME,
			.blocks = kwhy_decode_rows(issue->decode->request.shape, matrix) / SOME_ROWS *
				kwhy_decode_group_count(args->tokens) * splits,
			.threads = FEW_THREADS,
			.numbers = {layer, matrix}});
}

static void issue_settle(struct kwhy_decode_issue *issue, uint32_t layer, uint32_t what, bool is_last)
{
	const struct kwhy_decode_args *args = &issue->decode->args;

	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_SETTLE,
			.blocks = is_last ? args->slots : args->tokens,
			.threads = args->width / 4,
			.numbers = {layer, what, is_last}});
}

static void issue_own(struct kwhy_decode_issue *issue)
{
	uint32_t layers = issue->decode->args.layer_count;

	for (uint32_t layer = 0; layer < layers; layer++) {
		issue_settle(issue, layer ? layer - 1 : 0,
			layer ? KWHY_DECODE_SETTLE_NARROWING : KWHY_DECODE_SETTLE_NOTHING, false);
		issue_some(issue, layer, KWHY_DECODE_ATTENTION);
		issue_read(issue, layer, false);
		issue_some(issue, layer, KWHY_DECODE_PROJECTION);
		issue_settle(issue, layer, KWHY_DECODE_SETTLE_PROJECTION, false);
		issue_some(issue, layer, KWHY_DECODE_WIDENING);
		issue_some(issue, layer, KWHY_DECODE_NARROWING);
	}
	issue_settle(issue, layers - 1, KWHY_DECODE_SETTLE_NARROWING, true);
}

/* Of many tokens a warp takes one, of fewer a block. */
static void issue_normalise(struct kwhy_decode_issue *issue, bool is_last)
{
	const struct kwhy_decode_args *args = &issue->decode->args;
	uint32_t threads = args->each == 1 ? NORMALISE_THREADS : FEW_THREADS, warps = threads / 32;

	if (!args->has_short_x) {
		issue_settle(issue, 0, KWHY_DECODE_SETTLE_NOTHING, is_last);
		return;
	}
	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_NORMALISE,
			.blocks = ((is_last ? args->slots : args->tokens) + warps - 1) / warps,
			.threads = threads,
			.numbers = {is_last}});
}

/* What the library adds to x is whole: there is nothing to settle. */
static void issue_by_library(struct kwhy_decode_issue *issue, bool is_joined)
{
	for (uint32_t layer = 0; layer < issue->decode->args.layer_count; layer++) {
		if (!issue->decode->is_raw)
			issue_normalise(issue, false);
		if (is_joined)
			kwhy_decode_issue_library(issue, layer, KWHY_DECODE_ATTENTION);
		else
			issue_wide(issue, layer, KWHY_DECODE_ATTENTION);
		issue_read(issue, layer, is_joined);
		kwhy_decode_issue_library(issue, layer, KWHY_DECODE_PROJECTION);
		issue_normalise(issue, false);
		kwhy_decode_issue_library(issue, layer, KWHY_DECODE_WIDENING);
		kwhy_decode_issue_library(issue, layer, KWHY_DECODE_NARROWING);
	}
	issue_normalise(issue, true);
}

/* The library leaves logits, of which a kernel picks the likeliest tokens. */
static void issue_words(struct kwhy_decode_issue *issue)
{
	struct kwhy_decode *decode = issue->decode;
	uint64_t asked = decode->args.logits;

	if (!kwhy_decode_library_takes(decode, decode->args.slots, false)) {
		issue_wide(issue, 0, KWHY_DECODE_WORDS);
		return;
	}
	decode->args.logits = decode->logits;
	kwhy_decode_issue_library(issue, 0, KWHY_DECODE_WORDS);
	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_PICK,
			.blocks = decode->args.slots * PICKING_BLOCKS,
			.threads = PICKING_THREADS,
			.numbers = {PICKING_BLOCKS}});
	decode->args.logits = asked;
}

static void issue_many(struct kwhy_decode_issue *issue)
{
	struct kwhy_decode *decode = issue->decode;
	bool is_reading = decode->args.each > 1,
	     is_library = kwhy_decode_library_takes(decode, decode->args.tokens, is_reading),
	     is_joined = is_library && kwhy_decode_library_joins(decode);

	decode->is_raw = is_joined && !is_reading && kwhy_decode_has_sums(decode);
	decode->args.has_short_x = is_joined && (is_reading || decode->is_raw);
	if (!is_reading && !is_library && kwhy_decode_folds(decode, decode->args.tokens)) {
		kwhy_decode_issue_folded(issue);
		issue_settle(issue, 0, KWHY_DECODE_SETTLE_NOTHING, true);
	} else if (is_library) {
		issue_begin(issue, false);
		issue_by_library(issue, is_joined);
	} else {
		issue_begin(issue, false);
		issue_own(issue);
	}
	decode->is_raw = false;
	decode->args.has_short_x = false;
	issue_words(issue);
}

/* --- All of them --- */

void kwhy_decode_set_choice(struct kwhy_decode *decode, bool is_drawn, bool has_logits)
{
	const struct kwhy_decode_choice *choice = &decode->request.choice;

	decode->args.top_k = choice->top_k;
	decode->args.top_p = choice->top_p;
	decode->args.seed = choice->seed;
	decode->args.temperature = is_drawn ? choice->temperature : 0;
	decode->args.beams = is_drawn && kwhy_decode_has_beams(decode) ? decode->request.beams : 1;
	decode->args.logits = has_logits || decode->args.temperature > 0 || decode->args.beams > 1
		? decode->logits
		: 0;
}

static void issue_choose(struct kwhy_decode_issue *issue)
{
	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_CHOOSE,
			.blocks = issue->decode->args.slots,
			.threads = CHOOSING_THREADS});
}

static bool is_few(const struct kwhy_decode *decode)
{
	return decode->args.each == 1 && decode->args.slots <= KWHY_DECODE_FEW;
}

/* How blocks share what is too little for all of them. */
static void share_out(struct kwhy_decode *decode)
{
	uint32_t heads = decode->args.tokens * decode->request.shape->heads,
		 shares = kwhy_decode_place_count(decode) / heads;

	decode->args.shares = !is_few(decode) || shares < 1 ? 1 : shares > SHARES_MOST ? SHARES_MOST : shares;
	decode->args.project_splits = split_count(decode, KWHY_DECODE_PROJECTION);
	decode->args.narrow_splits = split_count(decode, KWHY_DECODE_NARROWING);
}

void kwhy_decode_issue_pass(struct kwhy_decode_issue *issue)
{
	share_out(issue->decode);
	issue->decode->kernel_count = 0;
	if (is_few(issue->decode) && kwhy_decode_is_joint(issue->decode)) {
		issue_begin(issue, true);
		kwhy_decode_issue_joint(issue);
	} else if (is_few(issue->decode))
		issue_few(issue);
	else if (issue->decode->args.each == 1 && kwhy_decode_is_crowd(issue->decode)) {
		issue_begin(issue, true);
		kwhy_decode_issue_crowd(issue);
	} else
		issue_many(issue);
	if (issue->decode->args.temperature > 0)
		issue_choose(issue);
	kwhy_decode_issue_beams(issue);
	if (issue->decode->args.each == 1)
		issue->decode->step_kernels = issue->decode->kernel_count;
}

static bool has_graph(const struct kwhy_decode *decode)
{
	return decode->request.launching == KWHY_DECODE_GRAPH ||
		decode->request.launching == KWHY_DECODE_EARLY;
}

void kwhy_decode_issue_prompts(struct kwhy_decode_issue *issue, uint32_t each)
{
	struct kwhy_decode_args *args = &issue->decode->args;
	uint32_t slots = args->slots;

	args->each = each;
	args->slots = kwhy_decode_readers(issue->decode);
	args->tokens = args->slots * each;
	kwhy_decode_issue_reset(issue, 0, 0);
	kwhy_decode_issue_pass(issue);
	args->each = 1;
	args->slots = slots;
	args->tokens = args->slots;
}

static void issue_own_prompts(struct kwhy_decode_issue *issue)
{
	kwhy_decode_issue_prompts(issue, issue->decode->request.prompt);
}

static enum kwhy_status capture(struct kwhy_decode *decode, void (*work)(struct kwhy_decode_issue *issue),
	bool is_reading, struct kwhy_error *error)
{
	if (!has_graph(decode))
		return KWHY_OK;
	if (!decode->gpu->ops->capture_begin)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s records no graphs; launch by calls instead",
			decode->gpu->facts.name);
	return kwhy_decode_record(decode, is_reading, work, error);
}

enum kwhy_status kwhy_decode_capture(struct kwhy_decode *decode, struct kwhy_error *error)
{
	return capture(decode, kwhy_decode_issue_pass, false, error);
}

enum kwhy_status kwhy_decode_capture_reading(struct kwhy_decode *decode, struct kwhy_error *error)
{
	return capture(decode, issue_own_prompts, true, error);
}

void kwhy_decode_forget_graphs(struct kwhy_decode *decode)
{
	if (decode->graph)
		decode->gpu->ops->graph_free(decode->gpu, decode->graph);
	if (decode->reading)
		decode->gpu->ops->graph_free(decode->gpu, decode->reading);
	decode->graph = decode->reading = NULL;
	kwhy_decode_peers_forget_graphs(decode);
}

static void issue_whole(struct kwhy_decode_issue *issue, uint32_t steps)
{
	share_out(issue->decode);
	issue->decode->step_kernels = 1;
	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_WHOLE,
			.blocks = issue->decode->whole_blocks,
			.threads = FEW_THREADS,
			.shared_bytes = shared_of_few(issue->decode),
			.numbers = {steps}});
}

void kwhy_decode_issue_steps(struct kwhy_decode_issue *issue, uint32_t steps)
{
	struct kwhy_decode *decode = issue->decode;

	if (decode->request.launching == KWHY_DECODE_DEVICE) {
		issue_whole(issue, steps);
		return;
	}
	for (uint32_t i = 0; i < steps && !issue->status; i++)
		if (has_graph(decode))
			issue->status = kwhy_decode_launch_graphs(decode, false, issue->error);
		else
			kwhy_decode_issue_pass(issue);
}
