/* SPDX-License-Identifier: Apache-2.0 */
#include "../golden/schema_check.h"
#include "cmocka_all.h"
#include "spawn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IDLE_H200 KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/h200_idle.txt"

static char load_file[] = "/tmp/kwhy-fake-load-XXXXXX";
static char libraries[2048];

static int begin(void **state)
{
	(void)state;
	close(mkstemp(load_file));
	snprintf(libraries, sizeof(libraries), "%s:%s", KWHY_FAKE_CUDA_DIR, KWHY_FAKE_NVML_DIR);
	setenv("XDG_CACHE_HOME", "/dev/null", 1); /* no compiled kernels are cached */
	setenv("KWHY_FAKE_GPU_LOAD", load_file, 1);
	setenv("KWHY_FAKE_NVML", IDLE_H200, 1);
	return 0;
}

static int end(void **state)
{
	(void)state;
	return unlink(load_file);
}

static int with_libraries(void **state)
{
	(void)state;
	unsetenv("KWHY_FAKE_CUDA");
	unsetenv("KWHY_FAKE_NVRTC");
	return setenv("LD_LIBRARY_PATH", libraries, 1);
}

static double figure(const json_t *document, const char *part, const char *key)
{
	const json_t *place = json_object_get(json_object_get(document, part), key);

	return place ? json_number_value(json_object_get(place, "value")) : NAN;
}

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

/* Takes some 15 s, because a kernel on the fake driver occupies as much time as kwhy asks of it. */
static void a_profile_is_measured_and_keeps_to_its_schema(void **state)
{
	struct spawned spawned = SPAWN("calibrate", "--quick", "--json");
	json_t *profile = json_loadb(spawned.out.data, spawned.out.length, JSON_REJECT_DUPLICATES, NULL);

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.err.data, "nothing is set or changed"));
	assert_keeps_to_schema("profile", profile);
	assert_near(figure(profile, "power", "clean_idle_w"), 78.5, 0.5);
	assert_near(figure(profile, "power", "context_idle_w"), 121.5, 0.5);
	assert_near(figure(profile, "sensor", "sample_period_s"), 0.02002, 0.0005);
	assert_near(figure(profile, "sensor", "time_constant_s"), 0.0145, 0.003);
	assert_near(figure(profile, "sensor", "counter_period_s"), 0.1, 0.005);
	json_decref(profile);
	spawned_done(&spawned);
}

/*
 * `kwhy calibrate --from`, given the saved readings of an H200 in examples/h200-self-test, must compute the
 * figures of the bundled profile. Idle levels are not compared: those in the bundled profile come from two
 * cards, the readings from one.
 */
static void the_bundled_profile_is_made_of_the_saved_session(void **state)
{
	static const char *const figures[][2] = {{"sensor", "time_constant_s"}, {"sensor", "delay_s"},
		{"sensor", "sample_period_s"}, {"sensor", "late_s"}, {"cost", "launch_s"}};
	struct spawned spawned = SPAWN(
		"calibrate", "--from", KWHY_SOURCE_DIR "/examples/h200-self-test", "--json");
	json_t *again = json_loadb(spawned.out.data, spawned.out.length, 0, NULL),
	       *bundled = json_load_file(KWHY_SOURCE_DIR "/profiles/nvidia-h200.json", 0, NULL);

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_string_equal(spawned.err.data, "");
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		double value = figure(bundled, figures[i][0], figures[i][1]);

		assert_near(figure(again, figures[i][0], figures[i][1]), value, 1e-4 * value);
	}
	json_decref(again);
	json_decref(bundled);
	spawned_done(&spawned);
}

static void assert_one_sentence(const char *part, int status)
{
	struct spawned spawned = SPAWN("calibrate", "-q");

	assert_int_equal(spawned.exit, status);
	assert_string_equal(spawned.out.data, "");
	assert_non_null(strstr(spawned.err.data, part));
	assert_ptr_equal(strchr(spawned.err.data, '\n'), spawned.err.data + spawned.err.length - 1);
	spawned_done(&spawned);
}

static void without_a_driver_it_says_so_and_fails(void **state)
{
	(void)state;
	unsetenv("LD_LIBRARY_PATH");
	assert_one_sentence("NVML", 1);
}

static void without_cuda_it_says_so_and_fails(void **state)
{
	(void)state;
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_NVML_DIR, 1);
	assert_one_sentence("CUDA, a part of the NVIDIA driver", 1);
}

static void a_gpu_that_cuda_does_not_see_is_an_error(void **state)
{
	(void)state;
	setenv("KWHY_FAKE_CUDA", "no-device", 1);
	assert_one_sentence("CUDA_VISIBLE_DEVICES", 1);
}

static void a_compiler_that_refuses_is_quoted(void **state)
{
	(void)state;
	setenv("KWHY_FAKE_NVRTC", "refuses", 1);
	assert_one_sentence("no such thing", 1);
}

static void a_gpu_without_memory_is_an_error(void **state)
{
	(void)state;
	setenv("KWHY_FAKE_CUDA", "no-memory", 1);
	assert_one_sentence("cannot allocate memory: out of memory", 1);
}

static void a_launch_that_fails_ends_it(void **state)
{
	(void)state;
	setenv("KWHY_FAKE_CUDA", "launch-fails", 1);
	assert_one_sentence("cannot launch a kernel", 1);
}

static void a_gpu_that_is_not_there_is_told_with_those_that_are(void **state)
{
	struct spawned spawned = SPAWN("calibrate", "--device", "7");

	(void)state;
	assert_int_equal(spawned.exit, 1);
	assert_non_null(
		strstr(spawned.err.data, "there is no device 7 with a meter here; there is device 0"));
	spawned_done(&spawned);
}

static void wrong_options_are_wrong_usage(void **state)
{
	static const char *const words[][4] = {
		{"calibrate", "--seconds", "99", NULL}, {"calibrate", "-o", "x.csv", NULL}};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct spawned spawned = spawn_run(&(struct spawn){.words = words[i]});

		assert_int_equal(spawned.exit, 2);
		spawned_done(&spawned);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_profile_is_measured_and_keeps_to_its_schema, with_libraries),
		cmocka_unit_test_setup(the_bundled_profile_is_made_of_the_saved_session, with_libraries),
		cmocka_unit_test_setup(without_a_driver_it_says_so_and_fails, with_libraries),
		cmocka_unit_test_setup(without_cuda_it_says_so_and_fails, with_libraries),
		cmocka_unit_test_setup(a_gpu_that_cuda_does_not_see_is_an_error, with_libraries),
		cmocka_unit_test_setup(a_compiler_that_refuses_is_quoted, with_libraries),
		cmocka_unit_test_setup(a_gpu_without_memory_is_an_error, with_libraries),
		cmocka_unit_test_setup(a_launch_that_fails_ends_it, with_libraries),
		cmocka_unit_test_setup(a_gpu_that_is_not_there_is_told_with_those_that_are, with_libraries),
		cmocka_unit_test_setup(wrong_options_are_wrong_usage, with_libraries),
	};

	return kwhy_test_main(tests, begin, end);
}
