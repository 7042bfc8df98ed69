/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "cmocka_all.h"
#include "spawned_checks.h"

#include <dirent.h>
#include <jansson.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PAIRS "bench", "pairs", "--backend", "host", "--quiet"
#define SMALL "--min-size", "64KiB", "--max-size", "64KiB"
#define FEW_CLOCKS "--timing", "back-to-back,host"
/*
 * Time limit of a run, s. A configuration with enough samples ends after 1/400 of it at the latest, and there
 * are only a few dozen, so no run reaches the limit, even on a busy machine.
 */
#define LONG "--time", "60"

static char base[] = "/tmp/kwhy-ranks-XXXXXX", folder[600];

static int begin(void **state)
{
	(void)state;
	return mkdtemp(base) ? 0 : -1;
}

/* Sets `folder` to the only folder in `above`, or to "" if there is none. */
static void find_folder(const char *above)
{
	DIR *list = opendir(above);
	struct dirent *entry;

	folder[0] = '\0';
	while (list && (entry = readdir(list)) != NULL)
		if (entry->d_name[0] != '.')
			snprintf(folder, sizeof(folder), "%s/%s", above, entry->d_name);
	if (list)
		closedir(list);
}

static size_t count_lines(void)
{
	char path[700];
	struct kwhy_text file = {0};
	struct kwhy_error error;
	size_t lines = 0;

	find_folder(base);
	snprintf(path, sizeof(path), "%s/samples.csv", folder);
	if (*folder && !access(path, R_OK) && !kwhy_file_read(path, 64 << 20, &file, &error))
		for (size_t i = 0; i < file.length; i++)
			lines += file.data[i] == '\n';
	kwhy_text_done(&file);
	return lines;
}

/* Returns whether the first 64 KiB of /proc/PROCESS/NAME contain these bytes. */
static bool holds(const char *process, const char *name, const char *bytes, size_t length)
{
	static char content[65536];
	char path[300];
	FILE *file;
	size_t got;

	snprintf(path, sizeof(path), "/proc/%s/%s", process, name);
	file = fopen(path, "re");
	got = file ? fread(content, 1, sizeof(content), file) : 0;
	if (file)
		fclose(file);
	return memmem(content, got, bytes, length) != NULL;
}

static atomic_bool has_ended; /* set when the benchmark has ended, so that kill_one() stops waiting */

/* Thread: waits until the benchmark has saved 60 samples or has ended, then kills its process with RANK=2. */
static void *kill_one(void *context)
{
	static const char rank[] = "\0RANK=2";
	const struct timespec pause = {.tv_nsec = 10000000};
	struct dirent *entry;
	DIR *list;

	(void)context;
	while (!has_ended && count_lines() < 60)
		nanosleep(&pause, NULL);
	list = opendir("/proc");
	while (list && (entry = readdir(list)) != NULL)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
			holds(entry->d_name, "cmdline", base, strlen(base)) &&
			holds(entry->d_name, "environ", rank, sizeof(rank)))
			kill(atoi(entry->d_name), SIGKILL);
	if (list)
		closedir(list);
	return NULL;
}

static void a_rank_that_is_killed_ends_the_run_with_what_was_measured(void **state)
{
	struct spawned spawned;
	pthread_t killer;
	size_t lines;

	(void)state;
	assert_int_equal(pthread_create(&killer, NULL, kill_one, NULL), 0);
	spawned = SPAWN(PAIRS, SMALL, FEW_CLOCKS, "--ranks", "3", "--time", "3600", "--save", base);
	has_ended = true;
	pthread_join(killer, NULL);
	assert_int_equal(spawned.exit, 1);
	assert_non_null(strstr(spawned.out.data, "Ended early: rank 2 (process "));
	assert_non_null(strstr(spawned.out.data, "ended in the middle"));
	spawned_done(&spawned);
	lines = count_lines();
	assert_true(lines >= 60);
	spawned = SPAWN(PAIRS, SMALL, FEW_CLOCKS, "--ranks", "3", LONG, "--resume", folder);
	assert_int_equal(spawned.exit, 0);
	assert_true(count_lines() > lines);
	spawned_done(&spawned);
}

