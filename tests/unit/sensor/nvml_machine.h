/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_SENSOR_NVML_MACHINE_H
#define KWHY_TESTS_UNIT_SENSOR_NVML_MACHINE_H

#include "cmocka_all.h"
#include "fakes/nvml/clock.h"
#include "sensor/sensor.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A simulated machine with the fake NVML. Its time advances only when the test runs it. Reading tasks run in
 * the test's thread, in the order in which they are due, without waiting.
 */
#define MS INT64_C(1000000)
#define S (1000 * MS)
#define UNIX_S INT64_C(1750000000)

enum { MACHINE_TASKS = 64, MACHINE_READINGS = 1 << 16 };

struct machine {
	int64_t now_ns, offset_ns;
	struct kwhy_clock clock;
	struct kwhy_sensor_request request;
	struct kwhy_sensors *sensors;
	int64_t due_ns[MACHINE_TASKS];
	uint64_t reads;
	void *library;
	char scenario_path[64];
	struct kwhy_reading readings[MACHINE_READINGS];
	size_t count;
};

static inline int64_t machine_now(void *context)
{
	return ((struct machine *)context)->now_ns;
}

static inline struct kwhy_clock_relation machine_relate(void *context)
{
	const struct machine *machine = context;

	return (struct kwhy_clock_relation){machine->now_ns, machine->offset_ns, 100};
}

static inline void machine_set_clock(struct machine *machine)
{
	void (*set)(const struct kwhy_clock *clock);

	machine->clock = (struct kwhy_clock){
		.now_mono_ns = machine_now, .relate = machine_relate, .context = machine};
	machine->library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	assert_non_null(machine->library);
	*(void **)&set = dlsym(machine->library, "kwhy_fake_nvml_set_clock");
	assert_non_null(set);
	set(&machine->clock);
}

/*
 * Returns a machine whose fake NVML follows the scenario. The test may change its request before
 * machine_open(); machine_end() frees it.
 */
static inline struct machine *machine_new(const char *scenario)
{
	struct machine *machine = calloc(1, sizeof(*machine));
	int file;

	assert_non_null(machine);
	machine->now_ns = 5000 * S;
	machine->offset_ns = (UNIX_S - 5000) * S;
	machine->request = (struct kwhy_sensor_request){
		.gauges = true,
		.without_rocm = true,
		.without_host = true,
		.history_s = 700,
		.counter_period_ns = 100 * MS,
		.clock = &machine->clock,
	};
	snprintf(machine->scenario_path, sizeof(machine->scenario_path), "/tmp/kwhy-nvml-XXXXXX");
	file = mkstemp(machine->scenario_path);
	assert_true(file >= 0);
	assert_int_equal(write(file, scenario, strlen(scenario)), strlen(scenario));
	close(file);
	setenv("KWHY_FAKE_NVML", machine->scenario_path, 1);
	machine_set_clock(machine);
	return machine;
}

static inline void machine_open(struct machine *machine)
{
	struct kwhy_error error;

	assert_int_equal(kwhy_sensors_open(&machine->request, &machine->sensors, &error), KWHY_OK);
	assert_true(machine->sensors->task_count <= MACHINE_TASKS);
	for (size_t i = 0; i < machine->sensors->task_count; i++)
		machine->due_ns[i] = machine->now_ns;
}

static inline struct machine *machine_start(const char *scenario)
{
	struct machine *machine = machine_new(scenario);

	machine_open(machine);
	return machine;
}

static inline void machine_end(struct machine *machine)
{
	kwhy_sensors_close(machine->sensors);
	unlink(machine->scenario_path);
	dlclose(machine->library);
	free(machine);
}

static inline void machine_run_task(struct machine *machine, size_t i)
{
	const struct kwhy_sensor_task *task = &machine->sensors->tasks[i];
	int64_t asked_ns = task->read(task->state, task->argument, machine->now_ns);

	machine->reads++;
	machine->due_ns[i] = asked_ns ? asked_ns : machine->now_ns + task->period_ns;
}

static inline void machine_run(struct machine *machine, int64_t length_ns)
{
	int64_t until_ns = machine->now_ns + length_ns;

	for (;;) {
		size_t first = 0;

		for (size_t i = 1; i < machine->sensors->task_count; i++)
			if (machine->due_ns[i] < machine->due_ns[first])
				first = i;
		if (machine->sensors->task_count == 0 || machine->due_ns[first] > until_ns)
			break;
		if (machine->due_ns[first] > machine->now_ns)
			machine->now_ns = machine->due_ns[first];
		machine_run_task(machine, first);
	}
	machine->now_ns = until_ns;
}

/*
 * Reads all readings of a source into machine->readings and checks that their times rise. Returns their
 * number.
 */
static inline size_t machine_read(struct machine *machine, const struct kwhy_source_channel *source)
{
	struct kwhy_channel_cursor cursor = {0};

	assert_non_null(source);
	machine->count = kwhy_channel_read(&source->channel, &cursor, machine->readings, MACHINE_READINGS);
	assert_int_equal(cursor.lost, 0);
	for (size_t i = 1; i < machine->count; i++)
		assert_true(machine->readings[i].time_mono_ns > machine->readings[i - 1].time_mono_ns);
	return machine->count;
}

static inline const struct kwhy_source_channel *machine_meter(
	const struct machine *machine, enum kwhy_meter meter, uint32_t device)
{
	return kwhy_sensors_find_meter(machine->sensors, meter, device);
}

static inline int64_t machine_gauge(struct machine *machine, enum kwhy_gauge gauge)
{
	const struct kwhy_source_channel *source = kwhy_sensors_find_gauge(machine->sensors, gauge, 0);
	struct kwhy_reading last;

	assert_non_null(source);
	assert_true(kwhy_channel_last(&source->channel, &last));
	return last.value;
}

/* Returns whether a message about missing sensors contains these words. */
static inline bool machine_lacks(const struct machine *machine, const char *words)
{
	for (size_t i = 0; i < machine->sensors->absence_count; i++)
		if (strstr(machine->sensors->absences[i].text, words))
			return true;
	return false;
}

#endif
