/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_ANSWER_H
#define KWHY_LLM_ANSWER_H

#include "llm/stream.h"

#include <stdint.h>

/* How a request ended. */
enum kwhy_llm_outcome {
	KWHY_LLM_DONE,
	KWHY_LLM_REFUSED,   /* no connection was made */
	KWHY_LLM_STATUS,    /* an HTTP status of 400 or above */
	KWHY_LLM_STALLED,   /* no byte within the timeout */
	KWHY_LLM_BROKEN,    /* the stream or the connection ended before the answer was complete */
	KWHY_LLM_MALFORMED, /* the answer is not a stream of JSON events, or an event exceeds a megabyte */
	KWHY_LLM_REPORTED,  /* the server reported an error inside the stream */
	KWHY_LLM_CUT,	    /* cut off by kwhy after the end of the load; not the server's fault */
	KWHY_LLM_OUTCOME_COUNT
};

/* A name such as "refused", and its explanation for readers. */
const char *kwhy_llm_outcome_name(enum kwhy_llm_outcome outcome);
const char *kwhy_llm_outcome_words(enum kwhy_llm_outcome outcome);

enum { KWHY_LLM_CHUNKS_MAX = 1 << 20 };

/* An answer that is being received. Times are CLOCK_MONOTONIC. Initialise it with kwhy_llm_answer_init(). */
struct kwhy_llm_answer {
	struct kwhy_llm_stream stream;
	int64_t now_ns;	   /* arrival of the bytes that are being parsed */
	int64_t *chunk_ns; /* arrival of each piece of text */
	size_t chunk_count, chunk_capacity;
	int64_t prompt_tokens, completion_tokens; /* as the server's usage reports them; -1: not reported */
	bool finished;				  /* a finish_reason was received */
	bool ended;				  /* [DONE] was received */
	bool reported, malformed, no_memory;
};

void kwhy_llm_answer_init(struct kwhy_llm_answer *answer);
void kwhy_llm_answer_done(struct kwhy_llm_answer *answer);

/* Parses bytes of the body that arrived at now_ns. false: stop; the flags say why. */
bool kwhy_llm_answer_feed(struct kwhy_llm_answer *answer, const char *bytes, size_t length, int64_t now_ns);

/* The outcome of a stream that the server closed regularly. */
enum kwhy_llm_outcome kwhy_llm_answer_outcome(const struct kwhy_llm_answer *answer);

#endif
