/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the command `kwhy probe` without a GPU. The commands that it runs here copy files of recorded blocks,
 * which the tests have written, into the folder of the recording.
 */
#include "model/recording.h"
#include "record_folder.h"
#include "recording/block_writer.h"

#include <fcntl.h>

#define BOOT_UNIX_NS INT64_C(1795262400000000000)
#define MS INT64_C(1000000)

static const char copy_probed[] = "cp " KWHY_SOURCE_DIR
				  "/examples/recordings/mix-probed.kwhy $KWHY_RECORD_DIR/mix.blocks";
static const char not_probed[] = KWHY_SOURCE_DIR "/examples/recordings/mix.kwhy";

enum { GEMM = 1, SCAN, HOST, WHY };

static void add_kernel(
	struct kwhy_block_writer *writer, uint32_t name, int64_t start_ms, int64_t ms, uint32_t correlation)
{
	struct kwhy_wire_kernel *row = kwhy_block_writer_add(writer, KWHY_WIRE_KERNEL);

	assert_non_null(row);
	*row = (struct kwhy_wire_kernel){.start_mono_ns = start_ms * MS,
		.end_mono_ns = (start_ms + ms) * MS,
		.name = name,
		.correlation = correlation,
		.stream = 7,
		.context = 1,
		.blocks = 132,
		.threads_per_block = 256};
}

/*
 * Adds a burst that begins at `start_ms`: the program's own launch of the kernel, of 1 ms, and one record of
 * 70 ms for all its repeats.
 */
static void add_burst(
	struct kwhy_block_writer *writer, uint32_t name, int64_t start_ms, enum kwhy_burst_check check)
{
	struct kwhy_wire_burst *row;
	const uint32_t correlation = (uint32_t)start_ms;

	add_kernel(writer, name, start_ms + 1, 1, correlation);
	add_kernel(writer, name, start_ms + 3, 70, correlation + 1);
	row = kwhy_block_writer_add(writer, KWHY_WIRE_BURST);
	assert_non_null(row);
	*row = (struct kwhy_wire_burst){.start_mono_ns = start_ms * MS,
		.end_mono_ns = (start_ms + 80) * MS,
		.name = name,
		.correlation = correlation,
		.context = 1,
		.blocks = 132,
		.repeats = 1,
		.repeated_ns = 70 * MS,
		.threads_per_block = 256,
		.check = (uint8_t)check};
}

static void add_names(struct kwhy_block_writer *writer)
{
	static const char *const names[] = {
		[GEMM] = "_Z4gemmPf", [SCAN] = "scan", [HOST] = "node", [WHY] = "it waits for other devices"};

	for (uint32_t i = GEMM; i <= WHY; i++)
		kwhy_block_writer_add_name(writer, i, names[i], strlen(names[i]));
}

static void add_facts(struct kwhy_block_writer *writer)
{
	struct kwhy_wire_process *process = kwhy_block_writer_add(writer, KWHY_WIRE_PROCESS);
	struct kwhy_wire_clock *clock;
	struct kwhy_wire_run *run;

	*process = (struct kwhy_wire_process){.pid = 9, .host = HOST, .rank = KWHY_WIRE_UNKNOWN_U32};
	clock = kwhy_block_writer_add(writer, KWHY_WIRE_CLOCK);
	*clock = (struct kwhy_wire_clock){.offset_ns = BOOT_UNIX_NS, .width_ns = 1};
	run = kwhy_block_writer_add(writer, KWHY_WIRE_RUN);
	*run = (struct kwhy_wire_run){.start_mono_ns = 0, .end_mono_ns = 5000 * MS, .command = HOST};
}

/*
 * Writes a recording with four bursts of kernel gemm, 280 ms in all, from which the model knows the power of
 * gemm to 3.4 %, and one of kernel scan. The check of memory after the burst of scan has the result `check`;
 * NULL: scan is not repeated, for a reason that is recorded. Returns the path.
 */
static const char *make_blocks(const char *name, const enum kwhy_burst_check *check)
{
	const char *path = place(name);
	const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	unsigned char *memory = malloc(KWHY_BLOCK_WRITER_BYTES(65536));
	struct kwhy_wire_unprobed *unprobed;
	struct kwhy_block_writer writer;

	assert_true(file >= 0);
	assert_non_null(memory);
	kwhy_block_writer_init(&writer, file, 77, memory, 65536);
	add_names(&writer);
	add_facts(&writer);
	for (int i = 0; i < 4; i++)
		add_burst(&writer, GEMM, 1000 + 100 * i, i ? KWHY_BURST_UNCHECKED : KWHY_BURST_SAME);
	if (check) {
		add_burst(&writer, SCAN, 2000, *check);
	} else {
		add_kernel(&writer, SCAN, 2000, 12, 5000);
		unprobed = kwhy_block_writer_add(&writer, KWHY_WIRE_UNPROBED);
		*unprobed = (struct kwhy_wire_unprobed){
			.launches = 1, .name = SCAN, .reason = WHY, .blocks = 132, .threads_per_block = 256};
	}
	kwhy_block_writer_finish(&writer, 5000 * MS);
	kwhy_block_writer_close(&writer);
	free(memory);
	return path;
}

