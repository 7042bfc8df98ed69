/* SPDX-License-Identifier: Apache-2.0 */
#include "report/job/map.h"

#include "report/job.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

static double busy_share(const struct kwhy_job_rank *rank)
{
	return rank->span_ns > 0 && rank->busy_ns >= 0 ? (double)rank->busy_ns / (double)rank->span_ns : NAN;
}

static int compare_shares(const void *a, const void *b, void *context)
{
	const struct kwhy_job *job = context;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	const double share[] = {busy_share(&job->ranks[left]), busy_share(&job->ranks[right])};

	if (share[0] < share[1] || share[0] > share[1])
		return share[0] < share[1] ? -1 : 1;
	return left < right ? -1 : left > right;
}

/*
 * Finds the index of the worst rank (the one with the largest caused_ns or, if no rank made others wait, the
 * lowest busy share) and of the rank with the median busy share. Both keep their values if no rank has times.
 */
static enum kwhy_status choose(
	const struct kwhy_job *job, uint32_t *worst, uint32_t *median, struct kwhy_error *error)
{
	uint32_t *order = malloc((job->rank_count + 1) * sizeof(*order));
	size_t count = 0;

	if (!order)
		return kwhy_fail_memory(error, "ranks");
	for (size_t i = 0; i < job->rank_count; i++)
		if (!isnan(busy_share(&job->ranks[i])))
			order[count++] = (uint32_t)i;
	if (count) {
		qsort_r(order, count, sizeof(*order), compare_shares, (void *)job);
		*worst = order[0];
		*median = order[count / 2];
		for (uint32_t i = 0; i < job->rank_count; i++)
			if (job->ranks[i].caused_ns > 0 &&
				job->ranks[i].caused_ns > job->ranks[*worst].caused_ns)
				*worst = i;
	}
	free(order);
	return KWHY_OK;
}

static void write_times(struct kwhy_json *json, const struct kwhy_job *job, const char *key, size_t offset)
{
	kwhy_json_list(json, key);
	for (size_t i = 0; i < job->rank_count; i++)
		kwhy_json_known(json, NULL, *(const int64_t *)((const char *)&job->ranks[i] + offset));
	kwhy_json_array_end(json);
}

static void write_places(struct kwhy_json *json, const struct kwhy_job *job)
{
	kwhy_json_list(json, "rank");
	for (size_t i = 0; i < job->rank_count; i++)
		kwhy_json_index(json, NULL, job->ranks[i].rank);
	kwhy_json_array_end(json);
	kwhy_json_list(json, "host");
	for (size_t i = 0; i < job->rank_count; i++)
		kwhy_json_index(json, NULL, job->ranks[i].host);
	kwhy_json_array_end(json);
	kwhy_json_list(json, "hosts");
	for (size_t i = 0; i < job->host_count; i++)
		kwhy_json_string(json, NULL, job->hosts[i].name);
	kwhy_json_array_end(json);
}

enum kwhy_status kwhy_job_map(const struct kwhy_job *job, struct kwhy_json *json, struct kwhy_error *error)
{
	static const struct {
		const char *key;
		size_t offset;
	} columns[] = {
		{"device", offsetof(struct kwhy_job_rank, number)},
		{"span_ns", offsetof(struct kwhy_job_rank, span_ns)},
		{"busy_ns", offsetof(struct kwhy_job_rank, busy_ns)},
		{"waiting_ns", offsetof(struct kwhy_job_rank, waiting_ns)},
		{"caused_ns", offsetof(struct kwhy_job_rank, caused_ns)},
		{"energy_nj", offsetof(struct kwhy_job_rank, measured_nj)},
		{"sm_clock_hz", offsetof(struct kwhy_job_rank, sm_clock_hz)},
	};
	uint32_t worst = KWHY_NONE, median = KWHY_NONE;
	enum kwhy_status status = choose(job, &worst, &median, error);

	if (status)
		return status;
	kwhy_json_object(json, "map");
	kwhy_json_index(json, "worst", worst);
	kwhy_json_index(json, "median", median);
	write_places(json, job);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		write_times(json, job, columns[i].key, columns[i].offset);
	kwhy_json_object(json, "categories");
	for (size_t c = 0; c < KWHY_CATEGORY_COUNT; c++)
		if (job->category_ns[c] > 0)
			write_times(json, job, kwhy_category_name((enum kwhy_category)c),
				offsetof(struct kwhy_job_rank, category_ns) + c * sizeof(int64_t));
	kwhy_json_object_end(json);
	kwhy_json_object_end(json);
	return KWHY_OK;
}
