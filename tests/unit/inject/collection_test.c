/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "inject/collection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

/*
 * A fake of the recording of activities, which can be switched on and off. Switching advances the clock to
 * after_ns.
 */
struct switched {
	bool is_on;
	int64_t after_ns; /* time to which switching sets the clock */
	unsigned count;
};

static struct switched collection;

static int64_t switch_to(void *context, bool is_on)
{
	struct switched *switched = context;

	switched->is_on = is_on;
	switched->count++;
	return switched->after_ns;
}

static struct kwhy_inject_collection *gate_of(int64_t from_ns, int64_t until_ns, const char *pattern)
{
	const struct kwhy_inject_plan plan = {
		.from_mono_ns = from_ns, .until_mono_ns = until_ns, .share_ratio = (double)NAN};
	struct kwhy_inject_collection *control = calloc(1, sizeof(*control));

	assert_non_null(control);
	collection = (struct switched){.is_on = true};
	kwhy_inject_collection_init(control, &plan, pattern, switch_to, &collection);
	return control;
}

static void assert_window(
	struct kwhy_inject_collection *control, int64_t start_ns, int64_t end_ns, int64_t since_ns)
{
	struct kwhy_inject_window window;

	assert_true(kwhy_inject_collection_take(control, INT64_MAX, &window));
	assert_int_equal(window.start_mono_ns, start_ns);
	assert_int_equal(window.end_mono_ns, end_ns);
	assert_int_equal(window.since_mono_ns, since_ns);
}

static void assert_no_window(struct kwhy_inject_collection *control)
{
	struct kwhy_inject_window window;

	assert_false(kwhy_inject_collection_take(control, INT64_MAX, &window));
}

static void without_bounds_all_is_one_window_and_nothing_is_switched(void **state)
{
	struct kwhy_inject_collection *control = gate_of(INT64_MIN, INT64_MAX, "");

	(void)state;
	assert_int_equal(kwhy_inject_collection_advance(control, 50), INT64_MAX);
	kwhy_inject_collection_begin(control, 100);
	assert_int_equal(kwhy_inject_collection_advance(control, 150), INT64_MAX);
	assert_no_window(control);
	kwhy_inject_collection_end(control, 900);
	assert_window(control, 100, 900, 0);
	assert_int_equal(collection.count, 0);
	kwhy_inject_collection_end(control, 1000);
	assert_no_window(control);
	free(control);
}

static void a_window_that_is_to_come_is_led_into_and_ends_when_it_was_to(void **state)
{
	struct kwhy_inject_collection *control = gate_of(100 * MS, 200 * MS, "");

	(void)state;
	kwhy_inject_collection_begin(control, 10 * MS);
	assert_false(collection.is_on);
	assert_int_equal(kwhy_inject_collection_advance(control, 20 * MS), 95 * MS);
	collection.after_ns = 97 * MS;
	assert_int_equal(kwhy_inject_collection_advance(control, 95 * MS), 100 * MS);
	assert_true(collection.is_on);
	assert_int_equal(kwhy_inject_collection_advance(control, 101 * MS), 200 * MS);
	collection.after_ns = 204 * MS;
	assert_int_equal(kwhy_inject_collection_advance(control, 203 * MS), INT64_MAX);
	assert_false(collection.is_on);
	assert_window(control, 100 * MS, 200 * MS, 97 * MS);
	assert_false(kwhy_inject_collection_is_idle(control, 300 * MS));
	assert_true(kwhy_inject_collection_is_idle(control, 600 * MS));
	free(control);
}

static void a_window_begins_when_collection_does_if_that_is_later(void **state)
{
	struct kwhy_inject_collection *control = gate_of(100 * MS, 200 * MS, "");

	(void)state;
	kwhy_inject_collection_begin(control, 10 * MS);
	collection.after_ns = 130 * MS;
	kwhy_inject_collection_advance(control, 120 * MS);
	kwhy_inject_collection_end(control, 150 * MS);
	assert_window(control, 130 * MS, 150 * MS, 130 * MS);
	free(control);
}

static void a_program_that_begins_inside_a_window_is_known_from_its_first_moment(void **state)
{
	struct kwhy_inject_collection *control = gate_of(100 * MS, 200 * MS, "");

	(void)state;
	kwhy_inject_collection_advance(control, 90 * MS);
	kwhy_inject_collection_begin(control, 140 * MS);
	assert_int_equal(collection.count, 0);
	kwhy_inject_collection_advance(control, 200 * MS);
	assert_window(control, 140 * MS, 200 * MS, 0);
	free(control);
}

static void a_program_that_begins_after_the_window_has_none(void **state)
{
	struct kwhy_inject_collection *control = gate_of(100 * MS, 200 * MS, "");

	(void)state;
	kwhy_inject_collection_begin(control, 300 * MS);
	assert_false(collection.is_on);
	assert_int_equal(kwhy_inject_collection_advance(control, 310 * MS), INT64_MAX);
	kwhy_inject_collection_end(control, 400 * MS);
	assert_no_window(control);
	free(control);
}

static void ranges_of_the_name_are_windows_and_nested_ones_are_one(void **state)
{
	struct kwhy_inject_collection *control = gate_of(INT64_MIN, INT64_MAX, "step*");

	(void)state;
	kwhy_inject_collection_begin(control, 10 * MS);
	assert_false(collection.is_on);
	assert_true(kwhy_inject_collection_wants(control, "step 7"));
	assert_false(kwhy_inject_collection_wants(control, "a step"));
	collection.after_ns = 21 * MS;
	kwhy_inject_collection_enter(control, 20 * MS);
	kwhy_inject_collection_enter(control, 30 * MS);
	kwhy_inject_collection_leave(control, 40 * MS);
	assert_no_window(control);
	kwhy_inject_collection_leave(control, 50 * MS);
	assert_window(control, 21 * MS, 50 * MS, 21 * MS);
	free(control);
}

