/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_ACCOUNTS_H
#define KWHY_INJECT_PROBE_ACCOUNTS_H

#include "inject/probe/reasons.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * What is known of each kernel of a program by its size: tables of fixed size that any thread searches
 * without a lock. An account is a name, the blocks of its grid and the threads of a block, as in the ledger;
 * a launch finds it by function, grid and block, so that names are read once each.
 */
enum {
	KWHY_PROBE_ACCOUNTS = 4096,
	KWHY_PROBE_LAUNCHES = 4 * KWHY_PROBE_ACCOUNTS,
	KWHY_PROBE_TEXT_BYTES = 1024 * KWHY_PROBE_ACCOUNTS /* of all names */
};

/* Of copies and memsets, and of grids that are larger. */
#define KWHY_PROBE_BLOCKS_UNKNOWN UINT32_MAX

enum kwhy_probe_form { KWHY_PROBE_FORM_UNKNOWN, KWHY_PROBE_IDEMPOTENT, KWHY_PROBE_STATEFUL };

struct kwhy_probe_account {
	_Atomic uint64_t key; /* 0: free */
	atomic_bool is_there; /* what follows has been written */
	const char *name;     /* mangled, and whole: a recording has the kernel by it */
	uint32_t blocks;
	uint16_t threads_per_block;
	atomic_uchar reason;   /* enum kwhy_probe_reason: why the last try was none */
	atomic_bool is_wanted; /* it is among those that make up most of the busy time */
	atomic_uint_least64_t launches;
	atomic_uint_least64_t records;	  /* activity records, those of repeats among them ... */
	atomic_int_least64_t busy_ns;	  /* ... and their time */
	atomic_int_least64_t repeated_ns; /* what its repeats took */
	atomic_int_least64_t kernel_ns;	  /* of one repeat; 0: not known */
	atomic_int_least64_t copies_ns;	  /* between two repeats, where memory is put back */
	atomic_uint bursts;
	atomic_bool is_known; /* from an earlier recording */
	atomic_uint
		refusals; /* tries that came to nothing; those that may do better the next time count least */
	/* Of the thread that holds the burst. */
	uint32_t checks, graph_bursts;
	uint8_t form; /* enum kwhy_probe_form */
};

struct kwhy_probe_accounts {
	atomic_uint count;
	atomic_ushort list[KWHY_PROBE_ACCOUNTS]; /* index and 1 of each, as they came; 0: not there yet */
	atomic_uint_least64_t overflow;		 /* launches that found no space */
	atomic_size_t text_used;
	char text[KWHY_PROBE_TEXT_BYTES]; /* names of accounts */
	struct kwhy_probe_account at[KWHY_PROBE_ACCOUNTS];
	struct {
		_Atomic uint64_t key;
		atomic_uint account; /* its index and 1; 0: not there yet */
	} launches[KWHY_PROBE_LAUNCHES];
};

/* What a launch is known by. */
struct kwhy_probe_shape {
	const void *function;
	unsigned grid[3], block[3];
	const char *name;
};

/*
 * The account of a launch. Where it is new, `reason_of` says by its name whether it is out permanently. NULL:
 * there is no space, or another thread is just making it.
 */
struct kwhy_probe_account *kwhy_probe_account_of(struct kwhy_probe_accounts *accounts,
	const struct kwhy_probe_shape *shape, enum kwhy_probe_reason (*reason_of)(const char *name));

/* One of whose power enough is known from an earlier recording. */
void kwhy_probe_account_know(
	struct kwhy_probe_accounts *accounts, const char *name, uint32_t blocks, uint16_t threads_per_block);

/* One of those there are, by its number from 0 on; NULL: it is just being made. */
struct kwhy_probe_account *kwhy_probe_account_at(struct kwhy_probe_accounts *accounts, unsigned number);

/* Time that an activity record of a kernel tells; `name_hash` as kwhy_inject_label_hash(). */
void kwhy_probe_account_add_busy(struct kwhy_probe_accounts *accounts, uint64_t name_hash, uint32_t blocks,
	uint16_t threads_per_block, int64_t busy_ns);

/*
 * The busy time of the program's own launches so far: as activity records tell it, before they come by what a
 * repeat takes, and before there is one by its size.
 */
int64_t kwhy_probe_account_own_ns(const struct kwhy_probe_account *account);

#endif
