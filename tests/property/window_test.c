/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "measure/window.h"
#include "ok.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Checks the energy that libkwhy measures in a time window, on a simulated meter whose true energy is known.
 * The meter shows steps and square waves of power through a delay and a low-pass, as samples every 20 ms, of
 * which every fifth has a late time stamp, and as a counter that changes every 100 ms. Response, noise and
 * phase are random in each case.
 */

static struct kwhy_error error;

enum { STEP_NS = 100000, SPAN_S = 8, STEPS = SPAN_S * 10000, READINGS_MAX = 1000 };

struct random {
	uint64_t state;
};

static double unit(struct random *random)
{
	random->state = random->state * 6364136223846793005u + 1442695040888963407u;
	return (double)(random->state >> 11) / 9007199254740992.0;
}

static double between(struct random *random, double low, double high)
{
	return low + (high - low) * unit(random);
}

static double normal(struct random *random, double mean, double sd)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += unit(random);
	return mean + sd * sum;
}

/* Power, and energy used so far, in steps of 0.1 ms from time 0. */
struct load {
	double watts[STEPS], joules[STEPS + 1];
	double on_s, off_s, phase_s; /* square wave: time at high power, time at low power, and time by which
					the wave is shifted; 0 for other loads */
};

static void integrate(struct load *load)
{
	load->joules[0] = 0;
	for (size_t i = 0; i < STEPS; i++)
		load->joules[i + 1] = load->joules[i] + load->watts[i] * STEP_NS * 1e-9;
}

static struct load square_wave(struct random *random, double on_s, double off_s)
{
	static struct load load;
	double low_w = between(random, 80, 130), high_w = between(random, 250, 650);
	double phase_s = between(random, 0, on_s + off_s);

	load = (struct load){.on_s = on_s, .off_s = off_s, .phase_s = phase_s};
	for (size_t i = 0; i < STEPS; i++) {
		double at_s = fmod((double)i * STEP_NS * 1e-9 + phase_s, on_s + off_s);

		load.watts[i] = at_s < on_s ? high_w : low_w;
	}
	integrate(&load);
	return load;
}

/* Makes a load of idle time, work and idle time. The region to measure begins and ends with the work. */
static struct load one_step(struct random *random, int64_t *start_ns, int64_t *end_ns, double length_s)
{
	static struct load load;
	double low_w = between(random, 80, 130), high_w = between(random, 250, 650);
	int64_t start = (int64_t)(between(random, 2, 3) * 1e9) / STEP_NS;
	int64_t end = start + (int64_t)(length_s * 1e9) / STEP_NS;

	load = (struct load){0};
	for (int64_t i = 0; i < STEPS; i++)
		load.watts[i] = i >= start && i < end ? high_w : low_w;
	integrate(&load);
	*start_ns = start * STEP_NS;
	*end_ns = end * STEP_NS;
	return load;
}

static double truth_j(const struct load *load, int64_t start_ns, int64_t end_ns)
{
	double at[2] = {(double)start_ns / STEP_NS, (double)end_ns / STEP_NS}, used[2];

	for (int i = 0; i < 2; i++) {
		size_t whole = (size_t)at[i];

		used[i] = load->joules[whole] + (at[i] - (double)whole) * load->watts[whole] * STEP_NS * 1e-9;
	}
	return used[1] - used[0];
}

struct meter {
	struct kwhy_reading samples[READINGS_MAX], ticks[READINGS_MAX];
	struct kwhy_readings power, counter;
};

/* What the meter sees: power after the low-pass, and its integral, at each step. */
struct seen {
	double watts[STEPS], joules[STEPS];
};

static void look(const struct load *load, struct random *random, struct seen *seen)
{
	double delay_s = normal(random, 0.0035, 0.001), constant_s = normal(random, 0.0145, 0.0015);
	int64_t delay_steps = delay_s > 0 ? (int64_t)(delay_s * 1e9) / STEP_NS : 0;
	double keep = exp(-STEP_NS * 1e-9 / constant_s), watts = load->watts[0], joules = 0;

	for (int64_t i = 0; i < STEPS; i++) {
		double power_w = load->watts[i > delay_steps ? i - delay_steps : 0];

		watts = power_w + (watts - power_w) * keep;
		joules += watts * STEP_NS * 1e-9;
		seen->watts[i] = watts;
		seen->joules[i] = joules;
	}
}

