/* SPDX-License-Identifier: Apache-2.0 */
#include "../golden/schema_check.h"
#include "base/file.h"
#include "cmocka_all.h"
#include "spawned_checks.h"

#include <dirent.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SMALL "bench", "pairs", "--min-size", "4KiB", "--max-size", "64KiB", "--quiet"
/* Time limit of a run, 60 s. No run reaches it: each configuration ends after 1/400 of the limit, 150 ms, at
 * the latest. */
#define LONG "--time", "60"

static char base[] = "/tmp/kwhy-pairs-XXXXXX", folder[600];

static int begin(void **state)
{
	(void)state;
	return mkdtemp(base) ? 0 : -1;
}

/* Sets `folder` to the only folder in `above`. */
static void find_folder_in(const char *above)
{
	char name[300] = "", path[600];
	DIR *list = opendir(above);
	struct dirent *entry;

	assert_non_null(list);
	while ((entry = readdir(list)) != NULL)
		if (entry->d_name[0] != '.')
			snprintf(name, sizeof(name), "%s", entry->d_name);
	closedir(list);
	snprintf(path, sizeof(path), "%.250s/%s", above, name);
	snprintf(folder, sizeof(folder), "%s", path);
}

static void read_kept(const char *name, struct kwhy_text *out)
{
	char path[700];
	struct kwhy_error error;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (kwhy_file_read(path, 1 << 26, out, &error))
		fail_msg("%s", error.text);
}

/* Checks that execution_log.csv has the eight columns of whole numbers that other tools expect. */
static void assert_log_is_as_others_read_it(void)
{
	struct kwhy_text log = {0};
	const char *rest;
	size_t commas = 0;

	read_kept("execution_log.csv", &log);
	rest = strchr(log.data, '\n') + 1;
	assert_memory_equal(log.data,
		"config_id,src,dst,size,repetition,timestamp_start_ns,timestamp_end_ns,duration_ns\n",
		(size_t)(rest - log.data));
	assert_int_equal(strspn(rest, "0123456789,\n"), strlen(rest));
	for (; *rest != '\n'; rest++)
		commas += *rest == ',';
	assert_int_equal(commas, 7);
	kwhy_text_done(&log);
}

static void assert_metadata_tells_of_the_gpu_and_of_nccl(void)
{
	static const char *const parts[] = {"\"memory_bytes\": ", "\"sm_count\": ",
		"\"compute_capability\": null", "\"NCCL_DEBUG=WARN\"", "\"clock_drift_grade\": \""};
	struct kwhy_text metadata = {0};

	read_kept("metadata_rank_1.yml", &metadata);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		assert_non_null(strstr(metadata.data, parts[i]));
	kwhy_text_done(&metadata);
}

static void a_run_on_the_host_leaves_all_files(void **state)
{
	static const char *const files[] = {"samples.csv", "execution_log.csv", "temperatures.csv",
		"metadata_rank_0.yml", "metadata_rank_1.yml"};
	struct spawned spawned;
	json_t *document, *event;

	(void)state;
	setenv("NCCL_DEBUG", "WARN", 1);
	spawned = SPAWN(SMALL, "--backend", "host", "--engine", "write,read,kernel", LONG, "--save", base);
	unsetenv("NCCL_DEBUG");
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "LogGP"));
	find_folder_in(base);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[700];

		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		assert_int_equal(access(path, R_OK), 0);
	}
	assert_log_is_as_others_read_it();
	assert_metadata_tells_of_the_gpu_and_of_nccl();
	document = json_file_in(folder, "rank_1.pt.trace.json");
	event = json_array_get(json_object_get(document, "traceEvents"), 0);
	assert_memory_equal(json_string_value(json_object_get(event, "name")), "p2p_cfg", 7);
	json_decref(document);
	document = json_file_in(folder, "rank_0_CPU_trace.json");
	json_decref(document);
	document = json_file_in(folder, "pairs.json");
	assert_string_equal(json_string_value(json_object_get(document, "schema")), "kwhy.pairs/1");
	assert_true(json_array_size(json_object_get(document, "configs")) > 60);
	assert_int_equal(json_array_size(json_object_get(document, "loggp")), 2);
	assert_keeps_to_schema("pairs", document);
	json_decref(document);
	spawned_done(&spawned);
}

