/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_STAT_SUMMARY_H
#define KWHY_REPORT_STAT_SUMMARY_H

#include "base/arena.h"
#include "base/status.h"
#include "model/stat.h"
#include "report/columns.h"

struct kwhy_stat_domain_figures {
	struct kwhy_stat_figure energy_j;
	double peak_w;		 /* highest power of any run */
	double context_j;	 /* part of a run's net energy that a context alone would have drawn */
	double meter_half_ratio; /* half-width of a run's energy from its meters, as a share of it; mean over
				    runs */
	uint64_t runs_needed;	 /* number of runs for an interval of 10 %; 0: it is reached, or cannot be
				    determined */
	size_t unmeasured;	 /* counted runs without a known energy */
	const char *basis, *missing; /* each of the last run that has one */
};

/* What the other figures are computed from when they are asked for. All pointers lie in its arena. */
struct kwhy_stat_summary {
	struct kwhy_arena arena;
	size_t counted;
	double max_rss_bytes;
	double *values;				  /* space for two values of each run */
	struct kwhy_stat_domain_figures *domains; /* [domain_count] */
	char **notes;				  /* sentences on what is missing or doubtful */
	size_t note_count, note_space;
};

KWHY_MUST_USE enum kwhy_status kwhy_stat_summary_make(
	const struct kwhy_stat *stat, struct kwhy_stat_summary *out, struct kwhy_error *error);
void kwhy_stat_summary_done(struct kwhy_stat_summary *summary);

#define KWHY_STAT_NO_WORK SIZE_MAX
/*
 * A row of the tables in stat/columns.h: a domain, some work in a domain, a run, or a run's energy in a
 * domain. What a row is not of is zero.
 */
struct kwhy_stat_row {
	const struct kwhy_stat *stat;
	const struct kwhy_stat_summary *summary;
	size_t d, w; /* indices of domain and work */
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

/* A run's value, with the meter's interval. */
struct kwhy_stat_sample {
	double value, low, high; /* NAN: unknown */
};
typedef struct kwhy_stat_sample kwhy_stat_sample_of(
	const struct kwhy_stat_row *row, const struct kwhy_stat_run *run);

kwhy_stat_sample_of kwhy_stat_gross; /* energy of the row's domain, J */

/* The mean of a value over the runs that count. */
struct kwhy_stat_figure kwhy_stat_mean(const struct kwhy_stat_row *row, kwhy_stat_sample_of *sample);
/* The ratio of the sums over the runs that count and have both: what a unit, a second or a watt takes. */
struct kwhy_stat_figure kwhy_stat_ratio(
	const struct kwhy_stat_row *row, kwhy_stat_sample_of *above, kwhy_stat_sample_of *below);

/* Half of the interval's width as a share of the mean; NAN: unknown. */
double kwhy_stat_half_ratio(const struct kwhy_stat_figure *figure);

/* Adds the notes. Called by kwhy_stat_summary_make(). */
KWHY_MUST_USE enum kwhy_status kwhy_stat_notes_add(
	const struct kwhy_stat *stat, struct kwhy_stat_summary *summary, struct kwhy_error *error);

#endif
