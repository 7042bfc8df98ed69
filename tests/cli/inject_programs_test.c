/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs programs that limit or change their own process (threads, descriptors, seccomp, signals), with and
 * without libkwhy-inject.so. Output and exit status must be equal, and no file may appear outside of the
 * recording.
 */
#include "inject_run.h"

#include <sys/stat.h>

/* Output, and status as from wait(), of the program run without kwhy. */
struct plain {
	char out[4096];
	int status;
};

static int run_shell(const char *command, char out[4096])
{
	FILE *pipe = popen(command, "r");
	size_t length;

	assert_non_null(pipe);
	length = fread(out, 1, 4095, pipe);
	out[length] = '\0';
	return pclose(pipe);
}

/*
 * Shell commands that run the program in an empty folder, and set to this folder each variable that names a
 * place where a library might leave files. Placeholders: the recording's folder twice, the fake CUPTI, the
 * folder of the fake CUDA driver.
 */
static const char places[] = "mkdir -p %s.away; cd %s.away; export HOME=$PWD TMPDIR=$PWD XDG_CACHE_HOME=$PWD "
			     "XDG_RUNTIME_DIR=$PWD ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=die_after_fork=0 "
			     "FAKE_CUPTI_PATH=%s LD_LIBRARY_PATH=%s; ";

static struct plain run_plain(const struct run *run, const char *words)
{
	struct plain plain;
	char command[4096];
	int length = snprintf(command, sizeof(command), places, run->folder, run->folder, KWHY_FAKE_CUPTI_13,
		KWHY_FAKE_CUDA_DIR);

	snprintf(command + length, sizeof(command) - (size_t)length, "exec 2>&1; %s %s", KWHY_HARD_PROGRAM,
		words);
	plain.status = run_shell(command, plain.out);
	return plain;
}

static void run_recorded(struct run *run, const char *words)
{
	char command[4096];
	int length = snprintf(command, sizeof(command), places, run->folder, run->folder, KWHY_FAKE_CUPTI_13,
		KWHY_FAKE_CUDA_DIR);

	snprintf(command + length, sizeof(command) - (size_t)length,
		"exec 2>&1; export CUDA_INJECTION64_PATH=%s KWHY_CUPTI=%s KWHY_RECORD_DIR=%s "
		"KWHY_RECORD_PERIOD_MS=2; %s %s",
		KWHY_INJECT_LIBRARY, KWHY_FAKE_CUPTI_13, run->folder, KWHY_HARD_PROGRAM, words);
	run->status = run_shell(command, run->out);
}

static void assert_nothing_away(const struct run *run)
{
	char command[200], out[4096];

	snprintf(command, sizeof(command), "find %s.away -mindepth 1; rm -rf %s.away", run->folder,
		run->folder);
	assert_int_equal(run_shell(command, out), 0);
	assert_string_equal(out, "");
}

/* Runs the program with and without kwhy, and compares the results. */
static void assert_same(struct run *run, const char *words)
{
	const struct plain plain = run_plain(run, words);

	run_recorded(run, words);
	assert_string_equal(run->out, plain.out);
	assert_int_equal(run->status, plain.status);
	assert_nothing_away(run);
}

static void assert_recorded(struct run *run, size_t kernels)
{
	read_recording(run);
	assert_int_equal(count_kind(run, KWHY_ACTIVITY_KERNEL), kernels);
}

static void threads_that_come_and_go(void **state)
{
	struct run *run = *state;

	assert_same(run, "cuda threads:1000 print:done exit:4");
	assert_recorded(run, 1000);
	assert_int_equal(count_ranges(run, "of a thread"), 1000);
}

static void threads_with_the_smallest_stack(void **state)
{
	struct run *run = *state;

	assert_same(run, "cuda tiny:100 print:done");
	assert_recorded(run, 100);
}

static void children_by_vfork_and_by_spawn(void **state)
{
	struct run *run = *state;

	assert_same(run, "cuda launch:3 vfork spawn launch:4 exit:3");
	assert_recorded(run, 7);
	assert_int_equal(count_files(run), 1);
}

static void a_daemon_ends_as_it_would(void **state)
{
	struct run *run = *state;

	assert_same(run, "daemon cuda launch:20 print:daemon");
	assert_recorded(run, 20);
}

static void a_daemon_that_forks_after_it_began(void **state)
{
	struct run *run = *state;

	assert_same(run, "cuda launch:20 settle daemon launch:5 print:daemon");
	assert_recorded(run, 20);
}

static void a_child_of_another_user(void **state)
{
	struct run *run = *state;

	if (geteuid() != 0)
		kwhy_skip("needs root");
	assert_same(run, "cuda launch:5 user:65534 launch:5");
	assert_recorded(run, 10);
}

static void a_storm_of_signals(void **state)
{
	struct run *run = *state;

	assert_same(run, "cuda signals:300 exit:2");
	read_recording(run);
	assert_true(count_kind(run, KWHY_ACTIVITY_KERNEL) > 0);
	assert_false(run->recording->lost.truncated);
}

