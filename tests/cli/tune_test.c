/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "cmocka_all.h"
#include "spawn.h"
#include "text_file.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* These tests run on a fake driver only: no test may change settings of real hardware. */

/*
 * A GPU whose meters show the power without delay. So the energy of a run does not depend on the limit of
 * the run before.
 */
#define H200 "gpu \"NVIDIA H200\"\npower constant 700\nsm_clock_mhz 1980\ntau_ms 0\nlag_ms 0\n"

static struct kwhy_error error;
static char folder[] = "kwhy-tune-XXXXXX", settings[64], result[64], scenario[64], program[PATH_MAX];

static int begin(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(settings, sizeof(settings), "%s/settings", folder);
	snprintf(result, sizeof(result), "%s/tune.json", folder);
	snprintf(scenario, sizeof(scenario), "%s/scenario", folder);
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_NVML_DIR, 1);
	setenv("KWHY_FAKE_NVML_SETTINGS", settings, 1);
	setenv("KWHY_FAKE_NVML", scenario, 1);
	text_file_write(scenario, H200);
	return readlink("/proc/self/exe", program, sizeof(program) - 1) > 0 ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	unlink(settings);
	unlink(result);
	unlink(scenario);
	return rmdir(folder);
}

static void assert_settings(const char *wanted)
{
	struct kwhy_text text = {0};

	assert_int_equal(kwhy_file_read(settings, 100, &text, &error), KWHY_OK);
	assert_string_equal(text.data, wanted);
	kwhy_text_done(&text);
}

static void assert_fails(struct spawned spawned, int status, const char *says)
{
	if (spawned.exit != status || !strstr(spawned.err.data, says))
		fail_msg("exit %d, stderr '%s' without '%s'", spawned.exit, spawned.err.data, says);
	spawned_done(&spawned);
}

/*
 * The command that `kwhy tune cap` runs at each power limit. Works for half a second and reports steps: the
 * elapsed seconds times the rate 1 - exp(-(limit - 180 W) / 100 W). Returns the exit status.
 */
static int work(void)
{
	const char *path = getenv("KWHY_WORK_FILE");
	FILE *held = fopen(getenv("KWHY_FAKE_NVML_SETTINGS"), "r"), *out = path ? fopen(path, "a") : NULL;
	const struct timespec time = {.tv_nsec = 500000000};
	struct timespec begun, now;
	char line[64];
	double limit_w;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	if (!held || !out || !fgets(line, sizeof(line), held))
		return 9;
	limit_w = strtod(line, NULL);
	nanosleep(&time, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	fprintf(out, "steps %.9g\n",
		((double)(now.tv_sec - begun.tv_sec) + 1e-9 * (double)(now.tv_nsec - begun.tv_nsec)) *
			(1 - exp(-(limit_w - 180) / 100)));
	return fclose(held) || fclose(out);
}

static double number(const json_t *row, const char *key)
{
	return json_number_value(json_object_get(row, key));
}

/*
 * Checks a sweep of seven power limits, in each of which the GPU drew its limit and work() was the command.
 * work() takes half a second, or longer on a loaded machine. Energy per step is limit / rate, which is least
 * at 325 W; a limit that kwhy advises must be near that. It may advise none, because on a loaded machine the
 * command may take much longer than its work.
 */
static void assert_sweep(const json_t *answer)
{
	const json_t *runs = json_object_get(answer, "runs"), *run,
		     *found = json_object_get(
			     json_object_get(json_object_get(answer, "advice"), "energy"), "power_w");
	const double found_w = number(found, "value");
	size_t i;

	assert_int_equal(json_array_size(runs), 7);
	json_array_foreach(runs, i, run)
	{
		const double limit_w = number(run, "value"), rate = 1 - exp(-(limit_w - 180) / 100),
			     seconds = number(run, "seconds");

		assert_float_equal(number(run, "joules") / seconds, limit_w, 0.08 * limit_w);
		assert_true(number(run, "work") >= 0.5 * rate && number(run, "work") <= seconds * rate);
	}
	if (json_is_number(json_object_get(found, "value")) && !(found_w > 250 && found_w < 420))
		fail_msg("least energy at %g W", found_w);
}

static void a_sweep_finds_the_limit_of_least_energy_and_puts_the_old_one_back(void **state)
{
	struct spawned spawned;
	json_t *answer;

	(void)state;
	text_file_write(settings, "650 0\n");
	spawned = SPAWN("tune", "cap", "--allow-set", "-o", result, "--values", "7", "--work", "steps", "--",
		program, "work");
	if (spawned.exit)
		fail_msg("exit %d: %s", spawned.exit, spawned.err.data);
	spawned_done(&spawned);
	assert_settings("650 0\n");
	answer = json_load_file(result, 0, NULL);
	assert_non_null(answer);
	assert_sweep(answer);
	json_decref(answer);
}

static void nothing_is_set_without_leave_or_where_others_are(void **state)
{
	(void)state;
	text_file_write(settings, "650 0\n");
	assert_fails(SPAWN("tune", "cap", "--", "true"), 2, "--allow-set");
	assert_fails(SPAWN("tune", "cap", "--allow-set"), 2, "needs a command");
	assert_fails(
		SPAWN("tune", "cap", "--allow-set", "--from", "50", "--", "true"), 2, "takes 200 to 700 W");
	assert_fails(SPAWN("tune", "cap", "--allow-set", "--from", "300", "--to", "200", "--", "true"), 2,
		"--from 300 is not below --to 200 W");
	assert_fails(SPAWN("tune", "clock", "--allow-set", "--device", "5", "--", "true"), 1, "no device 5");
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/h200_constant_300w.txt", 1);
	assert_fails(SPAWN("tune", "cap", "--allow-set", "--", "true"), 1, "in use by 1 other process");
	setenv("KWHY_FAKE_NVML", scenario, 1);
	assert_settings("650 0\n");
}

static void nothing_is_run_where_the_answer_cannot_be_written(void **state)
{
	(void)state;
	text_file_write(settings, "650 0\n");
	assert_fails(SPAWN("tune", "cap", "--allow-set", "--warmup", "0", "-o", "/nonexist/t.json", "--",
			     "sh", "-c", "exit 7"),
		1, "whose folder is not there");
	assert_fails(SPAWN("tune", "cap", "--allow-set", "--warmup", "0", "-o", "t.csv", "--", "sh", "-c",
			     "exit 7"),
		2, ".txt or .json");
	assert_settings("650 0\n");
}

/*
 * Without samples and with a counter that changes every 20 s, only readings of the power, ten per
 * second, are left. They give the energy of a run to 6 % only if it lasts a second or more. `true`
 * takes less than a second, even if its start and end take half a second on a loaded machine.
 */
static void runs_that_the_meter_cannot_tell_apart_end_the_sweep(void **state)
{
	struct spawned spawned;

	(void)state;
	text_file_write(settings, "650 0\n");
	text_file_write(scenario, H200 "fail nvmlDeviceGetSamples not_supported\nenergy_tick_ms 20000\n");
	spawned = SPAWN("tune", "cap", "--allow-set", "--values", "5", "--warmup", "0", "--", "true");
	text_file_write(scenario, H200);
	assert_null(strstr(spawned.err.data, "mean power"));
	assert_fails(spawned, 1, "too short for the meter");
	assert_settings("650 0\n");
}

static void a_command_that_fails_and_a_signal_end_the_sweep_and_put_the_limit_back(void **state)
{
	static const char *const ways[] = {
		"exit 5", "kill -TERM $PPID; sleep 0.2", "kill -KILL $PPID; sleep 0.2"};
	static const int exits[] = {5, 143, -SIGKILL};

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct spawned spawned;

		text_file_write(settings, "650 0\n");
		spawned = SPAWN("tune", "cap", "--allow-set", "--warmup", "0", "--", "sh", "-c", ways[i]);
		if (spawned.exit != exits[i])
			fail_msg("'%s': exit %d, '%s'", ways[i], spawned.exit, spawned.err.data);
		spawned_done(&spawned);
		assert_settings("650 0\n");
	}
}

