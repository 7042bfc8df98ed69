/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/total.h"

#include "model/response.h"
#include "ok.h"

#include <stdlib.h>

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)
#define MJ_NJ INT64_C(1000000)
enum { SAMPLES = 8192, COUNTS = 512 };

static struct kwhy_error error;

/* A simulated device. Its power samples come every 20 ms and are 1 % too high; its counter is exact. */
struct device {
	struct kwhy_reading samples[SAMPLES], counts[COUNTS];
	size_t sample_count, count_count;
	int64_t now_ns;
	double joules;
	int64_t offset_mj, wrap;
	bool without_counter;
};

static void pass(struct device *device, int64_t length_ns, double power_w)
{
	for (int64_t end_ns = device->now_ns + length_ns; device->now_ns < end_ns;) {
		device->now_ns += 20 * MS;
		device->joules += power_w * 0.02;
		device->samples[device->sample_count++] = (struct kwhy_reading){
			device->now_ns, llround(power_w * 1010)};
	}
}

/* Adds a reading of the counter at the simulated present time, now_ns. */
static void count(struct device *device)
{
	int64_t value = llround(device->joules * 1e3) + device->offset_mj;

	device->counts[device->count_count++] = (struct kwhy_reading){
		device->now_ns, device->wrap ? value % (device->wrap + 1) : value};
}

static bool advance(struct device *device, struct kwhy_meter_total *total, struct kwhy_total_window *window)
{
	struct kwhy_readings counter = {.meter = KWHY_METER_NVML_ENERGY,
				     .items = device->counts,
				     .count = device->count_count,
				     .wrap = device->wrap},
			     power = {.meter = KWHY_METER_NVML_SAMPLE,
				     .items = device->samples,
				     .count = device->sample_count,
				     .period_ns = 20 * MS};
	struct kwhy_total_readings readings = {
		.has_counter = device->count_count > 0, .meter = counter.meter, .wrap = device->wrap};
	struct kwhy_response response = kwhy_response_of(KWHY_METER_NVML_SAMPLE);
	struct kwhy_curve *curve;
	int64_t before_nj = total->booked_nj;
	bool is_new;

	OK(kwhy_curve_new(device->without_counter ? NULL : &counter, &power, &response, &curve, &error));
	readings.curve = curve;
	if (readings.has_counter)
		readings.counter = device->counts[device->count_count - 1];
	is_new = kwhy_total_advance(total, &readings, window);
	kwhy_curve_free(curve);
	assert_true(window->energy_nj >= 0);
	assert_true(window->unwatched_nj >= 0);
	assert_true(total->booked_nj == before_nj + window->energy_nj + window->unwatched_nj);
	return is_new;
}

/*
 * Lets `seconds` pass in which the device draws 300 W. The total is advanced each second, the counter read
 * every fifth.
 */
static void run(struct device *device, struct kwhy_meter_total *total, int seconds)
{
	struct kwhy_total_window window;

	for (int i = 1; i <= seconds; i++) {
		pass(device, SECOND, 300);
		if (i % 5 == 0)
			count(device);
		advance(device, total, &window);
	}
}

static void the_total_is_the_counters_at_each_of_its_readings(void **state)
{
	struct device *device = calloc(1, sizeof(*device));
	struct kwhy_meter_total total = {0};
	struct kwhy_total_window window;
	int64_t sum_nj = 0, end_ns = 0;

	(void)state;
	device->now_ns = 1000 * SECOND;
	pass(device, SECOND, 300);
	assert_false(advance(device, &total, &window));
	count(device);
	for (int i = 1; i <= 60; i++) {
		pass(device, SECOND, 300);
		if (i % 20 == 0)
			count(device);
		assert_true(advance(device, &total, &window));
		assert_true(!end_ns || window.start_ns == end_ns);
		end_ns = window.end_ns;
		sum_nj += window.energy_nj;
		assert_int_equal(total.counter_nj % MJ_NJ, 0);
		assert_true(total.counter_nj == (total.counted - device->counts[0].value) * MJ_NJ);
	}
	assert_int_equal(total.booked_nj, sum_nj);
	/*
	 * The counter rose by 60 s at 300 W. Since its last reading at most 20 s have passed, in which the
	 * samples, 1 % too high, added up to 3 J a second too much; this is not corrected yet.
	 */
	assert_int_equal(total.counter_nj, 60 * 300 * INT64_C(1000000000));
	assert_true(llabs(sum_nj - total.counter_nj) <= 20 * 3 * INT64_C(1000000000));
	free(device);
}

