/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_TOKENIZER_H
#define KWHY_LLM_TOKENIZER_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Counts tokens by a tokenizer.json of Hugging Face's tokenizers whose model is byte-pair encoding (BPE):
 * that of bytes, as GPT-2's, Llama 3's and Qwen's, or of characters with bytes for those that it lacks, as
 * Llama 2's and Mistral's. A text is taken to be in Unicode's normal form C already, where the file asks for
 * it, and gets no tokens of templates, such as one for its beginning. Only one thread may use a tokenizer.
 */
struct kwhy_llm_tokenizer;

/*
 * Reads a file. KWHY_E_INPUT: it is damaged, or asks for something else than the above. KWHY_E_UNSUPPORTED:
 * libpcre2-8, which splits texts into words, is not there.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_tokenizer_open(
	const char *path, struct kwhy_llm_tokenizer **out, struct kwhy_error *error);
void kwhy_llm_tokenizer_close(struct kwhy_llm_tokenizer *tokenizer);

/* Takes the numbers of tokens in order. */
typedef void kwhy_llm_take_token(void *context, uint32_t number);

/* Passes the tokens of a text of UTF-8 to `take`. KWHY_E_INPUT: the text is not UTF-8. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_tokenize(struct kwhy_llm_tokenizer *tokenizer, const char *text,
	size_t length, kwhy_llm_take_token *take, void *context, struct kwhy_error *error);

/* Number of tokens of a text. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_count_tokens(struct kwhy_llm_tokenizer *tokenizer, const char *text,
	size_t length, size_t *out, struct kwhy_error *error);

#endif
