/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TESTS_DECODE_TEXT_WORLD_H
#define KWHY_LAB_TESTS_DECODE_TEXT_WORLD_H

/* A small decoder in the host's memory, with its reference, and launches of the kernels' own text on it. */

#include "decode_text.h"

#include "lab/kernels/decode.cu"

#include "lab/decode/rules.h"

#include "cmocka_all.h"

enum {
	PROMPT = 5,
	STEPS = 2,
	SLOTS_MOST = FEW_SLOTS > 20 ? FEW_SLOTS : 20,
	AREA = 32,
	BLOCKS = 3,
	SOME = 16,   /* instead of a wide product's rows: by kernels for some tokens */
	PADDED = 64, /* tokens are rooms of as many */
	VOCABULARY = 192,
	WORDS_KNOWN = 150,
	SPLITS = 2
};

static const struct kwhy_decode_shape tiny = {"tiny", 2, WIDTH, HEADS, INNER, WORDS_KNOWN, AREA};

/* Largest difference to logits of a standard deviation of 2; codes of fewer digits err more. */
static double tolerance(void)
{
	static const double all[] = {2e-4, 2e-2, 0.2, 0.03, 0.6, 0.2, 3, 0.1};

	return SHORT_CACHE && all[WEIGHTS] < 0.4 ? 0.4 : all[WEIGHTS];
}

/* A decoder in the host's memory. */
struct world {
	char *memory, *next;
	struct args a;
	const struct kwhy_decode_shape *shape;
	float *expected[2]; /* of two sequences: [1 + STEPS][vocabulary] */
	u32 tokens[2][PROMPT + STEPS];
	u64 *first;
};

static void *part(struct world *world, size_t bytes)
{
	void *start = world->next;

	world->next += (bytes + 63) / 64 * 64;
	assert_true(world->next < world->memory + (48 << 20));
	return start;
}

/* A launch of any kernel. */
struct call {
	void (*run)(const struct call *call);
	struct args a;
	u32 one, two, three;
	const u64 *first;
	/* of a fill */
	void *to;
	float *scales, bound;
	u32 tensor, rows, known, columns;
};

static void run_call(void *context)
{
	const struct call *call = context;

	call->run(call);
}

static void launch(u32 blocks, u32 threads, struct call call)
{
	cuda_text_launch(blocks, threads, run_call, &call);
}

#define CALL(name, ...)                               \
	static void call_##name(const struct call *c) \
	{                                             \
		kwhy_decode_##name(__VA_ARGS__);      \
	}

CALL(fill, c->to, c->scales, c->tensor, c->rows, c->known, c->columns, 0, c->columns, c->bound, 0)
CALL(fill_floats, c->to, c->tensor, c->rows, 0, c->bound)
CALL(reset, c->a, c->one, c->first)
CALL(begin, c->a, c->one)
CALL(attend, c->a, c->one, c->two, blockDim.x / 32 >> c->three)
CALL(recall, c->a, c->one, c->two, c->three)
CALL(read, c->a, c->one, c->two)
CALL(normalise, c->a, c->one)
CALL(plain, c->to, c->scales, (act *)(uintptr_t)c->first, c->rows, c->columns, 0)
CALL(thin_attention, c->a, c->one)
CALL(thin_project, c->a, c->one)
CALL(thin_widen, c->a, c->one)
CALL(thin_narrow, c->a, c->one)
CALL(thin_head, c->a)
#if HAS_FEW
CALL(joint_attend, c->a, c->one)
CALL(joint_inner, c->a, c->one)
CALL(joint_head, c->a)
#endif
#if HAS_SUMS
CALL(fold_sums, c->a)
#endif
#if HAS_CROWDS
CALL(crowd_attend, c->a, c->one)
CALL(crowd_inner, c->a, c->one)
CALL(crowd_end, c->a)
CALL(crowd_head, c->a)
#endif
CALL(whole, c->a, c->one)
CALL(settle, c->a, c->one, c->two, c->three)
CALL(wide32, c->a, c->one, c->two)
CALL(wide64, c->a, c->one, c->two)
CALL(some, c->a, c->one, c->two)
#if HAS_FOLD
CALL(fold_begin, c->a)
CALL(fold_attention, c->a, c->one)
CALL(fold_project, c->a, c->one)
CALL(fold_widen, c->a, c->one)
CALL(fold_narrow, c->a, c->one)
#endif

