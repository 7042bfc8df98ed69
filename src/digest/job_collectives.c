/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "digest/joining.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Joins the ranks' collectives: which rank entered when, and how long the others waited for it. */

enum { COMMUNICATORS_MAX = 1 << 18, OPERATIONS_MAX = 1 << 16 };

/*
 * The counted numbers of a communicator's collectives do not match if, in more than CROSSED_SHARE of those
 * compared, a rank leaves more than CROSSED_NS before another one enters. The error of corrected clocks is
 * below CROSSED_NS.
 */
enum { CROSSED_NS = 20000 };
static const double CROSSED_SHARE = 0.1;

/* Indices in the job of a digest's communicators and operations; KWHY_NONE: the job has no row. */
struct numbers {
	uint32_t *communicators, *operations;
};

/*
 * Finds the number of a key of `length` bytes, cut to `space` - 1. A new key is added. If the map already has
 * `most` keys, *out becomes KWHY_NONE instead, and collectives with this key are left out, so that a job's
 * memory is bounded.
 */
static enum kwhy_status number_key(struct kwhy_map *map, const char *key, int length, size_t space,
	size_t most, uint32_t *out, struct kwhy_error *error)
{
	const size_t bytes = length < (int)space ? (size_t)length : space - 1;
	struct kwhy_map_slot *slot = kwhy_map_find_bytes(map, key, bytes);
	enum kwhy_status status = KWHY_OK;

	*out = KWHY_NONE;
	if (!slot && map->count >= most)
		return KWHY_OK;
	if (!slot)
		status = kwhy_map_add_bytes(map, key, bytes, (uint32_t)map->count, &slot, error);
	if (!status)
		*out = slot->value;
	return status;
}

static enum kwhy_status find_communicator(struct kwhy_job *job, const struct kwhy_digest_communicator *row,
	bool is_running, uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_job_communicator *communicators;
	char key[2 * 3 * 200 + 64]; /* longer texts than a digest may have are cut */
	int length;
	enum kwhy_status status;

	/*
	 * Counted sequence numbers agree only between ranks with the same number of collectives, so this
	 * number is part of the key. Ranks that still ran when their digests were made have different numbers
	 * of collectives, although their sequence numbers agree; in their keys -1 takes the place of the
	 * number.
	 */
	length = snprintf(key, sizeof(key), "%d %lld %u %.600s %.600s", row->is_numbered == 1,
		row->is_numbered == 1 ? 0LL
			: is_running  ? -1LL
				      : (long long)row->collectives,
		row->size, row->name ? row->name : "\001", row->ranks ? row->ranks : "\001");
	status = number_key(&job->communicator_keys, key, length, sizeof(key), COMMUNICATORS_MAX, out, error);
	if (status || *out != job->communicator_count)
		return status;
	communicators = kwhy_arena_grow(
		&job->arena, job->communicators, job->communicator_count, sizeof(*job->communicators));
	if (!communicators)
		return kwhy_fail_memory(error, "communicators");
	job->communicators = communicators;
	communicators[job->communicator_count++] = (struct kwhy_job_communicator){
		.name = row->name ? kwhy_arena_copy(&job->arena, row->name) : NULL,
		.ranks = row->ranks ? kwhy_arena_copy(&job->arena, row->ranks) : NULL,
		.size = row->size,
		.is_numbered = row->is_numbered == 1,
		.kept_ratio = 1,
		.waiting_nj = INT64_MIN};
	return KWHY_OK;
}

static enum kwhy_status find_operation(struct kwhy_job *job, const struct kwhy_digest_operation *row,
	uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_job_operation *operations;
	char key[2 * 200 + 64];
	int length = snprintf(key, sizeof(key), "%lld %lld %.200s %.200s", (long long)row->in_elements,
		(long long)row->out_elements, row->name ? row->name : "\001", row->type ? row->type : "\001");
	enum kwhy_status status = number_key(
		&job->operation_keys, key, length, sizeof(key), OPERATIONS_MAX, out, error);

	if (status || *out != job->operation_count)
		return status;
	operations = kwhy_arena_grow(
		&job->arena, job->operations, job->operation_count, sizeof(*job->operations));
	if (!operations)
		return kwhy_fail_memory(error, "operations");
	job->operations = operations;
	operations[job->operation_count++] = (struct kwhy_job_operation){
		.name = row->name ? kwhy_arena_copy(&job->arena, row->name) : NULL,
		.type = row->type ? kwhy_arena_copy(&job->arena, row->type) : NULL,
		.in_elements = row->in_elements,
		.meets = row->meets == 1};
	return KWHY_OK;
}

