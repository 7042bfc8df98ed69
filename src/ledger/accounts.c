/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "base/map.h"
#include "ledger/account_name.h"
#include "ledger/metered.h"
#include "ledger/parts.h"
#include "ledger/saturate.h"
#include "ledger/time/time_copies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * State while the accounts of a device are made. The first accounts are those of activities: one for each
 * kernel name, one for each kind of copy or memset with its size class, and one for each name that a person
 * gave to copies or memsets; work of kwhy probe has accounts of its own. Accounts of time without activities
 * follow.
 */
struct opening {
	struct kwhy_ledger *ledger;
	const struct kwhy_recording *recording;
	uint32_t device;
	struct kwhy_map keys;
	struct kwhy_account *accounts;
	size_t count, capacity;
	uint32_t *account_of; /* [activities of the device] account of each activity, in the ledger's arena */
};

static bool is_named(const struct opening *opening, size_t row)
{
	const struct kwhy_activities *rows = &opening->recording->activities;

	return kwhy_category_of_kind(rows->kind[row]) <= KWHY_CATEGORY_COLLECTIVE ||
		!kwhy_account_name_is_generated(kwhy_names_get(&opening->recording->names, rows->name[row]));
}

/*
 * Key of an activity; activities with equal keys belong to one account. The key contains the activity's kind,
 * whether the program or kwhy probe started it, and its name. If a profiler made the name of a copy or
 * memset, the key has memory kinds, size class and, for copies, direction in place of the name.
 */
static uint64_t key_of(const struct opening *opening, size_t row)
{
	const struct kwhy_activities *rows = &opening->recording->activities;
	uint64_t key = (uint64_t)rows->kind[row] << 48 |
		(uint64_t)(rows->origin[row] != KWHY_ORIGIN_PROGRAM) << 63;

	if (is_named(opening, row))
		return key | rows->name[row];
	key |= (uint64_t)1 << 56 | (uint64_t)(uint8_t)kwhy_size_class_of(rows->bytes[row]) << 32;
	key |= (uint64_t)rows->dst_memory[row];
	if (rows->kind[row] == KWHY_ACTIVITY_COPY)
		key |= (uint64_t)rows->copy_kind[row] << 16 | (uint64_t)rows->src_memory[row] << 8;
	return key;
}

static const char *name_of(const struct opening *opening, size_t row)
{
	const struct kwhy_activities *rows = &opening->recording->activities;
	const char *name = kwhy_names_get(&opening->recording->names, rows->name[row]);
	char made[KWHY_ACCOUNT_NAME_BYTES];

	if (is_named(opening, row))
		return *name ? name : "unnamed kernel";
	if (rows->kind[row] == KWHY_ACTIVITY_COPY)
		kwhy_account_name_copy(made, rows, row);
	else
		kwhy_account_name_memset(made, rows, row);
	return kwhy_arena_copy(&opening->ledger->arena, made);
}

static enum kwhy_status open_account(struct opening *opening, enum kwhy_category category, const char *name,
	struct kwhy_account **out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_column_reserve((void **)&opening->accounts, &opening->capacity,
		opening->count + 1, sizeof(*opening->accounts), "accounts", error);

	if (status)
		return status;
	if (!name)
		return kwhy_fail_memory(error, "accounts");
	*out = &opening->accounts[opening->count++];
	**out = (struct kwhy_account){
		.category = category,
		.name = name,
		.gross_nj = KWHY_UNKNOWN_NJ,
		.idle_nj = KWHY_UNKNOWN_NJ,
		.net_nj = KWHY_UNKNOWN_NJ,
		.low_nj = KWHY_UNKNOWN_NJ,
		.high_nj = KWHY_UNKNOWN_NJ,
		.mean_power_mw = -1,
		.basis = KWHY_BASIS_NONE,
		.group = KWHY_NONE,
		.power_class = KWHY_NONE,
		.whole_ns = KWHY_UNKNOWN_NS,
		.whole_nj = KWHY_UNKNOWN_NJ,
		.whole_low_nj = KWHY_UNKNOWN_NJ,
		.whole_high_nj = KWHY_UNKNOWN_NJ,
		.whole_error_ratio = NAN,
	};
	return KWHY_OK;
}

