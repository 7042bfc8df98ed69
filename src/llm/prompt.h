/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_PROMPT_H
#define KWHY_LLM_PROMPT_H

#include "llm/dialog.h"
#include "llm/length.h"
#include "llm/tokenizer.h"

enum kwhy_llm_endpoint { KWHY_LLM_CHAT, KWHY_LLM_COMPLETIONS };

/* What all requests of a load ask for. Strings and arrays are not copied. */
struct kwhy_llm_question {
	enum kwhy_llm_endpoint endpoint;
	const char *model;
	/*
	 * dialogs of a file: conversation number n uses dialog n modulo dialog_count; NULL: prompts are made
	 * up
	 */
	const struct kwhy_llm_dialog *dialogs;
	size_t dialog_count;
	/*
	 * distribution of the number of words of each made-up message of the user; of tokens if `costs` is
	 * set
	 */
	struct kwhy_llm_length words;
	/* distribution of the largest number of an answer's tokens, where no dialog states it */
	struct kwhy_llm_length max_tokens;
	/*
	 * number of words (tokens if `costs` is set) with which all made-up conversations begin, the same in
	 * each
	 */
	uint64_t shared_words;
	size_t turns; /* number of turns of a made-up conversation; 0 counts as 1 */
	uint64_t seed;
	/* Request answers of exactly max_tokens tokens. This is an extension of vLLM and other servers. */
	bool ignore_eos;
	/* Request the usage with each piece of text (continuous_usage_stats); also an extension. */
	bool usage_each;
	bool whole; /* request answers without a stream */
	/*
	 * counts the tokens of answers for which the server does not state their number; NULL: these tokens
	 * are not counted
	 */
	struct kwhy_llm_tokenizer *tokenizer;
	const struct kwhy_llm_word_costs *costs; /* table by which the lengths of made-up texts are counted in
						    tokens; NULL: the lengths are in words */
};

/* Number of different words of which prompts are made up, and the tokens of each. */
enum { KWHY_LLM_WORDS = 16 };
struct kwhy_llm_word_costs {
	size_t first[KWHY_LLM_WORDS], next[KWHY_LLM_WORDS]; /* first: of the word at the start of a text;
							       next: of the word after a space */
};

/*
 * Counts the tokens of the words of which prompts are made up. KWHY_E_INPUT: no word has a single token at
 * the start of a text, or none after a space, so not every length can be made.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_word_costs_of(
	struct kwhy_llm_tokenizer *tokenizer, struct kwhy_llm_word_costs *out, struct kwhy_error *error);

/* Number of turns of conversation `number`, each of which is one request; at least 1. */
size_t kwhy_llm_turns(const struct kwhy_llm_question *question, uint64_t number);

/*
 * Makes the JSON body of the request for turn `turn` (from 0) of conversation `number`. It contains the
 * earlier turns with answers from the file or made-up ones, not those of the server. The caller frees *out.
 * Made-up prompts differ after their first shared_words words, so that the server can use its prefix cache
 * only for those words. KWHY_E_INPUT: a text is not UTF-8, or memory ran out.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_body(const struct kwhy_llm_question *question, uint64_t number,
	size_t turn, char **out, struct kwhy_error *error);

#endif
