/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"
#include "cmocka_all.h"

#include <math.h>

enum { DRAWS = 100000 };

/*
 * The expected values are the first outputs of the reference implementation (prng.di.unimi.it/splitmix64.c)
 * for the seed 1234567.
 */
static void splitmix64_gives_the_numbers_of_its_authors(void **state)
{
	uint64_t seed = 1234567;

	(void)state;
	assert_int_equal(kwhy_random_next(&seed), UINT64_C(6457827717110365317));
	assert_int_equal(kwhy_random_next(&seed), UINT64_C(3203168211198807973));
	assert_int_equal(kwhy_random_next(&seed), UINT64_C(9817491932198370423));
}

static void numbers_can_be_computed_in_any_order(void **state)
{
	uint64_t seed = 42, third;

	(void)state;
	third = kwhy_random_of(seed + 3 * KWHY_RANDOM_STEP);
	kwhy_random_next(&seed);
	kwhy_random_next(&seed);
	assert_int_equal(kwhy_random_next(&seed), third);
}

static void shares_lie_in_0_to_1_without_1(void **state)
{
	(void)state;
	assert_true(kwhy_random_share(0) == 0);
	assert_true(kwhy_random_share(UINT64_MAX) < 1);
	assert_true(kwhy_random_share(UINT64_C(1) << 63) == 0.5);
}

static void a_seed_gives_the_same_draws_and_another_one_others(void **state)
{
	struct kwhy_random one, again, other;

	(void)state;
	kwhy_random_init(&one, 7);
	kwhy_random_init(&again, 7);
	kwhy_random_init(&other, 8);
	assert_true(kwhy_random_normal(&one) == kwhy_random_normal(&again));
	assert_int_equal(kwhy_random_bits(&one), kwhy_random_bits(&again));
	assert_int_not_equal(kwhy_random_bits(&one), kwhy_random_bits(&other));
}

/* The tolerances are five standard errors of the mean and of the variance. */
static void draws_have_the_moments_of_their_distributions(void **state)
{
	double uniform = 0, normal = 0, squares = 0;
	struct kwhy_random random;

	(void)state;
	kwhy_random_init(&random, 1);
	for (int i = 0; i < DRAWS; i++) {
		double drawn = kwhy_random_normal(&random);

		uniform += kwhy_random_uniform(&random) / DRAWS;
		normal += drawn / DRAWS;
		squares += drawn * drawn / DRAWS;
	}
	assert_true(fabs(uniform - 0.5) < 5 * sqrt(1.0 / 12 / DRAWS));
	assert_true(fabs(normal) < 5 * sqrt(1.0 / DRAWS));
	assert_true(fabs(squares - 1) < 5 * sqrt(2.0 / DRAWS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splitmix64_gives_the_numbers_of_its_authors),
		cmocka_unit_test(numbers_can_be_computed_in_any_order),
		cmocka_unit_test(shares_lie_in_0_to_1_without_1),
		cmocka_unit_test(a_seed_gives_the_same_draws_and_another_one_others),
		cmocka_unit_test(draws_have_the_moments_of_their_distributions),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
