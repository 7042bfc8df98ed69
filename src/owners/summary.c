/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/summary.h"

#include "base/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kwhy_held_waste kwhy_summary_waste(const struct kwhy_owner_summary *summary, kwhy_wide_nj *out_nj)
{
	const double whole_nj = (double)summary->energy_nj;

	*out_nj = 0;
	if (!kwhy_owner_is_program(summary->owner.kind) || summary->held_ns < KWHY_HELD_MIN_NS)
		return KWHY_HELD_WELL;
	if (summary->idle_device_count && summary->device_count > 1 &&
		summary->idle_devices_nj * 2 >= summary->idle_nj) {
		*out_nj = summary->idle_devices_nj;
		return KWHY_HELD_IDLE_DEVICES;
	}
	if (!(whole_nj > 0) || (double)summary->idle_nj < KWHY_HELD_IDLE_RATIO * whole_nj)
		return KWHY_HELD_WELL;
	*out_nj = summary->idle_nj;
	return KWHY_HELD_IDLE_TIME;
}

const char *kwhy_summary_words(const struct kwhy_owner_summary *summary, char out[KWHY_SUMMARY_WORDS_BYTES])
{
	kwhy_wide_nj waste_nj;

	*out = '\0';
	switch (kwhy_summary_waste(summary, &waste_nj)) {
	case KWHY_HELD_IDLE_DEVICES:
		snprintf(out, KWHY_SUMMARY_WORDS_BYTES, "held %u GPUs, %u idle", summary->device_count,
			summary->idle_device_count);
		break;
	case KWHY_HELD_IDLE_TIME:
		snprintf(out, KWHY_SUMMARY_WORDS_BYTES, "idle: %.0f %% of its energy",
			100 * (double)waste_nj / (double)summary->energy_nj);
		break;
	case KWHY_HELD_WELL:
		break;
	}
	return out;
}

/*
 * The owner under which the accounts of `owner` are summed: it has the fields by which the summary groups;
 * the others are "". KWHY_SUMMARY_BY_JOB: all fields but the part. For the other groupings, an owner that is
 * no program (kwhy_owner_is_program()) has only its kind.
 */
static struct kwhy_owner key_of(const struct kwhy_owner *owner, enum kwhy_summary_by by)
{
	struct kwhy_owner key = {.kind = owner->kind};

	if (by == KWHY_SUMMARY_BY_JOB) {
		key = *owner;
		*key.part = '\0';
		return key;
	}
	if (!kwhy_owner_is_program(owner->kind) || by == KWHY_SUMMARY_BY_KIND)
		return key;
	if (by == KWHY_SUMMARY_BY_USER) {
		key.kind = KWHY_OWNER_USER;
		memcpy(key.user, owner->user, sizeof(key.user));
		memcpy(key.name, owner->user, sizeof(owner->user));
	} else {
		key.kind = KWHY_OWNER_KUBERNETES;
		memcpy(key.space, owner->space, sizeof(key.space));
	}
	return key;
}

static bool is_wanted(const struct kwhy_owner *owner, const struct kwhy_summary_filter *filter)
{
	const bool has_filter = filter->name || filter->user || filter->space;

	if (has_filter && !kwhy_owner_is_program(owner->kind))
		return false;
	return (!filter->name || strcmp(owner->name, filter->name) == 0) &&
		(!filter->user || strcmp(owner->user, filter->user) == 0) &&
		(!filter->space || strcmp(owner->space, filter->space) == 0);
}

/*
 * Sums of the accounts of one summary on one device. judge() decides from them whether the device was idle.
 */
struct held {
	size_t summary;
	kwhy_wide_nj energy_nj;
	int64_t held_ns, busy_ns, unknown_ns;
};

static void add_share(struct kwhy_owner_summary *summary, const struct kwhy_stored_account *account)
{
	const struct kwhy_stored_share *share = &account->share;

	if (account->is_host) {
		summary->host_nj += share->energy_nj;
		summary->host_low_nj += share->low_nj;
		summary->host_high_nj += share->high_nj;
	} else {
		summary->energy_nj += share->energy_nj;
		summary->low_nj += share->low_nj;
		summary->high_nj += share->high_nj;
		summary->idle_nj += share->idle_nj;
		summary->held_ns += share->held_ns;
		summary->busy_ns += share->busy_ns;
		summary->unknown_ns += share->unknown_ns;
	}
	if (!summary->first_unix_ns || account->first_unix_ns < summary->first_unix_ns)
		summary->first_unix_ns = account->first_unix_ns;
	if (account->last_unix_ns > summary->last_unix_ns)
		summary->last_unix_ns = account->last_unix_ns;
}

/*
 * State while accounts are summed. The maps give indices: `owners` of summaries, `meters` of devices by their
 * keys, `pairs` of `held` by (summary, device).
 */