static void every_rank_has_its_files_and_its_clock(void **state)
{
	static const char *const engines[] = {"write", "read", "kernel", "put", "socket", "all-reduce",
		"all-gather", "reduce-scatter", "broadcast", "all-to-all"};
	json_t *document = json_file_in(folder, "pairs.json"), *ranks, *configs, *config;
	char path[700];
	size_t i;

	(void)state;
	ranks = json_object_get(json_object_get(document, "conditions"), "ranks");
	assert_int_equal(json_array_size(ranks), 3);
	for (i = 1; i < 3; i++) {
		const json_t *rank = json_array_get(ranks, i);
		double offset = json_number_value(json_object_get(rank, "clock_offset_ns")),
		       half = json_number_value(json_object_get(rank, "clock_offset_half_width_ns"));

		/*
		 * all ranks run on one host, whose clock they share: the interval of the clock offset must
		 * contain 0 to within 1 us
		 */
		assert_true(half > 0);
		assert_true(offset >= -half - 1000 && offset <= half + 1000);
		assert_true(json_is_number(json_object_get(rank, "host_clock_drift_ppm")));
		snprintf(path, sizeof(path), "%s/metadata_rank_%zu.yml", folder, i);
		assert_int_equal(access(path, R_OK), 0);
	}
	configs = json_object_get(document, "configs");
	for (size_t k = 0; k < sizeof(engines) / sizeof(engines[0]); k++) {
		size_t found = 0;

		json_array_foreach(
			configs, i, config) if (strcmp(json_string_value(json_object_get(config, "engine")),
							engines[k]) == 0)
		{
			assert_true(json_is_true(json_object_get(config, "verified")));
			found++;
		}
		assert_true(found > 0);
	}
	assert_int_equal(json_array_size(json_object_get(document, "absent")), 0);
	json_decref(document);
	document = json_file_in(folder, "rank_1.pt.trace.json");
	json_decref(document);
}

struct rank {
	pthread_t thread;
	const char *environment, *most;
	struct spawned spawned;
};

static void *run_rank(void *context)
{
	struct rank *rank = context;

	rank->spawned = spawn_run(
		&(struct spawn){.words = (const char *const[]){PAIRS, "--engine", "write,socket",
					"--min-size", "4KiB", "--max-size", rank->most, "--time", "2", NULL},
			.environment = rank->environment});
	return NULL;
}

static bool is_free(int port)
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int number = socket(AF_INET, SOCK_STREAM, 0);
	bool is_bound = bind(number, (const struct sockaddr *)&address, sizeof(address)) == 0;

	close(number);
	return is_bound;
}

/*
 * Returns a port P such that port P + 1, on which the ranks listen, is free. Both lie below the range from
 * which the system takes ports for outgoing connections, so P + 1 probably stays free.
 */
static int find_port(void)
{
	int port = 20000 + getpid() % 10000;

	while (!is_free(port + 1))
		port++;
	return port;
}

