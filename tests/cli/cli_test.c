/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "cmocka_all.h"
#include "report/shown_name.h"
#include "spawned_checks.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TINY KWHY_SOURCE_DIR "/tests/golden/tiny.csv"

static struct kwhy_error error;
static char folder[] = "kwhy-cli-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static const char *place(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int remove_folder(void **state)
{
	DIR *list = opendir(folder);
	struct dirent *entry;

	(void)state;
	while (list && (entry = readdir(list)))
		if (entry->d_name[0] != '.')
			unlink(place(entry->d_name));
	if (list)
		closedir(list);
	return rmdir(folder);
}

static size_t count_files(void)
{
	DIR *list = opendir(folder);
	struct dirent *entry;
	size_t count = 0;

	while ((entry = readdir(list)))
		count += entry->d_name[0] != '.';
	closedir(list);
	return count;
}

/*
 * Checks that the lines after the options use the 80 columns: a line may be short enough for the first word
 * of the next line only if that word ends in a colon or a comma, as a label in a list does.
 */
static void assert_last_paragraph_is_filled(const char *help)
{
	const char *line = strstr(help, "show this help\n");

	if (!line || !(line = strstr(line, "\n\n")))
		return;
	for (line += 2; strchr(line, '\n') && strchr(line, '\n')[1]; line = strchr(line, '\n') + 1) {
		size_t length = strcspn(line, "\n"), word = strcspn(line + length + 1, " \n");

		if (length + 1 + word <= 80 && line[length + word] != ':' && line[length + word] != ',')
			fail_msg("broken too early: %.*s", (int)(length + 1 + word), line);
	}
}

/*
 * Checks that `kwhy help` lists the command. A name of two words, such as "model cost", must be listed by
 * the help of its first word.
 */
static void assert_listed(const char *name)
{
	const char *blank = strchr(name, ' ');
	char first[64];

	if (!blank) {
		assert_says(SPAWN("help"), name);
		return;
	}
	snprintf(first, sizeof(first), "%.*s", (int)(blank - name), name);
	assert_says(SPAWN("help"), first);
	assert_says(SPAWN("help", first), name);
}

static void help_lists_every_command_and_each_has_its_own(void **state)
{
	static const char *const overviews[] = {NULL, "bench", "model", "tune"};
	struct spawned all = SPAWN("help", "--all");

	(void)state;
	assert_int_equal(all.exit, 0);
	for (char *line = strtok(all.out.data, "\n"); line; line = strtok(NULL, "\n")) {
		char *option = strchr(line, '\t') + 1;
		struct spawned help;

		option[-1] = '\0';
		*strchr(option, '\t') = '\0';
		help = SPAWN("help", line);
		assert_int_equal(help.exit, 0);
		assert_fits_80_columns(help.out.data);
		assert_last_paragraph_is_filled(help.out.data);
		assert_non_null(strstr(help.out.data, *option == '-' && option[1] ? option : line));
		spawned_done(&help);
		assert_listed(line);
	}
	spawned_done(&all);
	for (size_t i = 0; i < sizeof(overviews) / sizeof(overviews[0]); i++) {
		struct spawned overview = SPAWN("help", overviews[i]);

		assert_fits_80_columns(overview.out.data);
		spawned_done(&overview);
	}
	assert_says(SPAWN("--help"), "usage: kwhy COMMAND");
	assert_says(
		SPAWN("help"), "  tune       Find the setting of the GPU at which a command needs the least");
	assert_says(SPAWN("help"), "3 a condition of --fail-if holds or kwhy doctor has advice.");
	assert_says(SPAWN("help", "doctor"), "3: kwhy doctor has advice");
	assert_says(SPAWN("report", "--help"), "usage: kwhy report [OPTIONS] REC|TRACE...");
	assert_says(SPAWN("--version"), "kwhy " KWHY_VERSION "\n");
}

