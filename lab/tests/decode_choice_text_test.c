/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels' own text, run on the host, draws tokens by probability and ranks beams as the host does. */
#define WEIGHTS 3
#define BEAM 1
#define WIDTH 128
#define INNER 256
#include "decode_text.h"

#include "lab/kernels/decode.cu"

#include "lab/decode/host_beam.h"

#include "cmocka_all.h"

enum { WORDS_ALL = 150, BEAMS = 3 };

static void run_choose(void *args)
{
	kwhy_decode_choose(*(const struct args *)args);
}

static void run_pick(void *args)
{
	kwhy_decode_pick(*(const struct args *)args, 3);
}

static void run_beam_rank(void *args)
{
	kwhy_decode_beam_rank(*(const struct args *)args);
}

static void run_beam_choose(void *args)
{
	kwhy_decode_beam_choose(*(const struct args *)args, BEAMS);
}

/* The logits of a slot that are kept, by sorting. */
static u32 kept_of(const float *logits, u32 top_k, float top_p, float temperature, float *out_least)
{
	double sum = 0, reached = 0;
	float sorted[WORDS_ALL];
	u32 count = top_k ? top_k : WORDS_ALL, kept = 0;

	memcpy(sorted, logits, sizeof(sorted));
	for (u32 i = 0; i < WORDS_ALL; i++)
		for (u32 j = i + 1; j < WORDS_ALL; j++)
			if (sorted[j] > sorted[i]) {
				float other = sorted[i];

				sorted[i] = sorted[j];
				sorted[j] = other;
			}
	for (u32 i = 0; i < count; i++)
		sum += exp((double)(sorted[i] - sorted[0]) / temperature);
	while (kept < count && reached < top_p * sum * (1 - 1e-6))
		reached += exp((double)(sorted[kept++] - sorted[0]) / temperature);
	*out_least = sorted[kept - 1];
	return kept;
}

/* Of many draws, all are among those that are kept, and the likeliest has its share. */
static void check_draws(u32 top_k, float top_p)
{
	enum { SLOTS = 32, ROUNDS = 8 };
	float logits[SLOTS][WORDS_ALL], least, sum = 0;
	u32 at[SLOTS] = {0}, drawn = 0;
	u64 best[SLOTS];
	struct args a = {.logits = logits[0],
		.best = best,
		.at = at,
		.slots = SLOTS,
		.vocabulary = WORDS_ALL,
		.top_k = top_k,
		.top_p = top_p,
		.temperature = 0.7f,
		.seed = 5};

	for (u32 i = 0; i < SLOTS * WORDS_ALL; i++)
		logits[i / WORDS_ALL][i % WORDS_ALL] = 2 * unit_of(3, i % WORDS_ALL) + (i % WORDS_ALL == 17);
	(void)kept_of(logits[0], top_k, top_p, 0.7f, &least);
	for (u32 i = 0; i < WORDS_ALL; i++)
		sum += logits[0][i] >= least ? expf((logits[0][i] - logits[0][17]) / 0.7f) : 0;
	for (u32 round = 0; round < ROUNDS; round++) {
		for (u32 slot = 0; slot < SLOTS; slot++) {
			best[slot] = (u32)~17;
			at[slot] = round;
		}
		cuda_text_launch(SLOTS, 64, run_choose, &a);
		for (u32 slot = 0; slot < SLOTS; slot++) {
			assert_true(logits[slot][~(u32)best[slot]] >= least);
			drawn += ~(u32)best[slot] == 17;
		}
	}
	assert_float_equal((float)drawn / (SLOTS * ROUNDS), 1 / sum, 0.08);
}

/* Of equal ones the first is. */
static void the_likeliest_token_is_picked_from_logits(void **state)
{
	enum { SLOTS = 5 };
	static float logits[SLOTS * WORDS_ALL];
	const u32 likeliest[SLOTS] = {0, 149, 70, 33, 96};
	u64 best[SLOTS] = {0};
	struct args a = {.logits = logits, .best = best, .slots = SLOTS, .vocabulary = WORDS_ALL};

	(void)state;
	for (u32 i = 0; i < SLOTS * WORDS_ALL; i++)
		logits[i] = -2 + unit_of(4, i);
	for (u32 slot = 0; slot < SLOTS; slot++)
		logits[slot * WORDS_ALL + likeliest[slot]] = -0.5f;
	logits[2 * WORDS_ALL + 71] = logits[2 * WORDS_ALL + 148] = -0.5f;
	cuda_text_launch(3 * SLOTS, 32, run_pick, &a);
	for (u32 slot = 0; slot < SLOTS; slot++) {
		assert_int_equal(~(u32)best[slot], likeliest[slot]);
		assert_true(best[slot] == key_of(-0.5f, likeliest[slot]));
	}
}

