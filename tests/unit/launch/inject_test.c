/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "launch/inject.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct kwhy_environment environment;
static const struct kwhy_inject library = {.library = "/opt/libkwhy-inject.so"};

/*
 * Checks a variable in the environment for the command. The test's own environment is not changed, as other
 * threads may read it.
 */
static void assert_variable(const char *name, const char *value)
{
	const size_t length = strlen(name);
	const char *got = NULL;

	for (char **setting = environment.settings; *setting; setting++)
		if (!strncmp(*setting, name, length) && (*setting)[length] == '=') {
			assert_null(got);
			got = *setting + length + 1;
		}
	if (!value && got)
		fail_msg("%s is %s", name, got);
	if (value && (!got || strcmp(got, value) != 0))
		fail_msg("%s is %s, not %s", name, got ? got : "not set", value);
}

static void prepare(const struct kwhy_inject_request *request)
{
	struct kwhy_error error;

	assert_int_equal(kwhy_inject_prepare(&library, request, &environment, &error), KWHY_OK);
}

static void what_was_not_asked_for_is_not_in_the_environment(void **state)
{
	const struct kwhy_inject_request request = {.folder = "/a", .share_ratio = (double)NAN};

	(void)state;
	setenv("KWHY_RECORD_RANGE", "of an outer run", 1);
	setenv("KWHY_RECORD_UNTIL", "7", 1);
	prepare(&request);
	assert_variable("CUDA_INJECTION64_PATH", "/opt/libkwhy-inject.so");
	assert_variable("NVTX_INJECTION64_PATH", "/opt/libkwhy-inject.so");
	assert_variable("KWHY_RECORD_DIR", "/a");
	assert_variable("KWHY_RECORD_MAX_BYTES", "0");
	assert_variable("KWHY_RECORD_RANGE", NULL);
	assert_variable("KWHY_RECORD_SHARE_PPM", NULL);
	assert_variable("KWHY_RECORD_WINDOW_NS", NULL);
	assert_variable("KWHY_RECORD_GRAPHS", NULL);
	assert_variable("KWHY_RECORD_UNTIL", NULL);
	assert_variable("KWHY_RECORD_KINDS", NULL);
	assert_variable("KWHY_RECORD_LINES", NULL);
}

static void windows_and_kinds_are_said_as_the_library_reads_them(void **state)
{
	const struct kwhy_inject_request request = {.folder = "/a",
		.limit_bytes = 1 << 20,
		.graphs = "node",
		.memory = true,
		.without_lines = true,
		.share_ratio = 0.125,
		.window_ns = 50000000,
		.seed = UINT64_MAX};

	(void)state;
	prepare(&request);
	assert_variable("KWHY_RECORD_MAX_BYTES", "1048576");
	assert_variable("KWHY_RECORD_GRAPHS", "node");
	assert_variable("KWHY_RECORD_KINDS", "usual,memory");
	assert_variable("KWHY_RECORD_LINES", "off");
	assert_variable("KWHY_RECORD_SHARE_PPM", "125000");
	assert_variable("KWHY_RECORD_WINDOW_NS", "50000000");
	assert_variable("KWHY_RECORD_SEED", "18446744073709551615");
}

static void calls_may_be_left_out(void **state)
{
	struct kwhy_inject_request request = {
		.folder = "/a", .without_calls = true, .share_ratio = (double)NAN};

	(void)state;
	prepare(&request);
	assert_variable("KWHY_RECORD_KINDS", "kernel,copy,memset,overhead,range");
	request.memory = true;
	prepare(&request);
	assert_variable("KWHY_RECORD_KINDS", "kernel,copy,memset,overhead,range,memory");
}

static void times_are_unix_times_and_an_open_end_is_none(void **state)
{
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_inject_prepare_times(1000, 2000, &environment, &error), KWHY_OK);
	assert_variable("KWHY_RECORD_FROM", "1000");
	assert_variable("KWHY_RECORD_ORIGIN", "1000");
	assert_variable("KWHY_RECORD_UNTIL", "2000");
	assert_int_equal(kwhy_inject_prepare_times(1000, INT64_MAX, &environment, &error), KWHY_OK);
	assert_variable("KWHY_RECORD_UNTIL", NULL);
}

