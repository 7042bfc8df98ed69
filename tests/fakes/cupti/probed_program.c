/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA program for tests of kwhy probe. It runs on the fake driver (libcuda.so.1 in LD_LIBRARY_PATH) and
 * the fake CUPTI, which makes its callbacks around the driver's calls as CUPTI does. Its arguments name its
 * work:
 *
 *   work:N           N rounds of a kernel that adds, one that counts in memory and a collective
 *   managed:N        N launches of a kernel on managed memory
 *   hidden:N         N launches of a kernel that writes through a pointer found in memory
 *   large:N          N launches of a kernel on a part of a large allocation
 *   unsteady:N       N launches of a kernel that, from its second run on, also writes outside of the memory
 *                    of its arguments
 *   allocate:N       starts a thread that allocates and frees memory N times meanwhile
 *   threads:N        N threads that do work:20 on memory of their own
 *   graph:N          N launches of a graph, after a run of its kernel by itself
 *   cold-graph:N     the same without that run
 *   nested-graph:N   N launches of a graph with a child graph, whose kernels' arguments are changed
 *   cooperative:N    N cooperative launches
 *   pool:N           N rounds of kernels on memory of a pool, allocated and freed in each round
 *   segments:N       N rounds of kernels on an array over two mapped pieces of memory; other pieces next to
 *                    them are mapped and unmapped meanwhile
 *   copies:N         N rounds of fills and copies
 *   fork             starts a child process that also works
 *   dies:N:STATUS    ends the program with this status in the Nth run of the kernel "add"
 *   sum              prints a checksum of the memory
 */
#include "probed_program.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGE_WORDS = 4 << 20, LARGE_FROM = 1 << 20, THREADS_MAX = 16 };

static struct probed_memory own;

static void work_on(struct probed_memory *memory, int rounds)
{
	void *added[] = {&memory->in, &memory->out}, *counted[] = {&memory->counter};

	for (int i = 0; i < rounds; i++) {
		probed_launch("add", added);
		probed_launch("count", counted);
		probed_launch("ncclDevKernel_AllReduce", counted);
	}
}

static void work(const char *text)
{
	work_on(&own, atoi(text));
}

static void managed(const char *text)
{
	kwhy_cuda_address address = 0;

	if (probed_cuda.allocate_managed(&address, 4096, 1))
		exit(94);
	memset((void *)(uintptr_t)address, 0, 4096);
	for (int i = 0; i < atoi(text); i++)
		probed_launch("count", (void *[]){&address});
}

static void hidden(const char *text)
{
	uint64_t *table = probed_allocate(64);

	table[0] = (uintptr_t)own.out;
	for (int i = 0; i < atoi(text); i++)
		probed_launch("follow", (void *[]){&table});
}

static void large(const char *text)
{
	uint64_t *memory = probed_allocate((size_t)LARGE_WORDS * 8), *from = memory + LARGE_FROM;

	for (int i = 0; i < atoi(text); i++)
		probed_launch("count", (void *[]){&from});
	own.out[1] += from[0];
}

static void unsteadily(const char *text)
{
	uint64_t *memory = probed_allocate(64), *mask = probed_allocate(64);

	mask[0] = ~(uint64_t)(uintptr_t)own.out;
	for (int i = 0; i < atoi(text); i++)
		probed_launch("unsteady", (void *[]){&memory, &mask});
}

enum { COPIED_BYTES = 1 << 17 };

static void copies(const char *text)
{
	uint64_t *first = probed_allocate(COPIED_BYTES), *second = probed_allocate(COPIED_BYTES),
		 *pageable = calloc(1, COPIED_BYTES);
	void *pinned = NULL;

	if (!pageable || probed_cuda.allocate_pinned(&pinned, COPIED_BYTES, 0))
		exit(91);
	memset(pinned, 5, COPIED_BYTES);
	for (int i = 0; i < atoi(text); i++) {
		probed_set(first, 0x07070707, COPIED_BYTES / 8);
		probed_copy(
			"cuMemcpyHtoDAsync_v2", (char *)first + COPIED_BYTES / 2, pinned, COPIED_BYTES / 2);
		probed_copy("cuMemcpyDtoDAsync_v2", second, first, COPIED_BYTES);
		probed_copy("cuMemcpyHtoDAsync_v2", first, pageable, COPIED_BYTES);
		memset(pageable, i, COPIED_BYTES);
	}
	probed_cuda.wait(probed_stream);
	for (size_t i = 0; i < COPIED_BYTES / 8; i++)
		own.out[i % PROBED_WORDS] += 3 * first[i] + second[i];
	free(pageable);
}

