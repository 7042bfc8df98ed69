/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DIGEST_JOINING_H
#define KWHY_DIGEST_JOINING_H

#include "digest/digest.h"
#include "digest/heads.h"
#include "digest/job.h"

/* What the files that join digests share. */

/*
 * A rank in a collective. Times are those of the rank's clock, in ns after the job's origin; `collective` and
 * `rank` are indices in the job's arrays.
 */
struct kwhy_job_visit {
	int64_t enter_ns, exit_ns;
	uint32_t collective, rank;
};

/* Opens an empty temporary file, already unlinked, in TMPDIR. */
KWHY_MUST_USE enum kwhy_status kwhy_job_open_visits(FILE **out, struct kwhy_error *error);

/* Calls `use` once for each row of `ranks` that has visits, in order, with all its visits. */
typedef void kwhy_job_use(struct kwhy_job *job, struct kwhy_job_rank *rank,
	const struct kwhy_job_visit *visits, size_t count, void *context);
KWHY_MUST_USE enum kwhy_status kwhy_job_visit_all(
	struct kwhy_job *job, kwhy_job_use *use, void *context, struct kwhy_error *error);

/* Converts a time of the rank's clock to the job's time. */
static inline int64_t kwhy_job_time(const struct kwhy_job_rank *rank, int64_t time_ns)
{
	return time_ns - (int64_t)(rank->offset_ns + rank->drift * (double)(time_ns - rank->middle_ns));
}

/* Adds the devices of a digest to the rows and sums of the job. Unknown values are not summed. */
KWHY_MUST_USE enum kwhy_status kwhy_job_add(
	struct kwhy_job *job, const char *path, const struct kwhy_digest *digest, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_job_add_collectives(
	struct kwhy_job *job, const struct kwhy_digest *digest, size_t first_rank, struct kwhy_error *error);
/* Halves kept_ratio until the job has at most `most` collectives. */
KWHY_MUST_USE enum kwhy_status kwhy_job_thin(struct kwhy_job *job, size_t most, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_job_add_problem(struct kwhy_job *job, enum kwhy_job_problem_kind kind,
	uint32_t rank, const char *path, struct kwhy_error *error, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* Reduces the energies of shared devices in a digest by energy_ratio of its head. */
void kwhy_job_divide(struct kwhy_digest *digest, const struct kwhy_head *head);
/* Whether the recorded command still ran when the digest was made. */
bool kwhy_job_is_running(const struct kwhy_digest *digest);
/*
 * kwhy_job_count() notes how many collectives of each communicator a digest has. When all digests are added,
 * kwhy_job_name_cut() adds a problem for each rank that has fewer than others.
 */
KWHY_MUST_USE enum kwhy_status kwhy_job_count(
	struct kwhy_job *job, const struct kwhy_digest *digest, size_t first_rank, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_job_name_cut(struct kwhy_job *job, struct kwhy_error *error);
void kwhy_job_cuts_free(struct kwhy_job_cuts *cuts);

/* Sets is_partial of collectives. Call it when all digests are added. */
void kwhy_job_mark_partial(struct kwhy_job *job);
/* Corrects the ranks' clocks, see job_clocks.c. */
KWHY_MUST_USE enum kwhy_status kwhy_job_fit_clocks(struct kwhy_job *job, struct kwhy_error *error);
/* Computes each rank's waiting in the compared collectives, and which rank caused it. */
KWHY_MUST_USE enum kwhy_status kwhy_job_compare(struct kwhy_job *job, struct kwhy_error *error);
/* Finds stragglers, slow communicators and hosts with low clocks, and sorts accounts and findings. */
KWHY_MUST_USE enum kwhy_status kwhy_job_conclude(struct kwhy_job *job, struct kwhy_error *error);

/*
 * Adds a value unless it is unknown, which INT64_MIN means. The sum is unknown until a known value is added.
 * It stops at the limits of int64_t.
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

/* The key of a collective in collective_keys. */
static inline uint64_t kwhy_job_collective_key(uint32_t communicator, int64_t sequence, uint32_t part)
{
	return kwhy_job_mix(kwhy_job_mix(communicator + 1, (uint64_t)sequence), part + 1);
}

#endif
