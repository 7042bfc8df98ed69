/* SPDX-License-Identifier: Apache-2.0 */
/* Tests `kwhy record`: readings of meters, output and status of the command, and the recording as a file. */
#include "base/clock.h"
#include "record_folder.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>

static bool is_file(const char *path)
{
	struct stat facts;

	return !stat(path, &facts) && S_ISREG(facts.st_mode);
}

static double metered_s(const json_t *energy)
{
	return (json_number_value(json_object_get(energy, "end_ns")) -
		       json_number_value(json_object_get(energy, "start_ns"))) *
		1e-9;
}

/*
 * Returns the time, s, of the only account in the report on a run without activities. All metered energy is
 * on that account.
 */
static double outside_s(const json_t *report)
{
	const json_t *device = json_array_get(json_object_get(report, "devices"), 0);
	const json_t *accounts = json_object_get(device, "accounts");

	assert_int_equal(json_array_size(accounts), 1);
	return json_number_value(json_object_get(json_array_get(accounts, 0), "time_ns")) * 1e-9;
}

static void the_meters_of_a_run_become_its_energy(void **state)
{
	json_t *report;
	double joules;

	(void)state;
	assert_done(SPAWN("record", "-o", place("a"), "--", "sleep", "1"), 0,
		"What the program ran on its devices is not recorded: KWHY_INJECT");
	assert_done(SPAWN("verify", place("a")), 0, "");
	report = report_of(place("a"));
	joules = json_number_value(json_object_get(energy_of(report), "measured_nj")) * 1e-9;
	assert_true(metered_s(energy_of(report)) >= 1);
	assert_true(fabs(joules / metered_s(energy_of(report)) - 300) < 3);
	json_decref(report);
}

static void a_run_without_device_work_is_not_said_to_have_nothing_to_save(void **state)
{
	struct spawned spawned;

	(void)state;
	assert_done(SPAWN("record", "-q", "--power-only", "-o", place("a"), "--", "true"), 0, "");
	spawned = SPAWN("report", place("a"));
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(
		spawned.out.data, "What the program ran on its devices is not recorded: --power-only"));
	assert_null(strstr(spawned.out.data, "nothing found"));
	spawned_done(&spawned);
}

static void a_run_shorter_than_a_tick_has_its_own_energy_alone(void **state)
{
	const int64_t before_ns = kwhy_clock_mono_ns();
	int64_t after_ns;
	json_t *report;

	(void)state;
	assert_done(SPAWN("record", "-q", "--power-only", "-o", place("a"), "--", "true"), 0, "");
	after_ns = kwhy_clock_mono_ns();
	report = report_of(place("a"));
	assert_true(metered_s(energy_of(report)) > 0);
	assert_true(metered_s(energy_of(report)) < (double)(after_ns - before_ns) * 1e-9);
	assert_float_equal(outside_s(report), metered_s(energy_of(report)), 1e-6);
	json_decref(report);
}

static void a_recording_that_is_killed_is_of_the_command_from_its_start(void **state)
{
	const int64_t before_ns = kwhy_clock_mono_ns();
	int64_t after_ns;
	json_t *report;

	(void)state;
	assert_done(SPAWN("record", "-q", "--power-only", "-o", place("a"), "--", "sh", "-c",
			    "sleep 2.5; kill -9 $PPID"),
		-SIGKILL, "");
	after_ns = kwhy_clock_mono_ns();
	report = report_of(place("a"));
	assert_true(metered_s(energy_of(report)) > 0);
	assert_true(metered_s(energy_of(report)) < (double)(after_ns - before_ns) * 1e-9);
	json_decref(report);
}

static void a_gpu_that_is_lost_meanwhile_is_told_of_at_the_end_and_in_the_report(void **state)
{
	static const char before[] = " s recorded, ";
	const char *mean_w;
	struct spawned spawned;

	(void)state;
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/lost.txt", 1);
	assert_done(SPAWN("record", "-q", "--power-only", "-o", place("a"), "--", "sleep", "3"), 0,
		"kwhy: device 0 fell off the bus: nothing of it was metered from ");
	spawned = SPAWN("report", "-v", place("a"));
	assert_non_null(strstr(spawned.out.data, "device 0 fell off the bus"));
	mean_w = strstr(spawned.out.data, before);
	assert_non_null(mean_w);
	/*
	 * The GPU draws 200 W. On a busy machine readings are taken late, which can change the mean by 10 %.
	 */
	assert_in_range(strtol(mean_w + strlen(before), NULL, 10), 180, 220);
	spawned_done(&spawned);
	use_steady_load();
}