static void graph(const char *text)
{
	probed_graph(&own, atoi(text));
}

static void cold_graph(const char *text)
{
	probed_cold_graph(&own, atoi(text));
}

static void nested_graph(const char *text)
{
	probed_nested_graph(&own, atoi(text));
}

static void pool(const char *text)
{
	probed_pool(&own, atoi(text));
}

static void segments(const char *text)
{
	probed_segments(&own, atoi(text));
}

static void cooperative(const char *text)
{
	for (int i = 0; i < atoi(text); i++)
		probed_launch_by("cuLaunchCooperativeKernel", "count", (void *[]){&own.counter});
}

static void *take_and_free(void *text)
{
	probed_use_context();
	for (int i = 0; i < atoi(text); i++)
		probed_release(probed_allocate(4096));
	return NULL;
}

static pthread_t allocating;
static bool is_allocating;

static void allocate_meanwhile(const char *text)
{
	is_allocating = !pthread_create(&allocating, NULL, take_and_free, strdup(text));
}

static void *work_in_thread(void *sum)
{
	struct probed_memory memory;

	probed_use_context();
	memory = probed_new_memory();
	work_on(&memory, 20);
	*(uint64_t *)sum = memory.counter[0] + memory.out[PROBED_WORDS - 1];
	return NULL;
}

static void threads(const char *text)
{
	pthread_t started[THREADS_MAX];
	uint64_t sums[THREADS_MAX];
	int n = atoi(text);

	for (int i = 0; i < n; i++)
		pthread_create(&started[i], NULL, work_in_thread, &sums[i]);
	for (int i = 0; i < n; i++) {
		pthread_join(started[i], NULL);
		own.out[2] += sums[i];
	}
}

static void fork_child(const char *text)
{
	int status = 0;
	pid_t child;

	(void)text;
	fflush(stdout);
	child = fork();
	if (!child) {
		work("3");
		_exit(own.counter[0] ? 5 : 6);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
}

static void die_within(const char *text)
{
	probed_die_in((unsigned)atoi(text), (unsigned)atoi(strchr(text, ':') + 1));
}

static void print_sum(const char *text)
{
	uint64_t sum = own.counter[0];

	(void)text;
	if (is_allocating)
		pthread_join(allocating, NULL);
	for (int i = 0; i < PROBED_WORDS; i++)
		sum = 31 * sum + own.out[i];
	printf("sum %llx\n", (unsigned long long)sum);
}

static const struct {
	const char *word;
	void (*act)(const char *text);
} actions[] = {
	{"work", work},
	{"managed", managed},
	{"hidden", hidden},
	{"large", large},
	{"unsteady", unsteadily},
	{"allocate", allocate_meanwhile},
	{"threads", threads},
	{"graph", graph},
	{"cold-graph", cold_graph},
	{"nested-graph", nested_graph},
	{"cooperative", cooperative},
	{"pool", pool},
	{"segments", segments},
	{"copies", copies},
	{"fork", fork_child},
	{"dies", die_within},
	{"sum", print_sum},
};

int main(int word_count, char **words)
{
	probed_initialise();
	own = probed_new_memory();
	for (int i = 1; i < word_count; i++)
		for (size_t k = 0; k < sizeof(actions) / sizeof(actions[0]); k++) {
			const size_t length = strlen(actions[k].word);

			if (!strncmp(actions[k].word, words[i], length) &&
				(words[i][length] == ':' || !words[i][length]))
				actions[k].act(words[i] + length + (words[i][length] == ':'));
		}
	return 0;
}
