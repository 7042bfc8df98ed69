/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_RUN_READ_H
#define KWHY_REPORT_RUN_READ_H

#include "base/arena.h"
#include "base/statistics.h"
#include "base/status.h"
#include "model/range_overlaps.h"

#include <stdbool.h>
#include <stdint.h>

/* Some work of a run; over several runs of a stat.json the mean of those that stated it. */
struct kwhy_read_work {
	const char *unit; /* "tokens" */
	double count;
	double each_j, each_low_j, each_high_j, each_s; /* a unit of it, of the same runs; NAN: not known */
};

/* A stretch of a run that has a name: a range of a report. */
struct kwhy_read_phase {
	const char *name;
	double joules, low_j, high_j, seconds; /* NAN: not known; seconds in which at least one of it runs */
	bool is_distinct; /* the report tells of the others that hold time of the same devices; and: */
	uint64_t overlaps[KWHY_RANGE_OVERLAPS_WORDS]; /* bits: their places among the phases, and its own
							 where it holds some time twice */
	uint64_t beside[KWHY_RANGE_OVERLAPS_WORDS];   /* of those at the same time, but on other devices */
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
 * What a model needs of one run: of a report.json what its devices took from the first start to the last end,
 * of a stat.json the means over its runs, whole commands. Intervals are of 95 %, a report's
 * widened to that. NAN is not known; strings lie in the arena.
 */
struct kwhy_read_run {
	struct kwhy_arena arena;
	const char *label; /* its file */
	bool is_report;	   /* joules from the first start to the last end; else of a whole command */
	bool is_modelled;  /* joules nobody metered */
	double joules, low_j, high_j, seconds;
	double unmetered_j; /* of joules, estimated where the run is unmetered; 0: none */
	struct kwhy_read_work *work;
	struct kwhy_read_phase *phases; /* ranges by name, of a report */
	size_t work_count, phase_count;
};

/* KWHY_E_INPUT when `json` is neither. kwhy_read_run_done() also after a failure. */
KWHY_MUST_USE enum kwhy_status kwhy_read_run_of(struct kwhy_read_run *run, const char *label,
	const char *json, size_t length, struct kwhy_error *error);
void kwhy_read_run_done(struct kwhy_read_run *run);

/* The work in that unit: of `stated` units a run, else, where that is NAN, as the file tells; count NAN:
 * neither. */
struct kwhy_read_work kwhy_read_work_of(const struct kwhy_read_run *run, const char *unit, double stated);

#endif
