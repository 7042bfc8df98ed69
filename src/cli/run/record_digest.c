/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/record_digest.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	NICENESS = 10, /* niceness of the child processes, so that the command gets the processors first */
	PAUSES = 20 /* shortest pause after a digest, as a multiple of the processor time that the digest used
		     */
};

/*
 * Starts `kwhy digest` as a child with the option `how` (--running or --replace). Returns 0 or an error
 * number. The child inherits the signal mask, which blocks SIGTERM and the like: if a scheduler sends such a
 * signal to all processes of a job, the child still finishes its digest. If the digest before failed, the
 * child's messages are not shown, because they would mostly be the same as those of that digest.
 */
static int start(struct kwhy_record_digests *digests, const char *how)
{
	const char *const words[] = {
		"kwhy", "digest", "-q", how, "-o", digests->output, "--", digests->recording, NULL};
	posix_spawn_file_actions_t files;
	int failed = posix_spawn_file_actions_init(&files);

	if (failed)
		return failed;
	failed = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!failed)
		failed = posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	if (!failed && digests->has_failed)
		failed = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (!failed)
		failed = posix_spawn(
			&digests->process, "/proc/self/exe", &files, NULL, (char **)words, environ);
	posix_spawn_file_actions_destroy(&files);
	if (failed)
		digests->process = 0;
	else
		setpriority(PRIO_PROCESS, (id_t)digests->process, NICENESS);
	digests->began_mono_ns = kwhy_clock_mono_ns();
	return failed;
}

static int64_t time_of(const struct timeval *time)
{
	return INT64_C(1000000000) * time->tv_sec + INT64_C(1000) * time->tv_usec;
}

/*
 * If the child has ended, stores whether it failed, and sets the time of the next digest. `options` are those
 * of wait4(): 0 waits for the child's end, WNOHANG does not.
 */
static void reap(struct kwhy_record_digests *digests, int options)
{
	int64_t now_mono_ns, pause_ns;
	struct rusage used = {0};
	int how = 0;
	pid_t reaped;

	do
		reaped = wait4(digests->process, &how, options, &used);
	while (reaped < 0 && errno == EINTR);
	if (reaped == 0)
		return;
	/*
	 * reaped < 0: kwhy_child_run() has already reaped the child when the command ended, so its status is
	 * unknown, and it does not count as failed
	 */
	digests->has_failed = reaped > 0 && !(WIFEXITED(how) && WEXITSTATUS(how) == 0);
	digests->process = 0;
	now_mono_ns = kwhy_clock_mono_ns();
	pause_ns = PAUSES * (time_of(&used.ru_utime) + time_of(&used.ru_stime));
	digests->next_mono_ns = digests->began_mono_ns + digests->period_ns;
	if (digests->next_mono_ns < now_mono_ns + pause_ns)
		digests->next_mono_ns = now_mono_ns + pause_ns;
}

void kwhy_record_digests_tick(struct kwhy_record_digests *digests, bool asked)
{
	if (!digests->recording)
		return;
	if (digests->process)
		reap(digests, WNOHANG);
	if (!digests->next_mono_ns)
		digests->next_mono_ns = kwhy_clock_mono_ns() + digests->period_ns;
	if (digests->process ||
		(kwhy_clock_mono_ns() < digests->next_mono_ns && !(asked && !digests->has_asked)))
		return;
	digests->has_asked = digests->has_asked || asked;
	if (start(digests, "--running"))
		digests->next_mono_ns = kwhy_clock_mono_ns() + digests->period_ns;
}

enum kwhy_status kwhy_record_digests_finish(struct kwhy_record_digests *digests, struct kwhy_error *error)
{
	int failed;

	if (!digests->recording)
		return KWHY_OK;
	if (digests->process)
		reap(digests, 0);
	digests->has_failed = false; /* so that a failure of this last digest prints its message */
	failed = start(digests, "--replace");
	if (failed)
		return kwhy_fail(error, KWHY_E_IO, "cannot run kwhy digest: %s", strerror(failed));
	reap(digests, 0);
	return digests->has_failed
		? kwhy_fail(error, KWHY_E_IO, "the last digest in %.300s is not of the whole run",
			  digests->output)
		: KWHY_OK;
}
