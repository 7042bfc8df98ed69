/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor/cupti.h"

#include "base/dso.h"

#include <dlfcn.h>
#include <stdbool.h>

static const struct kwhy_dso_symbol symbols[] = {
#define X(name, need) {#name, offsetof(struct kwhy_cupti, name), KWHY_DSO_##need},
#include "vendor/cupti_symbols.def"
#undef X
};

/*
 * For each version of CUPTI its soname, the soname of the CUDA runtime that it belongs to, and the folders in
 * which toolkits install it.
 */
static const struct {
	const char *soname, *runtime, *folders[3];
} versions[] = {
	{"libcupti.so.13", "libcudart.so.13",
		{"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so.13",
			"/usr/local/cuda/lib/libcupti.so.13"}},
	{"libcupti.so.12", "libcudart.so.12",
		{"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12", "/usr/local/cuda/lib64/libcupti.so.12",
			"/usr/local/cuda/lib/libcupti.so.12"}},
};

enum { VERSIONS = sizeof(versions) / sizeof(versions[0]), FOLDERS = 3 };

static bool is_loaded(const char *soname)
{
	void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);

	if (handle)
		dlclose(handle);
	return handle;
}

/*
 * Gets the version to try first: that of the loaded CUPTI or, without one, that of the loaded CUDA runtime;
 * 0: neither is loaded.
 */
static int preferred_version(void)
{
	for (int i = 0; i < VERSIONS; i++)
		if (is_loaded(versions[i].soname))
			return i;
	for (int i = 0; i < VERSIONS; i++)
		if (is_loaded(versions[i].runtime))
			return i;
	return 0;
}

static size_t list_version(const char **sonames, size_t count, int version)
{
	sonames[count++] = versions[version].soname;
	for (int i = 0; i < FOLDERS; i++)
		sonames[count++] = versions[version].folders[i];
	return count;
}

enum kwhy_status kwhy_cupti_open(struct kwhy_cupti *out, const char *path, struct kwhy_error *error)
{
	const char *sonames[2 + VERSIONS * (1 + FOLDERS)] = {path};
	const struct kwhy_dso_library library = {.title = "CUPTI, a part of the CUDA toolkit,",
		.sonames = sonames,
		.symbols = symbols,
		.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
		.table_bytes = sizeof(struct kwhy_cupti)};
	struct kwhy_cupti cupti;
	void *handle = NULL;
	size_t count = 0;
	enum kwhy_status status;

	if (path && path[0]) {
		count = 1;
	} else {
		const int first = preferred_version();

		count = list_version(sonames, count, first);
		for (int i = 0; i < VERSIONS; i++)
			if (i != first)
				count = list_version(sonames, count, i);
	}
	sonames[count] = NULL;
	status = kwhy_dso_open(&library, &cupti, &handle, error);
	if (status)
		return status;
	cupti.library = handle;
	*out = cupti;
	return KWHY_OK;
}

void kwhy_cupti_close(struct kwhy_cupti *cupti)
{
	kwhy_dso_close(cupti->library);
}

const char *kwhy_cupti_words(const struct kwhy_cupti *cupti, enum kwhy_cupti_result result)
{
	const char *words = NULL;

	if (result == KWHY_CUPTI_MAX_LIMIT_REACHED || result == KWHY_CUPTI_MULTIPLE_SUBSCRIBERS)
		return "another profiler of this process has it";
	if (cupti->cuptiGetResultString(result, &words) != KWHY_CUPTI_SUCCESS || !words)
		return "an error it has no words for";
	return words;
}
