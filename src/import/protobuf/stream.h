/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_PROTOBUF_STREAM_H
#define KWHY_IMPORT_PROTOBUF_STREAM_H

#include "import/input.h"
#include "import/protobuf/message.h"

/*
 * A file that is one protocol-buffer message, read from front to back in memory that does not grow with the
 * file. A message inside that message can be read field by field or, if it has at most
 * KWHY_PROTOBUF_MESSAGE_MAX_BYTES, into memory as a whole. The file may be compressed.
 */
struct kwhy_protobuf_stream {
	struct kwhy_input *input;
	const char *path; /* path of the file, for error messages */
	unsigned char *buffer;
	size_t capacity, begin, end; /* bytes [begin, end) of the buffer have been read from the file and not
					been passed yet */
	uint64_t offset;	     /* offset of buffer[begin] in the decompressed file, bytes */
	bool ended;		     /* the file has been read to its end */
};

/* Largest content that kwhy_protobuf_stream_take() gives, in bytes; a larger one is KWHY_E_INPUT. */
#define KWHY_PROTOBUF_MESSAGE_MAX_BYTES (64u << 20)

/* As `end` of kwhy_protobuf_stream_next(): the message ends where the file ends. */
#define KWHY_PROTOBUF_FILE_END UINT64_MAX

KWHY_MUST_USE enum kwhy_status kwhy_protobuf_stream_open(
	struct kwhy_protobuf_stream *stream, const char *path, struct kwhy_error *error);
void kwhy_protobuf_stream_close(struct kwhy_protobuf_stream *stream);

/*
 * Reads the start of the next field of the message that ends at file offset `end`. For a number, out->value
 * is its value. For a field of BYTES, out->value is the length of its content; then do one of three things
 * before the next field: read the content as a message, field by field, up to kwhy_protobuf_stream_end(); or
 * get it as a whole by kwhy_protobuf_stream_take(); or skip it by kwhy_protobuf_stream_skip(). *out_more
 * false: the message has ended. KWHY_E_INPUT: the file is damaged or ends inside the field.
 */
KWHY_MUST_USE enum kwhy_status kwhy_protobuf_stream_next(struct kwhy_protobuf_stream *stream, uint64_t end,
	struct kwhy_protobuf_field *out, bool *out_more, struct kwhy_error *error);

/* Gives the content of the field of BYTES that was just read; it is valid until the next call. */
KWHY_MUST_USE enum kwhy_status kwhy_protobuf_stream_take(struct kwhy_protobuf_stream *stream,
	const struct kwhy_protobuf_field *field, struct kwhy_protobuf_message *out, struct kwhy_error *error);

/* Skips the content of the field that was just read; does nothing for numbers. */
KWHY_MUST_USE enum kwhy_status kwhy_protobuf_stream_skip(struct kwhy_protobuf_stream *stream,
	const struct kwhy_protobuf_field *field, struct kwhy_error *error);

/* File offset of the end of the field of BYTES that was just read. Call it before reading its content. */
static inline uint64_t kwhy_protobuf_stream_end(
	const struct kwhy_protobuf_stream *stream, const struct kwhy_protobuf_field *field)
{
	return stream->offset + field->value;
}

#endif
