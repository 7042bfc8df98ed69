/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels' own text on two GPUs that run at once: what it adds up is what the host's kernels do. */
#define WEIGHTS 0
#define WIDTH 128
#define INNER 256
#define HEADS_HERE 1
#define RANKS 2
#include "decode_text.h"

#include "lab/kernels/decode.cu"

#include "lab/decode/inside.h"

#include "cmocka_all.h"

enum { PROMPT = 5, BLOCKS = 3, SLOTS_MANY = 17, WORDS_ALL = 1000, SPLITS = 2 };

static struct kwhy_gpu *gpus[RANKS];

/* A launch of any kernel on one GPU. */
struct call {
	void (*run)(const struct call *call);
	struct args a;
	u32 one, two, three;
};

static void run_call(void *context)
{
	const struct call *call = context;

	call->run(call);
}

#define CALL(name, ...)                               \
	static void call_##name(const struct call *c) \
	{                                             \
		kwhy_decode_##name(__VA_ARGS__);      \
	}

CALL(begin, c->a, 0)
CALL(attend, c->a, c->one, 0, blockDim.x / 32)
CALL(thin_attention, c->a, c->one)
CALL(thin_project, c->a, c->one)
CALL(thin_widen, c->a, c->one)
CALL(thin_narrow, c->a, c->one)
CALL(thin_head, c->a)
CALL(settle, c->a, c->one, c->two, c->three)
CALL(wide32, c->a, c->one, c->two)

/* What one GPU does. */
struct rank {
	struct args a;
	int is_thin;
	pthread_t thread;
};

static void launch(const struct rank *rank, void (*run)(const struct call *call), u32 blocks, u32 threads,
	u32 one, u32 two, u32 three)
{
	struct call call = {run, rank->a, one, two, three};

	cuda_text_launch(blocks, threads, run_call, &call);
}

static void run_thin(const struct rank *rank)
{
	launch(rank, call_begin, BLOCKS, 64, 0, 0, 0);
	for (u32 layer = 0; layer < rank->a.layer_count; layer++) {
		launch(rank, call_thin_attention, BLOCKS, FEW_THREADS, layer, 0, 0);
		launch(rank, call_attend, BLOCKS, MANY_THREADS, layer, 0, 0);
		launch(rank, call_thin_project, BLOCKS, FEW_THREADS, layer, 0, 0);
		launch(rank, call_thin_widen, BLOCKS, FEW_THREADS, layer, 0, 0);
		launch(rank, call_thin_narrow, BLOCKS, NARROW_THREADS, layer, 0, 0);
	}
	launch(rank, call_thin_head, BLOCKS, FEW_THREADS, 0, 0, 0);
}

static void launch_wide(const struct rank *rank, u32 layer, int matrix)
{
	const struct args *a = &rank->a;
	u32 rows = matrix == WORDS    ? a->word_count
		: matrix == ATTENTION ? 3 * MIXED
		: matrix == WIDENING  ? INNER
				      : WIDTH,
	    tokens = matrix == WORDS ? a->slots : a->tokens,
	    splits = matrix == NARROWING ? a->narrow_splits : 1;

	launch(rank, call_wide32, rows / 32 * ((tokens + MANY - 1) / MANY) * splits, MANY_THREADS, layer,
		(u32)matrix, 0);
}

static void run_wide(const struct rank *rank)
{
	u32 layers = rank->a.layer_count, tokens = rank->a.tokens;

	launch(rank, call_begin, tokens, 64, 0, 0, 0);
	for (u32 layer = 0; layer < layers; layer++) {
		launch(rank, call_settle, tokens, WIDTH / 4, layer ? layer - 1 : 0,
			layer ? SETTLE_NARROWING : SETTLE_NOTHING, 0);
		launch_wide(rank, layer, ATTENTION);
		launch(rank, call_attend, BLOCKS, MANY_THREADS, layer, 0, 0);
		launch_wide(rank, layer, PROJECTION);
		launch(rank, call_settle, tokens, WIDTH / 4, layer, SETTLE_PROJECTION, 0);
		launch_wide(rank, layer, WIDENING);
		launch_wide(rank, layer, NARROWING);
	}
	launch(rank, call_settle, rank->a.slots, WIDTH / 4, layers - 1, SETTLE_NARROWING, 1);
	launch_wide(rank, 0, WORDS);
}

static void *run_rank(void *context)
{
	const struct rank *rank = context;

	if (rank->is_thin)
		run_thin(rank);
	else
		run_wide(rank);
	return NULL;
}

