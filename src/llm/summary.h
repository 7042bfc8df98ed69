/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_SUMMARY_H
#define KWHY_LLM_SUMMARY_H

#include "llm/run.h"

/*
 * A distribution of times in seconds. Percentiles are by nearest rank. A percentile is NAN if there are too
 * few values for one above it: p95 needs 20 values, p99 needs 100.
 */
struct kwhy_llm_distribution {
	size_t count;
	double mean, p50, p95, p99;
};

/* Limits that a good answer keeps, in seconds; NAN: no limit. */
struct kwhy_llm_limits {
	double first_s, token_s, answer_s;
};

/*
 * Results of a run. Times are of requests that were due inside the steady window and were answered in full.
 * Outcomes are of all requests that were due inside it. Tokens are those received inside it.
 */
struct kwhy_llm_summary {
	double seconds; /* length of the steady window, in seconds */
	size_t requests, outcomes[KWHY_LLM_OUTCOME_COUNT];
	/* HTTP status of the first request that failed by its status; 0: there was none */
	int failed_status;
	struct kwhy_llm_distribution
		first_s; /* from the time at which a request was due to its first piece of text */
	/* time of a token that came after the first piece (llm/pace.h); one value for each request */
	struct kwhy_llm_distribution token_s;
	/* between successive pieces of text of a request; one distribution over all requests */
	struct kwhy_llm_distribution gap_s;
	struct kwhy_llm_distribution
		answer_s; /* from the time at which a request was due to the end of its answer */
	double late_s;	  /* largest delay between the time at which a request was due and its sending */
	/*
	 * Numbers of completely answered requests for which the server reported no usage, or fewer tokens
	 * than pieces of text.
	 */
	size_t without_usage, fewer_than_pieces;
	size_t counted; /* number of such requests whose tokens a tokenizer counted, as the server states none
			 */
	size_t stated;	/* number of such requests for which the server stated its usage with each piece */
	/*
	 * Amounts inside the window: tokens of answers, tokens of prompts, those of them that came from the
	 * server's prefix cache, and answers. Each request counts in proportion to the share of its tokens
	 * that arrived inside. Failed requests count only in `tokens`. NAN: a server did not state them.
	 */
	double tokens, prompt_tokens, cached_tokens, answers;
	/* number of requests that were due inside the window, were answered in full and kept all limits */
	size_t good;
	size_t sent;	  /* number of requests that were sent inside the window */
	double cpu_cores; /* processors that this process used on average during the load */
	/* tokens and pieces of those requests for which the server reported usage */
	uint64_t usage_tokens, usage_pieces;
};

KWHY_MUST_USE enum kwhy_status kwhy_llm_summarise(const struct kwhy_llm_run *run,
	const struct kwhy_llm_limits *limits, struct kwhy_llm_summary *out, struct kwhy_error *error);

#endif
