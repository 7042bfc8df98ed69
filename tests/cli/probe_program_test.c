/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests `kwhy probe`, which repeats kernels of a program in bursts, on programs that use a fake driver, CUPTI
 * and NVML. What a program prints must not change by that.
 */
#include "record_folder.h"

#include <jansson.h>

#define ENVIRONMENT "export KWHY_CUPTI=" KWHY_FAKE_CUPTI " LD_LIBRARY_PATH=" KWHY_FAKE_CUDA_DIR "; "

/*
 * Result of `kwhy probe OPTIONS -- PROGRAM WORDS`: exit status, output of kwhy and of the program, and the
 * log of the injected library.
 */
struct probed {
	int exit;
	char out[512], err[2048], log[65536];
};

static void take_text(char *out, size_t space, const struct kwhy_text *text)
{
	snprintf(out, space, "%s", text->data ? text->data : "");
}

static void read_log(struct probed *out, const char *path)
{
	FILE *file = fopen(path, "r");
	size_t length = file ? fread(out->log, 1, sizeof(out->log) - 1, file) : 0;

	out->log[length] = '\0';
	if (file)
		fclose(file);
	unlink(path);
}

static struct probed *probe(const char *variables, const char *words)
{
	static struct probed out;
	char command[2048], log[300];
	struct spawned spawned;

	snprintf(log, sizeof(log), "%s/log", folder);
	snprintf(command, sizeof(command), ENVIRONMENT "export KWHY_PROBE_LOG=%s; %s exec %s %s", log,
		variables, KWHY_FAKE_PROGRAM, words);
	const char *const probe_words[] = {"probe", "-q", "-o", place("a"), "--seed", "3", "--share", "100",
		"--burst", "0.2", "--", "sh", "-c", command, NULL};

	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/h200_of_fake_cuda.txt", 1);
	spawned = spawn_run(
		&(struct spawn){.words = probe_words, .environment = "KWHY_INJECT=" KWHY_INJECT_LIBRARY});
	use_steady_load();
	out.exit = spawned.exit;
	take_text(out.out, sizeof(out.out), &spawned.out);
	take_text(out.err, sizeof(out.err), &spawned.err);
	spawned_done(&spawned);
	read_log(&out, log);
	return &out;
}

/* Returns what the program prints without kwhy. Valid until the next call. */
static const char *plain(const char *words)
{
	static char out[512];
	char command[2048];
	FILE *pipe;
	size_t length;

	snprintf(command, sizeof(command), ENVIRONMENT "exec %s %s", KWHY_FAKE_PROGRAM, words);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	length = fread(out, 1, sizeof(out) - 1, pipe);
	out[length] = '\0';
	pclose(pipe);
	return out;
}

static size_t count(const char *text, const char *part)
{
	size_t found = 0;

	for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
		found++;
	return found;
}

static void expect_same(const char *words)
{
	struct probed *probed = probe("", words);

	if (probed->exit || strcmp(probed->out, plain(words)) != 0)
		fail_msg("exit %d, '%s' where it prints '%s' alone: %s%s", probed->exit, probed->out,
			plain(words), probed->err, probed->log);
}

static void a_program_prints_what_it_prints_alone(void **state)
{
	struct probed *probed;

	(void)state;
	expect_same("work:30 graph:2 sum");
	probed = probe("", "work:30 graph:2 sum");
	assert_int_equal(count(probed->log, "burst add [264 x 256]"), 30);
	assert_int_equal(count(probed->log, "burst count"), 30);
	/*
	 * The names of these kernels do not show that repeating them is harmless, so memory must be
	 * restored after each repeat: the log says "put back each". It says "copies alone" for bursts
	 * without the kernel, in which only the copies that restore memory are repeated, to measure their
	 * time and power.
	 */
	assert_int_equal(count(probed->log, "put back each") + count(probed->log, "copies alone"), 60);
	assert_true(strstr(probed->log, "back to back"));
	assert_null(strstr(probed->log, "nccl"));
	assert_null(strstr(probed->log, "gave up"));
}

static void what_cannot_be_put_back_is_not_repeated(void **state)
{
	struct probed *probed;

	(void)state;
	expect_same("managed:5 hidden:5 work:2 sum");
	probed = probe("", "managed:5 hidden:5 work:2 sum");
	assert_true(strstr(probed->log, "it reaches managed memory"));
	assert_true(strstr(probed->log, "none of its parameters points to"));
	assert_int_equal(count(probed->log, "burst follow"), 0);
}

static void of_large_memory_only_what_is_written_is_copied(void **state)
{
	struct probed *probed;

	(void)state;
	expect_same("large:6 sum");
	probed = probe("", "large:6 sum");
	assert_int_equal(count(probed->log, "refused count"), 1);
	assert_int_equal(count(probed->log, "burst count"), 5);
}

