/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_STAT_H
#define KWHY_REPORT_STAT_H

#include "base/status.h"
#include "base/text.h"
#include "model/stat.h"
#include "report/report.h"

/* Output of `kwhy stat`. The JSON follows docs/formats/stat.schema.json. */

/* Text of 80 columns: means over the runs, with their intervals. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_text(const struct kwhy_stat *stat,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error);

/* JSON of the means, every run, every interval and every value of a metric. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_json(
	const struct kwhy_stat *stat, struct kwhy_text *out, struct kwhy_error *error);

/* CSV of the same figures, one a row; docs/formats/stat.md describes the columns. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_csv(
	const struct kwhy_stat *stat, struct kwhy_text *out, struct kwhy_error *error);

#endif
