/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_PROBING_H
#define KWHY_MODEL_PROBING_H

#include "model/recording.h"

/*
 * What kwhy probe did with the kernels of a program, summed over finished recordings by account. An account
 * is a kernel's name with its blocks and its threads per block. A burst is a series of repeats of one
 * launch. Copies and memsets have accounts without a grid, and only if they have bursts.
 */
struct kwhy_probing_account {
	uint64_t bursts; /* bursts that repeat the kernel; bursts of only the copies that restore its memory
			    do not count */
	int64_t busy_ns; /* time of the program's own launches */
	int64_t repeated_ns; /* time of the repeats, as kwhy probe reports it */
	uint64_t reason_launches;
	/*
	 * of the reasons why launches of the kernel were not repeated, the one with the most launches
	 * (reason_launches); NULL: no reason was recorded
	 */
	const char *reason;
	uint32_t name, next;
	uint32_t blocks;
	uint16_t threads_per_block;
	bool is_of_graph; /* at least one of its launches was by a graph */
};

struct kwhy_probing {
	struct kwhy_names names;
	struct kwhy_probing_account *accounts;
	uint32_t *first_of_name; /* index + 1 of the first account of each name; 0: no account. The member
				    `next` of an account is index + 1 of the next account of the same name */
	size_t count, capacity, name_capacity;

	/* Sums over the recordings that were added with is_earlier false. */
	uint64_t bursts, repeats, checked,
		different; /* bursts: number of bursts that have repeats; repeats: number of these repeats;
			      checked: number of bursts before and after which memory was compared;
			      different: number of checked bursts in which memory differed */
	uint32_t different_name; /* name of the first kernel after whose repeats memory differed; 0: it never
				    differed */
	int64_t spent_ns; /* sum of the lengths of all bursts, including those that ended without a repeat */
	int64_t busy_ns;  /* sum of busy_ns over the accounts */
};

KWHY_MUST_USE enum kwhy_status kwhy_probing_init(struct kwhy_probing *probing, struct kwhy_error *error);
void kwhy_probing_done(struct kwhy_probing *probing);

/*
 * Adds a finished recording. Of a recording of an earlier run (is_earlier) only the members bursts and
 * repeated_ns of the accounts are added.
 */
KWHY_MUST_USE enum kwhy_status kwhy_probing_add(struct kwhy_probing *probing,
	const struct kwhy_recording *recording, bool is_earlier, struct kwhy_error *error);

/* The account of a kernel; NULL: the kernel is in no recording. */
const struct kwhy_probing_account *kwhy_probing_find(
	const struct kwhy_probing *probing, const char *name, uint32_t blocks, uint16_t threads_per_block);

/* A part of the accounts: their number, and the time of the program's own launches of them. */
struct kwhy_probing_part {
	/*
	 * why the accounts were not repeated, as text after "not probed: "; NULL: the part is not by reason
	 */
	const char *reason;
	size_t accounts;
	int64_t busy_ns;
};

/*
 * Parts of the accounts, which may overlap. all: accounts that the program launched. Of these, probed: kwhy
 * probe repeated the kernel; known: the relative half-width of the 90 % interval of its power, estimated by
 * base/probe_width.h, is at most within_ratio; waiting: the kernel only waits (base/waiting_kernel.h) and is
 * never repeated.
 */
struct kwhy_probing_parts {
	struct kwhy_probing_part all, probed, known, waiting;
};
struct kwhy_probing_parts kwhy_probing_count(const struct kwhy_probing *probing, double within_ratio);

/* Time of the known accounts, divided by the time of all accounts that do not only wait. */
static inline double kwhy_probing_known_of_work(const struct kwhy_probing_parts *parts)
{
	const int64_t work_ns = parts->all.busy_ns - parts->waiting.busy_ns;

	return work_ns > 0 ? (double)parts->known.busy_ns / (double)work_ns : 0;
}

/* Relative half-width up to which reports call a power known; the default of kwhy probe --within. */
#define KWHY_PROBING_WITHIN_RATIO 0.05

/*
 * Lists the accounts without repeats by reason, the largest time first; returns the number of reasons, at
 * most `most`.
 */
size_t kwhy_probing_list_unprobed(
	const struct kwhy_probing *probing, struct kwhy_probing_part *out, size_t most);

#endif