static void read_samples(struct meter *meter, const struct seen *seen, struct random *random)
{
	double at_s = between(random, 0, 0.02), last_s = -1, noise = between(random, 0.002, 0.006);

	meter->power = (struct kwhy_readings){KWHY_METER_NVML_SAMPLE, meter->samples, 0, 20000000, 0};
	for (unsigned i = 0; at_s < SPAN_S - 0.02; i++) {
		double stamp_s = at_s +
			(i % 5 == 0 ? between(random, 0.006, 0.01) : normal(random, 0, 0.00015));
		double watts = seen->watts[(size_t)(at_s * 1e9 / STEP_NS)];

		if (stamp_s > last_s)
			meter->samples[meter->power.count++] = (struct kwhy_reading){
				(int64_t)(stamp_s * 1e9), (int64_t)(watts * 1e3 * normal(random, 1, noise))};
		last_s = stamp_s;
		at_s += normal(random, 0.02002, 0.0002);
	}
}

static void read_ticks(struct meter *meter, const struct seen *seen, struct random *random)
{
	double at_s = between(random, 0.001, 0.1);

	meter->counter = (struct kwhy_readings){KWHY_METER_NVML_ENERGY, meter->ticks, 0, 100000000, 0};
	for (; at_s < SPAN_S - 0.02; at_s += normal(random, 0.1, 0.0001))
		meter->ticks[meter->counter.count++] = (struct kwhy_reading){
			(int64_t)((at_s + normal(random, 0, 0.001)) * 1e9),
			7000000 + (int64_t)(seen->joules[(size_t)(at_s * 1e9 / STEP_NS)] * 1e3)};
}

static void watch(const struct load *load, struct random *random, struct meter *meter)
{
	static struct seen seen;

	look(load, random, &seen);
	read_samples(meter, &seen, random);
	read_ticks(meter, &seen, random);
}

enum use { USE_BOTH, USE_RARE_TICKS, USE_COUNTER, USE_POWER };
static const char *const use_names[] = {"counter and power", "rare ticks and power", "counter", "power"};

/*
 * Returns the readings of a counter of which only one in 25 was read, one every 2.5 s: a read takes the
 * driver milliseconds, so kwhy may read that rarely.
 */
static struct kwhy_readings rare_ticks(const struct kwhy_readings *counter)
{
	static struct kwhy_reading items[READINGS_MAX];
	struct kwhy_readings rare = *counter;

	rare.items = items;
	rare.count = 0;
	for (size_t i = 0; i < counter->count; i += 25)
		items[rare.count++] = counter->items[i];
	return rare;
}

static struct kwhy_curve *curve_of(const struct meter *meter, enum use use)
{
	struct kwhy_response response = kwhy_response_of(KWHY_METER_NVML_SAMPLE);
	struct kwhy_readings counter = use == USE_RARE_TICKS ? rare_ticks(&meter->counter) : meter->counter;
	struct kwhy_curve *curve;

	OK(kwhy_curve_new(use == USE_POWER ? NULL : &counter, use == USE_COUNTER ? NULL : &meter->power,
		&response, &curve, &error));
	return curve;
}

struct score {
	double ratio_sum, ratio_square_sum, width_sum;
	unsigned count, covered, enough;
};

static void score_window(struct score *score, const struct kwhy_curve *curve, const struct load *load,
	int64_t start_ns, int64_t end_ns)
{
	double truth = truth_j(load, start_ns, end_ns), ratio;
	struct kwhy_energy energy;

	kwhy_window_energy(curve, start_ns, end_ns, KWHY_ENOUGH_RATIO, &energy);
	assert_int_equal(energy.state, KWHY_ENERGY_MEASURED);
	ratio = energy.joules / truth - 1;
	score->ratio_sum += ratio;
	score->ratio_square_sum += ratio * ratio;
	score->width_sum += (energy.high_j - energy.low_j) / 2 / truth;
	score->covered += energy.low_j <= truth && truth <= energy.high_j;
	score->enough += energy.enough;
	score->count++;
}

static void show(const char *what, double length_s, const struct score *score)
{
	printf("%-34s %6.0f ms: bias %+6.2f %%, spread %5.2f %%, half-width %6.2f %%, covered %3.0f %%\n",
		what, length_s * 1e3, 100 * score->ratio_sum / score->count,
		100 * sqrt(score->ratio_square_sum / score->count), 100 * score->width_sum / score->count,
		100.0 * score->covered / score->count);
}

enum { CASES = 100 };

static struct score score_squares(double on_s, double off_s, double length_s, enum use use, uint64_t seed)
{
	struct random random = {seed};
	static struct meter meter;
	struct score score = {0};

