/* SPDX-License-Identifier: Apache-2.0 */
#include "../golden/schema_check.h"
#include "base/file.h"
#include "cmocka_all.h"
#include "spawned_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SMALL "bench", "transfer", "--backend", "host", "--quick", "--max-size", "64KiB", "--min-size", "16"

static char folder[] = "/tmp/kwhy-transfer-XXXXXX";
static char path[512], other[512];

static int begin(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static const char *in_folder(char out[512], const char *name)
{
	snprintf(out, 512, "%s/%s", folder, name);
	return out;
}

static json_t *load(const char *text)
{
	json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(document);
	return document;
}

static void all_that_is_measured_keeps_to_its_schema(void **state)
{
	/*
	 * only five strategies, so that measuring each of them once takes a small part of the 40 s, even on a
	 * busy machine
	 */
	struct spawned spawned = SPAWN(SMALL, "--strategy", "pinned,pageable,packed,batch,piece-kernel",
		"--time", "40", "--save", in_folder(path, "all"), "--json", "--energy", "--burst", "0.1",
		"--header", in_folder(other, "choices.h"));
	json_t *document;

	(void)state;
	assert_int_equal(spawned.exit, 0);
	document = load(spawned.out.data);
	assert_keeps_to_schema("transfers", document);
	assert_true(json_array_size(json_object_get(document, "points")) > 60);
	assert_true(json_array_size(json_object_get(document, "energies")) > 3);
	assert_true(json_is_null(
		json_object_get(json_array_get(json_object_get(document, "energies"), 0), "gross_j")));
	assert_true(json_array_size(json_object_get(document, "choices")) > 5);
	assert_int_equal(access(other, R_OK), 0);
	json_decref(document);
	spawned_done(&spawned);
}

static void a_folder_is_worked_out_again(void **state)
{
	struct spawned text = SPAWN("bench", "transfer", "--from", in_folder(path, "all")),
		       json = SPAWN("bench", "transfer", "--from", path, "--json"),
		       csv = SPAWN("bench", "transfer", "--from", path, "-o", in_folder(other, "again.csv"));
	json_t *document = load(json.out.data);

	(void)state;
	assert_int_equal(text.exit, 0);
	assert_non_null(strstr(text.out.data, "The fastest method for many pieces"));
	assert_non_null(strstr(text.out.data, "n/a"));
	assert_fits_80_columns(text.out.data);
	assert_keeps_to_schema("transfers", document);
	assert_int_equal(csv.exit, 0);
	/* before the lines that the CSV has, samples.csv has twelve: its format, ten settings and a date */
	assert_int_equal(
		lines_of(in_folder(other, "again.csv")) + 12, lines_of(in_folder(other, "all/samples.csv")));
	json_decref(document);
	spawned_done(&text);
	spawned_done(&json);
	spawned_done(&csv);
}

/*
 * The first run ends by its time limit of 0.05 s. It can be resumed, even if the last line of its samples
 * file is incomplete.
 */
static void a_run_that_was_cut_short_is_carried_on(void **state)
{
	struct spawned first = SPAWN(SMALL, "--strategy", "pinned", "--time", "0.05", "--save",
			       in_folder(path, "cut")),
		       second;
	FILE *file = fopen(in_folder(other, "cut/samples.csv"), "ae");
	size_t lines;

	(void)state;
	assert_int_equal(first.exit, 0);
	assert_non_null(file);
	lines = lines_of(other);
	assert_true(lines > 13);
	fputs("pinned,h2d,host,16,1,0.00", file);
	fclose(file);
	second = SPAWN(SMALL, "--strategy", "pinned", "--time", "4", "--resume", path);
	assert_int_equal(second.exit, 0);
	assert_true(lines_of(other) > lines);
	assert_null(strstr(second.err.data, "line"));
	spawned_done(&first);
	spawned_done(&second);
}

static void other_settings_do_not_belong_to_the_same_samples(void **state)
{
	struct spawned spawned = SPAWN(
			       SMALL, "--strategy", "pinned,graph", "--resume", in_folder(path, "cut")),
		       seed = SPAWN(SMALL, "--strategy", "pinned", "--seed", "2", "--resume", path);

	(void)state;
	assert_int_equal(spawned.exit, 2);
	assert_non_null(strstr(spawned.err.data, "other settings"));
	assert_non_null(strstr(spawned.err.data, "strategies: pinned,graph"));
	assert_int_equal(seed.exit, 2);
	assert_non_null(strstr(seed.err.data, "seed: 1"));
	spawned_done(&spawned);
	spawned_done(&seed);
}

static void wrong_folders_are_refused_with_what_to_do(void **state)
{
	struct spawned nothing = SPAWN(SMALL, "--resume", in_folder(path, "nowhere")),
		       again = SPAWN(SMALL, "--save", in_folder(path, "cut")),
		       from = SPAWN("bench", "transfer", "--from", in_folder(path, "nowhere")),
		       two = SPAWN("bench", "transfer", "--from", path, "--save", path);

	(void)state;
	assert_int_equal(nothing.exit, 2);
	assert_non_null(strstr(nothing.err.data, "nothing was begun in this folder"));
	assert_int_equal(again.exit, 2);
	assert_non_null(strstr(again.err.data, "--resume"));
	assert_int_equal(from.exit, 1);
	assert_int_equal(two.exit, 2);
	spawned_done(&nothing);
	spawned_done(&again);
	spawned_done(&from);
	spawned_done(&two);
}

static void a_machine_profile_takes_the_curves_in(void **state)
{
	struct spawned spawned;
	json_t *document = json_load_file(KWHY_SOURCE_DIR "/profiles/nvidia-h200.json", 0, NULL), *measured;
	const char *device;

	(void)state;
	spawned = SPAWN("bench", "transfer", "--from", in_folder(path, "all"), "--json");
	measured = load(spawned.out.data);
	device = json_string_value(json_object_get(json_object_get(measured, "conditions"), "device"));
	json_object_set_new(json_object_get(document, "device"), "name", json_string(device));
	assert_int_equal(json_dump_file(document, in_folder(other, "profile.json"), 0), 0);
	spawned_done(&spawned);
	spawned = SPAWN("bench", "transfer", "--from", path, "--update-profile", other, "-o", "/dev/null");
	assert_int_equal(spawned.exit, 0);
	json_decref(document);
	json_decref(measured);
	document = json_load_file(other, JSON_REJECT_DUPLICATES, NULL);
	assert_keeps_to_schema("profile", document);
	assert_true(json_array_size(json_object_get(json_object_get(document, "transfers"), "curves")) > 10);
	assert_non_null(json_object_get(document, "self_test"));
	json_decref(document);
	spawned_done(&spawned);
}

static void a_profile_of_another_device_is_refused(void **state)
{
	struct spawned spawned = SPAWN("bench", "transfer", "--from", in_folder(path, "all"),
		"--update-profile", KWHY_SOURCE_DIR "/profiles/nvidia-h200.json", "-o", "/dev/null");

	(void)state;
	assert_int_equal(spawned.exit, 2);
	assert_non_null(strstr(spawned.err.data, "is the profile of NVIDIA H200"));
	spawned_done(&spawned);
}

#define EIGHT "h2d,h2d,h2d,h2d,h2d,h2d,h2d,h2d,"

static void values_that_cannot_be_are_refused(void **state)
{
	static const struct {
		const char *words[6];
		const char *says;
	} rows[] = {
		{{"--strategy", "teleport"}, "no strategy is called 'teleport'"},
		{{"--strategy", ","}, "takes a list"},
		{{"--direction", "up"}, "h2d, d2h and both"},
		{{"--direction", EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT "up", "--max-size", "0"},
			"--direction takes at most 64 words"},
		{{"--backend", "abacus"}, "cuda, hip or host"},
		{{"--max-size", "1TB"}, "takes a size"},
		{{"--max-size", "0"}, "takes a size"},
		{{"--min-size", "1M", "--max-size", "1K"}, "smallest size is above"},
		{{"--max-size", "4GiB"}, "4 GiB and above"},
		{{"--random-sizes", "65"}, "at most 64"},
		{{"--strategy", "compressed", "--max-size", "4KiB"}, "nothing to measure"},
		{{"--time", "-1"}, "--time takes"},
		{{"--time", "0"}, "--time takes"},
		{{"--max-size", "64", "extra"}, "bench transfer takes options alone, not 'extra'"},
		{{"--burst", "0.01"}, "--burst takes"},
		{{"--burst", "0"}, "--burst takes"},
		{{"--compat", "bandwidthTest"}, "takes nvbandwidth"},
		{{"-o", "a.pdf"}, ".pdf"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *words[12] = {"bench", "transfer", "--backend", "host"};
		struct spawned spawned;

		for (size_t k = 0; k < 6 && rows[i].words[k]; k++)
			words[4 + k] = rows[i].words[k];
		spawned = spawn_run(&(struct spawn){.words = words});
		if (spawned.exit != 2 || !strstr(spawned.err.data, rows[i].says))
			fail_msg("%s %s: %d %s", rows[i].words[0], rows[i].words[1], spawned.exit,
				spawned.err.data);
		spawned_done(&spawned);
	}
}

static void files_that_are_needed_are_looked_at_before_anything_is_measured(void **state)
{
	static const struct {
		const char *option, *path, *says;
	} rows[] = {{"--data", "/nowhere/text", "is not a file that can be read"},
		{"--update-profile", "/nowhere/profile.json", "is not a file that can be read"},
		{"--update-profile", "/", "is not a file that can be read"},
		{"--update-profile", KWHY_SOURCE_DIR "/README.md", "README.md"},
		{"--update-profile", KWHY_SOURCE_DIR "/docs/formats/profile.schema.json", "schema"}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spawned spawned = SPAWN(SMALL, rows[i].option, rows[i].path);

		assert_int_equal(spawned.exit, 1);
		assert_non_null(strstr(spawned.err.data, rows[i].says));
		assert_int_equal(spawned.out.length, 0);
		spawned_done(&spawned);
	}
}

static void rates_are_printed_as_nvbandwidth_does(void **state)
{
	struct spawned spawned = SPAWN("bench", "transfer", "--backend", "host", "--compat", "nvbandwidth");
	double rate = 0;
	const char *sum;

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data,
		"Running host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n"));
	sum = strstr(spawned.out.data, "SUM device_to_host_bidirectional_memcpy_ce ");
	assert_non_null(sum);
	assert_int_equal(sscanf(sum, "SUM device_to_host_bidirectional_memcpy_ce %lf", &rate), 1);
	assert_true(rate > 0);
	spawned_done(&spawned);
}

