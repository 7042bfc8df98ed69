/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_STAT_H
#define KWHY_REPORT_STAT_H

#include "base/status.h"
#include "base/text.h"
#include "model/stat.h"
#include "report/report.h"

/* Outputs of `kwhy stat`. The JSON follows docs/formats/stat.schema.json. */

/* Writes text 80 columns wide: means over the runs, with their intervals. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_text(const struct kwhy_stat *stat,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error);

/* Writes JSON with the means, every run, every interval of the power curve and every value of a metric. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_json(
	const struct kwhy_stat *stat, struct kwhy_text *out, struct kwhy_error *error);

/* Writes CSV with the figures of the JSON, one in a row. docs/formats/stat.md describes the columns. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_csv(
	const struct kwhy_stat *stat, struct kwhy_text *out, struct kwhy_error *error);

#endif
