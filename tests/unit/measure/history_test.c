/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "measure/history.h"
#include "ok.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct kwhy_error error;

#define MS INT64_C(1000000)

static uint32_t add_source(struct kwhy_sensors *sensors, enum kwhy_meter meter, uint32_t device)
{
	struct kwhy_sensor_request request = {.history_s = 10};
	struct kwhy_source_channel source = {.meter = meter, .device = device, .period_ns = 100 * MS};
	uint32_t index;

	OK(kwhy_sensors_add_source(sensors, &source, 10, &request, &index, &error));
	return index;
}

static uint32_t add_device(struct kwhy_sensors *sensors, int32_t number)
{
	struct kwhy_sensor_device device = {.index = number, .mig_index = -1};
	uint32_t index;

	OK(kwhy_sensors_add_device(sensors, &device, &index, &error));
	return index;
}

/*
 * Returns the sensors of a first device with counter and power, of a second one with only a counter, of a CPU
 * package and of a wall meter.
 */
static struct kwhy_sensors *sensors_made(void)
{
	struct kwhy_sensors *sensors = calloc(1, sizeof(*sensors));
	uint32_t first, second;

	assert_non_null(sensors);
	first = add_device(sensors, 0);
	second = add_device(sensors, 3);
	add_source(sensors, KWHY_METER_NVML_ENERGY, first);
	add_source(sensors, KWHY_METER_NVML_SAMPLE, first);
	add_source(sensors, KWHY_METER_NVML_ENERGY, second);
	add_source(sensors, KWHY_METER_RAPL_PACKAGE, KWHY_SENSOR_NO_DEVICE);
	add_source(sensors, KWHY_METER_WALL, KWHY_SENSOR_NO_DEVICE);
	return sensors;
}

static void free_sensors(struct kwhy_sensors *sensors)
{
	kwhy_arena_done(&sensors->arena);
	free(sensors);
}

static void push(struct kwhy_sensors *sensors, size_t source, int64_t time_ns, int64_t value)
{
	kwhy_channel_push(&sensors->sources[source].channel, (struct kwhy_reading){time_ns, value});
}

static void what_is_metered_pairs_counters_and_powers(void **state)
{
	struct kwhy_sensors *sensors = sensors_made();
	const struct kwhy_metered *items;
	struct kwhy_history *history;
	size_t count;

	(void)state;
	OK(kwhy_history_new(sensors, 0, &history, &error));
	items = kwhy_history_metered(history, &count);
	assert_int_equal(count, 4);
	assert_string_equal(items[0].name, "gpu 0");
	assert_int_equal(items[0].counter, 0);
	assert_int_equal(items[0].power, 1);
	assert_string_equal(items[1].name, "gpu 3");
	assert_true(items[1].power == KWHY_HISTORY_NO_SOURCE);
	assert_string_equal(items[2].name, "rapl.package-0");
	assert_string_equal(items[3].name, "meter");
	assert_int_equal(items[3].kind, KWHY_METERED_WALL);
	kwhy_history_free(history);
	free_sensors(sensors);
}

static void drained_readings_make_a_curve(void **state)
{
	struct kwhy_sensors *sensors = sensors_made();
	struct kwhy_history *history;
	struct kwhy_energy energy;
	struct kwhy_curve *curve;

	(void)state;
	OK(kwhy_history_new(sensors, 0, &history, &error));
	for (int64_t i = 0; i < 40; i++) {
		push(sensors, 2, i * 100 * MS, i * 20000);
		if (i % 7 == 0)
			OK(kwhy_history_drain(history, &error));
	}
	OK(kwhy_history_drain(history, &error));
	OK(kwhy_history_curve(history, 1, NULL, &curve, &error));
	kwhy_window_energy(curve, 500 * MS, 2500 * MS, KWHY_ENOUGH_RATIO, &energy);
	assert_true(fabs(energy.joules - 400) < 1e-6);
	assert_int_equal(kwhy_history_losses(history).lost, 0);
	kwhy_curve_free(curve);
	kwhy_history_free(history);
	free_sensors(sensors);
}

static void what_is_forgotten_or_lost_is_counted(void **state)
{
	struct kwhy_sensors *sensors = sensors_made();
	struct kwhy_history *history;

	(void)state;
	OK(kwhy_history_new(sensors, 300, &history, &error));
	for (int64_t i = 0; i < 1000; i++) {
		push(sensors, 0, i * 100 * MS, i * 20000);
		if (i > 200)
			OK(kwhy_history_drain(history, &error));
	}
	assert_true(kwhy_history_losses(history).lost > 0);
	assert_true(kwhy_history_losses(history).forgotten > 0);
	assert_true(kwhy_history_readings(history, 0).count <= 600);
	kwhy_history_forget(history, 99900 * MS);
	assert_int_equal(kwhy_history_readings(history, 0).count, 1);
	assert_int_equal(kwhy_history_readings(history, 0).items[0].time_mono_ns, 99900 * MS);
	kwhy_history_free(history);
	free_sensors(sensors);
}

#define SECOND (1000 * MS)

/*
 * A meter that has stopped must not delay sums of what the other meters have reported. It counts as stopped
 * if its device is lost, if it has no reading, or if its last reading is at least 45 s old.
 */
static void a_meter_goes_on_unless_its_device_is_lost_or_it_has_long_told_nothing(void **state)
{
	struct kwhy_sensors *sensors = sensors_made();
	struct kwhy_history *history;

	(void)state;
	OK(kwhy_history_new(sensors, 0, &history, &error));
	assert_true(kwhy_history_goes_on(history, 0, 100 * SECOND, 100 * SECOND));
	assert_true(kwhy_history_goes_on(history, 0, 60 * SECOND, 100 * SECOND));
	assert_false(kwhy_history_goes_on(history, 0, 55 * SECOND, 100 * SECOND));
	assert_false(kwhy_history_goes_on(history, 0, 0, 10 * SECOND));
	atomic_store(&sensors->devices[1].lost, true);
	assert_true(kwhy_history_goes_on(history, 0, 100 * SECOND, 100 * SECOND));
	assert_false(kwhy_history_goes_on(history, 1, 100 * SECOND, 100 * SECOND));
	assert_true(kwhy_history_is_lost(history, 1));
	assert_true(kwhy_history_goes_on(history, 3, 100 * SECOND, 100 * SECOND));
	assert_false(kwhy_history_is_lost(history, 3));
	kwhy_history_free(history);
	free_sensors(sensors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_metered_pairs_counters_and_powers),
		cmocka_unit_test(drained_readings_make_a_curve),
		cmocka_unit_test(what_is_forgotten_or_lost_is_counted),
		cmocka_unit_test(a_meter_goes_on_unless_its_device_is_lost_or_it_has_long_told_nothing),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
