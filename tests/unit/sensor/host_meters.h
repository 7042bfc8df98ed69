/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_SENSOR_HOST_METERS_H
#define KWHY_TESTS_UNIT_SENSOR_HOST_METERS_H

#include "temporary.h"

#include "sensor/sensor.h"

/*
 * Sensors of a simulated machine: files as in /sys in a temporary folder. The test runs the reading tasks
 * itself, without a sampler.
 */
struct host {
	struct temporary folder;
	char powercap[128], perf[128], hwmon[128];
	struct kwhy_sensor_request request;
	struct kwhy_sensors *sensors;
	struct kwhy_error error;
};

static inline int host_setup(void **state)
{
	static struct host host;

	memset(&host, 0, sizeof(host));
	temporary_init(&host.folder);
	snprintf(host.powercap, sizeof(host.powercap), "%s/powercap", host.folder.path);
	snprintf(host.perf, sizeof(host.perf), "%s/perf", host.folder.path);
	snprintf(host.hwmon, sizeof(host.hwmon), "%s/hwmon", host.folder.path);
	host.request = (struct kwhy_sensor_request){.without_nvml = true,
		.without_rocm = true,
		.powercap_root = host.powercap,
		.perf_root = host.perf,
		.hwmon_root = host.hwmon};
	*state = &host;
	return 0;
}

static inline int host_teardown(void **state)
{
	struct host *host = *state;

	kwhy_sensors_close(host->sensors);
	temporary_done(&host->folder);
	return 0;
}

static inline void host_open(struct host *host)
{
	if (kwhy_sensors_open(&host->request, &host->sensors, &host->error))
		fail_msg("%s", host->error.text);
}

/* Runs each reading task once, as if it were due at now_mono_ns. */
static inline void host_read(struct host *host, int64_t now_mono_ns)
{
	for (size_t i = 0; i < host->sensors->task_count; i++) {
		const struct kwhy_sensor_task *task = &host->sensors->tasks[i];

		task->read(task->state, task->argument, now_mono_ns);
	}
}

static inline const struct kwhy_source_channel *host_source(
	const struct host *host, enum kwhy_meter meter, uint32_t domain)
{
	for (size_t i = 0; i < host->sensors->source_count; i++)
		if (host->sensors->sources[i].meter == meter && host->sensors->sources[i].domain == domain)
			return &host->sensors->sources[i];
	return NULL;
}

/* Returns the newest value of a source; -1 if it has none. */
static inline int64_t host_last(const struct host *host, enum kwhy_meter meter, uint32_t domain)
{
	const struct kwhy_source_channel *source = host_source(host, meter, domain);
	struct kwhy_reading reading;

	assert_non_null(source);
	return kwhy_channel_last(&source->channel, &reading) ? reading.value : -1;
}

/*
 * Returns the message of a back end about missing sensors; NULL: it has none. Valid while the sensors are
 * open.
 */
static inline const char *host_absence(const struct host *host, const char *backend)
{
	for (size_t i = 0; i < host->sensors->absence_count; i++)
		if (!strcmp(host->sensors->absences[i].backend, backend))
			return host->sensors->absences[i].text;
	return NULL;
}

#endif