static void wrong_usage_exits_2_and_says_what_is_wrong(void **state)
{
	(void)state;
	assert_fails(spawn_run(&(struct spawn){.words = (const char *const[]){NULL}}), 2, "no command");
	assert_fails(SPAWN("reprot", TINY), 2, "did you mean 'report'?");
	assert_fails(SPAWN("--bogus"), 2, "unknown option '--bogus'");
	assert_fails(SPAWN("report"), 2, "report needs a trace");
	assert_fails(SPAWN("report", "--bogus", TINY), 2, "unknown option '--bogus'");
	assert_fails(SPAWN("report", "--outptu=x", TINY), 2, "'--outptu=x'; did you mean --output?");
	assert_fails(SPAWN("report", TINY, "-Z"), 2, "unknown option -Z");
	assert_fails(SPAWN("report", TINY, "--power"), 2, "--power needs its FILE");
	assert_fails(SPAWN("report", "--power", "--", TINY), 2, "--power needs its FILE before '--'");
	assert_fails(SPAWN("report", TINY, "--json=3"), 2, "--json takes no argument");
	assert_fails(SPAWN("report", TINY, "--seed", "-1"), 2, "--seed takes a whole number");
	assert_fails(SPAWN("report", TINY, "--intensity", "much"), 2, "--intensity takes a number");
	assert_fails(SPAWN("report", TINY, "--intensity", "-3"), 2, "cannot be negative");
	assert_fails(SPAWN("report", TINY, "--intensity", "3", "--place", "THA"), 2, "give one of them");
	assert_fails(SPAWN("report", TINY, "--place", "Atlantis"), 2, "Atlantis");
	assert_fails(SPAWN("report", TINY, "--price", "EUR"), 2, "0.30EUR");
	assert_fails(SPAWN("report", TINY, "--assume-power", "compute=hot"), 2, "states no power in watts");
	assert_fails(
		SPAWN("report", TINY, "--assume-power", "compute=-5"), 2, "states no power in watts from 0");
	assert_fails(SPAWN("report", TINY, "--assume-power", "-5"), 2,
		"'-5' is neither a number of watts from 0 to 100000 nor a pair");
	assert_fails(SPAWN("report", TINY, "--assume-power", "1e300"), 2, "is neither a number of watts");
	assert_fails(SPAWN("report", TINY, "--assume-power", "fan=5"), 2, "'fan=5' names no kind of time");
	assert_fails(SPAWN("report", TINY, "--assume-power", "warp=3"), 2, "names are compute");
	assert_fails(SPAWN("report", TINY, "--work", "tokens"), 2, "like tokens=4096");
	assert_fails(SPAWN("report", TINY, "--work", "tokens=0"), 2, "states no count above 0");
	assert_fails(SPAWN("report", TINY, "--work", "to ken=5"), 2, "has a space; write it without");
	assert_fails(SPAWN("report", TINY, "--csv", "everything"), 2, "accounts, findings or waits");
	assert_fails(SPAWN("report", TINY, "--json", "--csv", "accounts"), 2, "are two forms");
	assert_fails(SPAWN("report", TINY, "--threshold", "no-such.thing=3"), 2, "no-such");
	assert_fails(SPAWN("report", TINY, "-o", "x.pdf"), 2, "no form is known");
	assert_fails(SPAWN("report", TINY, "-o", "/nowhere/x.json"), 1, "whose folder is not there");
	assert_fails(SPAWN("bench", "ops", "--backend", "host", "--csv", "/nowhere/x.csv"), 1, "--csv");
	assert_fails(SPAWN("compare", TINY), 2, "two reports or traces");
	assert_fails(SPAWN("compare", TINY, TINY, "--fail-if", "energy!3"), 2, "--fail-if");
}

static void a_file_that_cannot_be_read_is_named(void **state)
{
	struct kwhy_text whole = {0};

	(void)state;
	assert_fails(SPAWN("report", "no-such-file.json"), 1, "no-such-file.json");
	assert_fails(SPAWN("report", KWHY_SOURCE_DIR "/cmake"), 1, "is a folder that holds no trace");
	assert_fails(SPAWN("report", TINY, "--power", "no-such-power.csv"), 1, "no-such-power.csv");
	assert_fails(SPAWN("report", TINY, "--power",
			     KWHY_SOURCE_DIR "/tests/fuzz/corpus/power_log/dmon-without-times.txt"),
		1,
		"looks like nvidia-smi dmon, but of its 2 rows none could be read; line 3: the row has no "
		"time");
	assert_fails(SPAWN("report", TINY, "--machine-profile", "no-such-profile.json"), 1,
		"no-such-profile.json");
	assert_fails(SPAWN("report", "/dev/null"), 1, "/dev/null");
	assert_int_equal(kwhy_file_read(TINY, 1 << 20, &whole, &error), KWHY_OK);
	assert_int_equal(
		kwhy_file_write(place("cut.csv"), whole.data, whole.length / 2 + 3, &error), KWHY_OK);
	assert_fails(SPAWN("report", place("cut.csv")), 1, "cut.csv");
	kwhy_text_done(&whole);
}

