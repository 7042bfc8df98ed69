/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/lag.h"

#include "cmocka_all.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MS INT64_C(1000000)

enum { PULSES_MAX = 256, READINGS_MAX = 1024 };

/*
 * A simulated meter whose response (width, delay, noise) is known, and the pulses of power that it measures.
 */
struct truth {
	enum kwhy_lag_kind kind;
	double width_s, delay_s, off_w, on_w, noise_w;
	int64_t on_ns, off_ns;
	size_t pulses;
	double stray_share; /* share of the readings that are outliers */
	uint64_t seed;
};

struct load {
	struct kwhy_pulse pulses[PULSES_MAX];
	struct kwhy_lag_reading readings[READINGS_MAX];
	struct kwhy_lag_stretch stretch;
};

static double uniform(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
	double radius = sqrt(-2 * log(uniform(state)));

	return radius * cos(6.283185307179586 * uniform(state));
}

static void make_load(const struct truth *truth, struct load *out)
{
	int64_t end_ns = 1000 * MS + (int64_t)truth->pulses * (truth->on_ns + truth->off_ns) + 500 * MS;
	uint64_t state = truth->seed;
	double shown[READINGS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < truth->pulses; i++) {
		out->pulses[i].start_ns = 1000 * MS + (int64_t)i * (truth->on_ns + truth->off_ns);
		out->pulses[i].end_ns = out->pulses[i].start_ns + truth->on_ns;
	}
	for (int64_t time_ns = 0; time_ns < end_ns && count < READINGS_MAX; time_ns += 20 * MS + 20000)
		out->readings[count++].time_ns = time_ns + (int64_t)(normal(&state) * 5e5);
	out->stretch = (struct kwhy_lag_stretch){out->pulses, truth->pulses, out->readings, count};
	kwhy_lag_shown(truth->kind, &out->stretch, truth->width_s, truth->delay_s, shown);
	for (size_t k = 0; k < count; k++) {
		bool strays = uniform(&state) < truth->stray_share;

		out->readings[k].power_w = truth->off_w + (truth->on_w - truth->off_w) * shown[k] +
			normal(&state) * truth->noise_w * (strays ? 15 : 1);
	}
}

static const struct truth ring = {
	KWHY_LAG_LOW_PASS, 0.0145, 0.0035, 121.5, 358, 2, 50 * MS, 50 * MS, 20, 0, 7};

static struct kwhy_lag fitted(const struct load *loads, size_t count, enum kwhy_lag_kind kind, double width_s)
{
	struct kwhy_lag_stretch stretches[4];
	struct kwhy_lag_data data = {kind, stretches, count, width_s / 20, width_s * 5, 0, width_s * 3};
	struct kwhy_error error;
	struct kwhy_lag lag;

	for (size_t i = 0; i < count; i++)
		stretches[i] = loads[i].stretch;
	assert_int_equal(kwhy_lag_fit(&data, &lag, &error), KWHY_OK);
	return lag;
}

static void a_low_pass_without_noise_is_found_exactly(void **state)
{
	struct truth truth = ring;
	static struct load load;
	struct kwhy_lag lag;

	(void)state;
	truth.noise_w = 1e-6;
	make_load(&truth, &load);
	lag = fitted(&load, 1, KWHY_LAG_LOW_PASS, 0.015);
	assert_true(fabs(lag.width_s - truth.width_s) < 1e-4);
	assert_true(fabs(lag.delay_s - truth.delay_s) < 1e-4);
	assert_true(fabs(lag.levels[0].off_w - truth.off_w) < 0.1);
	assert_true(fabs(lag.levels[0].on_w - truth.on_w) < 0.1);
}

static void the_window_of_a_trailing_mean_is_found(void **state)
{
	struct truth truth = {KWHY_LAG_MEAN, 1.0, 0.05, 121.5, 358, 1, 500 * MS, 500 * MS, 4, 0, 3};
	static struct load load;
	struct kwhy_lag lag;

	(void)state;
	make_load(&truth, &load);
	lag = fitted(&load, 1, KWHY_LAG_MEAN, 0.8);
	assert_true(fabs(lag.width_s - 1.0) < 0.01);
	assert_true(fabs(lag.delay_s - 0.05) < 0.01);
}

static void the_truth_lies_within_the_sd_as_often_as_it_should(void **state)
{
	enum { TRIALS = 60 };
	static struct load load;
	int inside = 0, wide = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		struct truth truth = ring;
		struct kwhy_lag lag;

		truth.seed = seed;
		make_load(&truth, &load);
		lag = fitted(&load, 1, KWHY_LAG_LOW_PASS, 0.015);
		inside += fabs(lag.width_s - truth.width_s) < 1.96 * lag.width_sd_s;
		wide += lag.width_sd_s > 0.003;
	}
	assert_in_range(inside, TRIALS * 88 / 100, TRIALS);
	assert_int_equal(wide, 0);
}

static void stray_readings_widen_the_sd_and_move_little(void **state)
{
	struct truth truth = ring;
	static struct load clean, strayed;
	struct kwhy_lag a, b;

	(void)state;
	make_load(&truth, &clean);
	truth.stray_share = 0.1;
	make_load(&truth, &strayed);
	a = fitted(&clean, 1, KWHY_LAG_LOW_PASS, 0.015);
	b = fitted(&strayed, 1, KWHY_LAG_LOW_PASS, 0.015);
	assert_true(b.width_sd_s > a.width_sd_s);
	assert_true(fabs(b.width_s - truth.width_s) < 3 * b.width_sd_s);
}

static void loads_of_different_levels_share_one_lag(void **state)
{
	struct truth truth = ring;
	static struct load loads[2];
	struct kwhy_lag one, both;

	(void)state;
	make_load(&truth, &loads[0]);
	truth.on_w = 372;
	truth.off_w = 118;
	truth.on_ns = truth.off_ns = 5 * MS;
	truth.pulses = 150;
	make_load(&truth, &loads[1]);
	one = fitted(loads, 1, KWHY_LAG_LOW_PASS, 0.015);
	both = fitted(loads, 2, KWHY_LAG_LOW_PASS, 0.015);
	assert_true(both.width_sd_s < one.width_sd_s);
	assert_true(fabs(both.width_s - truth.width_s) < 3 * both.width_sd_s);
	assert_true(fabs(both.levels[0].on_w - 358) < 2);
	assert_true(fabs(both.levels[1].off_w - 118) < 4);
}

static void readings_beside_the_load_are_an_error(void **state)
{
	static struct load load;
	struct kwhy_lag_data data = {KWHY_LAG_LOW_PASS, &load.stretch, 1, 0.001, 0.1, 0, 0.05};
	struct kwhy_error error;
	struct kwhy_lag lag;

	(void)state;
	make_load(&ring, &load);
	load.stretch.reading_count = 40; /* only the readings before the first pulse */
	assert_int_equal(kwhy_lag_fit(&data, &lag, &error), KWHY_E_INPUT);
	assert_string_equal(error.text, "the meter shows nothing of the load: its readings lie outside it");
	load.stretch.reading_count = 3;
	assert_int_equal(kwhy_lag_fit(&data, &lag, &error), KWHY_E_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_low_pass_without_noise_is_found_exactly),
		cmocka_unit_test(the_window_of_a_trailing_mean_is_found),
		cmocka_unit_test(the_truth_lies_within_the_sd_as_often_as_it_should),
		cmocka_unit_test(stray_readings_widen_the_sd_and_move_little),
		cmocka_unit_test(loads_of_different_levels_share_one_lag),
		cmocka_unit_test(readings_beside_the_load_are_an_error),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
