/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { QUIET_S = 2, REDRAW_NS = 200000000, NAME_BYTES = 48 };

struct kwhy_progress {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t ended;
	struct timespec start;
	const char *what;
	char of[NAME_BYTES + 1];
	bool end, drawn;
};

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) * 1e-9;
}

static void draw(struct kwhy_progress *progress)
{
	if (!progress->what)
		return;
	fprintf(stderr, "\r\033[Kkwhy: %s%s%s  %.1f s", progress->what, *progress->of ? " " : "",
		progress->of, seconds_since(&progress->start));
	progress->drawn = true;
}

static void later(struct timespec *due, long more_ns)
{
	due->tv_nsec += more_ns;
	due->tv_sec += due->tv_nsec / 1000000000;
	due->tv_nsec %= 1000000000;
}

static void *run(void *argument)
{
	struct kwhy_progress *progress = argument;
	struct timespec due = progress->start;

	due.tv_sec += QUIET_S;
	pthread_mutex_lock(&progress->mutex);
	while (!progress->end) {
		if (pthread_cond_timedwait(&progress->ended, &progress->mutex, &due) == 0)
			continue;
		draw(progress);
		later(&due, REDRAW_NS);
	}
	pthread_mutex_unlock(&progress->mutex);
	return NULL;
}

struct kwhy_progress *kwhy_progress_begin(bool quiet)
{
	struct kwhy_progress *progress = quiet || !isatty(STDERR_FILENO) ? NULL
									 : calloc(1, sizeof(*progress));
	pthread_condattr_t attributes;
	sigset_t all, before;
	int failed;

	if (!progress)
		return NULL;
	clock_gettime(CLOCK_MONOTONIC, &progress->start);
	pthread_mutex_init(&progress->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&progress->ended, &attributes);
	pthread_condattr_destroy(&attributes);
	/*
	 * the new thread inherits a mask that blocks all signals, so that they go to the thread that does the
	 * job and can end it properly
	 */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&progress->thread, NULL, run, progress);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed) {
		pthread_cond_destroy(&progress->ended);
		pthread_mutex_destroy(&progress->mutex);
		free(progress);
		return NULL;
	}
	return progress;
}

/* Copies the part of a path that fits, without characters that could move the cursor. */
static void copy_name(char out[NAME_BYTES + 1], const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t length = 0;

	for (const char *c = slash ? slash + 1 : path; *c && length < NAME_BYTES; c++)
		out[length++] = *c >= 0x20 && *c < 0x7F ? *c : '?';
	out[length] = '\0';
}

void kwhy_progress_step(struct kwhy_progress *progress, const char *what, const char *of)
{
	if (!progress)
		return;
	pthread_mutex_lock(&progress->mutex);
	progress->what = what;
	copy_name(progress->of, of ? of : "");
	pthread_mutex_unlock(&progress->mutex);
}

void kwhy_progress_end(struct kwhy_progress *progress)
{
	if (!progress)
		return;
	pthread_mutex_lock(&progress->mutex);
	progress->end = true;
	pthread_cond_signal(&progress->ended);
	pthread_mutex_unlock(&progress->mutex);
	pthread_join(progress->thread, NULL);
	if (progress->drawn)
		fputs("\r\033[K", stderr);
	pthread_cond_destroy(&progress->ended);
	pthread_mutex_destroy(&progress->mutex);
	free(progress);
}
