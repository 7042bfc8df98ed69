/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json_parts.h"

/* "memory_operations" and "transfer_split": what copies and memsets cost, and what waiting for them does. */

static void write_operation(struct kwhy_json *json, const char *name, const struct kwhy_operation *operation)
{
	if (!operation->count)
		return;
	kwhy_json_row(json, NULL);
	kwhy_json_string(json, "operation", name);
	kwhy_json_count(json, "count", operation->count);
	kwhy_json_int(json, "time_ns", operation->time_ns);
	kwhy_json_known(json, "gross_nj", operation->gross_nj);
	kwhy_json_known(json, "low_nj", operation->low_nj);
	kwhy_json_known(json, "high_nj", operation->high_nj);
	kwhy_json_object_end(json);
}

static void write_operations(
	struct kwhy_json *json, const struct kwhy_operations *operations, uint32_t device)
{
	kwhy_json_object(json, NULL);
	kwhy_json_index(json, "device", device);
	kwhy_json_array(json, "rows");
	for (uint32_t kind = 0; kind < KWHY_COPY_KIND_COUNT; kind++)
		write_operation(
			json, kwhy_copy_kind_name((enum kwhy_copy_kind)kind), &operations->copies[kind]);
	write_operation(json, "memset", &operations->memset);
	write_operation(json, "sum", &operations->sum);
	kwhy_json_array_end(json);
	kwhy_json_object_end(json);
}

static void write_split(
	struct kwhy_json *json, uint32_t device, uint32_t kind, const struct kwhy_transfer_split *split)
{
	kwhy_json_row(json, NULL);
	kwhy_json_index(json, "device", device);
	kwhy_json_string(json, "kind", kwhy_copy_kind_name((enum kwhy_copy_kind)kind));
	kwhy_json_count(json, "count", split->count);
	kwhy_json_int(json, "dma_ns", split->dma_ns);
	kwhy_json_int(json, "wait_ns", split->wait_ns);
	kwhy_json_int(json, "rest_ns", split->rest_ns);
	kwhy_json_known(json, "dma_nj", split->dma_nj);
	kwhy_json_known(json, "wait_nj", split->wait_nj);
	kwhy_json_known(json, "rest_nj", split->rest_nj);
	kwhy_json_object_end(json);
}

static void write_splits(struct kwhy_json_report *parts)
{
	kwhy_json_array(&parts->json, "transfer_split");
	for (uint32_t d = 0; d < parts->report->ledger->device_count; d++)
		for (uint32_t kind = 0; kind < KWHY_COPY_KIND_COUNT; kind++)
			if (parts->operations[d].splits[kind].count)
				write_split(&parts->json, d, kind, &parts->operations[d].splits[kind]);
	kwhy_json_array_end(&parts->json);
}

void kwhy_json_operations(struct kwhy_json_report *parts)
{
	kwhy_json_array(&parts->json, "memory_operations");
	for (uint32_t d = 0; d < parts->report->ledger->device_count; d++)
		write_operations(&parts->json, &parts->operations[d], d);
	kwhy_json_array_end(&parts->json);
	if (parts->report->recording->has_calls)
		write_splits(parts);
	else
		kwhy_json_null(&parts->json, "transfer_split");
}
