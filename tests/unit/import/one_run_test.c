/* SPDX-License-Identifier: Apache-2.0 */
#include "import/one_run.h"
#include "unit/import/recorded_tape.h"

/* Tests which traces are accepted as parts of one run, and which are not. */

static struct kwhy_error error;

/*
 * Makes a recording of kwhy record in memory: one process on the machine `host`, with a kernel of 10 ms that
 * starts at start_ms. Returns its descriptor, and its path in `path`.
 */
static int record(char path[64], uint64_t writer, int64_t start_ms, const char *host)
{
	struct tape tape;

	tape_init(&tape, memfd_create("recording", 0), writer);
	snprintf(path, 64, "/proc/self/fd/%d", tape.fd);
	say_names(&tape);
	say_name(&tape, 99, host);
	ADD(&tape, CLOCK, clock, .mono_ns = MS, .offset_ns = BOOT_UNIX_NS, .width_ns = 100);
	ADD(&tape, PROCESS, process, .pid = 40 + (uint32_t)writer, .host = 99, .rank = (uint32_t)writer,
		.world_size = 2);
	ADD(&tape, KERNEL, kernel, .start_mono_ns = start_ms * MS, .end_mono_ns = (start_ms + 10) * MS,
		.name = GEMM, .stream = 7, .context = 1);
	tape.ended_mono_ns = (start_ms + 10) * MS;
	tape_done(&tape);
	return tape.fd;
}

static int csv(char path[64], int64_t start_ns, const char *comments)
{
	int fd = memfd_create("csv", 0);

	snprintf(path, 64, "/proc/self/fd/%d", fd);
	dprintf(fd,
		"%skind,name,device,stream,start_ns,end_ns,bytes,blocks,threads_per_block\n"
		"kernel,a,0,7,%lld,%lld,,,\n",
		comments, (long long)start_ns, (long long)start_ns + 1000000);
	return fd;
}

static int kineto(char path[64], int64_t start_ns)
{
	int fd = memfd_create("kineto", 0);

	snprintf(path, 64, "/proc/self/fd/%d", fd);
	dprintf(fd,
		"{\"baseTimeNanoseconds\": %lld, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", "
		"\"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 0, \"dur\": 1000, \"args\": {\"device\": "
		"0, "
		"\"stream\": 7}}]}",
		(long long)start_ns);
	return fd;
}

/* Reads both files in this order and returns the status of the second one. */
static enum kwhy_status read_both(const char *first, const char *second)
{
	const struct kwhy_import_options options = {0};
	struct kwhy_recording *recording;
	enum kwhy_status status;

	assert_int_equal(kwhy_recording_new(&recording, &error), KWHY_OK);
	assert_int_equal(kwhy_import_trace(recording, first, &options, &error), KWHY_OK);
	status = kwhy_import_trace(recording, second, &options, &error);
	kwhy_recording_free(recording);
	return status;
}

static void a_recording_given_twice_is_refused(void **state)
{
	char first[64], copy[64];
	int fds[] = {record(first, 1, 0, "node1"), record(copy, 1, 0, "node1")};

	(void)state;
	assert_int_equal(read_both(first, first), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "is given twice"));
	assert_int_equal(read_both(first, copy), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "holds the same recording as"));
	close(fds[0]);
	close(fds[1]);
}

static void ranks_of_one_run_are_taken_together(void **state)
{
	char first[64], second[64], other[64];
	int fds[] = {
		record(first, 1, 0, "node1"), record(second, 2, 5, "node1"), record(other, 3, 9000, "node2")};

	(void)state;
	assert_int_equal(read_both(first, second), KWHY_OK);
	assert_int_equal(read_both(first, other), KWHY_OK);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

static void recordings_of_one_host_that_do_not_overlap_are_of_two_runs(void **state)
{
	char first[64], later[64];
	int fds[] = {record(first, 1, 0, "node1"), record(later, 2, 500, "node1")};

	(void)state;
	assert_int_equal(read_both(first, later), KWHY_E_INPUT);
	assert_non_null(
		strstr(error.text, "from 2026-11-21 12:00:00.500 UTC to 2026-11-21 12:00:00.510 UTC"));
	assert_non_null(strstr(error.text, "490 ms apart"));
	assert_int_equal(read_both(later, first), KWHY_E_INPUT);
	close(fds[0]);
	close(fds[1]);
}

static void traces_are_apart_by_clocks_but_not_by_days(void **state)
{
	char first[64], near[64], far[64];
	int fds[] = {csv(first, BOOT_UNIX_NS, ""), csv(near, BOOT_UNIX_NS + 9000 * MS, ""),
		csv(far, BOOT_UNIX_NS + INT64_C(2592000000) * MS, "")};

	(void)state;
	assert_int_equal(read_both(first, near), KWHY_OK);
	assert_int_equal(read_both(first, far), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "30.0 days apart"));
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

/*
 * A Kineto trace does not state its machine. It begins 9 s after a recording does; as it may be of another
 * machine, both must be accepted in either order.
 */
static void a_trace_without_a_machine_has_a_clock_of_its_own_beside_a_recording(void **state)
{
	char first[64], near[64];
	int fds[] = {record(first, 1, 0, "node1"), kineto(near, BOOT_UNIX_NS + 9000 * MS)};

	(void)state;
	assert_int_equal(read_both(first, near), KWHY_OK);
	assert_int_equal(read_both(near, first), KWHY_OK);
	close(fds[0]);
	close(fds[1]);
}

/*
 * Both traces begin at time 0 of a clock of their own with the same name. They must be taken to be of one
 * run.
 */
static void traces_on_a_clock_of_their_own_begin_at_nought(void **state)
{
	char first[64], second[64];
	int fds[] = {csv(first, 0, "# clock other trace\n"),
		csv(second, 0, "# clock other trace\n# device 0 rank=1\n")};

	(void)state;
	assert_int_equal(read_both(first, second), KWHY_OK);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_given_twice_is_refused),
		cmocka_unit_test(ranks_of_one_run_are_taken_together),
		cmocka_unit_test(recordings_of_one_host_that_do_not_overlap_are_of_two_runs),
		cmocka_unit_test(traces_are_apart_by_clocks_but_not_by_days),
		cmocka_unit_test(a_trace_without_a_machine_has_a_clock_of_its_own_beside_a_recording),
		cmocka_unit_test(traces_on_a_clock_of_their_own_begin_at_nought),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
