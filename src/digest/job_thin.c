/* SPDX-License-Identifier: Apache-2.0 */
#include "digest/joining.h"

#include <stdlib.h>

/*
 * Bounds the memory of a job: if it has too many collectives, half of the sequence numbers are dropped at
 * random.
 */

/*
 * Removes the collectives that kept_ratio no longer keeps. new_places [collective_count]: receives the new
 * index of each, KWHY_NONE: removed.
 */
static enum kwhy_status drop_collectives(struct kwhy_job *job, uint32_t *new_places, struct kwhy_error *error)
{
	size_t count = 0;
	enum kwhy_status status = KWHY_OK;

	kwhy_map_done(&job->collective_keys);
	job->collective_keys = (struct kwhy_map){0};
	for (size_t i = 0; !status && i < job->collective_count; i++) {
		const struct kwhy_job_collective *row = &job->collectives[i];

		new_places[i] = KWHY_NONE;
		if (!kwhy_digest_keeps(row->sequence, job->kept_ratio))
			continue;
		status = kwhy_map_number(&job->collective_keys,
			kwhy_job_collective_key(row->communicator, row->sequence, row->part), &new_places[i],
			error);
		job->collectives[count++] = *row;
	}
	job->collective_count = count;
	return status;
}

/* Copies the visits of the remaining collectives to the file `to`, with their new indices. */
static enum kwhy_status copy_visits(
	struct kwhy_job *job, const uint32_t *new_places, FILE *to, struct kwhy_error *error)
{
	struct kwhy_job_visit visit;
	bool failed = fflush(job->visits) || fseeko(job->visits, 0, SEEK_SET);

	while (!failed && fread_unlocked(&visit, sizeof(visit), 1, job->visits) == 1) {
		visit.collective = new_places[visit.collective];
		if (visit.collective == KWHY_NONE)
			continue;
		failed = fwrite_unlocked(&visit, sizeof(visit), 1, to) != 1;
	}
	return failed || ferror(job->visits)
		? kwhy_fail(error, KWHY_E_IO,
			  "cannot write to a temporary file; set TMPDIR to a folder with "
			  "room for 24 bytes for each collective of each rank")
		: KWHY_OK;
}

static enum kwhy_status halve(struct kwhy_job *job, struct kwhy_error *error)
{
	uint32_t *new_places = malloc((job->collective_count + 1) * sizeof(*new_places));
	FILE *visits = NULL;
	enum kwhy_status status;

	if (new_places)
		status = kwhy_job_open_visits(&visits, error);
	else
		status = kwhy_fail_memory(error, "collectives");
	job->kept_ratio /= 2;
	if (!status)
		status = drop_collectives(job, new_places, error);
	if (!status)
		status = copy_visits(job, new_places, visits, error);
	if (!status) {
		FILE *old = job->visits;

		job->visits = visits;
		visits = old;
	}
	if (visits)
		fclose(visits);
	free(new_places);
	return status;
}

enum kwhy_status kwhy_job_thin(struct kwhy_job *job, size_t most, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	while (!status && job->collective_count > most && job->kept_ratio > 0x1p-52)
		status = halve(job, error);
	return status;
}