	for (unsigned i = 0; i < CASES; i++) {
		struct load load = square_wave(&random, on_s, off_s);
		int64_t start_ns = (int64_t)(between(&random, 0.5, 1.5) * 1e9);
		struct kwhy_curve *curve;

		watch(&load, &random, &meter);
		curve = curve_of(&meter, use);
		score_window(&score, curve, &load, start_ns,
			start_ns + (int64_t)(length_s * between(&random, 0.8, 1.25) * 1e9));
		kwhy_curve_free(curve);
	}
	return score;
}

static struct score score_steps(double length_s, enum use use, uint64_t seed)
{
	struct random random = {seed};
	static struct meter meter;
	struct score score = {0};

	for (unsigned i = 0; i < CASES; i++) {
		int64_t start_ns, end_ns;
		struct load load = one_step(&random, &start_ns, &end_ns, length_s);
		struct kwhy_curve *curve;

		watch(&load, &random, &meter);
		curve = curve_of(&meter, use);
		score_window(&score, curve, &load, start_ns, end_ns);
		kwhy_curve_free(curve);
	}
	return score;
}

static const double squares_s[][2] = {{0.005, 0.005}, {0.02, 0.08}, {0.05, 0.05}, {0.1, 0.1}, {0.5, 0.5}};

enum { SQUARES = sizeof(squares_s) / sizeof(*squares_s) };

static void check(const char *what, double length_s, const struct score *score, double bias_most)
{
	double bias = score->ratio_sum / score->count, covered = (double)score->covered / score->count;

	show(what, length_s, score);
	if (fabs(bias) > bias_most)
		fail_msg("%s: bias %.2f %%", what, 100 * bias);
	if (covered < 0.85)
		fail_msg("%s: the interval covers only %.0f %%", what, 100 * covered);
}

/*
 * Whether the wave's period is so short that samples every 20 ms always fall on similar phases of it
 * (aliasing). The energy from samples may then be 6 % wrong, which nothing in the readings shows, unless the
 * counter is read often.
 */
static bool is_beating(unsigned square, enum use use)
{
	return (use == USE_POWER || use == USE_RARE_TICKS) &&
		squares_s[square][0] + squares_s[square][1] < 0.02;
}

static void the_energy_of_square_waves_has_no_bias_and_an_honest_interval(void **state)
{
	(void)state;
	for (enum use use = USE_BOTH; use <= USE_POWER; use++)
		for (unsigned i = 0; i < SQUARES; i++)
			for (double length_s = 0.25; length_s < 6 && !is_beating(i, use); length_s *= 4) {
				struct score score = score_squares(
					squares_s[i][0], squares_s[i][1], length_s, use, 11 * i + 1);
				char what[64];

				snprintf(what, sizeof(what), "%.0f/%.0f ms by %s", squares_s[i][0] * 1e3,
					squares_s[i][1] * 1e3, use_names[use]);
				check(what, length_s, &score, length_s < 1 ? 0.02 : 0.005);
			}
}

static void the_energy_of_a_step_has_no_bias_and_an_honest_interval(void **state)
{
	(void)state;
	for (enum use use = USE_BOTH; use <= USE_POWER; use++)
		for (double length_s = use == USE_COUNTER ? 0.25 : 0.0625; length_s < 5; length_s *= 4) {
			struct score score = score_steps(length_s, use, 5);
			char what[64];

			snprintf(what, sizeof(what), "step by %s", use_names[use]);
			check(what, length_s, &score,
				length_s < 0.5		     ? 0.03
					: use == USE_COUNTER ? 0.01
							     : 0.005);
		}
}

/*
 * Measures all phases at high power of a square wave as runs of one region, and scores the region's total
 * energy.
 */
static void score_region(struct score *score, struct kwhy_curve *curve, const struct load *load)
{
	double period_s = load->on_s + load->off_s, truth = 0;
	struct kwhy_window_sum sum;
	struct kwhy_energy energy;

	kwhy_window_sum_init(&sum);
	sum.curve = curve;
	for (double at_s = 0.5 + period_s - fmod(0.5 + load->phase_s, period_s); at_s < 4.5;
		at_s += period_s) {
		int64_t start_ns = (int64_t)(at_s * 1e9), end_ns = (int64_t)((at_s + load->on_s) * 1e9);

		kwhy_window_sum_add(&sum, start_ns, end_ns);
		truth += truth_j(load, start_ns, end_ns);
	}
	kwhy_window_sum_result(&sum, KWHY_ENOUGH_RATIO, &energy);
	assert_int_equal(energy.state, KWHY_ENERGY_MEASURED);
	score->ratio_sum += energy.joules / truth - 1;
	score->ratio_square_sum += (energy.joules / truth - 1) * (energy.joules / truth - 1);
	score->width_sum += (energy.high_j - energy.low_j) / 2 / truth;
	score->covered += energy.low_j <= truth && truth <= energy.high_j;
	score->count++;
}