static void without_a_gpu_it_says_so_and_what_to_do(void **state)
{
	struct spawned spawned = SPAWN("bench", "transfer", "--quick");

	(void)state;
	if (access("/dev/nvidiactl", F_OK) == 0)
		kwhy_skip("there is an NVIDIA GPU here");
	assert_int_equal(spawned.exit, 1);
	assert_non_null(strstr(spawned.err.data, "NVIDIA driver"));
	spawned_done(&spawned);
}

static void data_that_is_too_small_is_refused(void **state)
{
	FILE *file = fopen(in_folder(other, "data"), "we");
	struct spawned spawned;

	(void)state;
	assert_non_null(file);
	fputs("aaaa", file);
	fclose(file);
	spawned = SPAWN(SMALL, "--strategy", "compressed", "--data", other);
	assert_int_equal(spawned.exit, 1);
	assert_non_null(strstr(spawned.err.data, "less than 64 KiB"));
	spawned_done(&spawned);
}

static int end(void **state)
{
	char command[600];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_is_measured_keeps_to_its_schema),
		cmocka_unit_test(a_folder_is_worked_out_again),
		cmocka_unit_test(a_run_that_was_cut_short_is_carried_on),
		cmocka_unit_test(other_settings_do_not_belong_to_the_same_samples),
		cmocka_unit_test(wrong_folders_are_refused_with_what_to_do),
		cmocka_unit_test(a_machine_profile_takes_the_curves_in),
		cmocka_unit_test(a_profile_of_another_device_is_refused),
		cmocka_unit_test(values_that_cannot_be_are_refused),
		cmocka_unit_test(files_that_are_needed_are_looked_at_before_anything_is_measured),
		cmocka_unit_test(rates_are_printed_as_nvbandwidth_does),
		cmocka_unit_test(without_a_gpu_it_says_so_and_what_to_do),
		cmocka_unit_test(data_that_is_too_small_is_refused),
	};

	return kwhy_test_main(tests, begin, end);
}