static enum kwhy_status find_collective(struct kwhy_job *job, const struct kwhy_digest_collective *row,
	const struct numbers *numbers, int64_t exit_ns, uint32_t *out, struct kwhy_error *error)
{
	const uint32_t communicator = numbers->communicators[row->communicator];
	const uint32_t operation = numbers->operations[row->operation];
	const uint64_t key = kwhy_job_collective_key(communicator, row->sequence, row->part);
	struct kwhy_job_collective *at;
	enum kwhy_status status = kwhy_map_number(&job->collective_keys, key, out, error);

	if (status)
		return status;
	if (*out == job->collective_count) {
		status = kwhy_column_reserve((void **)&job->collectives, &job->collective_capacity,
			job->collective_count + 1, sizeof(*job->collectives), "collectives", error);
		if (status)
			return status;
		job->collectives[job->collective_count++] = (struct kwhy_job_collective){
			.sequence = row->sequence,
			.communicator = communicator,
			.operation = operation,
			.part = row->part,
			.anchor_ns = exit_ns};
	}
	at = &job->collectives[*out];
	at->ranks++;
	at->differs = at->differs || at->operation != operation;
	return KWHY_OK;
}

static enum kwhy_status add_visits(struct kwhy_job *job, const struct kwhy_digest *digest, size_t first_rank,
	const struct numbers *numbers, struct kwhy_error *error)
{
	const int64_t shift_ns = digest->digest->is_unix_clock == 1
		? digest->digest->origin_unix_ns - job->origin_unix_ns
		: 0;
	enum kwhy_status status = KWHY_OK;

	/* One device after the other, so that the visits of a row of `ranks` are consecutive in the file. */
	for (uint32_t device = 0; device < digest->device_count; device++)
		for (size_t i = 0; !status && i < digest->collective_count; i++) {
			const struct kwhy_digest_collective *row = &digest->collective[i];
			struct kwhy_job_visit visit = {row->enter_ns + shift_ns, row->exit_ns + shift_ns, 0,
				(uint32_t)first_rank + device};

			if (row->device != device || !kwhy_digest_keeps(row->sequence, job->kept_ratio) ||
				numbers->communicators[row->communicator] == KWHY_NONE ||
				numbers->operations[row->operation] == KWHY_NONE)
				continue;
			status = find_collective(job, row, numbers, visit.exit_ns, &visit.collective, error);
			if (!status && fwrite_unlocked(&visit, sizeof(visit), 1, job->visits) != 1)
				status = kwhy_fail(error, KWHY_E_IO,
					"cannot write to a temporary file; set TMPDIR to a folder with room "
					"for 24 bytes for each collective of each rank");
		}
	return status;
}

/* Adds a digest's collectives to those of a communicator, and lowers its kept_ratio to that of the digest. */
static void note_share(const struct kwhy_digest *digest, const struct kwhy_digest_communicator *row,
	struct kwhy_job_communicator *communicator)
{
	if (row->collectives > 0)
		communicator->seen += (uint64_t)row->collectives;
	if (digest->digest->kept_ratio < communicator->kept_ratio)
		communicator->kept_ratio = digest->digest->kept_ratio;
}

enum kwhy_status kwhy_job_add_collectives(
	struct kwhy_job *job, const struct kwhy_digest *digest, size_t first_rank, struct kwhy_error *error)
{
	struct numbers numbers = {calloc(digest->communicator_count + 1, sizeof(uint32_t)),
		calloc(digest->operation_count + 1, sizeof(uint32_t))};
	const bool is_running = kwhy_job_is_running(digest);
	enum kwhy_status status = KWHY_OK;

	if (!numbers.communicators || !numbers.operations)
		status = kwhy_fail_memory(error, "communicators");
	for (size_t i = 0; !status && i < digest->communicator_count; i++) {
		status = find_communicator(
			job, &digest->communicator[i], is_running, &numbers.communicators[i], error);
		if (!status && numbers.communicators[i] != KWHY_NONE)
			note_share(digest, &digest->communicator[i],
				&job->communicators[numbers.communicators[i]]);
	}
	for (size_t i = 0; !status && i < digest->operation_count; i++)
		status = find_operation(job, &digest->operation[i], &numbers.operations[i], error);
	if (!status)
		status = add_visits(job, digest, first_rank, &numbers, error);
	if (!status)
		status = kwhy_job_count(job, digest, first_rank, error);
	if (digest->digest->collectives > 0)
		job->seen += (uint64_t)digest->digest->collectives;
	free(numbers.communicators);
	free(numbers.operations);
	return status ? status : kwhy_job_thin(job, KWHY_JOB_COLLECTIVES_MAX, error);
}

/*
 * Reads all visits of the next row of `ranks` from the file. *count: their number, 0 at the end of the file.
 * *next: the visit that follows, if *has_next.
 */
