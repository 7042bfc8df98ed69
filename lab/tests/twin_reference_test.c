/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/twin/inside.h"

#include "cmocka_all.h"

#include <inttypes.h>

/*
 * Checksums X (`field`) and Y (`observed`) after a step of a shape, as lab/README.md states them for the last
 * step.
 */
static const struct golden {
	struct lab_twin_shape shape;
	uint32_t step;
	uint64_t field, observed;
} goldens[] = {
	{{288, 1, true}, 0, 0x6c558a2d7e9bc70e, 0x1b82d4fbc5b50d52},
	{{288, 1, true}, 287, 0x92d1687e1c80143d, 0x04e282170e35932c},
	{{288, 1, false}, 287, 0x7f1fffce0c5bcf19, 0x6cc9d6611c332a16},
	{{288, 4, true}, 287, 0x9841a4a3b8478229, 0x79c3732e38a3dbc4},
};

static struct lab_twin_answer answer_of(const struct lab_twin_shape *shape)
{
	struct lab_twin_answer answer;
	struct kwhy_error error;

	if (lab_twin_reference(shape, &answer, &error))
		fail_msg("%s", error.text);
	return answer;
}

static void the_reference_gives_the_golden_bits(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(goldens) / sizeof(goldens[0]); i++) {
		struct lab_twin_answer answer = answer_of(&goldens[i].shape);
		struct lab_twin_step step = answer.steps[goldens[i].step];

		if (step.field != goldens[i].field || step.observed != goldens[i].observed)
			fail_msg("row %zu: X %016" PRIx64 ", Y %016" PRIx64, i, step.field, step.observed);
		lab_twin_answer_done(&answer);
	}
}

static void a_short_run_is_the_beginning_of_a_long_one(void **state)
{
	struct lab_twin_answer whole = answer_of(&(struct lab_twin_shape){40, 2, true}),
			       part = answer_of(&(struct lab_twin_shape){7, 2, true});

	(void)state;
	assert_memory_equal(whole.steps, part.steps, 7 * sizeof(*part.steps));
	assert_memory_equal(whole.history, part.history, 7 * LAB_TWIN_SLOT_FLOATS * sizeof(*part.history));
	lab_twin_answer_done(&whole);
	lab_twin_answer_done(&part);
}

static void packed_observations_fill_their_room_without_overlap(void **state)
{
	unsigned char used[WIDE * 8 + (LAB_TWIN_OBSERVED_MAX - WIDE) * 4] = {0};

	(void)state;
	for (uint32_t q = 0; q < LAB_TWIN_OBSERVED_MAX; q++) {
		uint32_t at = packed_at(q), bytes = is_wide(q) ? 8 : 4;

		assert_int_equal(at % bytes, 0);
		for (uint32_t i = 0; i < bytes; i++)
			assert_int_equal(used[at + i]++, 0);
	}
	for (size_t i = 0; i < sizeof(used); i++)
		assert_int_equal(used[i], 1);
}

static void a_shape_out_of_bounds_is_an_error(void **state)
{
	const struct lab_twin_shape shapes[] = {{0, 1, true}, {289, 1, true}, {1, 0, true}, {1, 9, true}};
	struct lab_twin_answer answer;
	struct kwhy_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		assert_int_equal(lab_twin_reference(&shapes[i], &answer, &error), KWHY_E_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_gives_the_golden_bits),
		cmocka_unit_test(a_short_run_is_the_beginning_of_a_long_one),
		cmocka_unit_test(packed_observations_fill_their_room_without_overlap),
		cmocka_unit_test(a_shape_out_of_bounds_is_an_error),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