static void partial_takes_what_is_whole_and_says_so(void **state)
{
	struct kwhy_text whole = {0};
	struct spawned spawned;

	(void)state;
	assert_int_equal(kwhy_file_read(TINY, 1 << 20, &whole, &error), KWHY_OK);
	kwhy_text_add(&whole, "kernel,bad,0,7,900,100,,,\n");
	assert_int_equal(kwhy_file_write(place("bad.csv"), whole.data, whole.length, &error), KWHY_OK);
	assert_fails(SPAWN("report", place("bad.csv")), 1, "bad.csv");
	spawned = SPAWN("report", "-v", "--partial", place("bad.csv"));
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "1 event was damaged and is left out"));
	spawned_done(&spawned);
	kwhy_text_done(&whole);
}

static void the_share_of_the_roofline_needs_a_precision_and_peaks(void **state)
{
	static const char *const peaks = KWHY_SOURCE_DIR "/tests/golden/peaks.json";

	(void)state;
	assert_says(SPAWN("report", "-v", TINY),
		"--work flop_bf16=N or bytes=N adds the\n  share of the roofline.");
	assert_says(SPAWN("report", "-v", TINY, "--machine-profile", peaks, "--work", "flop_bf16=2e9"),
		"devices' measured peaks, 10.0 µs by arithmetic, of the run.");
	assert_says(SPAWN("report", "-v", TINY, "--machine-profile", peaks, "--work", "flop=2e9"),
		"roofline: unknown; --section unknown");
	assert_says(SPAWN("report", "-v", TINY, "--machine-profile", peaks, "--work", "flop=2e9"),
		"The work 'flop' names no precision");
	assert_says(SPAWN("report", "-v", TINY, "--work", "flop_bf16=2e9"), "No peak is known for work in");
	assert_says(SPAWN("report", "-v", TINY, "--machine-profile", peaks, "--work", "flop_fp32=1e15"),
		"share of the roofline is shown");
}

/* The recording and --work may both give an amount of the same unit; the amount of --work is then used. */
static void stated_work_replaces_what_the_recording_holds_of_that_unit(void **state)
{
	static const char *const decode = KWHY_SOURCE_DIR "/examples/recordings/decode.kwhy";
	json_t *report = json_of(
		SPAWN("report", "--json", decode, "--work", "steps=5", "--work", "tokens=100"));
	const json_t *work = json_object_get(report, "work");

	(void)state;
	assert_int_equal(json_array_size(work), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(work, 0), "unit")), "tokens");
	assert_true(number_in(json_array_get(work, 0), NULL, "count") == 100);
	assert_true(number_in(json_array_get(work, 1), NULL, "count") == 5);
	json_decref(report);
	report = json_of(SPAWN("report", "--json", TINY, "--work", "steps=5", "--work", "steps=7"));
	assert_int_equal(json_array_size(json_object_get(report, "work")), 1);
	json_decref(report);
}

static void a_full_disk_is_a_failure_and_not_silence(void **state)
{
	static const char *const commands[][3] = {
		{"help"}, {"version"}, {"report", TINY}, {"report", "--json", TINY}};

	(void)state;
	if (access("/dev/full", W_OK))
		kwhy_skip("there is no /dev/full");
	for (size_t i = 0; i < 4; i++) {
		const char *const words[] = {commands[i][0], commands[i][1], commands[i][2], NULL};

		assert_fails(spawn_run(&(struct spawn){.words = words, .stdout_to = "/dev/full"}), 1,
			"cannot write to standard output");
	}
	assert_fails(SPAWN("report", TINY, "--json", "-o", "/dev/full"), 1, "/dev/full");
	assert_fails(SPAWN("export", TINY, "--to", "chrome", "-o", "/dev/full"), 1,
		"it is a device or a pipe, and this is written as a whole file; name a file");
}