static enum kwhy_category category_of(const struct kwhy_activities *rows, size_t row)
{
	return rows->origin[row] == KWHY_ORIGIN_PROGRAM ? kwhy_category_of_kind(rows->kind[row])
							: KWHY_CATEGORY_PROBING;
}

static enum kwhy_status apportion_row(struct opening *opening, size_t row, struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &opening->recording->activities;
	struct kwhy_account *account;
	enum kwhy_status status;
	uint32_t number;

	status = kwhy_map_number(&opening->keys, key_of(opening, row), &number, error);
	if (!status && number == opening->count)
		status = open_account(
			opening, category_of(rows, row), name_of(opening, row), &account, error);
	if (status)
		return status;
	account = &opening->accounts[number];
	account->count++;
	account->time_ns = kwhy_saturate_add(account->time_ns, rows->end_ns[row] - rows->start_ns[row]);
	if (kwhy_category_of_kind(rows->kind[row]) >= KWHY_CATEGORY_COPY &&
		rows->bytes[row] != KWHY_UNKNOWN_BYTES)
		account->bytes = kwhy_saturate_add_unsigned(account->bytes, rows->bytes[row]);
	opening->account_of[row - rows->first[opening->device]] = number;
	return KWHY_OK;
}

static enum kwhy_status apportion_rows(struct opening *opening, struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &opening->recording->activities;
	size_t first = rows->first[opening->device], end = rows->first[opening->device + 1];
	enum kwhy_status status = KWHY_OK;

	opening->account_of = kwhy_arena_alloc(
		&opening->ledger->arena, end - first, sizeof(*opening->account_of));
	if (!opening->account_of)
		return kwhy_fail_memory(error, "accounts");
	for (size_t row = first; !status && row < end; row++)
		status = apportion_row(opening, row, error);
	return status;
}

/*
 * Adds an account for time without activities. No account is added if time_ns is 0, unless the category is
 * that of the time before and after all activities.
 */
static enum kwhy_status apportion_idle(struct opening *opening, enum kwhy_category category, int64_t time_ns,
	uint64_t count, struct kwhy_error *error)
{
	static const char *const names[KWHY_CATEGORY_COUNT] = {
		[KWHY_CATEGORY_SYNC] = "idle: host in synchronize",
		[KWHY_CATEGORY_LAUNCH] = "idle: host launching",
		[KWHY_CATEGORY_ALLOC] = "idle: host allocating",
		[KWHY_CATEGORY_HOST] = "idle: host elsewhere",
		[KWHY_CATEGORY_IDLE] = "idle",
		[KWHY_CATEGORY_OUTSIDE] = "outside: before and after",
		[KWHY_CATEGORY_UNRECORDED] = "not recorded: outside the windows",
	};
	struct kwhy_account *account;
	enum kwhy_status status;

	if (time_ns <= 0 && category != KWHY_CATEGORY_OUTSIDE)
		return KWHY_OK;
	status = open_account(opening, category, names[category], &account, error);
	if (status)
		return status;
	account->time_ns = time_ns;
	account->count = count;
	return KWHY_OK;
}

static enum kwhy_status apportion_gaps(struct opening *opening, struct kwhy_error *error)
{
	const struct kwhy_device_time *time = &opening->ledger->devices[opening->device].time;
	const struct {
		enum kwhy_category category;
		int64_t time_ns;
		uint64_t count;
	} reasons[] = {
		{KWHY_CATEGORY_SYNC, time->sync_ns, time->sync_gaps},
		{KWHY_CATEGORY_LAUNCH, time->launch_ns, time->launch_gaps},
		{KWHY_CATEGORY_ALLOC, time->alloc_ns, time->alloc_gaps},
		{KWHY_CATEGORY_HOST, time->host_ns, time->host_gaps},
	};
	enum kwhy_status status = KWHY_OK;

	if (time->sync_ns == KWHY_UNKNOWN_NS)
		return apportion_idle(opening, KWHY_CATEGORY_IDLE, time->idle_ns, time->idle_gaps, error);
	for (size_t i = 0; !status && i < sizeof(reasons) / sizeof(reasons[0]); i++)
		status = apportion_idle(
			opening, reasons[i].category, reasons[i].time_ns, reasons[i].count, error);
	return status;
}

