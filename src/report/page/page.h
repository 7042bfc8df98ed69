/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAGE_PAGE_H
#define KWHY_REPORT_PAGE_PAGE_H

#include "report/plan.h"

/*
 * Appends the self-contained page (docs/formats/page.md) to `out`. `plan` has the projections of changes
 * (NULL: not computed). exact_rows: see KWHY_TIMELINE_EXACT_ROWS. KWHY_E_UNSUPPORTED: this build has no
 * page.
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
 * Writes the page of results of kwhy-lab, or of kwhy bench ops (a document of its own or a part of a
 * machine profile), from their JSON. KWHY_E_INPUT: the document is damaged, or has another schema; the
 * message names `path`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_report_results_page(
	const char *path, const char *json, size_t length, struct kwhy_text *out, struct kwhy_error *error);

/* Writes a page that has one block, a JSON document. */
KWHY_MUST_USE enum kwhy_status kwhy_report_block_page(
	const char *block, const char *json, struct kwhy_text *out, struct kwhy_error *error);

/* Writes the page of projections of changes. */
KWHY_MUST_USE enum kwhy_status kwhy_report_plan_page(const struct kwhy_plan *plan,
	const struct kwhy_report *report, struct kwhy_text *out, struct kwhy_error *error);

#endif