/*
 * With standard output closed, a file that kwhy opens itself must not get descriptor 1, or the result would
 * be written into it.
 */
static void an_output_that_is_closed_is_a_failure(void **state)
{
	static const char *const commands[] = {"version", "report " TINY,
		"watch --once --power-file " KWHY_SOURCE_DIR "/examples/h200-train/power.csv"};
	char line[600];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		snprintf(line, sizeof(line),
			"%s %s 2>&1 >&- | grep -q 'cannot write to standard output: Bad file descriptor'",
			KWHY_PROGRAM, commands[i]);
		if (system(line))
			fail_msg("no failure: %s", line);
	}
}

static void what_cannot_be_written_leaves_the_old_file_alone(void **state)
{
	struct kwhy_text after = {0};
	size_t files;

	(void)state;
	assert_fails(SPAWN("report", TINY, "-o", "no-such-folder/x.json"), 1, "no-such-folder/x.json");
	assert_int_equal(kwhy_file_write(place("old.json"), "old", 3, &error), KWHY_OK);
	files = count_files();
	assert_fails(SPAWN("report", "no-such-file.json", "-o", place("old.json")), 1, "no-such-file.json");
	assert_int_equal(kwhy_file_read(place("old.json"), 100, &after, &error), KWHY_OK);
	assert_string_equal(after.data, "old");
	assert_int_equal(count_files(), files);
	kwhy_text_done(&after);
}

static void a_folder_that_may_not_be_written_is_named(void **state)
{
	(void)state;
	if (geteuid() == 0)
		kwhy_skip("root writes anywhere");
	assert_int_equal(chmod(folder, 0500), 0);
	assert_fails(SPAWN("report", TINY, "-o", place("new.json")), 1, "new.json");
	assert_int_equal(chmod(folder, 0700), 0);
}

static void the_form_follows_the_extension_and_a_folder_gets_a_file(void **state)
{
	static const struct {
		const char *name, *start;
	} cases[] = {{"r.json", "{\n\t\"schema\": \"kwhy.report/1\""},
		{"r.csv", "device,rank,category,name,"}, {"r.txt", "What it cost  tiny.csv on "}};
	struct kwhy_text text = {0};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_says(SPAWN("report", TINY, "-o", place(cases[i].name)), "");
		kwhy_text_clear(&text);
		assert_int_equal(kwhy_file_read(place(cases[i].name), 1 << 20, &text, &error), KWHY_OK);
		assert_memory_equal(text.data, cases[i].start, strlen(cases[i].start));
	}
	assert_says(SPAWN("report", TINY, "--csv", "findings", "-o", folder), "");
	assert_int_equal(access(place("report.csv"), R_OK), 0);
	kwhy_text_done(&text);
}

static void json_on_stdout_parses_and_is_the_same_twice(void **state)
{
	struct spawned first = SPAWN("report", TINY, "--json", "--assume-power", "150");
	struct spawned second = SPAWN("report", TINY, "--json", "--assume-power", "150", "-o", "-");
	json_t *roots[2] = {json_loadb(first.out.data, first.out.length, 0, NULL),
		json_loadb(second.out.data, second.out.length, 0, NULL)};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_non_null(roots[i]);
		json_object_del(json_object_get(roots[i], "source"), "own_seconds");
		json_object_del(json_object_get(roots[i], "source"), "command");
	}
	assert_true(json_equal(roots[0], roots[1]));
	json_decref(roots[0]);
	json_decref(roots[1]);
	spawned_done(&first);
	spawned_done(&second);
}

static void no_line_is_wider_than_80_columns_and_none_is_coloured(void **state)
{
	struct spawned spawned = SPAWN(
		"report", TINY, "-v", "--assume-power", "compute=300,idle=100,h2d=150");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_null(strchr(spawned.out.data, '\033'));
	for (char *line = strtok(spawned.out.data, "\n"); line; line = strtok(NULL, "\n"))
		if (kwhy_shown_columns(line) > 80)
			fail_msg("%zu columns: %s", kwhy_shown_columns(line), line);
	spawned_done(&spawned);
}

