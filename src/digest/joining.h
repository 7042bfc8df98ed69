/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DIGEST_JOINING_H
#define KWHY_DIGEST_JOINING_H

#include "digest/digest.h"
#include "digest/heads.h"
#include "digest/job.h"

/* Functions and types that the files which join digests share. */

/*
 * A rank's part in a collective. Times are those of the rank's clock; `collective` and `rank` are indexes
 * into the arrays of the job.
 */
struct kwhy_job_visit {
	int64_t enter_ns, exit_ns;
	uint32_t collective, rank;
};

/* Opens an empty temporary file that has no name in a folder. */
KWHY_MUST_USE enum kwhy_status kwhy_job_open_visits(FILE **out, struct kwhy_error *error);

/* Calls `use` once for each rank that has visits, with all visits of the rank, in the order of ranks. */
typedef void kwhy_job_use(struct kwhy_job *job, struct kwhy_job_rank *rank,
	const struct kwhy_job_visit *visits, size_t count, void *context);
KWHY_MUST_USE enum kwhy_status kwhy_job_visit_all(
	struct kwhy_job *job, kwhy_job_use *use, void *context, struct kwhy_error *error);

/* Converts a time of the rank's clock to a time of the job. */
static inline int64_t kwhy_job_time(const struct kwhy_job_rank *rank, int64_t time_ns)
{
	return time_ns - (int64_t)(rank->offset_ns + rank->drift * (double)(time_ns - rank->middle_ns));
}

/* Adds the ranks of a digest to the job. Known values are added to the sums, unknown ones are left out. */
KWHY_MUST_USE enum kwhy_status kwhy_job_add(
	struct kwhy_job *job, const char *path, const struct kwhy_digest *digest, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_job_add_collectives(
	struct kwhy_job *job, const struct kwhy_digest *digest, size_t first_rank, struct kwhy_error *error);
/* Drops collectives until there are at most `most`. Each step drops a random half of the sequence numbers. */
KWHY_MUST_USE enum kwhy_status kwhy_job_thin(struct kwhy_job *job, size_t most, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_job_add_problem(struct kwhy_job *job, enum kwhy_job_problem_kind kind,
	uint32_t rank, const char *path, struct kwhy_error *error, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* Several ranks may share a device: reduces its energy in the digest to the part of the digest's rank. */
void kwhy_job_divide(struct kwhy_digest *digest, const struct kwhy_head *head);
/* Whether the digest was made while the recorded command still ran. */
bool kwhy_job_is_running(const struct kwhy_digest *digest);
/*
 * kwhy_job_count() counts the collectives of a digest. After the last digest, kwhy_job_name_cut() notes
 * ranks that have fewer collectives than others as problems.
 */
KWHY_MUST_USE enum kwhy_status kwhy_job_count(
	struct kwhy_job *job, const struct kwhy_digest *digest, size_t first_rank, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_job_name_cut(struct kwhy_job *job, struct kwhy_error *error);
void kwhy_job_cuts_free(struct kwhy_job_cuts *cuts);

/* Marks the collectives that only some digests have; call it when all digests were added. */
void kwhy_job_mark_partial(struct kwhy_job *job);
/*
 * Fits the ranks' clocks to each other by the times at which ranks leave collectives that no rank can leave
 * before the last one has entered.
 */
KWHY_MUST_USE enum kwhy_status kwhy_job_fit_clocks(struct kwhy_job *job, struct kwhy_error *error);
/* Compares the ranks' times in collectives: how long each rank waited, and which rank caused it. */
KWHY_MUST_USE enum kwhy_status kwhy_job_compare(struct kwhy_job *job, struct kwhy_error *error);
/* Finds stragglers, slow communicators and hosts with low clocks, and sorts the tables. */
KWHY_MUST_USE enum kwhy_status kwhy_job_conclude(struct kwhy_job *job, struct kwhy_error *error);

/*
 * Adds a value to a sum unless the value is unknown (INT64_MIN). The sum is INT64_MIN as long as no known
 * value was added.
 */
static inline void kwhy_job_sum(int64_t *sum, int64_t value)
{
	if (value == INT64_MIN)
		return;
	if (*sum == INT64_MIN)
		*sum = 0;
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = value > 0 ? INT64_MAX : INT64_MIN + 1;
}

static inline uint64_t kwhy_job_mix(uint64_t a, uint64_t b)
{
	a = (a ^ (a >> 31)) * 0x9E3779B97F4A7C15u + b;
	return (a ^ (a >> 29)) * 0xBF58476D1CE4E5B9u;
}

/* Computes the key of a collective in the map collective_keys. */
static inline uint64_t kwhy_job_collective_key(uint32_t communicator, int64_t sequence, uint32_t part)
{
	return kwhy_job_mix(kwhy_job_mix(communicator + 1, (uint64_t)sequence), part + 1);
}

#endif
