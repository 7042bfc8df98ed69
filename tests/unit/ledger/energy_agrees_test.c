/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_contradicted.h"
#include "ledger/energy/energy_misfit.h"
#include "unit/ledger/build.h"

#include <math.h>

/*
 * Tests how the ledger judges whether metered intervals agree with the powers that it has fitted, with known
 * powers and times.
 */

#define IDLE_W 50.0
#define SECOND_NS INT64_C(1000000000)

enum { CLASSES = 2, CHANNELS = KWHY_METERED_CHANNELS(CLASSES), INTERVALS_MAX = 20 };

/*
 * Metered intervals. In each, power class 0 runs for a_s seconds, then class 1 for b_s; the device idles for
 * the rest.
 */
struct made {
	struct kwhy_metered_interval intervals[INTERVALS_MAX];
	double seen_s[INTERVALS_MAX * CHANNELS], elevated_s[INTERVALS_MAX], elevated_j[INTERVALS_MAX],
		net_w[CLASSES];
	struct kwhy_metered_total total;
	struct kwhy_metered_view view;
	struct kwhy_powers powers;
};

static void begin(struct made *made)
{
	*made = (struct made){.net_w = {100, 200}};
	made->total = (struct kwhy_metered_total){
		.meter = KWHY_METER_NVML_ENERGY, .intervals = made->intervals};
	made->view = (struct kwhy_metered_view){.class_count = CLASSES,
		.seen_s = made->seen_s,
		.elevated_s = made->elevated_s,
		.elevated_j = made->elevated_j};
	made->powers = (struct kwhy_powers){.class_count = CLASSES, .net_w = made->net_w, .idle_w = IDLE_W};
}

static void add(struct made *made, double length_s, double a_s, double b_s, double energy_j)
{
	const size_t i = made->total.count++;
	double *seen_s = made->seen_s + i * CHANNELS;
	const int64_t start_ns = i ? made->intervals[i - 1].end_ns : 7;

	made->view.interval_count = made->total.count;
	made->intervals[i] = (struct kwhy_metered_interval){
		start_ns, start_ns + llround(length_s * 1e9), llround(energy_j * 1e9)};
	seen_s[0] = seen_s[CLASSES] = a_s;
	seen_s[1] = seen_s[CLASSES + 1] = b_s;
	seen_s[2 * CLASSES] = length_s - a_s - b_s;
}

static double modelled_j(double length_s, double a_s, double b_s)
{
	return IDLE_W * length_s + 100 * a_s + 200 * b_s;
}

static const double a_of[] = {0.1, 0.7, 0.3, 0.9, 0, 0.2, 0.6, 0.5, 0.8, 0.4, 0.15, 0.35},
		    b_of[] = {0.5, 0.1, 0.2, 0.05, 0.9, 0.3, 0.15, 0.25, 0.1, 0.45, 0.6, 0.2};

/* Adds `count` intervals of 1 s. The meter shows more_w more than the modelled power while class 0 runs. */
static void add_misfit(struct made *made, size_t count, double more_w)
{
	begin(made);
	for (size_t i = 0; i < count; i++)
		add(made, 1, a_of[i], b_of[i], modelled_j(1, a_of[i], b_of[i]) + more_w * a_of[i]);
}

static double misfit_of(const struct made *made)
{
	double ratio;

	OK(kwhy_energy_misfit(&made->total, &made->view, &made->powers, &ratio, &error));
	return ratio;
}

/*
 * Returns the joules that the ledger puts on wrong accounts, computed in another way: a regression of the
 * metered energy that the model lacks on a * (seconds of class 0) + b * (seconds of class 1), both without
 * their part along the modelled energy, and only as far as the slope exceeds 3 standard errors.
 */
