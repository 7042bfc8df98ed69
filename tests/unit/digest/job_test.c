/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a job joins any number of digests in bounded memory: it keeps a sample of their collectives,
 * counts the others, and computes sums over all from the sample.
 */
#include "cmocka_all.h"
#include "digest/joining.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLLECTIVES = 100, LATE_NS = 50 };

#define ADD(digest, name) KWHY_DIGEST_ADD(digest, name, &(struct kwhy_error){0})

/*
 * Makes the digest of a rank that enters each of its collectives late_ns after the first rank did, and leaves
 * it at the same time as the others.
 */
static struct kwhy_digest make_rank(uint32_t rank, int64_t late_ns)
{
	struct kwhy_digest digest = {0};

	*ADD(&digest, digest) = (struct kwhy_digest_digest){
		.rank = rank, .world_size = 3, .collectives = COLLECTIVES, .kept_ratio = 1};
	ADD(&digest, device)->span_ns = 1000 * COLLECTIVES;
	*ADD(&digest, communicator) = (struct kwhy_digest_communicator){
		.name = "world", .size = 3, .is_numbered = 1, .collectives = COLLECTIVES};
	*ADD(&digest, operation) = (struct kwhy_digest_operation){.name = "allreduce", .meets = 1};
	for (int64_t i = 0; i < COLLECTIVES; i++)
		*ADD(&digest, collective) = (struct kwhy_digest_collective){
			.sequence = i, .enter_ns = 1000 * i + late_ns, .exit_ns = 1000 * i + 500};
	return digest;
}

static void add_rank(struct kwhy_job *job, uint32_t rank)
{
	struct kwhy_digest digest = make_rank(rank, rank == 1 ? LATE_NS : 0);
	struct kwhy_error error;

	assert_int_equal(kwhy_job_add(job, "rank.sqlite", &digest, &error), KWHY_OK);
	kwhy_digest_done(&digest);
}

static struct kwhy_job *new_job(void)
{
	struct kwhy_job *job = calloc(1, sizeof(*job));
	struct kwhy_error error;

	assert_non_null(job);
	job->kept_ratio = 1;
	assert_int_equal(kwhy_job_open_visits(&job->visits, &error), KWHY_OK);
	return job;
}

/*
 * After two ranks the job drops some of the collectives that it has stored. Of the third rank it
 * must store the same ones, so that all three are compared.
 */
static void of_too_many_collectives_a_share_is_compared(void **state)
{
	struct kwhy_job *job = new_job();
	struct kwhy_error error;
	size_t count;

	(void)state;
	add_rank(job, 0);
	add_rank(job, 1);
	assert_int_equal(job->collective_count, COLLECTIVES);
	assert_int_equal(kwhy_job_thin(job, 30, &error), KWHY_OK);
	assert_true(job->kept_ratio < 1);
	count = job->collective_count;
	assert_in_range(count, 1, 30);
	add_rank(job, 2);
	assert_int_equal(job->collective_count, count);
	kwhy_job_mark_partial(job);
	assert_int_equal(job->kept, 3 * count);
	assert_int_equal(job->seen, 3 * COLLECTIVES);
	assert_int_equal(kwhy_job_compare(job, &error), KWHY_OK);
	assert_int_equal(job->compared, count);
	assert_int_equal(job->waiting_ns, 2 * LATE_NS * count);
	assert_int_equal(job->ranks[1].caused_ns, job->waiting_ns);
	/* ranks wait equally long in all collectives, so the estimate from a sample is exact */
	assert_int_equal(job->all_waiting_ns, 2 * LATE_NS * COLLECTIVES);
	assert_true(job->all_waiting_error_ns < 1e-3);
	for (size_t i = 0; i < job->collective_count; i++)
		assert_int_equal(job->collectives[i].ranks, 3);
	kwhy_job_free(job);
}

/*
 * In each step of eight collectives, ranks wait in one of them. If the job keeps only a sample of the
 * collectives, the estimated waiting in all must be near the truth and within its stated error. A sample of
 * every eighth, for instance, would have all of the waiting or none.
 */
