/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/median.h"

#include "cmocka_all.h"

#include <math.h>

static void no_samples_give_nothing(void **state)
{
	struct kwhy_median median;

	(void)state;
	kwhy_median_of(NULL, 0, &median);
	assert_true(isnan(median.median) && isnan(median.least) && isnan(median.low));
	assert_true(isinf(kwhy_median_width(&median)));
}

static void five_samples_have_a_median_and_no_interval(void **state)
{
	double values[] = {5, 1, 4, 2, 3};
	struct kwhy_median median;

	(void)state;
	kwhy_median_of(values, 5, &median);
	assert_true(median.median == 3 && median.least == 1);
	assert_true(isnan(median.low) && isnan(median.high));
}

/*
 * The interval of the median goes from one order statistic to another, whose ranks follow from the binomial
 * distribution so that at most 2.5 % lie in each tail: ranks 1 and 6 of 6 values (1/64), 2 and 9 of 10
 * (11/1024), 6 and 15 of 20. Value number i is i here.
 */
static void the_interval_takes_the_ranks_of_the_binomial(void **state)
{
	static const struct {
		size_t count;
		double low, high;
	} rows[] = {{6, 1, 6}, {8, 1, 8}, {9, 2, 8}, {10, 2, 9}, {20, 6, 15}, {100, 40, 61}};
	double values[100];
	struct kwhy_median median;

	(void)state;
	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		for (size_t i = 0; i < rows[r].count; i++)
			values[i] = (double)(rows[r].count - i);
		kwhy_median_of(values, rows[r].count, &median);
		assert_true(median.low == rows[r].low);
		assert_true(median.high == rows[r].high);
	}
}

static void width_is_over_the_median(void **state)
{
	double values[] = {98, 99, 100, 100, 101, 102};
	struct kwhy_median median;

	(void)state;
	kwhy_median_of(values, 6, &median);
	assert_true(fabs(kwhy_median_width(&median) - 0.04) < 1e-12);
}

static double uniform(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

/* The distribution is skewed, as that of run times is: -log(u) has the median log 2. */
static void the_interval_holds_the_true_median_as_often_as_it_says(void **state)
{
	uint64_t random = 7;
	int held = 0;

	(void)state;
	for (int trial = 0; trial < 2000; trial++) {
		struct kwhy_median median;
		double values[16];

		for (int i = 0; i < 16; i++)
			values[i] = -log(uniform(&random));
		kwhy_median_of(values, 16, &median);
		held += median.low <= log(2) && log(2) <= median.high;
	}
	assert_true(held >= 1900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_samples_give_nothing),
		cmocka_unit_test(five_samples_have_a_median_and_no_interval),
		cmocka_unit_test(the_interval_takes_the_ranks_of_the_binomial),
		cmocka_unit_test(width_is_over_the_median),
		cmocka_unit_test(the_interval_holds_the_true_median_as_often_as_it_says),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
