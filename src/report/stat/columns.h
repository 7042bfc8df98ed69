/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_STAT_COLUMNS_H
#define KWHY_REPORT_STAT_COLUMNS_H

#include "report/columns.h"
#include "report/stat/summary.h"

/*
 * Columns of `kwhy stat`, from which text, JSON, CSV and the `kwhy compare` of two results are written.
 * Rows are struct kwhy_stat_row; the row that states what measuring cost is struct kwhy_stat.
 */
extern const struct kwhy_columns kwhy_stat_time_columns, kwhy_stat_domain_columns, kwhy_stat_idle_columns,
	kwhy_stat_work_columns, kwhy_stat_work_domain_columns, kwhy_stat_run_columns,
	kwhy_stat_run_domain_columns, kwhy_stat_cost_columns;

/* The row of a domain (or KWHY_STAT_NO_DOMAIN) and of some work (or KWHY_STAT_NO_WORK). */
struct kwhy_stat_row kwhy_stat_row_of(
	const struct kwhy_stat *stat, const struct kwhy_stat_summary *summary, size_t d, size_t w);
/* The row of a run, or of a run's energy in a domain. */
struct kwhy_stat_row kwhy_stat_run_row_of(const struct kwhy_stat *stat, size_t r, size_t d);

/* A figure of a single run, whose interval is that of the meter; NAN: value or interval is unknown. */
struct kwhy_stat_figure kwhy_stat_single(double value, double low, double high);

#endif
