/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_DIALOG_H
#define KWHY_LLM_DIALOG_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Contents of requests, read from a file. */

enum kwhy_llm_role { KWHY_LLM_SYSTEM, KWHY_LLM_USER, KWHY_LLM_ASSISTANT };

struct kwhy_llm_message {
	enum kwhy_llm_role role;
	const char *text;
};

/* A prompt, a conversation of several turns, or a request of a log that states only lengths. */
struct kwhy_llm_dialog {
	struct kwhy_llm_message *messages; /* the last message is from the user */
	/* 0: the prompt is made up of `words` words, or tokens if a tokenizer is given */
	size_t message_count;
	size_t turns; /* number of messages of the user; at least 1 */
	uint64_t words;
	const uint64_t *blocks; /* ids of the blocks of 512 words with which a made-up prompt begins; blocks
				   with the same id have the same words */
	size_t block_count;
	uint64_t max_tokens; /* largest number of tokens of the answer; 0: not stated */
	double at_s; /* time at which the request came, in seconds after the log's first request; NAN: not
			stated */
};

struct kwhy_llm_dialogs {
	struct kwhy_arena arena; /* memory of all texts */
	struct kwhy_llm_dialog *items;
	size_t count, capacity;
};

/*
 * Reads the content of a file. `path` is named in messages, and its extension decides the form:
 *
 * - .jsonl: one JSON object in each line, with "prompt", "text_input" or "messages" (of the OpenAI API), or
 *   with "input_length" as in Mooncake's traces; optional are "output_length" or "max_tokens", "timestamp"
 *   (ms) and "hash_ids";
 *
 * - .json: an array of objects with "conversations", whose elements have "from" and "value" (ShareGPT);
 *
 * - any other extension: one prompt in each line.
 *
 * KWHY_E_INPUT: the file does not have this form. Call kwhy_llm_dialogs_done() also after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_dialogs_read(const char *path, const char *text, size_t length,
	struct kwhy_llm_dialogs *out, struct kwhy_error *error);
void kwhy_llm_dialogs_done(struct kwhy_llm_dialogs *dialogs);

#endif
