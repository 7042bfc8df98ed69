/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_STAT_COLUMNS_H
#define KWHY_REPORT_STAT_COLUMNS_H

#include "report/columns.h"
#include "report/stat/summary.h"

/*
 * Columns of `kwhy stat`, from which text, JSON, CSV and the comparison of two results by `kwhy compare` are
 * written. A row is a struct kwhy_stat_row; the row of kwhy_stat_cost_columns, which shows what measuring
 * cost, is the struct kwhy_stat.
 */
extern const struct kwhy_columns kwhy_stat_time_columns, kwhy_stat_domain_columns, kwhy_stat_idle_columns,
	kwhy_stat_work_columns, kwhy_stat_work_domain_columns, kwhy_stat_run_columns,
	kwhy_stat_run_domain_columns, kwhy_stat_cost_columns;

/*
 * Makes the row of the figures over all runs for the domain with index d (or KWHY_STAT_NO_DOMAIN) and the
 * work with index w (or KWHY_STAT_NO_WORK).
 */
struct kwhy_stat_row kwhy_stat_row_of(
	const struct kwhy_stat *stat, const struct kwhy_stat_summary *summary, size_t d, size_t w);
/*
 * Makes the row of the run with index r; If d is the index of a domain, the row also has the energy of the
 * run in this domain.
 */
struct kwhy_stat_row kwhy_stat_run_row_of(const struct kwhy_stat *stat, size_t r, size_t d);

/*
 * A figure of a single run with the interval of its meter, [low, high]. A `value` of NAN is unknown; low and
 * high are NAN if there is no interval.
 */
struct kwhy_stat_figure kwhy_stat_single(double value, double low, double high);

#endif