static void grams_a_kwh_may_be_those_of_a_place(void **state)
{
	struct spawned spawned = SPAWN("report", TINY, "--assume-power", "150", "--place", "tha", "--json");
	json_t *report = json_loadb(spawned.out.data, spawned.out.length, 0, NULL),
	       *carbon = json_object_get(report, "carbon");

	(void)state;
	assert_true(json_number_value(json_object_get(carbon, "intensity_g_per_kwh")) > 100);
	assert_string_equal(json_string_value(json_object_get(carbon, "place")), "Thailand");
	assert_true(json_integer_value(json_object_get(carbon, "year")) > 2000);
	json_decref(report);
	spawned_done(&spawned);
	spawned = SPAWN("report", TINY, "--assume-power", "150", "--place", "THA");
	assert_non_null(strstr(spawned.out.data, " of Thailand in "));
	spawned_done(&spawned);
}

/* Writes tests/golden/tiny.csv, with `lines` put before it, to the file `name` in the test's folder. */
static void write_rank(const char *name, const char *lines)
{
	struct kwhy_text trace = {0}, text = {0};

	assert_int_equal(kwhy_file_read(TINY, 1 << 20, &trace, &error), KWHY_OK);
	kwhy_text_addf(&text, "%s%s", lines, trace.data);
	assert_int_equal(kwhy_file_write(place(name), text.data, text.length, &error), KWHY_OK);
	kwhy_text_done(&text);
	kwhy_text_done(&trace);
}

/* The extension of -o decides the form of an export, as it does for a report, unless --to is given. */
static void the_form_of_an_export_follows_the_extension(void **state)
{
	static const struct {
		const char *file, *begins;
	} forms[] = {
		{"form.csv", "# "},
		{"form.json", "{"},
		{"form.json.gz", "\x1f\x8b"},
		{"form.sqlite", "SQLite format 3"},
	};
	struct kwhy_text text = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		assert_says(SPAWN("export", "-q", TINY, "-o", place(forms[i].file)), "");
		assert_int_equal(kwhy_file_read(place(forms[i].file), 1 << 20, &text, &error), KWHY_OK);
		assert_memory_equal(text.data, forms[i].begins, strlen(forms[i].begins));
		kwhy_text_done(&text);
		unlink(place(forms[i].file));
	}
	assert_fails(SPAWN("export", TINY, "-o", place("form.txt")), 2, "export needs --to perfetto");
	assert_fails(SPAWN("export", TINY, "--to", "csv", "-o", "-"), 2, "not standard output");
	assert_fails(SPAWN("export", TINY), 2,
		"or -o run.pftrace, .json, .sqlite, .csv, .parquet or .powers.json");
}

static void a_copy_of_a_trace_or_of_its_power_is_refused(void **state)
{
	static const char power[] = "# clock other hand-made\ntime_ns,device,source,value\n"
				    "1000000,0,nvml.energy_mj,1\n1300000,0,nvml.energy_mj,2\n";
	char first[600];

	(void)state;
	write_rank("copy.csv", "");
	assert_fails(
		SPAWN("report", TINY, place("copy.csv")), 1, "copy.csv holds the same work as " TINY ": ");
	assert_fails(SPAWN("export", TINY, place("copy.csv"), "--to", "csv", "-o", "never.csv"), 1,
		"holds the same work as");
	assert_says(SPAWN("compare", TINY, place("copy.csv")), "0.0 %");
	snprintf(first, sizeof(first), "%s", place("power.csv"));
	assert_int_equal(kwhy_file_write(first, power, sizeof(power) - 1, &error), KWHY_OK);
	assert_int_equal(kwhy_file_write(place("power-copy.csv"), power, sizeof(power) - 1, &error), KWHY_OK);
	assert_fails(SPAWN("report", TINY, "--power", first, "--power", place("power-copy.csv")), 1,
		"power-copy.csv holds the same readings as ");
	assert_fails(
		SPAWN("report", TINY, "--power", first, "--power", first), 1, "power.csv is given twice");
}

