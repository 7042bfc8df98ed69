/* SPDX-License-Identifier: Apache-2.0 */
#include "digest/fold.h"

#include "base/hash.h"
#include "base/map.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 48, OCCURRENCES_MAX = 5, COLLECTIVES_MAX = 4096 };

/*
 * How the rows of each table are added, with a letter for each column. d: the device, k: other columns of the
 * key, by which rows of sum and section are joined; +: sum, in which unknown counts as nothing; w: sum that
 * is unknown if a part is; <, >: the least and the most; =: the sum's value, or the section's if that is
 * unknown.
 */
static const struct {
	enum kwhy_digest_table_id table;
	const char *rules;
} joined[] = {
	{KWHY_DIGEST_TABLE_source, "k===++"},
	{KWHY_DIGEST_TABLE_category, "dk+=+++++"},
	{KWHY_DIGEST_TABLE_account, "dkk=++++++ww="},
	{KWHY_DIGEST_TABLE_meter, "dkkk+<>+"},
	{KWHY_DIGEST_TABLE_gauge, "dk+<=>"},
	{KWHY_DIGEST_TABLE_lost, "k+"},
	{KWHY_DIGEST_TABLE_range, "kk++++++"},
	{KWHY_DIGEST_TABLE_api, "k++"},
	{KWHY_DIGEST_TABLE_wait, "dkkkkk++>"},
	{KWHY_DIGEST_TABLE_copy, "dkkkk+++"},
	{KWHY_DIGEST_TABLE_memory, "d>>>"},
	{KWHY_DIGEST_TABLE_clock, "kk=="},
	{KWHY_DIGEST_TABLE_note, "k="},
	{KWHY_DIGEST_TABLE_work, "k+"},
};
static const char device_rules[] = "====n<>++++++++==>+++++++";
static const char finding_rules[] = "kd=+++++==kkk";
static const char communicator_rules[] = "kkkk++=";
static const char operation_rules[] = "kkkkk";

/* State while a section is added. */
struct folding {
	struct kwhy_digest *sum, *next;
	uint32_t *place_of; /* [devices of next] row of each device in the sum */
	struct kwhy_error *error;
};

static void *row_of(const struct kwhy_digest *digest, const struct kwhy_digest_table *table, size_t row)
{
	return *(char *const *)((const char *)digest + table->rows_offset) + row * table->row_bytes;
}

static size_t count_of(const struct kwhy_digest *digest, const struct kwhy_digest_table *table)
{
	return *(const size_t *)((const char *)digest + table->count_offset);
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIx64 ";", number);
	return kwhy_hash_text(hash, text);
}

/* A hash of the columns of a row's key. */
static uint64_t key_of(const struct kwhy_digest_table *table, const char *rules, const void *row)
{
	uint64_t hash = KWHY_HASH_START;

	for (size_t i = 0; i < table->column_count; i++) {
		const void *value = (const char *)row + table->columns[i].offset;
		const char *text;

		if (rules[i] != 'k' && rules[i] != 'd')
			continue;
		switch (table->columns[i].kind) {
		case KWHY_DIGEST_INT:
			hash = hash_number(hash, (uint64_t) * (const int64_t *)value);
			break;
		case KWHY_DIGEST_INDEX:
			hash = hash_number(hash, *(const uint32_t *)value);
			break;
		case KWHY_DIGEST_TEXT:
			text = *(const char *const *)value;
			hash = kwhy_hash_text(hash_number(hash, text != NULL), text ? text : "");
			break;
		default:
			break;
		}
	}
	return hash;
}

static void join_integer(char rule, int64_t *sum, int64_t part)
{
	if (part == INT64_MIN) {
		if (rule == 'w')
			*sum = INT64_MIN;
		return;
	}
	if (*sum == INT64_MIN) {
		*sum = rule == 'w' ? INT64_MIN : part;
		return;
	}
	if (rule == '+' || rule == 'w')
		__builtin_add_overflow(*sum, part, sum);
	else if ((rule == '<' && part < *sum) || (rule == '>' && part > *sum) || rule == 'n')
		*sum = part;
}

