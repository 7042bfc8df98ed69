/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the readings of NVML's meters on real NVIDIA GPUs, which may run any work meanwhile. Skipped where
 * there is no GPU.
 */
#include "cmocka_all.h"
#include "sensor/sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SECONDS = 10, READINGS_MAX = 4096 };

static struct kwhy_sensors *sensors;
static struct kwhy_sampler_cost cost;
static struct kwhy_reading readings[READINGS_MAX];

static size_t read_all(const struct kwhy_source_channel *source)
{
	struct kwhy_channel_cursor cursor = {0};

	return kwhy_channel_read(&source->channel, &cursor, readings, READINGS_MAX);
}

/*
 * Fixture: samples all meters for ten seconds. Ends the test program as skipped (exit status 77) where there
 * is no GPU.
 */
static int sample(void **state)
{
	const struct kwhy_sensor_request request = {
		.gauges = true, .without_rocm = true, .without_host = true, .counter_period_ns = 100000000};
	const struct timespec length = {.tv_sec = SECONDS};
	struct kwhy_sampler *sampler;
	struct kwhy_error error;

	(void)state;
	if (kwhy_sensors_open(&request, &sensors, &error))
		return -1;
	if (sensors->source_count == 0) {
		exit(kwhy_skip_all(sensors->absence_count ? sensors->absences[0].text : "no meter of a GPU"));
	}
	if (kwhy_sampler_start(sensors, NULL, &sampler, &error))
		return -1;
	nanosleep(&length, NULL);
	kwhy_sampler_stop(sampler, &cost);
	return 0;
}

static int end(void **state)
{
	(void)state;
	kwhy_sensors_close(sensors);
	return 0;
}

static void every_gpu_has_a_name_a_place_and_memory(void **state)
{
	(void)state;
	for (size_t i = 0; i < sensors->device_count; i++) {
		assert_non_null(sensors->devices[i].name);
		assert_non_null(sensors->devices[i].uuid);
		assert_true(sensors->devices[i].memory_bytes > 0);
		assert_false(sensors->devices[i].lost);
	}
}

static void readings_are_in_order_of_time_and_none_is_missing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sensors->source_count; i++) {
		size_t count = read_all(&sensors->sources[i]);

		assert_int_equal(sensors->sources[i].failures, 0);
		for (size_t j = 1; j < count; j++)
			assert_true(readings[j].time_mono_ns > readings[j - 1].time_mono_ns);
	}
}

static double integrate_mj(size_t count, int64_t from_ns, int64_t to_ns)
{
	double energy_mj = 0;

	for (size_t i = 1; i < count; i++) {
		int64_t begin = readings[i - 1].time_mono_ns, end_ns = readings[i].time_mono_ns;

		begin = begin < from_ns ? from_ns : begin;
		end_ns = end_ns > to_ns ? to_ns : end_ns;
		if (end_ns > begin)
			energy_mj += (double)(readings[i - 1].value + readings[i].value) / 2 *
				(double)(end_ns - begin) / 1e9;
	}
	return energy_mj;
}

/*
 * Energy from power samples (NVML's ring of samples) and from the counter may differ by 2 %, as samples are
 * 20 ms apart and the power may change between them.
 */
static void the_ring_and_the_counter_agree(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sensors->device_count; i++) {
		const struct kwhy_source_channel *counter = kwhy_sensors_find_meter(
			sensors, KWHY_METER_NVML_ENERGY, i);
		const struct kwhy_source_channel *ring = kwhy_sensors_find_meter(
			sensors, KWHY_METER_NVML_SAMPLE, i);
		size_t count = counter && ring ? read_all(counter) : 0;
		struct kwhy_reading first, last;
		double ratio;

		if (count < 2)
			continue;
		first = readings[0];
		last = readings[count - 1];
		ratio = integrate_mj(read_all(ring), first.time_mono_ns, last.time_mono_ns) /
			(double)(last.value - first.value);
		print_message("GPU %u: ring / counter = %.4f over %.2f s, %zu ticks\n", i, ratio,
			(double)(last.time_mono_ns - first.time_mono_ns) / 1e9, count);
		assert_float_equal(ratio, 1, 0.02);
	}
}

static void sampling_tells_what_it_took(void **state)
{
	(void)state;
	print_message("sampling took %.3f %% of a core, longest read %.1f ms\n",
		100.0 * (double)cost.cpu_ns / (double)cost.running_ns, (double)cost.longest_read_ns / 1e6);
	assert_true(cost.cpu_ns > 0);
	assert_true(cost.reads > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_gpu_has_a_name_a_place_and_memory),
		cmocka_unit_test(readings_are_in_order_of_time_and_none_is_missing),
		cmocka_unit_test(the_ring_and_the_counter_agree),
		cmocka_unit_test(sampling_tells_what_it_took),
	};

	return kwhy_test_main(tests, sample, end);
}
