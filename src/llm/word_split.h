/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_WORD_SPLIT_H
#define KWHY_LLM_WORD_SPLIT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The functions of PCRE2 that kwhy uses, from its stable interface for 8-bit characters. The library is
 * loaded at run time, because only a tokenizer needs it. These declarations make its header unnecessary for
 * a build.
 */
struct kwhy_pcre2 {
	void *library;
	void *(*compile)(const uint8_t *pattern, size_t length, uint32_t options, int *error_code,
		size_t *error_offset, void *context);
	int (*jit_compile)(void *code, uint32_t options);
	void (*code_free)(void *code);
	void *(*match_data_create)(uint32_t pairs, void *context);
	void (*match_data_free)(void *match);
	size_t *(*get_ovector_pointer)(void *match);
	int (*match)(const void *code, const uint8_t *subject, size_t length, size_t start, uint32_t options,
		void *match, void *context);
};

enum { KWHY_WORD_SPLITS_MAX = 16 };

/*
 * Splits texts into parts by regular expressions. Both the matches and the texts between them are parts.
 * The next expression splits each of these parts further.
 */
struct kwhy_word_split {
	struct kwhy_pcre2 pcre2;
	void *patterns[KWHY_WORD_SPLITS_MAX];
	size_t count;
	void *match;
};

/*
 * Loads the library. KWHY_E_UNSUPPORTED: it is missing. Zero-initialise before; call
 * kwhy_word_split_close() also after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_word_split_open(struct kwhy_word_split *split, struct kwhy_error *error);
void kwhy_word_split_close(struct kwhy_word_split *split);

/* Adds an expression. KWHY_E_INPUT: it is not a regular expression of PCRE2, or there are too many. */
KWHY_MUST_USE enum kwhy_status kwhy_word_split_add(
	struct kwhy_word_split *split, const char *pattern, struct kwhy_error *error);

typedef enum kwhy_status kwhy_word_take(
	void *context, const char *word, size_t length, struct kwhy_error *error);

/*
 * Passes each part to `take`. KWHY_E_INPUT: the text is not UTF-8, or an expression needs too much time or
 * memory for it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_word_split_each(const struct kwhy_word_split *split, const char *text,
	size_t length, kwhy_word_take *take, void *context, struct kwhy_error *error);

#endif
