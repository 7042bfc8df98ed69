/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_OPENED_H
#define KWHY_REPORT_OPENED_H

#include "report/report.h"

#include <stdbool.h>

/*
 * Chooses the devices that a page shows in full. Up to KWHY_OPENED_MAX devices are all shown in full. Of
 * more, only the worst and the median one are, as a page of a thousand devices would be too long to read and
 * too large to open. The worst is the device that the first finding with a saving names, else the active
 * device with the smallest busy share. The median is the middle one of the other active devices, sorted by
 * busy share.
 */
enum { KWHY_OPENED_MAX = 8 };

struct kwhy_opened {
	bool *devices;		/* [device_count] whether the device is shown in full */
	uint32_t worst, median; /* indices of the two devices; KWHY_NONE: all devices are shown in full */
};

/* kwhy_opened_done() frees the memory. */
KWHY_MUST_USE enum kwhy_status kwhy_opened_init(
	struct kwhy_opened *opened, const struct kwhy_report *report, struct kwhy_error *error);
void kwhy_opened_done(struct kwhy_opened *opened);

/* Whether only some devices are shown in full. */
static inline bool kwhy_opened_is_part(const struct kwhy_opened *opened)
{
	return opened->worst != KWHY_NONE;
}

/*
 * Writes the report.json that a page embeds. Devices that are not shown in full have only the members that
 * the page shows of them.
 */
KWHY_MUST_USE enum kwhy_status kwhy_report_json_opened(const struct kwhy_report *report,
	const struct kwhy_opened *opened, struct kwhy_text *out, struct kwhy_error *error);

#endif
