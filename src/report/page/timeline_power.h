/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAGE_TIMELINE_POWER_H
#define KWHY_REPORT_PAGE_TIMELINE_POWER_H

#include "report/report.h"

#include <jansson.h>

/*
 * The interval that the timeline shows: from start to end of the recording or, if these are equal because no
 * activity or call was recorded, from the first to the last power reading. Without readings it is that of the
 * recording.
 */
void kwhy_timeline_window(const struct kwhy_recording *recording, int64_t *out_start_ns, int64_t *out_end_ns);

/*
 * Return the JSON descriptions of curves in the timeline container (docs/formats/page.md) and append their
 * columns to `columns`: in the order of the functions, metered powers, the powers that the model computes,
 * and allocated memory, each of the devices that are shown. Times are relative to the timeline's start.
 */
json_t *kwhy_timeline_power(
	const struct kwhy_report *report, const bool *is_shown, struct kwhy_text *columns);
json_t *kwhy_timeline_model(
	const struct kwhy_report *report, const bool *is_shown, struct kwhy_text *columns);
json_t *kwhy_timeline_memory(
	const struct kwhy_report *report, const bool *is_shown, struct kwhy_text *columns);

#endif
