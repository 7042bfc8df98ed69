/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_ACCOUNTS_H
#define KWHY_INJECT_PROBE_ACCOUNTS_H

#include "inject/probe/reasons.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * What the prober knows about each of the program's kernels, in tables of fixed size that any thread searches
 * without a lock. As in the ledger, an account stands for all launches with the same kernel name, number of
 * blocks in the grid and number of threads in a block. A launch is matched to its account by function, grid
 * and block, so that the name is read only at the first launch of such a shape.
 */
enum {
	KWHY_PROBE_ACCOUNTS = 4096,
	KWHY_PROBE_LAUNCHES = 4 * KWHY_PROBE_ACCOUNTS,
	KWHY_PROBE_TEXT_BYTES = 1024 * KWHY_PROBE_ACCOUNTS /* space for the names of all accounts */
};

/* Value of `blocks` for copies, memsets and grids of more blocks than 32 bits hold. */
#define KWHY_PROBE_BLOCKS_UNKNOWN UINT32_MAX

enum kwhy_probe_form { KWHY_PROBE_FORM_UNKNOWN, KWHY_PROBE_IDEMPOTENT, KWHY_PROBE_STATEFUL };

struct kwhy_probe_account {
	_Atomic uint64_t key; /* 0: the entry is free */
	atomic_bool is_there; /* true once the members below are valid */
	const char *name;     /* complete mangled name, by which the recording identifies the kernel */
	uint32_t blocks;
	uint16_t threads_per_block;
	atomic_uchar reason;   /* why the last attempt made no burst, or why there will be none (enum
				  kwhy_probe_reason) */
	atomic_bool is_wanted; /* the account is to be probed: it is new, or one of the largest that make up
				  95 % of the busy time (pace.h) */
	atomic_uint_least64_t launches;
	atomic_uint_least64_t records; /* number of activity records of the kernel, including its repeats */
	atomic_int_least64_t busy_ns;  /* total time of these records, in ns */
	atomic_int_least64_t repeated_ns; /* total time of the kernel's repeats in bursts, without the copies
					     between them */
	atomic_int_least64_t
		kernel_ns; /* time of one execution of the kernel, as timed in a burst; 0: unknown */
	atomic_int_least64_t copies_ns; /* time of all copies that restore memory before one repeat; 0:
					   unknown, or there are none */
	/*
	 * Used only by the thread that holds the burst. both_ns: total time of bursts that repeat kernel and
	 * copies. alone_ns: total time of bursts that repeat the copies alone. modelled_copies_ns: the
	 * modelled time of the copies in the burst in which copies_ns was measured.
	 */
	int64_t both_ns, alone_ns, modelled_copies_ns;
	atomic_uint bursts; /* number of bursts that repeated the kernel, without those of the copies alone */
	atomic_bool is_known; /* the kernel's power is known from an earlier recording */
	atomic_uint
		refusals; /* sum over the attempts that made no burst: 0 for an attempt during stream capture,
			     1 for one whose reason may not hold for the next launch, 4 for any other */
	/*
	 * Used only by the thread that holds the burst: checks: number of bursts in which all live memory was
	 * checked; graph_bursts: number of bursts after a launch of a graph.
	 */
	uint32_t checks, graph_bursts;
	uint8_t form; /* enum kwhy_probe_form */
};

struct kwhy_probe_accounts {
	atomic_uint count;
	atomic_ushort list[KWHY_PROBE_ACCOUNTS]; /* for each account in order of creation: its index in `at`,
						    plus 1; 0: not yet set */
	atomic_uint_least64_t overflow;		 /* number of launches for which the tables had no space */
	atomic_size_t text_used;
	char text[KWHY_PROBE_TEXT_BYTES]; /* the names of the accounts */
	struct kwhy_probe_account at[KWHY_PROBE_ACCOUNTS];
	struct {
		_Atomic uint64_t key;
		atomic_uint account; /* index in `at` of the launch's account, plus 1; 0: not yet set */
	} launches[KWHY_PROBE_LAUNCHES];
};

/* What identifies a launch; `name` is read only if the launch is new. */
struct kwhy_probe_shape {
	const void *function;
	unsigned grid[3], block[3];
	const char *name;
};

/*
 * Finds or makes the account of a launch. For a new account, `reason_of` decides from the name whether the
 * kernel is never probed. NULL: the tables are full, or another thread is making this account.
 */
struct kwhy_probe_account *kwhy_probe_account_of(struct kwhy_probe_accounts *accounts,
	const struct kwhy_probe_shape *shape, enum kwhy_probe_reason (*reason_of)(const char *name));

/*
 * Makes the account of a kernel whose power is known well enough from an earlier recording, so that it is not
 * probed.
 */
void kwhy_probe_account_know(
	struct kwhy_probe_accounts *accounts, const char *name, uint32_t blocks, uint16_t threads_per_block);

/* The account with this number in order of creation, from 0; NULL: another thread is making it. */
struct kwhy_probe_account *kwhy_probe_account_at(struct kwhy_probe_accounts *accounts, unsigned number);

/*
 * Adds the time of a kernel's activity record to its account; `name_hash` is kwhy_inject_label_hash() of its
 * name.
 */
void kwhy_probe_account_add_busy(struct kwhy_probe_accounts *accounts, uint64_t name_hash, uint32_t blocks,
	uint16_t threads_per_block, int64_t busy_ns);

/*
 * Busy time of the program's own launches so far, in ns: their number times the mean time of a launch. The
 * mean is that of its activity records; without records the time of a repeat in a burst; without bursts an
 * estimate from the size of the grid.
 */
int64_t kwhy_probe_account_own_ns(const struct kwhy_probe_account *account);

#endif
