/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "cmocka_all.h"
#include "spawn.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "kwhy-record-XXXXXX";

static const char *place(const char *name)
{
	static char paths[4][256];
	static size_t next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static void use_steady_load(void)
{
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/h200_constant_300w.txt", 1);
}

static int begin(void **state)
{
	(void)state;
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_NVML_DIR, 1);
	use_steady_load();
	setenv("KWHY_INJECT", "/nowhere/libkwhy-inject.so", 1);
	unsetenv("CUDA_INJECTION64_PATH");
	return mkdtemp(folder) ? 0 : -1;
}

static void remove_recording(const char *name)
{
	char path[600];
	DIR *files = opendir(place(name));

	for (struct dirent *entry = files ? readdir(files) : NULL; entry; entry = readdir(files)) {
		snprintf(path, sizeof(path), "%s/%s", place(name), entry->d_name);
		unlink(path);
	}
	if (files)
		closedir(files);
	rmdir(place(name));
}

static int end_one(void **state)
{
	(void)state;
	remove_recording("a");
	remove_recording("a.old");
	return 0;
}

static int end(void **state)
{
	(void)state;
	return rmdir(folder);
}

static struct spawned assert_ends(struct spawned spawned, int exit, const char *says)
{
	if (spawned.exit != exit || !strstr(spawned.err.data, says))
		fail_msg("exit %d, no '%s' in '%s'", spawned.exit, says, spawned.err.data);
	return spawned;
}

static void assert_done(struct spawned spawned, int exit, const char *says)
{
	spawned = assert_ends(spawned, exit, says);
	spawned_done(&spawned);
}

static bool is_there(const char *path)
{
	struct stat facts;

	return !stat(path, &facts);
}

static bool is_file(const char *path)
{
	struct stat facts;

	return !stat(path, &facts) && S_ISREG(facts.st_mode);
}

static json_t *report_of(const char *path)
{
	struct spawned spawned = SPAWN("report", "--json", path);
	json_error_t where;
	json_t *report = json_loadb(spawned.out.data, spawned.out.length, 0, &where);

	if (spawned.exit || !report)
		fail_msg("exit %d: %s", spawned.exit, spawned.err.data);
	spawned_done(&spawned);
	return report;
}

static json_t *energy_of(const json_t *report)
{
	json_t *device = json_array_get(json_object_get(report, "devices"), 0);

	return json_object_get(device, "energy");
}

static void the_meters_of_a_run_become_its_energy(void **state)
{
	json_t *report, *energy;
	double joules, seconds;

	(void)state;
	assert_done(SPAWN("record", "-o", place("a"), "--", "sleep", "1"), 0, "no activity of a device");
	assert_done(SPAWN("verify", place("a")), 0, "");
	report = report_of(place("a"));
	energy = energy_of(report);
	joules = json_number_value(json_object_get(energy, "measured_nj")) * 1e-9;
	seconds = (json_number_value(json_object_get(energy, "end_ns")) -
			  json_number_value(json_object_get(energy, "start_ns"))) *
		1e-9;
	assert_true(seconds > 0.85 && seconds < 1.45);
	assert_true(fabs(joules / seconds - 300) < 3);
	json_decref(report);
}

static void gpus_that_the_command_cannot_see_are_left_out_with_a_note(void **state)
{
	const char *const words[] = {
		"record", "-q", "--power-only", "-o", place("a"), "--", "sleep", "0.3", NULL};
	json_t *report;
	struct spawned spawned;

	(void)state;
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/two_gpus.txt", 1);
	assert_done(
		spawn_run(&(struct spawn){.words = words, .environment = "CUDA_VISIBLE_DEVICES=1"}), 0, "");
	report = report_of(place("a"));
	assert_int_equal(json_array_size(json_object_get(report, "devices")), 1);
	json_decref(report);
	spawned = SPAWN("report", place("a"));
	assert_non_null(strstr(spawned.out.data, "GPU 0 left out"));
	spawned_done(&spawned);
	use_steady_load();
}

