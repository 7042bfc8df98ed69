/* SPDX-License-Identifier: Apache-2.0 */
#include "digest/making.h"
#include "model/known_sum.h"

/*
 * Time of a category within the device's span; KWHY_UNKNOWN_NS: unknown, or not within the span. If it is
 * known what the device waited for, idle time is in the categories of the reasons.
 */
static int64_t span_of(const struct kwhy_device_time *time, enum kwhy_category category)
{
	const bool has_reasons = time->host_ns != KWHY_UNKNOWN_NS;
	const int64_t spans[KWHY_CATEGORY_COUNT] = {
		[KWHY_CATEGORY_COMPUTE] = time->compute_ns,
		[KWHY_CATEGORY_COLLECTIVE] = time->collective_ns,
		[KWHY_CATEGORY_COPY] = time->copy_ns,
		[KWHY_CATEGORY_MEMSET] = time->memset_ns,
		[KWHY_CATEGORY_OVERLAP] = time->overlap_ns,
		[KWHY_CATEGORY_SYNC] = time->sync_ns,
		[KWHY_CATEGORY_LAUNCH] = time->launch_ns,
		[KWHY_CATEGORY_ALLOC] = time->alloc_ns,
		[KWHY_CATEGORY_HOST] = time->host_ns,
		[KWHY_CATEGORY_IDLE] = has_reasons ? KWHY_UNKNOWN_NS : time->idle_ns,
		[KWHY_CATEGORY_OUTSIDE] = KWHY_UNKNOWN_NS,
		[KWHY_CATEGORY_PROBING] = time->probing_ns,
		[KWHY_CATEGORY_UNRECORDED] = time->unrecorded_ns,
	};

	return spans[category];
}

/* Adds a value to a sum, which is unknown only if all its values are. */
static void add_known(int64_t *sum, int64_t part)
{
	if (part == INT64_MIN)
		return;
	if (*sum == INT64_MIN)
		*sum = 0;
	kwhy_time_add(sum, part);
}

static void add_to_category(struct kwhy_digest_category *row, const struct kwhy_account *account)
{
	add_known(&row->accounts, 1);
	add_known(&row->count, (int64_t)account->count);
	add_known(&row->time_ns, account->time_ns);
	add_known(&row->gross_nj, account->gross_nj);
	add_known(&row->idle_nj, account->idle_nj);
	add_known(&row->net_nj, account->net_nj);
}

static enum kwhy_status add_categories(const struct kwhy_digest_making *making, size_t device)
{
	const struct kwhy_device_ledger *ledger = &making->ledger->devices[device];

	for (int c = 0; c < KWHY_CATEGORY_COUNT; c++) {
		struct kwhy_digest_category *row = KWHY_DIGEST_ADD(making->digest, category, making->error);

		if (!row)
			return making->error->status;
		row->device = making->place_of[device];
		row->category = kwhy_category_name((enum kwhy_category)c);
		row->span_ns = span_of(&ledger->time, (enum kwhy_category)c);
		for (size_t i = 0; i < ledger->account_count; i++)
			if (ledger->accounts[i].category == (uint32_t)c)
				add_to_category(row, &ledger->accounts[i]);
		if (row->span_ns <= 0 && row->accounts == INT64_MIN)
			making->digest->category_count--;
	}
	return KWHY_OK;
}

static enum kwhy_status add_account(
	const struct kwhy_digest_making *making, size_t device, const struct kwhy_account *account)
{
	struct kwhy_digest_account *row = KWHY_DIGEST_ADD(making->digest, account, making->error);

	if (!row)
		return making->error->status;
	row->device = making->place_of[device];
	row->category = kwhy_category_name((enum kwhy_category)account->category);
	row->name = kwhy_digest_name(making->digest, account->name);
	row->accounts = 1;
	row->count = (int64_t)account->count;
	row->bytes = (int64_t)account->bytes;
	row->time_ns = account->time_ns;
	row->gross_nj = account->gross_nj;
	row->idle_nj = account->idle_nj;
	row->net_nj = account->net_nj;
	row->low_nj = account->low_nj;
	row->high_nj = account->high_nj;
	row->basis = kwhy_basis_name((enum kwhy_basis)account->basis);
	return row->name ? KWHY_OK : kwhy_fail_memory(making->error, "a digest");
}

/*
 * Adds one row with the sum of a category's accounts that have no rows of their own, if there are any. Its
 * interval of energy is unknown.
 */
static enum kwhy_status add_rest(const struct kwhy_digest_making *making, size_t device, uint32_t category)
{
	const struct kwhy_device_ledger *ledger = &making->ledger->devices[device];
	struct kwhy_digest_account *row = NULL;

	for (size_t i = making->limits->accounts; i < ledger->account_count; i++) {
		const struct kwhy_account *account = &ledger->accounts[i];

		if (account->category != category)
			continue;
		if (!row) {
			row = KWHY_DIGEST_ADD(making->digest, account, making->error);
			if (!row)
				return making->error->status;
			row->device = making->place_of[device];
			row->category = kwhy_category_name((enum kwhy_category)category);
		}
		add_known(&row->accounts, 1);
		add_known(&row->count, (int64_t)account->count);
		add_known(&row->bytes, (int64_t)account->bytes);
		add_known(&row->time_ns, account->time_ns);
		add_known(&row->gross_nj, account->gross_nj);
		add_known(&row->idle_nj, account->idle_nj);
		add_known(&row->net_nj, account->net_nj);
	}
	return KWHY_OK;
}

/* Adds the largest accounts of the device. The ledger has them sorted by energy, largest first. */
static enum kwhy_status add_accounts(const struct kwhy_digest_making *making, size_t device)
{
	const struct kwhy_device_ledger *ledger = &making->ledger->devices[device];
	enum kwhy_status status = add_categories(making, device);

	for (size_t i = 0; !status && i < ledger->account_count && i < making->limits->accounts; i++)
		status = add_account(making, device, &ledger->accounts[i]);
	for (uint32_t c = 0; !status && c < KWHY_CATEGORY_COUNT; c++)
		status = add_rest(making, device, c);
	return status;
}

enum kwhy_status kwhy_digest_make_accounts(const struct kwhy_digest_making *making)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t d = 0; !status && d < making->ledger->device_count; d++)
		if (making->place_of[d] != KWHY_NONE)
			status = add_accounts(making, d);
	return status;
}
