/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests on which kernels kwhy probe spends its time, in simulated programs that run loops of kernels on a
 * simulated clock.
 */
#include "cmocka_all.h"
#include "inject/probe/known.h"
#include "inject/probe/pace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)
#define COPIES_NS INT64_C(2000000) /* how long the copies and checks of memory of a burst take */
enum { KERNELS_MAX = 200 };

struct program {
	int64_t start_ns; /* time before the first launch */
	unsigned kernels, iterations;
	int64_t (*kernel_ns)(unsigned kernel);
	bool has_records; /* every launch has an activity record */
};

struct outcome {
	struct kwhy_probe_progress progress;
	int64_t spent_ns, own_ns;
	unsigned bursts[KERNELS_MAX];
	const struct kwhy_probe_account *accounts[KERNELS_MAX];
};

static struct kwhy_probe_accounts *accounts;
static struct kwhy_probe_pace pace;
static int64_t now_ns;

static int setup(void **state)
{
	const struct kwhy_probe_plan plan = {.within = 0.05,
		.ratio = 3,
		.budget_ns = 300 * SECOND_NS,
		.least_ns = 10000000,
		.most_ns = 30000000,
		.seed = 7};

	(void)state;
	accounts = calloc(1, sizeof(*accounts));
	now_ns = SECOND_NS;
	kwhy_probe_pace_init(&pace, &plan, now_ns);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(accounts);
	return 0;
}

static enum kwhy_probe_reason none(const char *name)
{
	(void)name;
	return KWHY_PROBE_NONE;
}

static struct kwhy_probe_account *account_of(unsigned kernel)
{
	char name[32];
	const struct kwhy_probe_shape shape = {.function = &accounts->at[kernel],
		.grid = {kernel + 1, 1, 1},
		.block = {128, 1, 1},
		.name = name};

	snprintf(name, sizeof(name), "kernel_%u", kernel);
	return kwhy_probe_account_of(accounts, &shape, none);
}

static void burst(struct kwhy_probe_account *account, int64_t kernel_ns)
{
	const int64_t length_ns = kwhy_probe_pace_length(&pace, account), spent_ns = length_ns + COPIES_NS;

	atomic_store(&account->kernel_ns, kernel_ns);
	atomic_fetch_add(&account->repeated_ns, length_ns);
	atomic_fetch_add(&account->bursts, 1);
	now_ns += spent_ns;
	kwhy_probe_pace_spend(&pace, spent_ns, now_ns);
	kwhy_probe_pace_review(&pace, accounts, now_ns);
}

static void launch(const struct program *program, unsigned kernel, struct outcome *out)
{
	struct kwhy_probe_account *account = account_of(kernel);
	const int64_t kernel_ns = program->kernel_ns(kernel);

	out->accounts[kernel] = account;
	atomic_fetch_add(&account->launches, 1);
	if (program->has_records) {
		atomic_fetch_add(&account->busy_ns, kernel_ns);
		atomic_fetch_add(&account->records, 1);
	}
	now_ns += kernel_ns;
	out->own_ns += kernel_ns;
	if (kwhy_probe_pace_wants(&pace, accounts, account, now_ns)) {
		out->bursts[kernel]++;
		burst(account, kernel_ns);
	}
}

static struct outcome run(const struct program *program)
{
	struct outcome out = {0};

	now_ns += program->start_ns;
	for (unsigned i = 0; i < program->iterations; i++)
		for (unsigned kernel = 0; kernel < program->kernels; kernel++)
			launch(program, kernel, &out);
	out.spent_ns = atomic_load(&pace.spent_ns);
	out.progress = kwhy_probe_pace_review(&pace, accounts, now_ns);
	return out;
}

/* Returns the duration, ns, of a kernel in a loop of eight kernels of 20 us to 400 us. */
static int64_t of_a_short_program(unsigned kernel)
{
	static const int64_t ns[] = {60000, 400000, 20000, 100000, 250000, 30000, 150000, 20000};

	return ns[kernel];
}

/*
 * Returns the duration, ns, of a kernel in a loop of a hundred kernels, of which the largest take 3 ms and
 * all together 20 ms.
 */
static int64_t of_a_training_step(unsigned kernel)
{
	const int64_t rank = 1 + kernel / 4;

	return 3000000 / (rank * rank) + 2000;
}

