/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAGE_TIMELINE_H
#define KWHY_REPORT_PAGE_TIMELINE_H

#include "report/report.h"

/*
 * Largest number of activities and calls for which the page shows every one of them. If there are more, the
 * page shows bins, and single activities in some windows.
 */
#define KWHY_TIMELINE_EXACT_ROWS 2000000

/*
 * Appends the timeline container of docs/formats/page.md to `out`. It has the tracks of those devices for
 * which `is_shown`, [device_count], is true, and those of their processes.
 */
KWHY_MUST_USE enum kwhy_status kwhy_report_timeline(const struct kwhy_report *report, const bool *is_shown,
	size_t exact_rows, struct kwhy_text *out, struct kwhy_error *error);

#endif
