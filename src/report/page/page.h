/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAGE_PAGE_H
#define KWHY_REPORT_PAGE_PAGE_H

#include "report/plan.h"

/*
 * Appends the report's self-contained page (docs/formats/page.md) to `out`. `plan` has the projections of
 * changes; NULL: not computed. exact_rows: largest number of activities and calls of which the timeline shows
 * every one, normally KWHY_TIMELINE_EXACT_ROWS. KWHY_E_UNSUPPORTED: this build has no page.
 */
KWHY_MUST_USE enum kwhy_status kwhy_report_page(const struct kwhy_report *report,
	const struct kwhy_plan *plan, size_t exact_rows, struct kwhy_text *out, struct kwhy_error *error);

/* Writes the page of a comparison, from the JSON of kwhy_compare_json() and the two report.json texts. */
KWHY_MUST_USE enum kwhy_status kwhy_report_compare_page(const char *compare_json, const char *before_json,
	const char *after_json, struct kwhy_text *out, struct kwhy_error *error);

/* Writes the page of measured transfers, from the JSON of kwhy_report_transfers_json(). */
KWHY_MUST_USE enum kwhy_status kwhy_report_transfers_page(
	const char *transfers_json, struct kwhy_text *out, struct kwhy_error *error);

/* Writes the page of measured pairs of GPUs, from the JSON of kwhy_report_pairs_json(). */
KWHY_MUST_USE enum kwhy_status kwhy_report_pairs_page(
	const char *pairs_json, struct kwhy_text *out, struct kwhy_error *error);

/* Writes the page of a language model server under several loads, from the JSON of `kwhy llm`. */
KWHY_MUST_USE enum kwhy_status kwhy_report_llm_page(
	const char *llm_json, struct kwhy_text *out, struct kwhy_error *error);

/*
 * Writes the page of results of kwhy-lab or of kwhy bench ops from their JSON, which for kwhy bench ops may
 * also be a machine profile that contains them. KWHY_E_INPUT: the document is damaged, has another schema or
 * has no rows; the message names `path`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_report_results_page(
	const char *path, const char *json, size_t length, struct kwhy_text *out, struct kwhy_error *error);

/*
 * Writes a page with the JSON document `json` as its only data, in the <script> element with the id `block`,
 * by which the page chooses what to show.
 */
KWHY_MUST_USE enum kwhy_status kwhy_report_block_page(
	const char *block, const char *json, struct kwhy_text *out, struct kwhy_error *error);

/* Writes the page of projections of changes. */
KWHY_MUST_USE enum kwhy_status kwhy_report_plan_page(const struct kwhy_plan *plan,
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error);

#endif
