/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libnvidia-ml.so.1 that passes each call on to the real library (NVML_REAL: its path) and records when the
 * call began and ended. The program under test must load this file as libnvidia-ml.so.1. NVML_TIMES: file
 * that is filled with a pair of int64_t for each call, its begin and end (CLOCK_MONOTONIC, ns). NVML_CALLS:
 * file that is filled with a struct entry for each function. Without one of these variables, that file is not
 * written. All arguments of NVML's functions must be integers or pointers, at most six.
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

enum call {
#define X(name, need) CALL_##name,
#include "vendor/nvml_symbols.def"
#undef X
	CALL_COUNT
};

static const char *const names[CALL_COUNT] = {
#define X(name, need) #name,
#include "vendor/nvml_symbols.def"
#undef X
};

/*
 * Calls of one function so far: their number, the processor time of the calling threads, and the elapsed
 * time, ns.
 */
struct entry {
	char name[64];
	int64_t count, cpu_ns, elapsed_ns;
};

typedef long nvml_call(long a, long b, long c, long d, long e, long f);

static nvml_call *calls[CALL_COUNT]; /* NULL: the real library does not have it */
static int64_t (*pairs)[2];	     /* NULL: not wanted */
static struct entry *entries;	     /* [CALL_COUNT]; NULL: not wanted */
static int64_t count;

/*
 * Maps a file of `bytes` bytes for writing. variable: environment variable with its path; NULL is returned if
 * it is not set.
 */
static void *map(const char *variable, size_t bytes)
{
	const char *path = getenv(variable);
	int file = path ? open(path, O_RDWR | O_CREAT, 0666) : -1;
	void *mapped = MAP_FAILED;

	if (!path)
		return NULL;
	if (file >= 0 && ftruncate(file, (off_t)bytes) == 0)
		mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (mapped == MAP_FAILED) {
		fprintf(stderr, "nvml_times: %s cannot be written\n", path);
		exit(2);
	}
	close(file);
	return mapped;
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("NVML_REAL");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;

	if (!library) {
		fprintf(stderr, "nvml_times: NVML_REAL cannot be opened\n");
		exit(2);
	}
	pairs = map("NVML_TIMES", sizeof(*pairs) * PAIRS);
	entries = map("NVML_CALLS", sizeof(*entries) * CALL_COUNT);
	for (int i = 0; i < CALL_COUNT; i++) {
		calls[i] = (nvml_call *)dlsym(library, names[i]);
		if (entries)
			snprintf(entries[i].name, sizeof(entries[i].name), "%s", names[i]);
	}
}

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void add(int64_t *to, int64_t value)
{
	__atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}

static long timed(enum call which, long a, long b, long c, long d, long e, long f)
{
	int64_t cpu_ns = entries ? now_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
	int64_t at = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) % PAIRS;
	int64_t begin_ns = now_ns(CLOCK_MONOTONIC), end_ns;
	long result = calls[which] ? calls[which](a, b, c, d, e, f) : NOT_FOUND;

	end_ns = now_ns(CLOCK_MONOTONIC);
	if (pairs) {
		pairs[at][0] = begin_ns;
		pairs[at][1] = end_ns;
	}
	if (entries) {
		add(&entries[which].count, 1);
		add(&entries[which].cpu_ns, now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
		add(&entries[which].elapsed_ns, end_ns - begin_ns);
	}
	return result;
}

#define X(name, need)                                             \
	long name(long a, long b, long c, long d, long e, long f) \
	{                                                         \
		return timed(CALL_##name, a, b, c, d, e, f);      \
	}
#include "vendor/nvml_symbols.def"
#undef X