static const json_t *of_gpu_1(const json_t *document, const char *key)
{
	const json_t *gpus = json_object_get(json_object_get(document, "conditions"), "gpus");

	return json_object_get(json_array_get(gpus, 1), key);
}

static void report_works_it_out_again(void **state)
{
	struct spawned spawned = SPAWN("report", folder, "--json");
	json_t *document, *kept = json_file_in(folder, "pairs.json");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	document = json_loads(spawned.out.data, 0, NULL);
	assert_non_null(document);
	assert_true(json_equal(json_object_get(document, "loggp"), json_object_get(kept, "loggp")));
	assert_int_equal(json_array_size(json_object_get(document, "configs")),
		json_array_size(json_object_get(kept, "configs")));
	assert_true(json_equal(of_gpu_1(document, "clock_drift_grade"), of_gpu_1(kept, "clock_drift_grade")));
	assert_true(json_is_string(of_gpu_1(document, "clock_drift_grade")));
	assert_true(json_equal(of_gpu_1(document, "clock_drift_ppm"), of_gpu_1(kept, "clock_drift_ppm")));
	assert_true(json_is_number(of_gpu_1(document, "clock_drift_ppm")));
	json_decref(document);
	json_decref(kept);
	spawned_done(&spawned);
}

/*
 * Reads the complete lines of samples.csv in the only folder within `in`, to which kwhy may be writing.
 * Returns their number; 0 if there is no file yet.
 */
static size_t read_samples(const char *in, struct kwhy_text *out)
{
	char path[700];
	struct kwhy_error error;
	size_t lines = 0;

	kwhy_text_clear(out);
	if (access(in, R_OK))
		return 0;
	find_folder_in(in);
	snprintf(path, sizeof(path), "%s/samples.csv", folder);
	if (kwhy_file_read(path, 1 << 26, out, &error))
		return 0;
	for (size_t i = 0; i < out->length; i++)
		lines += out->data[i] == '\n';
	while (out->length && out->data[out->length - 1] != '\n')
		out->data[--out->length] = '\0';
	return lines;
}

static void a_run_that_is_killed_is_carried_on_with_and_nothing_is_lost(void **state)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	struct kwhy_text before = {0}, after = {0};
	char in[400];
	struct spawned spawned;
	size_t lines;
	pid_t child, ended;

	(void)state;
	snprintf(in, sizeof(in), "%s/killed", base);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		execl(KWHY_PROGRAM, "kwhy", SMALL, "--backend", "host", "--time", "3600", "--save", in, NULL);
		_exit(127);
	}
	while ((ended = waitpid(child, NULL, WNOHANG)) == 0 && read_samples(in, &before) < 200)
		nanosleep(&pause, NULL);
	assert_int_equal(ended, 0);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	lines = read_samples(in, &before);
	assert_true(lines >= 200);
	spawned = SPAWN(SMALL, "--backend", "host", "--time", "0.1", "--resume", folder);
	assert_int_equal(spawned.exit, 0);
	assert_true(read_samples(in, &after) > lines);
	assert_memory_equal(before.data, after.data, before.length);
	kwhy_text_done(&before);
	kwhy_text_done(&after);
	spawned_done(&spawned);
}

static void a_run_without_temperatures_says_that_it_cannot_keep_warm(void **state)
{
	struct spawned spawned = SPAWN("bench", "pairs", "--quiet", "--backend", "host", "--engine", "write",
		"--timing", "back-to-back", "--no-loads", "--max-size", "64", "--time", "1", "--keep-warm",
		"45");

	(void)state;
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "keep-warm: no GPU reports its temperature"));
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
	assert_non_null(strstr(spawned.out.data, "against the measurement: write, back-to-back"));
	assert_non_null(
		strstr(spawned.out.data, "Predictions of transfers by write that were not measured: 1."));
	spawned_done(&spawned);
	spawned = SPAWN("bench", "pairs", "--from", folder, "--simulators", inputs);
	assert_int_equal(spawned.exit, 1); /* sizes end at 64 KiB, but the fit needs three from 64 KiB up */
	assert_non_null(strstr(spawned.err.data, "three sizes"));
	spawned_done(&spawned);
	spawned = SPAWN("bench", "pairs", "--backend", "host", "--engine", "write", "--timing",
		"back-to-back", "--no-loads", "--min-size", "64KiB", "--max-size", "512KiB", LONG,
		"--simulators", inputs);
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "ASTRA-sim"));
	spawned_done(&spawned);
}

