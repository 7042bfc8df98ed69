/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantile.h"
#include "digest/joining.h"

#include <math.h>
#include <stdlib.h>

/*
 * Finds stragglers, slow communicators and hosts with low clocks in the joined figures, and sorts the tables.
 */

enum {
	LATE_MIN = 3,		  /* a straggler is the last to enter in at least this many collectives */
	LINK_COLLECTIVES_MIN = 3, /* least number of compared collectives of an operation with which a
				     communicator is judged in the operation */
	LINKS_MIN = 3 /* least number of communicators of one size that must have the operation, for a
			 judgement */
};

/*
 * A rank is a straggler if it reaches four limits: LATE_MIN and the next three. It causes at least this share
 * of the waiting of all ranks.
 */
static const double STRAGGLER_SHARE = 0.05;
/* The waiting that it causes is at least this share of the sum of all ranks' spans. */
static const double STRAGGLER_TIME_SHARE = 0.001;
/*
 * The waiting that it causes is at least this multiple of what the median rank causes or, if there are two
 * ranks, of what the other rank causes.
 */
static const double STRAGGLER_TIMES = 4;
/* The median transfer time of a slow communicator is at least this multiple of others_ns. */
static const double SLOW_LINK_TIMES = 1.25;
/* Clocks of a host are low if its median is below this share of the median over all ranks. */
static const double LOW_CLOCK_SHARE = 0.97;
/* They are also low if, on one of its ranks, more than this share of the readings states a reason. */
static const double THROTTLED_SHARE = 0.05;

static enum kwhy_status find_stragglers(struct kwhy_job *job, struct kwhy_error *error)
{
	int64_t *caused = malloc((job->rank_count + 1) * sizeof(*caused)), median;

	if (!caused)
		return kwhy_fail_memory(error, "stragglers");
	for (size_t i = 0; i < job->rank_count; i++)
		caused[i] = job->ranks[i].caused_ns;
	median = kwhy_middle_integer(caused, job->rank_count);
	free(caused);
	for (size_t i = 0; i < job->rank_count; i++) {
		struct kwhy_job_rank *rank = &job->ranks[i];
		const int64_t usual_ns = job->rank_count == 2 ? job->ranks[1 - i].caused_ns : median;

		rank->is_straggler = rank->late >= LATE_MIN &&
			(double)rank->caused_ns >= STRAGGLER_SHARE * (double)job->waiting_ns &&
			(double)rank->caused_ns >= STRAGGLER_TIME_SHARE * (double)job->span_ns &&
			(double)rank->caused_ns >= STRAGGLER_TIMES * (double)usual_ns;
	}
	return KWHY_OK;
}

/* The compared collectives, sorted by operation, then by the communicator's size, then by communicator. */
struct sorting {
	const struct kwhy_job *job;
	uint32_t *order; /* indices in job->collectives */
	size_t count;
};

static int compare_links(const void *a, const void *b, void *context)
{
	const struct kwhy_job *job = context;
	const struct kwhy_job_collective *left = &job->collectives[*(const uint32_t *)a];
	const struct kwhy_job_collective *right = &job->collectives[*(const uint32_t *)b];
	const uint32_t sizes[] = {
		job->communicators[left->communicator].size, job->communicators[right->communicator].size};

	if (left->operation != right->operation)
		return left->operation < right->operation ? -1 : 1;
	if (sizes[0] != sizes[1])
		return sizes[0] < sizes[1] ? -1 : 1;
	if (left->communicator != right->communicator)
		return left->communicator < right->communicator ? -1 : 1;
	return 0;
}

static enum kwhy_status sort_collectives(
	const struct kwhy_job *job, struct sorting *out, struct kwhy_error *error)
{
	out->job = job;
	out->order = malloc((job->collective_count + 1) * sizeof(*out->order));
	if (!out->order)
		return kwhy_fail_memory(error, "collectives");
	for (size_t i = 0; i < job->collective_count; i++)
		if (kwhy_job_is_compared(job, &job->collectives[i]))
			out->order[out->count++] = (uint32_t)i;
	qsort_r(out->order, out->count, sizeof(*out->order), compare_links, (void *)job);
	return KWHY_OK;
}