static void tokens_are_drawn_by_their_probabilities_among_those_that_are_kept(void **state)
{
	(void)state;
	check_draws(0, 1);
	check_draws(10, 1);
	check_draws(0, 0.5f);
	check_draws(40, 0.3f);
}

/* Of two sequences of three beams, at position 5. */
static void beams_are_ranked_and_chosen_as_on_the_host(void **state)
{
	enum { SLOTS = 6, ROOM_HERE = 8 };
	static float logits[SLOTS * WORDS_ALL], scores[3][SLOTS];
	static u64 candidates[2][SLOTS * BEAMS_MOST], best[3][SLOTS];
	static u32 sources[2][2 * SLOTS * ROOM_HERE], at[SLOTS] = {5, 5, 5, 5, 5, 5};
	u32 live = BEAMS;
	struct args a = {.logits = logits,
		.vocabulary = WORDS_ALL,
		.slots = SLOTS,
		.cache_slots = SLOTS,
		.room = ROOM_HERE,
		.each = 1,
		.beams = BEAMS,
		.sequences = 2,
		.at = at};
	void *arguments[] = {&a, &live};

	(void)state;
	for (u32 i = 0; i < SLOTS * WORDS_ALL; i++)
		logits[i] = 2 * unit_of(11, i);
	for (u32 slot = 0; slot < SLOTS; slot++) {
		scores[0][slot] = scores[1][slot] = -0.1f * (float)slot;
		for (u32 i = 0; i < WORDS_ALL; i++) {
			u64 key = key_of(logits[slot * WORDS_ALL + i], i);

			best[0][slot] = best[1][slot] = key > best[0][slot] ? key : best[0][slot];
		}
		for (u32 i = 0; i < ROOM_HERE; i++)
			sources[0][(SLOTS + slot) * ROOM_HERE + i] =
				sources[1][(SLOTS + slot) * ROOM_HERE + i] = slot * 10 + i;
	}
	for (int on_host = 0; on_host < 2; on_host++) {
		a.scores = scores[on_host];
		a.candidates = candidates[on_host];
		a.best = best[on_host];
		a.sources = sources[on_host];
		if (on_host) {
			kwhy_decode_host_beam_rank(NULL, arguments);
			for (u32 i = 0; i < SLOTS * BEAMS_MOST; i++)
				assert_int_equal((u32)candidates[0][i], (u32)candidates[1][i]);
			memcpy(candidates[1], candidates[0], sizeof(candidates[0]));
			kwhy_decode_host_beam_choose(NULL, arguments);
		} else {
			cuda_text_launch(SLOTS, 64, run_beam_rank, &a);
			cuda_text_launch(2, 64, run_beam_choose, &a);
		}
	}
	assert_memory_equal(best[0], best[1], sizeof(best[0]));
	assert_memory_equal(scores[0], scores[1], sizeof(scores[0]));
	assert_memory_equal(sources[0], sources[1], sizeof(sources[0]));
	for (u32 slot = 0; slot < SLOTS; slot++) {
		assert_int_equal(sources[0][slot * ROOM_HERE + 6], slot);
		assert_int_equal(sources[0][slot * ROOM_HERE] / 10 % 2, slot % 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_likeliest_token_is_picked_from_logits),
		cmocka_unit_test(tokens_are_drawn_by_their_probabilities_among_those_that_are_kept),
		cmocka_unit_test(beams_are_ranked_and_chosen_as_on_the_host),
	};

	if (!CUDA_TEXT_RUNS)
		return kwhy_skip_all(CUDA_TEXT_ABSENT);
	return kwhy_test_main(tests, NULL, NULL);
}
