/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PLAN_H
#define KWHY_REPORT_PLAN_H

#include "base/quantity.h"
#include "report/report.h"

/* What changes would bring, as kwhy whatif shows it. The price and the intensity are the report's. */
KWHY_MUST_USE enum kwhy_status kwhy_plan_text(const struct kwhy_plan *plan, const struct kwhy_report *report,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error);

/* Schema kwhy.whatif/1 (docs/formats/whatif.md). */
KWHY_MUST_USE enum kwhy_status kwhy_plan_json(const struct kwhy_plan *plan, const struct kwhy_report *report,
	struct kwhy_text *out, struct kwhy_error *error);

/* Why no energy of the whole run is known; NULL: it is. */
const char *kwhy_plan_no_energy(const struct kwhy_plan *plan, const struct kwhy_report *report);

/* What lost rows do to the plan; NULL: none are. */
const char *kwhy_plan_lost(const struct kwhy_report *report);

/* "12.3 %", "≤ 12.3 %" where no more than that is saved, "n/a" where it is not known. Borrowed from `out`. */
#define KWHY_PLAN_SHARE_BYTES (KWHY_QUANTITY_BYTES + 8)
const char *kwhy_plan_share(
	char out[KWHY_PLAN_SHARE_BYTES], enum kwhy_bound bound, int64_t saved, int64_t whole);

#endif
