/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/sensor.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Fuzzes the sensors that read power CSV: replayed (as by --power-file) and followed while the file grows.
 * Whatever the bytes, replayed readings must be in order of time, and an error must have a message.
 */

enum { ROUNDS_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void check_order(const struct kwhy_sensors *sensors)
{
	for (size_t i = 0; i < sensors->source_count; i++) {
		struct kwhy_channel_cursor cursor = {0};
		struct kwhy_reading reading;
		int64_t before_ns = INT64_MIN;

		while (kwhy_channel_read(&sensors->sources[i].channel, &cursor, &reading, 1) == 1) {
			if (reading.time_mono_ns < before_ns || reading.value < 0)
				abort();
			before_ns = reading.time_mono_ns;
		}
	}
}

static void play(const char *path)
{
	struct kwhy_sensor_request request = {.replay_path = path};
	struct kwhy_sensors *sensors;
	struct kwhy_error error = {0};
	int64_t now_ns = 1000;

	if (kwhy_sensors_open(&request, &sensors, &error)) {
		if (!error.text[0])
			abort();
		return;
	}
	for (int round = 0; round < ROUNDS_MAX && now_ns < INT64_MAX; round++)
		now_ns = sensors->tasks[0].read(sensors->tasks[0].state, 0, now_ns);
	check_order(sensors);
	kwhy_sensors_close(sensors);
}

/*
 * Follows the file while it grows: the first half of the bytes is there at the start, the second half is
 * appended later.
 */
static void follow(const uint8_t *data, size_t length, const char *path, int file)
{
	struct kwhy_sensor_request request = {.without_nvml = true,
		.without_rocm = true,
		.without_host = true,
		.meter_files = &path,
		.meter_file_count = 1};
	struct kwhy_sensors *sensors;
	struct kwhy_error error = {0};

	if (ftruncate(file, 0) || pwrite(file, data, length / 2, 0) < 0)
		abort();
	if (kwhy_sensors_open(&request, &sensors, &error)) {
		if (!error.text[0])
			abort();
		return;
	}
	sensors->tasks[0].read(sensors->tasks[0].state, 0, 1);
	if (pwrite(file, data + length / 2, length - length / 2, (off_t)(length / 2)) < 0)
		abort();
	sensors->tasks[0].read(sensors->tasks[0].state, 0, 2);
	kwhy_sensors_close(sensors);
}

/* The input is written to a file with a name, as the sensors treat one without a name as removed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	char path[] = "/tmp/kwhy-fuzz-XXXXXX";
	int file = mkstemp(path);

	if (file < 0 || write(file, data, length) != (ssize_t)length)
		abort();
	play(path);
	follow(data, length, path, file);
	close(file);
	unlink(path);
	return 0;
}
