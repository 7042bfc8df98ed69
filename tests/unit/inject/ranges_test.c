/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "inject/ranges.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local bool
	selects; /* result of the last call that ended a range: whether the range selects what is recorded */

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct kwhy_inject_ranges));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void nested_ranges_end_innermost_first(void **state)
{
	struct kwhy_inject_ranges *ranges = *state;
	struct kwhy_inject_range_stack stack = {.thread = 9};
	struct kwhy_inject_range range;

	assert_int_equal(kwhy_inject_range_push(&stack, NULL, "outer", 10, false), 0);
	assert_int_equal(kwhy_inject_range_push(&stack, NULL, "inner", 20, false), 1);
	assert_int_equal(kwhy_inject_range_pop(ranges, &stack, NULL, 30, &selects), 1);
	assert_int_equal(kwhy_inject_range_pop(ranges, &stack, NULL, 40, &selects), 0);
	assert_int_equal(kwhy_inject_range_pop(ranges, &stack, NULL, 50, &selects), -1);
	assert_true(kwhy_inject_ranges_next(ranges, &range));
	assert_string_equal(range.name, "inner");
	assert_int_equal(range.start_mono_ns, 20);
	assert_int_equal(range.end_mono_ns, 30);
	assert_int_equal(range.thread, 9);
	assert_true(kwhy_inject_ranges_next(ranges, &range));
	assert_string_equal(range.name, "outer");
	assert_int_equal(range.end_mono_ns, 40);
	assert_false(kwhy_inject_ranges_next(ranges, &range));
}

static void domains_nest_each_for_itself(void **state)
{
	struct kwhy_inject_ranges *ranges = *state;
	struct kwhy_inject_range_stack stack = {.thread = 9};
	struct kwhy_inject_range range;
	const char first = 1, second = 2; /* handles of domains, distinguished by their addresses */

	kwhy_inject_range_push(&stack, &first, "of first", 1, false);
	assert_int_equal(kwhy_inject_range_push(&stack, &second, "of second", 2, false), 0);
	assert_int_equal(kwhy_inject_range_pop(ranges, &stack, &first, 3, &selects), 0);
	assert_int_equal(kwhy_inject_range_pop(ranges, &stack, &first, 3, &selects), -1);
	assert_int_equal(kwhy_inject_range_pop(ranges, &stack, &second, 4, &selects), 0);
	assert_true(kwhy_inject_ranges_next(ranges, &range));
	assert_string_equal(range.name, "of first");
	assert_true(kwhy_inject_ranges_next(ranges, &range));
	assert_string_equal(range.name, "of second");
	assert_int_equal(range.start_mono_ns, 2);
}

static void ranges_too_deep_are_counted_and_the_others_stay_right(void **state)
{
	struct kwhy_inject_ranges *ranges = *state;
	struct kwhy_inject_range_stack *stack = calloc(1, sizeof(*stack));
	struct kwhy_inject_range range;

	for (int i = 0; i < KWHY_INJECT_RANGE_DEPTH + 3; i++)
		kwhy_inject_range_push(stack, NULL, i ? "deep" : "outermost", i, false);
	for (int i = 0; i < KWHY_INJECT_RANGE_DEPTH + 3; i++)
		kwhy_inject_range_pop(ranges, stack, NULL, 1000 + i, &selects);
	assert_int_equal(kwhy_inject_ranges_take_lost(ranges), 3);
	assert_int_equal(kwhy_inject_ranges_take_lost(ranges), 0);
	for (int i = 0; i < KWHY_INJECT_RANGE_DEPTH; i++)
		assert_true(kwhy_inject_ranges_next(ranges, &range));
	assert_string_equal(range.name, "outermost");
	assert_int_equal(range.start_mono_ns, 0);
	free(stack);
}

static void ranges_by_id_end_in_any_order_and_once(void **state)
{
	struct kwhy_inject_ranges *ranges = *state;
	struct kwhy_inject_range range;
	const uint64_t a = kwhy_inject_range_start(ranges, "a", 1, false),
		       b = kwhy_inject_range_start(ranges, "b", 2, false);

	assert_int_not_equal(a, 0);
	assert_int_not_equal(a, b);
	kwhy_inject_range_end(ranges, a, 5);
	kwhy_inject_range_end(ranges, a, 6);
	kwhy_inject_range_end(ranges, b, 7);
	kwhy_inject_range_end(ranges, 12345678, 8);
	kwhy_inject_range_end(ranges, 0, 9);
	assert_true(kwhy_inject_ranges_next(ranges, &range));
	assert_string_equal(range.name, "a");
	assert_int_equal(range.thread, UINT32_MAX);
	assert_true(kwhy_inject_ranges_next(ranges, &range));
	assert_string_equal(range.name, "b");
	assert_false(kwhy_inject_ranges_next(ranges, &range));
}

