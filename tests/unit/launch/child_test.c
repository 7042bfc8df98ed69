/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "cmocka_all.h"
#include "launch/child.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct kwhy_error error;
static struct kwhy_signals signals;
static struct kwhy_text streams[3];

static int open_signals(void **state)
{
	(void)state;
	return kwhy_signals_open(&signals, &error) != KWHY_OK;
}

static int close_signals(void **state)
{
	(void)state;
	kwhy_signals_close(&signals);
	for (size_t i = 0; i < 3; i++)
		kwhy_text_done(&streams[i]);
	return 0;
}

static void note(void *context, int stream, int64_t time_mono_ns, const char *bytes, size_t length)
{
	(void)context;
	(void)time_mono_ns;
	kwhy_text_add_bytes(&streams[stream], bytes, length);
}

static enum kwhy_status shell(const char *script, bool watched, struct kwhy_child_end *out)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	struct kwhy_child_request request = {.argv = (char *const *)argv, .seen = watched ? note : NULL};

	return kwhy_child_run(&request, &signals, out, &error);
}

static void the_exit_status_is_the_commands(void **state)
{
	struct kwhy_child_end end;

	(void)state;
	assert_int_equal(shell("exit 0", false, &end), KWHY_OK);
	assert_int_equal(end.exit, 0);
	assert_int_equal(shell("exit 37", false, &end), KWHY_OK);
	assert_int_equal(end.exit, 37);
	assert_int_equal(end.signal, 0);
	assert_true(end.end_mono_ns > end.start_mono_ns);
}

/*
 * A new process begins as a copy of kwhy's process. If its largest resident size is no more than kwhy's own,
 * that says nothing about the command, so it must be reported as unknown.
 */
static void memory_is_the_commands_or_unknown(void **state)
{
	enum { MIB = 1 << 20, OWN_MIB = 40 };
	char *own = malloc(OWN_MIB * MIB);
	struct kwhy_child_end end;

	(void)state;
	assert_non_null(own);
	memset(own, 1, OWN_MIB * MIB);
	assert_int_equal(shell("exit 0", false, &end), KWHY_OK);
	assert_int_equal(end.max_rss_bytes, 0);
	assert_int_equal(shell("x=$(head -c 60000000 /dev/zero | tr '\\0' x); exit 5", false, &end), KWHY_OK);
	assert_int_equal(end.exit, 5);
	assert_true(end.max_rss_bytes >= 60000000);
	free(own);
}

static void a_killed_command_is_128_and_its_signal(void **state)
{
	struct kwhy_child_end end;

	(void)state;
	assert_int_equal(shell("kill -SEGV $$", false, &end), KWHY_OK);
	assert_int_equal(end.signal, SIGSEGV);
	assert_int_equal(end.exit, 128 + SIGSEGV);
}

static void count_start(void *context)
{
	++*(unsigned *)context;
}

static void only_a_command_that_runs_is_told_to_have_started(void **state)
{
	char *nothing[] = {(char *)"kwhy-no-such-command", NULL}, *one[] = {(char *)"true", NULL};
	unsigned starts = 0;
	struct kwhy_child_request request = {.argv = nothing, .started = count_start, .context = &starts};
	struct kwhy_child_end end;

	(void)state;
	assert_int_equal(kwhy_child_run(&request, &signals, &end, &error), KWHY_E_INPUT);
	assert_false(end.has_run || starts);
	request.argv = one;
	assert_int_equal(kwhy_child_run(&request, &signals, &end, &error), KWHY_OK);
	assert_true(end.has_run && starts == 1);
}

static void commands_that_cannot_start_are_127_or_126(void **state)
{
	char *nothing[] = {(char *)"kwhy-no-such-command", NULL}, *folder[] = {(char *)"/", NULL};
	struct kwhy_child_end end;

	(void)state;
	assert_int_equal(
		kwhy_child_run(&(struct kwhy_child_request){.argv = nothing}, &signals, &end, &error),
		KWHY_E_INPUT);
	assert_int_equal(end.exit, KWHY_EXIT_NOT_FOUND);
	assert_non_null(strstr(error.text, "kwhy-no-such-command"));
	assert_int_equal(kwhy_child_run(&(struct kwhy_child_request){.argv = folder}, &signals, &end, &error),
		KWHY_E_INPUT);
	assert_int_equal(end.exit, KWHY_EXIT_NOT_EXECUTABLE);
}

