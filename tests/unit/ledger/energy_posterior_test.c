/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "cmocka_all.h"
#include "ledger/energy/posterior.h"
#include "ok.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tests the fit of powers and the random draws of them in cases whose posterior distribution is known. The
 * tests state themselves which share of each reading is of each power class.
 */

static struct kwhy_error error;

enum { COUNT = 400, CLASSES = 2, DRAWS = 4000 };

#define IDLE_W 100.0
#define NOISE_W 2.0

struct toy {
	float net[KWHY_GRID_POINTS * CLASSES * COUNT];
	struct kwhy_power_reading items[COUNT];
	struct kwhy_normal class_log[CLASSES];
	bool tied[CLASSES], seen[CLASSES];
	struct kwhy_response_features features;
	struct kwhy_power_readings readings;
	struct kwhy_posterior_prior prior;
	struct kwhy_posterior_model model;
	struct kwhy_posterior_fit fit;
	struct kwhy_random random;
};

/*
 * Makes a case with a prior of both powers of median 200 W and logarithmic standard deviation 0.6, without
 * readings. The parameters of the meter's response (time constant, delay) have no effect in it.
 */
static struct toy *open_toy(void)
{
	struct toy *toy = calloc(1, sizeof(*toy));

	assert_non_null(toy);
	kwhy_random_init(&toy->random, 5);
	toy->features = (struct kwhy_response_features){{14e-3, 3e-3, 1e-3, 1e-3}, COUNT, CLASSES, toy->net};
	toy->readings = (struct kwhy_power_readings){.items = toy->items, .count = COUNT};
	toy->prior = (struct kwhy_posterior_prior){CLASSES, toy->class_log, toy->tied, toy->seen,
		{{IDLE_W, 1}, {5, 0.5}, {14e-3, 1e-3}, {3e-3, 1e-3}, {0.7, 0.5}, {-7, 1}, {-12, 0.7},
			{-9, 0.7}},
		0};
	for (int c = 0; c < CLASSES; c++)
		toy->class_log[c] = (struct kwhy_normal){log(200), 0.6};
	toy->model = (struct kwhy_posterior_model){&toy->features, &toy->readings, &toy->prior, NULL, 1};
	OK(kwhy_posterior_fit_init(&toy->fit, &toy->model, &error));
	for (int i = 0; i < KWHY_PARAMETER_COUNT; i++)
		toy->fit.mode[CLASSES + i] = toy->prior.other[i].mean;
	toy->fit.mode[CLASSES + KWHY_PARAMETER_TAU] = toy->fit.mode[CLASSES + KWHY_PARAMETER_DELAY] = 0;
	toy->fit.mode[0] = toy->fit.mode[1] = log(200);
	return toy;
}

static void close_toy(struct toy *toy)
{
	kwhy_posterior_fit_done(&toy->fit);
	free(toy);
}

/*
 * Makes reading i, of which the share `first` is of class 0 and `second` of class 1. These draw 300 W and 100
 * W above idle.
 */
static void put(struct toy *toy, int i, double first, double second)
{
	for (int point = 0; point < KWHY_GRID_POINTS; point++) {
		toy->net[(point * CLASSES) * COUNT + i] = (float)first;
		toy->net[(point * CLASSES + 1) * COUNT + i] = (float)second;
	}
	toy->items[i].power_w = IDLE_W + 300 * (double)(float)first + 100 * (double)(float)second +
		NOISE_W * kwhy_random_normal(&toy->random);
}

static struct toy *different_mixtures(void)
{
	struct toy *toy = open_toy();

	for (int i = 0; i < COUNT; i++) {
		double first = kwhy_random_uniform(&toy->random);

		put(toy, i, first, (1 - first) * kwhy_random_uniform(&toy->random));
	}
	return toy;
}

/*
 * Makes a case in which half of each reading is of class 0 and half of class 1. The readings
 * determine only the sum of the two powers above idle, 400 W.
 */
static struct toy *one_mixture(void)
{
	struct toy *toy = open_toy();

	for (int i = 0; i < COUNT; i++)
		put(toy, i, 0.5, 0.5);
	return toy;
}

static double *drawn(struct toy *toy, uint64_t seed)
{
	double *draws = calloc(DRAWS * toy->fit.size, sizeof(*draws));

	assert_non_null(draws);
	OK(kwhy_posterior_draw(&toy->fit, &toy->model, seed, DRAWS, draws, &error));
	return draws;
}

static void moments(const double *draws, size_t size, size_t at, double *out_mean, double *out_spread)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < DRAWS; i++)
		sum += draws[i * size + at] / DRAWS;
	for (size_t i = 0; i < DRAWS; i++)
		squares += pow(draws[i * size + at] - sum, 2) / DRAWS;
	*out_mean = sum;
	*out_spread = sqrt(squares);
}

