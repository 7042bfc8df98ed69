/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/inject.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "libkwhy-inject.so"

/*
 * Where the library may be, relative to the folder of the running kwhy: in an installation by a package, in
 * the portable archive, and in the build folder. The first that exists is taken.
 */
static const char *const places[] = {
	KWHY_LIBDIR "/kwhy/" LIBRARY, "../lib/kwhy/" LIBRARY, "../inject/" LIBRARY};

static bool folder_of_program(char *out, size_t space)
{
	ssize_t length = readlink("/proc/self/exe", out, space - 1);
	char *slash;

	if (length <= 0)
		return false;
	out[length] = '\0';
	slash = strrchr(out, '/');
	if (slash)
		*slash = '\0';
	return slash != NULL;
}

static bool is_here(struct kwhy_inject *inject, const char *path)
{
	char *whole = realpath(path, NULL);
	bool is_here = whole && strlen(whole) < sizeof(inject->library) && !access(whole, R_OK);

	if (is_here)
		memcpy(inject->library, whole, strlen(whole) + 1);
	free(whole);
	return is_here;
}

enum { VERSION_BYTES = 32 };

/*
 * Finds the text "libkwhy-inject VERSION" in the bytes of a library. Returns a pointer to VERSION, which is
 * not copied; NULL: there is no such text.
 */
static const char *version_in(const char *text, size_t bytes)
{
	static const char mark[] = "libkwhy-inject ";
	const char *end = text + bytes;

	for (const char *at = text; (at = memmem(at, (size_t)(end - at), mark, strlen(mark))); at++) {
		const char *version = at + strlen(mark);

		if (end - version > VERSION_BYTES && isdigit((unsigned char)*version))
			return version;
	}
	return NULL;
}

/*
 * Sets `absence` and clears `library` if the library at that path is of another version than this program:
 * its files would have rows that this program cannot read. A library without a version is accepted.
 */
static void refuse_another_version(struct kwhy_inject *inject)
{
	int file = open(inject->library, O_RDONLY | O_CLOEXEC);
	const char *text = MAP_FAILED, *version;
	struct stat info = {0};

	if (file >= 0 && fstat(file, &info) == 0 && info.st_size > 0)
		text = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (file >= 0)
		close(file);
	if (text == MAP_FAILED)
		return; /* the CUDA driver will report what is wrong when it loads the library */
	version = version_in(text, (size_t)info.st_size);
	if (version && strncmp(version, KWHY_VERSION, sizeof(KWHY_VERSION)) != 0) {
		snprintf(inject->absence, sizeof(inject->absence),
			"%.300s is of kwhy %.*s, and this program is kwhy " KWHY_VERSION
			"; install both from one package, or correct KWHY_INJECT",
			inject->library, (int)strnlen(version, VERSION_BYTES), version);
		*inject->library = '\0';
	}
	munmap((void *)text, (size_t)info.st_size);
}

/*
 * Whether CUDA_INJECTION64_PATH is set already, for another tool. The CUDA driver loads only one such
 * library, so kwhy leaves the variable as it is.
 */
static bool is_taken(struct kwhy_inject *inject)
{
	const char *other = secure_getenv("CUDA_INJECTION64_PATH");

	if (!other || !*other)
		return false;
	snprintf(inject->absence, sizeof(inject->absence),
		"CUDA_INJECTION64_PATH names another tool already (%.300s); unset it to record activity",
		other);
	return true;
}

void kwhy_inject_find(struct kwhy_inject *inject)
{
	const char *noted = secure_getenv("KWHY_INJECT");
	char folder[KWHY_INJECT_PATH_BYTES / 2], path[KWHY_INJECT_PATH_BYTES];

	*inject = (struct kwhy_inject){0};
	if (is_taken(inject))
		return;
	if (noted && *noted) {
		if (is_here(inject, noted))
			refuse_another_version(inject);
		else
			snprintf(inject->absence, sizeof(inject->absence),
				"KWHY_INJECT names %.300s, which cannot be read; unset it or correct it",
				noted);
		return;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (!folder_of_program(folder, sizeof(folder)))
			break;
		snprintf(path, sizeof(path), "%s/%s", folder, places[i]);
		if (is_here(inject, path)) {
			refuse_another_version(inject);
			return;
		}
	}
	snprintf(inject->absence, sizeof(inject->absence),
		LIBRARY
		" is not installed in ../lib/kwhy next to kwhy; install it, or name it by KWHY_INJECT");
}

struct variable {
	const char *name,
		*value; /* variable of the environment and its value; value NULL: the variable is removed */
};

static enum kwhy_status set(const struct variable *variables, size_t count,
	struct kwhy_environment *environment, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < count; i++)
		status = kwhy_environment_set(environment, variables[i].name, variables[i].value, error);
	return status;
}

static const char *number(char space[32], uint64_t value)
{
	snprintf(space, 32, "%" PRIu64, value);
	return space;
}