/* Each engine gets its own inputs. Predictions without an engine are compared with the first one. */
static void simulators_and_predictions_take_every_engine(void **state)
{
	char inputs[700], predictions[700], input[800];
	struct spawned spawned;
	FILE *file;

	(void)state;
	snprintf(inputs, sizeof(inputs), "%s/engines", folder);
	snprintf(predictions, sizeof(predictions), "%s/engines.csv", folder);
	file = fopen(predictions, "we");
	assert_non_null(file);
	fputs("src,dst,size,time_ns,engine\n0,1,65536,9000,kernel\n0,1,131072,9000,all-reduce\n"
	      "0,1,65536,9000,\n0,1,65536,9000,nccl\n",
		file);
	fclose(file);
	spawned = SPAWN("bench", "pairs", "--backend", "host", "--engine", "kernel,all-reduce", "--timing",
		"back-to-back", "--no-loads", "--min-size", "64KiB", "--max-size", "512KiB", LONG,
		"--simulators", inputs, "--against", predictions);
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "against the measurement: kernel, back-to-back"));
	assert_non_null(strstr(spawned.out.data, "against the measurement: all-reduce, back-to-back"));
	assert_non_null(
		strstr(spawned.out.data, "Predictions of transfers by nccl that were not measured: 1."));
	spawned_done(&spawned);
	snprintf(input, sizeof(input), "%s/kernel/simgrid_platform.xml", inputs);
	assert_int_equal(access(input, R_OK), 0);
	snprintf(input, sizeof(input), "%s/all-reduce/chakra_nodes.json", inputs);
	assert_int_equal(access(input, R_OK), 0);
	snprintf(input, sizeof(input), "%s/all-reduce/astra-sim.yml", inputs);
	assert_int_equal(access(input, R_OK), -1);
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
	spawned = SPAWN("bench", "pairs", "--min-size", "16KiB", "--max-size", "64KiB", "--quiet", "--timing",
		"back-to-back", "--engine", "write,read,kernel,staged,ping-pong,exchange,nccl,nccl-exchange",
		LONG, "--json");
	unsetenv("LD_LIBRARY_PATH");
	assert_int_equal(spawned.exit, 0);
	document = json_loads(spawned.out.data, 0, NULL);
	assert_keeps_to_schema("pairs", document);
	configs = json_object_get(document, "configs");
	assert_true(json_array_size(configs) > 40);
	assert_int_equal(json_array_size(json_object_get(document, "absent")), 0);
	json_array_foreach(configs, i, config) assert_true(json_is_true(json_object_get(config, "verified")));
	json_decref(document);
	spawned_done(&spawned);
}

/*
 * The GPUs draw a constant 300 W and 200 W. So the gross energy per byte is 500 W times the transfer time per
 * byte, and the net energy is 0, which its interval must contain.
 */
