/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/ranks.h"

#include "base/clock.h"
#include "base/file.h"
#include "launch/environment.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMAND_MAX_BYTES = 1 << 20, WORDS_MAX = 1024 };

#define TIMEOUT_NS INT64_C(5000000000)

static const char *const names[] = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"};

/*
 * Reads the arguments with which this program was started. words: pointers into `command`, NULL at the end.
 */
static enum kwhy_status read_words(
	struct kwhy_text *command, char *words[WORDS_MAX], struct kwhy_error *error)
{
	static const char path[] = "/proc/self/cmdline";
	size_t count = 0;
	enum kwhy_status status = kwhy_file_read(path, COMMAND_MAX_BYTES, command, error);

	for (size_t at = 0; !status && at < command->length; at += strlen(command->data + at) + 1) {
		if (count + 1 == WORDS_MAX)
			return kwhy_fail(
				error, KWHY_E_USAGE, "%s has too many words to be started again", path);
		words[count++] = command->data + at;
	}
	words[count] = NULL;
	return status;
}

static enum kwhy_status tell(uint32_t rank, uint32_t size, uint16_t port,
	struct kwhy_environment *environment, struct kwhy_error *error)
{
	const unsigned numbers[] = {rank, size, rank, 0, port};
	enum kwhy_status status = KWHY_OK;
	char text[16];

	for (size_t i = 0; !status && i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(text, sizeof(text), "%u", numbers[i]);
		status = kwhy_environment_set(environment, names[i],
			strcmp(names[i], "MASTER_ADDR") == 0 ? "127.0.0.1" : text, error);
	}
	return status;
}

static enum kwhy_status start(uint32_t rank, uint32_t size, char **words,
	const struct kwhy_environment *environment, struct kwhy_launch_ranks *out, struct kwhy_error *error)
{
	int result = posix_spawn(
		&out->processes[out->count], "/proc/self/exe", NULL, NULL, words, environment->settings);

	if (result)
		return kwhy_fail(error, KWHY_E_IO, "rank %u of %u cannot be started: %s", rank, size,
			strerror(result));
	out->count++;
	return KWHY_OK;
}

enum kwhy_status kwhy_launch_ranks_start(uint32_t size, uint16_t port, const char *secret,
	struct kwhy_launch_ranks *out, struct kwhy_error *error)
{
	struct kwhy_environment environment = {0};
	struct kwhy_text command = {0};
	char *words[WORDS_MAX];
	enum kwhy_status status = read_words(&command, words, error);

	out->count = 0;
	if (!status)
		status = kwhy_environment_set(&environment, KWHY_LAUNCH_SECRET_VARIABLE, secret, error);
	for (uint32_t rank = 1; !status && rank < size && rank <= KWHY_LAUNCH_RANKS_MAX; rank++) {
		status = tell(rank, size, port, &environment, error);
		if (!status)
			status = start(rank, size, words, &environment, out, error);
	}
	kwhy_environment_done(&environment);
	kwhy_text_done(&command);
	if (status)
		kwhy_launch_ranks_end(out);
	return status;
}

void kwhy_launch_ranks_end(struct kwhy_launch_ranks *ranks)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	int64_t end_ns = kwhy_clock_mono_ns() + TIMEOUT_NS;

	for (uint32_t i = 0; i < ranks->count; i++) {
		while (waitpid(ranks->processes[i], NULL, WNOHANG) == 0) {
			if (kwhy_clock_mono_ns() > end_ns)
				kill(ranks->processes[i], SIGKILL);
			nanosleep(&pause, NULL);
		}
	}
	ranks->count = 0;
}
