/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/range_overlaps.h"
#include "ok.h"

#include <stdio.h>
#include <string.h>

enum { SUMS_MAX = 300 };

static struct kwhy_error error;
static struct kwhy_recording *recording;
static struct kwhy_range_sum sums[SUMS_MAX];
static size_t sum_count;
static struct kwhy_range_overlaps overlaps;

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

/*
 * Adds a range and, if its name is new, a sum of all ranges of that name. Sums are numbered in the order in
 * which their names first appear.
 */
static void add_on(uint32_t thread, const char *name, int64_t start_ns, int64_t end_ns)
{
	struct kwhy_range range = {start_ns, end_ns, 0, thread, KWHY_RANGE_NVTX};

	OK(kwhy_names_intern(&recording->names, name, strlen(name), &range.name, &error));
	OK(kwhy_recording_add_range(recording, &range, &error));
	for (size_t i = 0; i < sum_count; i++)
		if (sums[i].name == range.name)
			return;
	sums[sum_count++] = (struct kwhy_range_sum){.name = range.name, .kind = range.kind};
}

static void add(const char *name, int64_t start_ns, int64_t end_ns)
{
	add_on(KWHY_NONE, name, start_ns, end_ns);
}

/*
 * Adds a process with one thread and a stream on each device whose bit is set in `devices`. Returns the
 * thread's index.
 */
static uint32_t add_process(unsigned devices)
{
	struct kwhy_process process = {.pid = -1, .rank = KWHY_NONE, .machine = KWHY_NONE};
	struct kwhy_thread thread = {0};
	uint32_t number;

	OK(kwhy_recording_add_process(recording, &process, &thread.process, &error));
	for (uint32_t d = 0; d < 4; d++) {
		struct kwhy_device device = {.index = (int32_t)d, .rank = KWHY_NONE};
		struct kwhy_stream stream = {.device = d, .process = thread.process, .context = -1, .id = 7};

		if (recording->device_count == d)
			OK(kwhy_recording_add_device(recording, &device, NULL, &error));
		if (devices >> d & 1)
			OK(kwhy_recording_add_stream(recording, &stream, NULL, &error));
	}
	OK(kwhy_recording_add_thread(recording, &thread, &number, &error));
	return number;
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

static void assert_beside(size_t a, size_t b, bool wanted)
{
	if (kwhy_range_overlaps_beside(&overlaps, a, b) != wanted ||
		kwhy_range_overlaps_beside(&overlaps, b, a) != wanted)
		fail_msg("%zu beside %zu: %d wanted", a, b, wanted);
}

static void ranks_side_by_side_hold_no_device_twice(void **state)
{
	uint32_t first = add_process(1), second = add_process(2);

	(void)state;
	add_on(first, "decode", 0, 100);
	add_on(second, "decode", 10, 120);
	add_on(first, "prefill", 200, 300);
	add_on(second, "prefill", 115, 250);
	add_on(second, "attention", 20, 30);
	look();
	for (size_t i = 0; i < 3; i++)
		assert_overlap(i, i, false);
	assert_beside(0, 0, true);
	assert_beside(1, 1, true);
	assert_beside(2, 2, false);
	assert_overlap(0, 1, true); /* decode and prefill overlap on the second rank from 115 to 120 ns */
	assert_beside(0, 1, false);
	assert_overlap(0, 2, true);
	assert_int_equal(overlaps.union_ns[0], 120);
	assert_int_equal(overlaps.union_ns[1], 185);
	assert_int_equal(overlaps.union_ns[2], 10);
}

static void processes_that_share_a_device_hold_it_twice(void **state)
{
	uint32_t first = add_process(1), second = add_process(3), other = add_process(4);

	(void)state;
	add_on(first, "decode", 0, 100);
	add_on(second, "decode", 10, 120);
	add_on(other, "prefill", 0, 100);
	look();
	assert_overlap(0, 0, true);
	assert_overlap(0, 1, false);
	assert_beside(0, 1, true);
	assert_beside(0, 0, false);
	assert_int_equal(overlaps.union_ns[0], 120);
}

static void a_range_of_no_known_thread_holds_all_devices(void **state)
{
	uint32_t first = add_process(1), second = add_process(2);

	(void)state;
	add_on(first, "decode", 0, 100);
	add_on(second, "prefill", 0, 100);
	add("all", 50, 60);
	look();
	assert_overlap(0, 1, false);
	assert_overlap(0, 2, true);
	assert_overlap(1, 2, true);
	assert_overlap(2, 2, false);
}

static void only_so_many_are_told_of(void **state)
{
	char name[16];

	(void)state;
	for (int i = 0; i < SUMS_MAX; i++) {
		snprintf(name, sizeof(name), "range %d", i);
		add(name, i, i + 2);
	}
	look();
	assert_int_equal(overlaps.count, KWHY_RANGE_OVERLAPS_MAX);
	assert_overlap(63, 64, true);
	assert_overlap(63, 65, false);
	assert_overlap(254, 255, true);
}

static uint32_t below(uint64_t *random, uint32_t limit)
{
	*random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*random >> 33) % limit);
}

