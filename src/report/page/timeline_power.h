/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAGE_TIMELINE_POWER_H
#define KWHY_REPORT_PAGE_TIMELINE_POWER_H

#include "report/report.h"

#include <jansson.h>

/*
 * The time that the timeline shows: that of activities and calls or, where none was recorded, of the power
 * readings. Both ends are those of the recording if it has neither.
 */
void kwhy_timeline_window(const struct kwhy_recording *recording, int64_t *out_start_ns, int64_t *out_end_ns);

/*
 * These functions return JSON descriptions of curves in the timeline container (docs/formats/page.md) and
 * append their columns to `columns`. Times are relative to the timeline's start.
 */
json_t *kwhy_timeline_power(
	const struct kwhy_report *report, const bool *is_shown, struct kwhy_text *columns);
json_t *kwhy_timeline_model(
	const struct kwhy_report *report, const bool *is_shown, struct kwhy_text *columns);
json_t *kwhy_timeline_memory(
	const struct kwhy_report *report, const bool *is_shown, struct kwhy_text *columns);

#endif
