/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/saturate.h"
#include "ledger/sums/sums.h"

#include <stdlib.h>

static int compare_sums(const void *a, const void *b)
{
	const struct kwhy_api_sum *left = a, *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns < right->total_ns ? 1 : -1;
	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return (left->name > right->name) - (left->name < right->name);
}

static void add_calls(struct kwhy_api_sum *by_name, const struct kwhy_calls *calls)
{
	for (size_t i = 0; i < calls->count; i++) {
		struct kwhy_api_sum *sum = &by_name[calls->name[i]];

		sum->count++;
		sum->total_ns = kwhy_saturate_add(sum->total_ns, calls->end_ns[i] - calls->start_ns[i]);
	}
}

static size_t keep_used(struct kwhy_api_sum *by_name, size_t name_count)
{
	size_t used = 0;

	for (size_t name = 0; name < name_count; name++) {
		if (by_name[name].count == 0)
			continue;
		by_name[used] = by_name[name];
		by_name[used++].name = (uint32_t)name;
	}
	return used;
}

enum kwhy_status kwhy_sums_api(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	size_t name_count = recording->names.count;

	(void)options;
	ledger->api = kwhy_arena_alloc(&ledger->arena, name_count, sizeof(*ledger->api));
	if (!ledger->api)
		return kwhy_fail_memory(error, "sums of API calls");
	add_calls(ledger->api, &recording->calls);
	ledger->api_count = keep_used(ledger->api, name_count);
	qsort(ledger->api, ledger->api_count, sizeof(*ledger->api), compare_sums);
	return KWHY_OK;
}