static double wrong_j(size_t count, double more_w, double a, double b)
{
	double m[INTERVALS_MAX], x[INTERVALS_MAX], beyond[INTERVALS_MAX],
		sum_m = 0, sum_e = 0, xm = 0, mm = 0, xx = 0, xe = 0, rest = 0, moved = 0, slope;

	for (size_t i = 0; i < count; i++) {
		m[i] = modelled_j(1, a_of[i], b_of[i]);
		x[i] = a * a_of[i] + b * b_of[i];
		beyond[i] = m[i] + more_w * a_of[i];
		sum_m += m[i];
		sum_e += beyond[i];
		xm += x[i] * m[i];
		mm += m[i] * m[i];
	}
	for (size_t i = 0; i < count; i++) {
		const double apportioned_j = a * (100 + IDLE_W) * a_of[i] + b * (200 + IDLE_W) * b_of[i];

		beyond[i] -= m[i] * sum_e / sum_m;
		x[i] -= m[i] * xm / mm;
		xx += x[i] * x[i];
		xe += x[i] * beyond[i];
		moved += fmax(0, x[i]) * (1 - apportioned_j / m[i]);
	}
	slope = xe / xx;
	for (size_t i = 0; i < count; i++)
		rest += (beyond[i] - slope * x[i]) * (beyond[i] - slope * x[i]);
	return fmax(0, fabs(slope) - 3 * sqrt(rest / (double)(count - 2) / xx)) * moved;
}

static double largest_j(size_t count, double more_w)
{
	return fmax(wrong_j(count, more_w, 1, 1),
		fmax(wrong_j(count, more_w, 1, 0), wrong_j(count, more_w, 0, 1)));
}

static void a_wrong_power_is_found_with_its_energy(void **state)
{
	static const double more_w[] = {60, -40, 5, 300};
	struct made made;

	(void)state;
	for (size_t i = 0; i < sizeof(more_w) / sizeof(more_w[0]); i++)
		for (size_t count = 10; count <= 12; count++) {
			double sum_j = 0;

			add_misfit(&made, count, more_w[i]);
			for (size_t k = 0; k < count; k++)
				sum_j += (double)made.intervals[k].energy_nj * 1e-9;
			assert_true(largest_j(count, more_w[i]) > 0);
			assert_float_equal(misfit_of(&made), largest_j(count, more_w[i]) / sum_j, 1e-8);
		}
}

static void powers_that_agree_up_to_a_gain_have_no_misfit(void **state)
{
	struct made made;

	(void)state;
	begin(&made);
	for (size_t i = 0; i < 12; i++)
		add(&made, 1, a_of[i], b_of[i], 1.03 * modelled_j(1, a_of[i], b_of[i]));
	assert_true(misfit_of(&made) < 1e-9);
}

/*
 * No misfit may be computed (NAN) from fewer than 10 intervals, from meters of power, or from intervals with
 * more than 1 ms of unrecorded time or of time outside of the run.
 */
static void too_little_has_no_misfit(void **state)
{
	struct made made;

	(void)state;
	add_misfit(&made, 9, 60);
	assert_true(isnan(misfit_of(&made)));
	add_misfit(&made, 10, 60);
	made.total.meter = KWHY_METER_NVML_SAMPLE;
	assert_true(isnan(misfit_of(&made)));
	add_misfit(&made, 10, 60);
	made.seen_s[3 * CHANNELS + CHANNELS - 1] = 1e-3;
	assert_true(isnan(misfit_of(&made)));
	add_misfit(&made, 10, 60);
	made.seen_s[2 * CLASSES] -= 2e-3;
	assert_true(isnan(misfit_of(&made)));
	add_misfit(&made, 10, 60);
	made.seen_s[2 * CLASSES] -= 0.5e-3;
	assert_false(isnan(misfit_of(&made)));
}

/* A class whose power above idle is negative is time without a context. It must not be tested. */
static void time_without_a_context_is_not_tested(void **state)
{
	struct made made;

	(void)state;
	add_misfit(&made, 12, 0);
	made.net_w[0] = -20;
	for (size_t i = 0; i < 12; i++)
		made.intervals[i].energy_nj = llround((IDLE_W - 60 * a_of[i] + 200 * b_of[i]) * 1e9);
	assert_true(misfit_of(&made) > 0);
	made.net_w[1] = -30;
	assert_true(misfit_of(&made) == 0);
}

static struct kwhy_contradiction contradiction_of(const struct made *made)
{
	struct kwhy_contradiction found;

