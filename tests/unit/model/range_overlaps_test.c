/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/range_overlaps.h"

#include <stdio.h>
#include <string.h>

enum { SUMS_MOST = 300 };

static struct kwhy_error error;
static struct kwhy_recording *recording;
static struct kwhy_range_sum sums[SUMS_MOST];
static size_t sum_count;
static struct kwhy_range_overlaps overlaps;

#define OK(call) assert_int_equal((call), KWHY_OK)

static int begin(void **state)
{
	(void)state;
	sum_count = 0;
	return (int)kwhy_recording_new(&recording, &error);
}

static int end(void **state)
{
	(void)state;
	kwhy_recording_free(recording);
	return 0;
}

/* Ranges of a name are one sum, in the order in which names come. */
static void add(const char *name, int64_t start_ns, int64_t end_ns)
{
	struct kwhy_range range = {start_ns, end_ns, 0, KWHY_NONE, KWHY_RANGE_NVTX};

	OK(kwhy_names_intern(&recording->names, name, strlen(name), &range.name, &error));
	OK(kwhy_recording_add_range(recording, &range, &error));
	for (size_t i = 0; i < sum_count; i++)
		if (sums[i].name == range.name)
			return;
	sums[sum_count++] = (struct kwhy_range_sum){.name = range.name, .kind = range.kind};
}

static void look(void)
{
	assert_true(kwhy_range_overlaps_of(recording, sums, sum_count, &overlaps));
}

static void assert_overlap(size_t a, size_t b, bool wanted)
{
	if (kwhy_range_overlaps_has(&overlaps, a, b) != wanted ||
		kwhy_range_overlaps_has(&overlaps, b, a) != wanted)
		fail_msg("%zu and %zu: %d wanted", a, b, wanted);
}

static void ranges_that_recur_overlap_where_one_of_each_does(void **state)
{
	(void)state;
	add("prefill", 0, 10);
	add("decode", 10, 30);
	add("prefill", 30, 40);
	add("decode", 40, 60);
	add("attention", 45, 50);
	look();
	assert_int_equal(overlaps.count, 3);
	assert_overlap(0, 1, false);
	assert_overlap(0, 2, false);
	assert_overlap(1, 2, true);
	for (size_t i = 0; i < 3; i++)
		assert_overlap(i, i, false);
}

static void ranges_inside_or_beside_their_own_kind_overlap_themselves(void **state)
{
	(void)state;
	add("recursion", 0, 10);
	add("recursion", 2, 8);
	add("threads", 20, 30);
	add("threads", 25, 35);
	add("loop", 40, 50);
	add("loop", 50, 60);
	add("mark", 45, 45);
	look();
	assert_overlap(0, 0, true);
	assert_overlap(1, 1, true);
	assert_overlap(2, 2, false);
	assert_overlap(2, 3, false);
}

static void only_so_many_are_told_of(void **state)
{
	char name[16];

	(void)state;
	for (int i = 0; i < SUMS_MOST; i++) {
		snprintf(name, sizeof(name), "range %d", i);
		add(name, i, i + 2);
	}
	look();
	assert_int_equal(overlaps.count, KWHY_RANGE_OVERLAPS_MOST);
	assert_overlap(63, 64, true);
	assert_overlap(63, 65, false);
	assert_overlap(254, 255, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ranges_that_recur_overlap_where_one_of_each_does, begin, end),
		cmocka_unit_test_setup_teardown(
			ranges_inside_or_beside_their_own_kind_overlap_themselves, begin, end),
		cmocka_unit_test_setup_teardown(only_so_many_are_told_of, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