/*
 * The power file has only readings of a wall meter (source meter_mw, no device). The report must show the
 * energy that they give for the host, and say why it shows no energy of a device.
 */
static void a_wall_meter_is_reported_under_host_and_not_as_readings_beside_the_run(void **state)
{
	static const char power[] = "# clock other hand-made\ntime_ns,source,value\n"
				    "1000000,meter_mw,512300\n3000000,meter_mw,512300\n";
	struct spawned spawned;

	(void)state;
	assert_int_equal(kwhy_file_write(place("wall.csv"), power, sizeof(power) - 1, &error), KWHY_OK);
	spawned = SPAWN("report", "-v", TINY, "--power", place("wall.csv"));
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "time only: all power readings are of the host;"));
	assert_non_null(strstr(spawned.out.data, "  meter_mw  2.00 ms  1.02 J       512 W\n"));
	spawned_done(&spawned);
}

static void compare_takes_reports_and_traces_and_exits_3_when_a_condition_holds(void **state)
{
	char before[600], after[600];

	(void)state;
	snprintf(before, sizeof(before), "%s", place("before.json"));
	snprintf(after, sizeof(after), "%s", place("after.json"));
	assert_says(SPAWN("report", TINY, "--assume-power", "100", "-o", before), "");
	assert_says(SPAWN("report", TINY, "--assume-power", "110", "-o", after), "");
	assert_says(SPAWN("compare", before, after), "+10.0 %");
	assert_says(SPAWN("compare", before, after, "--fail-if", "energy>+10.1%"), "kept");
	assert_says(SPAWN("compare", before, after, "--fail-if", "busy_ratio<0.001"), "busy_ratio<0.001: 0.");
	assert_says(SPAWN("compare", before, TINY, "--assume-power", "100"), "0.0 %");
	for (size_t i = 0; i < 2; i++) {
		struct spawned spawned = i
			? SPAWN("compare", before, after, "--fail-if", "energy>+3%", "--json")
			: SPAWN("compare", before, after, "--fail-if", "energy>+3%");

		assert_int_equal(spawned.exit, 3);
		assert_non_null(strstr(spawned.out.data, i ? "\"exceeded\": true" : "EXCEEDED"));
		spawned_done(&spawned);
	}
	assert_fails(SPAWN("compare", before, TINY, "--fail-if", "energy>+3%"), 1, "cannot be decided");
	assert_fails(SPAWN("compare", before, after, "--power-a", "p.csv"), 2, "is a report already");
	assert_fails(SPAWN("compare", before, after, "--trace-b", TINY), 2, "is a report already");
	assert_fails(SPAWN("compare", before, TINY, "--trace-b", "no-such-file.csv"), 1, "no-such-file.csv");
	assert_fails(SPAWN("compare", TINY, TINY, "--trace-b", TINY), 1, "is given twice");
	write_rank("rank.csv", "# device 0 rank=1\n# device 1 rank=1\n");
	assert_says(SPAWN("compare", TINY, TINY, "--trace-b", place("rank.csv")), "tiny.csv and 1 more");
	assert_fails(SPAWN("compare", before, "no-such-file.json"), 1, "no-such-file.json");
}

static void write_result(const char *name, const char *schema)
{
	struct kwhy_text text = {0};

	kwhy_text_addf(&text, "{\n\t\"schema\": \"%s\"\n}\n", schema);
	assert_int_equal(kwhy_file_write(place(name), text.data, text.length, &error), KWHY_OK);
	kwhy_text_done(&text);
}

