/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_STAT_SUMMARY_H
#define KWHY_REPORT_STAT_SUMMARY_H

#include "base/arena.h"
#include "base/statistics.h"
#include "base/status.h"
#include "model/stat.h"

/* Basis of an interval: the scatter of the runs, or the meter's uncertainty where there is one run. */
enum kwhy_stat_interval_basis { KWHY_STAT_BY_NONE, KWHY_STAT_BY_RUNS, KWHY_STAT_BY_METER };

const char *kwhy_stat_interval_basis_name(
	enum kwhy_stat_interval_basis basis); /* "runs"; NULL: no interval */

struct kwhy_stat_figure {
	struct kwhy_estimate estimate; /* 95 %; NAN: unknown */
	enum kwhy_stat_interval_basis basis;
};

struct kwhy_stat_domain_figures {
	struct kwhy_stat_figure energy_j, net_j, mean_w;
	double peak_w;		 /* highest power of any run */
	double context_j;	 /* part of a run's net energy that a context alone would have drawn */
	double meter_half_ratio; /* half-width of a run's energy from its meters, as a share of it; mean over
				    runs */
	uint64_t runs_needed;	 /* number of runs for an interval of 10 %; 0: it is reached, or cannot be
				    determined */
	size_t unmeasured;	 /* counted runs without a known energy */
	const char *basis, *missing; /* each of the last run that has one */
};

struct kwhy_stat_work_figures {
	struct kwhy_stat_figure count, per_s;
	struct kwhy_stat_figure *joules_per_unit, *units_per_joule; /* [domain_count] */
};

/*
 * Means over the runs that count. Ratios a unit, second or watt are of the sums over the runs that have both
 * figures. All pointers lie in its arena.
 */
struct kwhy_stat_summary {
	struct kwhy_arena arena;
	size_t counted;
	struct kwhy_stat_figure elapsed_s, user_s, system_s;
	double max_rss_bytes;
	struct kwhy_stat_domain_figures *domains; /* [domain_count] */
	struct kwhy_stat_work_figures *work;	  /* [work_count] */
	char **notes;				  /* sentences on what is missing or doubtful */
	size_t note_count, note_space;
};

KWHY_MUST_USE enum kwhy_status kwhy_stat_summary_make(
	const struct kwhy_stat *stat, struct kwhy_stat_summary *out, struct kwhy_error *error);
void kwhy_stat_summary_done(struct kwhy_stat_summary *summary);

/* Half of the interval's width as a share of the mean; NAN: unknown. */
double kwhy_stat_half_ratio(const struct kwhy_stat_figure *figure);

/* Adds the notes. Called by kwhy_stat_summary_make(). */
KWHY_MUST_USE enum kwhy_status kwhy_stat_notes_add(
	const struct kwhy_stat *stat, struct kwhy_stat_summary *summary, struct kwhy_error *error);

#endif
