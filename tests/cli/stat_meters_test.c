/* SPDX-License-Identifier: Apache-2.0 */
/* Tests `kwhy stat` with meters that are missing, vanish or end early, and with saved readings. */
#include "stat_run.h"

#include "../golden/schema_check.h"
#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kwhy_error error;

static void a_better_meter_that_only_lacks_permission_is_told(void **state)
{
	FILE *file = fopen(place("scenario"), "w");

	(void)state;
	fputs("gpu \"NVIDIA H200\"\npower constant 300\n"
	      "fail nvmlDeviceGetTotalEnergyConsumption no_permission\n"
	      "fail nvmlDeviceGetSamples no_permission\n",
		file);
	fclose(file);
	setenv("KWHY_FAKE_NVML", place("scenario"), 1);
	assert_ends(SPAWN("stat", "--", "sleep", "0.5"), 0, "permission denied");
}

static void a_split_gpu_and_a_counter_that_never_moves_are_noted(void **state)
{
	FILE *file = fopen(place("scenario"), "w");
	struct spawned spawned;

	(void)state;
	fputs("gpu \"NVIDIA H200\"\npower constant 300\nenergy_stuck_at_s 0\n"
	      "mig \"NVIDIA H200 MIG 1g.18gb\" MIG-1 16 16384\n",
		file);
	fclose(file);
	setenv("KWHY_FAKE_NVML", place("scenario"), 1);
	spawned = SPAWN("stat", "--", "sleep",
		"4"); /* 4 s: the energy counter never rises, which kwhy reports after one second */
	assert_non_null(strstr(spawned.err.data, "its energy is of the whole GPU"));
	assert_ends(spawned, 0, "its counter stood still");
}

/*
 * MIG is switched on while the command runs, which the result must note. As the driver refuses to list
 * processes, how many used the GPU while idle power was measured must be null.
 */
static void a_gpu_that_is_divided_meanwhile_is_noted(void **state)
{
	FILE *file = fopen(place("scenario"), "w");
	json_t *document, *notes, *idle;
	size_t i, said = 0;
	json_t *note;

	(void)state;
	fputs("gpu \"NVIDIA H200\"\npower constant 300\nmig \"NVIDIA H200 MIG 1g.18gb\" MIG-1 16 16384\n"
	      "mig_from_s 1\nfail nvmlDeviceGetComputeRunningProcesses_v3 no_permission\n",
		file);
	fclose(file);
	setenv("KWHY_FAKE_NVML", place("scenario"), 1);
	document = STAT("--idle-baseline", "0.5", "--", "sleep", "1");
	notes = json_object_get(document, "notes");
	json_array_foreach(notes, i, note)
		said += strstr(json_string_value(note), "made whole (MIG) meanwhile") != NULL;
	assert_int_equal(said, 1);
	assert_true(fabs(real_at(domain_of(document, "gpu 0"), "mean_w", "mean") - 300) < 6);
	idle = json_object_get(domain_of(document, "gpu 0"), "idle");
	assert_true(json_number_value(json_object_get(idle, "watts")) > 290);
	assert_true(json_is_null(json_object_get(idle, "process_count")));
	json_decref(document);
}

static void a_device_that_is_not_there_is_told_with_those_that_are(void **state)
{
	(void)state;
	use_scenario("h200_idle");
	assert_ends(SPAWN("stat", "--device", "3", "--", "true"), 1,
		"there is no device 3 with a meter here; there is device 0\n");
	use_scenario("two_gpus");
	assert_ends(SPAWN("stat", "--device", "0,3", "--", "true"), 1,
		"there is no device 3 with a meter here; there are devices 0 to 1\n");
	use_scenario("no_gpu");
	assert_ends(SPAWN("stat", "--device", "0", "--", "true"), 1,
		"there is no device 0 with a meter here: the NVIDIA driver runs but shows no GPU");
}

