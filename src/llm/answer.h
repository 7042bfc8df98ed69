/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_ANSWER_H
#define KWHY_LLM_ANSWER_H

#include "llm/stream.h"

#include <stdint.h>

/* How a request ended. */
enum kwhy_llm_outcome {
	KWHY_LLM_DONE,
	KWHY_LLM_REFUSED,   /* no connection came about */
	KWHY_LLM_STATUS,    /* an HTTP status of 400 or above */
	KWHY_LLM_STALLED,   /* no byte for as long as one is patient */
	KWHY_LLM_BROKEN,    /* the stream ended, or the connection broke, before the answer was whole */
	KWHY_LLM_MALFORMED, /* what came is no stream of JSON events, or one of over a megabyte */
	KWHY_LLM_REPORTED,  /* the server reported an error inside the stream */
	KWHY_LLM_CUT,	    /* by us, after the end of the load; says nothing about the server */
	KWHY_LLM_OUTCOME_COUNT
};

/* "refused"; and what it means, for people. */
const char *kwhy_llm_outcome_name(enum kwhy_llm_outcome outcome);
const char *kwhy_llm_outcome_words(enum kwhy_llm_outcome outcome);

enum { KWHY_LLM_CHUNKS_MAX = 1 << 20 };

/* An answer while it streams in. Times are CLOCK_MONOTONIC. Zero-initialise with tokens -1. */
struct kwhy_llm_answer {
	struct kwhy_llm_stream stream;
	int64_t now_ns;	   /* of the bytes being taken */
	int64_t *chunk_ns; /* when each piece of text came */
	size_t chunk_count, chunk_capacity;
	int64_t prompt_tokens, completion_tokens; /* by the server's usage; -1: it did not say */
	bool finished;				  /* a finish_reason came */
	bool ended;				  /* [DONE] came */
	bool reported, malformed, no_memory;
};

void kwhy_llm_answer_init(struct kwhy_llm_answer *answer);
void kwhy_llm_answer_done(struct kwhy_llm_answer *answer);

/* Takes bytes of the body that came at a time; false: the rest is not wanted, the flags say why. */
bool kwhy_llm_answer_feed(struct kwhy_llm_answer *answer, const char *bytes, size_t length, int64_t now_ns);

/* Of a stream that the server closed in good order. */
enum kwhy_llm_outcome kwhy_llm_answer_outcome(const struct kwhy_llm_answer *answer);

#endif
