/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "cmocka_all.h"
#include "spawn.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SMALL "bench", "pairs", "--min-size", "4KiB", "--max-size", "64KiB", "--quiet"

static char base[] = "/tmp/kwhy-pairs-XXXXXX", folder[600];

static int begin(void **state)
{
	(void)state;
	return mkdtemp(base) ? 0 : -1;
}

static json_t *load(const char *name)
{
	char path[700];
	json_t *document;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	document = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(document);
	return document;
}

static void find_folder(void)
{
	DIR *list = opendir(base);
	struct dirent *entry;

	assert_non_null(list);
	while ((entry = readdir(list)) != NULL)
		if (entry->d_name[0] != '.')
			snprintf(folder, sizeof(folder), "%s/%s", base, entry->d_name);
	closedir(list);
}

static void a_run_on_the_host_leaves_all_files(void **state)
{
	static const char *const files[] = {"samples.csv", "execution_log.csv", "temperatures.csv",
		"metadata_rank_0.yml", "metadata_rank_1.yml"};
	struct spawned spawned = SPAWN(SMALL, "--backend", "host", "--time", "4", "--save", base);
	json_t *document, *event;

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "LogGP"));
	find_folder();
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[700];

		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		assert_int_equal(access(path, R_OK), 0);
	}
	document = load("rank_1.pt.trace.json");
	event = json_array_get(json_object_get(document, "traceEvents"), 0);
	assert_memory_equal(json_string_value(json_object_get(event, "name")), "p2p_cfg", 7);
	json_decref(document);
	document = load("rank_0_CPU_trace.json");
	json_decref(document);
	document = load("pairs.json");
	assert_string_equal(json_string_value(json_object_get(document, "schema")), "kwhy.pairs/1");
	assert_true(json_array_size(json_object_get(document, "configs")) > 40);
	assert_int_equal(json_array_size(json_object_get(document, "loggp")), 2);
	json_decref(document);
	spawned_done(&spawned);
}

static void report_works_it_out_again(void **state)
{
	struct spawned spawned = SPAWN("report", folder, "--json");
	json_t *document, *kept = load("pairs.json");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	document = json_loads(spawned.out.data, 0, NULL);
	assert_non_null(document);
	assert_true(json_equal(json_object_get(document, "loggp"), json_object_get(kept, "loggp")));
	assert_int_equal(json_array_size(json_object_get(document, "configs")),
		json_array_size(json_object_get(kept, "configs")));
	json_decref(document);
	json_decref(kept);
	spawned_done(&spawned);
}

static void other_settings_are_not_carried_on_with(void **state)
{
	struct spawned spawned = SPAWN(
		SMALL, "--backend", "host", "--seed", "9", "--time", "1", "--resume", folder);

	(void)state;
	assert_int_equal(spawned.exit, 2);
	assert_non_null(strstr(spawned.err.data, "other settings"));
	spawned_done(&spawned);
}

static void simulators_and_predictions_are_held_against_it(void **state)
{
	char inputs[700], predictions[700];
	struct spawned spawned;
	FILE *file;

	(void)state;
	snprintf(inputs, sizeof(inputs), "%s/simulators", folder);
	snprintf(predictions, sizeof(predictions), "%s/predictions.csv", folder);
	file = fopen(predictions, "we");
	assert_non_null(file);
	fputs("src,dst,size,time_ns\n0,1,4096,1000\n1,0,65536,3000\n0,1,12345,1\n", file);
	fclose(file);
	spawned = SPAWN("bench", "pairs", "--from", folder, "--against", predictions);
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "4 KiB to 1 MiB"));
	assert_non_null(strstr(spawned.out.data, "1 predictions are of what was not measured"));
	spawned_done(&spawned);
	spawned = SPAWN("bench", "pairs", "--from", folder, "--simulators", inputs);
	assert_int_equal(spawned.exit, 1); /* up to 64 KiB: no line */
	assert_non_null(strstr(spawned.err.data, "three sizes"));
	spawned_done(&spawned);
	spawned = SPAWN("bench", "pairs", "--backend", "host", "--engine", "write", "--clock", "back-to-back",
		"--no-loads", "--min-size", "64KiB", "--max-size", "512KiB", "--time", "2", "--simulators",
		inputs);
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "ASTRA-sim"));
	spawned_done(&spawned);
}

static void two_fake_gpus_are_measured_and_verified(void **state)
{
	struct spawned spawned;
	json_t *document, *configs, *config;
	size_t i;

	(void)state;
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_CUDA_DIR, 1);
	setenv("KWHY_FAKE_CUDA_DEVICES", "2", 1);
	setenv("KWHY_FAKE_GPU_KERNELS", KWHY_FAKE_KERNELS, 1);
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
	spawned = SPAWN(SMALL, "--engine", "write,read,kernel,staged,ping-pong,exchange,nccl,nccl-exchange",
		"--time", "3", "--json");
	unsetenv("LD_LIBRARY_PATH");
	assert_int_equal(spawned.exit, 0);
	document = json_loads(spawned.out.data, 0, NULL);
	configs = json_object_get(document, "configs");
	assert_true(json_array_size(configs) > 40);
	assert_int_equal(json_array_size(json_object_get(document, "absent")), 0);
	json_array_foreach(configs, i, config) assert_true(json_is_true(json_object_get(config, "verified")));
	json_decref(document);
	spawned_done(&spawned);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_on_the_host_leaves_all_files),
		cmocka_unit_test(report_works_it_out_again),
		cmocka_unit_test(other_settings_are_not_carried_on_with),
		cmocka_unit_test(simulators_and_predictions_are_held_against_it),
		cmocka_unit_test(two_fake_gpus_are_measured_and_verified),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
