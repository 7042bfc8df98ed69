/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_RUN_H
#define KWHY_LLM_RUN_H

#include "llm/answer.h"

/* A load on a server: a closed loop of concurrent requests, or requests at random times with a mean rate. */
struct kwhy_llm_load {
	double rate_per_s;    /* Poisson arrivals; NAN: a closed loop */
	uint32_t concurrency; /* concurrent requests; with a rate the most allowed */
	int64_t duration_ns;  /* time during which requests are sent; pending ones may then end */
	int64_t ramp_ns;      /* at the start and at the end, not part of the steady window */
	int64_t stall_ns;     /* timeout for the next byte */
	uint64_t seed;	      /* seed of the arrival times */
};

/* One request. Times are CLOCK_MONOTONIC; 0: the event did not happen. */
struct kwhy_llm_record {
	int64_t due_ns, sent_ns, end_ns; /* due: when it should be sent; in a closed loop when it was sent */
	enum kwhy_llm_outcome outcome;
	int http_status; /* 0: no response */
	int64_t prompt_tokens, completion_tokens;
	int64_t *chunk_ns;
	size_t chunk_count;
};

struct kwhy_llm_run {
	struct kwhy_llm_record *records;
	size_t count, capacity;
	int64_t start_ns, steady_start_ns, steady_end_ns, end_ns; /* end_ns: end of the last answer */
};

void kwhy_llm_run_done(struct kwhy_llm_run *run);
KWHY_MUST_USE enum kwhy_status kwhy_llm_run_add(
	struct kwhy_llm_run *run, const struct kwhy_llm_record *record, struct kwhy_error *error);

/* Moves the answer's chunks and tokens to the record. */
void kwhy_llm_record_take(struct kwhy_llm_record *record, struct kwhy_llm_answer *answer);

/* The sequence of times at which requests are to be sent. */
struct kwhy_llm_arrivals {
	double rate_per_s;
	uint64_t state;
	int64_t next_ns;
};
void kwhy_llm_arrivals_init(
	struct kwhy_llm_arrivals *arrivals, double rate_per_s, uint64_t seed, int64_t start_ns);
void kwhy_llm_arrivals_step(struct kwhy_llm_arrivals *arrivals);

#endif
