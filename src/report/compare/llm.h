/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_COMPARE_LLM_H
#define KWHY_REPORT_COMPARE_LLM_H

#include "base/arena.h"
#include "import/results/llm.h"
#include "report/compare/parts.h"

/*
 * Comparison of results of `kwhy llm`, of one or several runs of each side. Figures are compared load by
 * load. With several runs of a side a figure is the mean over its runs; it is unknown if a run lacks it.
 */
struct kwhy_llm_side {
	const struct kwhy_read_llm *items; /* borrowed */
	size_t count;
};

struct kwhy_llm_comparison {
	struct kwhy_arena arena;
	struct kwhy_llm_side sides[2];
	/* of the loads that all runs have: the figures that both sides know, then those that a side does not
	 */
	struct kwhy_figure_change *changes;
	size_t change_count, unknown_count;
	bool *is_main;	       /* [change_count] whether a figure is shown first */
	const char **unpaired; /* what is not compared because a run lacks it: "16 concurrent" */
	size_t unpaired_count;
};

/* Compares two sides. KWHY_E_INPUT: no load is in all runs. Call kwhy_compare_llm_done() after a failure,
 * too. */
KWHY_MUST_USE enum kwhy_status kwhy_compare_llm(
	struct kwhy_llm_comparison *out, const struct kwhy_llm_side sides[2], struct kwhy_error *error);
void kwhy_compare_llm_done(struct kwhy_llm_comparison *comparison);

/* Reads a condition on a figure of such a comparison, as in "throughput<-2%" or "ttft.p99:8 concurrent>+10%".
 */
KWHY_MUST_USE enum kwhy_status kwhy_compare_llm_condition(
	const char *text, struct kwhy_condition *out, struct kwhy_error *error);
/*
 * Evaluates a condition at each of the loads that it is about; the verdict is that of the load which exceeds
 * it by most. KWHY_E_INPUT: the figure is unknown at one of them. KWHY_E_USAGE: there is no such load.
 */
KWHY_MUST_USE enum kwhy_status kwhy_compare_llm_check(const struct kwhy_condition *condition,
	const struct kwhy_llm_comparison *comparison, struct kwhy_verdict *out, struct kwhy_error *error);

KWHY_MUST_USE enum kwhy_status kwhy_compare_llm_text(const struct kwhy_llm_comparison *comparison,
	const struct kwhy_conditions *conditions, const struct kwhy_text_style *style, struct kwhy_text *out,
	struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_compare_llm_json(const struct kwhy_llm_comparison *comparison,
	const struct kwhy_conditions *conditions, struct kwhy_text *out, struct kwhy_error *error);

#endif