static void powers_that_different_readings_tell_apart_are_found(void **state)
{
	struct toy *toy = different_mixtures();
	double *draws, mean, sd, fitted;

	(void)state;
	OK(kwhy_posterior_fit_climb(&toy->fit, &toy->model, NULL, &error));
	draws = drawn(toy, 1);
	for (size_t c = 0; c < CLASSES; c++) {
		moments(draws, toy->fit.size, c, &mean, &sd);
		OK(kwhy_posterior_fit_sd(&toy->fit, c, &fitted, &error));
		assert_true(fabs(mean - log(c ? 100 : 300)) < 3 * sd);
		assert_true(sd < 0.02 && sd > 0.7 * fitted && sd < 1.5 * fitted);
	}
	free(draws);
	close_toy(toy);
}

/*
 * Returns the exact quantile (`share`: 0 to 1) of one power above idle, W, if only its sum with another of
 * the same prior is known, 400 W.
 */
static double exact_quantile(double share)
{
	double sums[4000], sum = 0;

	for (int w = 0; w < 4000; w++) {
		double one = (w + 0.5) / 10, other = 400 - one;

		sum += exp(-0.5 * (pow(log(one / 200) / 0.6, 2) + pow(log(other / 200) / 0.6, 2))) / one /
			other;
		sums[w] = sum;
	}
	for (int w = 0; w < 4000; w++)
		if (sums[w] >= share * sum)
			return (w + 0.5) / 10;
	return 400;
}

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/*
 * Readings confine the powers to a very narrow range around the known sum. Along this range, the
 * Markov chain must still reach all pairs of powers that the prior permits, as often as it says.
 */
static void powers_whose_sum_alone_is_known_are_drawn_as_the_prior_says(void **state)
{
	struct toy *toy = one_mixture();
	double *draws, one_w[DRAWS], sum_w, most_w = 0;

	(void)state;
	OK(kwhy_posterior_fit_climb(&toy->fit, &toy->model, NULL, &error));
	draws = drawn(toy, 1);
	for (int i = 0; i < DRAWS; i++) {
		const double *draw = draws + (size_t)i * toy->fit.size;

		one_w[i] = exp(draw[0]);
		sum_w = 0.5 * (one_w[i] + exp(draw[1])) + draw[CLASSES + KWHY_PARAMETER_IDLE];
		most_w = fmax(most_w, fabs(sum_w - 300));
	}
	assert_true(most_w < 1);
	qsort(one_w, DRAWS, sizeof(*one_w), compare_doubles);
	for (double share = 0.05; share < 1; share += 0.15) {
		double expected_w = exact_quantile(share);

		if (fabs(one_w[(int)(share * DRAWS)] - expected_w) > 12)
			fail_msg("quantile %.2f: %.1f W instead of %.1f W", share,
				one_w[(int)(share * DRAWS)], expected_w);
	}
	free(draws);
	close_toy(toy);
}

static void a_power_beyond_the_limit_is_held_where_the_readings_leave_it_open(void **state)
{
	struct toy *toy = one_mixture();
	double *draws, most_w = 0;

	(void)state;
	toy->prior.limit_w = 300;
	OK(kwhy_posterior_fit_climb(&toy->fit, &toy->model, NULL, &error));
	draws = drawn(toy, 1);
	for (int i = 0; i < DRAWS; i++)
		for (int c = 0; c < CLASSES; c++)
			most_w = fmax(most_w, IDLE_W + exp(draws[(size_t)i * toy->fit.size + (size_t)c]));
	assert_true(most_w > 320 && most_w < 1.55 * 300);
	free(draws);
	close_toy(toy);
}

static void readings_that_demand_a_power_beyond_the_limit_have_it(void **state)
{
	struct toy *toy = different_mixtures();

	(void)state;
	toy->prior.limit_w = 150;
	OK(kwhy_posterior_fit_climb(&toy->fit, &toy->model, NULL, &error));
	assert_true(exp(toy->fit.mode[0]) > 280);
	close_toy(toy);
}

static void the_same_seed_draws_the_same_and_another_does_not(void **state)
{
	struct toy *toy = one_mixture();
	double *one, *again, *other;

	(void)state;
	OK(kwhy_posterior_fit_climb(&toy->fit, &toy->model, NULL, &error));
	one = drawn(toy, 7);
	again = drawn(toy, 7);
	other = drawn(toy, 8);
	assert_memory_equal(one, again, DRAWS * toy->fit.size * sizeof(*one));
	assert_memory_not_equal(one, other, DRAWS * toy->fit.size * sizeof(*one));
	free(one);
	free(again);
	free(other);
	close_toy(toy);
}

/*
 * The residuals get an autoregressive part whose autocorrelation falls by a factor of 0.6 from one reading to
 * the next. Then a reading counts for 1 / (1 + 2 (0.6 + 0.36 + ...)) = 1/4 of an independent one.
 */
