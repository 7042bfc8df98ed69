/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/accounts_sort.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

static int larger_first(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

static int compare_accounts(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_account *accounts = context;
	int order = larger_first(accounts[a].gross_nj, accounts[b].gross_nj);

	if (!order)
		order = larger_first(accounts[a].time_ns, accounts[b].time_ns);
	if (!order)
		order = (accounts[a].category > accounts[b].category) -
			(accounts[a].category < accounts[b].category);
	return order ? order : strcmp(accounts[a].name, accounts[b].name);
}

static bool is_empty(const struct kwhy_account *account)
{
	return account->category == KWHY_CATEGORY_OUTSIDE && account->time_ns <= 0 &&
		(account->gross_nj == 0 || account->gross_nj == KWHY_UNKNOWN_NJ);
}

static void remap_group(struct kwhy_account_group *group, const uint32_t *place)
{
	size_t kept = 0;

	for (size_t i = 0; i < group->member_count; i++)
		if (place[group->members[i]] != KWHY_NONE)
			group->members[kept++] = place[group->members[i]];
	group->member_count = kept;
}

static void remap(struct kwhy_device_ledger *device, const uint32_t *place, size_t row_count)
{
	for (size_t i = 0; i < row_count; i++)
		device->account_of[i] = place[device->account_of[i]];
	for (size_t i = 0; i < device->group_count; i++)
		remap_group(&device->groups[i], place);
}

static void place_accounts(struct kwhy_device_ledger *device, const uint32_t *order,
	struct kwhy_account *sorted, uint32_t *place)
{
	size_t kept = 0;

	for (size_t i = 0; i < device->account_count; i++) {
		uint32_t account = order ? order[i] : (uint32_t)i;

		place[account] = KWHY_NONE;
		if (is_empty(&device->accounts[account]))
			continue;
		place[account] = (uint32_t)kept;
		sorted[kept++] = device->accounts[account];
	}
	device->account_count = kept;
	if (kept)
		memcpy(device->accounts, sorted, kept * sizeof(*sorted));
}

enum kwhy_status kwhy_accounts_sort(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	uint32_t device, struct kwhy_error *error)
{
	struct kwhy_device_ledger *device_ledger = &ledger->devices[device];
	size_t rows = recording->activities.first[device + 1] - recording->activities.first[device];
	struct kwhy_account *sorted = malloc((device_ledger->account_count + 1) * sizeof(*sorted));
	uint32_t *place = malloc((device_ledger->account_count + 1) * sizeof(*place));
	uint32_t *order = NULL;
	enum kwhy_status status = KWHY_OK;

	if (!sorted || !place)
		status = kwhy_fail_memory(error, "accounts");
	if (!status)
		status = kwhy_sort_order(device_ledger->account_count, compare_accounts,
			device_ledger->accounts, &order, error);
	if (!status) {
		place_accounts(device_ledger, order, sorted, place);
		remap(device_ledger, place, rows);
	}
	free(order);
	free(sorted);
	free(place);
	return status;
}
