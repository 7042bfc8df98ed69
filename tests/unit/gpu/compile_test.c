/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "gpu/compile.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The tests use the fake compiler, which counts its calls, and a temporary folder for the cache of compiled
 * code.
 */
static char cache[] = "/tmp/kwhy-cache-XXXXXX", folder[64], kept[512];
static struct kwhy_rtc rtc;
static struct kwhy_gpu_facts facts = {.name = "GPU", .architecture = 90, .compiler = "13.0"};

static int begin(void **state)
{
	struct kwhy_error error;

	(void)state;
	if (!mkdtemp(cache) || kwhy_rtc_open(KWHY_DRIVER_CUDA, &rtc, &error))
		return -1;
	snprintf(folder, sizeof(folder), "%s/kwhy", cache);
	return setenv("XDG_CACHE_HOME", cache, 1);
}

static int end(void **state)
{
	char command[96];

	(void)state;
	kwhy_rtc_close(&rtc);
	snprintf(command, sizeof(command), "rm -r '%s'", cache);
	return system(command);
}

/*
 * Gets the compiled code of a source. Returns how often the compiler was called for that: 1, or 0 if the code
 * came from the cache.
 */
static int compiled(const char *text, const char *option)
{
	const char *const options[] = {option, NULL};
	const struct kwhy_gpu_source source = {.title = "x.cu", .text = text, .options = options};
	const int *count = dlsym(rtc.library, "kwhy_fake_compiled");
	struct kwhy_rtc_code code = {0};
	struct kwhy_error error;
	int before;

	if (!count) {
		kwhy_skip("the compiler here is a real one, not the fake");
	}
	before = *count;
	assert_int_equal(kwhy_gpu_compile(&rtc, &source, &facts, &code, &error), KWHY_OK);
	assert_int_equal(code.count, sizeof("cubin"));
	assert_string_equal(code.bytes, "cubin");
	free(code.bytes);
	return *count - before;
}

static size_t files(void)
{
	DIR *listing = opendir(folder);
	struct dirent *entry;
	size_t count = 0;

	assert_non_null(listing);
	while ((entry = readdir(listing)))
		if (entry->d_name[0] != '.') {
			snprintf(kept, sizeof(kept), "%s/%s", folder, entry->d_name);
			count++;
		}
	closedir(listing);
	return count;
}

static void a_source_is_compiled_once(void **state)
{
	struct stat info;

	(void)state;
	assert_int_equal(compiled("one", "-x"), 1);
	assert_int_equal(compiled("one", "-x"), 0);
	assert_int_equal(files(), 1);
	assert_int_equal(stat(folder, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
}

static void what_the_code_depends_on_makes_another(void **state)
{
	(void)state;
	assert_int_equal(compiled("one", "-y"), 1);
	assert_int_equal(compiled("two", "-x"), 1);
	facts.architecture = 100;
	assert_int_equal(compiled("one", "-x"), 1);
	facts.architecture = 90;
	snprintf(facts.compiler, sizeof(facts.compiler), "13.1");
	assert_int_equal(compiled("one", "-x"), 1);
	snprintf(facts.compiler, sizeof(facts.compiler), "13.0");
	assert_int_equal(compiled("one", "-x"), 0);
	assert_int_equal(files(), 5);
}

static void damage_is_compiled_anew(void **state)
{
	struct stat info;

	(void)state;
	while (files())
		assert_int_equal(unlink(kept), 0);
	assert_int_equal(compiled("three", "-x"), 1);
	assert_int_equal(files(), 1);
	assert_int_equal(stat(kept, &info), 0);
	for (off_t at = 0; at < info.st_size; at += 7) {
		FILE *file = fopen(kept, "r+");
		int byte;

		assert_non_null(file);
		assert_int_equal(fseek(file, at, SEEK_SET), 0);
		byte = fgetc(file);
		assert_int_equal(fseek(file, at, SEEK_SET), 0);
		fputc(byte ^ 0x10, file);
		assert_int_equal(fclose(file), 0);
		assert_int_equal(compiled("three", "-x"), 1);
		assert_int_equal(compiled("three", "-x"), 0);
	}
	for (off_t length = 0; length < info.st_size; length += 5) {
		assert_int_equal(truncate(kept, length), 0);
		assert_int_equal(compiled("three", "-x"), 1);
	}
	assert_int_equal(compiled("three", "-x"), 0);
}

static void a_folder_that_others_write_or_nobody_has_is_not_used(void **state)
{
	(void)state;
	assert_int_equal(chmod(folder, 0770), 0);
	assert_int_equal(compiled("one", "-z"), 1);
	assert_int_equal(compiled("one", "-z"), 1);
	assert_int_equal(chmod(folder, 0700), 0);
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
	assert_int_equal(compiled("one", "-z"), 1);
	assert_int_equal(compiled("one", "-z"), 1);
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", "nowhere", 1);
	assert_int_equal(compiled("one", "-z"), 1);
	setenv("XDG_CACHE_HOME", cache, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_source_is_compiled_once),
		cmocka_unit_test(what_the_code_depends_on_makes_another),
		cmocka_unit_test(damage_is_compiled_anew),
		cmocka_unit_test(a_folder_that_others_write_or_nobody_has_is_not_used),
	};

	return kwhy_test_main(tests, begin, end);
}
