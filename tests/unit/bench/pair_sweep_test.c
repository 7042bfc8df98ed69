/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "bench/pairs/store.h"
#include "bench/pairs/sweep.h"
#include "pairs/analysis.h"

#include "cmocka_all.h"
#include "text_file.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct kwhy_pairs *measure(struct kwhy_pair_request request)
{
	struct kwhy_pairs *pairs = NULL;
	struct kwhy_error error = {0};

	request.backend = KWHY_GPU_HOST;
	request.seed = 7;
	if (kwhy_pairs_measure(&request, &pairs, &error))
		fail_msg("%s", error.text);
	return pairs;
}

static void every_engine_and_load_moves_its_bytes_both_ways(void **state)
{
	struct kwhy_pairs *pairs = measure((struct kwhy_pair_request){.engines = ~0u,
		.least_bytes = 1 << 12,
		.most_bytes = 1 << 16,
		.time_s = 3600,
		.most_rounds = 1});
	size_t seen[KWHY_PAIR_ENGINE_COUNT] = {0}, loads[KWHY_PAIR_LOAD_COUNT] = {0};

	(void)state;
	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];

		if (!config->sample_count)
			continue;
		assert_true(config->verified);
		assert_true(config->summary.median_s > 0);
		seen[config->engine]++;
		loads[config->load]++;
	}
	/* the host back end has no NCCL, and a single process uses no sockets */
	for (int i = 0; i < KWHY_PAIR_ENGINE_COUNT; i++)
		assert_int_equal(seen[i] > 0, i < KWHY_PAIR_NCCL || i > KWHY_PAIR_SOCKET);
	assert_int_equal(pairs->absence_count, 2);
	assert_true(loads[KWHY_PAIR_ALL_TO_ALL] > 0);
	assert_true(loads[KWHY_PAIR_FROM_HOST] > 0);
	assert_int_equal(loads[KWHY_PAIR_REFERENCE], 1);
	kwhy_pairs_free(pairs);
}

static void one_gpu_is_no_pair(void **state)
{
	static const char *const devices[] = {"0"};
	const struct kwhy_pair_request request = {
		.backend = KWHY_GPU_HOST, .devices = devices, .device_count = 1};
	struct kwhy_pairs *pairs;
	struct kwhy_error error = {0};

	(void)state;
	assert_int_equal(kwhy_pairs_measure(&request, &pairs, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "--backend host"));
}

static void cut_short(const char *folder)
{
	char path[600];
	struct kwhy_text file = {0};
	struct kwhy_error error;

	snprintf(path, sizeof(path), "%s/samples.csv", folder);
	assert_int_equal(kwhy_file_read(path, 64 << 20, &file, &error), KWHY_OK);
	assert_int_equal(truncate(path, (off_t)(file.length - 7)), 0);
	kwhy_text_done(&file);
}

static void what_was_interrupted_is_carried_on_with_and_nothing_is_lost(void **state)
{
	char base[] = "/tmp/kwhy-pairs-XXXXXX", folder[512];
	struct kwhy_pair_request request = {.engines = 1u << KWHY_PAIR_WRITE,
		.clocks = 1u << KWHY_PAIR_BACK_TO_BACK,
		.least_bytes = 1 << 10,
		.most_bytes = 1 << 12,
		.no_loads = true,
		.time_s = 0.02};
	struct kwhy_pairs *pairs, *again = NULL;
	struct kwhy_error error = {0};
	size_t before = 0, after = 0;

	(void)state;
	assert_non_null(mkdtemp(base));
	request.folder = base;
	pairs = measure(request);
	for (size_t i = 0; i < pairs->config_count; i++)
		before += pairs->configs[i].sample_count;
	snprintf(folder, sizeof(folder), "%s", pairs->folder);
	kwhy_pairs_free(pairs);
	assert_true(before > 1);
	cut_short(folder);

	request.folder = folder;
	request.resume = true;
	request.time_s = 5;
	pairs = measure(request);
	for (size_t i = 0; i < pairs->config_count; i++)
		after += pairs->configs[i].sample_count;
	assert_true(after >= before - 1);
	assert_int_equal(kwhy_pair_store_read(folder, &again, &error), KWHY_OK);
	assert_int_equal(again->config_count, pairs->config_count);
	assert_int_equal(again->planned_count, pairs->config_count);
	for (size_t i = 0; i < pairs->config_count; i++) {
		assert_int_equal(again->configs[i].sample_count, pairs->configs[i].sample_count);
		assert_float_equal(again->configs[i].summary.median_s, pairs->configs[i].summary.median_s,
			1e-8 * pairs->configs[i].summary.median_s);
	}
	assert_true(kwhy_pair_store_is_one(folder));
	assert_true(kwhy_pair_store_is_one(
		base)); /* a folder that contains the folder of one saved run is accepted in its place */
	assert_false(kwhy_pair_store_is_one("/proc/self"));
	kwhy_pairs_free(pairs);
	kwhy_pairs_free(again);
}