static void joules_at_both_ends_are_those_of_gpus_of_known_power(void **state)
{
	struct spawned spawned;
	json_t *document, *conditions, *gauge, *energies, *energy;
	char energies_path[700];
	size_t i;

	(void)state;
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_CUDA_DIR ":" KWHY_FAKE_NVML_DIR, 1);
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/pair_of_fake_cuda.txt", 1);
	snprintf(folder, sizeof(folder), "%s/metered", base);
	spawned = SPAWN("bench", "pairs", "--quiet", "--engine", "write,exchange", "--timing", "back-to-back",
		"--no-loads", "--min-size", "512KiB", "--max-size", "1MiB", LONG, "--energy", "--burst",
		"0.4", "--json", "--save", folder, "--keep-warm", "38");
	unsetenv("LD_LIBRARY_PATH");
	assert_int_equal(spawned.exit, 0);
	document = json_loads(spawned.out.data, 0, NULL);
	assert_keeps_to_schema("pairs", document);
	conditions = json_object_get(document, "conditions");
	assert_float_equal(json_real_value(json_object_get(conditions, "warm_s")), 0, 0);
	gauge = json_object_get(json_array_get(json_object_get(conditions, "gpus"), 1), "temperature_c");
	assert_float_equal(json_number_value(json_object_get(gauge, "mean")), 41, 1e-9);
	gauge = json_object_get(json_array_get(json_object_get(conditions, "gpus"), 0), "clock_hz");
	assert_float_equal(json_number_value(json_object_get(gauge, "most")), 1.98e9, 1);
	energies = json_object_get(document, "energies");
	assert_int_equal(json_array_size(energies), 4);
	assert_true(json_is_null(json_object_get(document, "energy_missing")));
	json_array_foreach(energies, i, energy)
	{
		double seconds = json_real_value(json_object_get(energy, "seconds"));
		const json_t *source = json_object_get(energy, "src_gross_j"),
			     *net = json_object_get(energy, "net_j_per_byte");
		double watts = json_integer_value(json_object_get(energy, "src")) == 0 ? 300 : 200;

		assert_int_equal(json_integer_value(json_object_get(energy, "size")), 1 << 20);
		assert_float_equal(json_real_value(json_array_get(source, 0)) / seconds, watts, 0.05 * watts);
		assert_true(json_real_value(json_array_get(source, 1)) < watts * seconds);
		assert_true(json_real_value(json_array_get(source, 2)) > watts * seconds);
		assert_true(json_real_value(json_array_get(net, 1)) < 0 &&
			json_real_value(json_array_get(net, 2)) > 0);
	}
	json_decref(document);
	spawned_done(&spawned);
	find_folder_in(folder);
	snprintf(energies_path, sizeof(energies_path), "%s/energies.csv", folder);
	assert_int_equal(access(energies_path, R_OK), 0);
	spawned = SPAWN("report", folder);
	assert_non_null(strstr(spawned.out.data, "Energy of a byte"));
	spawned_done(&spawned);
}

static void traces_of_another_profiler_are_reported(void **state)
{
	char above[400], path[600];
	struct spawned spawned;
	FILE *file;

	(void)state;
	snprintf(above, sizeof(above), "%s/profiled", base);
	assert_int_equal(mkdir(above, 0777), 0);
	snprintf(path, sizeof(path), "%s/rank_0.pt.trace.json", above);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs("{\"traceEvents\": [", file);
	for (int i = 0; i < 12; i++)
		fprintf(file,
			"%s{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": "
			"\"p2p_cfg%04d_s0d1_sz%d_r%d\", "
			"\"pid\": 1, \"tid\": 1, \"ts\": %d, \"dur\": %d}",
			i ? "," : "", i % 3, 1 << i % 3, i / 3, 1000 * i, 10 + i % 3);
	fputs("]}", file);
	fclose(file);
	spawned = SPAWN("report", above);
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "traces of torch.profiler without kernels"));
	assert_non_null(strstr(spawned.out.data, "nccl (NCCL's send and receive), 1 B, time"));
	assert_null(strstr(spawned.out.data, "no peer access"));
	spawned_done(&spawned);
}

static void each_communicator_of_many_has_a_sample_of_its_own(void **state)
{
	struct spawned spawned;
	json_t *document, *configs, *config;
	size_t i;

	(void)state;
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_CUDA_DIR, 1);
	spawned = SPAWN(SMALL, "--engine", "nccl,all-reduce", "--timing", "back-to-back", "--no-loads",
		"--communicators", "12", LONG, "--json");
	unsetenv("LD_LIBRARY_PATH");
	assert_int_equal(spawned.exit, 0);
	document = json_loads(spawned.out.data, 0, NULL);
	configs = json_object_get(document, "configs");
	assert_int_equal(json_array_size(configs), 16); /* 5 sizes each of nccl 0 to 1, nccl 1 to 0 and
							   all-reduce; and the reference configuration */
	json_array_foreach(configs, i, config)
	{
		if (i > 0)
			assert_int_equal(json_integer_value(json_object_get(config, "samples")), 12);
		assert_true(json_is_true(json_object_get(config, "verified")));
	}
	json_decref(document);
	spawned_done(&spawned);
	spawned = SPAWN("bench", "pairs", "--communicators", "2", "--ranks", "2");
	assert_int_equal(spawned.exit, 2);
	assert_non_null(strstr(spawned.err.data, "one process"));
	spawned_done(&spawned);
}

