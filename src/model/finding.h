/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_FINDING_H
#define KWHY_MODEL_FINDING_H

#include "base/arena.h"
#include "model/ledger.h"
#include "model/projection.h"

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

/*
 * What the cure would bring. Where the recording was played again with it, these are the figures and the
 * bound that a plan of this one change states. Energies KWHY_UNKNOWN_NJ where unknown.
 */
struct kwhy_saving {
	int64_t time_ns;
	int64_t energy_nj, low_nj, high_nj;
	const char *assumption;
	enum kwhy_bound bound;
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
	const char *change; /* id of the change of `kwhy whatif` that is the cure; "": none is; NULL: the one
			       that is for all findings of this id, if any */
	struct kwhy_saving saving;
	bool leads;	  /* All wait for what it names: it comes before what saves more on one of them. */
	int64_t least_ns; /* A saving of less time, and of less energy than least_nj, is not worth a finding.
			   */
	double least_nj;
};

static inline bool kwhy_finding_is_worth_it(const struct kwhy_finding *finding)
{
	const struct kwhy_saving *saving = &finding->saving;

	if (saving->time_ns > 0 && saving->time_ns >= finding->least_ns)
		return true;
	return saving->energy_nj != KWHY_UNKNOWN_NJ && saving->energy_nj > 0 &&
		(double)saving->energy_nj >= finding->least_nj;
}

/* Sorted by possible saving, largest first. */
struct kwhy_findings {
	struct kwhy_arena arena;
	struct kwhy_finding *items;
	size_t count, capacity;
};

#endif