/* Runs two processes at once, as mpirun does: the environment of each states its rank. */
static void run_ranks(struct rank ranks[2])
{
	char port[16];

	snprintf(port, sizeof(port), "%d", find_port());
	setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
	setenv("MASTER_PORT", port, 1);
	ranks[0].environment = "OMPI_COMM_WORLD_RANK=0";
	ranks[1].environment = "OMPI_COMM_WORLD_RANK=1";
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&ranks[i].thread, NULL, run_rank, &ranks[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(ranks[i].thread, NULL);
	unsetenv("OMPI_COMM_WORLD_SIZE");
	unsetenv("MASTER_PORT");
}

static void a_launchers_processes_find_each_other(void **state)
{
	struct rank ranks[2] = {{.most = "64KiB"}, {.most = "64KiB"}};

	(void)state;
	run_ranks(ranks);
	assert_int_equal(ranks[0].spawned.exit, 0);
	assert_non_null(strstr(ranks[0].spawned.out.data, "Ranks, one process a GPU"));
	assert_int_equal(ranks[1].spawned.exit, 0);
	assert_string_equal(ranks[1].spawned.out.data, "");
	for (int i = 0; i < 2; i++)
		spawned_done(&ranks[i].spawned);
}

static void ranks_that_are_asked_for_different_things_are_refused(void **state)
{
	struct rank ranks[2] = {{.most = "64KiB"}, {.most = "32KiB"}};

	(void)state;
	run_ranks(ranks);
	assert_non_null(strstr(ranks[0].spawned.err.data, "give all ranks one command"));
	assert_int_equal(ranks[0].spawned.exit, 2);
	for (int i = 0; i < 2; i++)
		spawned_done(&ranks[i].spawned);
}

static void both_ends_of_an_exchange_copy_at_once(void **state)
{
	struct spawned spawned = SPAWN(PAIRS, "--ranks", "2", "--engine", "exchange,ping-pong", "--timing",
		"back-to-back", "--min-size", "2MiB", "--max-size", "4MiB", LONG, "--json");
	json_t *document, *config;
	size_t i, exchanges = 0;

	(void)state;
	assert_int_equal(spawned.exit, 0);
	document = json_loads(spawned.out.data, 0, NULL);
	json_array_foreach(json_object_get(document, "configs"), i, config)
	{
		assert_true(json_is_true(json_object_get(config, "verified")));
		exchanges += strcmp(json_string_value(json_object_get(config, "engine")), "exchange") == 0;
	}
	assert_int_equal(
		exchanges, 2); /* one size, 4 MiB, listed once for each direction (GPU 0 to 1 and 1 to 0) */
	assert_non_null(strstr(spawned.out.data, "ping-pong is queued by one process"));
	json_decref(document);
	spawned_done(&spawned);
}

static void numbers_of_ranks_that_contradict_are_refused(void **state)
{
	struct spawned spawned;

	(void)state;
	setenv("WORLD_SIZE", "4", 1);
	spawned = spawn_run(&(struct spawn){
		.words = (const char *const[]){PAIRS, "--ranks", "2", NULL}, .environment = "RANK=0"});
	unsetenv("WORLD_SIZE");
	assert_int_equal(spawned.exit, 2);
	assert_non_null(strstr(spawned.err.data, "--ranks says 2"));
	spawned_done(&spawned);
}

static void fake_gpus_of_three_processes_reach_each_other_and_by_nccl(void **state)
{
	struct spawned spawned;
	json_t *document, *configs, *config;
	size_t i, together = 0;

	(void)state;
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_CUDA_DIR, 1);
	setenv("KWHY_FAKE_CUDA_DEVICES", "3", 1);
	setenv("KWHY_FAKE_CUDA_SHARED", "1", 1);
	setenv("KWHY_FAKE_GPU_KERNELS", KWHY_FAKE_KERNELS, 1);
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
	spawned = SPAWN("bench", "pairs", "--quiet", SMALL, "--timing", "back-to-back", "--ranks", "3",
		"--engine",
		"write,read,kernel,socket,staged,nccl,nccl-exchange,nccl-full,all-reduce,all-gather,"
		"reduce-scatter,broadcast,all-to-all",
		LONG, "--json");
	unsetenv("LD_LIBRARY_PATH");
	assert_int_equal(spawned.exit, 0);
	document = json_loads(spawned.out.data, 0, NULL);
	configs = json_object_get(document, "configs");
	assert_int_equal(json_array_size(configs),
		7 * 6 + 5 + 1); /* engines (staged is absent) x pairs + collectives + reference */
	json_array_foreach(configs, i, config)
	{
		assert_true(json_is_true(json_object_get(config, "verified")));
		together += json_object_get(config, "bus_bytes_per_s") != NULL;
	}
	assert_int_equal(together, 5);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(document, "conditions"), "nccl")),
		"2.27.5");
	json_array_foreach(json_object_get(document, "absent"), i, config)
		assert_string_equal(json_string_value(json_object_get(config, "engine")), "staged");
	json_decref(document);
	spawned_done(&spawned);
}

static void two_ranks_of_one_gpu_are_refused(void **state)
{
	struct spawned spawned;

	(void)state;
	setenv("LD_LIBRARY_PATH", KWHY_FAKE_CUDA_DIR, 1);
	setenv("KWHY_FAKE_CUDA_DEVICES", "1", 1);
	spawned = SPAWN(
		"bench", "pairs", "--quiet", SMALL, "--ranks", "2", "--engine", "write", "--time", "1");
	unsetenv("LD_LIBRARY_PATH");
	assert_int_equal(spawned.exit, 1);
	assert_non_null(strstr(spawned.err.data, "ranks 0 and 1 both have GPU"));
	spawned_done(&spawned);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_that_is_killed_ends_the_run_with_what_was_measured),
		cmocka_unit_test(every_rank_has_its_files_and_its_clock),
		cmocka_unit_test(a_launchers_processes_find_each_other),
		cmocka_unit_test(ranks_that_are_asked_for_different_things_are_refused),
		cmocka_unit_test(both_ends_of_an_exchange_copy_at_once),
		cmocka_unit_test(numbers_of_ranks_that_contradict_are_refused),
		cmocka_unit_test(fake_gpus_of_three_processes_reach_each_other_and_by_nccl),
		cmocka_unit_test(two_ranks_of_one_gpu_are_refused),
	};

	return kwhy_test_main(tests, begin, NULL);
}
