/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_PROMPT_H
#define KWHY_LLM_PROMPT_H

#include "llm/dialog.h"
#include "llm/length.h"
#include "llm/tokenizer.h"

enum kwhy_llm_endpoint { KWHY_LLM_CHAT, KWHY_LLM_COMPLETIONS };

/* The questions that all requests of a load ask. Strings and arrays are borrowed. */
struct kwhy_llm_question {
	enum kwhy_llm_endpoint endpoint;
	const char *model;
	const struct kwhy_llm_dialog
		*dialogs; /* dialogs, used one after another; NULL: prompts are made up */
	size_t dialog_count;
	struct kwhy_llm_length words;	   /* number of words of a message of the user that is made up */
	struct kwhy_llm_length max_tokens; /* limit of an answer's tokens, where a dialog states none */
	uint64_t shared_words;		   /* number of words that all made-up prompts begin with */
	size_t turns;			   /* number of turns of a made-up conversation; 0 counts as 1 */
	uint64_t seed;
	/* request answers of exactly max_tokens tokens, by an extension of vLLM and other servers */
	bool ignore_eos;
	/* request the usage with each piece of text (continuous_usage_stats), an extension as well */
	bool usage_each;
	bool whole; /* request answers in one piece, without a stream */
	/* counts tokens where the server does not; NULL: there is none */
	struct kwhy_llm_tokenizer *tokenizer;
	const struct kwhy_llm_word_costs
		*costs; /* lengths of made-up texts are tokens; NULL: they are words */
};

/* Tokens of each word of which prompts are made up. */
enum { KWHY_LLM_WORDS = 16 };
struct kwhy_llm_word_costs {
	size_t first[KWHY_LLM_WORDS], next[KWHY_LLM_WORDS]; /* at the start of a text, and after a space */
};

/* Counts them. KWHY_E_INPUT: no word is one token, so not all lengths can be made. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_word_costs_of(
	struct kwhy_llm_tokenizer *tokenizer, struct kwhy_llm_word_costs *out, struct kwhy_error *error);

/* Number of turns of dialog number `number`, each of which is a request. */
size_t kwhy_llm_turns(const struct kwhy_llm_question *question, uint64_t number);

/*
 * Makes the JSON body of the request for turn `turn` of a dialog. It contains the turns before, with the
 * answers that the file has, or made-up ones. The caller frees it. Prompts that are made up differ after the
 * words that they share, so that the server cannot use its prefix cache for the rest.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_body(const struct kwhy_llm_question *question, uint64_t number,
	size_t turn, char **out, struct kwhy_error *error);

#endif