static void memory_of_pools_and_mapped_pieces_is_put_back(void **state)
{
	static const char words[] = "pool:5 segments:5 work:2 sum";
	struct probed *probed;

	(void)state;
	expect_same(words);
	probed = probe("", words);
	assert_null(strstr(probed->log, "gave up"));
	assert_null(strstr(probed->log, "refused add"));
	assert_int_equal(count(probed->log, "burst add"), 5 + 10 + 2);
	assert_int_equal(count(probed->log, "burst count"), 10 + 10 + 2);
	/*
	 * the memory that is put back is both mapped pieces under the array, but not the third piece, to
	 * which access is not enabled
	 */
	assert_true(strstr(probed->log, "2 allocations of 163840 bytes"));
	assert_int_equal(count(probed->log, "check 2"), 0);
}

static void memory_that_is_not_put_back_ends_the_probing_and_the_status_tells(void **state)
{
	struct probed *probed = probe("", "unsteady:4 sum");

	(void)state;
	if (probed->exit != 125)
		fail_msg("exit %d: %s%s", probed->exit, probed->err, probed->log);
	assert_true(strstr(probed->log, "gave up: memory was not the same after the repeats of unsteady"));
	assert_int_equal(count(probed->log, "burst"), 1);
	assert_true(strstr(probed->err, "the results of this run are not to be trusted"));
}

static void behind_a_graph_its_kernels_are_repeated_that_take_no_address_from_memory(void **state)
{
	struct probed *probed;

	(void)state;
	expect_same("work:1 graph:8 sum");
	probed = probe("", "work:1 graph:8 sum");
	assert_int_equal(count(probed->log, "burst vectorized_elementwise_kernel"), 9);
	/*
	 * `add` is repeated for its launch outside of the graph only. In the graph it is not: going by its
	 * name, it may take addresses from memory, not only from its parameters.
	 */
	assert_int_equal(count(probed->log, "burst add"), 1);
	assert_int_equal(count(probed->log, "burst count"), 1);
	assert_int_equal(count(probed->log, "launched under capture"), 3);
	assert_null(strstr(probed->log, "gave up"));
}

/*
 * The program launches its kernels only in graphs. The elementwise kernel is repeated all the same; `add` is
 * not, as no launch outside of a graph has shown what memory it uses.
 */
static void kernels_of_graphs_alone_are_repeated(void **state)
{
	struct probed *probed;

	(void)state;
	expect_same("cold-graph:8 sum");
	probed = probe("", "cold-graph:8 sum");
	assert_int_equal(count(probed->log, "burst vectorized_elementwise_kernel"), 8);
	assert_int_equal(count(probed->log, "burst add"), 0);
	assert_null(strstr(probed->log, "gave up"));
}

/*
 * XLA nests graphs and changes the parameters of kernel nodes between launches of the graph. Repeats must use
 * the addresses that the parameters have at the launch that they repeat.
 */
static void kernels_of_graphs_that_are_changed_are_repeated_as_they_are_now(void **state)
{
	struct probed *probed;

	(void)state;
	expect_same("nested-graph:8 sum");
	probed = probe("", "nested-graph:8 sum");
	assert_int_equal(count(probed->log, "burst vectorized_elementwise_kernel"), 8);
	assert_int_equal(count(probed->log, "2 allocations of 65536 bytes"), 8);
	assert_null(strstr(probed->log, "gave up"));
}

/* For each kernel that is not repeated the report gives a reason. A cooperative launch is one. */
static void a_cooperative_kernel_is_not_repeated_and_the_report_says_so(void **state)
{
	struct spawned spawned;

	(void)state;
	expect_same("cooperative:3 sum");
	assert_int_equal(count(probe("", "cooperative:3 sum")->log, "burst"), 0);
	spawned = SPAWN("report", "-v", "-q", place("a"));
	assert_non_null(strstr(spawned.out.data, "it is launched cooperatively"));
	spawned_done(&spawned);
}

/*
 * Returns the sum of the member `number` (times in ns, counts) over the objects in `rows` whose name is
 * `name`.
 */
static int64_t sum_of(json_t *rows, const char *number, const char *name)
{
	int64_t sum = 0;
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) if (!strcmp(json_string_value(json_object_get(row, "name")), name))
		sum += json_integer_value(json_object_get(row, number));
	return sum;
}

/*
 * The bursts run inside the runtime calls that launch their kernels, but the reported time of these calls
 * must not include the bursts.
 */
