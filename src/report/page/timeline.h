/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAGE_TIMELINE_H
#define KWHY_REPORT_PAGE_TIMELINE_H

#include "report/report.h"

/*
 * Largest number of activities and calls in all for which the page has every one of them. If there are more,
 * the page has sums for equal bins of time, and single activities in some windows only.
 */
#define KWHY_TIMELINE_EXACT_ROWS 2000000

/*
 * Appends the timeline container of docs/formats/page.md to `out`, with the tracks of the devices for which
 * `is_shown`, [device_count], is true, and of the processes that used them. exact_rows: see
 * KWHY_TIMELINE_EXACT_ROWS.
 */
KWHY_MUST_USE enum kwhy_status kwhy_report_timeline(const struct kwhy_report *report, const bool *is_shown,
	size_t exact_rows, struct kwhy_text *out, struct kwhy_error *error);

#endif