/* Locks the clocks of the fake driver's GPUs. No test may change settings of real hardware. */
static void clocks_are_locked_with_leave_alone_and_unlocked_in_the_end(void **state)
{
	char settings[400];
	struct kwhy_text text = {0};
	struct kwhy_error error;
	struct spawned spawned;

	(void)state;
	snprintf(settings, sizeof(settings), "%s/settings", base);
	assert_int_equal(kwhy_file_write(settings, "700 0\n", 6, &error), KWHY_OK);
	spawned = SPAWN("bench", "pairs", "--lock-clocks", "1500");
	assert_int_equal(spawned.exit, 2);
	assert_non_null(strstr(spawned.err.data, "--allow-set"));
	spawned_done(&spawned);
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_CUDA_DIR ":" KWHY_FAKE_NVML_DIR, 1);
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/pair_of_fake_cuda.txt", 1);
	setenv("KWHY_FAKE_NVML_SETTINGS", settings, 1);
	spawned = SPAWN("bench", "pairs", "--backend", "host", "--lock-clocks", "1500", "--allow-set");
	assert_int_equal(spawned.exit, 2);
	assert_non_null(strstr(spawned.err.data, "--backend host does not measure"));
	spawned_done(&spawned);
	spawned = SPAWN("bench", "pairs", "--engine", "write", "--lock-clocks", "4294968796", "--allow-set");
	assert_int_equal(spawned.exit, 1);
	assert_non_null(strstr(spawned.err.data, "MHz, not 4294967295"));
	spawned_done(&spawned);
	setenv("RANK", "0", 1);
	setenv("WORLD_SIZE", "2", 1);
	spawned = SPAWN("bench", "pairs", "--lock-clocks", "1500", "--allow-set");
	unsetenv("RANK");
	unsetenv("WORLD_SIZE");
	assert_int_equal(spawned.exit, 2);
	assert_non_null(strstr(spawned.err.data, "one process"));
	spawned_done(&spawned);
	spawned = SPAWN("bench", "pairs", "--quiet", "--engine", "write", "--timing", "back-to-back",
		"--no-loads", "--max-size", "64", "--time", "5", "--json", "--lock-clocks", "1500",
		"--allow-set", "--keep-warm", "30");
	unsetenv("LD_LIBRARY_PATH");
	unsetenv("KWHY_FAKE_NVML_SETTINGS");
	assert_int_equal(spawned.exit, 0);
	assert_non_null(strstr(spawned.out.data, "clocks were locked to 1500 MHz"));
	assert_non_null(strstr(spawned.out.data, "\"most\": 1.5e+09"));
	spawned_done(&spawned);
	assert_int_equal(kwhy_file_read(settings, 100, &text, &error), KWHY_OK);
	assert_string_equal(text.data, "700 0\n");
	kwhy_text_done(&text);
}

static void clocks_that_are_not_put_back_leave_what_was_measured(void **state)
{
	static const char pair[] = KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/pair_of_fake_cuda.txt";
	char settings[400], scenario[400];
	struct kwhy_text text = {0};
	struct kwhy_error error;
	struct spawned spawned;
	json_t *document;

	(void)state;
	snprintf(settings, sizeof(settings), "%s/settings", base);
	snprintf(scenario, sizeof(scenario), "%s/scenario", base);
	assert_int_equal(kwhy_file_read(pair, 10000, &text, &error), KWHY_OK);
	kwhy_text_add(&text, "fail nvmlDeviceResetGpuLockedClocks no_permission\n");
	assert_int_equal(kwhy_file_write(scenario, text.data, text.length, &error), KWHY_OK);
	kwhy_text_done(&text);
	assert_int_equal(kwhy_file_write(settings, "700 0\n", 6, &error), KWHY_OK);
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_CUDA_DIR ":" KWHY_FAKE_NVML_DIR, 1);
	setenv("KWHY_FAKE_NVML", scenario, 1);
	setenv("KWHY_FAKE_NVML_SETTINGS", settings, 1);
	spawned = SPAWN("bench", "pairs", "--quiet", "--engine", "write", "--timing", "back-to-back",
		"--no-loads", "--max-size", "64", "--time", "1", "--json", "--lock-clocks", "1500",
		"--allow-set");
	unsetenv("LD_LIBRARY_PATH");
	unsetenv("KWHY_FAKE_NVML_SETTINGS");
	assert_int_equal(spawned.exit, 1);
	assert_non_null(strstr(spawned.err.data, "the driver does not put its setting back"));
	document = json_loads(spawned.out.data, 0, NULL);
	assert_non_null(document);
	assert_keeps_to_schema("pairs", document);
	json_decref(document);
	spawned_done(&spawned);
}

