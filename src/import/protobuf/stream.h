/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_PROTOBUF_STREAM_H
#define KWHY_IMPORT_PROTOBUF_STREAM_H

#include "import/input.h"
#include "import/protobuf/message.h"

/*
 * A file that is one protocol-buffer message, front to back, so that memory does not grow with the file: the
 * outer messages are entered field by field, and only the small inner ones are taken as a whole. The file may
 * be compressed.
 */
struct kwhy_protobuf_stream {
	struct kwhy_input *input;
	const char *path; /* for error messages */
	unsigned char *buffer;
	size_t capacity, begin, end; /* range of the buffer that has been read and not passed, bytes */
	uint64_t offset;	     /* offset of `begin` in the file, bytes */
	bool ended;		     /* the buffer holds the last bytes of the file */
};

/* Largest message that is taken as a whole, in bytes. */
#define KWHY_PROTOBUF_MESSAGE_MAX_BYTES (64u << 20)

/* The end of the message that is the file itself, whose length nothing states. */
#define KWHY_PROTOBUF_FILE_END UINT64_MAX

KWHY_MUST_USE enum kwhy_status kwhy_protobuf_stream_open(
	struct kwhy_protobuf_stream *stream, const char *path, struct kwhy_error *error);
void kwhy_protobuf_stream_close(struct kwhy_protobuf_stream *stream);

/*
 * Reads the key of the next field of the message that ends at offset `end`. A number's value is read, too; of
 * bytes only the length, in `value`: enter them by reading on, up to kwhy_protobuf_stream_end(), or take or
 * skip them. *out_more false: the message has ended.
 */
KWHY_MUST_USE enum kwhy_status kwhy_protobuf_stream_next(struct kwhy_protobuf_stream *stream, uint64_t end,
	struct kwhy_protobuf_field *out, bool *out_more, struct kwhy_error *error);

/* Gives the bytes of a field, valid until the next call. */
KWHY_MUST_USE enum kwhy_status kwhy_protobuf_stream_take(struct kwhy_protobuf_stream *stream,
	const struct kwhy_protobuf_field *field, struct kwhy_protobuf_message *out, struct kwhy_error *error);

/* Passes the bytes of a field; nothing to do for numbers. */
KWHY_MUST_USE enum kwhy_status kwhy_protobuf_stream_skip(struct kwhy_protobuf_stream *stream,
	const struct kwhy_protobuf_field *field, struct kwhy_error *error);

/* Offset at which the bytes of a field end that was just read. */
static inline uint64_t kwhy_protobuf_stream_end(
	const struct kwhy_protobuf_stream *stream, const struct kwhy_protobuf_field *field)
{
	return stream->offset + field->value;
}

/* Whether the last failure was that the file ends inside a message. */
bool kwhy_protobuf_stream_is_cut(const struct kwhy_protobuf_stream *stream);

#endif