	OK(kwhy_energy_contradiction(&made->total, &made->view, &made->powers, &found, &error));
	return found;
}

/*
 * Adds intervals of 0.1 s in which the device idles: the model expects 5 J, the meter shows joules[i]. The
 * code under test compares them in pairs.
 */
static void add_pairs(struct made *made, const double *joules, size_t count)
{
	begin(made);
	for (size_t i = 0; i < count; i++)
		add(made, 0.1, 0, 0, joules[i]);
}

static void the_scatter_of_pairs_of_intervals_is_found(void **state)
{
	static const double joules[] = {5, 5, 4, 6, 5, 5, 7, 8, 5, 5};
	/*
	 * the meter shows 10, 10, 10, 15 and 10 J in the pairs. The expected energy, 10 J each, is scaled to
	 * the sum, so 11 J are expected of each
	 */
	const double scatter = sqrt((4 * pow(1.0 / 11, 2) + pow(4.0 / 11, 2)) / 5);
	struct made made;
	struct kwhy_contradiction found;

	(void)state;
	add_pairs(&made, joules, 10);
	found = contradiction_of(&made);
	assert_int_equal(found.count, 5);
	assert_float_equal(found.scatter_ratio, scatter, 1e-9);
	assert_int_equal(found.largest_ns, made.intervals[6].start_ns);
	/* a pair of which the meter shows less than expected counts as far off, too */
	made.intervals[6].energy_nj = 0;
	made.intervals[7].energy_nj = 1000000000;
	found = contradiction_of(&made);
	assert_int_equal(found.largest_ns, made.intervals[6].start_ns);
	assert_float_equal(
		found.scatter_ratio, sqrt((4 * pow(10 / 8.2 - 1, 2) + pow(1 / 8.2 - 1, 2)) / 5), 1e-9);
}

static void intervals_that_say_nothing_are_in_no_pair(void **state)
{
	static const double joules[] = {5, 90, 5, 90, 6, 4, 5};
	struct made made;
	struct kwhy_contradiction found;

	(void)state;
	add_pairs(&made, joules, 7);
	made.seen_s[1 * CHANNELS + CHANNELS - 1] = 1e-6;  /* unrecorded time */
	made.seen_s[3 * CHANNELS + 2 * CLASSES] = 0.0995; /* time outside */
	found = contradiction_of(&made);
	assert_int_equal(found.count, 2); /* two pairs remain; the last interval has no partner */
	assert_float_equal(found.scatter_ratio, 0, 1e-12);
}

static void longer_intervals_weigh_by_their_time(void **state)
{
	struct made made;
	struct kwhy_contradiction found;

	(void)state;
	begin(&made);
	add(&made, 0.2, 0, 0, 12);
	add(&made, 0.6, 0, 0, 28);
	found = contradiction_of(&made);
	assert_int_equal(found.count, 2);
	assert_float_equal(
		found.scatter_ratio, sqrt((0.2 * pow(0.2, 2) + 0.6 * pow(28.0 / 30 - 1, 2)) / 0.8), 1e-9);
}

static void nothing_metered_contradicts_nothing(void **state)
{
	static const double joules[] = {0, 0, 0, 0};
	struct made made;

	(void)state;
	add_pairs(&made, joules, 4);
	assert_int_equal(contradiction_of(&made).count, 0);
	add_pairs(&made, joules, 4);
	made.intervals[0].energy_nj = made.intervals[2].energy_nj = 5 * SECOND_NS;
	made.powers.idle_w = 0;
	assert_int_equal(contradiction_of(&made).count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_power_is_found_with_its_energy),
		cmocka_unit_test(powers_that_agree_up_to_a_gain_have_no_misfit),
		cmocka_unit_test(too_little_has_no_misfit),
		cmocka_unit_test(time_without_a_context_is_not_tested),
		cmocka_unit_test(the_scatter_of_pairs_of_intervals_is_found),
		cmocka_unit_test(intervals_that_say_nothing_are_in_no_pair),
		cmocka_unit_test(longer_intervals_weigh_by_their_time),
		cmocka_unit_test(nothing_metered_contradicts_nothing),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
