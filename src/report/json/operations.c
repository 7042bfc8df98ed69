/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/parts.h"

#include <math.h>

/*
 * Writes the members "memory_operations" (cost of copies and memsets), "transfer_split" (time and energy of
 * copies and of the idle time after them) and "transfer_efficiency" (cost ranking by joules per byte).
 */

static void write_operation(
	struct kwhy_json *json, const char *name, const struct kwhy_operation *operation, double nj_per_flop)
{
	double each_nj = kwhy_operation_each_nj(operation);

	if (!operation->count)
		return;
	kwhy_json_row(json, NULL);
	kwhy_json_string(json, "operation", name);
	kwhy_json_count(json, "count", operation->count);
	kwhy_json_int(json, "time_ns", operation->time_ns);
	kwhy_json_count(json, "known_count", operation->known_count);
	kwhy_json_known(json, "metered_ns",
		operation->known_count ? llround(operation->metered_ns) : KWHY_UNKNOWN_NS);
	kwhy_json_known(json, "gross_nj", operation->gross_nj);
	kwhy_json_known(json, "low_nj", operation->low_nj);
	kwhy_json_known(json, "high_nj", operation->high_nj);
	kwhy_json_real(json, "each_nj", each_nj);
	kwhy_json_real(json, "each_flop", each_nj / nj_per_flop);
	kwhy_json_object_end(json);
}

static void write_operations(
	struct kwhy_json *json, const struct kwhy_operations *operations, uint32_t device, double nj_per_flop)
{
	kwhy_json_object(json, NULL);
	kwhy_json_index(json, "device", device);
	kwhy_json_array(json, "rows");
	for (uint32_t kind = 0; kind < KWHY_COPY_KIND_COUNT; kind++)
		write_operation(json, kwhy_copy_kind_name((enum kwhy_copy_kind)kind),
			&operations->copies[kind], nj_per_flop);
	write_operation(json, "memset", &operations->memset, nj_per_flop);
	write_operation(json, "sum", &operations->sum, nj_per_flop);
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
	kwhy_json_count(json, "priced_count", split->priced_count);
	kwhy_json_int(json, "dma_ns", split->dma_ns);
	kwhy_json_int(json, "wait_ns", split->wait_ns);
	kwhy_json_int(json, "rest_ns", split->rest_ns);
	kwhy_json_int(json, "rest_median_ns", split->rest_median_ns);
	kwhy_json_int(json, "rest_longest_ns", split->rest_longest_ns);
	kwhy_json_known(json, "dma_nj", split->dma_nj);
	kwhy_json_known(json, "wait_nj", split->wait_nj);
	kwhy_json_known(json, "rest_nj", split->rest_nj);
	kwhy_json_object_end(json);
}

static void write_splits(struct kwhy_json_report *parts)
{
	kwhy_json_array(&parts->json, "transfer_split");
	for (uint32_t d = 0; d < parts->report->ledger->device_count; d++)
		for (uint32_t kind = 0; kind < KWHY_COPY_KIND_COUNT && kwhy_json_is_opened(parts, d); kind++)
			if (parts->operations[d].splits[kind].count)
				write_split(&parts->json, d, kind, &parts->operations[d].splits[kind]);
	kwhy_json_array_end(&parts->json);
}

void kwhy_json_operations(struct kwhy_json_report *parts)
{
	double nj_per_flop = kwhy_joules_per_flop(parts->report) * 1e9;

	kwhy_json_array(&parts->json, "memory_operations");
	for (uint32_t d = 0; d < parts->report->ledger->device_count; d++)
		if (kwhy_json_is_opened(parts, d))
			write_operations(&parts->json, &parts->operations[d], d, nj_per_flop);
	kwhy_json_array_end(&parts->json);
	if (parts->report->recording->has_calls)
		write_splits(parts);
	else
		kwhy_json_null(&parts->json, "transfer_split");
}

static void write_cost(struct kwhy_json *json, const struct kwhy_report *report, uint32_t device,
	const struct kwhy_ranked_cost *cost)
{
	kwhy_json_row(json, NULL);
	kwhy_json_index(json, "device", device);
	kwhy_json_index(
		json, "account", (uint32_t)(cost->account - report->ledger->devices[device].accounts));
	kwhy_json_count(json, "bytes", cost->account->bytes);
	kwhy_json_real(json, "rate_bytes_per_s", cost->rate_bytes_per_s);
	kwhy_json_real(json, "peak_bytes_per_s", cost->peak_bytes_per_s);
	kwhy_json_real(json, "gross_nj_per_byte", cost->gross_j_per_byte * 1e9);
	kwhy_json_real(json, "net_nj_per_byte", cost->net_j_per_byte * 1e9);
	kwhy_json_real(json, "ratio_to_best", cost->ratio_to_best);
	kwhy_json_object_end(json);
}

void kwhy_json_cost_rankings(struct kwhy_json_report *parts)
{
	kwhy_json_array(&parts->json, "transfer_efficiency");
	for (uint32_t d = 0; d < parts->report->ledger->device_count; d++)
		for (size_t i = 0; i < parts->rankings[d].count && kwhy_json_is_opened(parts, d); i++)
			write_cost(&parts->json, parts->report, d, &parts->rankings[d].costs[i]);
	kwhy_json_array_end(&parts->json);
}