static void clocks_are_unlocked_in_the_end(void **state)
{
	(void)state;
	text_file_write(settings, "700 0\n");
	assert_fails(SPAWN("tune", "clock", "--allow-set", "--warmup", "0", "--", "sh", "-c", "exit 3"), 3,
		"put back");
	assert_settings("700 0\n");
}

static void clocks_that_are_not_put_back_leave_what_the_sweep_found(void **state)
{
	struct spawned spawned;
	json_t *answer;

	(void)state;
	unlink(result);
	text_file_write(settings, "700 0\n");
	text_file_write(scenario, H200 "fail nvmlDeviceResetGpuLockedClocks no_permission\n");
	spawned = SPAWN("tune", "clock", "--allow-set", "-o", result, "--values", "5", "--warmup", "0", "--",
		"sleep", "0.3");
	assert_fails(spawned, 1, "the driver does not put its setting back");
	answer = json_load_file(result, 0, NULL);
	assert_non_null(answer);
	assert_int_equal(json_array_size(json_object_get(answer, "runs")), 5);
	json_decref(answer);
}

static void a_request_to_end_before_a_run_starts_none(void **state)
{
	const char *const words[] = {
		"tune", "cap", "--allow-set", "--warmup", "0", "--", "sh", "-c", "echo ran >&2", NULL};
	struct spawned spawned = spawn_run(&(struct spawn){.words = words, .pending = SIGTERM});

	(void)state;
	assert_int_equal(spawned.exit, 143);
	assert_null(strstr(spawned.err.data, "ran\n"));
	spawned_done(&spawned);
}

int main(int word_count, char **words)
{
	if (word_count == 2 && !strcmp(words[1], "work"))
		return work();

	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sweep_finds_the_limit_of_least_energy_and_puts_the_old_one_back),
		cmocka_unit_test(nothing_is_set_without_leave_or_where_others_are),
		cmocka_unit_test(nothing_is_run_where_the_answer_cannot_be_written),
		cmocka_unit_test(runs_that_the_meter_cannot_tell_apart_end_the_sweep),
		cmocka_unit_test(a_command_that_fails_and_a_signal_end_the_sweep_and_put_the_limit_back),
		cmocka_unit_test(clocks_are_unlocked_in_the_end),
		cmocka_unit_test(clocks_that_are_not_put_back_leave_what_the_sweep_found),
		cmocka_unit_test(a_request_to_end_before_a_run_starts_none),
	};

	return kwhy_test_main(tests, begin, end);
}
