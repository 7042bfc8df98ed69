/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/time/host_sums.h"

#include "base/column.h"

#include <stdlib.h>
#include <string.h>

void kwhy_host_sums_init(
	struct kwhy_host_sums *sums, const struct kwhy_recording *recording, struct kwhy_error *error)
{
	*sums = (struct kwhy_host_sums){.recording = recording, .error = error};
	sums->status = kwhy_host_time_init(&sums->time, recording, error);
}

void kwhy_host_sums_done(struct kwhy_host_sums *sums)
{
	kwhy_host_time_done(&sums->time);
	kwhy_map_done(&sums->places);
	kwhy_map_done(&sums->keys);
	free(sums->items);
	free(sums->now);
}

/*
 * Key of the sum to which the time of a host range is added: kind, name, file and line. `row`: the host
 * range, or one of KWHY_HOST_OUTSIDE, _LAUNCHED and _UNLINKED. Steps of a profiler count as one, whatever
 * their number in the name.
 */
static struct kwhy_host_sum sum_of(const struct kwhy_recording *recording, uint32_t row)
{
	const struct kwhy_host_ranges *rows = &recording->host_ranges;
	struct kwhy_host_sum sum = {.what = KWHY_HOST_WAIT_RANGE};
	uint32_t source;

	if (row == KWHY_HOST_OUTSIDE)
		return (struct kwhy_host_sum){.what = KWHY_HOST_WAIT_OUTSIDE};
	if (row == KWHY_HOST_LAUNCHED)
		return (struct kwhy_host_sum){.what = KWHY_HOST_WAIT_LAUNCHED};
	if (row == KWHY_HOST_UNLINKED)
		return (struct kwhy_host_sum){.what = KWHY_HOST_WAIT_UNLINKED};
	sum.kind = rows->kind[row];
	sum.name = sum.kind == KWHY_HOST_STEP ? 0 : rows->name[row];
	source = kwhy_host_range_source(recording, row);
	if (source != KWHY_NONE) {
		sum.file = kwhy_host_range_file(rows, source);
		sum.line = kwhy_host_range_line(rows, source);
	}
	return sum;
}

/*
 * Finds the sum with the key *sum in `items`, or adds it, and writes its index. The map's key has 28 bits for
 * the number of the pair (name, file), 4 for the kind of range or the reason, and 32 for the line.
 */
static enum kwhy_status find(struct kwhy_host_sums *sums, const struct kwhy_host_sum *sum, uint32_t *out)
{
	uint64_t reason = sum->what == KWHY_HOST_WAIT_RANGE ? sum->kind : KWHY_HOST_KIND_COUNT + sum->what;
	uint32_t place;
	enum kwhy_status status;

	status = kwhy_map_number(&sums->places, (uint64_t)sum->name << 32 | sum->file, &place, sums->error);
	if (!status)
		status = kwhy_map_number(
			&sums->keys, (uint64_t)place << 36 | reason << 32 | sum->line, out, sums->error);
	if (!status)
		status = kwhy_column_reserve((void **)&sums->items, &sums->capacity, (size_t)*out + 1,
			sizeof(*sums->items), "what the host was in", sums->error);
	if (!status)
		status = kwhy_column_reserve((void **)&sums->now, &sums->now_capacity, (size_t)*out + 1,
			sizeof(*sums->now), "what the host was in", sums->error);
	if (!status && *out == sums->count) {
		sums->items[sums->count] = *sum;
		sums->now[sums->count++] = (struct in_gap){0};
	}
	return status;
}

static void visit(void *context, int64_t start_ns, int64_t end_ns, uint32_t row)
{
	struct kwhy_host_sums *sums = context;
	struct kwhy_host_sum sum = sum_of(sums->recording, row), *item;
	struct in_gap *now;
	uint32_t number;

	if (!sums->status)
		sums->status = find(sums, &sum, &number);
	if (sums->status)
		return;
	item = &sums->items[number];
	now = &sums->now[number];
	if (now->gap != sums->gap) {
		*now = (struct in_gap){.gap = sums->gap};
		item->gaps++;
	}
	now->time_ns += end_ns - start_ns;
	item->time_ns += end_ns - start_ns;
	if (now->time_ns > item->longest_ns)
		item->longest_ns = now->time_ns;
}

void kwhy_host_sums_add(
	struct kwhy_host_sums *sums, const struct kwhy_host_span *gap, uint32_t before, uint32_t after)
{
	if (sums->status)
		return;
	sums->gap++;
	kwhy_host_time_divide(&sums->time, gap, before, after, visit, sums);
}

/*
 * Orders sums by time, the longest first. Sums of the same time are ordered by the texts of names and files,
 * not by their ids, because ids depend on the format that the recording was read from.
 */
static int longest_first(const void *a, const void *b, void *context)
{
	const struct kwhy_names *names = context;
	const struct kwhy_host_sum *left = a, *right = b;
	int order;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? 1 : -1;
	if (left->what != right->what)
		return left->what < right->what ? -1 : 1;
	order = strcmp(kwhy_names_get(names, left->name), kwhy_names_get(names, right->name));
	if (!order)
		order = strcmp(kwhy_names_get(names, left->file), kwhy_names_get(names, right->file));
	if (!order && left->kind != right->kind)
		order = left->kind < right->kind ? -1 : 1;
	return order ? order : (left->line > right->line) - (left->line < right->line);
}

enum kwhy_status kwhy_host_sums_finish(
	struct kwhy_host_sums *sums, struct kwhy_ledger *ledger, uint32_t device)
{
	struct kwhy_host_sum *copy;

	if (sums->status || sums->count == 0)
		return sums->status;
	copy = kwhy_arena_alloc(&ledger->arena, sums->count, sizeof(*copy));
	if (!copy)
		return kwhy_fail_memory(sums->error, "what the host was in");
	qsort_r(sums->items, sums->count, sizeof(*sums->items), longest_first,
		(void *)&sums->recording->names);
	memcpy(copy, sums->items, sums->count * sizeof(*copy));
	ledger->devices[device].host_sums = copy;
	ledger->devices[device].host_sum_count = sums->count;
	return KWHY_OK;
}
