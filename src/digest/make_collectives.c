/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "digest/making.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/*
 * The collectives of a rank. Where the trace states neither communicator nor sequence number, the collectives
 * of a device are numbered in the order of their starts.
 */

struct numbering {
	const struct kwhy_digest_making *making;
	struct kwhy_map communicators, operations; /* maps from hashes to rows of these tables */
	struct kwhy_map parts;			   /* number of collectives of a communicator and sequence */
	struct kwhy_map counts;			   /* number of collectives of a communicator on a device */
	size_t next; /* row of the recording's collectives that may be the next activity's */
	struct kwhy_digest_collective *rows;
	size_t count, capacity;
};

/* Collectives in which each rank gets data from every other one, or which are barriers. */
static bool meets(const char *name)
{
	static const char *const words[] = {"all", "reducescatter", "barrier"};
	char plain[64];
	size_t length = 0;

	for (; *name && length + 1 < sizeof(plain); name++)
		if (isalpha((unsigned char)*name))
			plain[length++] = (char)tolower((unsigned char)*name);
	plain[length] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(plain, words[i]))
			return true;
	return false;
}

static const struct kwhy_collective *details_of(struct numbering *numbering, size_t row)
{
	const struct kwhy_recording *recording = numbering->making->recording;

	while (numbering->next < recording->collective_count &&
		recording->collectives[numbering->next].activity < row)
		numbering->next++;
	return numbering->next < recording->collective_count &&
			recording->collectives[numbering->next].activity == row
		? &recording->collectives[numbering->next]
		: NULL;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	a = (a ^ (a >> 31)) * 0x9E3779B97F4A7C15u + b;
	return (a ^ (a >> 29)) * 0xBF58476D1CE4E5B9u;
}

static const char *text_of(const struct kwhy_digest_making *making, uint32_t name)
{
	return name ? kwhy_digest_name(making->digest, kwhy_names_get(&making->recording->names, name))
		    : NULL;
}

static enum kwhy_status find_communicator(struct numbering *numbering, const struct kwhy_collective *details,
	uint32_t *out, struct kwhy_error *error)
{
	const struct kwhy_digest_making *making = numbering->making;
	const struct kwhy_collective none = {.sequence = -1}, *from = details ? details : &none;
	const uint64_t key = mix(mix(mix(from->group, from->members), from->group_size), from->sequence >= 0);
	struct kwhy_digest_communicator *row;
	enum kwhy_status status = kwhy_map_number(&numbering->communicators, key, out, error);

	if (status || *out < making->digest->communicator_count)
		return status;
	row = KWHY_DIGEST_ADD(making->digest, communicator, error);
	if (!row)
		return error->status;
	row->name = text_of(making, from->group);
	row->ranks = text_of(making, from->members);
	row->size = from->group_size ? from->group_size : KWHY_NONE;
	row->is_numbered = from->sequence >= 0;
	row->collectives = row->total_ns = row->kept_ns = 0;
	return KWHY_OK;
}

static enum kwhy_status find_operation(struct numbering *numbering, const struct kwhy_collective *details,
	size_t activity, uint32_t *out, struct kwhy_error *error)
{
	const struct kwhy_digest_making *making = numbering->making;
	const struct kwhy_collective none = {.in_elements = KWHY_UNKNOWN_BYTES,
					     .out_elements = KWHY_UNKNOWN_BYTES},
				     *from = details ? details : &none;
	const uint32_t kernel = making->recording->activities.name[activity];
	const uint32_t name = from->operation ? from->operation : kernel;
	const uint64_t key = mix(mix(mix(name, from->type), from->in_elements), from->out_elements);
	struct kwhy_digest_operation *row;
	enum kwhy_status status = kwhy_map_number(&numbering->operations, key, out, error);

	if (status || *out < making->digest->operation_count)
		return status;
	row = KWHY_DIGEST_ADD(making->digest, operation, error);
	if (!row)
		return error->status;
	row->name = text_of(making, name);
	row->type = text_of(making, from->type);
	row->in_elements = from->in_elements == KWHY_UNKNOWN_BYTES ? INT64_MIN : (int64_t)from->in_elements;
	row->out_elements = from->out_elements == KWHY_UNKNOWN_BYTES ? INT64_MIN
								     : (int64_t)from->out_elements;
	row->meets = row->name && meets(row->name);
	return KWHY_OK;
}