static void calls_have_no_time_of_bursts(void **state)
{
	char report[300];
	struct spawned spawned;
	json_t *answer, *api;
	int64_t calls_ns, bursts_ns;

	(void)state;
	expect_same("work:30 threads:2 sum");
	snprintf(report, sizeof(report), "%s/report.json", folder);
	spawned = SPAWN("report", "-q", place("a"), "-o", report);
	assert_int_equal(spawned.exit, 0);
	spawned_done(&spawned);
	answer = json_load_file(report, 0, NULL);
	assert_non_null(answer);
	unlink(report);
	api = json_object_get(answer, "api");
	assert_int_equal(sum_of(api, "count", "cudaLaunchKernel"), 90 + 2 * 60);
	assert_int_equal(sum_of(api, "count", "cuMemcpyDtoDAsync"), 0);
	calls_ns = sum_of(api, "total_ns", "cudaLaunchKernel");
	bursts_ns = json_integer_value(json_object_get(json_object_get(answer, "probing"), "time_ns"));
	if (calls_ns >= bursts_ns)
		fail_msg("launches take %lld ns, bursts %lld ns", (long long)calls_ns, (long long)bursts_ns);
	json_decref(answer);
}

static void copies_and_memsets_are_repeated_but_for_pageable_ones(void **state)
{
	struct probed *probed;

	(void)state;
	expect_same("copies:6 sum");
	probed = probe("", "copies:6 sum");
	assert_int_equal(count(probed->log, "burst copy within the device"), 6);
	assert_int_equal(count(probed->log, "burst copy from pinned memory"), 6);
	assert_int_equal(count(probed->log, "burst memset"), 6);
	assert_int_equal(count(probed->log, "burst copy from pageable memory"), 0);
	assert_true(strstr(probed->log, "memory of the host that is not pinned"));
	assert_null(strstr(probed->log, "gave up"));
}

static void threads_take_turns_with_bursts(void **state)
{
	(void)state;
	expect_same("allocate:200 work:20 threads:4 sum");
}

static void a_child_of_fork_works_as_it_would(void **state)
{
	(void)state;
	expect_same("work:2 fork work:2 sum");
}

static void a_program_that_ends_within_a_burst_keeps_its_status_and_has_a_report(void **state)
{
	struct probed *probed = probe("", "dies:110:7 work:100 sum");
	struct spawned spawned;

	(void)state;
	assert_int_equal(probed->exit, 7);
	assert_true(count(probed->log, "burst") > 0);
	spawned = SPAWN("report", "-v", place("a"));
	assert_int_equal(spawned.exit, 0);
	spawned_done(&spawned);
}

static void beside_another_subscriber_the_program_runs_and_is_recorded(void **state)
{
	struct probed *probed = probe("export KWHY_FAKE_CUPTI=subscribed;", "work:5 sum");

	(void)state;
	assert_int_equal(probed->exit, 0);
	assert_string_equal(probed->out, plain("work:5 sum"));
	assert_string_equal(probed->log, "");
}

static void a_call_that_fails_within_a_burst_ends_the_probing_alone(void **state)
{
	struct probed *probed = probe("export KWHY_FAKE_CUDA=fail:cuMemcpyDtoDAsync_v2:2:1;", "work:5 sum");

	(void)state;
	assert_int_equal(probed->exit, 0);
	assert_string_equal(probed->out, plain("work:5 sum"));
	assert_true(strstr(probed->log, "gave up: a call of the driver failed with 1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_program_prints_what_it_prints_alone, end_one),
		cmocka_unit_test_teardown(what_cannot_be_put_back_is_not_repeated, end_one),
		cmocka_unit_test_teardown(memory_of_pools_and_mapped_pieces_is_put_back, end_one),
		cmocka_unit_test_teardown(of_large_memory_only_what_is_written_is_copied, end_one),
		cmocka_unit_test_teardown(
			memory_that_is_not_put_back_ends_the_probing_and_the_status_tells, end_one),
		cmocka_unit_test_teardown(
			behind_a_graph_its_kernels_are_repeated_that_take_no_address_from_memory, end_one),
		cmocka_unit_test_teardown(kernels_of_graphs_alone_are_repeated, end_one),
		cmocka_unit_test_teardown(
			kernels_of_graphs_that_are_changed_are_repeated_as_they_are_now, end_one),
		cmocka_unit_test_teardown(
			a_cooperative_kernel_is_not_repeated_and_the_report_says_so, end_one),
		cmocka_unit_test_teardown(calls_have_no_time_of_bursts, end_one),
		cmocka_unit_test_teardown(copies_and_memsets_are_repeated_but_for_pageable_ones, end_one),
		cmocka_unit_test_teardown(threads_take_turns_with_bursts, end_one),
		cmocka_unit_test_teardown(a_child_of_fork_works_as_it_would, end_one),
		cmocka_unit_test_teardown(
			a_program_that_ends_within_a_burst_keeps_its_status_and_has_a_report, end_one),
		cmocka_unit_test_teardown(
			beside_another_subscriber_the_program_runs_and_is_recorded, end_one),
		cmocka_unit_test_teardown(a_call_that_fails_within_a_burst_ends_the_probing_alone, end_one),
	};

	return kwhy_test_main(tests, begin, end);
}
