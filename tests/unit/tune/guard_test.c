/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/guard.h"

#include "cmocka_all.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct kwhy_error error;
static char folder[] = "kwhy-tune-XXXXXX", settings[64];

static int begin(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(settings, sizeof(settings), "%s/settings", folder);
	setenv("KWHY_FAKE_NVML_SETTINGS", settings, 1);
	return 0;
}

static int end(void **state)
{
	(void)state;
	unlink(settings);
	return rmdir(folder);
}

static void write_settings(double limit_w, double clock_mhz)
{
	FILE *file = fopen(settings, "w");

	assert_non_null(file);
	fprintf(file, "%g %g\n", limit_w, clock_mhz);
	fclose(file);
}

static void assert_settings(double limit_w, double clock_mhz)
{
	FILE *file = fopen(settings, "r");
	double found_w = NAN, found_mhz = NAN;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lf %lf", &found_w, &found_mhz), 2);
	fclose(file);
	if (found_w != limit_w || found_mhz != clock_mhz)
		fail_msg("%g W and %g MHz", found_w, found_mhz);
}

static void use_scenario(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/%s.txt", name);
	setenv("KWHY_FAKE_NVML", path, 1);
}

static void a_limit_is_set_and_put_back_as_it_was(void **state)
{
	struct kwhy_tune_setting setting;

	(void)state;
	use_scenario("h200_idle");
	write_settings(650, 0);
	assert_int_equal(kwhy_tune_setting_open(&setting, KWHY_TUNE_CAP, 0, &error), KWHY_OK);
	assert_int_equal(setting.order.limit_mw, 650000);
	assert_int_equal(setting.least, 200000);
	assert_int_equal(kwhy_tune_setting_set(&setting, 300000, &error), KWHY_OK);
	assert_settings(300, 0);
	assert_int_equal(kwhy_tune_setting_set(&setting, 100000, &error), KWHY_E_INPUT);
	assert_int_equal(kwhy_tune_setting_restore(&setting, &error), KWHY_OK);
	assert_settings(650, 0);
	kwhy_tune_setting_close(&setting);
}

static void a_clock_is_locked_and_unlocked(void **state)
{
	struct kwhy_tune_setting setting;

	(void)state;
	use_scenario("h200_idle");
	write_settings(700, 0);
	assert_int_equal(kwhy_tune_setting_open(&setting, KWHY_TUNE_CLOCK, 0, &error), KWHY_OK);
	assert_int_equal(setting.most, 1980);
	assert_int_equal(kwhy_tune_setting_set(&setting, 1200, &error), KWHY_OK);
	assert_settings(700, 1200);
	assert_int_equal(kwhy_tune_setting_restore(&setting, &error), KWHY_OK);
	assert_settings(700, 0);
	kwhy_tune_setting_close(&setting);
}

static void a_device_that_others_use_or_that_is_divided_is_left_alone(void **state)
{
	struct kwhy_tune_setting setting;

	(void)state;
	use_scenario("h200_constant_300w");
	assert_int_equal(kwhy_tune_setting_open(&setting, KWHY_TUNE_CAP, 0, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "4242"));
	use_scenario("mig");
	assert_int_equal(kwhy_tune_setting_open(&setting, KWHY_TUNE_CAP, 0, &error), KWHY_E_UNSUPPORTED);
	use_scenario("h200_idle");
	assert_int_equal(kwhy_tune_setting_open(&setting, KWHY_TUNE_CAP, 7, &error), KWHY_E_INPUT);
}

/*
 * Changes the power limit of GPU 0 under a guard and ends this process: by the signal `how` or, if it is 0,
 * with status 0. disarm: first disarms the guard, so that the limit stays changed.
 */
static void change_and_go(int how, bool disarm)
{
	struct kwhy_tune_guard guard;
	struct kwhy_tune_setting setting;

	if (kwhy_tune_guard_open(&guard, &error) ||
		kwhy_tune_setting_open(&setting, KWHY_TUNE_CAP, 0, &error) ||
		kwhy_tune_guard_arm(&guard, &setting.order, &error) ||
		kwhy_tune_setting_set(&setting, 250000, &error))
		_exit(9);
	if (disarm && (kwhy_tune_setting_restore(&setting, &error) || kwhy_tune_guard_disarm(&guard, &error)))
		_exit(9);
	if (how)
		kill(getpid(), how);
	_exit(0);
}

/*
 * Runs change_and_go() in a child. Waits until both the child and its guard process have ended: both hold the
 * writing end of a pipe, which this process reads to its end. Returns the child's wait status.
 */
static int run(int how, bool disarm)
{
	int ends[2], ended;
	char byte;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0)
		change_and_go(how, disarm);
	close(ends[1]);
	assert_int_equal(waitpid(child, &ended, 0), child);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	return ended;
}

static void whatever_ends_us_the_guard_puts_the_limit_back(void **state)
{
	static const int ways[] = {0, SIGKILL, SIGTERM, SIGABRT};

	(void)state;
	use_scenario("h200_idle");
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		int ended;

		write_settings(600, 0);
		ended = run(ways[i], false);
		assert_true(ways[i] ? WIFSIGNALED(ended) && WTERMSIG(ended) == ways[i] : ended == 0);
		assert_settings(600, 0);
	}
}

static void a_guard_that_is_disarmed_does_nothing(void **state)
{
	(void)state;
	use_scenario("h200_idle");
	write_settings(600, 0);
	assert_int_equal(run(0, true), 0);
	assert_settings(600, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_limit_is_set_and_put_back_as_it_was),
		cmocka_unit_test(a_clock_is_locked_and_unlocked),
		cmocka_unit_test(a_device_that_others_use_or_that_is_divided_is_left_alone),
		cmocka_unit_test(whatever_ends_us_the_guard_puts_the_limit_back),
		cmocka_unit_test(a_guard_that_is_disarmed_does_nothing),
	};

	return kwhy_test_main(tests, begin, end);
}