static void gauges_are_summed_up(void **state)
{
	json_t *report, *device, *gauge = NULL;
	struct spawned spawned;
	size_t i;

	(void)state;
	assert_done(SPAWN("record", "-q", "-o", place("a"), "--", "sleep", "1.2"), 0, "");
	report = report_of(place("a"));
	device = json_array_get(json_object_get(report, "devices"), 0);
	json_array_foreach(json_object_get(device, "gauges"), i, gauge)
	{
		if (!strcmp(json_string_value(json_object_get(gauge, "gauge")), "sm_clock_hz"))
			break;
	}
	assert_non_null(gauge);
	assert_true(json_number_value(json_object_get(gauge, "mean")) == 1980e6);
	assert_true(json_is_array(json_object_get(device, "throttling")));
	json_decref(report);
	spawned = SPAWN("report", place("a"));
	assert_non_null(strstr(spawned.out.data, "sm clock             1.98 GHz"));
	assert_non_null(strstr(spawned.out.data, "gpm sm active          98.5 %"));
	spawned_done(&spawned);
}

static void what_is_not_recorded_is_said(void **state)
{
	struct spawned spawned;

	(void)state;
	assert_done(
		SPAWN("record", "-q", "-o", place("a"), "--", "true"), 0, "power only: KWHY_INJECT names");
	spawned = SPAWN("report", place("a"));
	assert_non_null(strstr(spawned.out.data, "What the program ran on its devices is not recorded"));
	spawned_done(&spawned);
	spawned = SPAWN("record", "-q", "--power-only", "-o", place("a"), "--", "true");
	assert_string_equal(spawned.err.data, "");
	spawned_done(&spawned);
}

static void the_command_keeps_its_output_and_its_status(void **state)
{
	struct spawned spawned;

	(void)state;
	spawned = assert_ends(
		SPAWN("record", "-o", place("a"), "--", "sh", "-c", "echo out; echo err >&2; exit 7"), 7,
		"err\n");
	assert_string_equal(spawned.out.data, "out\n");
	spawned_done(&spawned);
	assert_done(
		SPAWN("record", "-o", place("a"), "--", "sh", "-c", "kill -9 $$"), 137, "killed by signal 9");
}

static void a_command_that_is_not_there_leaves_no_recording(void **state)
{
	(void)state;
	assert_done(SPAWN("record", "-o", place("a"), "--", "kwhy-nothing-of-that-name"), 127,
		"is in the folders of PATH");
	assert_false(is_there(place("a")));
}

static void a_recording_that_is_there_is_kept_as_the_old_one(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		assert_done(SPAWN("record", "-q", "-o", place("a"), "--", "true"), 0, "");
	assert_done(SPAWN("verify", place("a")), 0, "");
	assert_done(SPAWN("verify", place("a.old")), 0, "");
}

static void what_is_no_recording_is_left_alone(void **state)
{
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_file_write(place("a"), "mine", 4, &error), KWHY_OK);
	assert_done(
		SPAWN("record", "-o", place("a"), "--", "true"), 2, "is there already and is no recording");
	assert_int_equal(unlink(place("a")), 0);
}

static void work_is_recorded_with_the_run(void **state)
{
	json_t *report, *work;

	(void)state;
	assert_done(SPAWN("record", "-q", "-o", place("a"), "--work", "tokens=made ([0-9]+)", "--", "sh",
			    "-c", "echo made 30; echo made 12"),
		0, "");
	report = report_of(place("a"));
	work = json_array_get(json_object_get(report, "work"), 0);
	assert_string_equal(json_string_value(json_object_get(work, "unit")), "tokens");
	assert_true(json_number_value(json_object_get(work, "count")) == 42);
	json_decref(report);
}

static void the_library_is_named_to_the_command(void **state)
{
	static const char command[] = "test \"$CUDA_INJECTION64_PATH\" = \"$NVTX_INJECTION64_PATH\" && "
				      "test -r \"$CUDA_INJECTION64_PATH\" && test -d \"$KWHY_RECORD_DIR\" && "
				      "echo $KWHY_RECORD_MAX_BYTES";
	const char *const words[] = {
		"record", "-q", "-o", place("a"), "--max-size", "2M", "--", "sh", "-c", command, NULL};
	struct spawned spawned = spawn_run(&(struct spawn){
		.words = words, .environment = "KWHY_INJECT=" KWHY_FAKE_NVML_DIR "/libnvidia-ml.so.1"});

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_string_equal(spawned.out.data, "2097152\n");
	assert_string_equal(spawned.err.data, "");
	spawned_done(&spawned);
}