static void a_gpu_that_is_divided_meanwhile_is_told_of_at_the_end_and_in_the_report(void **state)
{
	static const char words[] = "device 0 was divided anew or made whole (MIG) while the command ran";
	struct spawned spawned;

	(void)state;
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/mig_meanwhile.txt", 1);
	assert_done(SPAWN("record", "-q", "--power-only", "-o", place("a"), "--", "sleep", "1.2"), 0, words);
	spawned = SPAWN("report", "-v", place("a"));
	assert_non_null(strstr(spawned.out.data, words));
	spawned_done(&spawned);
	use_steady_load();
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
	spawned = SPAWN("report", "-v", place("a"));
	assert_non_null(strstr(spawned.out.data, "GPU 0 left out"));
	spawned_done(&spawned);
	use_steady_load();
}

static void gauges_are_summed_up(void **state)
{
	int64_t before_ns, readings_max;
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
	before_ns = kwhy_clock_mono_ns();
	assert_done(
		SPAWN("record", "-q", "--gauges", "0.2", "-o", place("often"), "--", "sleep", "2"), 0, "");
	readings_max = (kwhy_clock_mono_ns() - before_ns) / 200000000 + 2;
	report = report_of(place("often"));
	remove_recording("often");
	gauge = json_array_get(
		json_object_get(json_array_get(json_object_get(report, "devices"), 0), "gauges"), 0);
	assert_in_range(json_integer_value(json_object_get(gauge, "count")), 5, readings_max);
	json_decref(report);
	spawned = SPAWN("report", "-v", place("a"));
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
	spawned = SPAWN("report", "-v", place("a"));
	assert_non_null(strstr(spawned.out.data, "What the program ran on its devices is not recorded"));
	spawned_done(&spawned);
	spawned = SPAWN("record", "-q", "--power-only", "-o", place("a"), "--", "true");
	assert_string_equal(spawned.err.data, "");
	spawned_done(&spawned);
}

static void without_a_gpu_the_command_runs_and_the_report_says_why_nothing_is_known(void **state)
{
	struct spawned spawned;

	(void)state;
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/no_gpu.txt", 1);
	spawned = SPAWN("record", "--device", "0", "-o", place("a"), "--", "true");
	assert_int_equal(spawned.exit, 1);
	assert_non_null(strstr(spawned.err.data, "there is no device 0 with a meter here"));
	spawned_done(&spawned);
	assert_done(SPAWN("record", "--power-only", "-o", place("a"), "--", "true"), 0,
		"time only: no power readings");
	spawned = SPAWN("report", "-v", place("a"));
	assert_memory_equal(spawned.out.data, "What it cost  a\n", 16); /* the heading names no device */
	assert_non_null(strstr(spawned.out.data, "the NVIDIA driver runs but shows no GPU"));
	spawned_done(&spawned);
	use_steady_load();
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

/*
 * Damages a copy of a bundled recording at two places: a bit in its middle is changed, and its last three
 * bytes are missing.
 */
static void what_is_damaged_is_counted_as_json_too(void **state)
{
	struct kwhy_text bytes = {0};
	struct kwhy_error error;
	struct spawned spawned;
	json_t *answer, *place_of;

	(void)state;
	assert_int_equal(
		kwhy_file_read(KWHY_SOURCE_DIR "/examples/recordings/decode.kwhy", 1 << 26, &bytes, &error),
		KWHY_OK);
	bytes.data[bytes.length / 2] ^= 1;
	assert_int_equal(kwhy_file_write(place("half"), bytes.data, bytes.length - 3, &error), KWHY_OK);
	kwhy_text_done(&bytes);
	spawned = assert_ends(SPAWN("verify", place("half"), "--json"), 1, "");
	answer = json_loadb(spawned.out.data, spawned.out.length, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(answer, "schema")), "kwhy.verify/1");
	assert_true(json_is_false(json_object_get(answer, "is_whole")));
	assert_true(json_is_false(json_object_get(answer, "is_cut_short")));
	assert_int_equal(json_integer_value(json_object_get(answer, "damaged_places")), 2);
	assert_int_equal(json_array_size(json_object_get(answer, "places")), 2);
	place_of = json_array_get(json_object_get(answer, "places"), 0);
	assert_true(json_integer_value(json_object_get(place_of, "byte")) > 0);
	assert_true(json_is_string(json_object_get(place_of, "why")));
	assert_true(json_integer_value(json_object_get(json_object_get(answer, "records"), "kernel")) > 0);
	assert_int_equal(json_integer_value(json_object_get(answer, "unended_processes")), 1);
	json_decref(answer);
	spawned_done(&spawned);
	spawned = assert_ends(SPAWN("report", place("half")), 1, "read what is whole with --partial");
	spawned_done(&spawned);
	unlink(place("half"));
}

