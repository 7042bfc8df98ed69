/* SPDX-License-Identifier: Apache-2.0 */
#include "import/protobuf/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	BUFFER_BYTES = 1 << 20,
	KEY_BYTES_MAX = 20 /* a key and a value or length, of at most 10 bytes each */
};

enum kwhy_status kwhy_protobuf_stream_open(
	struct kwhy_protobuf_stream *stream, const char *path, struct kwhy_error *error)
{
	enum kwhy_status status;

	*stream = (struct kwhy_protobuf_stream){.path = path};
	status = kwhy_input_open(path, &stream->input, error);
	if (status)
		return status;
	stream->buffer = malloc(BUFFER_BYTES);
	stream->capacity = BUFFER_BYTES;
	if (stream->buffer)
		return KWHY_OK;
	kwhy_protobuf_stream_close(stream);
	return kwhy_fail_memory(error, "reading a trace");
}

void kwhy_protobuf_stream_close(struct kwhy_protobuf_stream *stream)
{
	if (stream->input)
		kwhy_input_close(stream->input);
	free(stream->buffer);
	*stream = (struct kwhy_protobuf_stream){0};
}

static enum kwhy_status grow(struct kwhy_protobuf_stream *stream, size_t size, struct kwhy_error *error)
{
	unsigned char *buffer;

	if (size <= stream->capacity)
		return KWHY_OK;
	buffer = realloc(stream->buffer, size);
	if (!buffer)
		return kwhy_fail_memory(error, "reading a trace");
	stream->buffer = buffer;
	stream->capacity = size;
	return KWHY_OK;
}

/*
 * If the buffer has fewer than `size` unread bytes, reads more of the file. Afterwards it has at least
 * `size`, or the file has ended.
 */
static enum kwhy_status fill(struct kwhy_protobuf_stream *stream, size_t size, struct kwhy_error *error)
{
	enum kwhy_status status;
	size_t got;

	if (stream->end - stream->begin >= size || stream->ended)
		return KWHY_OK;
	memmove(stream->buffer, stream->buffer + stream->begin, stream->end - stream->begin);
	stream->end -= stream->begin;
	stream->begin = 0;
	status = grow(stream, size, error);
	if (!status)
		status = kwhy_input_read(stream->input, stream->buffer + stream->end,
			stream->capacity - stream->end, &got, error);
	if (status)
		return status;
	stream->ended = got < stream->capacity - stream->end;
	stream->end += got;
	return KWHY_OK;
}

static void pass(struct kwhy_protobuf_stream *stream, size_t size)
{
	stream->begin += size;
	stream->offset += size;
}

static enum kwhy_status fail_cut(const struct kwhy_protobuf_stream *stream, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s ends early, inside a message at byte %" PRIu64
		": the copy or the recording was cut; copy it again, or read what is whole with --partial",
		stream->path, stream->offset);
}

static enum kwhy_status fail_damaged(const struct kwhy_protobuf_stream *stream, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s is damaged at byte %" PRIu64
		": no field of a message begins here; copy or record the trace again, or read what stands "
		"before it with --partial",
		stream->path, stream->offset);
}

/*
 * Reads from *head, bytes of the buffer, the key of a field and its number or, for BYTES, its length. Below
 * 0: the bytes are no field, or end inside it.
 */
static int read_head(struct kwhy_protobuf_message *head, struct kwhy_protobuf_field *out)
{
	uint64_t key;

	out->bytes = (struct kwhy_protobuf_message){0};
	if (!kwhy_protobuf_varint(head, &key) || !kwhy_protobuf_key(key, out))
		return -1;
	if (out->wire == KWHY_PROTOBUF_BYTES || out->wire == KWHY_PROTOBUF_VARINT)
		return kwhy_protobuf_varint(head, &out->value) ? 1 : -1;
	if (kwhy_protobuf_length(*head) < (out->wire == KWHY_PROTOBUF_FIXED64 ? 8 : 4))
		return -1;
	out->value = 0;
	memcpy(&out->value, head->at, out->wire == KWHY_PROTOBUF_FIXED64 ? 8 : 4);
	head->at += out->wire == KWHY_PROTOBUF_FIXED64 ? 8 : 4;
	return 1;
}

enum kwhy_status kwhy_protobuf_stream_next(struct kwhy_protobuf_stream *stream, uint64_t end,
	struct kwhy_protobuf_field *out, bool *out_more, struct kwhy_error *error)
{
	struct kwhy_protobuf_message head;
	enum kwhy_status status = fill(stream, KEY_BYTES_MAX, error);
	size_t held = stream->end - stream->begin;
	int result;

	*out_more = false;
	if (status || stream->offset == end || (held == 0 && end == KWHY_PROTOBUF_FILE_END))
		return status;
	head.at = stream->buffer + stream->begin;
	head.end = head.at + held;
	result = read_head(&head, out);
	if (result < 0 && held < KEY_BYTES_MAX)
		return fail_cut(stream, error);
	if (result < 0)
		return fail_damaged(stream, error);
	pass(stream, (size_t)(head.at - (stream->buffer + stream->begin)));
	if (stream->offset > end || (out->wire == KWHY_PROTOBUF_BYTES && out->value > end - stream->offset))
		return fail_damaged(stream, error);
	*out_more = true;
	return KWHY_OK;
}

enum kwhy_status kwhy_protobuf_stream_take(struct kwhy_protobuf_stream *stream,
	const struct kwhy_protobuf_field *field, struct kwhy_protobuf_message *out, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (field->wire != KWHY_PROTOBUF_BYTES)
		return fail_damaged(stream, error);
	if (field->value > KWHY_PROTOBUF_MESSAGE_MAX_BYTES)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s has a message of %" PRIu64 " bytes at byte %" PRIu64
			", more than the %u that are read: it is damaged; record the trace again",
			stream->path, field->value, stream->offset, KWHY_PROTOBUF_MESSAGE_MAX_BYTES);
	status = fill(stream, (size_t)field->value, error);
	if (status)
		return status;
	if (stream->end - stream->begin < field->value)
		return fail_cut(stream, error);
	out->at = stream->buffer + stream->begin;
	out->end = out->at + field->value;
	pass(stream, (size_t)field->value);
	return KWHY_OK;
}

enum kwhy_status kwhy_protobuf_stream_skip(struct kwhy_protobuf_stream *stream,
	const struct kwhy_protobuf_field *field, struct kwhy_error *error)
{
	uint64_t left = field->wire == KWHY_PROTOBUF_BYTES ? field->value : 0;

	while (left > 0) {
		size_t held = stream->end - stream->begin;
		size_t step = left < held ? (size_t)left : held;
		enum kwhy_status status;

		pass(stream, step);
		left -= step;
		if (left == 0)
			break;
		status = fill(stream, 1, error);
		if (status)
			return status;
		if (stream->begin == stream->end)
			return fail_cut(stream, error);
	}
	return KWHY_OK;
}
