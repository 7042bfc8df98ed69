/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_STAT_COLUMNS_H
#define KWHY_REPORT_STAT_COLUMNS_H

#include "report/columns.h"
#include "report/stat/summary.h"

/*
 * The columns of `kwhy stat`, from which text, JSON, CSV and `kwhy compare` of two results are written. Rows
 * are struct kwhy_stat_row; that of the cost is struct kwhy_stat.
 */
extern const struct kwhy_columns kwhy_stat_time_columns, kwhy_stat_domain_columns, kwhy_stat_idle_columns,
	kwhy_stat_work_columns, kwhy_stat_work_domain_columns, kwhy_stat_run_columns,
	kwhy_stat_run_domain_columns, kwhy_stat_cost_columns;

/* The row of a domain, of some work, of both, or of neither: KWHY_STAT_NO_DOMAIN, KWHY_STAT_NO_WORK. */
struct kwhy_stat_row kwhy_stat_row_of(
	const struct kwhy_stat *stat, const struct kwhy_stat_summary *summary, size_t d, size_t w);
/* The row of a run, or of its energy in a domain. */
struct kwhy_stat_row kwhy_stat_run_row_of(const struct kwhy_stat *stat, size_t r, size_t d);

/* A single value, with the interval of its meter where there is one; NAN: unknown. */
struct kwhy_stat_figure kwhy_stat_single(double value, double low, double high);

#endif