static void collection_goes_on_for_a_while_after_a_range(void **state)
{
	struct kwhy_inject_collection *control = gate_of(INT64_MIN, INT64_MAX, "step");

	(void)state;
	kwhy_inject_collection_begin(control, 10 * MS);
	collection.after_ns = 20 * MS;
	kwhy_inject_collection_enter(control, 20 * MS);
	kwhy_inject_collection_leave(control, 30 * MS);
	assert_int_equal(kwhy_inject_collection_advance(control, 100 * MS), 230 * MS);
	kwhy_inject_collection_enter(control, 150 * MS);
	kwhy_inject_collection_leave(control, 160 * MS);
	assert_int_equal(collection.count, 2);
	assert_int_equal(kwhy_inject_collection_advance(control, 350 * MS), 360 * MS);
	kwhy_inject_collection_advance(control, 360 * MS);
	assert_false(collection.is_on);
	assert_window(control, 20 * MS, 30 * MS, 20 * MS);
	assert_window(control, 150 * MS, 160 * MS, 20 * MS);
	free(control);
}

static void a_range_counts_within_the_bounds_of_the_plan_alone(void **state)
{
	struct kwhy_inject_collection *control = gate_of(100 * MS, 200 * MS, "step");

	(void)state;
	kwhy_inject_collection_begin(control, 10 * MS);
	kwhy_inject_collection_enter(control, 50 * MS);
	assert_false(collection.is_on);
	collection.after_ns = 101 * MS;
	kwhy_inject_collection_advance(control, 100 * MS);
	kwhy_inject_collection_advance(control, 200 * MS);
	kwhy_inject_collection_leave(control, 250 * MS);
	assert_window(control, 101 * MS, 200 * MS, 101 * MS);
	assert_no_window(control);
	free(control);
}

static void a_range_that_a_parent_opened_ends_nothing(void **state)
{
	struct kwhy_inject_collection *control = gate_of(INT64_MIN, INT64_MAX, "step");

	(void)state;
	kwhy_inject_collection_begin(control, 10 * MS);
	kwhy_inject_collection_leave(control, 20 * MS);
	collection.after_ns = 30 * MS;
	kwhy_inject_collection_enter(control, 30 * MS);
	kwhy_inject_collection_leave(control, 40 * MS);
	assert_window(control, 30 * MS, 40 * MS, 30 * MS);
	free(control);
}

static void random_windows_follow_each_other_and_collection_with_them(void **state)
{
	const struct kwhy_inject_plan plan = {.from_mono_ns = INT64_MIN,
		.until_mono_ns = INT64_MAX,
		.origin_mono_ns = 1000 * MS,
		.window_ns = 100 * MS,
		.share_ratio = 0.2,
		.seed = 3};
	struct kwhy_inject_collection *control = calloc(1, sizeof(*control));
	struct kwhy_inject_window window;
	int64_t now_ns = 1000 * MS, covered_ns = 0, last_ns = 0;
	int count = 0;

	(void)state;
	assert_non_null(control);
	collection = (struct switched){.is_on = true};
	kwhy_inject_collection_init(control, &plan, "", switch_to, &collection);
	kwhy_inject_collection_begin(control, now_ns);
	while (now_ns < 101000 * MS) {
		collection.after_ns = now_ns;
		now_ns = kwhy_inject_collection_advance(control, now_ns);
	}
	while (kwhy_inject_collection_take(control, INT64_MAX, &window)) {
		assert_true(window.start_mono_ns > last_ns && window.end_mono_ns > window.start_mono_ns);
		assert_true(window.since_mono_ns <= window.start_mono_ns);
		last_ns = window.end_mono_ns;
		covered_ns += window.end_mono_ns - window.start_mono_ns;
		count++;
	}
	assert_in_range(count, 180, 220);
	assert_true(fabs((double)covered_ns / (100e3 * MS) - 0.2) < 0.02);
	free(control);
}

static void windows_without_room_count_as_not_collected(void **state)
{
	struct kwhy_inject_collection *control = gate_of(INT64_MIN, INT64_MAX, "step");

	(void)state;
	kwhy_inject_collection_begin(control, 1);
	collection.after_ns = 1;
	for (int64_t i = 1; i <= KWHY_INJECT_COLLECTION_ENDED + 5; i++) {
		kwhy_inject_collection_enter(control, 10 * i);
		kwhy_inject_collection_leave(control, 10 * i + 5);
	}
	for (int64_t i = 1; i <= KWHY_INJECT_COLLECTION_ENDED; i++)
		assert_window(control, 10 * i, 10 * i + 5, 1);
	assert_no_window(control);
	free(control);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_bounds_all_is_one_window_and_nothing_is_switched),
		cmocka_unit_test(a_window_that_is_to_come_is_led_into_and_ends_when_it_was_to),
		cmocka_unit_test(a_window_begins_when_collection_does_if_that_is_later),
		cmocka_unit_test(a_program_that_begins_inside_a_window_is_known_from_its_first_moment),
		cmocka_unit_test(a_program_that_begins_after_the_window_has_none),
		cmocka_unit_test(ranges_of_the_name_are_windows_and_nested_ones_are_one),
		cmocka_unit_test(collection_goes_on_for_a_while_after_a_range),
		cmocka_unit_test(a_range_counts_within_the_bounds_of_the_plan_alone),
		cmocka_unit_test(a_range_that_a_parent_opened_ends_nothing),
		cmocka_unit_test(random_windows_follow_each_other_and_collection_with_them),
		cmocka_unit_test(windows_without_room_count_as_not_collected),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
