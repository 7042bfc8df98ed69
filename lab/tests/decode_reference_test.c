/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/rules.h"

#include "cmocka_all.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT = 6 };

static const struct lab_decode_shape *small(void)
{
	return &lab_decode_shapes[2];
}

static enum kwhy_status refer(const uint32_t *tokens, uint32_t count, uint32_t first, bool is_pruned,
	float *out, struct kwhy_error *error)
{
	const struct lab_decode_sequence sequence = {tokens, count, first, is_pruned};

	return lab_decode_reference(small(), &sequence, out, error);
}

static float *logits_of(const uint32_t *tokens, uint32_t count, uint32_t first)
{
	float *logits = malloc((size_t)count * small()->vocabulary * sizeof(*logits));
	struct kwhy_error error;

	assert_non_null(logits);
	if (refer(tokens, count, first, false, logits, &error))
		fail_msg("%s", error.text);
	return logits;
}

static void take_prompt(uint32_t *tokens, uint32_t sequence)
{
	for (uint32_t i = 0; i < COUNT; i++)
		tokens[i] = lab_decode_prompt_token(small(), sequence, i);
}

static void a_later_token_does_not_change_what_came_before(void **state)
{
	uint32_t tokens[COUNT];
	float *all, *fewer;

	(void)state;
	take_prompt(tokens, 0);
	all = logits_of(tokens, COUNT, 0);
	fewer = logits_of(tokens, COUNT - 2, 0);
	assert_memory_equal(all, fewer, (size_t)(COUNT - 2) * small()->vocabulary * sizeof(*all));
	free(all);
	free(fewer);
}

static void an_earlier_token_changes_what_comes_after(void **state)
{
	uint32_t tokens[COUNT];
	float *before, *after;

	(void)state;
	take_prompt(tokens, 0);
	before = logits_of(tokens, COUNT, COUNT - 1);
	tokens[0] = (tokens[0] + 1) % small()->vocabulary;
	after = logits_of(tokens, COUNT, COUNT - 1);
	assert_memory_not_equal(before, after, small()->vocabulary * sizeof(*before));
	free(before);
	free(after);
}

static void logits_spread_as_the_bounds_of_the_weights_say(void **state)
{
	uint32_t tokens[COUNT];
	size_t count = (size_t)COUNT * small()->vocabulary;
	double squares = 0;
	float *logits;

	(void)state;
	take_prompt(tokens, 1);
	logits = logits_of(tokens, COUNT, 0);
	for (size_t i = 0; i < count; i++)
		squares += (double)logits[i] * logits[i];
	assert_float_equal(sqrt(squares / (double)count), 2, 0.2);
	free(logits);
}

static uint64_t weight_count(const struct lab_decode_shape *shape)
{
	return lab_decode_weights_before(shape, shape->layers, 0) +
		(uint64_t)shape->vocabulary * shape->width;
}

static void shapes_have_the_weights_of_their_models(void **state)
{
	(void)state;
	assert_true(weight_count(&lab_decode_shapes[0]) == 123543552);
	assert_true(weight_count(&lab_decode_shapes[1]) == 1310916608);
	for (size_t i = 0; i < LAB_DECODE_SHAPE_COUNT; i++)
		assert_int_equal(lab_decode_shapes[i].heads * LAB_DECODE_HEAD, lab_decode_shapes[i].width);
}

static void weights_that_lack_two_of_four_come_to_other_logits_of_their_size(void **state)
{
	uint32_t tokens[COUNT];
	float *all, *pruned = malloc(small()->vocabulary * sizeof(*pruned));
	double squares = 0, off = 0;
	struct kwhy_error error;

	(void)state;
	take_prompt(tokens, 0);
	all = logits_of(tokens, COUNT, COUNT - 1);
	assert_int_equal(refer(tokens, COUNT, COUNT - 1, true, pruned, &error), KWHY_OK);
	for (uint32_t i = 0; i < small()->vocabulary; i++) {
		squares += (double)all[i] * all[i];
		off += ((double)all[i] - pruned[i]) * ((double)all[i] - pruned[i]);
	}
	assert_true(sqrt(off / squares) > 0.3 && sqrt(off / squares) < 1.2);
	free(all);
	free(pruned);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_later_token_does_not_change_what_came_before),
		cmocka_unit_test(an_earlier_token_changes_what_comes_after),
		cmocka_unit_test(logits_spread_as_the_bounds_of_the_weights_say),
		cmocka_unit_test(shapes_have_the_weights_of_their_models),
		cmocka_unit_test(weights_that_lack_two_of_four_come_to_other_logits_of_their_size),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
