/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_RUN_H
#define KWHY_LLM_RUN_H

#include "llm/answer.h"
#include "llm/arrivals.h"

/*
 * A load on a server. In a closed loop the number of pending requests is constant. Otherwise requests are
 * sent at given times, whether or not earlier ones were answered.
 */
struct kwhy_llm_load {
	bool is_closed;
	struct kwhy_llm_arrival_plan arrivals; /* times at which requests are due; unused in a closed loop */
	/*
	 * closed loop: number of requests that are always pending; otherwise largest number of requests that
	 * may be pending at once
	 */
	uint32_t concurrency;
	/*
	 * time in which requests are sent, ns; requests that are pending at its end may complete, for at most
	 * stall_ns more
	 */
	int64_t duration_ns;
	/*
	 * length in ns of each of two parts of duration_ns, one at its start and one at its end, that are
	 * outside of the steady window
	 */
	int64_t ramp_ns;
	int64_t stall_ns; /* longest time, ns, in which no byte of an answer arrives; after it the request
			     ends as stalled */
};

/* What happened to one request. Times are on CLOCK_MONOTONIC; 0: the event did not happen. */
struct kwhy_llm_record {
	/* due_ns: time at which the request was due; in a closed loop, time at which it was sent */
	int64_t due_ns, sent_ns, end_ns;
	enum kwhy_llm_outcome outcome;
	int http_status; /* HTTP status of the response; 0: there was no response */
	/* see struct kwhy_llm_answer; -1: unknown */
	int64_t prompt_tokens, cached_tokens, completion_tokens;
	bool is_counted; /* completion_tokens were counted by a tokenizer, because the server does not state
			    them */
	int64_t first_event_ns, last_event_ns;
	struct kwhy_llm_piece *pieces;
	size_t piece_count;
};

struct kwhy_llm_run {
	struct kwhy_llm_record *records;
	size_t count, capacity;
	/*
	 * start of the load, start and end of its steady window, and the time at which the load ended, after
	 * all of its answers
	 */
	int64_t start_ns, steady_start_ns, steady_end_ns, end_ns;
	double cpu_s; /* processor time that this process used during the load */
};

/*
 * Whether the server stated the number of the answer's tokens. A count of 0 for an answer with text is no
 * statement: proxies send it if they do not know the count.
 */
static inline bool kwhy_llm_record_has_usage(const struct kwhy_llm_record *record)
{
	return record->completion_tokens > 0 || (record->completion_tokens == 0 && !record->piece_count);
}

void kwhy_llm_run_done(struct kwhy_llm_run *run);
KWHY_MUST_USE enum kwhy_status kwhy_llm_run_add(
	struct kwhy_llm_run *run, const struct kwhy_llm_record *record, struct kwhy_error *error);

/* Moves the times of the pieces and the token counts from an answer to a record. */
void kwhy_llm_record_take(struct kwhy_llm_record *record, struct kwhy_llm_answer *answer);

#endif
