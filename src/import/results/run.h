/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RESULTS_RUN_H
#define KWHY_IMPORT_RESULTS_RUN_H

#include "base/arena.h"
#include "base/statistics.h"
#include "base/status.h"
#include "model/range_overlaps.h"

#include <stdbool.h>
#include <stdint.h>

/* Work of one unit in a run; in a stat.json the mean over the runs that stated it. */
struct kwhy_read_work {
	const char *unit; /* "tokens" */
	double count;
	double each_j, each_low_j, each_high_j, each_s; /* for one unit, over the same runs; NAN: unknown */
};

/* A named interval of a run: a range of a report. */
struct kwhy_read_phase {
	const char *name;
	double joules, low_j, high_j,
		seconds;  /* NAN: unknown; seconds in which at least one range of the name runs */
	bool is_distinct; /* the report states which other phases overlap it on the same devices, so the two
			     fields below are known */
	uint64_t overlaps[KWHY_RANGE_OVERLAPS_WORDS]; /* bit i: phase i overlaps it on a device; its own bit
							 is set where its ranges overlap each other */
	uint64_t beside[KWHY_RANGE_OVERLAPS_WORDS];   /* bit i: phase i runs at the same time, but on other
							 devices */
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
 * Figures of one run for a model. A report.json gives those of its devices from first start to last end, a
 * stat.json the means over its runs of the whole command. Intervals are of 95 %; a report's are widened to
 * that. NAN: unknown. Strings lie in the arena.
 */
struct kwhy_read_run {
	struct kwhy_arena arena;
	const char *label; /* name of its file */
	bool is_report;	   /* joules are from first start to last end; else of a whole command */
	bool is_modelled;  /* joules are of assumed powers, not metered */
	double joules, low_j, high_j, seconds;
	double unmetered_j; /* unmetered part of joules, estimated; 0: all was metered */
	struct kwhy_read_work *work;
	struct kwhy_read_phase *phases; /* ranges of a report, by name */
	size_t work_count, phase_count;
};

/* KWHY_E_INPUT: `json` is neither. Call kwhy_read_run_done() after a failure, too. */
KWHY_MUST_USE enum kwhy_status kwhy_read_run_of(struct kwhy_read_run *run, const char *label,
	const char *json, size_t length, struct kwhy_error *error);
void kwhy_read_run_done(struct kwhy_read_run *run);

/*
 * The work in that unit: `stated` units a run, or where that is NAN the file's figure. count NAN: neither is
 * known.
 */
struct kwhy_read_work kwhy_read_work_of(const struct kwhy_read_run *run, const char *unit, double stated);

#endif