static enum kwhy_status read_rank(struct kwhy_job *job, struct kwhy_job_visit **visits, size_t *capacity,
	size_t *count, struct kwhy_job_visit *next, bool *has_next, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	*count = 0;
	while (!status && *has_next && (*count == 0 || next->rank == (*visits)->rank)) {
		status = kwhy_column_reserve(
			(void **)visits, capacity, *count + 1, sizeof(**visits), "collectives", error);
		if (status)
			break;
		(*visits)[(*count)++] = *next;
		*has_next = fread_unlocked(next, sizeof(*next), 1, job->visits) == 1;
	}
	if (!status && ferror(job->visits))
		status = kwhy_fail(error, KWHY_E_IO, "cannot read a temporary file in TMPDIR");
	return status;
}

enum kwhy_status kwhy_job_visit_all(
	struct kwhy_job *job, kwhy_job_use *use, void *context, struct kwhy_error *error)
{
	struct kwhy_job_visit *visits = NULL, next;
	size_t capacity = 0, count = 1;
	bool has_next;
	enum kwhy_status status = KWHY_OK;

	if (fflush(job->visits) || fseeko(job->visits, 0, SEEK_SET))
		return kwhy_fail(error, KWHY_E_IO, "cannot write to a temporary file; is TMPDIR full?");
	has_next = fread_unlocked(&next, sizeof(next), 1, job->visits) == 1;
	while (!status && count) {
		status = read_rank(job, &visits, &capacity, &count, &next, &has_next, error);
		if (!status && count)
			use(job, &job->ranks[visits->rank], visits, count, context);
	}
	free(visits);
	return status;
}

/* Widens the times of each collective that a rank has by those at which this rank entered and left. */
static void take_times(struct kwhy_job *job, struct kwhy_job_rank *rank, const struct kwhy_job_visit *visits,
	size_t count, void *context)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		struct kwhy_job_collective *at = &job->collectives[visits[i].collective];
		const int64_t enter_ns = kwhy_job_time(rank, visits[i].enter_ns);
		const int64_t exit_ns = kwhy_job_time(rank, visits[i].exit_ns);

		if (at->first_exit_ns == INT64_MAX || enter_ns > at->last_enter_ns) {
			at->last_enter_ns = enter_ns;
			at->late = visits[i].rank;
		}
		if (at->first_exit_ns == INT64_MAX || enter_ns < at->first_enter_ns)
			at->first_enter_ns = enter_ns;
		if (at->first_exit_ns == INT64_MAX || exit_ns > at->last_exit_ns)
			at->last_exit_ns = exit_ns;
		if (exit_ns < at->first_exit_ns)
			at->first_exit_ns = exit_ns;
	}
}

/*
 * Adds a rank's waiting in each collective, from its own entering until the last rank entered or itself left,
 * to the sums of the rank, of the collective and of the rank that entered last.
 */
static void take_waiting(struct kwhy_job *job, struct kwhy_job_rank *rank,
	const struct kwhy_job_visit *visits, size_t count, void *context)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		struct kwhy_job_collective *at = &job->collectives[visits[i].collective];
		struct kwhy_job_rank *late = &job->ranks[at->late];
		int64_t enter_ns, until_ns, waiting_ns, waiting_nj = INT64_MIN;

		if (!kwhy_job_is_compared(job, at))
			continue;
		enter_ns = kwhy_job_time(rank, visits[i].enter_ns);
		until_ns = kwhy_job_time(rank, visits[i].exit_ns);
		until_ns = at->last_enter_ns < until_ns ? at->last_enter_ns : until_ns;
		waiting_ns = until_ns > enter_ns ? until_ns - enter_ns : 0;
		if (!isnan(rank->collective_w))
			waiting_nj = llround((double)waiting_ns * rank->collective_w);
		rank->compared++;
		rank->late += late == rank;
		kwhy_job_sum(&rank->waiting_ns, waiting_ns);
		kwhy_job_sum(&rank->waiting_nj, waiting_nj);
		kwhy_job_sum(&late->caused_ns, waiting_ns);
		kwhy_job_sum(&late->caused_nj, waiting_nj);
		kwhy_job_sum(&at->waiting_ns, waiting_ns);
		kwhy_job_sum(&at->waiting_nj, waiting_nj);
	}
}

/*
 * Sets is_partial of collectives that some digests of their communicator leave out, and counts the others. Of
 * a partial collective, the rank that entered last may not be known.
 */
void kwhy_job_mark_partial(struct kwhy_job *job)
{
	for (size_t i = 0; i < job->collective_count; i++) {
		struct kwhy_job_collective *at = &job->collectives[i];
		struct kwhy_job_communicator *communicator = &job->communicators[at->communicator];

		at->is_partial = !kwhy_digest_keeps(at->sequence, communicator->kept_ratio);
		if (at->is_partial)
			continue;
		communicator->kept += at->ranks;
		job->kept += at->ranks;
		job->alone += at->ranks == 1 && job->operations[at->operation].meets;
	}
}

