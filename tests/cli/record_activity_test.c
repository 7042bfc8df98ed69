/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests `kwhy record` of commands that load its injected library: activities, the selected part of the run,
 * ranges, and reported work.
 */
#include "base/boot.h"
#include "record_folder.h"

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

#define FAKE_CUDA "export KWHY_CUPTI=" KWHY_FAKE_CUPTI " LD_LIBRARY_PATH=" KWHY_FAKE_CUDA_DIR "; "

/* Returns the number of records of this kind that `kwhy verify` counts. */
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

/* Tests launcher, library and report together on a fake CUDA, CUPTI and NVML. */
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

/*
 * Two ranks run on one device, one after the other. The report must list the work of each under its own
 * process.
 */
static void ranks_are_told_apart_by_their_process_and_host(void **state)
{
	static const char command[] = FAKE_CUDA "RANK=0 WORLD_SIZE=2 " KWHY_FAKE_PROGRAM
						" cuda launch:50 && RANK=1 WORLD_SIZE=2 " KWHY_FAKE_PROGRAM
						" cuda launch:7";
	const char *const words[] = {"record", "-q", "-o", place("a"), "--", "sh", "-c", command, NULL};
	struct spawned spawned = spawn_run(
		&(struct spawn){.words = words, .environment = "KWHY_INJECT=" KWHY_INJECT_LIBRARY});
	char host[64] = "", row[200];
	json_t *report, *streams, *stream;
	size_t i, of_rank[2] = {0, 0};

	(void)state;
	gethostname(host, sizeof(host) - 1);
	assert_done(spawned, 0, "");
	report = report_of(place("a"));
	streams = json_object_get(report, "streams");
	assert_int_equal(json_array_size(streams), 2);
	json_array_foreach(streams, i, stream)
	{
		const json_t *process = json_array_get(json_object_get(report, "processes"),
			(size_t)json_integer_value(json_object_get(stream, "process")));
		json_int_t rank = json_integer_value(json_object_get(process, "rank"));

		assert_true(json_integer_value(json_object_get(process, "pid")) > 0);
		assert_string_equal(json_string_value(json_object_get(process, "host")), host);
		assert_int_equal(json_integer_value(json_object_get(process, "world_size")), 2);
		assert_in_range(rank, 0, 1);
		of_rank[rank] = (size_t)json_integer_value(json_object_get(stream, "count"));
	}
	assert_int_equal(of_rank[0], 50);
	assert_int_equal(of_rank[1], 7);
	json_decref(report);
	spawned = assert_ends(SPAWN("report", "-v", place("a")), 0, "");
	snprintf(row, sizeof(row), "  %s", host);
	assert_non_null(strstr(spawned.out.data, "\nProcesses"));
	assert_non_null(strstr(strstr(spawned.out.data, "\nProcesses"), row));
	spawned_done(&spawned);
}

/* Returns whether a file of a recording's folder contains the text, which is stored there uncompressed. */
static bool holds(const char *path, const char *text)
{
	struct kwhy_text bytes = {0};
	struct kwhy_error error;
	bool found;

	assert_int_equal(kwhy_file_read(path, 1 << 20, &bytes, &error), KWHY_OK);
	found = memmem(bytes.data, bytes.length, text, strlen(text)) != NULL;
	kwhy_text_done(&bytes);
	return found;
}

/*
 * Each file of the recording states the machine's boot id. It distinguishes machines with the same host name,
 * and is the same in all containers on one machine.
 */
