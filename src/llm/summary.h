/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_SUMMARY_H
#define KWHY_LLM_SUMMARY_H

#include "llm/run.h"

/*
 * A distribution in seconds. A percentile is the value of the nearest rank, or NAN where no value lies beyond
 * it: 95 needs 20 values, 99 needs 100.
 */
struct kwhy_llm_distribution {
	size_t count;
	double mean, p50, p95, p99;
};

/*
 * Results of a run. Times are those of requests that were due inside the steady window and were answered in
 * full. Failures are those of all requests that were due inside it. Tokens are those received inside it.
 */
struct kwhy_llm_summary {
	double seconds; /* length of the steady window */
	size_t requests, outcomes[KWHY_LLM_OUTCOME_COUNT];
	int failed_status;		       /* first HTTP status of a failed request; 0: none failed so */
	struct kwhy_llm_distribution first_s;  /* from the due time to the first piece of text */
	struct kwhy_llm_distribution token_s;  /* time a token after the first, one value a request */
	struct kwhy_llm_distribution gap_s;    /* between pieces of text, of all requests together */
	struct kwhy_llm_distribution answer_s; /* from the due time to the end of the answer */
	double late_s; /* largest delay between a request's due time and its sending */
	/*
	 * Of requests answered in full: how many reported no usage, and how many reported fewer tokens than
	 * there were pieces.
	 */
	size_t without_usage, fewer_than_pieces;
	/*
	 * Amounts inside the window. A request counts in proportion to its pieces inside. Failed requests
	 * count for tokens.
	 */
	double tokens, prompt_tokens, answers;
	uint64_t usage_tokens, usage_pieces; /* totals of requests that reported usage */
};

KWHY_MUST_USE enum kwhy_status kwhy_llm_summarise(
	const struct kwhy_llm_run *run, struct kwhy_llm_summary *out, struct kwhy_error *error);

#endif
