/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "measure/recorder.h"
#include "ok.h"

#include <math.h>
#include <stdlib.h>

static struct kwhy_error error;

#define MS INT64_C(1000000)

enum { TICKS = 60 };

/* Returns an energy curve of a constant 200 W from 0 s to 5.9 s. */
static struct kwhy_curve *steady(void)
{
	static struct kwhy_reading items[TICKS];
	struct kwhy_response response = kwhy_response_of(KWHY_METER_RAPL_PACKAGE);
	struct kwhy_readings counter = {KWHY_METER_RAPL_PACKAGE, items, TICKS, 100 * MS, 0};
	struct kwhy_curve *curve;

	for (int64_t i = 0; i < TICKS; i++)
		items[i] = (struct kwhy_reading){i * 100 * MS, i * 20000000};
	OK(kwhy_curve_new(&counter, NULL, &response, &curve, &error));
	return curve;
}

static struct kwhy_event begin(int64_t at_ms, uint32_t name, uint16_t thread)
{
	return (struct kwhy_event){at_ms * MS, name, KWHY_EVENT_BEGIN, thread, 0};
}

static struct kwhy_event end(int64_t at_ms, uint32_t name, uint16_t thread)
{
	return (struct kwhy_event){at_ms * MS, name, KWHY_EVENT_END, thread, 0};
}

static struct kwhy_event work(int64_t at_ms, uint32_t unit, uint16_t thread, double amount)
{
	return (struct kwhy_event){at_ms * MS, unit, KWHY_EVENT_WORK, thread, amount};
}