/* The compared collectives of a communicator in one operation. */
struct link {
	uint32_t communicator, operation;
	uint64_t collectives;
	double median_ns;
};

struct links {
	struct link *items;
	size_t count;
};

/* Adds the slow ones of `links` to the job. All have the same operation and size. */
static enum kwhy_status add_slow(
	struct kwhy_job *job, const struct link *links, size_t count, struct kwhy_error *error)
{
	double *medians = malloc((count + 1) * sizeof(*medians)), median;

	if (!medians)
		return kwhy_fail_memory(error, "communicators");
	for (size_t i = 0; i < count; i++)
		medians[i] = links[i].median_ns;
	median = count ? kwhy_middle_real(medians, count) : 0;
	free(medians);
	for (size_t i = 0; count >= LINKS_MIN && i < count; i++) {
		struct kwhy_job_slow_link *slow;

		if (links[i].median_ns < SLOW_LINK_TIMES * median)
			continue;
		slow = kwhy_arena_grow(
			&job->arena, job->slow_links, job->slow_link_count, sizeof(*job->slow_links));
		if (!slow)
			return kwhy_fail_memory(error, "communicators");
		job->slow_links = slow;
		slow[job->slow_link_count++] = (struct kwhy_job_slow_link){links[i].communicator,
			links[i].operation, links[i].collectives, links[i].median_ns, median,
			(double)links[i].collectives * (links[i].median_ns - median)};
	}
	return KWHY_OK;
}

static bool is_same_group(const struct kwhy_job *job, const struct link *a, const struct link *b)
{
	return a->operation == b->operation &&
		job->communicators[a->communicator].size == job->communicators[b->communicator].size;
}

static struct link link_of(const struct sorting *sorting, size_t first, size_t end, double *scratch)
{
	const struct kwhy_job_collective *at = &sorting->job->collectives[sorting->order[first]];

	for (size_t i = first; i < end; i++)
		scratch[i - first] = (double)kwhy_job_transfer_ns(
			&sorting->job->collectives[sorting->order[i]]);
	return (struct link){
		at->communicator, at->operation, end - first, kwhy_middle_real(scratch, end - first)};
}

static void make_links(const struct sorting *sorting, double *scratch, struct links *out)
{
	struct kwhy_job *job = (struct kwhy_job *)sorting->job;

	for (size_t first = 0, end; first < sorting->count; first = end) {
		end = first + 1;
		while (end < sorting->count &&
			compare_links(&sorting->order[first], &sorting->order[end], job) == 0)
			end++;
		if (end - first >= LINK_COLLECTIVES_MIN)
			out->items[out->count++] = link_of(sorting, first, end, scratch);
	}
}

static int compare_slow(const void *a, const void *b)
{
	const struct kwhy_job_slow_link *left = a, *right = b;

	return left->excess_ns < right->excess_ns ? 1 : left->excess_ns > right->excess_ns ? -1 : 0;
}

static enum kwhy_status find_slow_links(struct kwhy_job *job, struct kwhy_error *error)
{
	struct sorting sorting = {0};
	struct links links = {0};
	double *scratch = NULL;
	enum kwhy_status status = sort_collectives(job, &sorting, error);

	if (!status) {
		scratch = malloc((sorting.count + 1) * sizeof(*scratch));
		links.items = malloc((sorting.count + 1) * sizeof(*links.items));
		if (!scratch || !links.items)
			status = kwhy_fail_memory(error, "communicators");
	}
	if (!status)
		make_links(&sorting, scratch, &links);
	for (size_t first = 0, end; !status && first < links.count; first = end) {
		end = first + 1;
		while (end < links.count && is_same_group(job, &links.items[first], &links.items[end]))
			end++;
		status = add_slow(job, &links.items[first], end - first, error);
	}
	if (job->slow_link_count)
		qsort(job->slow_links, job->slow_link_count, sizeof(*job->slow_links), compare_slow);
	free(sorting.order);
	free(links.items);
	free(scratch);
	return status;
}

