/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_STREAM_H
#define KWHY_LLM_STREAM_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Parses server-sent events (WHATWG HTML, section 9.2.6) from bytes that arrive in pieces of any size. The
 * data lines of an event are joined and passed on. The field "event: error", and a field "error" with data of
 * its own as llama.cpp sends it, mark the event as an error; other fields are skipped. Zero-initialise it.
 * Only one thread may use it.
 */
struct kwhy_llm_stream {
	struct kwhy_text line, data;
	/*
	 * the last character was a carriage return; a line feed that follows belongs to the same line end
	 */
	bool after_return;
	bool has_data;
	bool is_error; /* the event that is received or passed on is an error */
};

enum { KWHY_LLM_EVENT_BYTES_MAX = 1 << 20 };

enum kwhy_llm_fed {
	KWHY_LLM_FED,
	KWHY_LLM_FED_TOO_LONG, /* an event has more than KWHY_LLM_EVENT_BYTES_MAX bytes */
	KWHY_LLM_FED_REFUSED,  /* the callback returned false */
	KWHY_LLM_FED_NO_MEMORY
};

/* Receives the data of one event, terminated by NUL. Returns false to stop parsing. */
typedef bool kwhy_llm_take(void *context, const char *data, size_t length);

enum kwhy_llm_fed kwhy_llm_stream_feed(
	struct kwhy_llm_stream *stream, const char *bytes, size_t length, kwhy_llm_take *take, void *context);
void kwhy_llm_stream_done(struct kwhy_llm_stream *stream);

#endif
