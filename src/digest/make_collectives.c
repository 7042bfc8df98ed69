/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "digest/making.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/*
 * The collectives of a digest. Those whose sequence number the trace does not state are counted from 0 for
 * each communicator and device, in order of start.
 */

struct numbering {
	const struct kwhy_digest_making *making;
	struct kwhy_map communicators,
		operations;	/* communicators, operations: from hashes to rows of the tables */
	struct kwhy_map parts;	/* from a hash of communicator, device and sequence number to the number of
				   collectives so far in which all three are equal */
	struct kwhy_map counts; /* from communicator and device to the number of the communicator's
				   collectives on the device so far */
	size_t next;		/* index in the recording's collectives from which details_of() searches on */
	struct kwhy_digest_collective *rows;
	size_t count;
	/*
	 * of_operations: collectives of each operation; keeps_*: whether the digest keeps this row of the
	 * table
	 */
	int64_t *of_operations;
	bool *keeps_operation, *keeps_communicator;
};

/*
 * Whether the name is that of a collective that no rank can leave before all have entered: a barrier, or one
 * in which each rank gets data from all others.
 */
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

/* Sets the sequence number of a collective, and `part`: how many earlier ones have the same number. */
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

/*
 * A row that may be kept, with what the rows are sorted by. collectives, name and detail are the same in the
 * digests of all ranks, so all ranks keep the same rows. Times differ between ranks, so they are not used.
 */
struct candidate {
	int64_t collectives;
	const char *name, *detail;
	size_t row;
};

static int compare_texts(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (b != NULL) - (a != NULL);
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;
	int order = compare_texts(left->name, right->name);

	if (left->collectives != right->collectives)
		return left->collectives > right->collectives ? -1 : 1;
	if (!order)
		order = compare_texts(left->detail, right->detail);
	return order ? order : (left->row > right->row) - (left->row < right->row);
}

/* Sorts the candidates and sets keeps[row] of the first `limit` ones. */
static void mark(struct candidate *candidates, size_t count, size_t limit, bool *keeps)
{
	qsort(candidates, count, sizeof(*candidates), compare_candidates);
	for (size_t i = 0; i < count && i < limit; i++)
		keeps[candidates[i].row] = true;
}

/* Chooses the operations and communicators that the digest keeps: those with most collectives. */
static enum kwhy_status choose(struct numbering *numbering)
{
	const struct kwhy_digest_making *making = numbering->making;
	const struct kwhy_digest *digest = making->digest;
	const size_t operations = digest->operation_count, communicators = digest->communicator_count;
	struct candidate *candidates = calloc(operations + communicators + 1, sizeof(*candidates));

	numbering->of_operations = calloc(operations + 1, sizeof(*numbering->of_operations));
	numbering->keeps_operation = calloc(operations + 1, sizeof(*numbering->keeps_operation));
	numbering->keeps_communicator = calloc(communicators + 1, sizeof(*numbering->keeps_communicator));
	if (!candidates || !numbering->of_operations || !numbering->keeps_operation ||
		!numbering->keeps_communicator) {
		free(candidates);
		return kwhy_fail_memory(making->error, "collectives");
	}
	for (size_t i = 0; i < numbering->count; i++)
		numbering->of_operations[numbering->rows[i].operation]++;
	for (size_t i = 0; i < operations; i++)
		candidates[i] = (struct candidate){
			numbering->of_operations[i], digest->operation[i].name, digest->operation[i].type, i};
	mark(candidates, operations, making->limits->operations, numbering->keeps_operation);
	for (size_t i = 0; i < communicators; i++)
		candidates[i] = (struct candidate){digest->communicator[i].collectives,
			digest->communicator[i].name, digest->communicator[i].ranks, i};
	mark(candidates, communicators, making->limits->communicators, numbering->keeps_communicator);
	free(candidates);
	return KWHY_OK;
}

/*
 * Removes the operations that are not kept, and sums the communicators that are not kept in one row without a
 * name. operations, communicators: for each old row that is kept, receive its new row.
 */
static enum kwhy_status drop_rows(struct numbering *numbering, uint32_t *operations, uint32_t *communicators)
{
	struct kwhy_digest *digest = numbering->making->digest;
	struct kwhy_digest_communicator rest = {.size = KWHY_NONE, .is_numbered = INT64_MIN}, *row;
	size_t count = 0;

	for (size_t i = 0; i < digest->operation_count; i++)
		if (numbering->keeps_operation[i]) {
			operations[i] = (uint32_t)count;
			digest->operation[count++] = digest->operation[i];
		}
	digest->operation_count = count;
	count = 0;
	for (size_t i = 0; i < digest->communicator_count; i++) {
		row = &digest->communicator[i];
		if (numbering->keeps_communicator[i]) {
			communicators[i] = (uint32_t)count;
			digest->communicator[count++] = *row;
			continue;
		}
		rest.collectives += row->collectives;
		rest.total_ns += row->total_ns;
	}
	digest->communicator_count = count;
	if (!rest.collectives)
		return KWHY_OK;
	row = KWHY_DIGEST_ADD(digest, communicator, numbering->making->error);
	if (row)
		*row = rest;
	return row ? KWHY_OK : numbering->making->error->status;
}

/*
 * Adds a collective if three conditions hold: its operation is kept, its communicator is kept, and the share
 * `ratio` keeps its sequence number (kwhy_digest_keeps()). operations, communicators: for each old row of
 * these tables that is kept, its new row.
 */
static enum kwhy_status add_kept(
	struct numbering *numbering, double ratio, const uint32_t *operations, const uint32_t *communicators)
{
	const struct kwhy_digest_making *making = numbering->making;

	for (size_t i = 0; i < numbering->count; i++) {
		const struct kwhy_digest_collective *from = &numbering->rows[i];
		struct kwhy_digest_collective *row;

		if (!kwhy_digest_keeps(from->sequence, ratio) ||
			!numbering->keeps_operation[from->operation] ||
			!numbering->keeps_communicator[from->communicator])
			continue;
		row = KWHY_DIGEST_ADD(making->digest, collective, making->error);
		if (!row)
			return making->error->status;
		*row = *from;
		row->operation = operations[from->operation];
		row->communicator = communicators[from->communicator];
		making->digest->communicator[row->communicator].kept_ns += row->exit_ns - row->enter_ns;
	}
	return KWHY_OK;
}

static enum kwhy_status keep(struct numbering *numbering)
{
	const struct kwhy_digest_making *making = numbering->making;
	struct kwhy_digest_digest *about = kwhy_digest_about(making->digest);
	uint32_t *operations = calloc(making->digest->operation_count + 1, sizeof(*operations));
	uint32_t *communicators = calloc(making->digest->communicator_count + 1, sizeof(*communicators));
	const size_t limit = making->limits->collectives;
	const double ratio = numbering->count > limit ? (double)limit / (double)numbering->count : 1;
	enum kwhy_status status;

	if (operations && communicators)
		status = choose(numbering);
	else
		status = kwhy_fail_memory(making->error, "collectives");
	about->collectives = (int64_t)numbering->count;
	about->kept_ratio = ratio;
	if (!status)
		status = drop_rows(numbering, operations, communicators);
	if (!status)
		status = add_kept(numbering, ratio, operations, communicators);
	free(operations);
	free(communicators);
	return status;
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
	free(numbering.of_operations);
	free(numbering.keeps_operation);
	free(numbering.keeps_communicator);
	kwhy_map_done(&numbering.communicators);
	kwhy_map_done(&numbering.operations);
	kwhy_map_done(&numbering.parts);
	kwhy_map_done(&numbering.counts);
	return status;
}
