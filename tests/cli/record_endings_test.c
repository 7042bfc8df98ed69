/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests what is left of a new recording, and of an older one under the same name, if `kwhy record` fails, is
 * killed or cannot write.
 */
#include "record_folder.h"

#include <signal.h>
#include <sys/wait.h>

static void a_command_that_is_not_there_leaves_no_recording(void **state)
{
	(void)state;
	assert_done(SPAWN("record", "-o", place("a"), "--", "kwhy-nothing-of-that-name"), 127,
		"is in the folders of PATH");
	assert_false(is_there(place("a")));
}

static void an_empty_folder_that_was_there_stays_empty(void **state)
{
	(void)state;
	assert_int_equal(mkdir(place("a"), 0755), 0);
	assert_done(SPAWN("record", "-o", place("a"), "--", "kwhy-nothing-of-that-name"), 127,
		"is in the folders of PATH");
	assert_int_equal(rmdir(place("a")), 0);
}

static void a_recording_that_is_there_is_kept_as_the_old_one(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct spawned spawned = SPAWN("record", "-o", place("a"), "--", "true");

		assert_int_equal(spawned.exit, 0);
		if ((strstr(spawned.err.data, "kwhy: the earlier recording is now '") != NULL) != (i > 0))
			fail_msg("recording %d: %s", i, spawned.err.data);
		assert_true(i == 0 || strstr(spawned.err.data, "/a.old'"));
		assert_int_equal(strstr(spawned.err.data, "replaced the one before it") != NULL, i == 2);
		spawned_done(&spawned);
	}
	assert_done(SPAWN("verify", place("a")), 0, "");
	assert_done(SPAWN("verify", place("a.old")), 0, "");
}

static void where_an_old_recording_went_is_not_said_with_quiet(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct spawned spawned = SPAWN("record", "-q", "-o", place("a"), "--", "true");

		assert_null(strstr(spawned.err.data, "earlier recording"));
		spawned_done(&spawned);
	}
}

static void assert_work_of(const char *name, double count)
{
	json_t *report = report_of(place(name));
	json_t *work = json_array_get(json_object_get(report, "work"), 0);

	assert_true(json_number_value(json_object_get(work, "count")) == count);
	json_decref(report);
}

static void make_two_recordings(void)
{
	assert_done(SPAWN("record", "-q", "-o", place("a"), "--work", "steps=5", "--", "true"), 0, "");
	assert_done(SPAWN("record", "-q", "-o", place("a"), "--work", "steps=6", "--", "true"), 0, "");
}

static void assert_two_recordings(void)
{
	assert_work_of("a", 6);
	assert_work_of("a.old", 5);
}

static void a_command_that_is_not_there_puts_the_recordings_back_that_were(void **state)
{
	(void)state;
	make_two_recordings();
	assert_done(SPAWN("record", "-q", "-o", place("a"), "--", "kwhy-nothing-of-that-name"), 127,
		"is in the folders of PATH");
	assert_two_recordings();
}

/* A limit of 16 bytes on the size of files makes the first write to each file of the recording fail. */
static void a_recording_that_cannot_begin_leaves_those_that_were(void **state)
{
	char command[1200];

	(void)state;
	make_two_recordings();
	snprintf(command, sizeof(command), "prlimit --fsize=16 %s record -q -o %s -- true 2>/dev/null",
		KWHY_PROGRAM, place("a"));
	for (int i = 0; i < 2; i++)
		assert_int_equal(WEXITSTATUS(system(command)), 1);
	assert_two_recordings();
}

static void what_has_the_name_of_the_old_recording_and_is_none_is_left_alone(void **state)
{
	struct kwhy_error error;

	(void)state;
	assert_done(SPAWN("record", "-q", "-o", place("a"), "--", "true"), 0, "");
	assert_int_equal(kwhy_file_write(place("a.old"), "mine", 4, &error), KWHY_OK);
	assert_done(SPAWN("record", "-q", "-o", place("a"), "--", "true"), 2,
		"a.old' is there already and is not a recording");
	assert_done(SPAWN("verify", place("a")), 0, "");
	assert_int_equal(unlink(place("a.old")), 0);
}

static void what_is_no_recording_is_left_alone(void **state)
{
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_file_write(place("a"), "mine", 4, &error), KWHY_OK);
	assert_done(SPAWN("record", "-o", place("a"), "--", "true"), 2,
		"is there already and is not a recording");
	assert_int_equal(unlink(place("a")), 0);
}