static struct spawned probe(const char *const *words)
{
	return spawn_run(&(struct spawn){
		.words = words, .environment = "KWHY_INJECT=" KWHY_FAKE_NVML_DIR "/libnvidia-ml.so.1"});
}

static void the_library_is_told_what_was_asked_for(void **state)
{
	static const char command[] =
		"echo $KWHY_PROBE $KWHY_PROBE_WITHIN_PPM $KWHY_PROBE_RATIO_PPM $KWHY_PROBE_BUDGET_NS "
		"$KWHY_PROBE_MEMORY $KWHY_PROBE_VERIFY $KWHY_PROBE_SEED; echo \"$KWHY_PROBE_SKIP\"; "
		"echo \"known$KWHY_PROBE_KNOWN\"; ls $KWHY_RECORD_DIR; exit 4";
	const char *const words[] = {"probe", "-q", "-o", place("a"), "--within", "3%", "--budget", "2.5",
		"--memory", "2G", "--verify", "all", "--skip", "*spin*", "--skip", "nccl*", "--seed", "7",
		"--", "sh", "-c", command, NULL};
	struct spawned spawned = probe(words);

	(void)state;
	assert_string_equal(spawned.out.data,
		"1 30000 0 2500000000 2147483648 all 7\n*spin*\nnccl*\nknown\nmeters.blocks\n");
	spawned = assert_ends(spawned, 4,
		"ended with status 4\nkwhy: no kernel was repeated: no kernel of the program was recorded\n");
	spawned_done(&spawned);
}

static void options_out_of_range_are_wrong_usage(void **state)
{
	(void)state;
	assert_done(SPAWN("probe", "--within", "0", "true"), 2, "--within takes 2.5 to 50");
	assert_done(SPAWN("probe", "--budget", "-1", "true"), 2, "--budget takes more than 0");
	assert_done(SPAWN("probe", "--memory", "1", "true"), 2, "--memory takes bytes");
	assert_done(SPAWN("probe", "--verify", "some", "true"), 2, "--verify takes first, all or none");
	assert_done(SPAWN("probe"), 2, "probe needs a command");
}

/* The copied blocks are a bundled recording of `kwhy probe` on an H200. */
static void the_end_says_what_was_repeated_and_what_was_not(void **state)
{
	const char *const words[] = {"probe", "-q", "-o", place("a"), "--", "sh", "-c", copy_probed, NULL};
	struct spawned spawned = probe(words);
	char last[300];

	(void)state;
	snprintf(last, sizeof(last), "kwhy: recorded in %s; all of it: kwhy report -v %s\n", words[3],
		words[3]);
	spawned = assert_ends(spawned, 0, "kwhy: 2 bursts of 810 repeats took 0.0 s\n");
	spawned = assert_ends(spawned, 0,
		"kwhy: kernels by size, shares of their busy time: 2 of 13 were repeated (8.4 %); by the "
		"time of "
		"the repeats, the power in bursts of 0 is known within 5 % (0.0 %)\n");
	spawned = assert_ends(spawned, 0, "kwhy: not repeated: 91.6 %, 11 kernels: the run ended before");
	spawned = assert_ends(spawned, 0,
		"kwhy: all device memory was the same after each of 2 bursts that were checked\n");
	assert_done(spawned, 0, last);
}

/*
 * The program's exit status, 7, is replaced by 125, which says that a repeated kernel left memory changed.
 * The message about that comes last, after the report.
 */
static void memory_that_was_not_put_back_is_the_exit_status(void **state)
{
	const enum kwhy_burst_check different = KWHY_BURST_DIFFERENT;
	char command[400];
	const char *const words[] = {"probe", "-o", place("a"), "--", "sh", "-c", command, NULL};
	struct spawned spawned;

	(void)state;
	snprintf(command, sizeof(command), "cp %s $KWHY_RECORD_DIR/x.blocks; exit 7",
		make_blocks("x", &different));
	spawned = probe(words);
	assert_non_null(strstr(spawned.err.data, "ended with status 7"));
	assert_non_null(strstr(spawned.err.data, "What it cost"));
	assert_done(spawned, 125,
		"kwhy: after repeats of scan memory was not what it had been: the results of this run are "
		"not to be trusted");
	unlink(place("x"));
}