static enum kwhy_status prepare_probe(
	const struct kwhy_inject_probe *probe, struct kwhy_environment *environment, struct kwhy_error *error)
{
	char within[32], ratio[32], budget[32], memory[32], seed[32], share[32], burst[32];
	const bool has_budget = !isnan(probe->budget_s);
	const struct variable variables[] = {
		{"KWHY_PROBE", "1"},
		{"KWHY_PROBE_WITHIN_PPM", number(within, (uint64_t)(probe->within_ratio * 1e6 + 0.5))},
		/*
		 * If a budget in seconds is given, only the budget limits the time in bursts: the limit of
		 * its ratio to the program's own time is set to 0, which means no limit.
		 */
		{"KWHY_PROBE_RATIO_PPM", has_budget ? number(ratio, 0) : NULL},
		{"KWHY_PROBE_BUDGET_NS",
			has_budget ? number(budget, (uint64_t)(probe->budget_s * 1e9)) : NULL},
		{"KWHY_PROBE_MEMORY", number(memory, probe->memory_bytes)},
		{"KWHY_PROBE_VERIFY", probe->verify},
		{"KWHY_PROBE_SKIP", probe->skip},
		{"KWHY_PROBE_KNOWN", probe->known},
		{"KWHY_PROBE_SEED", number(seed, probe->seed)},
		{"KWHY_PROBE_SHARE_PPM",
			isnan(probe->share_ratio)
				? NULL
				: number(share, (uint64_t)(probe->share_ratio * 1e6 + 0.5))},
		{"KWHY_PROBE_BURST_NS",
			isnan(probe->burst_ms) ? NULL : number(burst, (uint64_t)(probe->burst_ms * 1e6))},
	};

	return set(variables, sizeof(variables) / sizeof(*variables), environment, error);
}

enum kwhy_status kwhy_inject_prepare(const struct kwhy_inject *inject,
	const struct kwhy_inject_request *request, struct kwhy_environment *environment,
	struct kwhy_error *error)
{
	static const char *const kinds[2][2] = {{NULL, "usual,memory"},
		{"kernel,copy,memset,overhead,range", "kernel,copy,memset,overhead,range,memory"}};
	const char *asked_for = kinds[request->without_calls][request->memory];
	const bool has_share = !isnan(request->share_ratio);
	char limit[32], share[32], window[32], seed[32];
	const struct variable variables[] = {
		{"CUDA_INJECTION64_PATH", inject->library},
		{"NVTX_INJECTION64_PATH", inject->library},
		{"KWHY_RECORD_DIR", request->folder},
		{"KWHY_RECORD_MAX_BYTES", number(limit, request->limit_bytes)},
		{"KWHY_RECORD_GRAPHS", request->graphs},
		{"KWHY_RECORD_LINES", request->without_lines ? "off" : NULL},
		{"KWHY_RECORD_RANGE", request->range},
		{"KWHY_RECORD_SHARE_PPM",
			has_share ? number(share, (uint64_t)(request->share_ratio * 1e6 + 0.5)) : NULL},
		{"KWHY_RECORD_WINDOW_NS",
			request->window_ns ? number(window, (uint64_t)request->window_ns) : NULL},
		{"KWHY_RECORD_SEED", has_share ? number(seed, request->seed) : NULL},
		{"KWHY_PROBE", NULL},
		{"KWHY_RECORD_FROM", NULL},
		{"KWHY_RECORD_UNTIL", NULL},
		{"KWHY_RECORD_ORIGIN", NULL},
	};
	enum kwhy_status status = set(variables, sizeof(variables) / sizeof(*variables), environment, error);

	if (!status && asked_for)
		status = set(&(struct variable){"KWHY_RECORD_KINDS", asked_for}, 1, environment, error);
	if (!status && request->probe)
		status = prepare_probe(request->probe, environment, error);
	return status;
}

enum kwhy_status kwhy_inject_prepare_times(int64_t from_unix_ns, int64_t until_unix_ns,
	struct kwhy_environment *environment, struct kwhy_error *error)
{
	char from[32], until[32];
	const struct variable variables[] = {
		{"KWHY_RECORD_FROM", number(from, (uint64_t)from_unix_ns)},
		{"KWHY_RECORD_ORIGIN", from},
		{"KWHY_RECORD_UNTIL",
			until_unix_ns == INT64_MAX ? NULL : number(until, (uint64_t)until_unix_ns)},
	};

	return set(variables, sizeof(variables) / sizeof(*variables), environment, error);
}

int64_t kwhy_launch_rank(void)
{
	static const char *const variables[] = {
		"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "RANK"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *text = secure_getenv(variables[i]);
		char *end = NULL;
		long rank = text ? strtol(text, &end, 10) : -1;

		if (text && end != text && !*end && rank >= 0)
			return rank;
	}
	return -1;
}
