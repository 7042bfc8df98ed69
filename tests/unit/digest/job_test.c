/* SPDX-License-Identifier: Apache-2.0 */
/* Joining digests in bounded memory: what is left out is counted, and what stays adds up. */
#include "cmocka_all.h"
#include "digest/joining.h"

#include <stdio.h>
#include <stdlib.h>

enum { COLLECTIVES = 100, LATE_NS = 50 };

#define ADD(digest, name) KWHY_DIGEST_ADD(digest, name, &(struct kwhy_error){0})

/* The digest of a rank that enters each collective `late_ns` after its start, and leaves it with the others.
 */
static struct kwhy_digest make_rank(uint32_t rank, int64_t late_ns)
{
	struct kwhy_digest digest = {0};

	*ADD(&digest, digest) = (struct kwhy_digest_digest){
		.rank = rank, .world_size = 3, .collectives = COLLECTIVES, .stride = 1};
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
	job->stride = 1;
	assert_int_equal(kwhy_job_open_visits(&job->visits, &error), KWHY_OK);
	return job;
}

/* A job is thinned between the second and the third rank; all then compare the same collectives. */
static void of_too_many_collectives_every_fourth_is_compared(void **state)
{
	struct kwhy_job *job = new_job();
	struct kwhy_error error;

	(void)state;
	add_rank(job, 0);
	add_rank(job, 1);
	assert_int_equal(job->kept, 2 * COLLECTIVES);
	assert_int_equal(kwhy_job_thin(job, 30, &error), KWHY_OK);
	assert_int_equal(job->stride, 4);
	assert_int_equal(job->collective_count, COLLECTIVES / 4);
	assert_int_equal(job->kept, 2 * COLLECTIVES / 4);
	add_rank(job, 2);
	assert_int_equal(job->collective_count, COLLECTIVES / 4);
	assert_int_equal(job->kept, 3 * COLLECTIVES / 4);
	assert_int_equal(job->seen, 3 * COLLECTIVES);
	assert_int_equal(kwhy_job_compare(job, &error), KWHY_OK);
	assert_int_equal(job->compared, COLLECTIVES / 4);
	assert_int_equal(job->waiting_ns, 2 * LATE_NS * COLLECTIVES / 4);
	assert_int_equal(job->ranks[1].caused_ns, job->waiting_ns);
	for (size_t i = 0; i < job->collective_count; i++)
		assert_int_equal(job->collectives[i].ranks, 3);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_too_many_collectives_every_fourth_is_compared),
		cmocka_unit_test(accounts_beyond_the_limit_are_added_up),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