static void join_row(const struct kwhy_digest_table *table, const char *rules, void *sum, const void *part)
{
	for (size_t i = 0; i < table->column_count; i++) {
		void *to = (char *)sum + table->columns[i].offset;
		const void *from = (const char *)part + table->columns[i].offset;

		if (table->columns[i].kind == KWHY_DIGEST_INT)
			join_integer(rules[i], to, *(const int64_t *)from);
		else if (table->columns[i].kind == KWHY_DIGEST_REAL && rules[i] == '+')
			*(double *)to = isnan(*(double *)to) ? *(const double *)from
							     : *(double *)to + *(const double *)from;
	}
}

/* Adds a copy of a row of `next` to the sum; NULL: out of memory. */
static void *copy_row(const struct folding *folding, const struct kwhy_digest_table *table, const void *from)
{
	char *row = kwhy_digest_add_row(table, folding->sum, folding->error);

	if (!row)
		return NULL;
	memcpy(row, from, table->row_bytes);
	for (size_t i = 0; i < table->column_count; i++) {
		const char **text = (void *)(row + table->columns[i].offset);

		if (table->columns[i].kind != KWHY_DIGEST_TEXT || !*text)
			continue;
		*text = kwhy_arena_copy(&folding->sum->arena, *text);
		if (!*text) {
			kwhy_error_set(folding->error, KWHY_E_MEMORY, "out of memory for a digest");
			return NULL;
		}
	}
	return row;
}

/* Changes the numbers of devices in a table of `next` to those of the sum. */
static void place_devices(
	const struct folding *folding, const struct kwhy_digest_table *table, const char *rules)
{
	for (size_t i = 0; i < count_of(folding->next, table); i++)
		for (size_t c = 0; c < table->column_count; c++) {
			uint32_t *device = (void *)((char *)row_of(folding->next, table, i) +
				table->columns[c].offset);

			if (rules[c] == 'd' && *device < folding->next->device_count)
				*device = folding->place_of[*device];
		}
}

/*
 * Joins the rows of a table. `places`: receives for each row of `next` its row in the sum; NULL: not wanted.
 */
static enum kwhy_status join(
	const struct folding *folding, enum kwhy_digest_table_id id, const char *rules, uint32_t *places)
{
	const struct kwhy_digest_table *table = &kwhy_digest_tables[id];
	struct kwhy_map rows = {0};
	struct kwhy_map_slot *slot;
	enum kwhy_status status = KWHY_OK;

	place_devices(folding, table, rules);
	for (size_t i = 0; !status && i < count_of(folding->sum, table); i++)
		status = kwhy_map_add(&rows, key_of(table, rules, row_of(folding->sum, table, i)),
			(uint32_t)i, &slot, folding->error);
	for (size_t i = 0; !status && i < count_of(folding->next, table); i++) {
		const void *part = row_of(folding->next, table, i);
		const uint32_t fresh = (uint32_t)count_of(folding->sum, table);

		status = kwhy_map_add(&rows, key_of(table, rules, part), fresh, &slot, folding->error);
		if (status)
			break;
		if (places)
			places[i] = slot->value;
		if (slot->value < fresh)
			join_row(table, rules, row_of(folding->sum, table, slot->value), part);
		else if (!copy_row(folding, table, part))
			status = folding->error->status;
	}
	kwhy_map_done(&rows);
	return status;
}

static bool is_used(const struct kwhy_digest_device *device)
{
	return device->busy_ns > 0 || device->kernels > 0;
}

/* The device of the sum that is the same as one of `next`; KWHY_NONE: the sum does not have it. */
static uint32_t find_device(const struct kwhy_digest *sum, const struct kwhy_digest_device *device)
{
	for (uint32_t i = 0; i < sum->device_count; i++)
		if (device->uuid && sum->device[i].uuid ? !strcmp(device->uuid, sum->device[i].uuid)
							: device->number == sum->device[i].number)
			return i;
	return KWHY_NONE;
}

