/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_JOB_H
#define KWHY_REPORT_JOB_H

#include "digest/job.h"
#include "report/report.h"

/*
 * The report on a job of many ranks (docs/scale.md). CSV is the only form that has a row for each rank.
 */

/* Text of one screen; with style->verbose, more rows of each table. */
KWHY_MUST_USE enum kwhy_status kwhy_job_text(const struct kwhy_job *job, const struct kwhy_text_style *style,
	struct kwhy_text *out, struct kwhy_error *error);
/* JSON of schema "kwhy.job/1". */
KWHY_MUST_USE enum kwhy_status kwhy_job_json(
	const struct kwhy_job *job, struct kwhy_text *out, struct kwhy_error *error);
/* The page: the same JSON with the times of each rank by category, for a heat map. */
KWHY_MUST_USE enum kwhy_status kwhy_job_page(
	const struct kwhy_job *job, struct kwhy_text *out, struct kwhy_error *error);
/*
 * CSV with a row for each rank, collective, account or finding. KWHY_E_USAGE: `what` is none of "ranks",
 * "collectives", "accounts" and "findings".
 */
KWHY_MUST_USE enum kwhy_status kwhy_job_csv(
	const struct kwhy_job *job, const char *what, struct kwhy_text *out, struct kwhy_error *error);

/* How a value is distributed over those `count` ranks that have it. All numbers are NAN if `count` is 0. */
struct kwhy_job_spread {
	double least, low, median, high, most; /* low and high are the 10 % and 90 % quantiles */
	size_t most_rank;		       /* index in job->ranks of the rank with the largest value */
	size_t count;
};

/* The value of a rank; NAN: unknown. */
typedef double kwhy_job_value(const struct kwhy_job_rank *rank, const void *context);

KWHY_MUST_USE enum kwhy_status kwhy_job_spread_of(const struct kwhy_job *job, kwhy_job_value *value,
	const void *context, struct kwhy_job_spread *out, struct kwhy_error *error);

/* The values whose distributions over the ranks the report shows. */
struct kwhy_job_measure {
	const char *name, *unit; /* name in JSON, and unit: "ns", "nj" or "ratio" */
	const char *title;	 /* heading in the text report */
	kwhy_job_value *value;
};
extern const struct kwhy_job_measure kwhy_job_measures[];
extern const size_t kwhy_job_measure_count;

/*
 * A value for kwhy_job_spread_of(): the rank's time in a category divided by the rank's span. `context`
 * points to the category, a uint32_t.
 */
double kwhy_job_category_ratio(const struct kwhy_job_rank *rank, const void *context);

/*
 * Indices in job->ranks, sorted by the time for which the rank made others wait in collectives (caused_ns),
 * longest first. The caller frees them; NULL: out of memory.
 */
uint32_t *kwhy_job_ranks_by_caused(const struct kwhy_job *job);
/*
 * Indices of the compared collectives, sorted by the time that ranks waited in them, longest first. *count
 * receives their number. The caller frees them; NULL: out of memory.
 */
uint32_t *kwhy_job_collectives_by_waiting(const struct kwhy_job *job, size_t *count);

#endif
