/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An NVML that passes each call on to the real one and records when the call began and ended. The program
 * under test has to find it as libnvidia-ml.so.1. NVML_REAL: path of the real library; NVML_TIMES: file of
 * pairs of int64_t (CLOCK_MONOTONIC, ns), filled from the front. All arguments must be integers or
 * pointers, at most six.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
	PAIRS = 1 << 20,
	NOT_FOUND = 13, /* NVML_ERROR_FUNCTION_NOT_FOUND */
};

static void *library;
static int64_t (*pairs)[2];
static int64_t count;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("NVML_TIMES");
	int file = path ? open(path, O_RDWR | O_CREAT, 0666) : -1;

	library = dlopen(getenv("NVML_REAL"), RTLD_NOW);
	if (file < 0 || !library || ftruncate(file, sizeof(*pairs) * PAIRS)) {
		fprintf(stderr, "nvml_times: NVML_REAL or NVML_TIMES cannot be opened\n");
		exit(2);
	}
	pairs = mmap(NULL, sizeof(*pairs) * PAIRS, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static long timed(const char *name, long a, long b, long c, long d, long e, long f)
{
	long (*call)(long, long, long, long, long,
		long) = (long (*)(long, long, long, long, long, long))dlsym(library, name);
	int64_t at = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) % PAIRS;
	int64_t begin_ns = now_ns();
	long result = call ? call(a, b, c, d, e, f) : NOT_FOUND;

	pairs[at][0] = begin_ns;
	pairs[at][1] = now_ns();
	return result;
}

#define X(name, need)                                             \
	long name(long a, long b, long c, long d, long e, long f) \
	{                                                         \
		return timed(#name, a, b, c, d, e, f);            \
	}
#include "vendor/nvml_symbols.def"
#undef X
