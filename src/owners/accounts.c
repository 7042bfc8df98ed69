/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/accounts.h"

#include "base/column.h"

#include <stdlib.h>
#include <string.h>

struct kwhy_accounts {
	struct kwhy_owner_row *rows;
	size_t row_count, row_capacity;
	size_t labels_max, labelled;
	uint32_t other; /* index of the row of the owner of the kind KWHY_OWNER_OTHER, which stands for all
			   owners without labels of their own */
};

static bool is_counted(const struct kwhy_owner_row *row)
{
	return row->is_labelled && kwhy_owner_is_program(row->owner.kind);
}

static enum kwhy_status free_row(struct kwhy_accounts *accounts, uint32_t *out, struct kwhy_error *error)
{
	void *rows = accounts->rows;
	enum kwhy_status status;

	for (size_t i = 0; i < accounts->row_count; i++)
		if (!accounts->rows[i].is_there) {
			*out = (uint32_t)i;
			return KWHY_OK;
		}
	status = kwhy_column_reserve(&rows, &accounts->row_capacity, accounts->row_count + 1,
		sizeof(*accounts->rows), "the owners of devices", error);
	if (status)
		return status;
	accounts->rows = rows;
	*out = (uint32_t)accounts->row_count;
	accounts->rows[accounts->row_count++] = (struct kwhy_owner_row){0};
	return KWHY_OK;
}

static enum kwhy_status add_row(struct kwhy_accounts *accounts, const struct kwhy_owner *owner,
	int64_t now_ns, uint32_t *out, struct kwhy_error *error)
{
	enum kwhy_status status = free_row(accounts, out, error);
	struct kwhy_owner_row *row;

	if (status)
		return status;
	row = &accounts->rows[*out];
	*row = (struct kwhy_owner_row){.owner = *owner, .used_ns = now_ns, .is_there = true};
	row->is_labelled = !kwhy_owner_is_program(owner->kind) || accounts->labelled < accounts->labels_max;
	accounts->labelled += is_counted(row);
	return KWHY_OK;
}

enum kwhy_status kwhy_accounts_new(size_t labels_max, struct kwhy_accounts **out, struct kwhy_error *error)
{
	struct kwhy_accounts *accounts = calloc(1, sizeof(*accounts));
	const struct kwhy_owner other = {.kind = KWHY_OWNER_OTHER};
	enum kwhy_status status;

	if (!accounts)
		return kwhy_fail_memory(error, "the owners of devices");
	accounts->labels_max = labels_max;
	status = add_row(accounts, &other, INT64_MAX, &accounts->other, error);
	if (status) {
		kwhy_accounts_free(accounts);
		return status;
	}
	*out = accounts;
	return KWHY_OK;
}

void kwhy_accounts_free(struct kwhy_accounts *accounts)
{
	if (!accounts)
		return;
	for (size_t i = 0; i < accounts->row_count; i++)
		free(accounts->rows[i].accounts);
	free(accounts->rows);
	free(accounts);
}

enum kwhy_status kwhy_accounts_find(struct kwhy_accounts *accounts, const struct kwhy_owner *owner,
	int64_t now_ns, uint32_t *out_row, struct kwhy_error *error)
{
	for (size_t i = 0; i < accounts->row_count; i++) {
		struct kwhy_owner_row *row = &accounts->rows[i];

		if (!row->is_there || !kwhy_owner_is_same(&row->owner, owner))
			continue;
		row->used_ns = row->used_ns > now_ns ? row->used_ns : now_ns;
		*out_row = (uint32_t)i;
		return KWHY_OK;
	}
	return add_row(accounts, owner, now_ns, out_row, error);
}

static enum kwhy_status account_of(
	struct kwhy_owner_row *row, uint32_t meter, struct kwhy_owner_account **out, struct kwhy_error *error)
{
	for (size_t i = 0; i < row->account_count; i++)
		if (row->accounts[i].meter == meter) {
			*out = &row->accounts[i];
			return KWHY_OK;
		}
	if (row->account_count == row->account_capacity) {
		/*
		 * starts with space for one account: most owners use one meter, and there may be thousands
		 * of owners
		 */
		const size_t capacity = row->account_capacity ? 2 * row->account_capacity : 1;
		struct kwhy_owner_account *items = realloc(row->accounts, capacity * sizeof(*row->accounts));

		if (!items)
			return kwhy_fail_memory(error, "the owners of devices");
		row->accounts = items;
		row->account_capacity = capacity;
	}
	*out = &row->accounts[row->account_count++];
	**out = (struct kwhy_owner_account){.meter = meter};
	return KWHY_OK;
}

static void show(struct kwhy_owner_shown *shown, const struct kwhy_share *share)
{
	shown->energy_j += (double)share->energy_nj * 1e-9;
	shown->unsure_j += (double)(share->high_nj - share->low_nj) * 0.5e-9;
	shown->idle_j += (double)share->idle_nj * 1e-9;
	shown->held_s += (double)share->held_ns * 1e-9;
	shown->busy_s += (double)share->busy_ns * 1e-9;
	shown->known_s += (double)(share->held_ns - share->unknown_ns) * 1e-9;
}

enum kwhy_status kwhy_accounts_add(struct kwhy_accounts *accounts, uint32_t row, uint32_t meter,
	const struct kwhy_share *share, struct kwhy_error *error)
{
	struct kwhy_owner_row *own = &accounts->rows[row];
	struct kwhy_owner_account *account, *shown;
	enum kwhy_status status = account_of(own, meter, &account, error);

	if (status)
		return status;
	kwhy_share_add(&account->pending, share);
	account->has_pending = true;
	if (own->is_labelled) {
		show(&account->shown, share);
		return KWHY_OK;
	}
	status = account_of(&accounts->rows[accounts->other], meter, &shown, error);
	if (!status)
		show(&shown->shown, share);
	return status;
}

enum kwhy_status kwhy_accounts_account(struct kwhy_accounts *accounts, uint32_t row, uint32_t meter,
	struct kwhy_owner_account **out, struct kwhy_error *error)
{
	return account_of(&accounts->rows[row], meter, out, error);
}

static bool waits(const struct kwhy_owner_row *row)
{
	for (size_t i = 0; i < row->account_count; i++)
		if (row->accounts[i].has_pending)
			return true;
	return false;
}

void kwhy_accounts_forget(struct kwhy_accounts *accounts, int64_t before_ns)
{
	for (size_t i = 0; i < accounts->row_count; i++) {
		struct kwhy_owner_row *row = &accounts->rows[i];

		if (!row->is_there || row->used_ns >= before_ns || !kwhy_owner_is_program(row->owner.kind) ||
			waits(row))
			continue;
		accounts->labelled -= is_counted(row);
		free(row->accounts);
		*row = (struct kwhy_owner_row){0};
	}
}

struct kwhy_owner_row *kwhy_accounts_rows(struct kwhy_accounts *accounts, size_t *out_count)
{
	*out_count = accounts->row_count;
	return accounts->rows;
}

void kwhy_accounts_stored(struct kwhy_accounts *accounts)
{
	for (size_t i = 0; i < accounts->row_count; i++)
		for (size_t k = 0; k < accounts->rows[i].account_count; k++) {
			struct kwhy_owner_account *account = &accounts->rows[i].accounts[k];

			account->pending = (struct kwhy_share){0};
			account->has_pending = false;
			if (account->is_power_new)
				account->stored_power = account->power;
			account->is_power_new = false;
		}
}