/* Adds a time to the category of a device in the sum. */
static enum kwhy_status add_span(
	const struct folding *folding, uint32_t device, enum kwhy_category category, int64_t span_ns)
{
	const char *name = kwhy_category_name(category);
	struct kwhy_digest_category *row;

	for (size_t i = 0; i < folding->sum->category_count; i++) {
		row = &folding->sum->category[i];
		if (row->device != device || strcmp(row->category, name) != 0)
			continue;
		row->span_ns = (row->span_ns == INT64_MIN ? 0 : row->span_ns) + span_ns;
		return KWHY_OK;
	}
	row = KWHY_DIGEST_ADD(folding->sum, category, folding->error);
	if (!row)
		return folding->error->status;
	row->device = device;
	row->category = name;
	row->span_ns = span_ns;
	return KWHY_OK;
}

/*
 * Adds the time between the last activity of the sum and the first one of the section. It is negative if an
 * activity still ran where the section begins; the time that is in both is taken from the compute time.
 */
static enum kwhy_status add_between(const struct folding *folding, uint32_t place, int64_t between_ns)
{
	struct kwhy_digest_device *sum = &folding->sum->device[place];

	sum->span_ns += between_ns;
	if (between_ns >= 0) {
		sum->idle_ns += between_ns;
		return add_span(folding, place, KWHY_CATEGORY_IDLE, between_ns);
	}
	sum->busy_ns += between_ns;
	sum->compute_ns += between_ns;
	return add_span(folding, place, KWHY_CATEGORY_COMPUTE, between_ns);
}

static void forget_times(struct kwhy_digest_device *device)
{
	if (!is_used(device))
		device->first_ns = device->last_ns = INT64_MIN;
}

static double weighted(double a, int64_t a_weight, double b, int64_t b_weight)
{
	if (isnan(a) || a_weight <= 0)
		return b;
	return isnan(b) || b_weight <= 0
		? a
		: (a * (double)a_weight + b * (double)b_weight) / ((double)a_weight + (double)b_weight);
}

static enum kwhy_status join_device(const struct folding *folding, size_t index)
{
	const struct kwhy_digest_table *table = &kwhy_digest_tables[KWHY_DIGEST_TABLE_device];
	struct kwhy_digest_device *next = &folding->next->device[index], *sum;
	const uint32_t place = find_device(folding->sum, next);
	int64_t between_ns;

	forget_times(next);
	folding->place_of[index] = place == KWHY_NONE ? (uint32_t)folding->sum->device_count : place;
	if (place == KWHY_NONE)
		return copy_row(folding, table, next) ? KWHY_OK : folding->error->status;
	sum = &folding->sum->device[place];
	between_ns = is_used(sum) && is_used(next) ? next->first_ns - sum->last_ns : 0;
	sum->sm_weighted_ratio = weighted(
		sum->sm_weighted_ratio, sum->span_ns, next->sm_weighted_ratio, next->span_ns);
	if (!sum->energy_source && next->energy_source)
		sum->energy_source = kwhy_arena_copy(&folding->sum->arena, next->energy_source);
	join_row(table, device_rules, sum, next);
	return between_ns ? add_between(folding, place, between_ns) : KWHY_OK;
}

static enum kwhy_status join_devices(const struct folding *folding)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < folding->next->device_count; i++)
		status = join_device(folding, i);
	return status;
}