/* The command kills its parent process, `kwhy record`. */
static void a_recorder_that_is_killed_leaves_what_it_saw(void **state)
{
	struct spawned spawned = SPAWN(
		"record", "-o", place("a"), "--", "sh", "-c", "sleep 2.5; kill -9 $PPID");
	json_t *report;

	(void)state;
	assert_int_equal(spawned.exit, -SIGKILL);
	spawned_done(&spawned);
	report = report_of(place("a"));
	assert_true(json_number_value(json_object_get(energy_of(report), "measured_nj")) > 100e9);
	json_decref(report);
	spawned = SPAWN("report", "-v", place("a"));
	assert_non_null(strstr(spawned.out.data, "did not end the recording"));
	spawned_done(&spawned);
	spawned = assert_ends(SPAWN("verify", place("a")), 1, "");
	assert_non_null(strstr(spawned.out.data, "cut short: 1 of 1 processes did not end in order\n"));
	spawned_done(&spawned);
}

static void an_interrupt_ends_the_command_and_the_recording_in_order(void **state)
{
	(void)state;
	assert_done(SPAWN("record", "-o", place("a"), "--", "sh", "-c", "kill -TERM $PPID; exec sleep 60"),
		143, "Recorded in ");
	assert_done(SPAWN("verify", place("a")), 0, "");
}

static void a_request_to_end_before_the_command_starts_leaves_all_as_it_was(void **state)
{
	const char *const words[] = {"record", "-q", "-o", place("a"), "--", "sh", "-c", "echo ran", NULL};
	struct spawned spawned;

	(void)state;
	assert_done(SPAWN("record", "-q", "-o", place("a"), "--", "true"), 0, "");
	spawned = assert_ends(spawn_run(&(struct spawn){.words = words, .pending = SIGTERM}), 143,
		"interrupted by signal 15 (Terminated)");
	assert_string_equal(spawned.out.data, "");
	spawned_done(&spawned);
	assert_done(SPAWN("verify", place("a")), 0, "");
	assert_false(is_there(place("a.old")));
}

/*
 * The command limits the file sizes of its parent process, `kwhy record`, whose next writes fail then as on a
 * full disk.
 */
static void a_disk_that_fills_leaves_what_was_recorded_and_the_status(void **state)
{
	struct spawned spawned;
	json_t *report;

	(void)state;
	spawned = assert_ends(SPAWN("record", "-o", place("a"), "--", "sh", "-c",
				      "sleep 1.3; prlimit --pid $PPID --fsize=64 && sleep 1.3; exit 7"),
		1, "meters.blocks': File too large; ");
	assert_non_null(strstr(spawned.err.data, "' ended with status 7\n"));
	assert_non_null(strstr(spawned.err.data, "\nRecorded in "));
	spawned_done(&spawned);
	report = report_of(place("a"));
	assert_true(json_number_value(json_object_get(energy_of(report), "measured_nj")) > 0);
	json_decref(report);
}

static void a_recording_that_was_removed_meanwhile_is_a_failure(void **state)
{
	static const char *const scripts[] = {"rm -r $0; exit 7", "mv $0 $0.old; exit 7"};
	struct spawned spawned;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		spawned = assert_ends(SPAWN("record", "--power-only", i % 2 ? "-q" : "--one-file", "-o",
					      place("a"), "--", "sh", "-c", scripts[i / 2], place("a")),
			1, "a/meters.blocks' is gone");
		assert_non_null(strstr(spawned.err.data, "' ended with status 7\n"));
		assert_null(strstr(spawned.err.data, "cannot"));
		spawned_done(&spawned);
		remove_recording("a.old");
	}
}

/*
 * With stdout and stderr closed, no file of the recording may get their descriptors, or messages would be
 * written into it.
 */
static void messages_to_what_the_starter_closed_are_not_in_the_recording(void **state)
{
	char command[1200];

	(void)state;
	snprintf(command, sizeof(command),
		"%s record -q -o %s -- sh -c 'echo out; echo err >&2; exit 3' >&- 2>&-", KWHY_PROGRAM,
		place("a"));
	assert_int_equal(WEXITSTATUS(system(command)), 3);
	assert_done(SPAWN("verify", place("a")), 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_command_that_is_not_there_leaves_no_recording),
		CASE(an_empty_folder_that_was_there_stays_empty),
		CASE(a_recording_that_is_there_is_kept_as_the_old_one),
		CASE(where_an_old_recording_went_is_not_said_with_quiet),
		CASE(a_command_that_is_not_there_puts_the_recordings_back_that_were),
		CASE(a_recording_that_cannot_begin_leaves_those_that_were),
		CASE(what_has_the_name_of_the_old_recording_and_is_none_is_left_alone),
		CASE(what_is_no_recording_is_left_alone),
		CASE(a_recorder_that_is_killed_leaves_what_it_saw),
		CASE(an_interrupt_ends_the_command_and_the_recording_in_order),
		CASE(a_request_to_end_before_the_command_starts_leaves_all_as_it_was),
		CASE(a_disk_that_fills_leaves_what_was_recorded_and_the_status),
		CASE(a_recording_that_was_removed_meanwhile_is_a_failure),
		CASE(messages_to_what_the_starter_closed_are_not_in_the_recording),
	};

	return kwhy_test_main(tests, begin, end);
}
