/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PLAN_H
#define KWHY_REPORT_PLAN_H

#include "model/projection.h"
#include "report/report.h"

/* What changes would bring, as kwhy whatif shows it. The price and the intensity are the report's. */
KWHY_MUST_USE enum kwhy_status kwhy_plan_text(const struct kwhy_plan *plan, const struct kwhy_report *report,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error);

/* Schema kwhy.whatif/1 (docs/formats/whatif.md). */
KWHY_MUST_USE enum kwhy_status kwhy_plan_json(const struct kwhy_plan *plan, const struct kwhy_report *report,
	struct kwhy_text *out, struct kwhy_error *error);

#endif
