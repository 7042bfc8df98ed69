/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_TOKENIZER_H
#define KWHY_LLM_TOKENIZER_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Counts tokens by a tokenizer.json of Hugging Face's tokenizers. Its model must be byte-pair encoding
 * (BPE): either of bytes, as in GPT-2, Llama 3 and Qwen, or of characters, with bytes for characters
 * without a token, as in Llama 2 and Mistral. If the file asks for Unicode's normal form C, texts are
 * assumed to be in it already. Tokens that templates add, such as one for the beginning of a text, are not
 * counted. Only one thread may use a tokenizer.
 */
struct kwhy_llm_tokenizer;

/*
 * Reads a file. KWHY_E_INPUT: it is damaged, or needs a feature that the comment above does not name.
 * KWHY_E_UNSUPPORTED: libpcre2-8, which splits texts into words, is missing.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_tokenizer_open(
	const char *path, struct kwhy_llm_tokenizer **out, struct kwhy_error *error);
void kwhy_llm_tokenizer_close(struct kwhy_llm_tokenizer *tokenizer);

/* Receives the id of each token, in the order of the text. */
typedef void kwhy_llm_take_token(void *context, uint32_t number);

/*
 * Passes the tokens of a text to `take`. KWHY_E_INPUT: the text is not UTF-8, or an expression of the
 * tokenizer fails on it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_tokenize(struct kwhy_llm_tokenizer *tokenizer, const char *text,
	size_t length, kwhy_llm_take_token *take, void *context, struct kwhy_error *error);

/* Gets the number of tokens of a text. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_count_tokens(struct kwhy_llm_tokenizer *tokenizer, const char *text,
	size_t length, size_t *out, struct kwhy_error *error);

#endif
