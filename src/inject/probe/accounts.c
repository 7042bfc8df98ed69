/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/accounts.h"

#include "inject/labels.h"

#include <stddef.h>
#include <string.h>

/* 2^64 divided by the golden ratio; multiplying by it spreads hashes evenly */
#define RATIO UINT64_C(0x9e3779b97f4a7c15)
/*
 * Assumed time of a kernel that has not been timed yet: UNSEEN_NS, plus 1 ns for every THREADS_PER_NS threads
 * of its grid.
 */
#define UNSEEN_NS 20000.0
#define THREADS_PER_NS 200.0

const char *kwhy_probe_reason_words(enum kwhy_probe_reason reason)
{
	static const char *const words[] = {
#define X(name, for_good, words) words,
		KWHY_PROBE_REASONS(X)
#undef X
	};

	return words[reason < KWHY_PROBE_REASON_COUNT ? reason : KWHY_PROBE_NONE];
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * RATIO;
	return hash ^ hash >> 29;
}

static uint64_t product(const unsigned sizes[3])
{
	return (uint64_t)sizes[0] * sizes[1] * sizes[2];
}

/* Hash of a launch's function, grid and block; never 0. */
static uint64_t key_of_launch(const struct kwhy_probe_shape *shape)
{
	uint64_t key = mix(RATIO, (uint64_t)(uintptr_t)shape->function);

	for (int i = 0; i < 3; i++) {
		key = mix(key, shape->grid[i]);
		key = mix(key, shape->block[i]);
	}
	return key ? key : 1;
}

static uint64_t key_of_account(uint64_t name_hash, uint32_t blocks, uint16_t threads_per_block)
{
	const uint64_t key = mix(mix(name_hash, blocks), threads_per_block);

	return key ? key : 1;
}

/* Number of blocks in the grid, as a recording stores it; KWHY_PROBE_BLOCKS_UNKNOWN: too many for 32 bits. */
static uint32_t blocks_of(const struct kwhy_probe_shape *shape)
{
	const uint64_t blocks = product(shape->grid);

	return blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX;
}

static uint16_t threads_of(const struct kwhy_probe_shape *shape)
{
	const uint64_t threads = product(shape->block);

	return threads < UINT16_MAX ? (uint16_t)threads : UINT16_MAX;
}

/* Copies a name to accounts->text and returns the copy; NULL: it does not fit. */
static const char *keep_name(struct kwhy_probe_accounts *accounts, const char *name)
{
	const size_t bytes = strlen(name) + 1;
	const size_t at = atomic_fetch_add(&accounts->text_used, bytes);

	if (bytes > sizeof(accounts->text) || at > sizeof(accounts->text) - bytes)
		return NULL;
	return memcpy(accounts->text + at, name, bytes);
}

/*
 * Finds the account with this key. If there is none and `shape` is not NULL, makes one for that shape. NULL:
 * there is none, the tables are full, or another thread is just making it.
 */
static struct kwhy_probe_account *account_at(struct kwhy_probe_accounts *accounts, uint64_t key,
	const struct kwhy_probe_shape *shape, enum kwhy_probe_reason (*reason_of)(const char *name))
{
	const char *name;

	for (size_t i = 0; i < KWHY_PROBE_ACCOUNTS; i++) {
		struct kwhy_probe_account *account = &accounts->at[(key + i) % KWHY_PROBE_ACCOUNTS];
		uint64_t there = atomic_load_explicit(&account->key, memory_order_acquire);

		if (there == key)
			return atomic_load(&account->is_there) ? account : NULL;
		if (there)
			continue;
		name = shape ? keep_name(accounts, shape->name) : NULL;
		if (!name)
			return NULL;
		if (!atomic_compare_exchange_strong(&account->key, &there, key))
			return NULL; /* another thread is making an account in this entry; a later launch
					tries again */
		account->name = name;
		account->blocks = blocks_of(shape);
		account->threads_per_block = threads_of(shape);
		atomic_store(&account->reason,
			(unsigned char)(reason_of ? reason_of(shape->name) : KWHY_PROBE_NONE));
		atomic_store(&account->is_wanted, true);
		atomic_store(&account->is_there, true);
		atomic_store(&accounts->list[atomic_fetch_add(&accounts->count, 1)],
			(unsigned short)(account - accounts->at + 1));
		return account;
	}
	return NULL;
}

