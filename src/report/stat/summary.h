/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_STAT_SUMMARY_H
#define KWHY_REPORT_STAT_SUMMARY_H

#include "base/arena.h"
#include "base/status.h"
#include "model/stat.h"
#include "report/columns.h"

struct kwhy_stat_domain_figures {
	struct kwhy_stat_figure energy_j;
	double peak_w; /* highest power in any run, W */
	/* part of a run's net energy that a context alone would have drawn, J */
	double context_j;
	/*
	 * half-width of the meters' interval of a run's energy, as a share of that energy; mean over the
	 * runs
	 */
	double meter_half_ratio;
	/*
	 * number of runs that would bring the relative half-width to 10 %; 0: it is reached already, or the
	 * number is unknown
	 */
	uint64_t runs_needed;
	size_t unmeasured; /* number of runs that count in means although their energy is unknown */
	/*
	 * basis of the energy, and reason why the energy is missing; each is taken from the last run that
	 * states it
	 */
	const char *basis, *missing;
};

/* Intermediate results from which figures are computed when needed. All pointers lie in its arena. */
struct kwhy_stat_summary {
	struct kwhy_arena arena;
	size_t counted;
	double max_rss_bytes;
	double *values;				  /* scratch memory for two values of each run */
	struct kwhy_stat_domain_figures *domains; /* [domain_count] figures of each domain */
	/* [note_count] sentences about what is missing or doubtful */
	char **notes;
	size_t note_count, note_space;
};

KWHY_MUST_USE enum kwhy_status kwhy_stat_summary_make(
	const struct kwhy_stat *stat, struct kwhy_stat_summary *out, struct kwhy_error *error);
void kwhy_stat_summary_done(struct kwhy_stat_summary *summary);

#define KWHY_STAT_NO_WORK SIZE_MAX
/*
 * A row of the tables in stat/columns.h. It describes a domain, some work in a domain, a run, or a run's
 * energy in a domain. Fields that do not apply to the row are 0.
 */
struct kwhy_stat_row {
	const struct kwhy_stat *stat;
	const struct kwhy_stat_summary *summary;
	size_t d, w; /* index of the domain, and index of the work */
	double max_rss_bytes;
	struct kwhy_stat_domain domain;
	struct kwhy_stat_domain_figures figures;
	struct kwhy_stat_figure idle_w;
	int64_t idle_processes;
	struct kwhy_stat_work work;
	struct kwhy_stat_run run;
	int64_t signal;
	struct kwhy_stat_energy energy;
	struct kwhy_stat_figure energy_j;
	double net_j;
};

/* A value of one run, with the interval that the meter's uncertainty gives. */
struct kwhy_stat_sample {
	double value, low, high; /* low and high: ends of the interval; NAN: unknown */
};
typedef struct kwhy_stat_sample kwhy_stat_sample_of(
	const struct kwhy_stat_row *row, const struct kwhy_stat_run *run);

kwhy_stat_sample_of kwhy_stat_gross; /* gross energy of the row's domain, J */

/* Mean of a value over the runs that count. */
struct kwhy_stat_figure kwhy_stat_mean(const struct kwhy_stat_row *row, kwhy_stat_sample_of *sample);
/*
 * Ratio of two values: the sum of `above` divided by the sum of `below`, both over the runs that count and
 * have both values. Used for joules per unit, units per second and units per joule.
 */
struct kwhy_stat_figure kwhy_stat_ratio(
	const struct kwhy_stat_row *row, kwhy_stat_sample_of *above, kwhy_stat_sample_of *below);

/* Half of the interval's width, divided by the mean; NAN: unknown. */
double kwhy_stat_half_ratio(const struct kwhy_stat_figure *figure);

/* Adds the notes to the summary. kwhy_stat_summary_make() calls it. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_notes_add(
	const struct kwhy_stat *stat, struct kwhy_stat_summary *summary, struct kwhy_error *error);

#endif
