/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAGE_TIMELINE_POWER_H
#define KWHY_REPORT_PAGE_TIMELINE_POWER_H

#include "report/report.h"

#include <jansson.h>

/*
 * These functions return JSON descriptions of curves in the timeline container (docs/formats/page.md) and
 * append their columns to `columns`. Times are relative to the recording's start.
 */
json_t *kwhy_timeline_power(
	const struct kwhy_report *report, const bool *is_shown, struct kwhy_text *columns);
json_t *kwhy_timeline_model(
	const struct kwhy_report *report, const bool *is_shown, struct kwhy_text *columns);
json_t *kwhy_timeline_memory(
	const struct kwhy_report *report, const bool *is_shown, struct kwhy_text *columns);

#endif