static void launcher_and_program_state_which_start_of_the_machine_it_was(void **state)
{
	static const char command[] = FAKE_CUDA KWHY_FAKE_PROGRAM " cuda launch:5";
	const char *const words[] = {"record", "-q", "-o", place("a"), "--", "sh", "-c", command, NULL};
	char start[KWHY_BOOT_BYTES], path[600];
	size_t files = 0;
	struct dirent *entry;
	DIR *recording;

	(void)state;
	kwhy_boot_read(NULL, start);
	if (!start[0])
		kwhy_skip("this machine has no boot id");
	assert_done(
		spawn_run(&(struct spawn){.words = words, .environment = "KWHY_INJECT=" KWHY_INJECT_LIBRARY}),
		0, "");
	recording = opendir(place("a"));
	assert_non_null(recording);
	while ((entry = readdir(recording))) {
		if (!strstr(entry->d_name, ".blocks"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", place("a"), entry->d_name);
		assert_true(holds(path, start));
		files++;
	}
	closedir(recording);
	assert_int_equal(files, 2);
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

static struct spawned record_loop(const char *const *words)
{
	struct spawned spawned;

	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/h200_of_fake_cuda.txt", 1);
	spawned = spawn_run(
		&(struct spawn){.words = words, .environment = "KWHY_INJECT=" KWHY_INJECT_LIBRARY});
	use_steady_load();
	return spawned;
}

/*
 * Returns the sum of the numbers at the starts of the lines of `output`: each of the programs prints how many
 * kernels it launched.
 */
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
	/*
	 * 25 % of the time is selected in random windows of 20 ms. As these are only a few dozen, fewer on a
	 * busy machine, the recorded share of the kernels differs much from 25 %.
	 */
	if (share_ratio < 0.02 || share_ratio > 0.8)
		fail_msg("%f of the kernels are recorded", share_ratio);
	assert_true(count_records(place("a"), "coverage") > 4);
	assert_int_equal(count_records(place("a"), "selection"), 4);
	assert_true(count_records(place("a"), "cost") >= 2 * 5 + 2);
	assert_done(SPAWN("report", "-v", place("a")), 0, "");
}

static void activity_keeps_to_delay_and_duration(void **state)
{
	const char *const words[] = {"record", "-q", "--delay", "1", "--duration", "1.5", "-o", place("a"),
		"--", "sh", "-c",
		FAKE_CUDA KWHY_FAKE_PROGRAM " cuda off launch:100 on loop:300 off launch:100", NULL};
	struct spawned spawned = record_loop(words);

	(void)state;
	assert_int_equal(spawned.exit, 0);
	/*
	 * Collection begins shortly before the selected window, so launches before the window may be
	 * recorded, too.
	 */
	assert_in_range(count_records(place("a"), "kernel"), 1, count_launches(spawned.out.data));
	spawned_done(&spawned);
	assert_int_equal(count_records(place("a"), "coverage"), 1);
	assert_done(SPAWN("report", "-v", place("a")), 0, "");
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
	assert_done(SPAWN("report", "-v", place("a")), 0, "");
}

static void calls_are_left_out_where_that_was_asked_for(void **state)
{
	const char *const words[] = {"record", "-q", "--no-calls", "-o", place("a"), "--", "sh", "-c",
		FAKE_CUDA KWHY_FAKE_PROGRAM " cuda launch:3", NULL};
	struct spawned spawned = record_loop(words);

	(void)state;
	assert_int_equal(spawned.exit, 0);
	spawned_done(&spawned);
	assert_int_equal(count_records(place("a"), "kernel"), 3);
	assert_int_equal(count_records(place("a"), "call"), 0);
	spawned = SPAWN("report", "-v", place("a"));
	assert_non_null(strstr(spawned.out.data, "--no-calls"));
	spawned_done(&spawned);
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
	/*
	 * 7 + 20 launches are in ranges whose names match step*. Collection ends shortly after a range does,
	 * so the 3 launches in the range "other", which follow at once, may be recorded, too.
	 */
	assert_in_range(count_records(place("a"), "kernel"), 27, 30);
	assert_int_equal(count_records(place("a"), "coverage"), 2);
	assert_done(SPAWN("report", "-v", place("a")), 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_library_is_named_to_the_command),
		CASE(what_two_processes_ran_and_their_power_is_one_recording),
		CASE(ranks_are_told_apart_by_their_process_and_host),
		CASE(launcher_and_program_state_which_start_of_the_machine_it_was),
		CASE(a_library_of_somebody_else_stays),
		CASE(regions_and_work_of_libkwhy_reach_the_recording),
		CASE(random_windows_see_their_share_of_two_processes),
		CASE(activity_keeps_to_delay_and_duration),
		CASE(memory_is_recorded_where_that_was_asked_for),
		CASE(calls_are_left_out_where_that_was_asked_for),
		CASE(ranges_of_a_name_are_units_of_work),
		CASE(activity_keeps_to_ranges_of_the_name),
	};

	return kwhy_test_main(tests, begin, end);
}
