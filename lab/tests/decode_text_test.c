/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels' own text, run on the host, gives the reference's logits. WEIGHTS says of which kind. */
#define WIDTH 128
#define INNER 256
#include "decode_text_world.h"

/* To prompts, and of single tokens as it is done of a few, or of more. */
static void launch_attention(const struct world *world, u32 tile, u32 layer)
{
	u32 warps = RECALL_THREADS / 32, blocks = (world->a.tokens * HEADS + warps - 1) / warps;

	if (ACT_BYTES == 2 && tile != SOME && world->a.each == 1)
		launch_with(world, call_recall, blocks, RECALL_THREADS, layer, 0, tile == 64 ? 8 : 3);
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
	launch((world->a.slots + 31) / 32, 32, (struct call){.run = call_reset, .a = world->a});
	run_wide(world, tile);
	check_logits(world, 0);
	world->a.each = 1;
	world->a.tokens = world->a.slots;
	launch((world->a.slots + 31) / 32, 32,
		(struct call){.run = call_reset, .a = world->a, .one = PROMPT - 1});
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

#if HAS_FEW
static void two_kernels_a_layer_give_the_logits_of_the_reference(void **state)
{
	struct world world;

	(void)state;
	world_init(&world, FEW_SLOTS);
	prefill(&world, SOME);
	for (u32 step = 0; step < STEPS; step++) {
		tell(&world, step);
		launch_with(&world, call_begin, BLOCKS, 64, 1, 0, 0);
		for (u32 layer = 0; layer < 2; layer++) {
			launch_with(&world, call_joint_attend, HEADS * CLUSTER, PAIR_THREADS, layer, 0, 0);
			launch_with(&world, call_joint_inner, INNER_CLUSTERS * CLUSTER, PAIR_THREADS, layer,
				0, 0);
		}
		launch_with(&world, call_joint_head, BLOCKS, PAIR_THREADS, 0, 0, 0);
		check_logits(&world, step + 1);
	}
	world_done(&world);
}
#endif

#if HAS_CROWDS
static void two_kernels_a_layer_of_more_tokens_give_the_logits_of_the_reference(void **state)
{
	struct world world;

	(void)state;
	world_init(&world, FEW_SLOTS);
	prefill(&world, SOME);
	launch_with(&world, call_fold_sums, 2 * (3 * MIXED + INNER) / 8, 256, 0, 0, 0);
	for (u32 step = 0; step < STEPS; step++) {
		tell(&world, step);
		launch_with(&world, call_begin, BLOCKS, 64, 1, 0, 0);
		for (u32 layer = 0; layer < 2; layer++) {
			launch_with(&world, call_crowd_attend, HEADS * CLUSTER, CROWD_THREADS, layer, 0, 0);
			launch_with(&world, call_crowd_inner, INNER_CLUSTERS * CLUSTER, CROWD_THREADS, layer,
				0, 0);
		}
		launch_with(&world, call_crowd_end, (FEW_SLOTS + 7) / 8, FEW_THREADS, 0, 0, 0);
		launch_with(&world, call_crowd_head, BLOCKS, CROWD_WORD_THREADS, 0, 0, 0);
		check_logits(&world, step + 1);
	}
	world_done(&world);
}
#endif

#if HAS_FOLD
static void launch_fold(const struct world *world, void (*run)(const struct call *), u32 layer, int matrix)
{
	u32 rows = kwhy_decode_rows(world->shape, (u32)matrix),
	    tiles = matrix == PROJECTION ? 1 : FOLD_TILES(rows);

	launch_with(world, run,
		rows / (tiles * 16) * ((world->a.tokens + MANY - 1) / MANY) *
			(matrix == NARROWING ? FOLD_INNER : FOLD_WIDE),
		FOLD_THREADS, layer, 0, 0);
}

static void check_folded_steps(u32 slots)
{
	struct world world;

	world_init(&world, slots);
	prefill(&world, SOME);
	launch_with(&world, call_fold_sums, 2 * (3 * MIXED + INNER) / 8, 256, 0, 0, 0);
	for (u32 step = 0; step < STEPS; step++) {
		tell(&world, step);
		launch_with(&world, call_fold_begin, slots, WIDTH / 4, 0, 0, 0);
		for (u32 layer = 0; layer < 2; layer++) {
			launch_fold(&world, call_fold_attention, layer, ATTENTION);
			launch_attention(&world, 32, layer);
			launch_fold(&world, call_fold_project, layer, PROJECTION);
			launch_fold(&world, call_fold_widen, layer, WIDENING);
			launch_fold(&world, call_fold_narrow, layer, NARROWING);
		}
		launch_with(&world, call_settle, slots, WIDTH / 4, 0, SETTLE_NOTHING, 1);
		launch_wide(&world, 64, 0, WORDS);
		check_logits(&world, step + 1);
	}
	world_done(&world);
}

static void tokens_normalised_inside_of_products_give_the_logits_of_the_reference(void **state)
{
	(void)state;
	check_folded_steps(SLOTS_MOST);
	check_folded_steps(MANY + 6); /* a second group of them, and all rows of the first */
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

static float number_of_kept(cached value)
{
#if SHORT_CACHE
	return kwhy_decode_from_fp8(value);
#else
	return number_of_act(value);
#endif
}

static void assert_kept_near(const cached *found, const cached *expected, u64 count, float most)
{
	for (u64 i = 0; i < count; i++)
		if (!(fabsf(number_of_kept(found[i]) - number_of_kept(expected[i])) <= most))
			fail_msg("number %llu: %g, expected %g", i, (double)number_of_kept(found[i]),
				(double)number_of_kept(expected[i]));
}

/* A number that keys and values have room for. */
static float keepable(float value)
{
	return SHORT_CACHE ? kwhy_decode_from_fp8(kwhy_decode_to_fp8(value)) : value;
}

enum { LONG = 138, LONG_ROOM = 144 };

/* Queries, keys and values of a layer: token by token in `inner`, and where single tokens find them. */
static void fill_state(struct world *world)
{
	struct args *a = &world->a;
	act *state = a->inner, *queries = a->queries;
	cached *keys = a->keys, *values = a->values;

	for (u32 token = 0; token < a->tokens; token++)
		for (u32 row = 0; row < 3 * WIDTH; row++) {
			float number = (row < 2 * WIDTH ? 4 : 1) * unit_of(7, token * 3 * WIDTH + row);
			act value = act_of(row < WIDTH ? number : keepable(number));
			u32 column = row % WIDTH;
			u64 place = cache_at(a, 0, token / LONG, column / HEAD, token % LONG) + column % HEAD;

			state[token * 3 * WIDTH + row] = value;
			if (row < WIDTH)
				queries[token * WIDTH + row] = value;
			else
				keep_one(&(row < 2 * WIDTH ? keys : values)[place], number);
		}
}

/* The last token of each prompt again, by itself: its queries are not where they belong, nor are its key and
 * value yet. */
static void check_last_tokens(
	struct world *world, const act *mixed, const cached *keys, const cached *values, u64 cache)
{
	u32 at[] = {LONG - 1, LONG - 1}, sources[2 * 2 * LONG_ROOM];
	struct args *a = &world->a;

	for (u32 i = 0; i < 2 * 2 * LONG_ROOM; i++)
		sources[i] = i / LONG_ROOM % 2;
	for (u32 slot = 0; slot < 2; slot++) {
		memmove(a->inner + (u64)slot * 3 * WIDTH,
			a->inner + ((u64)slot * LONG + LONG - 1) * 3 * WIDTH, 3 * WIDTH * sizeof(act));
		for (u32 head = 0; head < HEADS; head++) {
			memset(a->keys + cache_at(a, 0, slot, head, LONG - 1), 0xff, HEAD * sizeof(cached));
			memset(a->values + cache_at(a, 0, slot, head, LONG - 1), 0xff, HEAD * sizeof(cached));
		}
	}
	memset(a->queries, 0xff, 2 * WIDTH * sizeof(act));
	a->at = at;
	a->sources = sources;
	a->each = 1;
	a->tokens = 2;
	for (u32 form = 0; form < (PAGE || BEAM ? 1 : 3); form++) {
		memset(a->mixed, 0, 2 * WIDTH * sizeof(act));
		launch_with(world, form ? call_recall : call_attend,
			form ? 2 * HEADS / (RECALL_THREADS / 32) : BLOCKS,
			form ? RECALL_THREADS : MANY_THREADS, 0, 1, form == 2 ? 5 : 2);
		for (u32 slot = 0; slot < 2; slot++)
			assert_acts_near(a->mixed + slot * WIDTH,
				mixed + ((u64)slot * LONG + LONG - 1) * WIDTH, WIDTH, form ? 0.02f : 0);
	}
	assert_memory_equal(keys, a->keys, cache * sizeof(cached));
	assert_memory_equal(values, a->values, cache * sizeof(cached));
}

/* The same of a product with x as it is, whose mean is 1 and whose deviation 2. */
static void check_raw_tokens(
	struct world *world, const act *mixed, const cached *keys, const cached *values, u64 cache)
{
	struct args *a = &world->a;
	float *sums = part(world, ROWS * 4), *biases = part(world, ROWS * 4);
	act *x = part(world, 2 * WIDTH * sizeof(act));
	u32 at[] = {LONG - 1, LONG - 1};

	a->row_sums = sums;
	a->biases = biases;
	a->x = (float *)(void *)x;
	a->at = at;
	for (u32 row = 0; row < 3 * WIDTH; row++) {
		sums[row] = unit_of(8, row);
		biases[row] = unit_of(9, row);
	}
	for (u32 i = 0; i < 2 * WIDTH; i++)
		x[i] = act_of(i % 2 ? 3 : -1);
	for (u32 i = 0; i < 2 * 3 * WIDTH; i++) {
		u32 row = i % (3 * WIDTH);

		a->inner[i] = act_of((number_of_act(a->inner[i]) - biases[row]) * 2 + sums[row]);
	}
	memset(a->mixed, 0, 2 * WIDTH * sizeof(act));
	launch_with(world, call_recall, 2 * HEADS / (RECALL_THREADS / 32), RECALL_THREADS, 0, 2, 4);
	for (u32 slot = 0; slot < 2; slot++)
		assert_acts_near(
			a->mixed + slot * WIDTH, mixed + ((u64)slot * LONG + LONG - 1) * WIDTH, WIDTH, 0.06f);
	/* of 8 bits the next number is an eighth further */
	assert_kept_near(a->keys, keys, cache, SHORT_CACHE ? 0.26f : 0.06f);
	assert_kept_near(a->values, values, cache, SHORT_CACHE ? 0.13f : 0.06f);
}

static void prompts_are_attended_to_by_tiles_as_by_single_tokens(void **state)
{
	const u64 cache = (PAGE ? 7ull * PAGE : 2ull * LONG_ROOM) * HEADS * HEAD, tokens = 2 * LONG;
	u32 pages[] = {3, 1, 4, 2, 6, 5};
	struct world world = {.memory = aligned_alloc(64, 48 << 20)};
	cached *keys, *values;
	act *expected;

	(void)state;
	world.next = world.memory;
	world.a = (struct args){.inner = part(&world, tokens * 3 * WIDTH * sizeof(act)),
		.queries = part(&world, tokens * WIDTH * sizeof(act)),
		.keys = part(&world, cache * sizeof(cached)),
		.values = part(&world, cache * sizeof(cached)),
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
		keys = part(&world, cache * sizeof(cached));
		values = part(&world, cache * sizeof(cached));
		memcpy(keys, world.a.keys, cache * sizeof(cached));
		memcpy(values, world.a.values, cache * sizeof(cached));
		memset(world.a.keys, 0, cache * sizeof(cached));
		memset(world.a.values, 0, cache * sizeof(cached));
		memset(world.a.mixed, 0, tokens * WIDTH * sizeof(act));
		launch_with(&world, call_read, BLOCKS, FEW_THREADS, 0, 1, 0);
		assert_acts_near(world.a.mixed, expected, tokens * WIDTH, 0.02f);
		assert_memory_equal(keys, world.a.keys, cache * sizeof(cached));
		assert_memory_equal(values, world.a.values, cache * sizeof(cached));
		check_last_tokens(&world, expected, keys, values, cache);
		if (ACT_BYTES == 2 && !PAGE && !BEAM)
			check_raw_tokens(&world, expected, keys, values, cache);
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
#if HAS_FEW
		cmocka_unit_test(two_kernels_a_layer_give_the_logits_of_the_reference),
#endif
#if HAS_CROWDS
		cmocka_unit_test(two_kernels_a_layer_of_more_tokens_give_the_logits_of_the_reference),
#endif
		cmocka_unit_test(many_tokens_give_the_logits_of_the_reference),
#if HAS_FOLD
		cmocka_unit_test(tokens_normalised_inside_of_products_give_the_logits_of_the_reference),
#endif
		cmocka_unit_test(prompts_are_attended_to_by_tiles_as_by_single_tokens),
		cmocka_unit_test(tokens_of_short_numbers_are_normalised_as_those_of_long_ones),
		cmocka_unit_test(plain_weights_are_in_order_with_their_scales_in_them),
		cmocka_unit_test(all_steps_in_one_launch_choose_the_tokens_of_single_launches),
	};

	if (!CUDA_TEXT_RUNS)
		return kwhy_skip_all(CUDA_TEXT_ABSENT);
	/* What beams and pages change. */
	return PAGE || BEAM ? kwhy_test_main(further, NULL, NULL) : kwhy_test_main(tests, NULL, NULL);
}