static void residuals_that_hang_together_count_for_less(void **state)
{
	struct toy *toy = different_mixtures();
	double temper, drag_w = 0;

	(void)state;
	OK(kwhy_posterior_fit_climb(&toy->fit, &toy->model, NULL, &error));
	OK(kwhy_posterior_temper(&toy->model, toy->fit.mode, &temper, &error));
	assert_true(temper > 0.7);
	for (int i = 0; i < COUNT; i++) {
		drag_w = 0.6 * drag_w + 2 * NOISE_W * kwhy_random_normal(&toy->random);
		toy->items[i].power_w += drag_w;
	}
	OK(kwhy_posterior_fit_climb(&toy->fit, &toy->model, NULL, &error));
	OK(kwhy_posterior_temper(&toy->model, toy->fit.mode, &temper, &error));
	assert_true(temper > 0.15 && temper < 0.45);
	close_toy(toy);
}

static double rms_w(struct toy *toy)
{
	struct kwhy_posterior_prediction prediction;
	double squares = 0;

	OK(kwhy_posterior_prediction_init(&prediction, COUNT, &error));
	kwhy_posterior_predict(&prediction, &toy->model, toy->fit.mode);
	for (int i = 0; i < COUNT; i++)
		squares += pow(toy->items[i].power_w - prediction.power_w[i], 2) / COUNT;
	kwhy_posterior_prediction_done(&prediction);
	return sqrt(squares);
}

static void a_slow_drift_of_all_powers_is_taken_out_of_the_readings(void **state)
{
	struct toy *toy = different_mixtures();
	double read_w[COUNT];

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		toy->items[i].from_ns = toy->items[i].to_ns = (int64_t)i * 20000000;
		read_w[i] = toy->items[i].power_w *= 1 + 0.02 * sin(i / 60.0);
	}
	OK(kwhy_posterior_fit_climb(&toy->fit, &toy->model, NULL, &error));
	assert_true(rms_w(toy) > 1.6 * NOISE_W);
	OK(kwhy_posterior_detrend(&toy->model, toy->fit.mode, read_w, &toy->readings, &error));
	OK(kwhy_posterior_fit_climb(&toy->fit, &toy->model, NULL, &error));
	OK(kwhy_posterior_detrend(&toy->model, toy->fit.mode, read_w, &toy->readings, &error));
	assert_true(rms_w(toy) < 1.2 * NOISE_W);
	close_toy(toy);
}

static void one_mixture_read_often_shares_more_error_than_many_mixtures(void **state)
{
	struct toy *one = one_mixture(), *many = different_mixtures();
	double shared_w2[COUNT], apart_w2[COUNT];

	(void)state;
	OK(kwhy_posterior_share(&one->model, one->fit.mode, shared_w2, &error));
	OK(kwhy_posterior_share(&many->model, many->fit.mode, apart_w2, &error));
	/* variance of a common error of 0.5 % of 200 W, 1 W^2, in each of the readings of one mixture */
	assert_true(fabs(shared_w2[0] / COUNT - 1) < 0.01);
	assert_true(apart_w2[0] < shared_w2[0] / 2);
	close_toy(one);
	close_toy(many);
}

/*
 * All readings are equal. The fitted noise needs a lower bound, without which it would decrease until it
 * underflows.
 */
static void readings_without_any_noise_are_fitted(void **state)
{
	struct toy *toy = one_mixture();
	double sd;

	(void)state;
	for (int i = 0; i < COUNT; i++)
		toy->items[i].power_w = 321;
	toy->prior.other[KWHY_PARAMETER_NOISE].sd = 1;
	OK(kwhy_posterior_fit_climb(&toy->fit, &toy->model, NULL, &error));
	OK(kwhy_posterior_fit_sd(&toy->fit, CLASSES + KWHY_PARAMETER_IDLE, &sd, &error));
	assert_true(sd > 0.1 && sd < 2);
	close_toy(toy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(powers_that_different_readings_tell_apart_are_found),
		cmocka_unit_test(powers_whose_sum_alone_is_known_are_drawn_as_the_prior_says),
		cmocka_unit_test(a_power_beyond_the_limit_is_held_where_the_readings_leave_it_open),
		cmocka_unit_test(readings_that_demand_a_power_beyond_the_limit_have_it),
		cmocka_unit_test(the_same_seed_draws_the_same_and_another_does_not),
		cmocka_unit_test(residuals_that_hang_together_count_for_less),
		cmocka_unit_test(a_slow_drift_of_all_powers_is_taken_out_of_the_readings),
		cmocka_unit_test(one_mixture_read_often_shares_more_error_than_many_mixtures),
		cmocka_unit_test(readings_without_any_noise_are_fitted),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
