/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_WORK_H
#define KWHY_LLM_WORK_H

#include "llm/run.h"

/*
 * The work that requests made the server do in each interval between readings of its energy. It is computed
 * from what the client of the server sees, and from nothing else:
 *
 * - Tokens of a prompt are processed before the first piece of text arrives: their processing begins when the
 * request was sent, or when the first piece of the request whose prompt was processed before it arrived,
 * whichever is later. - The first token of an answer comes from the processing of its prompt. Each further
 * token is generated between the piece before and the piece that brings it. - A step of the server generates
 * one token for each request whose answer has begun and not yet ended, so a token is a share of one step: 1
 * over the number of these requests. - Prompts of answers whose first pieces arrive together were processed
 * as one batch, in which the server reads the model's weights once. - To generate a token, the server reads
 * its context: all tokens of the prompt and of the answer before it.
 */
enum kwhy_llm_work {
	KWHY_LLM_WORK_PROMPT,  /* tokens of prompts, without those from the prefix cache */
	KWHY_LLM_WORK_CACHED,  /* tokens of prompts that the server had in its prefix cache */
	KWHY_LLM_WORK_BATCH,   /* batches of prompts */
	KWHY_LLM_WORK_OUTPUT,  /* generated tokens, without the first one of each answer */
	KWHY_LLM_WORK_STEP,    /* steps of the server */
	KWHY_LLM_WORK_CONTEXT, /* tokens of the contexts of generated tokens, as often as they are read */
	KWHY_LLM_WORK_COUNT,
	KWHY_LLM_WORK_DECODE = KWHY_LLM_WORK_OUTPUT /* first kind of work of decoding; the kinds before it are
						       work on prompts */
};

/*
 * A reading of the server's GPUs: the sum of their energy counters. Readings are sorted by time, and the
 * sum never falls.
 */
struct kwhy_llm_reading {
	int64_t at_ns; /* CLOCK_MONOTONIC */
	int64_t total_nj;
};

/* The readings and the requests of a run. The arrays are not owned. */
struct kwhy_llm_metered {
	const struct kwhy_llm_reading *readings;
	size_t reading_count;
	const struct kwhy_llm_record *records;
	size_t record_count;
	/*
	 * The steady window, in which the load is constant. Coefficients are fitted to the intervals inside
	 * it, because the number of requests that share a step is uncertain while a load starts or ends. Both
	 * 0: they are fitted to all intervals.
	 */
	int64_t steady_start_ns, steady_end_ns;
};

/*
 * Work for one request in the interval between the readings with the indices `interval` and `interval` + 1.
 */
struct kwhy_llm_share {
	uint32_t interval, request;
	double work[KWHY_LLM_WORK_COUNT];
};

struct kwhy_llm_shares {
	struct kwhy_llm_share *items; /* sorted by interval */
	size_t count, capacity;
	/*
	 * number of requests with an answer's text whose prompt has an unknown number of tokens; for each of
	 * them the mean number of tokens of the known prompts is assumed
	 */
	size_t unknown_prompts;
	size_t answered; /* number of requests with a text */
};

/*
 * Computes the shares. Work before the first or after the last reading is left out. KWHY_E_INPUT: there are
 * fewer than two readings, their energy falls, or their times do not grow.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_shares_make(
	const struct kwhy_llm_metered *metered, struct kwhy_llm_shares *out, struct kwhy_error *error);
void kwhy_llm_shares_done(struct kwhy_llm_shares *shares);

#endif
