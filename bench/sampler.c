/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures what reading the meters costs: processor time of the sampling thread for each second of elapsed
 * time, number of reads, of missed deadlines, and the longest read. The meters are those of a simulated
 * machine (two sockets with their memory, four board sensors, the file of a wall meter) and of the GPUs that
 * the libraries in LD_LIBRARY_PATH show; for comparison, it also measures without any meter. Usage:
 * bench_sampler [SECONDS]
 */
#include "sensor/sampler.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct kwhy_error error;

static void must(int failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "bench_sampler: %s\n", what);
	exit(1);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
	file = fopen(path, "w");
	must(!file || fputs(text, file) < 0 || fclose(file), path);
}

static void write_zone(const char *folder, const char *zone, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "powercap/%s/name", zone);
	write_file(folder, path, name);
	snprintf(path, sizeof(path), "powercap/%s/max_energy_range_uj", zone);
	write_file(folder, path, "262143328850\n");
	snprintf(path, sizeof(path), "powercap/%s/energy_uj", zone);
	write_file(folder, path, "123456789012\n");
}

static void write_machine(const char *folder)
{
	write_zone(folder, "intel-rapl:0", "package-0\n");
	write_zone(folder, "intel-rapl:0:0", "dram\n");
	write_zone(folder, "intel-rapl:1", "package-1\n");
	write_zone(folder, "intel-rapl:1:0", "dram\n");
	for (int i = 1; i <= 4; i++) {
		char name[64];

		snprintf(name, sizeof(name), "hwmon/hwmon0/power%d_input", i);
		write_file(folder, name, "61000000\n");
	}
	write_file(folder, "hwmon/hwmon0/name", "board\n");
	write_file(folder, "wall.csv", "time_ns,device,source,value\n");
}

static int remove_one(const char *path, const struct stat *at, int type, struct FTW *walk)
{
	(void)at, (void)type, (void)walk;
	return remove(path);
}

static void measure(const char *title, const struct kwhy_sensor_request *request, int seconds)
{
	struct kwhy_sensors *sensors;
	struct kwhy_sampler *sampler;
	struct kwhy_sampler_cost cost;
	struct timespec pause = {.tv_sec = seconds};

	must(kwhy_sensors_open(request, &sensors, &error), error.text);
	must(kwhy_sampler_start(sensors, NULL, &sampler, &error), error.text);
	nanosleep(&pause, NULL);
	kwhy_sampler_stop(sampler, &cost);
	printf("%-28s %2zu sources %2zu tasks  %6.1f us CPU/s (%.4f %% of a core)  %6.1f reads/s  missed "
	       "%" PRIu64 "  longest read %.3f ms\n",
		title, sensors->source_count, sensors->task_count,
		(double)cost.cpu_ns * 1e6 / (double)cost.running_ns,
		100 * (double)cost.cpu_ns / (double)cost.running_ns,
		(double)cost.reads * 1e9 / (double)cost.running_ns, cost.missed,
		(double)cost.longest_read_ns / 1e6);
	kwhy_sensors_close(sensors);
}

int main(int count, char **arguments)
{
	int seconds = count > 1 ? atoi(arguments[1]) : 10;
	char folder[] = "/tmp/kwhy-bench-XXXXXX", powercap[64], hwmon[64], wall[64];
	const char *files[] = {wall};
	struct kwhy_sensor_request request = {.powercap_root = powercap,
		.hwmon_root = hwmon,
		.meter_files = files,
		.meter_file_count = 1,
		.gauges = true};

	must(!mkdtemp(folder), folder);
	snprintf(powercap, sizeof(powercap), "%s/powercap", folder);
	snprintf(hwmon, sizeof(hwmon), "%s/hwmon", folder);
	snprintf(wall, sizeof(wall), "%s/wall.csv", folder);
	write_machine(folder);
	measure("host, board, wall and GPUs", &request, seconds);
	request.without_nvml = request.without_rocm = true;
	measure("host, board and wall", &request, seconds);
	request.without_host = true;
	request.meter_file_count = 0;
	measure("no meter", &request, seconds);
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}