/* A pass of the text, on both GPUs at once. */
static void run_text(const struct kwhy_decode *decode, int is_thin)
{
	struct rank ranks[RANKS];

	for (u32 r = 0; r < RANKS; r++) {
		const struct kwhy_decode_args args = kwhy_decode_args_of(decode, r);

		assert_int_equal(sizeof(args), sizeof(ranks[r].a));
		memcpy(&ranks[r].a, &args, sizeof(args));
		ranks[r].a.shares = 1;
		ranks[r].a.project_splits = 1;
		ranks[r].a.narrow_splits = SPLITS;
		ranks[r].is_thin = is_thin;
		assert_int_equal(pthread_create(&ranks[r].thread, NULL, run_rank, &ranks[r]), 0);
	}
	for (u32 r = 0; r < RANKS; r++)
		pthread_join(ranks[r].thread, NULL);
}

static struct kwhy_decode *decoder_of(u32 slots)
{
	const struct kwhy_decode_request request = {.gpu = gpus[0],
		.peers = gpus + 1,
		.peer_count = RANKS - 1,
		.shape = kwhy_decode_shape_find("small"),
		.weights = KWHY_DECODE_FP32,
		.slots = slots,
		.prompt = PROMPT,
		.tokens = 2};
	struct kwhy_decode *decode;
	struct kwhy_error error;

	if (kwhy_decode_open(&request, &decode, &error) || kwhy_decode_prefill(decode, NULL, &error))
		fail_msg("%s", error.text);
	kwhy_decode_set_choice(decode, false, true);
	return decode;
}

static void take_logits(struct kwhy_decode *decode, float *out)
{
	struct kwhy_error error;

	if (kwhy_decode_copy(decode, kwhy_gpu_address(out), decode->logits,
		    (size_t)decode->args.slots * WORDS_ALL * sizeof(*out), &error) ||
		kwhy_decode_met(decode, &error))
		fail_msg("%s", error.text);
	memset((void *)(uintptr_t)decode->logits, 0, (size_t)decode->args.slots * WORDS_ALL * sizeof(*out));
}

static void assert_near(const float *found, const float *expected, u32 slots)
{
	for (u32 i = 0; i < slots * WORDS_ALL; i++)
		if (!(fabsf(found[i] - expected[i]) <= 1e-3f))
			fail_msg("slot %u, token %u: %g, expected %g", i / WORDS_ALL, i % WORDS_ALL,
				(double)found[i], (double)expected[i]);
}

/* All slots are behind their prompts, and what the first pass of theirs chose is next. */
static void come_back(struct kwhy_decode *decode)
{
	struct kwhy_error error;
	struct kwhy_decode_issue issue = {decode, &error, KWHY_OK};

	kwhy_decode_issue_reset(&issue, PROMPT - 1, decode->first);
	if (kwhy_decode_await(&issue))
		fail_msg("%s", error.text);
}

static void compare_steps(u32 slots)
{
	float *expected = calloc((size_t)2 * slots, WORDS_ALL * sizeof(float)),
	      *found = expected + slots * WORDS_ALL;
	struct kwhy_decode *decode = decoder_of(slots);
	struct kwhy_error error;
	struct kwhy_decode_issue issue = {decode, &error, KWHY_OK};

	come_back(decode);
	kwhy_decode_issue_steps(&issue, 2);
	if (kwhy_decode_await(&issue))
		fail_msg("%s", error.text);
	take_logits(decode, expected);
	come_back(decode);
	for (u32 step = 0; step < 2; step++)
		run_text(decode, slots <= FEW);
	take_logits(decode, found);
	assert_near(found, expected, slots);
	kwhy_decode_close(decode);
	free(expected);
}

static void few_tokens_are_added_up_by_words_that_carry_flags(void **state)
{
	(void)state;
	compare_steps(3);
}

static void many_tokens_are_added_up_where_they_lie(void **state)
{
	(void)state;
	compare_steps(SLOTS_MANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_tokens_are_added_up_by_words_that_carry_flags),
		cmocka_unit_test(many_tokens_are_added_up_where_they_lie),
	};
	struct kwhy_error error;
	int failed;

	if (!CUDA_TEXT_RUNS)
		return kwhy_skip_all(CUDA_TEXT_ABSENT);
	if (kwhy_gpu_open(KWHY_GPU_HOST, "0", &gpus[0], &error) ||
		kwhy_gpu_open(KWHY_GPU_HOST, "1", &gpus[1], &error))
		return 1;
	failed = kwhy_test_main(tests, NULL, NULL);
	for (int i = 0; i < RANKS; i++)
		gpus[i]->ops->close(gpus[i]);
	return failed;
}
