/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/sums/process_devices.h"

#include <stdlib.h>

struct pair {
	uint32_t process, device;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *left = a, *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	return (left->device > right->device) - (left->device < right->device);
}

static size_t distinct_pairs(const struct kwhy_recording *recording, struct pair *pairs)
{
	size_t kept = 0;

	for (size_t i = 0; i < recording->stream_count; i++)
		pairs[i] = (struct pair){recording->streams[i].process, recording->streams[i].device};
	qsort(pairs, recording->stream_count, sizeof(*pairs), compare_pairs);
	for (size_t i = 0; i < recording->stream_count; i++)
		if (kept == 0 || compare_pairs(&pairs[kept - 1], &pairs[i]))
			pairs[kept++] = pairs[i];
	return kept;
}

static void fill(
	struct kwhy_process_devices *table, const struct pair *pairs, size_t pair_count, size_t device_count)
{
	size_t next = 0;

	for (size_t process = 0; process < table->process_count; process++) {
		table->first[process] = next;
		for (; next < pair_count && pairs[next].process == process; next++)
			table->devices[next] = pairs[next].device;
	}
	table->first[table->process_count] = next;
	for (size_t device = 0; device < device_count; device++)
		table->devices[next++] = (uint32_t)device;
	table->first[table->process_count + 1] = next;
}

enum kwhy_status kwhy_process_devices_init(
	struct kwhy_process_devices *table, const struct kwhy_recording *recording, struct kwhy_error *error)
{
	struct pair *pairs = calloc(recording->stream_count + 1, sizeof(*pairs));
	size_t count;

	*table = (struct kwhy_process_devices){.process_count = recording->process_count};
	table->first = calloc(recording->process_count + 2, sizeof(*table->first));
	table->devices = calloc(
		recording->stream_count + recording->device_count + 1, sizeof(*table->devices));
	if (!pairs || !table->first || !table->devices) {
		free(pairs);
		kwhy_process_devices_done(table);
		return kwhy_fail_memory(error, "sums of ranges");
	}
	count = distinct_pairs(recording, pairs);
	fill(table, pairs, count, recording->device_count);
	free(pairs);
	return KWHY_OK;
}

void kwhy_process_devices_done(struct kwhy_process_devices *table)
{
	free(table->devices);
	free(table->first);
	*table = (struct kwhy_process_devices){0};
}

const uint32_t *kwhy_process_devices_of(
	const struct kwhy_process_devices *table, uint32_t process, size_t *out_count)
{
	size_t slot = process == KWHY_NONE ? table->process_count : process;

	*out_count = table->first[slot + 1] - table->first[slot];
	return table->devices + table->first[slot];
}