static void without_a_meter_time_and_status_are_told_all_the_same(void **state)
{
	struct spawned spawned;
	json_t *document, *domain;
	size_t i;

	(void)state;
	use_scenario("no_gpu");
	spawned = SPAWN("stat", "--json", "--idle-baseline", "0.5", "--work", "n=n", "--", "sh", "-c",
		"echo n; exit 5");
	assert_int_equal(spawned.exit, 5);
	*strstr(spawned.err.data, "\nkwhy: ") = '\0';
	document = json_loads(spawned.err.data, 0, NULL);
	assert_non_null(document);
	assert_keeps_to_schema("stat", document);
	assert_true(real_at(json_object_get(document, "time"), "elapsed_s", "mean") > 0);
	assert_true(json_array_size(json_object_get(document, "not_available")) > 0);
	json_array_foreach(json_object_get(document, "domains"), i, domain)
		assert_string_not_equal(json_string_value(json_object_get(domain, "kind")), "device");
	json_decref(document);
	spawned_done(&spawned);
}

static void a_device_that_vanishes_has_no_energy_and_says_why(void **state)
{
	json_t *document;

	(void)state;
	use_scenario("lost");
	document = STAT("--", "sleep", "2");
	assert_string_equal(json_string_value(json_object_get(domain_of(document, "gpu 0"), "not_available")),
		"the device fell off the bus");
	assert_true(json_is_null(
		json_object_get(json_object_get(domain_of(document, "gpu 0"), "energy_j"), "mean")));
	json_decref(document);
}

/*
 * In these readings the counter changes once a second. `true` ends much sooner, even on a busy machine, so
 * its energy cannot be given.
 */
static void a_run_too_short_for_its_meter_is_told_with_a_cure(void **state)
{
	FILE *file = fopen(place("power.csv"), "w");

	(void)state;
	use_scenario("h200_idle");
	fputs("time_ns,device,source,value\n", file);
	for (int second = 0; second < 60; second++)
		fprintf(file, "%d000000000,0,nvml.energy_mj,%d\n", 1795245124 + second, 300000 * second);
	fclose(file);
	assert_ends(SPAWN("stat", "--power-file", place("power.csv"), "--", "true"), 0,
		"too short for its meter");
}

/* Truncates a file after its first `lines` lines. */
static void keep_lines(const char *path, size_t lines)
{
	struct kwhy_text text = {0};
	size_t length = 0;

	assert_int_equal(kwhy_file_read(path, 1000000, &text, &error), KWHY_OK);
	while (length < text.length && lines > 0)
		lines -= text.data[length++] == '\n';
	assert_int_equal(kwhy_file_write(path, text.data, length, &error), KWHY_OK);
	kwhy_text_done(&text);
}

static void readings_are_kept_and_can_be_played_back(void **state)
{
	json_t *document;
	char power[256];

	(void)state;
	snprintf(power, sizeof(power), "%s", place("power.csv"));
	use_scenario("h200_constant_300w");
	document = STAT("--save-power", power, "--", "sleep", "2");
	json_decref(document);
	document = STAT("--power-file", power, "--", "sleep", "0.5");
	assert_true(fabs(real_at(domain_of(document, "gpu 0"), "mean_w", "mean") - 300) < 6);
	json_decref(document);
	keep_lines(power, 10);
	document = STAT("--power-file", power, "--", "sleep", "1");
	assert_true(json_is_null(
		json_object_get(json_object_get(domain_of(document, "gpu 0"), "energy_j"), "mean")));
	assert_string_equal(json_string_value(json_object_get(domain_of(document, "gpu 0"), "not_available")),
		"the meter's readings ended before the window did");
	json_decref(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_better_meter_that_only_lacks_permission_is_told),
		cmocka_unit_test(a_split_gpu_and_a_counter_that_never_moves_are_noted),
		cmocka_unit_test(a_gpu_that_is_divided_meanwhile_is_noted),
		cmocka_unit_test(a_device_that_is_not_there_is_told_with_those_that_are),
		cmocka_unit_test(without_a_meter_time_and_status_are_told_all_the_same),
		cmocka_unit_test(a_device_that_vanishes_has_no_energy_and_says_why),
		cmocka_unit_test(a_run_too_short_for_its_meter_is_told_with_a_cure),
		cmocka_unit_test(readings_are_kept_and_can_be_played_back),
	};

	return kwhy_test_main(tests, stat_begin, stat_end);
}