/*
 * Makes a fake /sys in which each of the first two CPUs that this process may use is a NUMA node of its own.
 * Returns false if there are fewer than two.
 */
static bool make_nodes(char base[])
{
	static const char *const folders[] = {"/devices", "/devices/system", "/devices/system/node",
		"/devices/system/node/node0", "/devices/system/node/node1"};
	char path[200], cpu[16];
	cpu_set_t allowed;
	int found = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	if (CPU_COUNT(&allowed) < 2)
		return false;
	assert_non_null(mkdtemp(base));
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", base, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	snprintf(path, sizeof(path), "%s/devices/system/node/has_memory", base);
	text_file_write(path, "0-1\n");
	for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
		if (CPU_ISSET(i, &allowed)) {
			snprintf(path, sizeof(path), "%s/devices/system/node/node%d/cpulist", base, found++);
			snprintf(cpu, sizeof(cpu), "%d\n", i);
			text_file_write(path, cpu);
		}
	return true;
}

static void the_node_of_the_thread_is_compared_and_left_as_it_was(void **state)
{
	char sys[] = "/tmp/kwhy-pairs-sys-XXXXXX", base[] = "/tmp/kwhy-pairs-XXXXXX";
	struct kwhy_pair_request request = {.engines = 1u << KWHY_PAIR_WRITE,
		.least_bytes = 8,
		.most_bytes = 8,
		.no_loads = true,
		.pinning = true,
		.sys = sys,
		.time_s = 60};
	struct kwhy_pairs *pairs, *again = NULL;
	struct kwhy_error error = {0};
	cpu_set_t before, after;

	(void)state;
	if (!make_nodes(sys))
		kwhy_skip("this process may use one CPU only");
	assert_non_null(mkdtemp(base));
	request.folder = base;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	pairs = measure(request);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
	assert_int_equal(kwhy_pair_store_read(pairs->folder, &again, &error), KWHY_OK);
	assert_int_equal(again->pinning_count, pairs->pinning_count);
	if (!pairs->pinning_missing) {
		assert_int_equal(pairs->pinning_count, 6); /* three methods of timing in two directions */
		assert_int_equal(pairs->pinnings[0].far_node, 1 - pairs->pinnings[0].near_node);
		for (int pin = 0; pin < KWHY_PAIR_PIN_COUNT; pin++) {
			assert_true(pairs->pinnings[0].times[pin].value > 0);
			assert_float_equal(again->pinnings[0].times[pin].high,
				pairs->pinnings[0].times[pin].high, 1e-12);
		}
	}
	kwhy_pairs_free(pairs);
	kwhy_pairs_free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_engine_and_load_moves_its_bytes_both_ways),
		cmocka_unit_test(one_gpu_is_no_pair),
		cmocka_unit_test(the_node_of_the_thread_is_compared_and_left_as_it_was),
		cmocka_unit_test(what_was_interrupted_is_carried_on_with_and_nothing_is_lost),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