static void a_library_that_is_unloaded(void **state)
{
	struct run *run = *state;

	assert_same(run, "cuda launch:5 unload launch:5 print:done");
	assert_recorded(run, 10);
}

static void a_library_that_is_loaded_again(void **state)
{
	struct run *run = *state;

	assert_same(run, "cuda launch:5 load unload load launch:5 print:done");
	assert_recorded(run, 10);
}

static void another_user_of_cupti_after_kwhy(void **state)
{
	struct run *run = *state;

	assert_same(run, "cuda launch:5 settle user-of-cupti launch:5 print:done");
	read_recording(run);
	assert_true(count_kind(run, KWHY_ACTIVITY_KERNEL) >= 5);
}

/*
 * The program itself calls setrlimit() before its first use of CUDA. A limit may prevent the
 * recording, but must not change what the program does.
 */
static void limits_from_the_start(void **state)
{
	struct run *run = *state;

	assert_same(run, "limit:nofile:3 print:limited exit:5");
	assert_same(run, "limit:fsize:100 cuda launch:50 print:limited exit:5");
	assert_same(run, "limit:nproc:0 cuda launch:50 print:limited exit:5");
}

static void limits_meanwhile(void **state)
{
	struct run *run = *state;

	assert_same(run, "cuda launch:50 settle limit:nofile:3 launch:500 print:limited exit:5");
	assert_same(run, "cuda launch:50 settle limit:fsize:0 launch:500 print:limited exit:5");
	assert_same(run, "cuda launch:50 settle limit:as:1000000 launch:500 print:limited exit:5");
}

static void a_program_that_denies_itself_files_and_threads(void **state)
{
	struct run *run = *state;

	assert_same(run, "cuda launch:20 settle deny launch:500 print:denied exit:6");
	assert_recorded(run, 520);
}

/*
 * The program denies itself new threads before it uses CUDA. kwhy can then record nothing, and the program
 * must run as without kwhy.
 */
static void a_program_that_denied_itself_threads_before(void **state)
{
	struct run *run = *state;

	assert_same(run, "limit:nproc:0 cuda launch:20 print:denied exit:6");
}

static void a_static_program_without_symbols(void **state)
{
#ifdef KWHY_STATIC_PROGRAM
	struct run *run = *state;
	char command[1024];

	snprintf(command, sizeof(command), "CUDA_INJECTION64_PATH=%s KWHY_CUPTI=%s KWHY_RECORD_DIR=%s %s",
		KWHY_INJECT_LIBRARY, KWHY_FAKE_CUPTI_13, run->folder, KWHY_STATIC_PROGRAM);
	run->status = run_shell(command, run->out);
	assert_exit(run, 9);
	assert_string_equal(run->out, "static\n");
	assert_int_equal(count_files(run), 0);
#else
	(void)state;
	kwhy_skip("programs cannot be linked statically here");
#endif
}

/* Each file that the program opens for writing, as strace shows, must be a file of the recording. */
static void files_are_opened_for_writing_in_the_recording_alone(void **state)
{
	struct run *run = *state;
	char command[4096], out[4096];
	int status;

	if (system("strace -o /dev/null true 2>/dev/null") != 0)
		kwhy_skip("strace is not here, or may not trace");
	snprintf(command, sizeof(command),
		"export FAKE_CUPTI_PATH=%s LD_LIBRARY_PATH=%s CUDA_INJECTION64_PATH=%s KWHY_CUPTI=%s "
		"KWHY_RECORD_DIR=%s; "
		"strace -f -qq -e "
		"trace=open,openat,creat,mkdir,mkdirat,rename,renameat2,unlink,unlinkat,link,symlink -o "
		"%s.trace %s cuda threads:20 launch:5 vfork exit:3; "
		"grep -E 'O_WRONLY|O_RDWR|O_CREAT|mkdir|rename|unlink|link' %s.trace | grep -vE "
		"'%s|/dev/null|/proc/self/task/|ENOENT|readlink'; "
		"rm %s.trace",
		KWHY_FAKE_CUPTI_13, KWHY_FAKE_CUDA_DIR, KWHY_INJECT_LIBRARY, KWHY_FAKE_CUPTI_13, run->folder,
		run->folder, KWHY_HARD_PROGRAM, run->folder, run->folder, run->folder);
	status = run_shell(command, out);
	assert_int_equal(status, 0);
	assert_string_equal(out, "vfork ended with 0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(threads_that_come_and_go),
		CASE(threads_with_the_smallest_stack),
		CASE(children_by_vfork_and_by_spawn),
		CASE(a_daemon_ends_as_it_would),
		CASE(a_daemon_that_forks_after_it_began),
		CASE(a_child_of_another_user),
		CASE(a_storm_of_signals),
		CASE(a_library_that_is_unloaded),
		CASE(a_library_that_is_loaded_again),
		CASE(another_user_of_cupti_after_kwhy),
		CASE(limits_from_the_start),
		CASE(limits_meanwhile),
		CASE(a_program_that_denies_itself_files_and_threads),
		CASE(a_program_that_denied_itself_threads_before),
		CASE(a_static_program_without_symbols),
		CASE(files_are_opened_for_writing_in_the_recording_alone),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
