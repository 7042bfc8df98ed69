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
	KWHY_LLM_STALLED, /* the server sent no further byte within the timeout */
	KWHY_LLM_BROKEN,  /* the stream or the connection ended before the answer was complete */
	/*
	 * the answer is not a stream of JSON events (or not one JSON object, if that was requested), has an
	 * event of more than a megabyte, or has too many pieces or bytes
	 */
	KWHY_LLM_MALFORMED,
	KWHY_LLM_REPORTED, /* an event in the stream reports an error, or a finish_reason does */
	KWHY_LLM_EMPTY,	   /* the stream ended in order, without any text or token */
	/*
	 * kwhy ended the request, because it was not over some time after the end of the load; no fault of
	 * the server
	 */
	KWHY_LLM_CUT,
	KWHY_LLM_OUTCOME_COUNT
};

/*
 * kwhy_llm_outcome_name(): a name such as "refused". kwhy_llm_outcome_words(): a sentence part that explains
 * the outcome.
 */
const char *kwhy_llm_outcome_name(enum kwhy_llm_outcome outcome);
const char *kwhy_llm_outcome_words(enum kwhy_llm_outcome outcome);

enum { KWHY_LLM_PIECES_MAX = 1 << 20 };

/* Text of an answer that arrived with one event. */
struct kwhy_llm_piece {
	int64_t at_ns; /* time of arrival, CLOCK_MONOTONIC */
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
	/*
	 * times at which the first event with choices, and the last event of any kind before [DONE], arrived;
	 * 0: there was none
	 */
	int64_t first_event_ns, last_event_ns;
	bool finished; /* a finish_reason was received that is no failure */
	bool ended;    /* [DONE] was received */
	bool reported, malformed, no_memory;
	/*
	 * set after kwhy_llm_answer_init(): the answer was requested as one JSON object instead of a stream
	 */
	bool whole;
	/* some text was received; tells it also for an answer without a stream, which has no pieces */
	bool has_text;
	struct kwhy_text body; /* JSON of an answer without a stream */
	/* set after kwhy_llm_answer_init(): keep the text, so that its tokens can be counted */
	bool keeps_text;
	struct kwhy_text text;
	/* completion_tokens were counted by kwhy's tokenizer, because the server did not state them */
	bool is_counted;
};

void kwhy_llm_answer_init(struct kwhy_llm_answer *answer);
void kwhy_llm_answer_done(struct kwhy_llm_answer *answer);

/*
 * Parses bytes of the answer's body that arrived at now_ns. False: the rest of the body need not be received,
 * because `reported`, `malformed` or `no_memory` is set.
 */
bool kwhy_llm_answer_feed(struct kwhy_llm_answer *answer, const char *bytes, size_t length, int64_t now_ns);

/*
 * Returns the outcome of a request whose connection the server closed without an error, from what the answer
 * contains: DONE, BROKEN, MALFORMED, REPORTED or EMPTY. An answer without a stream is parsed here.
 */
enum kwhy_llm_outcome kwhy_llm_answer_outcome(struct kwhy_llm_answer *answer);

#endif
