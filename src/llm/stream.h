/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_STREAM_H
#define KWHY_LLM_STREAM_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Parses server-sent events from bytes that arrive in pieces of any size (WHATWG HTML, section 9.2.6). Gives
 * the data of each event with its lines joined, and skips other fields. Initialise with zeros. For one
 * thread.
 */
struct kwhy_llm_stream {
	struct kwhy_text line, data;
	bool after_return; /* a line feed that comes next belongs to the preceding carriage return */
	bool has_data;
};

enum { KWHY_LLM_EVENT_BYTES_MAX = 1 << 20 };

enum kwhy_llm_fed {
	KWHY_LLM_FED,
	KWHY_LLM_FED_TOO_LONG, /* an event beyond KWHY_LLM_EVENT_BYTES_MAX */
	KWHY_LLM_FED_REFUSED,  /* the callback returned false */
	KWHY_LLM_FED_NO_MEMORY
};

/* Receives the data of one event, NUL-terminated; returns false to stop. */
typedef bool kwhy_llm_take(void *context, const char *data, size_t length);

enum kwhy_llm_fed kwhy_llm_stream_feed(
	struct kwhy_llm_stream *stream, const char *bytes, size_t length, kwhy_llm_take *take, void *context);
void kwhy_llm_stream_done(struct kwhy_llm_stream *stream);

#endif
