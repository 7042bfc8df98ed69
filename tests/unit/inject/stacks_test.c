/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/lines/stacks.h"

#include "base/clock.h"
#include "cmocka_all.h"
#include "inject/lines/rows.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { SHARE_BYTES = 64 << 10 };

static struct kwhy_stacks *stacks;

static int begin(void **state)
{
	(void)state;
	stacks = calloc(1, sizeof(*stacks));
	kwhy_stacks_begin(stacks);
	return stacks ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	kwhy_stacks_begin(NULL);
	free(stacks);
	return 0;
}

/* Runs a function in a new thread, as stacks are recorded for each thread. */
static void on_a_thread(void *(*run)(void *))
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static size_t count_taken(void)
{
	size_t count = 0;

	while (kwhy_stacks_next(stacks)) {
		kwhy_stacks_let_go(stacks);
		count++;
	}
	return count;
}

static void *pause_twice(void *nothing)
{
	const int64_t now_mono_ns = kwhy_clock_mono_ns();

	kwhy_stacks_see(now_mono_ns - 2000000000);
	kwhy_stacks_see(now_mono_ns - 1000000000);
	return nothing;
}

static void a_pause_ends_with_a_stack_of_its_stretch(void **state)
{
	const struct kwhy_stack *stack;

	(void)state;
	on_a_thread(pause_twice);
	stack = kwhy_stacks_next(stacks);
	assert_non_null(stack);
	assert_int_equal(stack->since_mono_ns, 0);
	kwhy_stacks_let_go(stacks);
	stack = kwhy_stacks_next(stacks);
	assert_non_null(stack);
	assert_int_equal(stack->time_mono_ns - stack->since_mono_ns, 1000000000);
	assert_true(stack->count > 0);
	assert_int_equal(stack->thread, stack->of_thread);
	kwhy_stacks_let_go(stacks);
	assert_null(kwhy_stacks_next(stacks));
}

/*
 * Thread: reports 500,000 calls at simulated times 2 us apart, which is 1 s. Stacks may take a thread 5 ms of
 * a second.
 */
static void *call_often(void *nothing)
{
	int64_t now_mono_ns = kwhy_clock_mono_ns() - 60000000000;

	for (int i = 0; i < 500000; i++, now_mono_ns += 2000)
		kwhy_stacks_see(now_mono_ns);
	return nothing;
}

/*
 * Simulated times are a minute behind the real clock, by which the end of taking a stack is timed. So the
 * first stack seems to take a minute, which uses up the thread's share, and few others are taken.
 */
static void a_thread_that_has_spent_its_share_goes_without(void **state)
{
	(void)state;
	on_a_thread(call_often);
	assert_in_range(count_taken(), 1, 30);
}

static void a_full_queue_takes_no_more(void **state)
{
	(void)state;
	for (int i = 0; i < KWHY_STACKS_QUEUED; i++)
		assert_true(kwhy_stacks_take(stacks, 0, 1));
	assert_false(kwhy_stacks_take(stacks, 0, 1));
	assert_int_equal(count_taken(), KWHY_STACKS_QUEUED);
	assert_true(kwhy_stacks_take(stacks, 0, 1));
	assert_int_equal(count_taken(), 1);
}

static void threads_that_are_left_out_take_none(void **state)
{
	(void)state;
	kwhy_stacks_leave_thread_out();
	kwhy_stacks_see(kwhy_clock_mono_ns());
	assert_int_equal(count_taken(), 0);
}

/*
 * Frames that several stacks have in common, from the outermost one on, are written once: stacks share nodes
 * of a tree.
 */
static void frames_are_a_tree(void **state)
{
	static unsigned char memory[KWHY_BLOCK_WRITER_BYTES(SHARE_BYTES)];
	static struct kwhy_stack_nodes nodes;
	static struct kwhy_inject_labels labels;
	struct kwhy_block_writer writer;
	char path[] = "/tmp/kwhy-stacks-XXXXXX";
	const int file = mkstemp(path);
	uint32_t frames;

	(void)state;
	assert_true(file >= 0);
	kwhy_block_writer_init(&writer, file, 7, memory, SHARE_BYTES);
	kwhy_inject_labels_init(&labels, &writer);
	assert_true(kwhy_stacks_take(stacks, 1, 2));
	kwhy_stacks_write(stacks, &nodes, &labels);
	frames = writer.counts[KWHY_WIRE_FRAME];
	assert_true(frames > 1);
	assert_int_equal(writer.counts[KWHY_WIRE_SAMPLE], 1);
	for (int i = 0; i < 2; i++)
		assert_true(kwhy_stacks_take(stacks, 2, 3));
	kwhy_stacks_write(stacks, &nodes, &labels);
	assert_int_equal(writer.counts[KWHY_WIRE_SAMPLE], 3);
	assert_in_range(writer.counts[KWHY_WIRE_FRAME], frames, 2 * frames - 1);
	kwhy_block_writer_close(&writer);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_pause_ends_with_a_stack_of_its_stretch, begin, end),
		cmocka_unit_test_setup_teardown(a_thread_that_has_spent_its_share_goes_without, begin, end),
		cmocka_unit_test_setup_teardown(a_full_queue_takes_no_more, begin, end),
		cmocka_unit_test_setup_teardown(frames_are_a_tree, begin, end),
		cmocka_unit_test_setup_teardown(threads_that_are_left_out_take_none, begin, end),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