static void what_was_used_unwatched_is_known_afterwards(void **state)
{
	struct device *device = calloc(1, sizeof(*device));
	struct kwhy_meter_total total = {0}, again;
	struct kwhy_total_window window;

	(void)state;
	device->now_ns = 1000 * SECOND;
	count(device);
	run(device, &total, 12);
	again = total;
	again.until_ns = 0; /* as after a restart, when the total comes from a file */
	device->sample_count = device->count_count = 0;
	device->now_ns += 100 * SECOND;
	device->joules += 100 * 300;
	pass(device, 200 * MS, 300);
	assert_false(advance(device, &again, &window));
	count(device);
	pass(device, SECOND, 300);
	assert_true(advance(device, &again, &window));
	assert_true(again.counter_nj == llround(112.2 * 300) * INT64_C(1000000000));
	assert_true(window.unwatched_nj == again.counter_nj - total.booked_nj);
	free(device);
}

static void a_counter_of_another_boot_begins_anew(void **state)
{
	struct device *device = calloc(1, sizeof(*device));
	struct kwhy_meter_total total = {.begun = true, .booked_nj = 5000, .counter_nj = 4000, .counted = 77};
	struct kwhy_total_window window;

	(void)state;
	device->now_ns = 1000 * SECOND;
	count(device);
	pass(device, SECOND, 300);
	assert_true(advance(device, &total, &window));
	assert_int_equal(window.unwatched_nj, 0);
	assert_int_equal(total.counter_nj, 5000);
	assert_true(window.energy_nj > 0);
	free(device);
}

static void a_wrap_loses_nothing(void **state)
{
	struct device *device = calloc(1, sizeof(*device));
	struct kwhy_meter_total total = {0};

	(void)state;
	device->now_ns = 1000 * SECOND;
	device->offset_mj = 900000;
	device->wrap = 2000000;
	pass(device, 40 * MS, 300);
	count(device);
	run(device, &total, 5); /* 5 s at 300 W: 1500 J */
	assert_true(total.counted < 900000);
	assert_true(total.counter_nj == 5 * 300 * INT64_C(1000000000));
	free(device);
}

static void a_reset_loses_nothing(void **state)
{
	struct device *device = calloc(1, sizeof(*device));
	struct kwhy_meter_total total = {0};

	(void)state;
	device->now_ns = 1000 * SECOND;
	device->offset_mj = 900000;
	pass(device, 40 * MS, 300);
	count(device);
	run(device, &total, 8);
	device->offset_mj = -llround(device->joules * 1e3); /* counter starts again at 0: driver reloaded */
	run(device, &total, 10);
	assert_true(llabs(total.booked_nj - 18 * 300 * INT64_C(1000000000)) < 18 * 4 * INT64_C(1000000000));
	free(device);
}

static void without_a_counter_the_samples_are_followed(void **state)
{
	struct device *device = calloc(1, sizeof(*device));
	struct kwhy_meter_total total = {0};
	struct kwhy_total_window window;

	(void)state;
	device->without_counter = true;
	device->now_ns = 1000 * SECOND;
	for (int i = 0; i < 100; i++) {
		pass(device, SECOND, 300);
		advance(device, &total, &window);
	}
	assert_true(llabs(total.booked_nj - llround(100 * 303e9)) < 7 * INT64_C(1000000000));
	free(device);
}

/*
 * For 10 s the driver refuses power samples, but the counter is read each second. The total must follow the
 * counter then: samples that end before the counter's reading are no reason to distrust it.
 */