static void fill_matrix(
	void *to, const float *scales, u32 tensor, u32 rows, u32 known, u32 columns, float bound)
{
	struct call call = {.run = call_fill,
		.to = to,
		.scales = (float *)(uintptr_t)scales,
		.tensor = kwhy_decode_mix(tensor),
		.rows = rows,
		.known = known,
		.columns = columns,
		.bound = bound};

	launch((rows + 1) / 2, 64, call);
}

static void fill_numbers(const float *to, u32 tensor, u32 count, float bound)
{
	struct call call = {.run = call_fill_floats,
		.to = (void *)(uintptr_t)to,
		.tensor = kwhy_decode_mix(tensor),
		.rows = count,
		.bound = bound};

	launch(2, 64, call);
}

static void make_weights(struct world *world)
{
	const struct kwhy_decode_shape *shape = world->shape;
	struct args *a = &world->a;

	for (u32 layer = 0; layer < shape->layers; layer++) {
		for (u32 m = 0; m < KWHY_DECODE_MATRICES; m++)
			fill_matrix((void *)(uintptr_t)weights_of(a, layer, (int)m),
				a->scales + layer * ROWS + first_row((int)m), layer * KWHY_DECODE_TENSORS + m,
				kwhy_decode_rows(shape, m), kwhy_decode_rows(shape, m),
				kwhy_decode_columns(shape, m),
				kwhy_decode_bound(kwhy_decode_columns(shape, m)));
		fill_numbers(a->biases + layer * ROWS, layer * KWHY_DECODE_TENSORS + KWHY_DECODE_BIASES, ROWS,
			KWHY_DECODE_BIAS_BOUND);
	}
	fill_matrix((void *)(uintptr_t)a->words, a->word_scales, KWHY_DECODE_EMBEDDING, VOCABULARY,
		shape->vocabulary, WIDTH, kwhy_decode_embedding_bound(shape));
	fill_numbers(a->places, KWHY_DECODE_POSITIONS, AREA * WIDTH, KWHY_DECODE_POSITION_BOUND);
}

/* Weights are made once, and copied to the worlds that follow: all lies between the first and the last. */
static void fill_world(struct world *world)
{
	static char *made;
	char *first = (char *)(uintptr_t)world->a.layers;
	size_t bytes = (size_t)((const char *)(world->a.places + AREA * WIDTH) - first);

	if (made) {
		memcpy(first, made, bytes);
		return;
	}
	make_weights(world);
	made = malloc(bytes);
	memcpy(made, first, bytes);
}

static void expect(struct world *world)
{
	static float *expected[2];
	struct kwhy_error error;

	for (u32 s = 0; s < 2; s++) {
		for (u32 i = 0; i < PROMPT + STEPS; i++)
			world->tokens[s][i] = kwhy_decode_prompt_token(world->shape, s, i);
		world->expected[s] = expected[s];
		if (expected[s])
			continue;
		world->expected[s] = expected[s] = calloc((size_t)(STEPS + 1) * VOCABULARY, sizeof(float));
		if ((WEIGHTS == SPARSE ? kwhy_decode_reference_pruned : kwhy_decode_reference)(world->shape,
			    world->tokens[s], PROMPT + STEPS, PROMPT - 1, world->expected[s], &error))
			fail_msg("%s", error.text);
	}
}

