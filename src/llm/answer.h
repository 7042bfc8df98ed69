/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_ANSWER_H
#define KWHY_LLM_ANSWER_H

#include "llm/stream.h"

#include <stdint.h>

/* How a request ended. */
enum kwhy_llm_outcome {
	KWHY_LLM_DONE,
	KWHY_LLM_REFUSED, /* no connection could be made */
	KWHY_LLM_STATUS,  /* the server answered with an HTTP status of 400 or above */
	KWHY_LLM_STALLED, /* the server sent no byte within the timeout */
	KWHY_LLM_BROKEN,  /* the stream or the connection ended before the answer was complete */
	/* the answer is not a stream of JSON events, or one of its events exceeds a megabyte */
	KWHY_LLM_MALFORMED,
	KWHY_LLM_REPORTED, /* an event in the stream reports an error, or a finish_reason does */
	KWHY_LLM_EMPTY,	   /* the stream ended well without any text or token */
	KWHY_LLM_CUT, /* kwhy itself ended the request some time after the end of the load; not the server's
			 fault */
	KWHY_LLM_OUTCOME_COUNT
};

/*
 * kwhy_llm_outcome_name(): a name such as "refused". kwhy_llm_outcome_words(): a sentence part that explains
 * the outcome.
 */
const char *kwhy_llm_outcome_name(enum kwhy_llm_outcome outcome);
const char *kwhy_llm_outcome_words(enum kwhy_llm_outcome outcome);

enum { KWHY_LLM_PIECES_MAX = 1 << 20 };

/* A piece of text of an answer. */
struct kwhy_llm_piece {
	int64_t at_ns; /* time at which it arrived */
	uint32_t bytes;
	/*
	 * number of the answer's tokens up to and including this piece, if the server states it with the
	 * piece; -1: it does not
	 */
	int32_t tokens;
};

/*
 * An answer while it is received. Times are on CLOCK_MONOTONIC. Initialise it with kwhy_llm_answer_init().
 */
struct kwhy_llm_answer {
	struct kwhy_llm_stream stream;
	int64_t now_ns; /* time at which the bytes that are now parsed arrived */
	struct kwhy_llm_piece *pieces;
	size_t piece_count, piece_capacity;
	/*
	 * Token counts of the server's last "usage"; -1: the server did not report them. cached_tokens: how
	 * many of the prompt's tokens the server had in its prefix cache.
	 */
	int64_t prompt_tokens, cached_tokens, completion_tokens;
	/* times at which the first event with choices and the last event arrived; 0: no such event arrived */
	int64_t first_event_ns, last_event_ns;
	bool finished; /* a finish_reason was received, and it is no failure */
	bool ended;    /* [DONE] was received */
	bool reported, malformed, no_memory;
	bool whole;    /* the answer is requested as one JSON object instead of a stream; set it after
			  kwhy_llm_answer_init() */
	bool has_text; /* the answer has text; also set for an answer without a stream, which has no pieces */
	struct kwhy_text body; /* JSON of an answer without a stream */
	bool keeps_text;       /* keep the text, so that its tokens can be counted; set it after
				  kwhy_llm_answer_init() */
	struct kwhy_text text;
	bool is_counted; /* completion_tokens were counted by a tokenizer, because the server does not state
			    them */
};

void kwhy_llm_answer_init(struct kwhy_llm_answer *answer);
void kwhy_llm_answer_done(struct kwhy_llm_answer *answer);

/*
 * Parses bytes of the answer's body that arrived at now_ns. false: the rest of the body need not be received;
 * the flags above say why.
 */
bool kwhy_llm_answer_feed(struct kwhy_llm_answer *answer, const char *bytes, size_t length, int64_t now_ns);

/*
 * Gets the outcome of a request after the server has closed the stream and the connection did not fail. An
 * answer without a stream is parsed here.
 */
enum kwhy_llm_outcome kwhy_llm_answer_outcome(struct kwhy_llm_answer *answer);

#endif
