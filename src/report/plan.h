/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PLAN_H
#define KWHY_REPORT_PLAN_H

#include "base/quantity.h"
#include "report/report.h"

/*
 * Writes the projections of changes as text, as `kwhy whatif` shows them. Price and carbon intensity are
 * those of the report.
 */
KWHY_MUST_USE enum kwhy_status kwhy_plan_text(const struct kwhy_plan *plan, const struct kwhy_report *report,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error);

/* Writes the projections of changes as JSON, schema kwhy.whatif/1 (docs/formats/whatif.md). */
KWHY_MUST_USE enum kwhy_status kwhy_plan_json(const struct kwhy_plan *plan, const struct kwhy_report *report,
	struct kwhy_text *out, struct kwhy_error *error);

/* Text that says why the energy of the whole run is unknown; NULL: it is known. */
const char *kwhy_plan_no_energy(const struct kwhy_plan *plan, const struct kwhy_report *report);

/* Sentence that says how lost records of work affect the plan; NULL: none were lost. */
const char *kwhy_plan_lost(const struct kwhy_report *report);

/*
 * Writes `saved` as a share of `whole`: "12.3 %", "≤ 12.3 %" if it is an upper bound, "≥ 12.3 %" if it is a
 * lower one, "n/a" if `whole` is not above 0, which also stands for unknown. Returns `out`.
 */
#define KWHY_PLAN_SHARE_BYTES (KWHY_QUANTITY_BYTES + 8)
const char *kwhy_plan_share(
	char out[KWHY_PLAN_SHARE_BYTES], enum kwhy_bound bound, int64_t saved, int64_t whole);

#endif
