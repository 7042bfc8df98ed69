/* SPDX-License-Identifier: Apache-2.0 */
#include "kwhy/measure.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/*
 * Measures the time of a pair of kwhy_region_begin() and kwhy_region_end(), on one thread and on four at
 * once, and, for comparison, the time of two reads of the clock. Usage: bench_region [PAIRS]; PAIRS: number
 * of pairs of each thread. Pairs come in bursts with pauses between them, so that the thread that collects
 * them keeps up and drops nothing.
 */

enum { THREADS = 4, BURST = 20000 };

static struct kwhy_session *session;
static uint32_t name;
static long pairs = 1000000;

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void rest(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

/* Makes `pairs` pairs in bursts. out: a double that gets the seconds of all bursts, without pauses. */
static void *run(void *out)
{
	double *seconds = out;

	*seconds = 0;
	kwhy_region_begin(session, name);
	kwhy_region_end(session, name);
	for (long left = pairs; left > 0; left -= BURST) {
		double start_s = now_s();

		for (int i = 0; i < BURST; i++) {
			kwhy_region_begin(session, name);
			kwhy_region_end(session, name);
		}
		*seconds += now_s() - start_s;
		rest();
	}
	return NULL;
}

static double clock_ns(void)
{
	double start_s = now_s();
	struct timespec now;

	for (int i = 0; i < 2 * BURST; i++)
		clock_gettime(CLOCK_MONOTONIC, &now);
	return (now_s() - start_s) * 1e9 / BURST;
}

static double threads_ns(int count)
{
	pthread_t threads[THREADS];
	double seconds[THREADS], sum_s = 0;

	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, run, &seconds[i]) != 0)
			exit(1);
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		sum_s += seconds[i];
	}
	return sum_s * 1e9 / ((double)pairs * count);
}

int main(int argc, char **argv)
{
	struct kwhy_session_options options = {.size = sizeof(options), .without_gpus = 1, .without_host = 1};
	struct kwhy_results *results;
	struct kwhy_region_info info = {.size = sizeof(info)};
	char message[KWHY_MESSAGE_BYTES];

	if (argc > 1)
		pairs = atol(argv[1]);
	pairs = (pairs + BURST - 1) / BURST * BURST;
	if (kwhy_session_open(&options, &session, message, sizeof(message))) {
		fprintf(stderr, "%s\n", message);
		return 1;
	}
	name = kwhy_session_name(session, "bench");
	printf("two readings of the clock: %.1f ns\n", clock_ns());
	printf("begin and end, 1 thread:   %.1f ns\n", threads_ns(1));
	printf("begin and end, %d threads:  %.1f ns\n", THREADS, threads_ns(THREADS));
	if (kwhy_session_results(session, &results, message, sizeof(message)) == 0) {
		kwhy_results_region(results, kwhy_results_region_find(results, "bench"), &info);
		printf("runs counted: %llu, dropped: %llu\n", (unsigned long long)info.count,
			(unsigned long long)kwhy_results_lost_events(results));
		kwhy_results_free(results);
	}
	kwhy_session_close(session);
	return 0;
}
