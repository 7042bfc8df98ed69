/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "digest/joining.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Finds ranks whose traces are cut: they have fewer collectives of a communicator than other ranks. If a
 * trace does not state communicators, ranks of a pipeline can differ without a cut, so a rank is then named
 * only if most ranks have all collectives.
 */

/*
 * A rank has all collectives of a communicator if it has at least this share of those of the rank with most.
 */
static const double WHOLE_SHARE = 0.98;
/* If sequence numbers were counted, at least this share of the ranks has to have all collectives. */
static const double AGREED_SHARE = 0.75;

/* A communicator. whole: ranks that have all its collectives. */
struct group {
	int64_t most; /* number of collectives of the rank that has the most */
	size_t ranks, whole;
	bool is_numbered;
	const char *name;
};

/* The collectives of a rank in a communicator. */
struct part {
	int64_t collectives;
	uint32_t group, rank; /* indices in `groups` and job->ranks */
};

struct kwhy_job_cuts {
	struct group *groups;
	struct part *parts;
	size_t group_count, group_capacity, part_count, part_capacity;
	struct kwhy_map keys;
};

void kwhy_job_cuts_free(struct kwhy_job_cuts *cuts)
{
	if (!cuts)
		return;
	free(cuts->groups);
	free(cuts->parts);
	kwhy_map_done(&cuts->keys);
	free(cuts);
}

static enum kwhy_status find_group(struct kwhy_job *job, const struct kwhy_digest_communicator *row,
	uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_job_cuts *cuts = job->cuts;
	struct kwhy_map_slot *slot;
	char key[2 * 3 * 200 + 64];
	int length = snprintf(key, sizeof(key), "%d %u %.600s %.600s", row->is_numbered == 1, row->size,
		row->name ? row->name : "\001", row->ranks ? row->ranks : "\001");
	enum kwhy_status status = kwhy_map_add_bytes(&cuts->keys, key,
		length < (int)sizeof(key) ? (size_t)length : sizeof(key) - 1, (uint32_t)cuts->group_count,
		&slot, error);

	if (status)
		return status;
	*out = slot->value;
	if (slot->value < cuts->group_count)
		return KWHY_OK;
	status = kwhy_column_reserve((void **)&cuts->groups, &cuts->group_capacity, cuts->group_count + 1,
		sizeof(*cuts->groups), "communicators", error);
	if (!status)
		cuts->groups[cuts->group_count++] = (struct group){.is_numbered = row->is_numbered == 1,
			.name = row->name ? kwhy_arena_copy(&job->arena, row->name) : NULL};
	return status;
}

static enum kwhy_status count_one(struct kwhy_job *job, const struct kwhy_digest_communicator *row,
	uint32_t rank, struct kwhy_error *error)
{
	struct kwhy_job_cuts *cuts = job->cuts;
	uint32_t group;
	enum kwhy_status status = find_group(job, row, &group, error);

	if (!status)
		status = kwhy_column_reserve((void **)&cuts->parts, &cuts->part_capacity,
			cuts->part_count + 1, sizeof(*cuts->parts), "communicators", error);
	if (status)
		return status;
	cuts->parts[cuts->part_count++] = (struct part){row->collectives, group, rank};
	if (row->collectives > cuts->groups[group].most)
		cuts->groups[group].most = row->collectives;
	return KWHY_OK;
}

enum kwhy_status kwhy_job_count(
	struct kwhy_job *job, const struct kwhy_digest *digest, size_t first_rank, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (!job->cuts)
		job->cuts = calloc(1, sizeof(*job->cuts));
	if (!job->cuts)
		return kwhy_fail_memory(error, "communicators");
	/* A rank that still ran when its digest was made is not counted: the others had more time. */
	if (kwhy_job_is_running(digest) || !digest->device_count)
		return KWHY_OK;
	for (size_t i = 0; !status && i < digest->communicator_count; i++)
		if (digest->communicator[i].is_numbered != INT64_MIN &&
			digest->communicator[i].collectives > 0 &&
			job->cuts->part_count < KWHY_JOB_COLLECTIVES_MAX)
			status = count_one(job, &digest->communicator[i], (uint32_t)first_rank, error);
	return status;
}

static bool is_whole(const struct group *group, const struct part *part)
{
	return (double)part->collectives >= WHOLE_SHARE * (double)group->most;
}

static bool is_named(const struct kwhy_job *job, const char *path)
{
	for (size_t i = 0; i < job->problem_count; i++)
		if (job->problems[i].kind == KWHY_JOB_CUT && job->problems[i].path &&
			strcmp(job->problems[i].path, path) == 0)
			return true;
	return false;
}

enum kwhy_status kwhy_job_name_cut(struct kwhy_job *job, struct kwhy_error *error)
{
	struct kwhy_job_cuts *cuts = job->cuts;
	uint32_t last = KWHY_NONE;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; cuts && i < cuts->part_count; i++) {
		struct group *group = &cuts->groups[cuts->parts[i].group];

		group->ranks++;
		group->whole += is_whole(group, &cuts->parts[i]);
	}
	for (size_t i = 0; cuts && !status && i < cuts->part_count; i++) {
		const struct part *part = &cuts->parts[i];
		const struct group *group = &cuts->groups[part->group];
		const struct kwhy_job_rank *rank = &job->ranks[part->rank];

		if (part->rank == last || is_whole(group, part) ||
			(!group->is_numbered && (double)group->whole < AGREED_SHARE * (double)group->ranks) ||
			is_named(job, rank->path))
			continue;
		last = part->rank;
		status = kwhy_job_add_problem(job, KWHY_JOB_CUT, rank->rank, rank->path, error,
			"it has %" PRId64 " collectives%s%.100s, others have %" PRId64
			": its trace is cut, or begins later",
			part->collectives, group->name ? " of communicator " : "",
			group->name ? group->name : "", group->most);
	}
	return status;
}
