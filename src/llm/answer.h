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
	KWHY_LLM_STALLED, /* no byte came within the timeout */
	KWHY_LLM_BROKEN,  /* the stream or the connection ended before the answer was complete */
	/* the answer is not a stream of JSON events, or one of its events exceeds a megabyte */
	KWHY_LLM_MALFORMED,
	KWHY_LLM_REPORTED, /* an event in the stream reports an error, or a finish_reason does */
	KWHY_LLM_EMPTY,	   /* the stream ended well without any text or token */
	KWHY_LLM_CUT, /* the request was ended by kwhy after the end of the load, which is not the server's
			 fault */
	KWHY_LLM_OUTCOME_COUNT
};

/*
 * kwhy_llm_outcome_name(): a name such as "refused". kwhy_llm_outcome_words(): a sentence part that explains
 * it.
 */
const char *kwhy_llm_outcome_name(enum kwhy_llm_outcome outcome);
const char *kwhy_llm_outcome_words(enum kwhy_llm_outcome outcome);

enum { KWHY_LLM_PIECES_MAX = 1 << 20 };

/* A piece of text of an answer. */
struct kwhy_llm_piece {
	int64_t at_ns; /* when it arrived */
	uint32_t bytes;
	/* tokens of the answer up to and including this piece, as the server states them with it; -1: it does
	 * not */
	int32_t tokens;
};

/*
 * An answer that is being received. Times are of CLOCK_MONOTONIC. Initialise it with kwhy_llm_answer_init().
 */
struct kwhy_llm_answer {
	struct kwhy_llm_stream stream;
	int64_t now_ns; /* when the bytes arrived that are being parsed */
	struct kwhy_llm_piece *pieces;
	size_t piece_count, piece_capacity;
	/*
	 * token counts of the server's last "usage"; -1: the server did not report them. cached_tokens are
	 * those of the prompt's tokens that the server had in its prefix cache.
	 */
	int64_t prompt_tokens, cached_tokens, completion_tokens;
	/* when the first event with choices and the last event arrived; 0: none did */
	int64_t first_event_ns, last_event_ns;
	bool finished; /* whether a finish_reason was received that is no failure */
	bool ended;    /* whether [DONE] was received */
	bool reported, malformed, no_memory;
	bool whole; /* the answer is one JSON object instead of a stream; set it after kwhy_llm_answer_init()
		     */
	bool has_text;	       /* whether a whole answer has text; it has no pieces */
	struct kwhy_text body; /* the JSON of a whole answer */
	bool keeps_text;       /* keep the text, to count its tokens; set it after kwhy_llm_answer_init() */
	struct kwhy_text text;
	bool is_counted; /* completion_tokens were counted in the text; the server does not state them */
};

void kwhy_llm_answer_init(struct kwhy_llm_answer *answer);
void kwhy_llm_answer_done(struct kwhy_llm_answer *answer);

/*
 * Parses bytes of the answer's body that arrived at now_ns. false: the rest is not needed, for a reason that
 * the flags show.
 */
bool kwhy_llm_answer_feed(struct kwhy_llm_answer *answer, const char *bytes, size_t length, int64_t now_ns);

/*
 * Gets the outcome of a request whose stream the server has closed without a failure of the connection. It
 * parses a whole answer.
 */
enum kwhy_llm_outcome kwhy_llm_answer_outcome(struct kwhy_llm_answer *answer);

#endif
