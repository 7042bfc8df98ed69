/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels' own text, run on the host, gives the reference's logits. WEIGHTS says of which kind. */
#define WIDTH 128
#define INNER 256
#include "decode_text.h"

#include "workload/kernels/decode.cu"

#include "workload/decode_rules.h"

#include "cmocka_all.h"

enum {
	PROMPT = 5,
	STEPS = 2,
	SLOTS_MOST = 20,
	AREA = 32,
	BLOCKS = 3,
	SOME = 16, /* instead of a wide product's rows: by kernels for some tokens */
	PADDED = 128,
	VOCABULARY = 192,
	WORDS_KNOWN = 150,
	SPLITS = 2
};

static const struct kwhy_decode_shape tiny = {"tiny", 2, WIDTH, HEADS, INNER, WORDS_KNOWN, AREA};

/* Largest difference to logits of a standard deviation of 2; codes of fewer digits err more. */
static double tolerance(void)
{
	static const double all[] = {2e-4, 2e-2, 0.2, 0.03, 0.6, 0.2, 3, 0.1};

	return all[WEIGHTS];
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
CALL(recall, c->a, c->one, c->two)
CALL(recall_many, c->a, c->one, c->two)
CALL(read, c->a, c->one, c->two)
CALL(normalise, c->a, c->one)
CALL(plain, c->to, c->scales, (act *)(uintptr_t)c->first, c->rows, c->columns, 0)
CALL(thin_attention, c->a, c->one)
CALL(thin_project, c->a, c->one)
CALL(thin_widen, c->a, c->one)
CALL(thin_narrow, c->a, c->one)
CALL(thin_head, c->a, c->one)
#if HAS_JOINT
CALL(joint_attend, c->a, c->one)
CALL(joint_inner, c->a, c->one)
#endif
CALL(whole, c->a, c->one)
CALL(settle, c->a, c->one, c->two, c->three)
CALL(wide32, c->a, c->one, c->two)
CALL(wide64, c->a, c->one, c->two)
CALL(some, c->a, c->one, c->two)

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
	u64 cache = (u64)2 * (slots + 1) * HEADS * (PAGE ? PAGE : AREA) * HEAD * sizeof(act), tokens = PADDED;
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
		.x_between = part(world, 4 * FEW * WIDTH * 4),
		.sources = part(world, (u64)2 * slots * AREA * 4),
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

/* To prompts, and of single tokens as it is done of a few, or of more. */
static void launch_attention(const struct world *world, u32 tile, u32 layer)
{
	u32 warps = RECALL_THREADS / 32, blocks = (world->a.tokens * HEADS + warps - 1) / warps;

	if (ACT_BYTES == 2 && tile != SOME && world->a.each == 1)
		launch_with(world, tile == 64 ? call_recall : call_recall_many, blocks, RECALL_THREADS, layer,
			0, 0);
	else
		launch_with(
			world, world->a.each > 1 ? call_read : call_attend, BLOCKS, FEW_THREADS, layer, 0, 0);
}

static void run_wide(struct world *world, u32 tile)
{
	u32 tokens = world->a.tokens;

	launch_with(world, call_begin, BLOCKS, 64, 0, 0, 0);
	for (u32 layer = 0; layer < 2; layer++) {
		launch_with(world, call_settle, tokens, WIDTH / 4, layer ? layer - 1 : 0,
			layer ? SETTLE_NARROWING : SETTLE_NOTHING, 0);
		launch_wide(world, tile, layer, ATTENTION);
		launch_attention(world, tile, layer);
		launch_wide(world, tile, layer, PROJECTION);
		launch_with(world, call_settle, tokens, WIDTH / 4, layer, SETTLE_PROJECTION, 0);
		launch_wide(world, tile, layer, WIDENING);
		launch_wide(world, tile, layer, NARROWING);
	}
	launch_with(world, call_settle, world->a.slots, WIDTH / 4, 1, SETTLE_NARROWING, 1);
	launch_wide(world, tile, 0, WORDS);
}

static void run_thin(struct world *world)
{
	launch_with(world, call_begin, BLOCKS, 64, 0, 0, 0);
	for (u32 layer = 0; layer < 2; layer++) {
		launch_with(world, call_thin_attention, BLOCKS, FEW_THREADS, layer, 0, 0);
		launch_with(world, call_attend, BLOCKS, MANY_THREADS, layer, 0, 1);
		launch_with(world, call_thin_project, BLOCKS, FEW_THREADS, layer, 0, 0);
		launch_with(world, call_thin_widen, BLOCKS, FEW_THREADS, layer, 0, 0);
		launch_with(world, call_thin_narrow, BLOCKS, NARROW_THREADS, layer, 0, 0);
	}
	launch_with(world, call_thin_head, BLOCKS, FEW_THREADS, 0, 0, 0);
}

static void check_logits(const struct world *world, u32 step)
{
	for (u32 slot = 0; slot < world->a.slots; slot++) {
		const float *expected = world->expected[slot % 2] + step * WORDS_KNOWN,
			    *found = world->a.logits + slot * WORDS_KNOWN;
		u32 likeliest = 0;

		for (u32 i = 0; i < WORDS_KNOWN; i++) {
			if (!(fabs((double)found[i] - expected[i]) <= tolerance()))
				fail_msg("step %u, slot %u, token %u: %g, expected %g", step, slot, i,
					(double)found[i], (double)expected[i]);
			likeliest = found[i] > found[likeliest] ? i : likeliest;
		}
		assert_int_equal(~(u32)world->a.best[slot], likeliest);
	}
}

static void prefill(struct world *world, u32 tile)
{
	world->a.each = PROMPT;
	world->a.tokens = world->a.slots * PROMPT;
	launch(1, 32, (struct call){.run = call_reset, .a = world->a});
	run_wide(world, tile);
	check_logits(world, 0);
	world->a.each = 1;
	world->a.tokens = world->a.slots;
	launch(1, 32, (struct call){.run = call_reset, .a = world->a, .one = PROMPT - 1});
}

/* What comes next is told, so that both sides read the same. */
static void tell(struct world *world, u32 step)
{
	for (u32 slot = 0; slot < world->a.slots; slot++)
		world->a.best[slot] = (u32)~world->tokens[slot % 2][PROMPT + step];
}

static void check_thin_steps(struct world *world)
{
	launch(1, 32, (struct call){.run = call_reset, .a = world->a, .one = PROMPT - 1});
	for (u32 step = 0; step < STEPS; step++) {
		tell(world, step);
		run_thin(world);
		check_logits(world, step + 1);
		assert_int_equal(world->a.at[0], PROMPT + step);
		assert_int_equal(world->a.chosen[PROMPT + step], world->tokens[0][PROMPT + step]);
	}
}

static void few_tokens_give_the_logits_of_the_reference_also_where_blocks_share_a_head(void **state)
{
	struct world world;

	(void)state;
	world_init(&world, 10);
	prefill(&world, SOME);
	check_thin_steps(&world);
	world.a.shares = 3;
	check_thin_steps(&world);
	world_done(&world);
}

#if HAS_JOINT
static void check_joint_steps(struct world *world)
{
	launch(1, 32, (struct call){.run = call_reset, .a = world->a, .one = PROMPT - 1});
	for (u32 step = 0; step < STEPS; step++) {
		tell(world, step);
		launch_with(world, call_begin, BLOCKS, 64, 1, 0, 0);
		for (u32 layer = 0; layer < 2; layer++) {
			launch_with(world, call_joint_attend, HEADS * CLUSTER, FEW_THREADS, layer, 0, 0);
			launch_with(
				world, call_joint_inner, INNER_CLUSTERS * CLUSTER, FEW_THREADS, layer, 0, 0);
		}
		launch_with(world, call_thin_head, BLOCKS, FEW_THREADS, 1, 0, 0);
		check_logits(world, step + 1);
	}
}

static void two_kernels_a_layer_give_the_logits_of_the_reference(void **state)
{
	const u32 slots[] = {1, 3, 10};

	(void)state;
	for (u32 i = 0; i < 3; i++) {
		struct world world;

		world_init(&world, slots[i]);
		prefill(&world, SOME);
		world.a.shares = slots[i] < CLUSTER ? CLUSTER / slots[i] : 1;
		check_joint_steps(&world);
		world_done(&world);
	}
}
#endif

static void many_tokens_give_the_logits_of_the_reference(void **state)
{
	struct world world;

	(void)state;
	world_init(&world, SLOTS_MOST);
	prefill(&world, 64);
	for (u32 step = 0; step < STEPS; step++) {
		tell(&world, step);
		run_wide(&world, step % 2 ? SOME : 32);
		check_logits(&world, step + 1);
	}
	world_done(&world);
}

static void all_steps_in_one_launch_choose_the_tokens_of_single_launches(void **state)
{
	u32 one[AREA], two[AREA];
	struct world world;

	(void)state;
	world_init(&world, 2);
	prefill(&world, 32);
	world.a.shares = 2;
	tell(&world, 0);
	for (u32 step = 0; step < STEPS; step++)
		run_thin(&world);
	memcpy(one, world.a.chosen, sizeof(one));
	launch(1, 32, (struct call){.run = call_reset, .a = world.a, .one = PROMPT - 1});
	tell(&world, 0);
	memset(world.a.chosen + PROMPT, 0, STEPS * sizeof(u32));
	launch_with(&world, call_whole, BLOCKS, FEW_THREADS, STEPS, 0, 0);
	memcpy(two, world.a.chosen, sizeof(two));
	assert_memory_equal(one, two, sizeof(one));
	assert_int_equal(world.a.at[1], PROMPT + STEPS - 1);
	world_done(&world);
}

static float number_of_act(act value)
{
#if ACT_BYTES == 4
	return value;
#else
	return NUMBER(value, 0);
#endif
}

static void assert_acts_near(const act *found, const act *expected, u64 count, float most)
{
	for (u64 i = 0; i < count; i++)
		if (!(fabsf(number_of_act(found[i]) - number_of_act(expected[i])) <= most))
			fail_msg("number %llu: %g, expected %g", i, (double)number_of_act(found[i]),
				(double)number_of_act(expected[i]));
}

enum { LONG = 138, LONG_ROOM = 144 };

/* Queries, keys and values of a layer: token by token in `inner`, and where single tokens find them. */
static void fill_state(struct world *world)
{
	struct args *a = &world->a;
	act *state = a->inner, *queries = a->queries, *keys = a->keys, *values = a->values;

	for (u32 token = 0; token < a->tokens; token++)
		for (u32 row = 0; row < 3 * WIDTH; row++) {
			act value = act_of((row < 2 * WIDTH ? 4 : 1) * unit_of(7, token * 3 * WIDTH + row));
			u32 column = row % WIDTH;
			u64 place = cache_at(a, 0, token / LONG, column / HEAD, token % LONG) + column % HEAD;

			state[token * 3 * WIDTH + row] = value;
			if (row < WIDTH)
				queries[token * WIDTH + row] = value;
			else
				(row < 2 * WIDTH ? keys : values)[place] = value;
		}
}

/* The last token of each prompt again, by itself: its queries are not where they belong, nor are its key and
 * value yet. */
static void check_last_tokens(
	struct world *world, const act *mixed, const act *keys, const act *values, u64 cache)
{
	u32 at[] = {LONG - 1, LONG - 1}, sources[2 * 2 * LONG_ROOM];
	struct args *a = &world->a;

	for (u32 i = 0; i < 2 * 2 * LONG_ROOM; i++)
		sources[i] = i / LONG_ROOM % 2;
	for (u32 slot = 0; slot < 2; slot++) {
		memmove(a->inner + (u64)slot * 3 * WIDTH,
			a->inner + ((u64)slot * LONG + LONG - 1) * 3 * WIDTH, 3 * WIDTH * sizeof(act));
		for (u32 head = 0; head < HEADS; head++) {
			memset(a->keys + cache_at(a, 0, slot, head, LONG - 1), 0xff, HEAD * sizeof(act));
			memset(a->values + cache_at(a, 0, slot, head, LONG - 1), 0xff, HEAD * sizeof(act));
		}
	}
	memset(a->queries, 0xff, 2 * WIDTH * sizeof(act));
	a->at = at;
	a->sources = sources;
	a->each = 1;
	a->tokens = 2;
	for (u32 form = 0; form < (PAGE || BEAM ? 1 : 3); form++) {
		void (*const forms[])(const struct call *) = {call_attend, call_recall, call_recall_many};

		memset(a->mixed, 0, 2 * WIDTH * sizeof(act));
		launch_with(world, forms[form], form ? 2 * HEADS / (RECALL_THREADS / 32) : BLOCKS,
			form ? RECALL_THREADS : MANY_THREADS, 0, 1, 2);
		for (u32 slot = 0; slot < 2; slot++)
			assert_acts_near(a->mixed + slot * WIDTH,
				mixed + ((u64)slot * LONG + LONG - 1) * WIDTH, WIDTH, form ? 0.02f : 0);
	}
	assert_memory_equal(keys, a->keys, cache * sizeof(act));
	assert_memory_equal(values, a->values, cache * sizeof(act));
}

static void prompts_are_attended_to_by_tiles_as_by_single_tokens(void **state)
{
	const u64 cache = (PAGE ? 7ull * PAGE : 2ull * LONG_ROOM) * HEADS * HEAD, tokens = 2 * LONG;
	u32 pages[] = {3, 1, 4, 2, 6, 5};
	struct world world = {.memory = aligned_alloc(64, 48 << 20)};
	act *expected, *keys, *values;

	(void)state;
	world.next = world.memory;
	world.a = (struct args){.inner = part(&world, tokens * 3 * WIDTH * sizeof(act)),
		.queries = part(&world, tokens * WIDTH * sizeof(act)),
		.keys = part(&world, cache * sizeof(act)),
		.values = part(&world, cache * sizeof(act)),
		.mixed = part(&world, tokens * WIDTH * sizeof(act)),
		.layers = part(&world, 64),
		.slots = 2,
		.cache_slots = 2,
		.room = LONG_ROOM,
		.pages = pages,
		.page_count = 7,
		.pages_each = 3,
		.each = LONG,
		.tokens = 2 * LONG,
		.shares = 1};
	expected = part(&world, tokens * WIDTH * sizeof(act));
	memset(world.memory, 0, 48 << 20);
	fill_state(&world);
	launch_with(&world, call_attend, BLOCKS, MANY_THREADS, 0, 0, 0);
	memcpy(expected, world.a.mixed, tokens * WIDTH * sizeof(act));
	memset(world.a.mixed, 0, tokens * WIDTH * sizeof(act));
	launch_with(&world, call_read, BLOCKS, FEW_THREADS, 0, 0, 0);
	assert_acts_near(world.a.mixed, expected, tokens * WIDTH, 0.02f);
	if (WEIGHTS >= BF16) {
		keys = part(&world, cache * sizeof(act));
		values = part(&world, cache * sizeof(act));
		memcpy(keys, world.a.keys, cache * sizeof(act));
		memcpy(values, world.a.values, cache * sizeof(act));
		memset(world.a.keys, 0, cache * sizeof(act));
		memset(world.a.values, 0, cache * sizeof(act));
		memset(world.a.mixed, 0, tokens * WIDTH * sizeof(act));
		launch_with(&world, call_read, BLOCKS, FEW_THREADS, 0, 1, 0);
		assert_acts_near(world.a.mixed, expected, tokens * WIDTH, 0.02f);
		assert_memory_equal(keys, world.a.keys, cache * sizeof(act));
		assert_memory_equal(values, world.a.values, cache * sizeof(act));
		check_last_tokens(&world, expected, keys, values, cache);
	}
	free(world.memory);
}

static void tokens_of_short_numbers_are_normalised_as_those_of_long_ones(void **state)
{
	struct world world;
	act *expected;

	(void)state;
	world_init(&world, 10);
	world.a.each = PROMPT;
	world.a.tokens = 10 * PROMPT;
	expected = part(&world, world.a.tokens * WIDTH * sizeof(act));
	for (u32 last = 0; last < 2; last++) {
		u32 count = last ? 10 : world.a.tokens;

		world.a.has_short_x = 0;
		launch_with(&world, call_begin, BLOCKS, 64, 0, 0, 0);
		launch_with(&world, call_settle, count, WIDTH / 4, 0, SETTLE_NOTHING, last);
		memcpy(expected, world.a.normal, count * WIDTH * sizeof(act));
		memset(world.a.normal, 0, count * WIDTH * sizeof(act));
		world.a.has_short_x = 1;
		launch_with(&world, call_begin, BLOCKS, 64, 0, 0, 0);
		launch_with(&world, call_normalise, (count + 1) / 2, 64, last, 0, 0);
		assert_acts_near(world.a.normal, expected, count * WIDTH, 0.05f);
	}
	world_done(&world);
}

static void plain_weights_are_in_order_with_their_scales_in_them(void **state)
{
	const float most[] = {0, 0, 2e-4f, 3e-5f, 8e-3f, 5e-4f, 9e-3f, 5e-4f};
	struct world world;
	act *plain, *expected;
	float four[4];

	(void)state;
	world_init(&world, 2);
	plain = part(&world, (u64)WIDTH * INNER * sizeof(act));
	expected = part(&world, (u64)WIDTH * INNER * sizeof(act));
	launch(WIDTH / 2, 64,
		(struct call){.run = call_plain,
			.to = (void *)(uintptr_t)weights_of(&world.a, 1, NARROWING),
			.scales = (float *)(uintptr_t)world.a.scales + ROWS + first_row(NARROWING),
			.first = (const u64 *)(const void *)plain,
			.rows = WIDTH,
			.columns = INNER});
	for (u32 i = 0; i < WIDTH * INNER; i++) {
		four[i % 4] = kwhy_decode_bound(INNER) *
			unit_of(kwhy_decode_mix(KWHY_DECODE_TENSORS + NARROWING), i);
		for (u32 j = 0; i % 4 == 3 && j < 4; j++)
			expected[i - 3 + j] = act_of(
				WEIGHTS == SPARSE && !kwhy_decode_is_kept(four, j) ? 0 : four[j]);
	}
	assert_acts_near(plain, expected, (u64)WIDTH * INNER, most[WEIGHTS]);
	world_done(&world);
}

int main(void)
{
	const struct CMUnitTest further[] = {
		cmocka_unit_test(few_tokens_give_the_logits_of_the_reference_also_where_blocks_share_a_head),
		cmocka_unit_test(prompts_are_attended_to_by_tiles_as_by_single_tokens),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_tokens_give_the_logits_of_the_reference_also_where_blocks_share_a_head),
#if HAS_JOINT
		cmocka_unit_test(two_kernels_a_layer_give_the_logits_of_the_reference),
#endif
		cmocka_unit_test(many_tokens_give_the_logits_of_the_reference),
		cmocka_unit_test(prompts_are_attended_to_by_tiles_as_by_single_tokens),
		cmocka_unit_test(tokens_of_short_numbers_are_normalised_as_those_of_long_ones),
		cmocka_unit_test(plain_weights_are_in_order_with_their_scales_in_them),
		cmocka_unit_test(all_steps_in_one_launch_choose_the_tokens_of_single_launches),
	};

	if (!CUDA_TEXT_RUNS)
		return 77;
	/* What beams and pages change. */
	return PAGE || BEAM ? cmocka_run_group_tests(further, NULL, NULL)
			    : cmocka_run_group_tests(tests, NULL, NULL);
}