static void world_init(struct world *world, u32 slots)
{
	u64 cache = (u64)2 * (slots + 1) * HEADS * (PAGE ? PAGE : AREA) * HEAD * sizeof(act),
	    tokens = (slots * PROMPT + PADDED - 1) / PADDED * PADDED;
	u32 *prompt;

	*world = (struct world){.memory = aligned_alloc(64, 48 << 20), .shape = &tiny};
	world->next = world->memory;
	memset(world->memory, 0, 48 << 20);
	prompt = part(world, slots * PROMPT * 4);
	world->a = (struct args){
		.layers = part(world, 2 * bytes_of(4ull * WIDTH * WIDTH + 2ull * WIDTH * INNER)),
		.scales = part(world, 2 * ROWS * 4),
		.biases = part(world, 2 * ROWS * 4),
		.words = part(world, bytes_of((u64)VOCABULARY * WIDTH)),
		.word_scales = part(world, VOCABULARY * 4),
		.places = part(world, AREA * WIDTH * 4),
		.keys = part(world, cache),
		.values = part(world, cache),
		.x = part(world, tokens * WIDTH * 4),
		.normal = part(world, tokens * WIDTH * sizeof(act)),
		.queries = part(world, tokens * WIDTH * sizeof(act)),
		.mixed = part(world, tokens * WIDTH * sizeof(act)),
		.inner = part(world, tokens * INNER * sizeof(act)),
		.parts = part(world, SPLITS * tokens * WIDTH * 4),
		.narrow_parts = part(world, SPLITS * tokens * WIDTH * 4),
		.pieces = part(world, FEW * HEADS * 4 * PIECE * 4),
		.best = part(world, slots * 8),
		.at = part(world, slots * 4),
		.prompt = prompt,
		.chosen = part(world, slots * AREA * 4),
		.logits = part(world, (u64)slots * WORDS_KNOWN * 4),
		.times = part(world, AREA * 8),
		.arrived = part(world, 4),
		.x_between = part(world, 3 * CROWD * WIDTH * 4),
		.sources = part(world, (u64)2 * slots * AREA * 4),
		.row_sums = part(world, 2 * ROWS * 4),
		.moments = part(world, (u64)5 * slots * 2 * 4),
		.scores = part(world, slots * 4),
		.first_scores = part(world, slots * 4),
		.pages = part(world, slots * 4),
		.page_count = slots + 1,
		.pages_each = 1,
		.layer_count = 2,
		.slots = slots,
		.cache_slots = slots,
		.room = AREA,
		.vocabulary = WORDS_KNOWN,
		.word_count = VOCABULARY,
		.shares = 1,
		.project_splits = 1,
		.narrow_splits = SPLITS};
	world->first = part(world, slots * 8);
	for (u32 slot = 0; slot < slots; slot++)
		world->a.pages[slot] = slots - slot;
	for (u32 i = 0; i < 2 * slots * AREA; i++)
		world->a.sources[i] = i / AREA % slots;
	expect(world);
	fill_world(world);
	for (u32 i = 0; i < slots * PROMPT; i++)
		prompt[i] = world->tokens[i / PROMPT % 2][i % PROMPT];
}

static void world_done(struct world *world)
{
	free(world->memory);
}

static void launch_with(const struct world *world, void (*run)(const struct call *), u32 blocks, u32 threads,
	u32 one, u32 two, u32 three)
{
	launch(blocks, threads,
		(struct call){.run = run, .a = world->a, .one = one, .two = two, .three = three});
}

static void launch_wide(const struct world *world, u32 tile, u32 layer, int matrix)
{
	u32 rows = matrix == WORDS ? VOCABULARY : kwhy_decode_rows(world->shape, (u32)matrix),
	    tokens = matrix == WORDS ? world->a.slots : world->a.tokens,
	    splits = matrix == NARROWING ? world->a.narrow_splits : 1;

	if (tile == SOME && matrix != WORDS)
		launch_with(world, call_some, rows / SOME_ROWS * ((tokens + MANY - 1) / MANY) * splits,
			FEW_THREADS, layer, (u32)matrix, 0);
	else
		launch_with(world, tile == 64 ? call_wide64 : call_wide32,
			rows / (tile == 64 ? 64 : 32) * ((tokens + MANY - 1) / MANY) * splits, MANY_THREADS,
			layer, (u32)matrix, 0);
}

#endif
