/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_SUMMARY_H
#define KWHY_LLM_SUMMARY_H

#include "llm/run.h"

/*
 * A distribution of times in seconds. Percentiles are by nearest rank. A percentile is NAN if there are too
 * few values for one to be above it: p95 needs 20 values, p99 needs 100.
 */
struct kwhy_llm_distribution {
	size_t count;
	double mean, p50, p95, p99;
};

/* The limits that an answer must keep to count as good, in seconds; NAN: no limit. */
struct kwhy_llm_limits {
	double first_s, token_s, answer_s;
};

/*
 * Results of a run. Times are those of requests that were due in the steady window and were answered in full.
 * Outcomes are those of all requests that were due in the window. Tokens are those that arrived in the
 * window.
 */
struct kwhy_llm_summary {
	double seconds; /* length of the steady window, in seconds */
	size_t requests, outcomes[KWHY_LLM_OUTCOME_COUNT];
	/* HTTP status of the first request with the outcome KWHY_LLM_STATUS; 0: there was none */
	int failed_status;
	struct kwhy_llm_distribution
		first_s; /* from the time at which a request was due to its first piece of text */
	/* time per token after the first piece (llm/pace.h); one value for each request */
	struct kwhy_llm_distribution token_s;
	/* between successive pieces of text of a request; the distribution is over all requests */
	struct kwhy_llm_distribution gap_s;
	struct kwhy_llm_distribution
		answer_s; /* from the time at which a request was due to the end of its answer */
	double late_s;	  /* longest delay, s, from the time at which a request was due to its sending */
	/*
	 * Among the requests that were answered in full: number of those without usage from the server, and
	 * number of those with fewer tokens than pieces of text.
	 */
	size_t without_usage, fewer_than_pieces;
	size_t counted; /* among the requests that were answered in full: number of those whose tokens a
			   tokenizer counted, because the server did not state them */
	size_t stated;	/* among the requests that were answered in full: number of those for which the server
			   stated its usage with each piece */
	/*
	 * Amounts in the steady window: tokens of answers, tokens of prompts, the part of the prompts' tokens
	 * that the server had in its prefix cache, and answers. A request counts with the share of its tokens
	 * that arrived in the window. Failed requests count only in `tokens`. NAN: the server did not state
	 * the amount.
	 */
	double tokens, prompt_tokens, cached_tokens, answers;
	/* number of requests that were due in the window, were answered in full and kept all limits */
	size_t good;
	size_t sent; /* number of requests that were sent in the window */
	/* processor time that this process used during the load, divided by its duration */
	double cpu_cores;
	/* tokens and pieces of those requests answered in full for which the server stated usage */
	uint64_t usage_tokens, usage_pieces;
};

KWHY_MUST_USE enum kwhy_status kwhy_llm_summarise(const struct kwhy_llm_run *run,
	const struct kwhy_llm_limits *limits, struct kwhy_llm_summary *out, struct kwhy_error *error);

#endif