/* As in shells, a command in an unreadable folder of PATH is "not found", not "permission denied". */
static void a_command_is_not_found_also_where_a_folder_of_path_is_somebody_elses(void **state)
{
	char *nothing[] = {(char *)"kwhy-no-such-command", NULL};
	char folder[] = "kwhy-path-XXXXXX", path[4096];
	const char *before = getenv("PATH");
	struct kwhy_child_end end;

	(void)state;
	if (geteuid() == 0)
		kwhy_skip("root looks anywhere");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chmod(folder, 0), 0);
	snprintf(path, sizeof(path), "%s:%s", folder, before);
	setenv("PATH", path, 1);
	assert_int_equal(
		kwhy_child_run(&(struct kwhy_child_request){.argv = nothing}, &signals, &end, &error),
		KWHY_E_INPUT);
	setenv("PATH", strchr(path, ':') + 1, 1);
	rmdir(folder);
	assert_int_equal(end.exit, KWHY_EXIT_NOT_FOUND);
	assert_non_null(strstr(error.text, "is in the folders of PATH"));
}

static void watched_output_is_told_stream_by_stream(void **state)
{
	struct kwhy_child_end end;

	(void)state;
	assert_int_equal(shell("printf 'a\\000b'; printf error >&2", true, &end), KWHY_OK);
	assert_int_equal(streams[1].length, 3);
	assert_memory_equal(streams[1].data, "a\0b", 3);
	assert_string_equal(streams[2].data, "error");
}

/*
 * With hides_output, kwhy still passes the output to its own observer (.seen) but not to standard output, and
 * reads it so that the command never waits.
 */
static void hidden_output_is_watched_and_not_passed_on(void **state)
{
	const char *const argv[] = {
		"sh", "-c", "dd if=/dev/zero bs=50000 count=6 2>/dev/null; echo e >&2", NULL};
	const struct kwhy_child_request request = {
		.argv = (char *const *)argv, .seen = note, .hides_output = true};
	struct kwhy_child_end end;
	int ends[2], before = dup(STDOUT_FILENO);
	char byte;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_true(dup2(ends[1], STDOUT_FILENO) >= 0);
	assert_int_equal(kwhy_child_run(&request, &signals, &end, &error), KWHY_OK);
	assert_true(dup2(before, STDOUT_FILENO) >= 0);
	close(before);
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	assert_int_equal(streams[1].length, 300000);
	assert_string_equal(streams[2].data, "e\n");
}

static void what_was_written_before_the_end_is_never_lost(void **state)
{
	struct kwhy_child_end end;

	(void)state;
	assert_int_equal(shell("dd if=/dev/zero bs=50000 count=6 2>/dev/null", true, &end), KWHY_OK);
	assert_int_equal(streams[1].length, 300000);
}

/*
 * The command ends and leaves a process that has kwhy's pipes open and sleeps longer than any test. kwhy must
 * report it and not wait for it.
 */
static void processes_left_behind_are_told_and_not_waited_for(void **state)
{
	struct kwhy_child_end end;

	(void)state;
	assert_int_equal(shell("(trap '' PIPE; exec sleep 99999) & echo $!; exit 5", true, &end), KWHY_OK);
	assert_int_equal(kill(atoi(streams[1].data), SIGKILL), 0);
	assert_int_equal(end.exit, 5);
	assert_true(end.left_running);
}

static void a_request_to_end_reaches_the_command(void **state)
{
	struct kwhy_child_end end;

	(void)state;
	assert_int_equal(shell("kill -TERM $PPID; exec sleep 20", false, &end), KWHY_OK);
	assert_int_equal(signals.asked, SIGTERM);
	assert_int_equal(end.exit, 128 + SIGTERM);
}

/*
 * Makes a new terminal the controlling one of this process and writes Ctrl-C to it, which sends SIGINT.
 * Returns false if no terminal can be made.
 */
static bool press_interrupt(void)
{
	struct pollfd file = {.fd = signals.file, .events = POLLIN};
	int keyboard = posix_openpt(O_RDWR | O_NOCTTY);

	if (setsid() < 0 || keyboard < 0 || grantpt(keyboard) || unlockpt(keyboard) ||
		open(ptsname(keyboard), O_RDWR) < 0 || write(keyboard, "\x03", 1) != 1)
		return false;
	return poll(&file, 1, -1) == 1;
}

/*
 * The terminal sends SIGINT to its foreground processes before the command exists. kwhy must pass it to the
 * command once it runs.
 */
static void an_interrupt_from_before_the_start_reaches_the_command_too(void **state)
{
	enum { NO_TERMINAL = 1 };
	char *argv[] = {(char *)"sleep", (char *)"20", NULL};
	const struct kwhy_child_request request = {.argv = argv};
	struct kwhy_child_end end;
	int status;
	pid_t other = fork();

	(void)state;
	if (other == 0) {
		if (!press_interrupt())
			_exit(NO_TERMINAL);
		_exit(kwhy_child_run(&request, &signals, &end, &error) ? NO_TERMINAL + 1 : end.exit);
	}
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_TERMINAL)
		kwhy_skip("there is no terminal to be had here");
	assert_int_equal(WEXITSTATUS(status), 128 + SIGINT);
}