/* Moves the times of `next` to the origin of the sum. */
static void move_times(const struct folding *folding)
{
	struct kwhy_digest *next = folding->next;
	const int64_t by_ns = next->digest->origin_unix_ns - folding->sum->digest->origin_unix_ns;
#define MOVE(table, column)                              \
	for (size_t i = 0; i < next->table##_count; i++) \
		if (next->table[i].column != INT64_MIN)  \
	next->table[i].column += by_ns
	if (!by_ns)
		return;
	MOVE(digest, start_ns);
	MOVE(digest, end_ns);
	MOVE(device, first_ns);
	MOVE(device, last_ns);
	MOVE(occurrence, start_ns);
	MOVE(occurrence, end_ns);
	MOVE(collective, enter_ns);
	MOVE(collective, exit_ns);
	MOVE(meter, start_ns);
	MOVE(meter, end_ns);
	MOVE(step, start_ns);
#undef MOVE
}

/* The identity is a sum of hashes of rows, so that of the sum is the sum of the sections'. */
static enum kwhy_status join_identity(const struct folding *folding)
{
	struct kwhy_digest_digest *sum = folding->sum->digest;
	const struct kwhy_digest_digest *next = folding->next->digest;
	const uint64_t identity = strtoull(sum->identity, NULL, 16) + strtoull(next->identity, NULL, 16) -
		next->rank;

	sum->identity = kwhy_arena_printf(&folding->sum->arena, "%016" PRIx64, identity);
	return sum->identity ? KWHY_OK : kwhy_fail_memory(folding->error, "a digest");
}

static enum kwhy_status join_about(const struct folding *folding)
{
	struct kwhy_digest_digest *sum = folding->sum->digest;
	const struct kwhy_digest_digest *next = folding->next->digest;
	const char *const texts[] = {next->other_ranks, next->host, next->boot};
	const char **const to[] = {&sum->other_ranks, &sum->host, &sum->boot};
	enum kwhy_status status = join_identity(folding);

	if (sum->rank == KWHY_NONE) {
		sum->rank = next->rank;
		sum->world_size = next->world_size;
	}
	for (size_t i = 0; !status && i < sizeof(to) / sizeof(*to); i++)
		if (!*to[i] && texts[i]) {
			*to[i] = kwhy_arena_copy(&folding->sum->arena, texts[i]);
			status = *to[i] ? KWHY_OK : kwhy_fail_memory(folding->error, "a digest");
		}
	join_integer('<', &sum->start_ns, next->start_ns);
	join_integer('>', &sum->end_ns, next->end_ns);
	join_integer('>', &sum->parts, next->parts);
	join_integer('+', &sum->steps, next->steps);
	join_integer('+', &sum->loop_ns, next->loop_ns);
	join_integer('+', &sum->loop_nj, next->loop_nj);
	join_integer('+', &sum->collectives, next->collectives);
	return status;
}

/*
 * Joins findings. The figures in the title are those of one section, so a joined finding has only the words
 * before them.
 */
static enum kwhy_status join_findings(const struct folding *folding)
{
	const struct kwhy_digest_table *occurrences = &kwhy_digest_tables[KWHY_DIGEST_TABLE_occurrence];
	const size_t known = folding->sum->finding_count;
	uint32_t *places = calloc(folding->next->finding_count + 1, sizeof(*places));
	enum kwhy_status status = KWHY_E_MEMORY;

	if (places)
		status = join(folding, KWHY_DIGEST_TABLE_finding, finding_rules, places);
	else
		(void)kwhy_fail_memory(folding->error, "findings");

	for (size_t i = 0; !status && i < folding->next->finding_count; i++) {
		struct kwhy_digest_finding *row = &folding->sum->finding[places[i]];

		if (places[i] < known && row->title && strchr(row->title, ':'))
			row->title = kwhy_arena_printf(
				&folding->sum->arena, "%.*s", (int)strcspn(row->title, ":"), row->title);
	}
	for (size_t i = 0; !status && i < folding->next->occurrence_count; i++) {
		struct kwhy_digest_occurrence *row = &folding->next->occurrence[i];
		size_t same = 0;

		row->finding = places[row->finding];
		for (size_t s = 0; s < folding->sum->occurrence_count; s++)
			same += folding->sum->occurrence[s].finding == row->finding;
		if (same < OCCURRENCES_MAX && !copy_row(folding, occurrences, row))
			status = folding->error->status;
	}
	free(places);
	return status;
}

/* Drops collectives until the sum has at most COLLECTIVES_MAX; all ranks drop the same numbers. */
static void thin_collectives(struct kwhy_digest *sum)
{
	while (sum->collective_count > COLLECTIVES_MAX) {
		size_t count = 0;

		sum->digest->kept_ratio /= 2;
		for (size_t i = 0; i < sum->collective_count; i++)
			if (kwhy_digest_keeps(sum->collective[i].sequence, sum->digest->kept_ratio))
				sum->collective[count++] = sum->collective[i];
		sum->collective_count = count;
	}
	for (size_t i = 0; i < sum->communicator_count; i++)
		sum->communicator[i].kept_ns = 0;
	for (size_t i = 0; i < sum->collective_count; i++)
		sum->communicator[sum->collective[i].communicator].kept_ns += sum->collective[i].exit_ns -
			sum->collective[i].enter_ns;
}

/*
 * Adds the section's collectives. Numbers that are counted go on where the sum's end. before: numbers of
 * collectives of each communicator before this section.
 */
static enum kwhy_status add_collectives(const struct folding *folding, const int64_t *before,
	const uint32_t *communicators, const uint32_t *operations)
{
	const struct kwhy_digest_table *table = &kwhy_digest_tables[KWHY_DIGEST_TABLE_collective];
	struct kwhy_digest *sum = folding->sum;

	for (size_t i = 0; i < folding->next->collective_count; i++) {
		struct kwhy_digest_collective row = folding->next->collective[i];

		row.communicator = communicators[row.communicator];
		row.operation = operations[row.operation];
		row.device = folding->place_of[row.device];
		if (sum->communicator[row.communicator].is_numbered != 1)
			row.sequence += before[row.communicator] / (int64_t)sum->device_count;
		if (kwhy_digest_keeps(row.sequence, sum->digest->kept_ratio) &&
			!copy_row(folding, table, &row))
			return folding->error->status;
	}
	thin_collectives(sum);
	return KWHY_OK;
}

static enum kwhy_status join_collectives(const struct folding *folding)
{
	const struct kwhy_digest *next = folding->next;
	const size_t most = folding->sum->communicator_count + next->communicator_count + 1;
	uint32_t *communicators = calloc(most, sizeof(*communicators));
	uint32_t *operations = calloc(next->operation_count + 1, sizeof(*operations));
	int64_t *before = calloc(most, sizeof(*before));
	enum kwhy_status status = KWHY_OK;

	if (!communicators || !operations || !before)
		status = kwhy_fail_memory(folding->error, "collectives");

	for (size_t i = 0; !status && i < folding->sum->communicator_count; i++)
		before[i] = folding->sum->communicator[i].collectives;
	if (!status)
		status = join(folding, KWHY_DIGEST_TABLE_communicator, communicator_rules, communicators);
	if (!status)
		status = join(folding, KWHY_DIGEST_TABLE_operation, operation_rules, operations);
	if (!status)
		status = add_collectives(folding, before, communicators, operations);
	free(communicators);
	free(operations);
	free(before);
	return status;
}

static void join_gauges(const struct folding *folding)
{
	for (size_t i = 0; i < folding->next->gauge_count; i++) {
		const struct kwhy_digest_gauge *next = &folding->next->gauge[i];
		const uint32_t device = next->device < folding->next->device_count
			? folding->place_of[next->device]
			: next->device;

		for (size_t s = 0; s < folding->sum->gauge_count; s++) {
			struct kwhy_digest_gauge *sum = &folding->sum->gauge[s];

			if (sum->device == device && !strcmp(sum->gauge, next->gauge))
				sum->median = (int64_t)llround(weighted((double)sum->median, sum->readings,
					(double)next->median, next->readings));
		}
	}
}

/* The share of the readings with each reason for low clocks, by the length of the sections. */
static enum kwhy_status join_throttles(const struct folding *folding, int64_t sum_ns, int64_t next_ns)
{
	const double all_ns = (double)sum_ns + (double)next_ns;

	if (!(all_ns > 0))
		return KWHY_OK;
	for (size_t i = 0; i < folding->sum->throttle_count; i++)
		folding->sum->throttle[i].ratio *= (double)sum_ns / all_ns;
	for (size_t i = 0; i < folding->next->throttle_count; i++)
		folding->next->throttle[i].ratio *= (double)next_ns / all_ns;
	return join(folding, KWHY_DIGEST_TABLE_throttle, "dk+", NULL);
}

static enum kwhy_status add_steps(const struct folding *folding)
{
	const struct kwhy_digest_table *table = &kwhy_digest_tables[KWHY_DIGEST_TABLE_step];

	for (size_t i = 0; i < folding->next->step_count && folding->sum->step_count < STEPS_MAX; i++)
		if (!copy_row(folding, table, &folding->next->step[i]))
			return folding->error->status;
	return KWHY_OK;
}

/* Sets what is no sum of rows: numbers of accounts, and losses that are there or not. */
static void conclude(struct kwhy_digest *sum)
{
	for (size_t i = 0; i < sum->category_count; i++) {
		int64_t accounts = 0;

		for (size_t a = 0; a < sum->account_count; a++)
			accounts += sum->account[a].device == sum->category[i].device &&
				!strcmp(sum->account[a].category, sum->category[i].category);
		sum->category[i].accounts = accounts ? accounts : INT64_MIN;
	}
	for (size_t i = 0; i < sum->lost_count; i++)
		if (!strcmp(sum->lost[i].what, "running") || !strcmp(sum->lost[i].what, "truncated") ||
			!strcmp(sum->lost[i].what, "holes"))
			sum->lost[i].count = 1;
}

static enum kwhy_status fold(const struct folding *folding)
{
	const int64_t sum_ns = folding->sum->digest->end_ns - folding->sum->digest->start_ns,
		      next_ns = folding->next->digest->end_ns - folding->next->digest->start_ns;
	enum kwhy_status status;

	move_times(folding);
	status = join_about(folding);
	if (!status)
		status = join_devices(folding);
	if (!status)
		status = join_findings(folding);
	if (!status)
		status = join_collectives(folding);
	if (!status)
		status = join_throttles(folding, sum_ns, next_ns);
	join_gauges(folding);
	for (size_t i = 0; !status && i < sizeof(joined) / sizeof(*joined); i++)
		status = join(folding, joined[i].table, joined[i].rules, NULL);
	if (!status)
		status = add_steps(folding);
	conclude(folding->sum);
	return status;
}

/* A sum is empty before the first section. */
static enum kwhy_status begin(
	struct kwhy_digest *sum, const struct kwhy_digest *next, struct kwhy_error *error)
{
	const struct folding folding = {.sum = sum, .error = error};

	for (size_t t = 0; t < kwhy_digest_table_count; t++)
		for (size_t i = 0; i < count_of(next, &kwhy_digest_tables[t]); i++)
			if (!copy_row(&folding, &kwhy_digest_tables[t],
				    row_of(next, &kwhy_digest_tables[t], i)))
				return error->status;
	for (size_t i = 0; i < sum->device_count; i++)
		forget_times(&sum->device[i]);
	thin_collectives(sum);
	return KWHY_OK;
}

enum kwhy_status kwhy_digest_fold(struct kwhy_digest *sum, struct kwhy_digest *next, struct kwhy_error *error)
{
	struct folding folding = {.sum = sum, .next = next, .error = error};
	enum kwhy_status status;

	if (!sum->digest_count)
		return begin(sum, next, error);
	folding.place_of = calloc(next->device_count + 1, sizeof(*folding.place_of));
	if (!folding.place_of)
		return kwhy_fail_memory(error, "a digest");
	status = fold(&folding);
	free(folding.place_of);
	return status;
}
