/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_PROTOBUF_STREAM_H
#define KWHY_IMPORT_PROTOBUF_STREAM_H

#include "import/input.h"
#include "import/protobuf/message.h"

/*
 * A file that is one protocol-buffer message, read from front to back in memory that does not grow with the
 * file. Large messages inside it are read field by field; small messages are read into memory as a whole. The
 * file may be compressed.
 */
struct kwhy_protobuf_stream {
	struct kwhy_input *input;
	const char *path; /* path of the file, for error messages */
	unsigned char *buffer;
	size_t capacity, begin,
		end;	 /* bytes [begin, end) of the buffer have been read from the file but not used yet */
	uint64_t offset; /* offset of `begin` in the file, bytes */
	bool ended;	 /* the buffer has the last bytes of the file */
};

/* Largest message that kwhy_protobuf_stream_take() gives, in bytes. */
#define KWHY_PROTOBUF_MESSAGE_MAX_BYTES (64u << 20)

/* Stands for the end of the file, whose offset is unknown. */
#define KWHY_PROTOBUF_FILE_END UINT64_MAX

KWHY_MUST_USE enum kwhy_status kwhy_protobuf_stream_open(
	struct kwhy_protobuf_stream *stream, const char *path, struct kwhy_error *error);
void kwhy_protobuf_stream_close(struct kwhy_protobuf_stream *stream);

/*
 * Reads the start of the next field of the message that ends at file offset `end`. For a number, out->value
 * is its value. For bytes it is their length; then either read the fields in them up to
 * kwhy_protobuf_stream_end(), or get them by kwhy_protobuf_stream_take(), or skip them. *out_more false: the
 * message has ended.
 */
KWHY_MUST_USE enum kwhy_status kwhy_protobuf_stream_next(struct kwhy_protobuf_stream *stream, uint64_t end,
	struct kwhy_protobuf_field *out, bool *out_more, struct kwhy_error *error);

/* Gives the content of the field that was just read; it is valid until the next call. */
KWHY_MUST_USE enum kwhy_status kwhy_protobuf_stream_take(struct kwhy_protobuf_stream *stream,
	const struct kwhy_protobuf_field *field, struct kwhy_protobuf_message *out, struct kwhy_error *error);

/* Skips the content of the field that was just read; does nothing for numbers. */
KWHY_MUST_USE enum kwhy_status kwhy_protobuf_stream_skip(struct kwhy_protobuf_stream *stream,
	const struct kwhy_protobuf_field *field, struct kwhy_error *error);

/* File offset of the end of the field that was just read. */
static inline uint64_t kwhy_protobuf_stream_end(
	const struct kwhy_protobuf_stream *stream, const struct kwhy_protobuf_field *field)
{
	return stream->offset + field->value;
}

/* Whether the last failure was that the file ends inside a message. */
bool kwhy_protobuf_stream_is_cut(const struct kwhy_protobuf_stream *stream);

#endif