static void a_short_program_gets_to_know_each_of_its_large_kernels(void **state)
{
	const struct program program = {
		.start_ns = SECOND_NS, .kernels = 8, .iterations = 120, .kernel_ns = of_a_short_program};
	const struct outcome out = run(&program);

	(void)state;
	assert_true(out.progress.known_ns >= out.progress.busy_ns * 9 / 10);
	assert_true(out.spent_ns <= 3 * (program.start_ns + out.own_ns) + 40000000);
}

static void even_a_program_of_a_few_iterations_is_probed(void **state)
{
	const struct program program = {
		.start_ns = SECOND_NS, .kernels = 8, .iterations = 5, .kernel_ns = of_a_short_program};
	const struct outcome out = run(&program);
	unsigned bursts = 0;

	(void)state;
	for (unsigned kernel = 0; kernel < 8; kernel++)
		bursts += out.bursts[kernel];
	assert_true(out.bursts[1] >= 2);
	assert_true(bursts >= 12);
}

static void a_training_program_is_known_within_three_times_its_own_time(void **state)
{
	const struct program program = {.start_ns = SECOND_NS,
		.kernels = 100,
		.iterations = 384,
		.kernel_ns = of_a_training_step,
		.has_records = true};
	const struct outcome out = run(&program);

	(void)state;
	assert_true(out.progress.known_ns >= out.progress.busy_ns * 94 / 100);
	assert_true(out.spent_ns <= 3 * (program.start_ns + out.own_ns) + 40000000);
}

static void time_in_bursts_is_a_multiple_of_the_rest_and_start_up_counts_for_five_seconds(void **state)
{
	const struct program program = {.start_ns = 100 * SECOND_NS,
		.kernels = 100,
		.iterations = 4,
		.kernel_ns = of_a_training_step};
	struct outcome out;

	(void)state;
	pace.plan.within =
		0.02; /* more exact than any energy becomes known, so that bursts never end by themselves */
	out = run(&program);
	assert_true(out.spent_ns <= 3 * (5 * SECOND_NS + out.own_ns) + 40000000);
}

static void what_an_earlier_recording_knows_is_left_alone(void **state)
{
	const struct program program = {
		.start_ns = SECOND_NS, .kernels = 8, .iterations = 20, .kernel_ns = of_a_short_program};
	char path[] = "/tmp/kwhy-known-XXXXXX";
	const int file = mkstemp(path);
	FILE *out_file = fdopen(file, "w");
	struct outcome out;

	(void)state;
	assert_non_null(out_file);
	fputs("0.031\t2\t128\tkernel_1\n0.2\t5\t128\tkernel_4\nnonsense\n0.01\t1\n", out_file);
	fclose(out_file);
	kwhy_probe_accounts_read_known(accounts, path, 0.05);
	kwhy_probe_accounts_read_known(accounts, "/nowhere", 0.05);
	unlink(path);
	out = run(&program);
	assert_int_equal(out.bursts[1], 0);
	assert_int_equal(atomic_load(&out.accounts[1]->reason), KWHY_PROBE_KNOWN);
	assert_true(out.bursts[4] > 0);
}

/*
 * XLA times a kernel after launching a delay kernel, which keeps the device busy meanwhile. A burst before
 * the timed kernel would falsify that time, so the prober pauses after a delay kernel.
 */
static void what_a_program_times_after_a_kernel_that_waits_is_left_alone(void **state)
{
	(void)state;
	assert_false(kwhy_probe_pace_is_paused(&pace, now_ns));
	kwhy_probe_pace_hold(&pace, now_ns);
	assert_true(kwhy_probe_pace_is_paused(&pace, now_ns + SECOND_NS / 100));
	assert_false(kwhy_probe_pace_is_paused(&pace, now_ns + SECOND_NS));
}

static void a_process_has_begun_before_now(void **state)
{
	const int64_t begun_mono_ns = kwhy_probe_process_begun();
	struct timespec time;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &time);
	assert_in_range(time.tv_sec * SECOND_NS + time.tv_nsec - begun_mono_ns, 0, 600 * SECOND_NS);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_short_program_gets_to_know_each_of_its_large_kernels),
		TEST(even_a_program_of_a_few_iterations_is_probed),
		TEST(a_training_program_is_known_within_three_times_its_own_time),
		TEST(time_in_bursts_is_a_multiple_of_the_rest_and_start_up_counts_for_five_seconds),
		TEST(what_an_earlier_recording_knows_is_left_alone),
		TEST(what_a_program_times_after_a_kernel_that_waits_is_left_alone),
		TEST(a_process_has_begun_before_now),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