static struct kwhy_probe_account *new_launch(struct kwhy_probe_accounts *accounts,
	const struct kwhy_probe_shape *shape, enum kwhy_probe_reason (*reason_of)(const char *name))
{
	const uint64_t name_hash = kwhy_inject_label_hash(shape->name);

	return account_at(
		accounts, key_of_account(name_hash, blocks_of(shape), threads_of(shape)), shape, reason_of);
}

struct kwhy_probe_account *kwhy_probe_account_of(struct kwhy_probe_accounts *accounts,
	const struct kwhy_probe_shape *shape, enum kwhy_probe_reason (*reason_of)(const char *name))
{
	const uint64_t key = key_of_launch(shape);

	for (size_t i = 0; i < KWHY_PROBE_LAUNCHES / 8; i++) {
		const size_t at = (key + i) % KWHY_PROBE_LAUNCHES;
		uint64_t there = atomic_load_explicit(&accounts->launches[at].key, memory_order_acquire);
		unsigned index;

		if (!there && !atomic_compare_exchange_strong(&accounts->launches[at].key, &there, key))
			return NULL;
		if (there && there != key)
			continue;
		index = atomic_load_explicit(&accounts->launches[at].account, memory_order_acquire);
		if (!index) {
			struct kwhy_probe_account *account = new_launch(accounts, shape, reason_of);

			if (account)
				atomic_store_explicit(&accounts->launches[at].account,
					(unsigned)(account - accounts->at) + 1, memory_order_release);
			return account;
		}
		return &accounts->at[index - 1];
	}
	return NULL;
}

void kwhy_probe_account_know(
	struct kwhy_probe_accounts *accounts, const char *name, uint32_t blocks, uint16_t threads_per_block)
{
	const struct kwhy_probe_shape shape = {
		.name = name, .grid = {blocks, 1, 1}, .block = {threads_per_block, 1, 1}};
	struct kwhy_probe_account *account = new_launch(accounts, &shape, NULL);

	if (account) {
		atomic_store(&account->is_known, true);
		atomic_store(&account->reason, KWHY_PROBE_KNOWN);
	}
}

struct kwhy_probe_account *kwhy_probe_account_at(struct kwhy_probe_accounts *accounts, unsigned number)
{
	const unsigned index = atomic_load(&accounts->list[number]);

	return index ? &accounts->at[index - 1] : NULL;
}

void kwhy_probe_account_add_busy(struct kwhy_probe_accounts *accounts, uint64_t name_hash, uint32_t blocks,
	uint16_t threads_per_block, int64_t busy_ns)
{
	struct kwhy_probe_account *account = account_at(
		accounts, key_of_account(name_hash, blocks, threads_per_block), NULL, NULL);

	if (!account)
		return;
	atomic_fetch_add_explicit(&account->busy_ns, busy_ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&account->records, 1, memory_order_relaxed);
}

static double mean_ns(const struct kwhy_probe_account *account)
{
	const uint64_t records = atomic_load(&account->records);
	const double kernel_ns = (double)atomic_load(&account->kernel_ns);

	if (records)
		return (double)atomic_load(&account->busy_ns) / (double)records;
	if (kernel_ns <= 0 && account->blocks == KWHY_PROBE_BLOCKS_UNKNOWN)
		return UNSEEN_NS;
	return kernel_ns > 0
		? kernel_ns
		: UNSEEN_NS + (double)account->blocks * account->threads_per_block / THREADS_PER_NS;
}

int64_t kwhy_probe_account_own_ns(const struct kwhy_probe_account *account)
{
	return (int64_t)(mean_ns(account) * (double)atomic_load(&account->launches));
}
