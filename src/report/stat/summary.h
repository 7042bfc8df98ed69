/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_STAT_SUMMARY_H
#define KWHY_REPORT_STAT_SUMMARY_H

#include "base/arena.h"
#include "base/status.h"
#include "model/stat.h"
#include "report/columns.h"

struct kwhy_stat_domain_figures {
	struct kwhy_stat_figure energy_j;
	double peak_w; /* highest power in any counted run, W; NAN: unknown */
	/*
	 * energy that a context without work would have drawn above the measured idle power, as the mean over
	 * the counted runs, J; NAN: unknown
	 */
	double context_j;
	/*
	 * half-width of the meters' interval of a run's energy, as a share of that energy; mean over the
	 * runs
	 */
	double meter_half_ratio;
	/*
	 * number of runs with which the half-width of the mean energy would be at most 10 % of it; 0: the
	 * half-width already is that small, or the number is unknown or too large
	 */
	uint64_t runs_needed;
	/* number of counted runs whose energy is unknown; means over energies leave them out */
	size_t unmeasured;
	/*
	 * basis: how the energy was measured; missing: reason why the energy of a run is unknown, NULL if
	 * there is none. Each is that of the last counted run that has one
	 */
	const char *basis, *missing;
};

/*
 * What is computed once from all runs for the outputs of kwhy stat: the number of counted runs, figures of
 * domains, and notes. All pointers lie in its arena.
 */
struct kwhy_stat_summary {
	struct kwhy_arena arena;
	size_t counted;
	double max_rss_bytes;
	/* [2 * run_count] scratch memory of kwhy_stat_mean() and kwhy_stat_ratio() */
	double *values;
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
 * A row for the columns in stat/columns.h: a domain, some work in a domain or in all, a run, or a run's
 * energy in a domain. Members that the row does not have are 0.
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

/* A value of one run with its meter's interval. */
struct kwhy_stat_sample {
	double value, low, high; /* low and high: ends of the interval; NAN: unknown */
};
typedef struct kwhy_stat_sample kwhy_stat_sample_of(
	const struct kwhy_stat_row *row, const struct kwhy_stat_run *run);

kwhy_stat_sample_of kwhy_stat_gross; /* gross energy of the row's domain, J */

/* Mean of a value over the counted runs in which it is known. */
struct kwhy_stat_figure kwhy_stat_mean(const struct kwhy_stat_row *row, kwhy_stat_sample_of *sample);
/*
 * Ratio of two values: the sum of `above` divided by the sum of `below`, over the counted runs in which both
 * are known. Used for joules per unit, units per second and units per joule.
 */
struct kwhy_stat_figure kwhy_stat_ratio(
	const struct kwhy_stat_row *row, kwhy_stat_sample_of *above, kwhy_stat_sample_of *below);

/* Half of the interval's width, divided by the absolute mean; NAN: unknown. */
double kwhy_stat_half_ratio(const struct kwhy_stat_figure *figure);

/* Adds the notes to the summary. kwhy_stat_summary_make() calls it. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_notes_add(
	const struct kwhy_stat *stat, struct kwhy_stat_summary *summary, struct kwhy_error *error);

#endif