/* Launcher, library and report together, on a CUDA, a CUPTI and an NVML without a GPU. */
static void what_two_processes_ran_and_their_power_is_one_recording(void **state)
{
	static const char command[] = "export KWHY_CUPTI=" KWHY_FAKE_CUPTI
				      " LD_LIBRARY_PATH=" KWHY_FAKE_CUDA_DIR "; " KWHY_FAKE_PROGRAM
				      " cuda range:step launch:50 && " KWHY_FAKE_PROGRAM
				      " cuda launch:7 copy";
	const char *const words[] = {"record", "-o", place("a"), "--", "sh", "-c", command, NULL};
	struct spawned spawned;
	json_t *report, *devices, *kernels;

	(void)state;
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/h200_of_fake_cuda.txt", 1);
	spawned = spawn_run(
		&(struct spawn){.words = words, .environment = "KWHY_INJECT=" KWHY_INJECT_LIBRARY});
	use_steady_load();
	spawned = assert_ends(spawned, 0, "Recorded in ");
	spawned_done(&spawned);
	assert_done(SPAWN("verify", place("a")), 0, "");
	report = report_of(place("a"));
	devices = json_object_get(report, "devices");
	assert_int_equal(json_array_size(devices), 1);
	kernels = json_object_get(json_array_get(devices, 0), "kernels");
	assert_int_equal(json_integer_value(json_object_get(kernels, "count")), 57);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(devices, 0), "pid_count")), 2);
	json_decref(report);
}

static void a_library_of_somebody_else_stays(void **state)
{
	const char *const words[] = {
		"record", "-q", "-o", place("a"), "--", "sh", "-c", "echo $CUDA_INJECTION64_PATH", NULL};
	struct spawned spawned = spawn_run(
		&(struct spawn){.words = words, .environment = "CUDA_INJECTION64_PATH=/opt/other.so"});

	(void)state;
	spawned = assert_ends(spawned, 0, "names another tool already (/opt/other.so)");
	assert_string_equal(spawned.out.data, "/opt/other.so\n");
	spawned_done(&spawned);
}

/* script(1) gives it one. */
static void progress_is_drawn_on_a_terminal(void **state)
{
	struct kwhy_text shown = {0};
	struct kwhy_error error;
	char command[1200];

	(void)state;
	snprintf(command, sizeof(command),
		"script -qec '%s record -q --progress -o %s -- sleep 1.5' /dev/null >%s </dev/null",
		KWHY_PROGRAM, place("a"), place("shown"));
	assert_int_equal(system(command), 0);
	assert_int_equal(kwhy_file_read(place("shown"), 65536, &shown, &error), KWHY_OK);
	assert_non_null(strstr(shown.data, "kwhy: recording 1 s, "));
	assert_non_null(strstr(shown.data, "B, 300 W"));
	kwhy_text_done(&shown);
	unlink(place("shown"));
}

static void a_part_of_the_run_may_be_recorded(void **state)
{
	json_t *report, *energy;
	double seconds;

	(void)state;
	assert_done(SPAWN("record", "-q", "-o", place("a"), "--delay", "0.5", "--duration", "0.5", "--",
			    "sleep", "2"),
		0, "");
	report = report_of(place("a"));
	energy = energy_of(report);
	seconds = (json_number_value(json_object_get(energy, "end_ns")) -
			  json_number_value(json_object_get(energy, "start_ns"))) *
		1e-9;
	assert_true(seconds > 0.3 && seconds < 0.95);
	json_decref(report);
}

/* The command kills the program that records it. */
static void a_recorder_that_is_killed_leaves_what_it_saw(void **state)
{
	struct spawned spawned = SPAWN(
		"record", "-o", place("a"), "--", "sh", "-c", "sleep 2.5; kill -9 $PPID");
	json_t *report;

	(void)state;
	assert_int_equal(spawned.exit, -1);
	spawned_done(&spawned);
	report = report_of(place("a"));
	assert_true(json_number_value(json_object_get(energy_of(report), "measured_nj")) > 100e9);
	json_decref(report);
	spawned = SPAWN("report", place("a"));
	assert_non_null(strstr(spawned.out.data, "did not end their recording"));
	spawned_done(&spawned);
}

