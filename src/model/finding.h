/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_FINDING_H
#define KWHY_MODEL_FINDING_H

#include "base/arena.h"
#include "model/ledger.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place where the waste can be seen. */
struct kwhy_evidence {
	int64_t start_ns, end_ns;
	const char *what; /* "cudaMemcpyAsync h2d 8 B, then cudaStreamSynchronize 7.0 us" */
	/* Names of kernels within `what`, in their order and whole, for who must shorten them; NULL: none. */
	const char *kernels[2];
};

/* What the cure would bring: at most this, or this where it is projected. Energies KWHY_UNKNOWN_NJ where
 * unknown. */
struct kwhy_saving {
	int64_t time_ns;
	int64_t energy_nj, low_nj, high_nj;
	const char *assumption;
	bool is_projected; /* to be expected, by playing the recording without the waste; else a bound */
	bool frees_device; /* time_ns is the device's, free for others: the run is no shorter */
};

/* One kind of waste on one device (KWHY_NONE: on the host or across devices). */
struct kwhy_finding {
	const char *id;	   /* "small-copies" */
	const char *title; /* one line with its numbers */
	uint32_t device;
	uint64_t count;
	int64_t time_ns;			  /* what it costs now */
	int64_t category_ns[KWHY_CATEGORY_COUNT]; /* of that, by category of the device's time */
	int64_t energy_nj, low_nj, high_nj;	  /* KWHY_UNKNOWN_NJ where unknown */
	struct kwhy_evidence *evidence;
	size_t evidence_count;
	const char *cure;
	struct kwhy_saving saving;
};

/* Sorted by possible saving, largest first. */
struct kwhy_findings {
	struct kwhy_arena arena;
	struct kwhy_finding *items;
	size_t count, capacity;
};

#endif
