/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "inject/probe/copies.h"
#include "probe_launches.h"

enum { WORDS = 1024 };

/* out[i] = in[i] + 1 */
static void add_one(void **arguments)
{
	const uint64_t *in = *(uint64_t **)arguments[0];
	uint64_t *out = *(uint64_t **)arguments[1];

	for (int i = 0; i < WORDS; i++)
		out[i] = in[i] + 1;
}

/* Increments a counter in memory, so each run depends on the previous one. */
static void count_up(void **arguments)
{
	(*(uint64_t **)arguments[0])[0]++;
}

/* Adds 3 to a word whose address is stored in memory, so the prober cannot know of it. */
static void follow(void **arguments)
{
	(**(uint64_t ***)arguments[0])[0] += 3;
}

/*
 * Adds the second argument to each of the 65,536 words at the first argument, a part of a large allocation.
 */
static void add_up(void **arguments)
{
	uint64_t *at = *(uint64_t **)arguments[0];

	for (int i = 0; i < 65536; i++)
		at[i] += *(uint64_t *)arguments[1];
}

/* Increments a word of a large allocation, another one in each run. */
static void wander(void **arguments)
{
	static uint64_t runs;
	uint64_t *at = *(uint64_t **)arguments[0];

	at[++runs % 200 * 16384]++;
}

static struct kwhy_cuda_function_opaque kernel_add_up = {.run = add_up, .bytes = {8, 8}},
					kernel_wander = {.run = wander, .bytes = {8}};
static struct kwhy_cuda_function_opaque kernel_add = {.run = add_one, .bytes = {8, 8}},
					kernel_count = {.run = count_up, .bytes = {8}},
					kernel_follow = {.run = follow, .bytes = {8}};

static int start(void **state)
{
	kernel_add.runs = kernel_count.runs = kernel_follow.runs = 0;
	return probe_launches_begin(state);
}

static void an_idempotent_kernel_is_repeated_back_to_back_and_its_memory_stays(void **state)
{
	uint64_t *in = probe_driver_new(WORDS * 8), *out = probe_driver_new(WORDS * 8);
	void *arguments[] = {&in, &out};

	(void)state;
	in[5] = 41;
	probe_launch(&kernel_add, "vectorized_elementwise_kernel", arguments);
	assert_int_equal(out[5], 42);
	assert_int_equal(probe->row_head, 1);
	assert_int_equal(probe->rows[0].form, 0);
	assert_int_equal(probe->rows[0].check, KWHY_PROBE_SAME);
	assert_in_range(probe->rows[0].repeats, 2, 5);
	assert_int_equal(kernel_add.runs, 2 + probe->rows[0].repeats);
	assert_int_equal(probe->rows[0].saved_bytes, 2 * WORDS * 8);
	probe_launch(&kernel_add, "vectorized_elementwise_kernel", arguments);
	/* memory is checked after the first burst of a kernel only */
	assert_int_equal(probe->rows[1].check, KWHY_PROBE_UNCHECKED);
}

/*
 * The prober does not know by its name what this kernel does. It may keep a counter in memory that another
 * kernel resets; a repeat could then write anywhere. So its memory is restored before each repeat.
 */
static void the_memory_of_an_unknown_kernel_is_put_back_before_each_repeat(void **state)
{
	uint64_t *in = probe_driver_new(WORDS * 8), *out = probe_driver_new(WORDS * 8);
	void *arguments[] = {&in, &out};

	(void)state;
	probe_launch(&kernel_add, "DeviceRadixSortOnesweepKernel", arguments);
	assert_int_equal(probe->row_head, 1);
	assert_int_equal(probe->rows[0].form, 1);
	assert_int_equal(probe->rows[0].check, KWHY_PROBE_SAME);
	assert_int_equal(kernel_add.runs, 1 + probe->rows[0].repeats);
}

/*
 * An argument may contain an old address of the program at which the prober has memory of its own now. That
 * memory must not be taken for the program's.
 */