static void the_second_request_kills(void **state)
{
	struct kwhy_child_end end;

	(void)state;
	assert_int_equal(shell("trap '' INT TERM; kill -INT $PPID; sleep 0.1; kill -TERM $PPID;"
			       "while :; do :; done",
				 false, &end),
		KWHY_OK);
	assert_int_equal(signals.asked, SIGINT);
	assert_int_equal(end.exit, 128 + SIGKILL);
}

static void a_hangup_that_is_ignored_stays_ignored(void **state)
{
	struct kwhy_child_end end;

	(void)state;
	kwhy_signals_close(&signals);
	signal(SIGHUP, SIG_IGN);
	assert_true(kwhy_signals_hangup_ignored());
	assert_int_equal(kwhy_signals_open(&signals, &error), KWHY_OK);
	assert_int_equal(shell("kill -HUP $PPID; exit 4", false, &end), KWHY_OK);
	signal(SIGHUP, SIG_DFL);
	assert_false(kwhy_signals_hangup_ignored());
	assert_int_equal(signals.asked, 0);
	assert_int_equal(end.exit, 4);
}

/*
 * Callback of kwhy_child_run(): in its third call, sends SIGTERM to this process, which kwhy_child_run()
 * passes on to the command.
 */
static void tick(void *context)
{
	if (++*(unsigned *)context == 3)
		kill(getpid(), SIGTERM);
}

static void the_caller_gets_turns_while_the_command_runs(void **state)
{
	char *argv[] = {(char *)"sleep", (char *)"99999", NULL};
	unsigned ticks = 0;
	struct kwhy_child_request request = {
		.argv = argv, .tick_ns = 20000000, .tick = tick, .context = &ticks};
	struct kwhy_child_end end;

	(void)state;
	assert_int_equal(kwhy_child_run(&request, &signals, &end, &error), KWHY_OK);
	assert_int_equal(end.exit, 128 + SIGTERM);
	assert_true(ticks >= 3);
	assert_true(ticks <= 1 + (end.end_mono_ns - end.start_mono_ns) / request.tick_ns);
}

/*
 * A thread in which SIGCHLD is not blocked, as in one of a vendor's library, so that it may get the signal in
 * place of kwhy's thread. It ends when the pipe is closed.
 */
static void *take_signals(void *pipe_end)
{
	sigset_t set;
	char byte;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	while (read(*(int *)pipe_end, &byte, 1) < 0)
		continue;
	return NULL;
}

/* The command closes its outputs long before it ends. So kwhy cannot notice its end by the end of its
 * outputs. */
static void the_end_is_noticed_although_another_thread_takes_its_signal(void **state)
{
	struct kwhy_child_end end;
	pthread_t thread;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pthread_create(&thread, NULL, take_signals, &ends[0]), 0);
	assert_int_equal(shell("exec 1>&- 2>&-; sleep 0.2; exit 7", true, &end), KWHY_OK);
	assert_int_equal(end.exit, 7);
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_exit_status_is_the_commands, open_signals, close_signals),
		cmocka_unit_test_setup_teardown(
			memory_is_the_commands_or_unknown, open_signals, close_signals),
		cmocka_unit_test_setup_teardown(
			a_killed_command_is_128_and_its_signal, open_signals, close_signals),
		cmocka_unit_test_setup_teardown(
			only_a_command_that_runs_is_told_to_have_started, open_signals, close_signals),
		cmocka_unit_test_setup_teardown(
			commands_that_cannot_start_are_127_or_126, open_signals, close_signals),
		cmocka_unit_test_setup_teardown(
			a_command_is_not_found_also_where_a_folder_of_path_is_somebody_elses, open_signals,
			close_signals),
		cmocka_unit_test_setup_teardown(
			watched_output_is_told_stream_by_stream, open_signals, close_signals),
		cmocka_unit_test_setup_teardown(
			hidden_output_is_watched_and_not_passed_on, open_signals, close_signals),
		cmocka_unit_test_setup_teardown(
			what_was_written_before_the_end_is_never_lost, open_signals, close_signals),
		cmocka_unit_test_setup_teardown(
			processes_left_behind_are_told_and_not_waited_for, open_signals, close_signals),
		cmocka_unit_test_setup_teardown(
			a_request_to_end_reaches_the_command, open_signals, close_signals),
		cmocka_unit_test_setup_teardown(an_interrupt_from_before_the_start_reaches_the_command_too,
			open_signals, close_signals),
		cmocka_unit_test_setup_teardown(the_second_request_kills, open_signals, close_signals),
		cmocka_unit_test_setup_teardown(
			a_hangup_that_is_ignored_stays_ignored, open_signals, close_signals),
		cmocka_unit_test_setup_teardown(
			the_caller_gets_turns_while_the_command_runs, open_signals, close_signals),
		cmocka_unit_test_setup_teardown(the_end_is_noticed_although_another_thread_takes_its_signal,
			open_signals, close_signals),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