/* Gives the collective its sequence number, stated or counted, and its place among those of equal number. */
static enum kwhy_status number(struct numbering *numbering, const struct kwhy_collective *details,
	struct kwhy_digest_collective *row, struct kwhy_error *error)
{
	struct kwhy_map_slot *slot;
	enum kwhy_status status = kwhy_map_add(
		&numbering->counts, (uint64_t)row->communicator << 32 | row->device, 0, &slot, error);

	if (status)
		return status;
	row->sequence = details && details->sequence >= 0 ? details->sequence : slot->value;
	slot->value++;
	status = kwhy_map_add(&numbering->parts,
		mix(mix(row->communicator, row->device), (uint64_t)row->sequence), 0, &slot, error);
	if (!status)
		row->part = slot->value++;
	return status;
}

static enum kwhy_status add(struct numbering *numbering, uint32_t device, size_t activity)
{
	const struct kwhy_digest_making *making = numbering->making;
	const struct kwhy_activities *rows = &making->recording->activities;
	const struct kwhy_collective *details = details_of(numbering, activity);
	struct kwhy_digest_collective *row = &numbering->rows[numbering->count];
	enum kwhy_status status;

	row->device = device;
	row->enter_ns = rows->start_ns[activity];
	row->exit_ns = rows->end_ns[activity];
	status = find_communicator(numbering, details, &row->communicator, making->error);
	if (!status)
		status = find_operation(numbering, details, activity, &row->operation, making->error);
	if (!status)
		status = number(numbering, details, row, making->error);
	if (!status) {
		making->digest->communicator[row->communicator].collectives++;
		making->digest->communicator[row->communicator].total_ns += row->exit_ns - row->enter_ns;
		numbering->count++;
	}
	return status;
}

static enum kwhy_status find_all(struct numbering *numbering)
{
	const struct kwhy_recording *recording = numbering->making->recording;
	const struct kwhy_activities *rows = &recording->activities;
	enum kwhy_status status = KWHY_OK;

	for (size_t d = 0; d < recording->device_count; d++)
		for (size_t i = rows->first[d]; !status && i < rows->first[d + 1]; i++)
			if (rows->kind[i] == KWHY_ACTIVITY_COLLECTIVE &&
				numbering->making->place_of[d] != KWHY_NONE)
				status = add(numbering, numbering->making->place_of[d], i);
	return status;
}

/* Keeps the collectives whose sequence number is a multiple of the stride, a power of two. */
static enum kwhy_status keep(struct numbering *numbering)
{
	const struct kwhy_digest_making *making = numbering->making;
	struct kwhy_digest_digest *about = kwhy_digest_about(making->digest);
	int64_t stride = 1;

	while ((int64_t)numbering->count / stride > (int64_t)making->limits->collectives &&
		stride < INT64_MAX / 2)
		stride *= 2;
	about->collectives = (int64_t)numbering->count;
	about->stride = stride;
	for (size_t i = 0; i < numbering->count; i++) {
		struct kwhy_digest_collective *row;

		if (numbering->rows[i].sequence % stride)
			continue;
		row = KWHY_DIGEST_ADD(making->digest, collective, making->error);
		if (!row)
			return making->error->status;
		*row = numbering->rows[i];
		making->digest->communicator[row->communicator].kept_ns += row->exit_ns - row->enter_ns;
	}
	return KWHY_OK;
}

static size_t count_collectives(const struct kwhy_recording *recording)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->activities.count; i++)
		count += recording->activities.kind[i] == KWHY_ACTIVITY_COLLECTIVE;
	return count;
}

enum kwhy_status kwhy_digest_make_collectives(const struct kwhy_digest_making *making)
{
	struct numbering numbering = {.making = making};
	enum kwhy_status status = KWHY_OK;

	numbering.rows = calloc(count_collectives(making->recording) + 1, sizeof(*numbering.rows));
	if (!numbering.rows)
		return kwhy_fail_memory(making->error, "collectives");
	status = find_all(&numbering);
	if (!status)
		status = keep(&numbering);
	free(numbering.rows);
	kwhy_map_done(&numbering.communicators);
	kwhy_map_done(&numbering.operations);
	kwhy_map_done(&numbering.parts);
	kwhy_map_done(&numbering.counts);
	return status;
}
