/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/filtered_levels.h"
#include "ledger/energy/response_beat.h"
#include "ledger/energy/response_features.h"
#include "unit/ledger/build.h"

#include <math.h>
#include <stdlib.h>

/*
 * Tests what a meter with a low-pass of first order shows of recorded work, in cases with a formula for it.
 */

#define MS_NS 1000000

static void near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.9g instead of %.9g", value, expected);
}

/* A finished recording, its ledger, and what kwhy_response_walk() needs of them. */
struct scene {
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger;
	struct kwhy_power_classes classes;
	struct kwhy_covered covered;
	struct kwhy_response_walk walk;
};

static void make(struct scene *scene, struct kwhy_recording *recording)
{
	const struct kwhy_ledger_options options = kwhy_ledger_options_default();

	*scene = (struct scene){.recording = recording, .ledger = build_ledger(recording)};
	OK(kwhy_power_classes_init(
		&scene->classes, &scene->ledger->devices[0], recording, 0, &options, &error));
	OK(kwhy_covered_init(&scene->covered, recording, 0, &error));
	scene->walk = (struct kwhy_response_walk){
		.recording = recording,
		.device_ledger = &scene->ledger->devices[0],
		.classes = &scene->classes,
		.covered = &scene->covered,
		.sm_count = 100,
		.tau_count = 1,
		.tau_s = {10e-3},
	};
}

static void done(struct scene *scene)
{
	kwhy_covered_done(&scene->covered);
	kwhy_power_classes_done(&scene->classes);
	build_free(scene->recording, scene->ledger);
}

static uint32_t class_of(const struct scene *scene, const char *name)
{
	return build_account(scene->ledger, 0, name)->power_class;
}

/*
 * [readout][channel] the filtered level of each channel (power class or state of idling) at each time of
 * reading, and the integral of that level until then, s.
 */
struct seen {
	double filtered[8][8], integral_s[8][8];
};

static void see(void *context, const struct kwhy_filtered_levels *response, size_t readout)
{
	struct seen *seen = context;

	for (size_t c = 0; c < response->channel_count; c++) {
		double filtered = response->level[c] - response->lag[c];

		seen->filtered[readout][c] = filtered;
		seen->integral_s[readout][c] = response->area_s[c] - response->tau_s[0] * filtered;
	}
}

static struct seen seen_at(struct scene *scene, const int64_t *times_ns, size_t count)
{
	struct seen seen = {0};

	scene->walk.times_ns = times_ns;
	scene->walk.readout_count = count;
	scene->walk.visit = see;
	scene->walk.context = &seen;
	OK(kwhy_response_walk(&scene->walk, &error));
	return seen;
}

static void a_step_rises_and_falls_as_an_exponential(void **state)
{
	const int64_t times_ns[] = {5 * MS_NS, 30 * MS_NS, 50 * MS_NS};
	struct kwhy_recording *recording = build_one();
	struct scene scene;
	struct seen seen;
	uint32_t step;

	(void)state;
	build_kernel(recording, 0, 0, 30 * MS_NS, "step");
	build_kernel(recording, 0, 90 * MS_NS, 100 * MS_NS, "later");
	make(&scene, recording);
	seen = seen_at(&scene, times_ns, 3);
	step = class_of(&scene, "step");
	near(seen.filtered[0][step], 1 - exp(-0.5), 1e-12);
	near(seen.filtered[1][step], 1 - exp(-3), 1e-12);
	near(seen.filtered[2][step], (1 - exp(-3)) * exp(-2), 1e-12);
	near(seen.filtered[2][class_of(&scene, "later")], 0, 0);
	done(&scene);
}

static void the_integral_of_what_is_seen_is_exact_too(void **state)
{
	const int64_t times_ns[] = {10 * MS_NS, 30 * MS_NS, 200 * MS_NS};
	struct kwhy_recording *recording = build_one();
	struct scene scene;
	struct seen seen;
	uint32_t step;

	(void)state;
	build_kernel(recording, 0, 0, 30 * MS_NS, "step");
	build_kernel(recording, 0, 300 * MS_NS, 310 * MS_NS, "later");
	make(&scene, recording);
	seen = seen_at(&scene, times_ns, 3);
	step = class_of(&scene, "step");
	/*
	 * expected integral: t - tau (1 - exp(-t / tau)) while the kernel runs; long after its end its whole
	 * duration, as the low-pass loses nothing
	 */
	near(seen.integral_s[0][step], 10e-3 - 10e-3 * (1 - exp(-1)), 1e-12);
	near(seen.integral_s[1][step], 30e-3 - 10e-3 * (1 - exp(-3)), 1e-12);
	near(seen.integral_s[2][step], 30e-3 - 10e-3 * (1 - exp(-3)) * exp(-17), 1e-12);
	done(&scene);
}

static void full_grids_at_once_share_the_device_and_copies_run_beside(void **state)
{
	const int64_t times_ns[] = {400 * MS_NS};
	struct kwhy_recording *recording = build_one();
	uint32_t other = build_stream(recording, 0, 0, 8), third = build_stream(recording, 0, 0, 9);
	struct scene scene;
	struct seen seen;
	size_t base;

	(void)state;
	build_kernel(recording, 0, 0, 500 * MS_NS, "one");
	build_kernel(recording, other, 0, 500 * MS_NS, "two");
	build_h2d(recording, third, 0, 500 * MS_NS, 1000, "copy");
	make(&scene, recording);
	scene.walk.with_base = true;
	seen = seen_at(&scene, times_ns, 1);
	base = scene.classes.count;
	near(seen.filtered[0][class_of(&scene, "one")], 0.5, 1e-12);
	near(seen.filtered[0][class_of(&scene, "two")], 0.5, 1e-12);
	near(seen.filtered[0][class_of(&scene, "one")] + seen.filtered[0][class_of(&scene, "two")] +
			seen.filtered[0][3 - class_of(&scene, "one") - class_of(&scene, "two")],
		2, 1e-12);
	near(seen.filtered[0][base] + seen.filtered[0][base + 1] + seen.filtered[0][base + 2], 1, 1e-12);
	near(seen.filtered[0][2 * base], 0, 1e-12);
	done(&scene);
}

