/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_SUMMARY_H
#define KWHY_LLM_SUMMARY_H

#include "llm/run.h"

/*
 * Seconds. A percentile is the value of the nearest rank, and NAN where no value lies beyond it: 95 needs 20
 * values, 99 needs 100.
 */
struct kwhy_llm_distribution {
	size_t count;
	double mean, p50, p95, p99;
};

/*
 * What a run came to. Times are of requests that were due inside the steady window and were answered in
 * full; failures are of all requests that were due inside it; tokens are those that came inside it.
 */
struct kwhy_llm_summary {
	double seconds; /* of the steady window */
	size_t requests, outcomes[KWHY_LLM_OUTCOME_COUNT];
	int failed_status;		       /* the first HTTP status that said no; 0: none */
	struct kwhy_llm_distribution first_s;  /* to the first piece of text */
	struct kwhy_llm_distribution token_s;  /* per token after the first, one value a request */
	struct kwhy_llm_distribution gap_s;    /* between pieces of text, of all requests together */
	struct kwhy_llm_distribution answer_s; /* end to end */
	double late_s;			       /* the most that a request was sent after it was due */
	/* Answered in full: how many said no usage, and how many said fewer tokens than pieces that came. */
	size_t without_usage, fewer_than_pieces;
	/* Inside the window. A request counts in parts, as its pieces lie inside; failed ones count for
	 * tokens. */
	double tokens, prompt_tokens, answers;
	uint64_t usage_tokens, usage_pieces; /* of requests with usage: both counts */
};

KWHY_MUST_USE enum kwhy_status kwhy_llm_summarise(
	const struct kwhy_llm_run *run, struct kwhy_llm_summary *out, struct kwhy_error *error);

#endif