static void waiting_in_one_of_eight_buckets_is_estimated(void **state)
{
	enum { STEPS = 2000, BUCKETS = 8, RANKS = 2 };
	const double ratios[] = {0.5, 0.25, 0.125, 0.3};
	const double truth_ns = (double)STEPS * LATE_NS;

	(void)state;
	for (size_t r = 0; r < sizeof(ratios) / sizeof(ratios[0]); r++) {
		struct kwhy_job *job = new_job();
		struct kwhy_error error;

		for (uint32_t rank = 0; rank < RANKS; rank++) {
			struct kwhy_digest digest = make_rank(rank, 0);

			digest.collective_count = 0;
			digest.digest->collectives = digest.communicator->collectives = STEPS * BUCKETS;
			digest.digest->kept_ratio = ratios[r];
			for (int64_t i = 0; i < STEPS * BUCKETS; i++)
				if (kwhy_digest_keeps(i, ratios[r]))
					*ADD(&digest, collective) = (struct kwhy_digest_collective){
						.sequence = i,
						.enter_ns = 1000 * i +
							(rank && i % BUCKETS == 0 ? LATE_NS : 0),
						.exit_ns = 1000 * i + 500};
			assert_int_equal(kwhy_job_add(job, "rank.sqlite", &digest, &error), KWHY_OK);
			kwhy_digest_done(&digest);
		}
		kwhy_job_mark_partial(job);
		assert_int_equal(kwhy_job_compare(job, &error), KWHY_OK);
		assert_true(job->all_waiting_error_ns > 0 && job->all_waiting_error_ns < 0.1 * truth_ns);
		assert_true(fabs((double)job->all_waiting_ns - truth_ns) < 3 * job->all_waiting_error_ns);
		kwhy_job_free(job);
	}
}

/*
 * One rank is late, and its digest has fewer collectives than the digests of the other ranks. Only
 * collectives that all digests have may be compared.
 */
static void what_a_digest_leaves_out_is_not_compared_without_it(void **state)
{
	struct kwhy_job *job = new_job();
	struct kwhy_error error;
	size_t kept = 0;

	(void)state;
	add_rank(job, 0);
	for (uint32_t rank = 1; rank < 3; rank++) {
		struct kwhy_digest digest = make_rank(rank, rank == 1 ? LATE_NS : 0);

		if (rank == 1) {
			for (size_t i = 0; i < digest.collective_count; i++)
				if (kwhy_digest_keeps(digest.collective[i].sequence, 0.5))
					digest.collective[kept++] = digest.collective[i];
			digest.collective_count = kept;
			digest.digest->kept_ratio = 0.5;
		}
		assert_int_equal(kwhy_job_add(job, "rank.sqlite", &digest, &error), KWHY_OK);
		kwhy_digest_done(&digest);
	}
	kwhy_job_mark_partial(job);
	assert_int_equal(kwhy_job_compare(job, &error), KWHY_OK);
	assert_in_range(kept, COLLECTIVES / 4, 3 * COLLECTIVES / 4);
	assert_int_equal(job->compared, kept);
	assert_int_equal(job->kept, 3 * kept);
	assert_int_equal(job->ranks[1].late, kept);
	assert_int_equal(job->all_waiting_ns, 2 * LATE_NS * COLLECTIVES);
	kwhy_job_free(job);
}

/*
 * Digests that were written while their ranks ran, so one rank had entered 7 collectives more than
 * the other. Only those that both had entered may be compared.
 */
