/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/lines/stacks.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/*
 * Measures the time of reading call stacks in the Python program bench/lines.py: of the stack of this thread,
 * of that of another thread that waits for this one, of a native stack, and of a call at which no stack is
 * read.
 */
enum { BATCHES = 100, STACKS = 20, CALLS = 10000000 };

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double time_batch(struct kwhy_stacks *stacks, uint32_t *out_frames)
{
	const double start_ns = now_ns();

	for (int i = 0; i < STACKS; i++) {
		kwhy_stacks_take(stacks, 0, 1);
		*out_frames = kwhy_stacks_next(stacks)->count;
		kwhy_stacks_let_go(stacks);
	}
	return (now_ns() - start_ns) / STACKS;
}

/*
 * Time of reading one stack, ns: the mean over the STACKS stacks of the fastest of BATCHES batches.
 * *out_frames: number of its frames.
 */
static double time_stacks(struct kwhy_stacks *stacks, uint32_t *out_frames)
{
	double least_ns = time_batch(stacks, out_frames);

	for (int i = 1; i < BATCHES; i++)
		least_ns = fmin(least_ns, time_batch(stacks, out_frames));
	return least_ns;
}

static void *time_elsewhere(void *context)
{
	struct kwhy_stacks *stacks = context;
	uint32_t frames;
	double stack_ns = time_stacks(stacks, &frames);

	printf("another thread's, by the kernel  %8.0f ns, %u frames\n", stack_ns, frames);
	for (size_t i = 0; i < KWHY_STACKS_PYTHON_THREADS; i++)
		stacks->python_threads[i].seen_mono_ns = 0;
	stack_ns = time_stacks(stacks, &frames);
	printf("native                           %8.0f ns, %u frames\n", stack_ns, frames);
	return NULL;
}

static void time_calls(void)
{
	double start_ns;

	kwhy_stacks_begin(NULL);
	start_ns = now_ns();
	for (int i = 0; i < CALLS; i++)
		kwhy_stacks_see(1);
	printf("a call, switched off             %8.1f ns\n", (now_ns() - start_ns) / CALLS);
}

/* Times calls at which no stack is read, because none is due yet. */
static void time_seen(struct kwhy_stacks *stacks)
{
	double start_ns;

	kwhy_stacks_begin(stacks);
	kwhy_stacks_see(1);
	while (kwhy_stacks_next(stacks))
		kwhy_stacks_let_go(stacks);
	start_ns = now_ns();
	for (int i = 0; i < CALLS; i++)
		kwhy_stacks_see(1);
	printf("a call without a stack           %8.1f ns\n", (now_ns() - start_ns) / CALLS);
}

__attribute__((visibility("default"))) void bench_lines(void);

void bench_lines(void)
{
	struct kwhy_stacks *stacks = calloc(1, sizeof(*stacks));
	pthread_t thread;
	uint32_t frames;
	double stack_ns;

	if (!stacks)
		return;
	kwhy_stacks_begin(stacks);
	time_stacks(stacks, &frames);
	stack_ns = time_stacks(stacks, &frames);
	printf("this thread's                    %8.0f ns, %u frames\n", stack_ns, frames);
	if (!pthread_create(&thread, NULL, time_elsewhere, stacks))
		pthread_join(thread, NULL);
	time_seen(stacks);
	time_calls();
	fflush(stdout);
	free(stacks);
}