static double joules_of(const struct kwhy_regions *regions, uint32_t name)
{
	struct kwhy_energy energy;

	kwhy_window_sum_result(&kwhy_regions_get(regions, name)->sums[0], KWHY_ENOUGH_RATIO, &energy);
	return energy.joules;
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void runs_at_the_same_time_count_their_energy_once(void **state)
{
	struct kwhy_event events[] = {begin(1000, 1, 0), begin(1500, 1, 1), end(2000, 1, 0), end(3000, 1, 1)};
	struct kwhy_curve *curve = steady();
	struct kwhy_regions *regions;

	(void)state;
	OK(kwhy_regions_new(1, &regions, &error));
	OK(kwhy_regions_fold(regions, events, COUNT(events), &curve, 4000 * MS, &error));
	assert_int_equal(kwhy_regions_get(regions, 1)->count, 2);
	assert_int_equal(kwhy_regions_get(regions, 1)->wall_ns, 2000 * MS);
	assert_int_equal(kwhy_regions_get(regions, 1)->total_ns, 2500 * MS);
	assert_true(fabs(joules_of(regions, 1) - 400) < 1e-6);
	kwhy_regions_free(regions);
	kwhy_curve_free(curve);
}

static void folding_in_parts_gives_what_folding_at_once_gives(void **state)
{
	struct kwhy_event events[] = {begin(500, 1, 0), begin(700, 2, 0), end(2100, 2, 0), end(4700, 1, 0)};
	struct kwhy_curve *curve = steady();
	struct kwhy_regions *whole, *parts;

	(void)state;
	OK(kwhy_regions_new(1, &whole, &error));
	OK(kwhy_regions_new(1, &parts, &error));
	OK(kwhy_regions_fold(whole, events, COUNT(events), &curve, 5000 * MS, &error));
	OK(kwhy_regions_fold(parts, events, 2, &curve, 1234 * MS, &error));
	OK(kwhy_regions_fold(parts, events + 2, 1, &curve, 3456 * MS, &error));
	OK(kwhy_regions_fold(parts, events + 3, 1, &curve, 5000 * MS, &error));
	for (uint32_t name = 1; name <= 2; name++) {
		assert_true(fabs(joules_of(whole, name) - joules_of(parts, name)) < 1e-9);
		assert_int_equal(
			kwhy_regions_get(whole, name)->wall_ns, kwhy_regions_get(parts, name)->wall_ns);
	}
	kwhy_regions_free(whole);
	kwhy_regions_free(parts);
	kwhy_curve_free(curve);
}

static void a_copy_goes_its_own_way(void **state)
{
	struct kwhy_event events[] = {begin(500, 1, 0), end(1500, 1, 0)};
	struct kwhy_curve *curve = steady();
	struct kwhy_regions *regions, *copy;

	(void)state;
	OK(kwhy_regions_new(1, &regions, &error));
	OK(kwhy_regions_fold(regions, events, 1, &curve, 600 * MS, &error));
	OK(kwhy_regions_copy(regions, &copy, &error));
	OK(kwhy_regions_fold(copy, events + 1, 1, &curve, 2000 * MS, &error));
	assert_int_equal(kwhy_regions_get(copy, 1)->active, 0);
	assert_int_equal(kwhy_regions_get(regions, 1)->active, 1);
	assert_int_equal(kwhy_regions_get(regions, 1)->wall_ns, 100 * MS);
	kwhy_regions_free(copy);
	kwhy_regions_free(regions);
	kwhy_curve_free(curve);
}

static void work_goes_to_the_regions_of_its_thread_and_of_every_thread(void **state)
{
	struct kwhy_event events[] = {begin(100, 1, KWHY_EVENT_EVERY_THREAD), begin(200, 2, 0),
		begin(200, 3, 1), begin(250, 2, 0), work(300, 9, 0, 5), end(350, 2, 0), end(400, 2, 0),
		work(500, 9, 0, 2), end(600, 3, 1)};
	struct kwhy_curve *curve = steady();
	struct kwhy_regions *regions;

	(void)state;
	OK(kwhy_regions_new(1, &regions, &error));
	OK(kwhy_regions_fold(regions, events, COUNT(events), &curve, 1000 * MS, &error));
	assert_true(kwhy_regions_get(regions, 1)->works[0].amount == 7);
	assert_true(kwhy_regions_get(regions, 2)->works[0].amount == 5);
	assert_int_equal(kwhy_regions_get(regions, 3)->work_count, 0);
	kwhy_regions_free(regions);
	kwhy_curve_free(curve);
}

static void a_full_ring_drops_whole_runs_and_counts_them(void **state)
{
	struct kwhy_recorder *recorder;
	struct kwhy_event *events = NULL;
	size_t count = 0, capacity = 0, begins = 0;
	bool full;

	(void)state;
	OK(kwhy_recorder_new(1024, &recorder, &error));
	for (int i = 0; i < 1000; i++) {
		kwhy_recorder_begin(recorder, 1);
		kwhy_recorder_begin(recorder, 2);
		kwhy_recorder_end(recorder, 2);
		kwhy_recorder_end(recorder, 1);
	}
	OK(kwhy_recorder_collect(recorder, &events, &count, &capacity, 1 << 20, &full, &error));
	assert_true(full);
	for (size_t i = 0; i < count; i++)
		begins += events[i].kind == KWHY_EVENT_BEGIN;
	assert_int_equal(count, 2 * begins);
	assert_int_equal(begins + kwhy_recorder_dropped(recorder), 2000);
	kwhy_recorder_begin(recorder, 1);
	kwhy_recorder_end(recorder, 1);
	OK(kwhy_recorder_collect(recorder, &events, &count, &capacity, 1 << 20, &full, &error));
	assert_int_equal(count, 2 * begins + 2);
	free(events);
	kwhy_recorder_free(recorder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_at_the_same_time_count_their_energy_once),
		cmocka_unit_test(folding_in_parts_gives_what_folding_at_once_gives),
		cmocka_unit_test(a_copy_goes_its_own_way),
		cmocka_unit_test(work_goes_to_the_regions_of_its_thread_and_of_every_thread),
		cmocka_unit_test(a_full_ring_drops_whole_runs_and_counts_them),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
