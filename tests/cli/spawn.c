/* SPDX-License-Identifier: Apache-2.0 */
#include "spawn.h"

#include "cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORD_LIMIT = 80 };

/* Blocks a signal and sends it to this process, so that it is still pending when exec() starts kwhy. */
static void send_ahead(int pending)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, pending);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(pending);
}

static void become(const struct spawn *spawn, int out, int err)
{
	const char *arguments[WORD_LIMIT + 2] = {"kwhy"};

	for (size_t i = 0; i < WORD_LIMIT && spawn->words[i]; i++)
		arguments[i + 1] = spawn->words[i];
	signal(SIGINT, SIG_DFL); /* a shell that runs tests in the background makes them ignore SIGINT */
	signal(SIGCHLD, spawn->ignores_children ? SIG_IGN : SIG_DFL);
	unsetenv("NO_COLOR");
	setenv("KWHY_PROFILES", KWHY_SOURCE_DIR "/profiles", 1);
	if (spawn->environment)
		putenv((char *)spawn->environment);
	if (spawn->folder && chdir(spawn->folder))
		_exit(126);
	if (spawn->stdout_to)
		out = open(spawn->stdout_to, O_WRONLY);
	if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
		_exit(126);
	if (spawn->pending)
		send_ahead(spawn->pending);
	execv(KWHY_PROGRAM, (char *const *)arguments);
	_exit(127);
}

static void gather(int out, int err, struct spawned *spawned)
{
	struct pollfd pipes[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
	struct kwhy_text *texts[2] = {&spawned->out, &spawned->err};
	char buffer[4096];

	while (pipes[0].fd >= 0 || pipes[1].fd >= 0) {
		if (poll(pipes, 2, -1) < 0) {
			assert_int_equal(errno, EINTR);
			continue;
		}
		for (size_t i = 0; i < 2; i++) {
			ssize_t got;

			if (pipes[i].fd < 0 || !pipes[i].revents)
				continue;
			got = read(pipes[i].fd, buffer, sizeof(buffer));
			if (got > 0)
				kwhy_text_add_bytes(texts[i], buffer, (size_t)got);
			else if (got == 0 || errno != EINTR)
				pipes[i].fd = -1;
		}
	}
}

struct spawned spawn_run(const struct spawn *spawn)
{
	struct spawned spawned = {0};
	int out[2], err[2], status = 0;
	pid_t child;

	kwhy_text_add(&spawned.out, "");
	kwhy_text_add(&spawned.err, "");
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(err, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		become(spawn, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	gather(out[0], err[0], &spawned);
	close(out[0]);
	close(err[0]);
	while (waitpid(child, &status, 0) != child)
		assert_int_equal(errno, EINTR);
	spawned.exit = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
	return spawned;
}

void spawned_done(struct spawned *spawned)
{
	kwhy_text_done(&spawned->out);
	kwhy_text_done(&spawned->err);
}