static void ours_stays_as_it_was_and_goes_to_the_command(void **state)
{
	const struct kwhy_inject_request request = {.folder = "/a", .share_ratio = (double)NAN};
	char **before;

	(void)state;
	setenv("KWHY_RECORD_DIR", "/ours", 1);
	setenv("KWHY_TEST_ELSE", "a=b", 1);
	unsetenv("CUDA_INJECTION64_PATH");
	before = environ;
	kwhy_environment_done(&environment);
	prepare(&request);
	assert_ptr_equal(environ, before);
	assert_string_equal(getenv("KWHY_RECORD_DIR"), "/ours");
	assert_null(getenv("CUDA_INJECTION64_PATH"));
	assert_variable("KWHY_RECORD_DIR", "/a");
	assert_variable("KWHY_TEST_ELSE", "a=b");
}

/*
 * Some launchers pass an environment in which a variable occurs twice. In the command's environment a
 * variable that kwhy sets must occur once, and one that kwhy removes not at all.
 */
static void a_name_that_stands_twice_is_set_once(void **state)
{
	const char *doubled[] = {"A=1", "KWHY_RECORD_DIR=/first", "KWHY_RECORD_RANGE=outer", "B=2",
		"KWHY_RECORD_DIR=/second", "KWHY_RECORD_RANGE=inner", NULL};
	const struct kwhy_inject_request request = {.folder = "/a", .share_ratio = (double)NAN};
	char **const before = environ;

	(void)state;
	kwhy_environment_done(&environment);
	environ = (char **)doubled;
	prepare(&request);
	environ = before;
	assert_variable("KWHY_RECORD_DIR", "/a");
	assert_variable("KWHY_RECORD_RANGE", NULL);
	assert_variable("A", "1");
	assert_variable("B", "2");
}

/* Writes a file that begins with these bytes, and asks for it as the library to inject. */
static void find(struct kwhy_inject *found, const char *bytes)
{
	char path[] = "/tmp/kwhy-inject-XXXXXX", space[128] = {0};
	int file = mkstemp(path);

	assert_true(file >= 0);
	assert_int_equal(write(file, bytes, strlen(bytes)), strlen(bytes));
	assert_int_equal(write(file, space, sizeof(space)), sizeof(space));
	close(file);
	unsetenv("CUDA_INJECTION64_PATH");
	setenv("KWHY_INJECT", path, 1);
	kwhy_inject_find(found);
	unsetenv("KWHY_INJECT");
	unlink(path);
}

static void a_library_of_another_version_is_refused_with_both_versions(void **state)
{
	struct kwhy_inject found;

	(void)state;
	find(&found, "libkwhy-inject says, libkwhy-inject 99.1.0");
	assert_string_equal(found.library, "");
	assert_non_null(strstr(
		found.absence, "is of kwhy 99.1.0, and this program is kwhy " KWHY_VERSION "; install"));
	find(&found, "libkwhy-inject " KWHY_VERSION);
	assert_string_equal(found.absence, "");
	assert_true(*found.library);
}

static int forget(void **state)
{
	(void)state;
	kwhy_environment_done(&environment);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_not_asked_for_is_not_in_the_environment),
		cmocka_unit_test(windows_and_kinds_are_said_as_the_library_reads_them),
		cmocka_unit_test(calls_may_be_left_out),
		cmocka_unit_test(times_are_unix_times_and_an_open_end_is_none),
		cmocka_unit_test(ours_stays_as_it_was_and_goes_to_the_command),
		cmocka_unit_test(a_name_that_stands_twice_is_set_once),
		cmocka_unit_test(a_library_of_another_version_is_refused_with_both_versions),
	};

	return kwhy_test_main(tests, NULL, forget);
}
