/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/stream.h"

#include <string.h>

/* Ends an event and passes on its data. An event without data is ignored. */
static enum kwhy_llm_fed end_event(struct kwhy_llm_stream *stream, kwhy_llm_take *take, void *context)
{
	bool goes_on = true;

	if (stream->data.failed)
		return KWHY_LLM_FED_NO_MEMORY;
	if (stream->has_data)
		goes_on = take(context, stream->data.data ? stream->data.data : "", stream->data.length);
	kwhy_text_clear(&stream->data);
	stream->has_data = stream->is_error = false;
	return goes_on ? KWHY_LLM_FED : KWHY_LLM_FED_REFUSED;
}

static void add_data(struct kwhy_llm_stream *stream, const char *value)
{
	if (stream->has_data)
		kwhy_text_add(&stream->data, "\n");
	kwhy_text_add(&stream->data, *value == ' ' ? value + 1 : value);
	stream->has_data = true;
}

static enum kwhy_llm_fed end_line(struct kwhy_llm_stream *stream, kwhy_llm_take *take, void *context)
{
	const char *line = stream->line.data;

	if (stream->line.failed)
		return KWHY_LLM_FED_NO_MEMORY;
	if (!stream->line.length)
		return end_event(stream, take, context);
	if (strncmp(line, "data:", 5) == 0)
		add_data(stream, line + 5);
	else if (strcmp(line, "data") == 0)
		add_data(stream, "");
	else if (strncmp(line, "error:", 6) == 0) {
		add_data(stream, line + 6);
		stream->is_error = true;
	} else if (strcmp(line, "event: error") == 0 || strcmp(line, "event:error") == 0)
		stream->is_error = true;
	kwhy_text_clear(&stream->line);
	return KWHY_LLM_FED;
}

static bool is_too_long(const struct kwhy_llm_stream *stream, size_t more)
{
	return stream->line.length + stream->data.length + more > KWHY_LLM_EVENT_BYTES_MAX;
}

enum kwhy_llm_fed kwhy_llm_stream_feed(
	struct kwhy_llm_stream *stream, const char *bytes, size_t length, kwhy_llm_take *take, void *context)
{
	enum kwhy_llm_fed fed = KWHY_LLM_FED;

	while (length && fed == KWHY_LLM_FED) {
		size_t plain = 0;

		if (stream->after_return && *bytes == '\n') {
			stream->after_return = false;
			bytes++;
			length--;
			continue;
		}
		stream->after_return = false;
		while (plain < length && bytes[plain] != '\n' && bytes[plain] != '\r')
			plain++;
		if (is_too_long(stream, plain))
			return KWHY_LLM_FED_TOO_LONG;
		kwhy_text_add_bytes(&stream->line, bytes, plain);
		if (plain < length) {
			stream->after_return = bytes[plain] == '\r';
			fed = end_line(stream, take, context);
			plain++;
		}
		bytes += plain;
		length -= plain;
	}
	return stream->line.failed ? KWHY_LLM_FED_NO_MEMORY : fed;
}

void kwhy_llm_stream_done(struct kwhy_llm_stream *stream)
{
	kwhy_text_done(&stream->line);
	kwhy_text_done(&stream->data);
}