static enum kwhy_status apportion_clean(
	struct opening *opening, int64_t time_ns, size_t count, struct kwhy_error *error)
{
	struct kwhy_account *account;
	enum kwhy_status status = open_account(
		opening, KWHY_CATEGORY_OUTSIDE, "outside: without a context", &account, error);

	if (status)
		return status;
	account->time_ns = time_ns;
	account->count = count;
	account->is_clean = true;
	return KWHY_OK;
}

/*
 * If the device has a meter, adds the accounts of time before the first and after the last activity: one for
 * the part of this time without a context, and one for the other part. The latter is added even if its time
 * is 0, because the meter may show energy there.
 */
static enum kwhy_status apportion_outside(struct opening *opening, struct kwhy_error *error)
{
	const struct kwhy_device_ledger *device_ledger = &opening->ledger->devices[opening->device];
	struct kwhy_metered_outside outside;
	enum kwhy_status status;

	status = kwhy_metered_outside(opening->recording, opening->device, device_ledger, &outside, error);
	if (status || !outside.metered)
		return status;
	if (outside.clean_ns > 0)
		status = apportion_clean(opening, outside.clean_ns, device_ledger->clean_count, error);
	if (!status)
		status = apportion_idle(opening, KWHY_CATEGORY_OUTSIDE,
			outside.before_ns + outside.after_ns - outside.clean_ns,
			(uint64_t)(outside.before_ns > 0) + (outside.after_ns > 0), error);
	if (!status && opening->count == 1)
		opening->accounts[0].name = "outside: no activity was recorded";
	return status;
}

static enum kwhy_status apportion_unrecorded(struct opening *opening, struct kwhy_error *error)
{
	const struct kwhy_coverage_sum *coverage = &opening->ledger->devices[opening->device].coverage;

	return apportion_idle(opening, KWHY_CATEGORY_UNRECORDED,
		coverage->end_ns - coverage->start_ns - coverage->known_ns -
			opening->ledger->devices[opening->device].time.probing_ns,
		coverage->unrecorded_count, error);
}

/* Adds the account of the time in which kwhy probe was at work and no activity ran. */
static enum kwhy_status apportion_probing(struct opening *opening, struct kwhy_error *error)
{
	const struct kwhy_device_time *time = &opening->ledger->devices[opening->device].time;
	struct kwhy_account *account;
	enum kwhy_status status;

	if (time->probing_idle_ns <= 0)
		return KWHY_OK;
	status = open_account(opening, KWHY_CATEGORY_PROBING, "probing: nothing ran", &account, error);
	if (status)
		return status;
	account->time_ns = time->probing_idle_ns;
	account->is_probing_idle = true;
	return KWHY_OK;
}

static enum kwhy_status keep(struct opening *opening, struct kwhy_error *error)
{
	struct kwhy_device_ledger *device = &opening->ledger->devices[opening->device];
	struct kwhy_account *kept = kwhy_arena_alloc(
		&opening->ledger->arena, opening->count, sizeof(*opening->accounts));

	if (!kept)
		return kwhy_fail_memory(error, "accounts");
	if (opening->count)
		memcpy(kept, opening->accounts, opening->count * sizeof(*kept));
	device->accounts = kept;
	device->account_count = opening->count;
	device->account_of = opening->account_of;
	return KWHY_OK;
}

enum kwhy_status kwhy_ledger_accounts(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	uint32_t device, struct kwhy_error *error)
{
	struct opening opening = {.ledger = ledger, .recording = recording, .device = device};
	enum kwhy_status status = apportion_rows(&opening, error);

	if (!status)
		status = apportion_gaps(&opening, error);
	if (!status)
		status = apportion_outside(&opening, error);
	if (!status)
		status = apportion_probing(&opening, error);
	if (!status)
		status = apportion_unrecorded(&opening, error);
	if (!status)
		status = keep(&opening, error);
	kwhy_map_done(&opening.keys);
	free(opening.accounts);
	return status;
}