/*
 * Finds communicators whose counted numbers do not match, see CROSSED_SHARE, and sets `differs` of their
 * collectives. The ranks of a pipeline can have the same number of collectives in different groups.
 */
static enum kwhy_status find_mismatched(struct kwhy_job *job, struct kwhy_error *error)
{
	struct tally {
		uint64_t compared, crossed;
	} *tallies = calloc(job->communicator_count + 1, sizeof(*tallies));

	if (!tallies)
		return kwhy_fail_memory(error, "communicators");
	for (size_t i = 0; i < job->collective_count; i++) {
		const struct kwhy_job_collective *at = &job->collectives[i];
		struct tally *tally = &tallies[at->communicator];

		if (!kwhy_job_is_compared(job, at) || job->communicators[at->communicator].is_numbered)
			continue;
		tally->compared++;
		tally->crossed += at->first_exit_ns + CROSSED_NS < at->last_enter_ns;
	}
	for (size_t i = 0; i < job->collective_count; i++) {
		struct kwhy_job_collective *at = &job->collectives[i];
		const struct tally *tally = &tallies[at->communicator];

		if (!kwhy_job_is_compared(job, at) ||
			!((double)tally->crossed > CROSSED_SHARE * (double)tally->compared))
			continue;
		at->differs = true;
		job->mismatched += at->ranks;
	}
	free(tallies);
	return KWHY_OK;
}

/*
 * Adds an estimate of a communicator's waiting to that of the job. Its compared collectives are a random
 * sample of all, drawn without replacement.
 */
static void estimate(struct kwhy_job *job, const struct kwhy_job_communicator *row, double *variance_ns2)
{
	const double n = (double)row->compared, more = (double)row->seen / (double)row->kept;
	const double mean_ns = (double)row->waiting_ns / n;
	const double spread_ns2 = row->waiting_square_ns2 / n - mean_ns * mean_ns;

	kwhy_job_sum(&job->all_waiting_ns, llround((double)row->waiting_ns * more));
	if (row->waiting_nj != INT64_MIN)
		kwhy_job_sum(&job->all_waiting_nj, llround((double)row->waiting_nj * more));
	if (more > 1 && spread_ns2 > 0)
		*variance_ns2 += n * more * (more - 1) * spread_ns2 * n / fmax(1, n - 1);
}

static void estimate_all(struct kwhy_job *job)
{
	double variance_ns2 = 0;

	job->all_waiting_nj = INT64_MIN;
	for (size_t i = 0; i < job->communicator_count; i++)
		if (job->communicators[i].compared)
			estimate(job, &job->communicators[i], &variance_ns2);
	job->all_waiting_error_ns = sqrt(variance_ns2);
}

static void sum_collectives(struct kwhy_job *job)
{
	job->waiting_nj = INT64_MIN;
	for (size_t i = 0; i < job->collective_count; i++) {
		const struct kwhy_job_collective *at = &job->collectives[i];
		struct kwhy_job_communicator *communicator = &job->communicators[at->communicator];

		job->apart += at->is_partial || job->operations[at->operation].meets ? 0 : at->ranks;
		if (!kwhy_job_is_compared(job, at))
			continue;
		job->compared++;
		communicator->compared++;
		communicator->waiting_square_ns2 += (double)at->waiting_ns * (double)at->waiting_ns;
		kwhy_job_sum(&communicator->waiting_ns, at->waiting_ns);
		kwhy_job_sum(&communicator->waiting_nj, at->waiting_nj);
		kwhy_job_sum(&job->skew_ns, kwhy_job_skew_ns(at));
		kwhy_job_sum(&job->transfer_ns, kwhy_job_transfer_ns(at));
		kwhy_job_sum(&job->waiting_ns, at->waiting_ns);
		kwhy_job_sum(&job->waiting_nj, at->waiting_nj);
	}
}

enum kwhy_status kwhy_job_compare(struct kwhy_job *job, struct kwhy_error *error)
{
	enum kwhy_status status;

	for (size_t i = 0; i < job->collective_count; i++) {
		job->collectives[i].first_exit_ns = INT64_MAX;
		job->collectives[i].waiting_nj = INT64_MIN;
	}
	status = kwhy_job_visit_all(job, take_times, NULL, error);
	if (!status)
		status = find_mismatched(job, error);
	if (!status)
		status = kwhy_job_visit_all(job, take_waiting, NULL, error);
	sum_collectives(job);
	estimate_all(job);
	return status;
}
