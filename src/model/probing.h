/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_PROBING_H
#define KWHY_MODEL_PROBING_H

#include "model/recording.h"

/*
 * What kwhy probe did to the kernels of a program: sums over the activities of finished recordings by
 * account, which is a kernel's name with the blocks of its grid and the threads of a block, as in the ledger.
 * Of copies and memsets only the bursts count, which have no grid.
 */
struct kwhy_probing_account {
	uint64_t bursts;
	int64_t busy_ns;     /* of the program's own launches */
	int64_t repeated_ns; /* that repeats took, as the prober counts it */
	uint64_t reason_launches;
	const char *reason; /* of most launches that were not probed; NULL: none is reported */
	uint32_t name, next;
	uint32_t blocks;
	uint16_t threads_per_block;
	bool is_of_graph; /* a graph launched it */
};

struct kwhy_probing {
	struct kwhy_names names;
	struct kwhy_probing_account *accounts;
	uint32_t *first_of_name; /* index + 1 of an account; 0: none. The next of its name is account.next */
	size_t count, capacity, name_capacity;

	/* Of the recordings that are not earlier ones. */
	uint64_t bursts, repeats, checked, different;
	uint32_t different_name; /* the kernel after whose repeats memory was not the same first; 0: none */
	int64_t spent_ns;	 /* in bursts, on the host */
	int64_t busy_ns;	 /* of all accounts */
};

KWHY_MUST_USE enum kwhy_status kwhy_probing_init(struct kwhy_probing *probing, struct kwhy_error *error);
void kwhy_probing_done(struct kwhy_probing *probing);

/* Of an earlier run only what its repeats taught counts: bursts and their time by account. */
KWHY_MUST_USE enum kwhy_status kwhy_probing_add(struct kwhy_probing *probing,
	const struct kwhy_recording *recording, bool is_earlier, struct kwhy_error *error);

/* The account of a kernel; NULL: no recording has it. */
const struct kwhy_probing_account *kwhy_probing_find(
	const struct kwhy_probing *probing, const char *name, uint32_t blocks, uint16_t threads_per_block);

/* Some accounts, and the program's own time in them. */
struct kwhy_probing_part {
	const char *reason; /* why they were not probed, to follow "not probed: "; NULL: they were */
	size_t accounts;
	int64_t busy_ns;
};

/* Accounts that the program ran; of them those with repeats, those known within that half-width by the model
 * of base/probe_width.h, and those that only wait (base/waiting_kernel.h), which are never repeated. */
struct kwhy_probing_parts {
	struct kwhy_probing_part all, probed, known, waiting;
};
struct kwhy_probing_parts kwhy_probing_count(const struct kwhy_probing *probing, double within_ratio);

/* Of the time in which kernels did not only wait, the share of those known. */
static inline double kwhy_probing_known_of_work(const struct kwhy_probing_parts *parts)
{
	const int64_t work_ns = parts->all.busy_ns - parts->waiting.busy_ns;

	return work_ns > 0 ? (double)parts->known.busy_ns / (double)work_ns : 0;
}

/* What a report calls known; the default of kwhy probe --within. */
#define KWHY_PROBING_WITHIN_RATIO 0.05

/* Those without repeats by reason, the largest time first; gives how many reasons, at most `most`. */
size_t kwhy_probing_list_unprobed(
	const struct kwhy_probing *probing, struct kwhy_probing_part *out, size_t most);

#endif