/* Median clock rate of the ranks in `order`, which has indices in `ranks`, Hz; INT64_MIN: unknown. */
static int64_t median_clock(const struct kwhy_job *job, const uint32_t *order, size_t count, int64_t *scratch)
{
	size_t known = 0;

	for (size_t i = 0; i < count; i++)
		if (job->ranks[order[i]].sm_clock_hz != INT64_MIN)
			scratch[known++] = job->ranks[order[i]].sm_clock_hz;
	return known ? kwhy_middle_integer(scratch, known) : INT64_MIN;
}

static int compare_hosts(const void *a, const void *b, void *context)
{
	const struct kwhy_job *job = context;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	if (job->ranks[left].host != job->ranks[right].host)
		return job->ranks[left].host < job->ranks[right].host ? -1 : 1;
	return left < right ? -1 : left > right;
}

static void sum_host(
	struct kwhy_job *job, const uint32_t *order, size_t count, int64_t usual_hz, int64_t *scratch)
{
	struct kwhy_job_host *host = &job->hosts[job->ranks[order[0]].host];

	host->sm_clock_hz = median_clock(job, order, count, scratch);
	for (size_t i = 0; i < count; i++) {
		const struct kwhy_job_rank *rank = &job->ranks[order[i]];

		kwhy_job_sum(&host->caused_ns, rank->caused_ns);
		if (rank->throttle && !(rank->throttled_ratio <= host->throttled_ratio)) {
			host->throttled_ratio = rank->throttled_ratio;
			host->throttle = rank->throttle;
		}
	}
	host->is_throttled = (host->sm_clock_hz != INT64_MIN && job->host_count > 1 &&
				     (double)host->sm_clock_hz < LOW_CLOCK_SHARE * (double)usual_hz) ||
		host->throttled_ratio > THROTTLED_SHARE;
}

static enum kwhy_status find_throttled(struct kwhy_job *job, struct kwhy_error *error)
{
	uint32_t *order = malloc((job->rank_count + 1) * sizeof(*order));
	int64_t *scratch = malloc((job->rank_count + 1) * sizeof(*scratch)), usual_hz;

	if (!order || !scratch) {
		free(order);
		free(scratch);
		return kwhy_fail_memory(error, "hosts");
	}
	for (size_t i = 0; i < job->rank_count; i++)
		order[i] = (uint32_t)i;
	usual_hz = median_clock(job, order, job->rank_count, scratch);
	qsort_r(order, job->rank_count, sizeof(*order), compare_hosts, job);
	for (size_t first = 0, end; first < job->rank_count; first = end) {
		end = first + 1;
		while (end < job->rank_count && job->ranks[order[end]].host == job->ranks[order[first]].host)
			end++;
		sum_host(job, order + first, end - first, usual_hz, scratch);
	}
	free(order);
	free(scratch);
	return KWHY_OK;
}

/* Sorts larger energies first and, of equal or unknown ones, longer times first. */
static int compare_sizes(int64_t a_nj, int64_t a_ns, int64_t b_nj, int64_t b_ns)
{
	if (a_nj != b_nj)
		return a_nj < b_nj ? 1 : -1;
	return a_ns < b_ns ? 1 : a_ns > b_ns ? -1 : 0;
}

static int compare_accounts(const void *a, const void *b)
{
	const struct kwhy_job_account *left = a, *right = b;

	return compare_sizes(left->gross_nj, left->time_ns, right->gross_nj, right->time_ns);
}

static int compare_findings(const void *a, const void *b)
{
	const struct kwhy_job_finding *left = a, *right = b;

	return compare_sizes(left->saved_nj, left->saved_ns, right->saved_nj, right->saved_ns);
}

enum kwhy_status kwhy_job_conclude(struct kwhy_job *job, struct kwhy_error *error)
{
	enum kwhy_status status = find_stragglers(job, error);

	if (!status)
		status = find_slow_links(job, error);
	if (!status)
		status = find_throttled(job, error);
	if (job->account_count)
		qsort(job->accounts, job->account_count, sizeof(*job->accounts), compare_accounts);
	if (job->finding_count)
		qsort(job->findings, job->finding_count, sizeof(*job->findings), compare_findings);
	return status;
}
