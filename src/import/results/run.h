/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RESULTS_RUN_H
#define KWHY_IMPORT_RESULTS_RUN_H

#include "base/arena.h"
#include "base/statistics.h"
#include "base/status.h"
#include "model/range_overlaps.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Work of a run, counted in one unit. From a stat.json it is the mean of the runs that stated work in this
 * unit.
 */
struct kwhy_read_work {
	const char *unit; /* name of the unit: "tokens" */
	double count;
	double each_j, each_low_j, each_high_j, each_s; /* energy with its 95 % interval, J, and time, s, for
							   one unit of work; NAN: unknown */
};

/* A phase of a run: all ranges of one name. */
struct kwhy_read_phase {
	const char *name;
	double joules, low_j, high_j,
		seconds; /* time in which at least one range of the phase runs; NAN: unknown */
	/* The report states which phases overlap; only then are `overlaps` and `beside` known. */
	bool is_distinct;
	/*
	 * Bit i is set if phase i and this phase run at the same time on the same device. The bit of the
	 * phase itself is set if its own ranges overlap each other.
	 */
	uint64_t overlaps[KWHY_RANGE_OVERLAPS_WORDS];
	/* Bit i is set if phase i and this phase run at the same time on different devices. */
	uint64_t beside[KWHY_RANGE_OVERLAPS_WORDS];
};

static inline bool kwhy_read_phase_overlaps(const struct kwhy_read_phase *phase, size_t place)
{
	return place < KWHY_RANGE_OVERLAPS_MAX && (phase->overlaps[place / 64] >> place % 64 & 1);
}

static inline bool kwhy_read_phase_beside(const struct kwhy_read_phase *phase, size_t place)
{
	return place < KWHY_RANGE_OVERLAPS_MAX && (phase->beside[place / 64] >> place % 64 & 1);
}

/*
 * Figures of one run, from which kwhy model makes models. A report.json gives the energy of its devices from
 * the first start to the last end; a stat.json gives means over its runs, from the start to the end of the
 * command. Intervals are of 95 %; those of a report, of 90 %, are widened. NAN: unknown. Strings are in the
 * arena.
 */
struct kwhy_read_run {
	struct kwhy_arena arena;
	const char *label; /* name of the file that was read */
	bool is_report;	   /* the figures are from a report.json; false: from a stat.json */
	bool is_modelled;  /* joules are computed from assumed powers, not metered */
	double joules, low_j, high_j, seconds;
	double unmetered_j; /* the part of `joules` that was estimated, not metered; 0: all was metered */
	struct kwhy_read_work *work;
	struct kwhy_read_phase *phases; /* one for each name of a range in a report */
	size_t work_count, phase_count;
};

/*
 * Reads a run. KWHY_E_INPUT: `json` is neither a report nor the result of kwhy stat. Call
 * kwhy_read_run_done() after a failure, too.
 */
KWHY_MUST_USE enum kwhy_status kwhy_read_run_of(struct kwhy_read_run *run, const char *label,
	const char *json, size_t length, struct kwhy_error *error);
void kwhy_read_run_done(struct kwhy_read_run *run);

/*
 * The run's work in `unit`. If `stated` is not NAN, it is the number of units in a run, in place of the
 * number in the file. The result's count is NAN if neither is known.
 */
struct kwhy_read_work kwhy_read_work_of(const struct kwhy_read_run *run, const char *unit, double stated);

#endif
