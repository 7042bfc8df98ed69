/* SPDX-License-Identifier: Apache-2.0 */
#include "digest/job.h"

#include "base/quantile.h"
#include "base/temporary.h"
#include "digest/heads.h"
#include "digest/joining.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *kwhy_job_problem_name(enum kwhy_job_problem_kind kind)
{
	static const char *const names[KWHY_JOB_PROBLEM_KIND_COUNT] = {
		"unreadable", "twice", "foreign", "cut", "missing"};

	return names[kind];
}

/*
 * State of the threads that read digests ahead. The digests are added to the job in the order of the heads: a
 * thread that has read a digest waits until all earlier ones have been added.
 */
struct reading {
	struct kwhy_job *job;
	const struct kwhy_heads *heads;
	pthread_mutex_t lock;
	pthread_cond_t turned;
	size_t taken, added; /* taken: digests that a thread has begun to read; added: digests that were added
				to the job */
	enum kwhy_status status;
	struct kwhy_error *error;
};

/*
 * Sets energy_ratio of the rows of `ranks` from `first` on, which are those of one digest, and counts the
 * shared ones.
 */
static void note_shared(struct kwhy_job *job, const struct kwhy_head *head, size_t first)
{
	for (size_t i = first; i < job->rank_count && i - first < head->device_count; i++) {
		job->ranks[i].energy_ratio = head->each[i - first].energy_ratio;
		job->shared_ranks += head->each[i - first].is_shared;
	}
}

/*
 * Adds a digest to the job, or a problem if it is unreadable. Any other failure ends the reading. The caller
 * holds the lock.
 */
static void add(struct reading *reading, const struct kwhy_head *head, const struct kwhy_digest *digest,
	enum kwhy_status status, const struct kwhy_error *why)
{
	const size_t first = reading->job->rank_count;

	if (status == KWHY_E_INPUT || status == KWHY_E_IO)
		reading->status = kwhy_job_add_problem(reading->job, KWHY_JOB_UNREADABLE, head->rank,
			head->path, reading->error, "%s", why->text);
	else if (status)
		reading->status = kwhy_fail(reading->error, status, "%s", why->text);
	else
		reading->status = kwhy_job_add(reading->job, head->path, digest, reading->error);
	note_shared(reading->job, head, first);
}

static void *read_digests(void *context)
{
	struct reading *reading = context;

	pthread_mutex_lock(&reading->lock);
	while (!reading->status && reading->taken < reading->heads->count) {
		const size_t turn = reading->taken++;
		const struct kwhy_head *head = &reading->heads->items[turn];
		struct kwhy_digest digest = {0};
		struct kwhy_error error = {0};
		enum kwhy_status status;

		pthread_mutex_unlock(&reading->lock);
		status = kwhy_digest_read_sums(head->path, &digest, &error);
		if (!status)
			kwhy_job_divide(&digest, head);
		pthread_mutex_lock(&reading->lock);
		while (reading->added < turn && !reading->status)
			pthread_cond_wait(&reading->turned, &reading->lock);
		if (!reading->status)
			add(reading, head, &digest, status, &error);
		reading->added++;
		pthread_cond_broadcast(&reading->turned);
		kwhy_digest_done(&digest);
	}
	pthread_mutex_unlock(&reading->lock);
	return NULL;
}

static enum kwhy_status read_all(
	struct kwhy_job *job, const struct kwhy_heads *heads, unsigned threads, struct kwhy_error *error)
{
	struct reading reading = {.job = job,
		.heads = heads,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.turned = PTHREAD_COND_INITIALIZER,
		.error = error};
	pthread_t others[KWHY_JOB_THREADS_MAX];
	unsigned started = 0;

	while (started + 1 < threads && started < KWHY_JOB_THREADS_MAX &&
		pthread_create(&others[started], NULL, read_digests, &reading) == 0)
		started++;
	read_digests(&reading);
	while (started)
		pthread_join(others[--started], NULL);
	return reading.status;
}