static void memory_of_the_prober_is_none_of_the_program(void **state)
{
	uint64_t *in = probe_driver_new(WORDS * 8), *out = probe_driver_new(WORDS * 8);
	void *arguments[] = {&in, &out, NULL};

	(void)state;
	probe_launch(&kernel_add, "first", arguments);
	out = (uint64_t *)(uintptr_t)(probe->probe_contexts[0].copies + 4096);
	arguments[1] = &out;
	kernel_add.runs = 0;
	probe_launch_as(&kernel_add, "second", arguments, KWHY_CUDA_INVALID_VALUE);
	assert_int_equal(probe->burst.reach.count, 1);
}

static void a_kernel_with_state_begins_each_repeat_on_memory_put_back(void **state)
{
	uint64_t *counter = probe_driver_new(64);
	void *arguments[] = {&counter};

	(void)state;
	for (int i = 0; i < 5; i++)
		probe_launch(&kernel_count, "count", arguments);
	assert_int_equal(counter[0], 5);
	assert_int_equal(probe->row_head, 5);
	assert_int_equal(probe->rows[0].form, 1);
	assert_int_equal(probe->rows[0].check, KWHY_PROBE_SAME);
	assert_true(kernel_count.runs > 10);
}

static void a_kernel_that_writes_where_no_parameter_points_is_never_repeated(void **state)
{
	uint64_t *hidden = probe_driver_new(64), **table = probe_driver_new(64);
	void *arguments[] = {&table};
	const struct kwhy_probe_allocation allocation = {
		.address = (uintptr_t)hidden, .bytes = 64, .context = PROBE_CONTEXT};

	(void)state;
	table[0] = hidden;
	kwhy_probe_memory_add(&probe->memory, &allocation);
	probe_launch(&kernel_follow, "follow", arguments);
	probe_launch(&kernel_follow, "follow", arguments);
	assert_int_equal(hidden[0], 6);
	assert_int_equal(kernel_follow.runs, 0);
	assert_int_equal(probe->accounts.at[probe->accounts.list[0] - 1].reason, KWHY_PROBE_HIDDEN);
}

enum { LARGE_WORDS = 4 << 20 }; /* 32 MiB, twice what fits into the memory for copies */

static void of_a_large_allocation_what_the_kernel_writes_is_copied(void **state)
{
	uint64_t *large = probe_driver_new(LARGE_WORDS * 8), *from = large + 1000000, one = 1;
	void *arguments[] = {&from, &one};

	(void)state;
	/* the first burst only finds out which of the large memory the kernel writes, and repeats nothing */
	probe_launch(&kernel_add_up, "add_up", arguments);
	assert_int_equal(probe->row_head, 1);
	assert_int_equal(probe->rows[0].repeats, 0);
	assert_int_equal(kernel_add_up.runs, 0);
	for (int i = 0; i < 3; i++)
		probe_launch(&kernel_add_up, "add_up", arguments);
	assert_int_equal(probe->row_head, 4);
	assert_in_range(probe->rows[1].saved_bytes, 65536 * 8, 65536 * 8 + 4 * 65536);
	assert_int_equal(probe->rows[1].check, KWHY_PROBE_SAME);
	assert_int_equal(probe->rows[3].check, KWHY_PROBE_SAME);
	assert_int_equal(probe->rows[3].form, 1);
	assert_true(kernel_add_up.runs > 6);
	for (int i = 0; i < LARGE_WORDS; i++)
		assert_int_equal(large[i], i >= 1000000 && i < 1000000 + 65536 ? 4 : 0);
}

static void what_it_writes_moves_with_its_pointers(void **state)
{
	uint64_t *large = probe_driver_new(LARGE_WORDS * 8), *from = large + 1000000, one = 1;
	void *arguments[] = {&from, &one};

	(void)state;
	probe_launch(&kernel_add_up, "add_up", arguments);
	from = large + 3000000;
	probe_launch(&kernel_add_up, "add_up", arguments);
	assert_int_equal(probe->row_head, 2);
	assert_int_not_equal(probe->rows[1].repeats, 0);
	assert_int_equal(large[3000000], 1);
	assert_int_equal(large[3000000 + 65535], 1);
	assert_int_equal(large[3000000 + 65536], 0);
}