struct sums {
	struct kwhy_owner_summary *summaries;
	struct held *held;
	struct kwhy_map owners, meters, pairs;
};

/* Copies a text with its NUL to `at`, and returns the place after it. */
static char *append(char *at, const char *text)
{
	const size_t bytes = strlen(text) + 1;

	memcpy(at, text, bytes);
	return at + bytes;
}

static enum kwhy_status find_summary(
	struct sums *sums, const struct kwhy_owner *key, uint32_t *out, struct kwhy_error *error)
{
	char bytes[1 + KWHY_OWNER_NAME_BYTES + KWHY_OWNER_PART_BYTES + KWHY_OWNER_SPACE_BYTES +
		KWHY_OWNER_USER_BYTES];
	char *at = bytes;
	const uint32_t next = (uint32_t)sums->owners.count;
	struct kwhy_map_slot *slot;
	enum kwhy_status status;

	*at++ = (char)key->kind;
	at = append(append(append(append(at, key->name), key->part), key->space), key->user);
	status = kwhy_map_add_bytes(&sums->owners, bytes, (size_t)(at - bytes), next, &slot, error);
	if (status)
		return status;
	*out = slot->value;
	if (slot->value == next)
		sums->summaries[next].owner = *key;
	return KWHY_OK;
}

static enum kwhy_status add_held(struct sums *sums, uint32_t summary,
	const struct kwhy_stored_account *account, struct kwhy_error *error)
{
	struct kwhy_map_slot *meter;
	uint32_t at;
	enum kwhy_status status = kwhy_map_add_bytes(&sums->meters, account->meter, strlen(account->meter),
		(uint32_t)sums->meters.count, &meter, error);

	if (!status)
		status = kwhy_map_number(&sums->pairs, (uint64_t)summary << 32 | meter->value, &at, error);
	if (status)
		return status;
	sums->held[at].summary = summary;
	sums->held[at].energy_nj += account->share.energy_nj;
	sums->held[at].held_ns += account->share.held_ns;
	sums->held[at].busy_ns += account->share.busy_ns;
	sums->held[at].unknown_ns += account->share.unknown_ns;
	return KWHY_OK;
}

static enum kwhy_status add_account(struct sums *sums, const struct kwhy_stored_account *account,
	enum kwhy_summary_by by, struct kwhy_error *error)
{
	const struct kwhy_owner key = key_of(&account->owner, by);
	uint32_t summary;
	enum kwhy_status status = find_summary(sums, &key, &summary, error);

	if (status)
		return status;
	add_share(&sums->summaries[summary], account);
	return account->is_host ? KWHY_OK : add_held(sums, summary, account, error);
}

static void judge(struct kwhy_owner_summary *summaries, const struct held *held, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct kwhy_owner_summary *summary = &summaries[held[i].summary];

		summary->device_count++;
		if (held[i].held_ns < KWHY_HELD_MIN_NS || held[i].unknown_ns ||
			(double)held[i].busy_ns >= KWHY_HELD_BUSY_RATIO * (double)held[i].held_ns)
			continue;
		summary->idle_device_count++;
		summary->idle_devices_nj += held[i].energy_nj;
	}
}

static int by_energy(const void *left, const void *right)
{
	const struct kwhy_owner_summary *a = left, *b = right;
	const bool a_is_program = kwhy_owner_is_program(a->owner.kind),
		   b_is_program = kwhy_owner_is_program(b->owner.kind);

	if (a_is_program != b_is_program)
		return b_is_program - a_is_program;
	return (a->energy_nj < b->energy_nj) - (a->energy_nj > b->energy_nj);
}

enum kwhy_status kwhy_summary_of(const struct kwhy_stored *stored, enum kwhy_summary_by by,
	const struct kwhy_summary_filter *filter, struct kwhy_owner_summary **out, size_t *out_count,
	struct kwhy_error *error)
{
	struct sums sums = {.summaries = calloc(stored->count + 1, sizeof(*sums.summaries)),
		.held = calloc(stored->count + 1, sizeof(*sums.held))};
	enum kwhy_status status = KWHY_OK;

	if (!sums.summaries || !sums.held)
		status = kwhy_fail_memory(error, "the accounts");
	for (size_t i = 0; !status && i < stored->count; i++)
		if (is_wanted(&stored->items[i].owner, filter))
			status = add_account(&sums, &stored->items[i], by, error);
	if (!status) {
		judge(sums.summaries, sums.held, sums.pairs.count);
		qsort(sums.summaries, sums.owners.count, sizeof(*sums.summaries), by_energy);
		*out = sums.summaries;
		*out_count = sums.owners.count;
	} else {
		free(sums.summaries);
	}
	free(sums.held);
	kwhy_map_done(&sums.owners);
	kwhy_map_done(&sums.meters);
	kwhy_map_done(&sums.pairs);
	return status;
}