static void a_rank_with_a_recorder_of_its_own_has_a_folder_of_its_own(void **state)
{
	const char *const words[] = {"record", "-q", "--", "true", NULL};
	struct spawned spawned = spawn_run(
		&(struct spawn){.words = words, .folder = folder, .environment = "OMPI_COMM_WORLD_RANK=3"});

	(void)state;
	assert_int_equal(spawned.exit, 0);
	spawned_done(&spawned);
	assert_done(SPAWN("verify", place("run.3.kwhy")), 0, "");
	remove_recording("run.3.kwhy");
}

static void an_interrupt_ends_the_command_and_the_recording_in_order(void **state)
{
	(void)state;
	assert_done(SPAWN("record", "-o", place("a"), "--", "sh", "-c", "kill -TERM $PPID; exec sleep 60"),
		143, "Recorded in ");
	assert_done(SPAWN("verify", place("a")), 0, "");
}

/* How many records of a kind `kwhy verify` counts. */
static long count_records(const char *recording, const char *kind)
{
	struct spawned spawned = SPAWN("verify", recording);
	char line[32];
	const char *found;
	long count = 0;

	snprintf(line, sizeof(line), "\n  %s ", kind);
	found = strstr(spawned.out.data, line);
	for (found = found ? found + strlen(line) : ""; *found && *found != '\n'; found++)
		if (*found >= '0' && *found <= '9')
			count = 10 * count + *found - '0';
	spawned_done(&spawned);
	return count;
}

static void regions_and_work_of_libkwhy_reach_the_recording(void **state)
{
	const char *const words[] = {"record", "-q", "-o", place("a"), "--", KWHY_REGIONS_PROGRAM, NULL};
	struct spawned spawned = spawn_run(
		&(struct spawn){.words = words, .environment = "KWHY_INJECT=" KWHY_INJECT_LIBRARY});
	json_t *report, *work;

	(void)state;
	spawned = assert_ends(spawned, 0, "");
	spawned_done(&spawned);
	assert_int_equal(count_records(place("a"), "range"), 3);
	report = report_of(place("a"));
	work = json_array_get(json_object_get(report, "work"), 0);
	assert_string_equal(json_string_value(json_object_get(work, "unit")), "tokens");
	assert_true(json_number_value(json_object_get(work, "count")) == 21);
	json_decref(report);
}

static void a_recording_may_become_one_file(void **state)
{
	json_t *report;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_done(SPAWN("record", "--one-file", "-q", "-o", place("a"), "--work", "tokens=9", "--",
				    "sleep", "0.5"),
			0, "");
	assert_true(is_file(place("a")) && is_file(place("a.old")));
	assert_false(is_there(place("a.packed")) || is_there(place("a.parts")));
	assert_done(SPAWN("verify", place("a")), 0, "");
	report = report_of(place("a"));
	assert_true(json_number_value(json_object_get(energy_of(report), "measured_nj")) > 50e9);
	json_decref(report);
	assert_int_equal(unlink(place("a")), 0);
	assert_int_equal(unlink(place("a.old")), 0);
}

static struct spawned record_loop(const char *const *words)
{
	struct spawned spawned;

	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/h200_of_fake_cuda.txt", 1);
	spawned = spawn_run(
		&(struct spawn){.words = words, .environment = "KWHY_INJECT=" KWHY_INJECT_LIBRARY});
	use_steady_load();
	return spawned;
}

#define FAKE_CUDA "export KWHY_CUPTI=" KWHY_FAKE_CUPTI " LD_LIBRARY_PATH=" KWHY_FAKE_CUDA_DIR "; "

