/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before each repeat of a kernel, kwhy probe copies memory to restore it. To know the time of these copies it
 * also repeats them alone. Tests how bursts are divided between those of a kernel with its copies and those
 * of the copies alone.
 */
#include "cmocka_all.h"
#include "probe_launches.h"

enum {
	LAUNCHES = 40,
	SMALL_BYTES = 64,
	LARGE_BYTES = 4 << 20,
	KERNEL_NS = 20000,
	BURST_NS = 1000000,
	BYTES_PER_NS = 400
};

static void count_up(void **arguments)
{
	(*(uint64_t **)arguments[0])[0]++;
}

static struct kwhy_cuda_function_opaque kernel_count = {.run = count_up, .bytes = {8}, .run_ns = KERNEL_NS};

/*
 * Counts of bursts: of the copies alone, and of the kernel with its copies; and the time of their repeats on
 * the device's clock, ns.
 */
struct turns {
	unsigned copies, kernels;
	int64_t copies_ns, kernels_ns;
};

/*
 * Launches the kernel on memory of `bytes` bytes, which the prober copies to restore it. Adds the burst that
 * follows to `turns`.
 */
static void launch(size_t bytes, struct turns *turns)
{
	static uint64_t *memory[2];
	const unsigned row = atomic_load(&probe->row_head) % KWHY_PROBE_ROWS;
	uint64_t **own = &memory[bytes == LARGE_BYTES];
	const int64_t copy_ns = PROBE_COPY_NS + (int64_t)(bytes / BYTES_PER_NS);

	if (!row)
		for (int i = 0; i < 2; i++)
			memory[i] = probe_driver_new(i ? LARGE_BYTES : SMALL_BYTES);
	probe_launch(&kernel_count, "count", (void *[]){own});
	assert_int_equal(atomic_load(&probe->row_head) % KWHY_PROBE_ROWS, row + 1);
	assert_int_equal(probe->rows[row].saved_bytes, bytes);
	if (probe->rows[row].form == KWHY_PROBE_ROW_COPIES) {
		turns->copies++;
		turns->copies_ns += probe->rows[row].repeats * copy_ns;
	} else {
		turns->kernels++;
		turns->kernels_ns += probe->rows[row].repeats * (KERNEL_NS + copy_ns);
	}
}

static int start(void **state)
{
	const int failed = probe_launches_begin(state);

	probe->pace.plan.least_ns = BURST_NS / 2;
	probe->pace.plan.most_ns = BURST_NS;
	probe_driver.bytes_per_ns = BYTES_PER_NS;
	/*
	 * the prober uses at most a tenth of the free memory for copies; a tenth of 1 GiB is enough for the
	 * large memory
	 */
	probe_driver.memory_bytes_free = 1U << 30;
	return failed;
}

static const struct kwhy_probe_account *account(void)
{
	return &probe->accounts.at[probe->accounts.list[0] - 1];
}

/*
 * Checks that the copies alone are repeated for as long, in all, as the copies take in the bursts with the
 * kernel, to within two bursts, and that at least a third of the bursts are of the kernel.
 */
static void assert_shared(const struct turns *turns, size_t bytes)
{
	const double copy_ns = PROBE_COPY_NS + (double)bytes / BYTES_PER_NS,
		     share = copy_ns / (KERNEL_NS + copy_ns);

	assert_float_equal((double)turns->copies_ns, share * (double)turns->kernels_ns, 2.0 * BURST_NS);
	assert_true(turns->copies > 0);
	assert_true(turns->kernels > (turns->copies + turns->kernels) / 3);
}

static void copies_alone_get_their_share_of_the_time(void **state)
{
	struct turns turns = {0};

	(void)state;
	for (int i = 0; i < LAUNCHES; i++)
		launch(SMALL_BYTES, &turns);
	assert_shared(&turns, SMALL_BYTES);
}