static void a_kernel_that_writes_somewhere_else_each_time_is_left_alone(void **state)
{
	uint64_t *large = probe_driver_new(LARGE_WORDS * 8), sum = 0;
	void *arguments[] = {&large};

	(void)state;
	for (int i = 0; i < 20; i++)
		probe_launch(&kernel_wander, "wander", arguments);
	for (int i = 0; i < LARGE_WORDS; i++)
		sum += large[i];
	assert_int_equal(sum, 20);
	assert_int_equal(kernel_wander.runs, 0);
	assert_int_equal(probe->accounts.at[probe->accounts.list[0] - 1].reason, KWHY_PROBE_WRITES);
}

/*
 * Launches a kernel that must not be repeated for `reason`. Checks that the program's launch works and that
 * no repeat is recorded; an attempt may be.
 */
static void expect_refusal(const char *name, enum kwhy_probe_reason reason)
{
	uint64_t *in = probe_driver_new(WORDS * 8), *out = probe_driver_new(WORDS * 8);
	void *arguments[] = {&in, &out};

	probe_launch(&kernel_add, name, arguments);
	assert_int_equal(out[0], 1);
	assert_int_equal(kernel_add.runs, 0);
	assert_in_range(probe->row_head, 0, 1);
	assert_int_equal(probe->rows[0].repeats, 0);
	assert_int_equal(probe->accounts.at[probe->accounts.list[0] - 1].reason, reason);
	assert_false(probe->is_held);
}

#define REFUSAL(test, change, reason)          \
	static void test(void **state)         \
	{                                      \
		(void)state;                   \
		change;                        \
		expect_refusal("add", reason); \
	}

REFUSAL(a_launch_under_capture_is_left_alone, probe_driver.is_capturing = true, KWHY_PROBE_CAPTURED)
REFUSAL(managed_memory_is_left_alone, probe_driver.is_managed = true, KWHY_PROBE_MANAGED)
REFUSAL(memory_of_the_host_is_left_alone, probe_driver.is_host = true, KWHY_PROBE_HOST)
REFUSAL(memory_of_another_device_is_left_alone, probe_driver.is_peer = true, KWHY_PROBE_PEER)
REFUSAL(a_kernel_of_unknown_parameters_is_left_alone, probe_driver.has_no_parameters = true,
	KWHY_PROBE_PARAMETERS)
REFUSAL(without_memory_for_copies_nothing_is_repeated, probe_driver.memory_bytes_free = 4096,
	KWHY_PROBE_CONTEXT)

/*
 * Before a burst, the prober waits for the device to become idle, within the program's call. If it stays
 * busy, the wait is recorded so that its time can be taken off the call, and the kernel is launched once.
 */
static void a_wait_for_a_device_that_stays_busy_is_recorded(void **state)
{
	const struct kwhy_probe_row *row = &probe->rows[0];

	(void)state;
	probe_driver.is_busy = true;
	expect_refusal("add", KWHY_PROBE_BUSY);
	assert_int_equal(probe->row_head, 1);
	assert_true(row->end_mono_ns - row->start_mono_ns >= 500000000);
	assert_int_equal(row->launch_mono_ns, row->end_mono_ns);
	assert_int_equal(row->launched_mono_ns, row->end_mono_ns);
}

static void collectives_are_known_by_name(void **state)
{
	(void)state;
	expect_refusal("_Z22ncclDevKernel_AllReduceP11ncclDevComm", KWHY_PROBE_COLLECTIVE);
}

static void a_launch_that_is_not_due_asks_the_driver_nothing(void **state)
{
	uint64_t *in = probe_driver_new(WORDS * 8), *out = probe_driver_new(WORDS * 8);
	void *arguments[] = {&in, &out};

	(void)state;
	probe->pace.plan.share_ppm = 0;
	atomic_store(&probe->pace.due_mono_ns, INT64_MAX);
	for (int i = 0; i < 100; i++)
		probe_launch(&kernel_add, "add", arguments);
	assert_int_equal(probe_driver.asked, 0);
	assert_int_equal(probe->accounts.at[probe->accounts.list[0] - 1].launches, 100);
	atomic_store(&probe->pace.due_mono_ns, 0);
	for (int i = 0; i < 100; i++)
		probe_launch(&kernel_add, "add", arguments);
	assert_true(probe_driver.asked > 0);
}