/* Launches that the program says it made, all of its runs together. */
static long count_launches(const char *output)
{
	long count = 0;

	for (const char *at = output; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		count += strtol(at, NULL, 10);
	return count;
}

static void random_windows_see_their_share_of_two_processes(void **state)
{
	static const char command[] = FAKE_CUDA KWHY_FAKE_PROGRAM " cuda loop:1500 & " KWHY_FAKE_PROGRAM
								  " cuda loop:1500; wait";
	const char *const words[] = {"record", "-q", "--duty", "25%", "--window", "0.02", "-o", place("a"),
		"--", "sh", "-c", command, NULL};
	struct spawned spawned = record_loop(words);
	const double share_ratio = (double)count_records(place("a"), "kernel") /
		(double)count_launches(spawned.out.data);

	(void)state;
	assert_int_equal(spawned.exit, 0);
	spawned_done(&spawned);
	/* Lead-in of 5 ms among windows of 20 ms, and a few dozen windows alone. */
	if (share_ratio < 0.15 || share_ratio > 0.6)
		fail_msg("%f of the kernels are recorded", share_ratio);
	assert_true(count_records(place("a"), "coverage") > 20);
	assert_int_equal(count_records(place("a"), "selection"), 4);
	assert_true(count_records(place("a"), "cost") >= 2 * 5 + 2);
	assert_done(SPAWN("report", place("a")), 0, "");
}

static void activity_keeps_to_delay_and_duration(void **state)
{
	const char *const words[] = {"record", "-q", "--delay", "0.6", "--duration", "0.4", "-o", place("a"),
		"--", "sh", "-c", FAKE_CUDA KWHY_FAKE_PROGRAM " cuda loop:1500", NULL};
	struct spawned spawned = record_loop(words);
	const double share_ratio = (double)count_records(place("a"), "kernel") /
		(double)count_launches(spawned.out.data);

	(void)state;
	assert_int_equal(spawned.exit, 0);
	spawned_done(&spawned);
	if (share_ratio < 0.1 || share_ratio > 0.5)
		fail_msg("%f of the kernels are recorded", share_ratio);
	assert_int_equal(count_records(place("a"), "coverage"), 1);
	assert_done(SPAWN("report", place("a")), 0, "");
}

static void memory_is_recorded_where_that_was_asked_for(void **state)
{
	const char *const words[] = {"record", "-q", "--memory", "-o", place("a"), "--", "sh", "-c",
		FAKE_CUDA KWHY_FAKE_PROGRAM " cuda memory launch:3", NULL};
	struct spawned spawned = record_loop(words);

	(void)state;
	spawned = assert_ends(spawned, 0, "");
	spawned_done(&spawned);
	assert_int_equal(count_records(place("a"), "memory"), 2);
	assert_int_equal(count_records(place("a"), "kernel"), 3);
	assert_done(SPAWN("report", place("a")), 0, "");
}

/* An amount stated for one unit holds against what the command itself reports of it. */
static void work_that_a_command_reports_is_recorded_whatever_its_unit(void **state)
{
	json_t *report, *work;

	(void)state;
	assert_done(SPAWN("record", "-q", "-o", place("a"), "--work", "steps=5", "--", "sh", "-c",
			    "echo tokens 30 >>$KWHY_WORK_FILE; echo tokens 12 >>$KWHY_WORK_FILE; "
			    "echo steps 99 >>$KWHY_WORK_FILE; echo nonsense >>$KWHY_WORK_FILE"),
		0, "");
	report = report_of(place("a"));
	work = json_object_get(report, "work");
	assert_int_equal(json_array_size(work), 2);
	for (size_t i = 0; i < 2; i++) {
		const json_t *row = json_array_get(work, i);
		const bool is_steps = !strcmp(json_string_value(json_object_get(row, "unit")), "steps");

		assert_true(json_number_value(json_object_get(row, "count")) == (is_steps ? 5 : 42));
	}
	json_decref(report);
}

static void ranges_of_a_name_are_units_of_work(void **state)
{
	const char *const words[] = {"record", "-q", "--count", "steps=step*", "--count", "none=nothing",
		"-o", place("a"), "--", "sh", "-c",
		FAKE_CUDA KWHY_FAKE_PROGRAM
		" cuda range:step1 range:other range:step2 launch:3; " KWHY_FAKE_PROGRAM
		" cuda range:step1 launch:3",
		NULL};
	struct spawned spawned = record_loop(words);
	json_t *report, *work;

	(void)state;
	spawned = assert_ends(spawned, 0, "");
	spawned_done(&spawned);
	report = report_of(place("a"));
	work = json_object_get(report, "work");
	assert_int_equal(json_array_size(work), 1);
	assert_string_equal(json_string_value(json_object_get(json_array_get(work, 0), "unit")), "steps");
	assert_true(json_number_value(json_object_get(json_array_get(work, 0), "count")) == 2);
	json_decref(report);
}

static void activity_keeps_to_ranges_of_the_name(void **state)
{
	const char *const words[] = {"record", "-q", "--range", "step*", "-o", place("a"), "--", "sh", "-c",
		FAKE_CUDA KWHY_FAKE_PROGRAM
		" cuda off launch:100 open:step1 launch:7 close off launch:100 open:step2 "
		"open:step3 launch:20 close close open:other launch:3 close",
		NULL};
	struct spawned spawned = record_loop(words);

	(void)state;
	assert_int_equal(spawned.exit, 0);
	spawned_done(&spawned);
	/* After a range collection goes on for a moment: the three of the other range are there, too. */
	assert_in_range(count_records(place("a"), "kernel"), 27, 30);
	assert_int_equal(count_records(place("a"), "coverage"), 2);
	assert_done(SPAWN("report", place("a")), 0, "");
}

static void wrong_usage_is_said(void **state)
{
	(void)state;
	assert_done(SPAWN("record"), 2, "record needs a command");
	assert_done(SPAWN("record", "--max-size", "many", "--", "true"), 2, "--max-size takes bytes");
	assert_done(SPAWN("record", "--max-size", "9", "--", "true"), 2, "--max-size takes bytes");
	assert_done(SPAWN("record", "--delay", "-1", "--", "true"), 2, "--delay takes");
	assert_done(SPAWN("record", "--duration", "0", "--", "true"), 2, "--duration takes");
	assert_done(SPAWN("record", "--duty", "100%", "--", "true"), 2, "--duty takes");
	assert_done(SPAWN("record", "--window", "1", "--", "true"), 2, "goes with --duty");
	assert_done(SPAWN("record", "--range", "", "--", "true"), 2, "--range takes");
	assert_done(SPAWN("record", "--range", "a", "--duty", "9", "--", "true"), 2, "exclude each other");
	assert_done(SPAWN("record", "--count", "steps", "--", "true"), 2, "write UNIT=NAME");
	assert_done(SPAWN("record", "--graphs", "some", "--", "true"), 2, "--graphs takes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_meters_of_a_run_become_its_energy, end_one),
		cmocka_unit_test_teardown(gpus_that_the_command_cannot_see_are_left_out_with_a_note, end_one),
		cmocka_unit_test_teardown(gauges_are_summed_up, end_one),
		cmocka_unit_test_teardown(what_is_not_recorded_is_said, end_one),
		cmocka_unit_test_teardown(the_command_keeps_its_output_and_its_status, end_one),
		cmocka_unit_test_teardown(a_command_that_is_not_there_leaves_no_recording, end_one),
		cmocka_unit_test_teardown(a_recording_that_is_there_is_kept_as_the_old_one, end_one),
		cmocka_unit_test_teardown(what_is_no_recording_is_left_alone, end_one),
		cmocka_unit_test_teardown(work_is_recorded_with_the_run, end_one),
		cmocka_unit_test_teardown(the_library_is_named_to_the_command, end_one),
		cmocka_unit_test_teardown(what_two_processes_ran_and_their_power_is_one_recording, end_one),
		cmocka_unit_test_teardown(a_library_of_somebody_else_stays, end_one),
		cmocka_unit_test_teardown(progress_is_drawn_on_a_terminal, end_one),
		cmocka_unit_test_teardown(a_part_of_the_run_may_be_recorded, end_one),
		cmocka_unit_test_teardown(a_recorder_that_is_killed_leaves_what_it_saw, end_one),
		cmocka_unit_test_teardown(a_rank_with_a_recorder_of_its_own_has_a_folder_of_its_own, end_one),
		cmocka_unit_test_teardown(an_interrupt_ends_the_command_and_the_recording_in_order, end_one),
		cmocka_unit_test_teardown(regions_and_work_of_libkwhy_reach_the_recording, end_one),
		cmocka_unit_test_teardown(a_recording_may_become_one_file, end_one),
		cmocka_unit_test_teardown(random_windows_see_their_share_of_two_processes, end_one),
		cmocka_unit_test_teardown(activity_keeps_to_delay_and_duration, end_one),
		cmocka_unit_test_teardown(memory_is_recorded_where_that_was_asked_for, end_one),
		cmocka_unit_test_teardown(work_that_a_command_reports_is_recorded_whatever_its_unit, end_one),
		cmocka_unit_test_teardown(ranges_of_a_name_are_units_of_work, end_one),
		cmocka_unit_test_teardown(activity_keeps_to_ranges_of_the_name, end_one),
		cmocka_unit_test(wrong_usage_is_said),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
