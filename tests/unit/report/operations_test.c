/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "nouns.h"
#include "report/operations.h"

static struct kwhy_error error;

static void operations_sum_their_accounts_by_direction(void **state)
{
	struct nouns nouns;
	struct kwhy_operations operations;

	(void)state;
	nouns_init(&nouns, "k");
	nouns_energy(&nouns);
	assert_int_equal(kwhy_operations_of(nouns.recording, &nouns.ledger, 0, &operations, &error), KWHY_OK);
	assert_int_equal(operations.copies[KWHY_COPY_H2D].gross_nj, 20000);
	assert_int_equal(operations.copies[KWHY_COPY_D2H].gross_nj, 10000);
	assert_int_equal(operations.copies[KWHY_COPY_D2D].count, 0);
	assert_int_equal(operations.sum.count, 2);
	assert_int_equal(operations.sum.time_ns, 200);
	assert_int_equal(operations.sum.gross_nj, 30000);
	assert_int_equal(operations.sum.low_nj, 28000);
	nouns_done(&nouns);
}

static void a_transfer_splits_into_copy_wait_and_the_rest_of_the_idle_time_after_it(void **state)
{
	struct nouns nouns;
	struct kwhy_operations operations;
	const struct kwhy_transfer_split *split;

	(void)state;
	nouns_init(&nouns, "k");
	nouns_energy(&nouns);
	assert_int_equal(kwhy_operations_of(nouns.recording, &nouns.ledger, 0, &operations, &error), KWHY_OK);
	assert_true(operations.split_known);
	split = &operations.splits[KWHY_COPY_H2D];
	assert_int_equal(split->dma_ns, 100);
	assert_int_equal(split->wait_ns, 150);
	assert_int_equal(split->rest_ns, 150);
	assert_int_equal(split->dma_nj, 20000);
	assert_int_equal(split->wait_nj, 15000);
	assert_int_equal(split->rest_nj, 15000);
	assert_int_equal(split->rest_median_ns, 150);
	assert_int_equal(split->rest_longest_ns, 150);
	/*
	 * no idle time follows the d2h copy: it is the last activity, and only time between activities counts
	 */
	split = &operations.splits[KWHY_COPY_D2H];
	assert_int_equal(split->dma_ns, 100);
	assert_int_equal(split->wait_ns + split->rest_ns, 0);
	nouns_done(&nouns);
}

/*
 * Half of the h2d copy was metered (10,000 nJ in 50 of 100 ns), nothing of the d2h copy. The energy of one
 * copy must be the mean power times the whole time of a copy whose power is known: 20,000 nJ.
 */
static void energy_each_is_of_those_whose_power_is_known(void **state)
{
	struct nouns nouns;
	struct kwhy_operations operations;

	(void)state;
	nouns_init(&nouns, "k");
	nouns_energy(&nouns);
	nouns.accounts[1].gross_nj = 10000;
	nouns.accounts[2].gross_nj = nouns.accounts[2].low_nj = nouns.accounts[2].high_nj = 0;
	nouns.accounts[2].mean_power_mw = -1;
	assert_int_equal(kwhy_operations_of(nouns.recording, &nouns.ledger, 0, &operations, &error), KWHY_OK);
	assert_int_equal(operations.sum.count, 2);
	assert_int_equal(operations.sum.known_count, 1);
	assert_true(kwhy_operation_each_nj(&operations.sum) == 20000);
	assert_true(operations.sum.metered_ns == 50);
	assert_int_equal(operations.sum.gross_nj, 10000);
	assert_int_equal(operations.copies[KWHY_COPY_D2H].gross_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(operations.splits[KWHY_COPY_H2D].priced_count, 1);
	assert_int_equal(operations.splits[KWHY_COPY_H2D].dma_nj, 20000);
	assert_int_equal(operations.splits[KWHY_COPY_D2H].priced_count, 0);
	assert_int_equal(operations.splits[KWHY_COPY_D2H].dma_nj, KWHY_UNKNOWN_NJ);
	nouns_done(&nouns);
}

static void no_more_was_metered_than_ran(void **state)
{
	struct nouns nouns;
	struct kwhy_operations operations;

	(void)state;
	nouns_init(&nouns, "k");
	nouns_energy(&nouns);
	nouns.accounts[1].time_ns = 300;
	nouns.accounts[1].mean_power_mw = nouns.accounts[1].gross_nj * 1000 / nouns.accounts[1].time_ns;
	assert_int_equal(kwhy_operations_of(nouns.recording, &nouns.ledger, 0, &operations, &error), KWHY_OK);
	assert_true(operations.copies[KWHY_COPY_H2D].metered_ns == 300);
	nouns_done(&nouns);
}

static void energies_stay_unknown_without_readings(void **state)
{
	struct nouns nouns;
	struct kwhy_operations operations;

	(void)state;
	nouns_init(&nouns, "k");
	assert_int_equal(kwhy_operations_of(nouns.recording, &nouns.ledger, 0, &operations, &error), KWHY_OK);
	assert_int_equal(operations.sum.gross_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(operations.splits[KWHY_COPY_H2D].wait_ns, 150);
	assert_int_equal(operations.splits[KWHY_COPY_H2D].wait_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(operations.splits[KWHY_COPY_D2H].rest_nj, KWHY_UNKNOWN_NJ);
	nouns_done(&nouns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_sum_their_accounts_by_direction),
		cmocka_unit_test(a_transfer_splits_into_copy_wait_and_the_rest_of_the_idle_time_after_it),
		cmocka_unit_test(energy_each_is_of_those_whose_power_is_known),
		cmocka_unit_test(no_more_was_metered_than_ran),
		cmocka_unit_test(energies_stay_unknown_without_readings),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