static void a_counter_is_believed_while_samples_are_refused(void **state)
{
	struct device *device = calloc(1, sizeof(*device));
	struct kwhy_meter_total total = {0};
	struct kwhy_total_window window;

	(void)state;
	device->now_ns = 1000 * SECOND;
	count(device);
	run(device, &total, 20);
	for (int i = 0; i < 10; i++) {
		device->now_ns += SECOND;
		device->joules += 300;
		count(device);
		advance(device, &total, &window);
	}
	run(device, &total, 20);
	assert_int_equal(total.counter_nj, 50 * 300 * INT64_C(1000000000));
	assert_true(llabs(total.booked_nj - total.counter_nj) < 20 * INT64_C(1000000000));
	free(device);
}

/* Lets 30 s pass in which the device draws 100 W and the driver refuses both samples and counter. */
static void refuse_all(struct device *device)
{
	device->now_ns += 30 * SECOND;
	device->joules += 30 * 100;
}

static void the_counter_tells_of_a_time_without_readings(void **state)
{
	struct device *device = calloc(1, sizeof(*device));
	struct kwhy_meter_total total = {0};
	struct kwhy_total_window window;
	int64_t booked_nj;

	(void)state;
	device->now_ns = 1000 * SECOND;
	count(device);
	run(device, &total, 20);
	booked_nj = total.booked_nj;
	refuse_all(device);
	for (int i = 0; i < 4; i++) { /* samples come again, the counter not yet */
		pass(device, SECOND, 300);
		assert_false(advance(device, &total, &window));
	}
	assert_int_equal(total.booked_nj, booked_nj);
	count(device);
	pass(device, 100 * MS, 300);
	assert_true(advance(device, &total, &window));
	assert_int_equal(total.counter_nj, (24 * 300 + 30 * 100) * INT64_C(1000000000));
	assert_true(window.end_ns - window.start_ns > 33 * SECOND);
	assert_int_equal(window.unwatched_nj, 0);
	assert_true(llabs(window.energy_nj - (4 * 300 + 30 * 100) * INT64_C(1000000000)) <
		40 * INT64_C(1000000000));
	free(device);
}

/*
 * After a gap of all readings only samples come again, and no readings from before the gap are left. The
 * total must wait about 60 s for the counter and then count the samples. When the counter comes back, the
 * energy of the gap goes to no owner (unwatched_nj).
 */
static void a_counter_that_does_not_come_back_is_not_waited_for_for_ever(void **state)
{
	struct device *device = calloc(1, sizeof(*device));
	struct kwhy_meter_total total = {0};
	struct kwhy_total_window window;
	int64_t energy_nj = 0, unwatched_nj = 0;

	(void)state;
	device->now_ns = 1000 * SECOND;
	count(device);
	run(device, &total, 20);
	refuse_all(device);
	device->sample_count = device->count_count = 0;
	for (int i = 0; i < 80; i++) {
		pass(device, SECOND, 300);
		advance(device, &total, &window);
		energy_nj += window.energy_nj;
		assert_true(i > 60 || energy_nj == 0);
	}
	assert_true(llabs(energy_nj - 80 * 303 * INT64_C(1000000000)) < 400 * INT64_C(1000000000));
	count(device);
	for (int i = 0; i < 3; i++) {
		pass(device, SECOND, 300);
		advance(device, &total, &window);
		energy_nj += window.energy_nj;
		unwatched_nj += window.unwatched_nj;
	}
	assert_int_equal(total.counter_nj, (100 * 300 + 30 * 100) * INT64_C(1000000000));
	assert_true(llabs(unwatched_nj - 30 * 100 * INT64_C(1000000000)) < 600 * INT64_C(1000000000));
	assert_true(llabs(energy_nj - 83 * 303 * INT64_C(1000000000)) < 600 * INT64_C(1000000000));
	free(device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_total_is_the_counters_at_each_of_its_readings),
		cmocka_unit_test(what_was_used_unwatched_is_known_afterwards),
		cmocka_unit_test(a_counter_of_another_boot_begins_anew),
		cmocka_unit_test(a_wrap_loses_nothing),
		cmocka_unit_test(a_reset_loses_nothing),
		cmocka_unit_test(without_a_counter_the_samples_are_followed),
		cmocka_unit_test(a_counter_is_believed_while_samples_are_refused),
		cmocka_unit_test(the_counter_tells_of_a_time_without_readings),
		cmocka_unit_test(a_counter_that_does_not_come_back_is_not_waited_for_for_ever),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