static void copies_that_take_longer_than_the_kernel_do_not_displace_it(void **state)
{
	struct turns turns = {0};

	(void)state;
	for (int i = 0; i < LAUNCHES; i++)
		launch(LARGE_BYTES, &turns);
	assert_shared(&turns, LARGE_BYTES);
}

/*
 * Before the prober knows where a kernel writes, it copies all memory that the kernel can reach.
 * Later copies are smaller, and the time of the first copies must not decide how often the smaller
 * ones are repeated. (On an H200, 55 of 109 bursts repeated copies of 2 MB only, as they were
 * expected to take as long as the 312 MB before the first burst.)
 */
static void copies_that_have_become_small_are_not_repeated_most_of_the_time(void **state)
{
	struct turns turns = {0};

	(void)state;
	launch(LARGE_BYTES, &turns);
	turns = (struct turns){0};
	for (int i = 0; i < LAUNCHES; i++)
		launch(SMALL_BYTES, &turns);
	assert_shared(&turns, SMALL_BYTES);
}

static void copies_that_have_become_large_get_their_share(void **state)
{
	struct turns turns = {0};

	(void)state;
	for (int i = 0; i < 4; i++)
		launch(SMALL_BYTES, &turns);
	turns = (struct turns){0};
	for (int i = 0; i < LAUNCHES; i++)
		launch(LARGE_BYTES, &turns);
	assert_shared(&turns, LARGE_BYTES);
}

/*
 * The kernel takes four times as long as when it was first timed. The difference is taken for time of the
 * copies at first; bursts of the copies alone must correct that, so that the kernel is repeated in more than
 * a third of the bursts.
 */
static void a_kernel_that_was_timed_too_short_is_repeated_all_the_same(void **state)
{
	struct turns turns = {0};

	(void)state;
	kernel_count.run_ns = KERNEL_NS / 4;
	launch(SMALL_BYTES, &turns);
	kernel_count.run_ns = KERNEL_NS;
	for (int i = 0; i < LAUNCHES; i++)
		launch(SMALL_BYTES, &turns);
	assert_true(turns.copies > 0);
	assert_true(turns.kernels > LAUNCHES / 3);
}

/*
 * The memory to copy grows. If the number of repeats came from the time of the small copies before, a burst
 * would last for seconds.
 */
static void a_burst_is_no_longer_because_the_copies_before_were_small(void **state)
{
	struct turns turns = {0};

	(void)state;
	for (int i = 0; i < LAUNCHES; i++) {
		const int64_t before_ns = probe_driver.now_ns;

		launch(i % 5 == 4 ? LARGE_BYTES : SMALL_BYTES, &turns);
		assert_in_range(probe_driver.now_ns - before_ns, 0, 4 * BURST_NS);
	}
	assert_true(turns.copies > LAUNCHES / 10);
	assert_true(turns.kernels > LAUNCHES / 3);
}

static void a_burst_of_copies_alone_says_nothing_of_the_kernel(void **state)
{
	struct turns turns = {0};
	int64_t repeated_ns = 0;
	unsigned runs;

	(void)state;
	do {
		repeated_ns = atomic_load(&account()->repeated_ns);
		runs = kernel_count.runs;
		launch(SMALL_BYTES, &turns);
	} while (!turns.copies);
	assert_int_equal(kernel_count.runs, runs);
	assert_int_equal(atomic_load(&account()->repeated_ns), repeated_ns);
	assert_int_equal(atomic_load(&account()->bursts), turns.kernels);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, probe_launches_end)
	const struct CMUnitTest tests[] = {
		TEST(copies_alone_get_their_share_of_the_time),
		TEST(copies_that_take_longer_than_the_kernel_do_not_displace_it),
		TEST(copies_that_have_become_small_are_not_repeated_most_of_the_time),
		TEST(copies_that_have_become_large_get_their_share),
		TEST(a_kernel_that_was_timed_too_short_is_repeated_all_the_same),
		TEST(a_burst_is_no_longer_because_the_copies_before_were_small),
		TEST(a_burst_of_copies_alone_says_nothing_of_the_kernel),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