static int compare_ranks(const void *a, const void *b)
{
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

/* Adds one problem for the ranks from `next` to `rank` - 1, of which there is no digest. */
static enum kwhy_status add_missing(
	struct kwhy_job *job, uint32_t next, uint32_t rank, struct kwhy_error *error)
{
	return rank == next + 1
		? kwhy_job_add_problem(job, KWHY_JOB_MISSING, next, NULL, error, "no digest of rank %u of %u",
			  next, job->world_size)
		: kwhy_job_add_problem(job, KWHY_JOB_MISSING, next, NULL, error,
			  "no digests of ranks %u to %u of %u", next, rank - 1, job->world_size);
}

/*
 * Adds problems for the ranks below the world size of which there is no digest, and counts those whose work
 * is in the digest of another rank.
 */
static enum kwhy_status name_missing(
	struct kwhy_job *job, const struct kwhy_heads *heads, struct kwhy_error *error)
{
	size_t count = 0, own;
	uint32_t *ranks, next = 0;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; i < heads->count; i++)
		count += 1 + heads->items[i].other_count;
	ranks = malloc((count + 1) * sizeof(*ranks));
	if (!ranks)
		return kwhy_fail_memory(error, "ranks");
	for (own = 0; own < heads->count; own++)
		ranks[own] = heads->items[own].rank;
	count = own;
	for (size_t i = 0; i < heads->count; i++)
		for (size_t k = 0; k < heads->items[i].other_count; k++)
			if (!bsearch(&heads->items[i].others[k], ranks, own, sizeof(*ranks), compare_ranks))
				ranks[count++] = heads->items[i].others[k];
	qsort(ranks + own, count - own, sizeof(*ranks), compare_ranks);
	for (size_t i = own; i < count; i++)
		job->merged_ranks += i == own || ranks[i] != ranks[i - 1];
	ranks[count++] = job->world_size;
	qsort(ranks, count, sizeof(*ranks), compare_ranks);
	for (size_t i = 0;
		!status && job->world_size != KWHY_NONE && i < count && ranks[i] <= job->world_size; i++) {
		if (ranks[i] > next)
			status = add_missing(job, next, ranks[i], error);
		if (ranks[i] >= next)
			next = ranks[i] + 1;
	}
	free(ranks);
	return status;
}

enum kwhy_status kwhy_job_open_visits(FILE **out, struct kwhy_error *error)
{
	const int file = kwhy_temporary_file();

	*out = file < 0 ? NULL : fdopen(file, "w+");
	if (*out)
		return KWHY_OK;
	if (file >= 0)
		close(file);
	return kwhy_fail(error, KWHY_E_IO,
		"cannot make a temporary file in %.200s; set TMPDIR to a folder with room for 24 "
		"bytes for each collective of each rank",
		kwhy_temporary_folder());
}

static enum kwhy_status new_job(struct kwhy_job **out, struct kwhy_error *error)
{
	enum kwhy_status status;

	*out = calloc(1, sizeof(**out));
	if (!*out)
		return kwhy_fail_memory(error, "a job");
	status = kwhy_job_open_visits(&(*out)->visits, error);
	if (status)
		return status;
	(*out)->kept_ratio = 1;
	(*out)->measured_nj = (*out)->run_nj = (*out)->run_unmetered_nj = (*out)->hosts_nj = INT64_MIN;
	(*out)->clock_error_ns = NAN;
	for (int c = 0; c < KWHY_CATEGORY_COUNT; c++)
		(*out)->category_ns[c] = (*out)->category_nj[c] = INT64_MIN;
	return KWHY_OK;
}

static enum kwhy_status make(
	struct kwhy_job *job, struct kwhy_heads *heads, unsigned threads, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_heads_choose(heads, job, error);

	if (!status)
		status = kwhy_heads_share(heads, error);
	if (!status)
		status = name_missing(job, heads, error);
	if (!status)
		status = read_all(job, heads, threads, error);
	if (!status)
		status = kwhy_job_name_cut(job, error);
	if (!status && !job->rank_count)
		status = kwhy_fail(error, KWHY_E_INPUT, "%s%s",
			job->problem_count ? job->problems[0].text : "no digest was given",
			"; make digests with kwhy digest");
	if (!status) {
		kwhy_job_mark_partial(job);
		status = kwhy_job_fit_clocks(job, error);
	}
	if (!status)
		status = kwhy_job_compare(job, error);
	return status ? status : kwhy_job_conclude(job, error);
}

enum kwhy_status kwhy_job_read(const char *const *paths, size_t count, unsigned threads,
	struct kwhy_job **out, struct kwhy_error *error)
{
	struct kwhy_heads heads = {0};
	struct kwhy_job *job = NULL;
	enum kwhy_status status = new_job(&job, error);

	if (!status)
		status = kwhy_heads_read(&heads, paths, count, threads, error);
	if (!status)
		status = make(job, &heads, threads, error);
	kwhy_heads_done(&heads);
	if (status)
		kwhy_job_free(job);
	else
		*out = job;
	return status;
}

void kwhy_job_free(struct kwhy_job *job)
{
	struct kwhy_map *maps[] = {job ? &job->host_names : NULL, job ? &job->account_keys : NULL,
		job ? &job->finding_ids : NULL, job ? &job->communicator_keys : NULL,
		job ? &job->operation_keys : NULL, job ? &job->collective_keys : NULL,
		job ? &job->meter_keys : NULL};

	if (!job)
		return;
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		kwhy_map_done(maps[i]);
	if (job->visits)
		fclose(job->visits);
	kwhy_job_cuts_free(job->cuts);
	free(job->ranks);
	free(job->hosts);
	free(job->collectives);
	kwhy_arena_done(&job->arena);
	free(job);
}
