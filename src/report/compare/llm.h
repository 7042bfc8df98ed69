/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_COMPARE_LLM_H
#define KWHY_REPORT_COMPARE_LLM_H

#include "base/arena.h"
#include "import/results/llm.h"
#include "report/compare/parts.h"

/*
 * Comparison of results of `kwhy llm`, with one or several runs on each side. Figures are compared separately
 * for each load. If a side has several runs, its figure is the mean over these runs; it is unknown if one of
 * the runs does not have it.
 */
struct kwhy_llm_side {
	const struct kwhy_read_llm *items; /* borrowed */
	size_t count;
};

struct kwhy_llm_comparison {
	struct kwhy_arena arena;
	struct kwhy_llm_side sides[2];
	/*
	 * figures of the loads that all runs have: first change_count figures that both sides know, then
	 * unknown_count figures that one side does not know
	 */
	struct kwhy_figure_change *changes;
	size_t change_count, unknown_count;
	bool *is_main;	       /* [number of changes] whether a figure is shown without --verbose */
	const char **unpaired; /* names of the loads ("16 concurrent") and request lengths that at least one
				  run lacks, so that their figures are not compared */
	size_t unpaired_count;
};

/*
 * Compares two sides. The runs must outlive the comparison. KWHY_E_INPUT: no load is in all runs. Call
 * kwhy_compare_llm_done() after a failure, too.
 */
KWHY_MUST_USE enum kwhy_status kwhy_compare_llm(
	struct kwhy_llm_comparison *out, const struct kwhy_llm_side sides[2], struct kwhy_error *error);
void kwhy_compare_llm_done(struct kwhy_llm_comparison *comparison);

/*
 * Reads a condition on a figure, for all loads or one load, as in "throughput<-2%" or "ttft.p99:8
 * concurrent>+10%". KWHY_E_USAGE: it does not follow the grammar or names no figure of `kwhy llm`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_compare_llm_condition(
	const char *text, struct kwhy_condition *out, struct kwhy_error *error);
/*
 * Checks a condition for the load that it names or, if it names none, for all loads. The verdict is that of
 * the load whose value is furthest beyond the limit or, if none is beyond it, closest to it. KWHY_E_INPUT:
 * the figure is unknown for one of these loads. KWHY_E_USAGE: no load that all runs have has this figure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_compare_llm_check(const struct kwhy_condition *condition,
	const struct kwhy_llm_comparison *comparison, struct kwhy_verdict *out, struct kwhy_error *error);

KWHY_MUST_USE enum kwhy_status kwhy_compare_llm_text(const struct kwhy_llm_comparison *comparison,
	const struct kwhy_conditions *conditions, const struct kwhy_text_style *style, struct kwhy_text *out,
	struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_compare_llm_json(const struct kwhy_llm_comparison *comparison,
	const struct kwhy_conditions *conditions, struct kwhy_text *out, struct kwhy_error *error);

#endif