static void a_command_that_ends_with_125_itself_changed_nothing(void **state)
{
	const char *const words[] = {"probe", "-q", "-o", place("a"), "--", "sh", "-c", "exit 125", NULL};
	struct spawned spawned = probe(words);

	(void)state;
	assert_null(strstr(spawned.err.data, "not to be trusted"));
	assert_done(spawned, 125, "ended with status 125");
}

static void an_earlier_recording_tells_the_library_what_is_known(void **state)
{
	static const char command[] = "cat $KWHY_PROBE_KNOWN; ls $KWHY_RECORD_DIR";
	const char *const words[] = {"probe", "-q", "-o", place("a"), "--append", make_blocks("x", NULL),
		"--", "sh", "-c", command, NULL};
	struct spawned spawned = probe(words);
	char last[400], known[300];

	(void)state;
	/*
	 * The line has the estimated half-width of gemm relative to its power, sqrt(0.045^2 * 270 / 280 +
	 * 0.021^2) for 280 ms of repeats (constants of base/probe_width.h), and its mangled name. scan is
	 * missing, as it was not repeated.
	 */
	assert_string_equal(spawned.out.data, "0.048925\t132\t256\t_Z4gemmPf\nmeters.blocks\nprobe.known\n");
	snprintf(last, sizeof(last), "all of it: kwhy report -v %s --powers %s\n", words[3], words[5]);
	snprintf(known, sizeof(known), "%s/probe.known", words[3]);
	assert_done(spawned, 0, last);
	assert_false(is_there(known));
	unlink(words[5]);
}

/*
 * Runs `kwhy probe` twice with the injected library. The first run learns the powers of two kernels; the
 * second, which appends to its recording, must not repeat these.
 */
static void what_one_run_taught_the_next_one_leaves_alone(void **state)
{
	static const char command[] = "export KWHY_CUPTI=" KWHY_FAKE_CUPTI
				      " LD_LIBRARY_PATH=" KWHY_FAKE_CUDA_DIR "; exec " KWHY_FAKE_PROGRAM
				      " work:30";
	const char *const first[] = {"probe", "-q", "-o", place("x"), "--within", "50%", "--share", "100",
		"--burst", "1", "--", "sh", "-c", command, NULL};
	const char *const second[] = {"probe", "-q", "-o", place("a"), "--within", "50%", "--append",
		place("x"), "--", "sh", "-c", command, NULL};
	const struct spawn spawns[] = {{.words = first, .environment = "KWHY_INJECT=" KWHY_INJECT_LIBRARY},
		{.words = second, .environment = "KWHY_INJECT=" KWHY_INJECT_LIBRARY}};

	(void)state;
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/h200_of_fake_cuda.txt", 1);
	assert_done(spawn_run(&spawns[0]), 0,
		"kwhy: kernels by size, shares of their busy time: 2 of 3 were repeated");
	assert_done(spawn_run(&spawns[1]), 0,
		"kwhy: no kernel was repeated\nkwhy: kernels by size, shares of their busy time: 2 of 3 "
		"were repeated in this or an earlier run");
	use_steady_load();
	remove_recording("x");
}

static void what_is_no_recording_of_probe_cannot_be_carried_on(void **state)
{
	(void)state;
	assert_done(SPAWN("probe", "-o", place("a"), "--append", not_probed, "true"), 1,
		"holds no repeated kernels");
	assert_false(is_there(place("a")));
	assert_done(SPAWN("probe", "-o", place("a"), "--append", "/nowhere.kwhy", "true"), 1, "nowhere");
	make_blocks("x", NULL);
	assert_done(SPAWN("probe", "-o", place("x"), "--append", place("x"), "true"), 2,
		"would replace the input");
	unlink(place("x"));
	make_blocks("run.kwhy", NULL);
	assert_int_equal(chdir(folder), 0);
	assert_done(SPAWN("probe", "--append", "run.kwhy", "true"), 2, "name another place for that with -o");
	assert_int_equal(chdir("/"), 0);
	unlink(place("run.kwhy"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_library_is_told_what_was_asked_for),
		CASE(options_out_of_range_are_wrong_usage),
		CASE(the_end_says_what_was_repeated_and_what_was_not),
		CASE(memory_that_was_not_put_back_is_the_exit_status),
		CASE(a_command_that_ends_with_125_itself_changed_nothing),
		CASE(an_earlier_recording_tells_the_library_what_is_known),
		CASE(what_one_run_taught_the_next_one_leaves_alone),
		CASE(what_is_no_recording_of_probe_cannot_be_carried_on),
	};

	return kwhy_test_main(tests, begin, end);
}
