/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_FINDING_H
#define KWHY_MODEL_FINDING_H

#include "base/arena.h"
#include "model/ledger.h"
#include "model/projection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An interval of the recording that shows the waste. */
struct kwhy_evidence {
	int64_t start_ns, end_ns;
	const char *what; /* what happened: "cudaMemcpyAsync h2d 8 B, then cudaStreamSynchronize 7.0 us" */
	/* Full names of the kernels in `what`, in order, for reports that shorten them; NULL: no kernel. */
	const char *kernels[2];
};

/*
 * What the cure would save. If the cure is a change that `kwhy whatif` can simulate on this recording, the
 * figures and the bound are those of a projection with this change alone; otherwise they are an upper bound.
 * Energies are KWHY_UNKNOWN_NJ if unknown.
 */
struct kwhy_saving {
	int64_t time_ns;
	int64_t energy_nj, low_nj, high_nj;
	const char *assumption;
	enum kwhy_bound bound;
	bool frees_device; /* time_ns becomes free on the device for other work; the run is not shorter */
};

/* Source position of the part of the program that causes the waste. */
struct kwhy_finding_place {
	const char *words; /* the position as reports show it: "backward (train.py:18)"; NULL: unknown */
	const char *file;  /* path as recorded; NULL: unknown */
	uint32_t line;	   /* 0: unknown */
};

/* One kind of waste. `device` is KWHY_NONE for waste on the host or across devices. */
struct kwhy_finding {
	const char *id;	   /* "small-copies" */
	const char *title; /* the waste in one line, with its numbers: the headline and, if it is known, the
			      source position */
	const char *headline; /* "Launch-bound: 98 times the device waited for a launch, 1.34 s" */
	struct kwhy_finding_place place;
	uint32_t device;
	uint64_t count;
	int64_t time_ns;			  /* time that the waste takes in the recorded run */
	int64_t category_ns[KWHY_CATEGORY_COUNT]; /* parts of time_ns by category of the device's time */
	/* energy that the waste takes in the recorded run; KWHY_UNKNOWN_NJ: unknown */
	int64_t energy_nj, low_nj, high_nj;
	struct kwhy_evidence *evidence;
	size_t evidence_count;
	const char *cure;
	const char *change; /* id of the change of `kwhy whatif` that cures this finding; "": none does; NULL:
			       the first row of kwhy_whatif_changes whose `finding` is this finding's id, if
			       there is one */
	struct kwhy_saving saving;
	/*
	 * If one change cures this finding and others, the saving of the change is counted only once, at
	 * the finding with this id, and the saving of this finding is 0. NULL: the saving is counted here.
	 */
	const char *credited_to;
	bool leads; /* true: the other devices wait for the device of this finding, and the finding is listed
		       before all findings without this mark, even if they save more */
	int64_t least_ns; /* the finding is dropped if it saves less time than least_ns and less energy than
			     least_nj */
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

/*
 * Whether the cure saves more time or energy than the waste takes. This is possible because a change may
 * shorten other work, too; reports then say so.
 */
static inline bool kwhy_finding_saves_more_than_it_costs(const struct kwhy_finding *finding)
{
	const struct kwhy_saving *saving = &finding->saving;

	return saving->time_ns > finding->time_ns ||
		(finding->energy_nj != KWHY_UNKNOWN_NJ && saving->energy_nj != KWHY_UNKNOWN_NJ &&
			saving->energy_nj > finding->energy_nj);
}

/*
 * Findings in the order of reports: those with `leads` first, then by the energy that the cure saves, the
 * largest first. If the energy of any finding is unknown, all are sorted by the time that the cure saves
 * instead.
 */
struct kwhy_findings {
	struct kwhy_arena arena;
	struct kwhy_finding *items;
	size_t count, capacity;
};

#endif