/*
 * A changed first byte hides the format. The file is then taken for a recording because of its extension,
 * .kwhy.
 */
static void what_is_damaged_from_its_start_is_read_with_partial(void **state)
{
	struct kwhy_text bytes = {0};
	struct kwhy_error error;
	struct spawned spawned;

	(void)state;
	assert_int_equal(
		kwhy_file_read(KWHY_SOURCE_DIR "/examples/recordings/decode.kwhy", 1 << 26, &bytes, &error),
		KWHY_OK);
	bytes.data[0] ^= 1;
	assert_int_equal(kwhy_file_write(place("start.kwhy"), bytes.data, bytes.length, &error), KWHY_OK);
	kwhy_text_done(&bytes);
	assert_done(SPAWN("report", "-q", place("start.kwhy")), 1, "is damaged at byte 0");
	spawned = assert_ends(SPAWN("report", "-v", "-q", "--partial", place("start.kwhy")), 0, "");
	assert_non_null(strstr(spawned.out.data, "time whose records are lost counts as idle"));
	spawned_done(&spawned);
	unlink(place("start.kwhy"));
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

/* Progress is shown only if standard error is a terminal, which script(1) provides here. */
static void progress_is_drawn_on_a_terminal(void **state)
{
	struct kwhy_text shown = {0};
	struct kwhy_error error;
	char command[1200];

	(void)state;
	snprintf(command, sizeof(command),
		"script -qec '%s record -q --progress -o %s -- sleep 2.5' /dev/null >%s </dev/null",
		KWHY_PROGRAM, place("a"), place("shown"));
	assert_int_equal(system(command), 0);
	assert_int_equal(kwhy_file_read(place("shown"), 65536, &shown, &error), KWHY_OK);
	assert_non_null(strstr(shown.data, "kwhy: recording "));
	assert_non_null(strstr(shown.data, " s, "));
	assert_non_null(strstr(shown.data, "B, 300 W"));
	kwhy_text_done(&shown);
	unlink(place("shown"));
}

static void a_part_of_the_run_may_be_recorded(void **state)
{
	json_t *report, *energy;
	double seconds;

	(void)state;
	assert_done(SPAWN("record", "-q", "-o", place("a"), "--delay", "0.5", "--duration", "1", "--",
			    "sleep", "4"),
		0, "");
	report = report_of(place("a"));
	energy = energy_of(report);
	seconds = (json_number_value(json_object_get(energy, "end_ns")) -
			  json_number_value(json_object_get(energy, "start_ns"))) *
		1e-9;
	assert_true(seconds > 0.1 && seconds < 3);
	json_decref(report);
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

/*
 * While a recording is packed, its file has the suffix ".packed-" and eight digits, with which this name is
 * too long for the file system. So packing fails: the recording stays a folder, and kwhy exits with the
 * command's status.
 */
static void a_recording_that_cannot_become_one_file_stays_a_folder_and_the_status_the_commands(void **state)
{
	char name[NAME_MAX - 5 + 1], path[2 * NAME_MAX];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_done(SPAWN("record", "--one-file", "-q", "-o", path, "--", "sh", "-c", "exit 7"), 7,
		"stays a folder");
	assert_done(SPAWN("verify", path), 0, "");
	rename(path, place("a"));
}

static void slashes_behind_the_folder_are_no_part_of_its_name(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		assert_done(SPAWN("record", "-q", "-o", place("a//"), "--", "true"), 0, "");
	assert_done(SPAWN("verify", place("a")), 0, "");
	assert_done(SPAWN("verify", place("a.old")), 0, "");
	assert_done(SPAWN("record", "-q", "--one-file", "-o", place("a/"), "--", "true"), 0, "");
	assert_true(is_file(place("a")));
	assert_int_equal(unlink(place("a")), 0);
}

/*
 * Amounts that the command writes to KWHY_WORK_FILE are added up by unit. For a unit that --work states, they
 * are ignored.
 */
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

static void what_a_link_in_place_of_the_old_recording_leads_to_stays(void **state)
{
	(void)state;
	assert_done(SPAWN("record", "-q", "-o", place("other"), "--", "true"), 0, "");
	assert_int_equal(symlink("other", place("a.old")), 0);
	assert_done(SPAWN("record", "-q", "-o", place("a"), "--", "true"), 0, "");
	assert_done(SPAWN("record", "-q", "-o", place("a"), "--", "true"), 2, "a.old' is there already");
	assert_done(SPAWN("verify", place("a")), 0, "");
	assert_done(SPAWN("verify", place("other")), 0, "");
	assert_int_equal(unlink(place("a.old")), 0);
	remove_recording("other");
}

static void a_link_leads_to_the_recording_and_stays(void **state)
{
	(void)state;
	assert_int_equal(symlink("real", place("a")), 0);
	for (int i = 0; i < 3; i++)
		assert_done(SPAWN("record", "-q", "-o", place("a"), "--", "true"), 0, "");
	assert_int_equal(unlink(place("a")), 0); /* fails if a folder took the link's place */
	assert_done(SPAWN("verify", place("real")), 0, "");
	assert_done(SPAWN("verify", place("real.old")), 0, "");
	remove_recording("real");
	remove_recording("real.old");
}

static void of_two_recorders_of_a_folder_the_second_runs_no_command(void **state)
{
	(void)state;
	assert_done(SPAWN("record", "-q", "-o", place("a"), "--", KWHY_PROGRAM, "record", "-q", "-o",
			    place("a"), "--", "mkdir", place("ran")),
		2, "is written by another kwhy");
	assert_false(is_there(place("ran")));
	assert_done(SPAWN("verify", place("a")), 0, "");
	assert_false(is_there(place("a.old")));
}

static void wrong_usage_is_said(void **state)
{
	(void)state;
	assert_done(SPAWN("record"), 2, "record needs a command");
	assert_done(SPAWN("record", "--max-size", "many", "--", "true"), 2, "--max-size takes bytes");
	assert_done(SPAWN("record", "--max-size", "9", "--", "true"), 2, "--max-size takes bytes");
	assert_done(SPAWN("record", "--delay", "-1", "--", "true"), 2, "--delay takes");
	assert_done(SPAWN("record", "--duration", "0", "--", "true"), 2, "--duration takes");
	assert_done(SPAWN("record", "--gauges", "0.1", "--", "true"), 2, "--gauges takes");
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
		CASE(the_meters_of_a_run_become_its_energy),
		CASE(a_run_without_device_work_is_not_said_to_have_nothing_to_save),
		CASE(a_run_shorter_than_a_tick_has_its_own_energy_alone),
		CASE(a_recording_that_is_killed_is_of_the_command_from_its_start),
		CASE(a_gpu_that_is_lost_meanwhile_is_told_of_at_the_end_and_in_the_report),
		CASE(a_gpu_that_is_divided_meanwhile_is_told_of_at_the_end_and_in_the_report),
		CASE(gpus_that_the_command_cannot_see_are_left_out_with_a_note),
		CASE(gauges_are_summed_up),
		CASE(what_is_not_recorded_is_said),
		CASE(without_a_gpu_the_command_runs_and_the_report_says_why_nothing_is_known),
		CASE(the_command_keeps_its_output_and_its_status),
		CASE(what_is_damaged_is_counted_as_json_too),
		CASE(what_is_damaged_from_its_start_is_read_with_partial),
		CASE(work_is_recorded_with_the_run),
		CASE(progress_is_drawn_on_a_terminal),
		CASE(a_part_of_the_run_may_be_recorded),
		CASE(a_rank_with_a_recorder_of_its_own_has_a_folder_of_its_own),
		CASE(a_recording_may_become_one_file),
		CASE(a_recording_that_cannot_become_one_file_stays_a_folder_and_the_status_the_commands),
		CASE(what_a_link_in_place_of_the_old_recording_leads_to_stays),
		CASE(a_link_leads_to_the_recording_and_stays),
		CASE(of_two_recorders_of_a_folder_the_second_runs_no_command),
		CASE(slashes_behind_the_folder_are_no_part_of_its_name),
		CASE(work_that_a_command_reports_is_recorded_whatever_its_unit),
		CASE(wrong_usage_is_said),
	};

	return kwhy_test_main(tests, begin, end);
}