static void more_open_ranges_than_places_are_counted(void **state)
{
	struct kwhy_inject_ranges *ranges = *state;
	uint64_t id = 0;

	for (int i = 0; i < KWHY_INJECT_RANGES_OPEN; i++)
		assert_int_not_equal(id = kwhy_inject_range_start(ranges, "x", i, false), 0);
	assert_int_equal(kwhy_inject_range_start(ranges, "one too many", 7, false), 0);
	assert_int_equal(kwhy_inject_ranges_take_lost(ranges), 1);
	kwhy_inject_range_end(ranges, id, 9);
	assert_int_not_equal(kwhy_inject_range_start(ranges, "fits again", 10, false), 0);
}

static void a_full_queue_loses_and_counts_then_goes_on(void **state)
{
	struct kwhy_inject_ranges *ranges = *state;
	struct kwhy_inject_range_stack stack = {.thread = 1};
	struct kwhy_inject_range range;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < KWHY_INJECT_RANGES_QUEUED + 5; i++) {
			kwhy_inject_range_push(&stack, NULL, "r", i, false);
			kwhy_inject_range_pop(ranges, &stack, NULL, i + 1, &selects);
		}
		assert_int_equal(kwhy_inject_ranges_take_lost(ranges), 5);
		for (int i = 0; i < KWHY_INJECT_RANGES_QUEUED; i++) {
			assert_true(kwhy_inject_ranges_next(ranges, &range));
			assert_int_equal(range.start_mono_ns, i);
		}
		assert_false(kwhy_inject_ranges_next(ranges, &range));
	}
}

static void long_names_are_cut_between_characters(void **state)
{
	struct kwhy_inject_ranges *ranges = *state;
	struct kwhy_inject_range_stack stack = {.thread = 1};
	struct kwhy_inject_range range;
	char name[KWHY_INJECT_RANGE_NAME_BYTES + 10];

	/* Each character has two bytes, and the limit falls into the middle of one. */
	for (size_t i = 0; i + 2 < sizeof(name); i += 2)
		memcpy(name + i, "\xc3\xa4", 3);
	kwhy_inject_range_push(&stack, NULL, name, 1, false);
	kwhy_inject_range_pop(ranges, &stack, NULL, 2, &selects);
	assert_true(kwhy_inject_ranges_next(ranges, &range));
	assert_int_equal(strlen(range.name), KWHY_INJECT_RANGE_NAME_BYTES - 2);
}

enum { THREADS = 4, RANGES_OF_ONE = 20000 };

static void *make_ranges(void *context)
{
	struct kwhy_inject_ranges *ranges = context;
	struct kwhy_inject_range_stack *stack = calloc(1, sizeof(*stack));

	stack->thread = 1;
	for (int i = 0; i < RANGES_OF_ONE; i++) {
		kwhy_inject_range_push(stack, NULL, "together", i, false);
		kwhy_inject_range_pop(ranges, stack, NULL, i + 1, &selects);
		kwhy_inject_range_end(ranges, kwhy_inject_range_start(ranges, "together", i, false), i + 1);
	}
	free(stack);
	return NULL;
}

static void threads_together_lose_nothing_uncounted(void **state)
{
	struct kwhy_inject_ranges *ranges = *state;
	struct kwhy_inject_range range;
	pthread_t threads[THREADS];
	uint64_t got = 0, lost = 0;

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, make_ranges, ranges), 0);
	while (got + lost < 2 * THREADS * RANGES_OF_ONE) {
		while (kwhy_inject_ranges_next(ranges, &range)) {
			assert_string_equal(range.name, "together");
			assert_int_equal(range.end_mono_ns, range.start_mono_ns + 1);
			got++;
		}
		lost += kwhy_inject_ranges_take_lost(ranges);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(got + lost, 2 * THREADS * RANGES_OF_ONE);
	assert_true(got > 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(nested_ranges_end_innermost_first),
		CASE(domains_nest_each_for_itself),
		CASE(ranges_too_deep_are_counted_and_the_others_stay_right),
		CASE(ranges_by_id_end_in_any_order_and_once),
		CASE(more_open_ranges_than_places_are_counted),
		CASE(a_full_queue_loses_and_counts_then_goes_on),
		CASE(long_names_are_cut_between_characters),
		CASE(threads_together_lose_nothing_uncounted),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
