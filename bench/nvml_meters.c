/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows what the meters of this machine's NVIDIA GPUs report and what reading them costs: for each source its
 * number of readings, the gaps between them and its failures; the energy counter compared with the integral
 * of the ring buffer's power samples; and the processor time of the sampling thread. Usage: bench_nvml_meters
 * [SECONDS] [all]. The exit status is 77 if there is no meter.
 */
#include "sensor/sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { READINGS_MAX = 1 << 16 };

static struct kwhy_reading readings[READINGS_MAX];
static double gaps_ms[READINGS_MAX];

static size_t read_all(const struct kwhy_source_channel *source)
{
	struct kwhy_channel_cursor cursor = {0};

	return kwhy_channel_read(&source->channel, &cursor, readings, READINGS_MAX);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_gaps(size_t count)
{
	if (count < 3)
		return;
	for (size_t i = 1; i < count; i++)
		gaps_ms[i - 1] = (double)(readings[i].time_mono_ns - readings[i - 1].time_mono_ns) / 1e6;
	qsort(gaps_ms, count - 1, sizeof(gaps_ms[0]), compare_doubles);
	printf(", gaps ms %.3f %.3f %.3f %.3f %.3f (least 10%% median 90%% most)", gaps_ms[0],
		gaps_ms[(count - 1) / 10], gaps_ms[(count - 1) / 2], gaps_ms[(count - 1) * 9 / 10],
		gaps_ms[count - 2]);
}

static void print_source(const struct kwhy_source_channel *source)
{
	const char *name = source->kind == KWHY_SOURCE_METER ? kwhy_meter_name(source->meter)
							     : kwhy_gauge_name(source->gauge);
	size_t count = read_all(source);

	printf("device %u %s: %zu readings, %llu failures", source->device, name, count,
		(unsigned long long)source->failures);
	if (count > 0)
		printf(", first %lld last %lld", (long long)readings[0].value,
			(long long)readings[count - 1].value);
	print_gaps(count);
	printf("\n");
}

/*
 * Energy between two times by the power readings, J. Between two readings, the power is taken to be their
 * mean.
 */
static double integrate_j(size_t count, int64_t from_ns, int64_t to_ns)
{
	double joules = 0;

	for (size_t i = 1; i < count; i++) {
		int64_t begin = readings[i - 1].time_mono_ns, end = readings[i].time_mono_ns;
		double mean_w = (double)(readings[i - 1].value + readings[i].value) / 2000;

		if (begin < from_ns)
			begin = from_ns;
		if (end > to_ns)
			end = to_ns;
		if (end > begin)
			joules += mean_w * (double)(end - begin) / 1e9;
	}
	return joules;
}

static void print_agreement(const struct kwhy_sensors *sensors, uint32_t device, enum kwhy_meter meter)
{
	const struct kwhy_source_channel *counter = kwhy_sensors_find_meter(
		sensors, KWHY_METER_NVML_ENERGY, device);
	const struct kwhy_source_channel *power = kwhy_sensors_find_meter(sensors, meter, device);
	size_t count = counter ? read_all(counter) : 0;
	struct kwhy_reading first, last;
	double counted_j, integral_j;

	if (count < 2 || !power)
		return;
	first = readings[0];
	last = readings[count - 1];
	counted_j = (double)(last.value - first.value) / 1e3;
	integral_j = integrate_j(read_all(power), first.time_mono_ns, last.time_mono_ns);
	printf("device %u: counter %.3f J in %.4f s, %s %.3f J, ratio %.5f\n", device, counted_j,
		(double)(last.time_mono_ns - first.time_mono_ns) / 1e9, kwhy_meter_name(meter), integral_j,
		integral_j / counted_j);
}

static void print_devices(const struct kwhy_sensors *sensors)
{
	for (size_t i = 0; i < sensors->device_count; i++) {
		const struct kwhy_sensor_device *device = &sensors->devices[i];

		printf("device %zu: index %d mig %d, %s, %s, %s, driver %s, %u SMs, %llu bytes, limit %lld "
		       "of "
		       "%lld mW\n",
			i, device->index, device->mig_index, device->name, device->uuid, device->pci_address,
			device->driver, device->sm_count, (unsigned long long)device->memory_bytes,
			(long long)device->limit_mw, (long long)device->default_limit_mw);
	}
	for (size_t i = 0; i < sensors->absence_count; i++)
		printf("absent: %s: %s\n", sensors->absences[i].backend, sensors->absences[i].text);
	for (size_t i = 0; i < sensors->task_count; i++)
		printf("task: %s every %.0f ms\n", sensors->tasks[i].title,
			(double)sensors->tasks[i].period_ns / 1e6);
}

static void print_results(const struct kwhy_sensors *sensors, const struct kwhy_sampler_cost *cost)
{
	printf("cost: %.3f ms of processor in %.3f s (%.4f %%), %llu reads, %llu missed, longest %.3f ms\n",
		(double)cost->cpu_ns / 1e6, (double)cost->running_ns / 1e9,
		100.0 * (double)cost->cpu_ns / (double)cost->running_ns, (unsigned long long)cost->reads,
		(unsigned long long)cost->missed, (double)cost->longest_read_ns / 1e6);
	for (size_t i = 0; i < sensors->source_count; i++)
		print_source(&sensors->sources[i]);
	for (uint32_t i = 0; i < sensors->device_count; i++) {
		print_agreement(sensors, i, KWHY_METER_NVML_SAMPLE);
		print_agreement(sensors, i, KWHY_METER_NVML_AVERAGE);
		print_agreement(sensors, i, KWHY_METER_NVML_INSTANT);
	}
}

static int sample(struct kwhy_sensors *sensors, double seconds)
{
	struct timespec length = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
	struct kwhy_sampler_cost cost;
	struct kwhy_sampler *sampler;
	struct kwhy_error error;

	if (kwhy_sampler_start(sensors, NULL, &sampler, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	nanosleep(&length, NULL);
	kwhy_sampler_stop(sampler, &cost);
	print_results(sensors, &cost);
	return 0;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 10;
	struct kwhy_sensor_request request = {
		.gauges = true,
		.all_meters = argc > 2 && strcmp(argv[2], "all") == 0,
		.without_rocm = true,
		.without_host = true,
		.history_s = (size_t)seconds + 60,
	};
	struct kwhy_sensors *sensors;
	struct kwhy_error error;
	int result = 77;

	if (kwhy_sensors_open(&request, &sensors, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	print_devices(sensors);
	if (sensors->source_count > 0)
		result = sample(sensors, seconds);
	kwhy_sensors_close(sensors);
	return result;
}