static void counted_collectives_of_running_ranks_are_joined(void **state)
{
	struct kwhy_job *job = new_job();
	struct kwhy_error error;

	(void)state;
	for (uint32_t rank = 0; rank < 2; rank++) {
		struct kwhy_digest digest = make_rank(rank, rank ? LATE_NS : 0);

		digest.communicator->is_numbered = 0;
		digest.communicator->collectives = (int64_t)(digest.collective_count -= 7 * rank);
		ADD(&digest, lost)->what = "running";
		assert_int_equal(kwhy_job_add(job, "rank.sqlite", &digest, &error), KWHY_OK);
		kwhy_digest_done(&digest);
	}
	kwhy_job_mark_partial(job);
	assert_int_equal(kwhy_job_compare(job, &error), KWHY_OK);
	assert_int_equal(job->compared, COLLECTIVES - 7);
	assert_int_equal(job->alone, 7);
	assert_int_equal(job->ranks[1].late, COLLECTIVES - 7);
	kwhy_job_free(job);
}

static void accounts_beyond_the_limit_are_added_up(void **state)
{
	struct kwhy_job *job = new_job();
	int64_t count = 0;

	(void)state;
	for (uint32_t rank = 0; rank < 700; rank++) {
		struct kwhy_digest digest = make_rank(rank, 0);
		struct kwhy_error error;

		digest.collective_count = 0;
		for (int i = 0; i < 100; i++) {
			char name[32];

			snprintf(name, sizeof(name), "kernel %u", rank * 100 + i);
			*ADD(&digest, account) = (struct kwhy_digest_account){.category = "compute",
				.name = kwhy_arena_copy(&digest.arena, name),
				.accounts = 1,
				.count = 3,
				.gross_nj = 7};
		}
		assert_int_equal(kwhy_job_add(job, "rank.sqlite", &digest, &error), KWHY_OK);
		kwhy_digest_done(&digest);
	}
	assert_int_equal(job->account_count, KWHY_JOB_ACCOUNTS_MAX + 1);
	assert_null(job->accounts[KWHY_JOB_ACCOUNTS_MAX].name);
	assert_int_equal(job->accounts[KWHY_JOB_ACCOUNTS_MAX].accounts, 70000 - KWHY_JOB_ACCOUNTS_MAX);
	for (size_t i = 0; i < job->account_count; i++)
		count += job->accounts[i].count;
	assert_int_equal(count, 3 * 70000);
	kwhy_job_free(job);
}

/*
 * Two ranks have equally many collectives, but each rank has them in a communicator of its own,
 * with further ranks whose digests are missing. Collectives of the two ranks with the same number
 * are therefore different ones, and must not be compared.
 */
static void counted_collectives_that_do_not_match_are_not_compared(void **state)
{
	struct kwhy_job *job = new_job();
	struct kwhy_error error;

	(void)state;
	for (uint32_t rank = 0; rank < 2; rank++) {
		struct kwhy_digest digest = make_rank(rank, 0);

		digest.communicator->is_numbered = 0;
		for (int64_t i = 0; i < COLLECTIVES; i++) {
			digest.collective[i].enter_ns = 1000000 * i + rank * (i % 3) * 300000;
			digest.collective[i].exit_ns = digest.collective[i].enter_ns + 50000;
		}
		assert_int_equal(kwhy_job_add(job, "rank.sqlite", &digest, &error), KWHY_OK);
		kwhy_digest_done(&digest);
	}
	kwhy_job_mark_partial(job);
	assert_int_equal(kwhy_job_fit_clocks(job, &error), KWHY_OK);
	assert_int_equal(kwhy_job_compare(job, &error), KWHY_OK);
	assert_int_equal(job->mismatched, 2 * COLLECTIVES);
	assert_int_equal(job->compared, 0);
	assert_int_equal(job->waiting_ns, 0);
	assert_int_equal(job->ranks[0].late + job->ranks[1].late, 0);
	kwhy_job_free(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_too_many_collectives_a_share_is_compared),
		cmocka_unit_test(waiting_in_one_of_eight_buckets_is_estimated),
		cmocka_unit_test(what_a_digest_leaves_out_is_not_compared_without_it),
		cmocka_unit_test(counted_collectives_of_running_ranks_are_joined),
		cmocka_unit_test(counted_collectives_that_do_not_match_are_not_compared),
		cmocka_unit_test(accounts_beyond_the_limit_are_added_up),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