/*
 * A copy's time in the program comes from its activity records. Without them each copy would count as 20 us,
 * whatever its size.
 */
static void a_copy_has_the_busy_time_of_its_records(void **state)
{
	const struct kwhy_probe_copy copy = {.from = (uintptr_t)probe_driver_new(1 << 20), .bytes = 1 << 20};
	char name[KWHY_PROBE_COPY_NAME_BYTES];
	const struct kwhy_probe_shape shape = kwhy_probe_copy_shape(&probe->driver, &copy, name);
	struct kwhy_probe_account *account = kwhy_probe_account_of(&probe->accounts, &shape, NULL);

	(void)state;
	account->launches = 3;
	kwhy_probe_copy_add_busy(&probe->accounts, KWHY_PROBE_COPY_FROM_DEVICE, (1 << 20) + 1, 130000);
	kwhy_probe_copy_add_busy(&probe->accounts, KWHY_PROBE_COPY_FROM_PINNED, 1 << 20, 7000);
	kwhy_probe_copy_add_busy(&probe->accounts, KWHY_PROBE_COPY_FROM_DEVICE, 1 << 19, 7000);
	assert_int_equal(kwhy_probe_account_own_ns(account), 3 * 130000);
}

static void a_launch_that_fails_is_not_repeated(void **state)
{
	uint64_t *in = probe_driver_new(WORDS * 8), *out = probe_driver_new(WORDS * 8);
	void *arguments[] = {&in, &out};

	(void)state;
	probe_launch_as(&kernel_add, "add", arguments, KWHY_CUDA_INVALID_VALUE);
	assert_int_equal(kernel_add.runs, 0);
	assert_int_equal(probe->rows[0].repeats, 0);
	assert_false(probe->is_held);
	probe_launch(&kernel_add, "add", arguments);
	assert_int_equal(probe->row_head, 2);
	assert_int_not_equal(probe->rows[1].repeats, 0);
}

static void a_copy_that_fails_ends_the_probing_before_anything_has_changed(void **state)
{
	uint64_t *counter = probe_driver_new(64);
	void *arguments[] = {&counter};

	(void)state;
	probe_driver.fails_from = 2; /* copies fail from the second one on: the prober's first copy after the
					program's own launch */
	probe_driver.copies_give = KWHY_CUDA_INVALID_VALUE;
	probe_launch(&kernel_count, "count", arguments);
	probe_launch(&kernel_count, "count", arguments);
	assert_int_equal(counter[0], 2);
	assert_int_equal(kernel_count.runs, 0);
	assert_true(probe->has_note);
	assert_true(probe->pace.is_over);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, probe_launches_end)
	const struct CMUnitTest tests[] = {
		TEST(an_idempotent_kernel_is_repeated_back_to_back_and_its_memory_stays),
		TEST(the_memory_of_an_unknown_kernel_is_put_back_before_each_repeat),
		TEST(memory_of_the_prober_is_none_of_the_program),
		TEST(a_kernel_with_state_begins_each_repeat_on_memory_put_back),
		TEST(a_kernel_that_writes_where_no_parameter_points_is_never_repeated),
		TEST(of_a_large_allocation_what_the_kernel_writes_is_copied),
		TEST(what_it_writes_moves_with_its_pointers),
		TEST(a_kernel_that_writes_somewhere_else_each_time_is_left_alone),
		TEST(a_launch_under_capture_is_left_alone),
		TEST(managed_memory_is_left_alone),
		TEST(memory_of_the_host_is_left_alone),
		TEST(memory_of_another_device_is_left_alone),
		TEST(a_kernel_of_unknown_parameters_is_left_alone),
		TEST(without_memory_for_copies_nothing_is_repeated),
		TEST(a_wait_for_a_device_that_stays_busy_is_recorded),
		TEST(collectives_are_known_by_name),
		TEST(a_launch_that_is_not_due_asks_the_driver_nothing),
		TEST(a_copy_has_the_busy_time_of_its_records),
		TEST(a_launch_that_fails_is_not_repeated),
		TEST(a_copy_that_fails_ends_the_probing_before_anything_has_changed),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
