/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_BRIEF_H
#define KWHY_REPORT_BRIEF_H

#include "report/report.h"

/*
 * Writes the document of kwhy_report_brief() for the first screen of a page: not limited to 4,096 bytes,
 * numbers with 9 instead of 4 significant digits, and each listed account with the 90 % interval of its
 * energy. `out` must be empty.
 */
KWHY_MUST_USE enum kwhy_status kwhy_report_brief_page(
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error);

#endif