static void what_cannot_be_shown_is_said_before_anything_is_measured(void **state)
{
	static const struct {
		const char *option, *value, *says;
		int exit;
	} rows[] = {{"-o", "x.pdf", "no form is known", 2},
		{"-o", "/nowhere/x.json", "whose folder is not there", 1},
		{"--compat", "perftest", "nccl-tests, nvbandwidth or p2p", 2},
		{"--against", "/nowhere/x.csv", "is not a file that can be read", 1},
		{"--ranks", "0", "--ranks takes 1 to", 2}, {"--burst", "0", "--burst takes", 2},
		{"--time", "0", "--time takes", 2}, {"--warm", "-1", "--warm takes", 2},
		{"--clock-time", "-1", "--clock-time takes", 2},
		{"--random-sizes", "4294967297", "at most 64", 2}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spawned spawned = SPAWN(SMALL, "--device", "none", rows[i].option, rows[i].value);

		assert_int_equal(spawned.exit, rows[i].exit);
		assert_non_null(strstr(spawned.err.data, rows[i].says));
		spawned_done(&spawned);
	}
}

static void the_text_is_no_wider_than_80_columns(void **state)
{
	struct spawned spawned;

	(void)state;
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_CUDA_DIR ":" KWHY_FAKE_NVML_DIR, 1);
	setenv("KWHY_FAKE_NVML", KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/pair_of_fake_cuda.txt", 1);
	spawned = SPAWN("bench", "pairs", "--quiet", "--max-size", "1MiB", "--time", "2", "--engine",
		"write,read", "--no-loads");
	unsetenv("LD_LIBRARY_PATH");
	assert_int_equal(spawned.exit, 0);
	assert_fits_80_columns(spawned.out.data);
	spawned_done(&spawned);
}

/* A GPU that is named twice would be measured against itself, and its energy would count twice. */
static void a_gpu_that_is_named_twice_is_refused(void **state)
{
	static const char *const lists[] = {"0,0", "0,0000:19:00.0"};

	(void)state;
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_CUDA_DIR, 1);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct spawned spawned = SPAWN(SMALL, "--time", "1", "--device", lists[i]);

		assert_int_equal(spawned.exit, 2);
		assert_non_null(strstr(spawned.err.data, "--device names GPU '0"));
		assert_non_null(strstr(spawned.err.data, "' twice; name each once"));
		spawned_done(&spawned);
	}
	unsetenv("LD_LIBRARY_PATH");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_on_the_host_leaves_all_files),
		cmocka_unit_test(report_works_it_out_again),
		cmocka_unit_test(other_settings_are_not_carried_on_with),
		cmocka_unit_test(simulators_and_predictions_are_held_against_it),
		cmocka_unit_test(simulators_and_predictions_take_every_engine),
		cmocka_unit_test(two_fake_gpus_are_measured_and_verified),
		cmocka_unit_test(traces_of_another_profiler_are_reported),
		cmocka_unit_test(joules_at_both_ends_are_those_of_gpus_of_known_power),
		cmocka_unit_test(a_run_that_is_killed_is_carried_on_with_and_nothing_is_lost),
		cmocka_unit_test(a_run_without_temperatures_says_that_it_cannot_keep_warm),
		cmocka_unit_test(each_communicator_of_many_has_a_sample_of_its_own),
		cmocka_unit_test(clocks_are_locked_with_leave_alone_and_unlocked_in_the_end),
		cmocka_unit_test(clocks_that_are_not_put_back_leave_what_was_measured),
		cmocka_unit_test(the_text_is_no_wider_than_80_columns),
		cmocka_unit_test(a_gpu_that_is_named_twice_is_refused),
		cmocka_unit_test(what_cannot_be_shown_is_said_before_anything_is_measured),
	};

	return kwhy_test_main(tests, begin, NULL);
}