static void time_that_was_not_recorded_is_no_idle_time(void **state)
{
	const int64_t times_ns[] = {290 * MS_NS};
	const struct kwhy_coverage early = {0, 0, 100 * MS_NS}, late = {0, 280 * MS_NS, 400 * MS_NS};
	struct kwhy_recording *recording = build_one();
	struct scene scene;
	struct seen seen;

	(void)state;
	build_kernel(recording, 0, 0, 10 * MS_NS, "work");
	build_kernel(recording, 0, 390 * MS_NS, 400 * MS_NS, "work");
	OK(kwhy_recording_add_coverage(recording, &early, &error));
	OK(kwhy_recording_add_coverage(recording, &late, &error));
	make(&scene, recording);
	seen = seen_at(&scene, times_ns, 1);
	near(seen.filtered[0][scene.classes.count], 1 - exp(-1), 1e-6);
	done(&scene);
}

/*
 * Two readings: the power at one moment, and the mean power of a window of 20 ms. Both show the state 3 ms
 * before (delay).
 */
static void features_hold_the_moment_or_the_mean_of_a_window_at_each_delay(void **state)
{
	const struct kwhy_response_grid grid = {10e-3, 3e-3, 1e-3, 1e-3};
	struct kwhy_power_reading items[] = {
		{25 * MS_NS, 25 * MS_NS, 0},
		{13 * MS_NS, 33 * MS_NS, 0},
	};
	const struct kwhy_power_readings readings = {.items = items, .count = 2};
	struct kwhy_recording *recording = build_one();
	struct kwhy_response_features features;
	struct scene scene;

	(void)state;
	build_kernel(recording, 0, 0, 100 * MS_NS, "step");
	make(&scene, recording);
	OK(kwhy_response_features_init(&features, &grid, &readings, &scene.walk, &error));
	near((double)features.net[KWHY_GRID_MIDDLE * 2], 1 - exp(-2.2), 1e-6);
	near((double)features.net[(KWHY_GRID_MIDDLE + 1) * 2], 1 - exp(-2.1), 1e-6);
	near((double)features.net[KWHY_GRID_MIDDLE * 2 + 1], 1 - (exp(-1) - exp(-3)) / 2, 1e-6);
	near((double)features.net[(KWHY_GRID_MIDDLE + KWHY_GRID_DELAYS) * 2], 1 - exp(-2), 1e-6);
	kwhy_response_features_done(&features);
	done(&scene);
}

static void stamps_that_come_late_are_put_back_on_the_beat(void **state)
{
	int64_t stamps_ns[40], beat_ns[40];

	(void)state;
	for (int i = 0; i < 40; i++)
		stamps_ns[i] = (int64_t)i * 20 * MS_NS + (i % 5 == 2 ? 8 * MS_NS : i % 3 * 1000);
	OK(kwhy_beat_restore(stamps_ns, 40, beat_ns, &error));
	for (int i = 4; i < 36; i++)
		near((double)beat_ns[i], (double)i * 20 * MS_NS, 0.3 * MS_NS);
}

/*
 * Samples come every 20 ms, but some time stamps are late. The true time is restored by the median of nine
 * stamps: here four are on time, one is 3 ms late and four are 6 ms late, so 3 ms late is restored.
 */
static void the_beat_is_the_middle_of_nine_stamps(void **state)
{
	int64_t stamps_ns[40], beat_ns[40];

	(void)state;
	for (int i = 0; i < 40; i++)
		stamps_ns[i] = (int64_t)i * 20 * MS_NS + (i >= 20 && i < 24 ? 6 * MS_NS : 0);
	stamps_ns[24] += 3 * MS_NS;
	OK(kwhy_beat_restore(stamps_ns, 40, beat_ns, &error));
	assert_int_equal(beat_ns[20], 20 * 20 * MS_NS + 3 * MS_NS);
	stamps_ns[24] -= 3 * MS_NS;
	stamps_ns[16] += 3 * MS_NS;
	OK(kwhy_beat_restore(stamps_ns, 40, beat_ns, &error));
	assert_int_equal(beat_ns[20], 20 * 20 * MS_NS + 3 * MS_NS);
}

static void stamps_without_a_beat_stay_as_they_are(void **state)
{
	int64_t stamps_ns[9], beat_ns[9];

	(void)state;
	for (int i = 0; i < 9; i++)
		stamps_ns[i] = (int64_t)i * i * MS_NS;
	OK(kwhy_beat_restore(stamps_ns, 9, beat_ns, &error));
	assert_memory_equal(stamps_ns, beat_ns, sizeof(beat_ns));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_rises_and_falls_as_an_exponential),
		cmocka_unit_test(the_integral_of_what_is_seen_is_exact_too),
		cmocka_unit_test(full_grids_at_once_share_the_device_and_copies_run_beside),
		cmocka_unit_test(time_that_was_not_recorded_is_no_idle_time),
		cmocka_unit_test(features_hold_the_moment_or_the_mean_of_a_window_at_each_delay),
		cmocka_unit_test(the_beat_is_the_middle_of_nine_stamps),
		cmocka_unit_test(stamps_that_come_late_are_put_back_on_the_beat),
		cmocka_unit_test(stamps_without_a_beat_stay_as_they_are),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