static void a_result_of_the_wrong_kind_is_named_with_the_command_that_reads_it(void **state)
{
	char report[600], stat[600], whatif[600];

	(void)state;
	snprintf(report, sizeof(report), "%s", place("before.json"));
	snprintf(stat, sizeof(stat), "%s", place("stat.json"));
	snprintf(whatif, sizeof(whatif), "%s", place("whatif.json"));
	write_result("before.json", "kwhy.report/1");
	write_result("stat.json", "kwhy.stat/1");
	write_result("whatif.json", "kwhy.whatif/1");
	write_result("brief.json", "kwhy.brief/1");
	assert_fails(
		SPAWN("report", place("brief.json")), 1, "not a trace; kwhy report --json without --brief");
	assert_fails(SPAWN("compare", TINY, place("brief.json")), 1, "kwhy report --json without --brief");
	assert_fails(SPAWN("report", report), 1, "wrote, not a trace; kwhy compare and kwhy model");
	assert_fails(SPAWN("report", TINY, "--power", report), 1, "wrote, not power readings; kwhy compare");
	assert_fails(SPAWN("report", TINY, "--powers", report), 1,
		"wrote, not a file of powers or a recording; kwhy compare");
	assert_fails(SPAWN("report", TINY, "--machine-profile", stat), 1,
		"not a machine profile; kwhy compare takes");
	assert_fails(SPAWN("compare", TINY, whatif), 1,
		"is a projection of kwhy whatif, not a report or a trace; --projected of kwhy compare");
	assert_fails(
		SPAWN("compare", TINY, stat), 1, "not a report or a trace; kwhy compare takes two of them");
	assert_fails(
		SPAWN("compare", stat, whatif), 1, "not a result of kwhy stat like the first; --projected");
	assert_fails(
		SPAWN("compare", TINY, TINY, "--projected", stat), 1, "not a projection; kwhy compare takes");
	assert_fails(SPAWN("model", "cost", whatif, "--price", "0.3EUR"), 1,
		"not a report or a result of kwhy stat");
	write_result("whatif.json", "other");
	assert_fails(SPAWN("report", TINY, "--powers", whatif), 1,
		"--powers takes a file that kwhy export --to powers wrote, or a recording: ");
}

static void a_power_log_given_as_a_trace_is_named(void **state)
{
	static const char *const logs[] = {"nvidia-smi.csv", "dmon.txt", "dcgmi-dmon.txt",
		"dcgm-exporter.prom", "dcgm-range.json", "amd-smi.json", "rocm-smi.json", "codecarbon.csv",
		"zeus.csv"};

	(void)state;
	assert_fails(
		SPAWN("report",
			text_file_in(folder, "own.json", "{\"schema\": \"kwhy.stat/1\", \"power_w\": 3}")),
		1, "a result of kwhy stat, not a trace");
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++)
		assert_fails(
			SPAWN("report", place_in(KWHY_SOURCE_DIR "/tests/fuzz/corpus/power_log", logs[i])), 1,
			"holds power readings, not a trace; give it as --power");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_lists_every_command_and_each_has_its_own),
		cmocka_unit_test(wrong_usage_exits_2_and_says_what_is_wrong),
		cmocka_unit_test(a_file_that_cannot_be_read_is_named),
		cmocka_unit_test(partial_takes_what_is_whole_and_says_so),
		cmocka_unit_test(the_share_of_the_roofline_needs_a_precision_and_peaks),
		cmocka_unit_test(stated_work_replaces_what_the_recording_holds_of_that_unit),
		cmocka_unit_test(a_full_disk_is_a_failure_and_not_silence),
		cmocka_unit_test(an_output_that_is_closed_is_a_failure),
		cmocka_unit_test(what_cannot_be_written_leaves_the_old_file_alone),
		cmocka_unit_test(a_folder_that_may_not_be_written_is_named),
		cmocka_unit_test(the_form_follows_the_extension_and_a_folder_gets_a_file),
		cmocka_unit_test(json_on_stdout_parses_and_is_the_same_twice),
		cmocka_unit_test(no_line_is_wider_than_80_columns_and_none_is_coloured),
		cmocka_unit_test(grams_a_kwh_may_be_those_of_a_place),
		cmocka_unit_test(the_form_of_an_export_follows_the_extension),
		cmocka_unit_test(a_copy_of_a_trace_or_of_its_power_is_refused),
		cmocka_unit_test(a_wall_meter_is_reported_under_host_and_not_as_readings_beside_the_run),
		cmocka_unit_test(compare_takes_reports_and_traces_and_exits_3_when_a_condition_holds),
		cmocka_unit_test(a_result_of_the_wrong_kind_is_named_with_the_command_that_reads_it),
		cmocka_unit_test(a_power_log_given_as_a_trace_is_named),
	};

	return kwhy_test_main(tests, make_folder, remove_folder);
}