enum { PROCESSES = 3, DRAWN = 12, NAMES = 4, TIME_MAX = 30 };

/*
 * A random range, the index of its sum, and the group of its process (see draw_processes()); -1: no thread is
 * known, so the range may hold all devices.
 */
struct drawn {
	int64_t start_ns, end_ns;
	size_t sum;
	int group;
};

/*
 * Adds processes on random devices. Processes are in one group if they share a device, or if both share one
 * with a third process.
 */
static void draw_processes(uint64_t *random, int group[PROCESSES])
{
	static const unsigned devices[] = {1, 2, 3, 4, 6, 0};
	unsigned of[PROCESSES];

	for (int p = 0; p < PROCESSES; p++) {
		of[p] = devices[below(random, 6)];
		assert_int_equal(add_process(of[p]), (uint32_t)p);
		group[p] = p;
	}
	for (int turn = 0; turn < PROCESSES; turn++)
		for (int a = 0; a < PROCESSES; a++)
			for (int b = 0; b < PROCESSES; b++)
				if (of[a] & of[b])
					group[a] = group[b] = group[a] < group[b] ? group[a] : group[b];
}

static void draw_ranges(uint64_t *random, const int group[PROCESSES], struct drawn drawn[DRAWN])
{
	static const char *const names[NAMES] = {"a", "b", "c", "d"};

	for (int i = 0; i < DRAWN; i++) {
		const char *name = names[below(random, NAMES)];
		uint32_t thread = below(random, PROCESSES + 1);

		drawn[i].start_ns = below(random, TIME_MAX);
		drawn[i].end_ns = drawn[i].start_ns + 1 + below(random, 6);
		drawn[i].group = thread < PROCESSES ? group[thread] : -1;
		add_on(thread < PROCESSES ? thread : KWHY_NONE, name, drawn[i].start_ns, drawn[i].end_ns);
		for (drawn[i].sum = 0;
			strcmp(kwhy_names_get(&recording->names, sums[drawn[i].sum].name), name);)
			drawn[i].sum++;
	}
}

/*
 * Whether a range of sum `a` and another one of sum `b` overlap in time. same_devices: only ranges whose
 * processes share devices count.
 */
static bool drawn_overlap(const struct drawn drawn[DRAWN], size_t a, size_t b, bool same_devices)
{
	for (int i = 0; i < DRAWN; i++)
		for (int k = 0; k < DRAWN; k++)
			if (i != k && drawn[i].sum == a && drawn[k].sum == b &&
				drawn[i].start_ns < drawn[k].end_ns && drawn[k].start_ns < drawn[i].end_ns &&
				(!same_devices || drawn[i].group == drawn[k].group || drawn[i].group < 0 ||
					drawn[k].group < 0))
				return true;
	return false;
}

static int64_t drawn_ns(const struct drawn drawn[DRAWN], size_t sum)
{
	int64_t length_ns = 0;

	for (int64_t time_ns = 0; time_ns < 2 * TIME_MAX; time_ns++) {
		bool runs = false;

		for (int i = 0; i < DRAWN; i++)
			runs |= drawn[i].sum == sum && drawn[i].start_ns <= time_ns &&
				time_ns < drawn[i].end_ns;
		length_ns += runs;
	}
	return length_ns;
}

static void random_ranges_overlap_as_all_pairs_of_them_do(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		uint64_t random = 31 * seed + 7;
		struct drawn drawn[DRAWN];
		int group[PROCESSES];

		assert_int_equal(begin(NULL), 0);
		draw_processes(&random, group);
		draw_ranges(&random, group, drawn);
		look();
		for (size_t a = 0; a < sum_count; a++) {
			assert_int_equal(overlaps.union_ns[a], drawn_ns(drawn, a));
			for (size_t b = 0; b < sum_count; b++) {
				bool same = drawn_overlap(drawn, a, b, true);

				assert_int_equal(kwhy_range_overlaps_has(&overlaps, a, b), same);
				assert_int_equal(kwhy_range_overlaps_beside(&overlaps, a, b),
					!same && drawn_overlap(drawn, a, b, false));
			}
		}
		end(NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ranges_that_recur_overlap_where_one_of_each_does, begin, end),
		cmocka_unit_test_setup_teardown(
			ranges_inside_or_beside_their_own_kind_overlap_themselves, begin, end),
		cmocka_unit_test_setup_teardown(ranks_side_by_side_hold_no_device_twice, begin, end),
		cmocka_unit_test_setup_teardown(processes_that_share_a_device_hold_it_twice, begin, end),
		cmocka_unit_test_setup_teardown(a_range_of_no_known_thread_holds_all_devices, begin, end),
		cmocka_unit_test_setup_teardown(only_so_many_are_told_of, begin, end),
		cmocka_unit_test(random_ranges_overlap_as_all_pairs_of_them_do),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