static void the_runs_of_a_region_have_an_honest_interval_together(void **state)
{
	struct random random = {31};
	static struct meter meter;

	(void)state;
	for (enum use use = USE_BOTH; use <= USE_POWER; use++)
		for (unsigned i = 0; i < SQUARES; i++) {
			struct score score = {0};
			char what[64];

			for (unsigned k = 0; k < CASES; k++) {
				struct load load = square_wave(&random, squares_s[i][0], squares_s[i][1]);
				struct kwhy_curve *curve;

				watch(&load, &random, &meter);
				curve = curve_of(&meter, use);
				score_region(&score, curve, &load);
				kwhy_curve_free(curve);
			}
			snprintf(what, sizeof(what), "runs %.0f/%.0f ms by %s", squares_s[i][0] * 1e3,
				squares_s[i][1] * 1e3, use_names[use]);
			check(what, 4, &score, 1);
		}
}

static void adjacent_windows_add_up_to_the_whole(void **state)
{
	struct random random = {99};
	static struct meter meter;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		struct load load = square_wave(
			&random, between(&random, 0.005, 0.3), between(&random, 0.005, 0.3));
		struct kwhy_energy energy;
		struct kwhy_curve *curve;
		double sum_j = 0;
		int64_t at_ns = 500000000, end_ns = 7000000000;

		watch(&load, &random, &meter);
		curve = curve_of(&meter, (enum use)(i % 4));
		while (at_ns < end_ns) {
			int64_t next_ns = at_ns + (int64_t)(between(&random, 1e3, i % 2 ? 30e6 : 900e6));

			next_ns = next_ns < end_ns ? next_ns : end_ns;
			kwhy_window_energy(curve, at_ns, next_ns, KWHY_ENOUGH_RATIO, &energy);
			assert_true(energy.joules >= 0);
			sum_j += energy.joules;
			at_ns = next_ns;
		}
		kwhy_window_energy(curve, 500000000, end_ns, KWHY_ENOUGH_RATIO, &energy);
		assert_true(fabs(sum_j - energy.joules) < 1e-6);
		kwhy_curve_free(curve);
	}
}

/*
 * A result that is too uncertain states how many repetitions are needed. Measuring a region that is this
 * number of times as long must be enough in 80 % of the cases.
 */
static void the_repetitions_asked_for_are_enough(void **state)
{
	struct random random = {7};
	static struct meter meter;
	unsigned asked = 0, enough = 0;

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		double length_s = between(&random, 0.002, 0.03);
		int64_t start_ns, end_ns;
		struct load load = one_step(&random, &start_ns, &end_ns, length_s);
		struct kwhy_energy energy;
		struct kwhy_curve *curve;
		struct random again = random;

		watch(&load, &random, &meter);
		curve = curve_of(&meter, USE_BOTH);
		kwhy_window_energy(curve, start_ns, end_ns, KWHY_ENOUGH_RATIO, &energy);
		kwhy_curve_free(curve);
		if (energy.enough || length_s * (double)energy.repetitions_needed > 4)
			continue;
		asked++;
		assert_true(energy.repetitions_needed > 1);
		load = one_step(&again, &start_ns, &end_ns, length_s * (double)energy.repetitions_needed);
		watch(&load, &again, &meter);
		curve = curve_of(&meter, USE_BOTH);
		kwhy_window_energy(curve, start_ns, end_ns, KWHY_ENOUGH_RATIO, &energy);
		kwhy_curve_free(curve);
		enough += energy.enough;
	}
	printf("asked to repeat %u times, enough then %u times\n", asked, enough);
	assert_true(asked > 50 && enough > asked * 8 / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_energy_of_square_waves_has_no_bias_and_an_honest_interval),
		cmocka_unit_test(the_energy_of_a_step_has_no_bias_and_an_honest_interval),
		cmocka_unit_test(the_runs_of_a_region_have_an_honest_interval_together),
		cmocka_unit_test(adjacent_windows_add_up_to_the_whole),
		cmocka_unit_test(the_repetitions_asked_for_are_enough),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
