/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_PROTOBUF_MESSAGE_H
#define KWHY_IMPORT_PROTOBUF_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Fields of a protocol-buffer message in memory, one after the other (protobuf.dev, "Encoding"). Nothing is
 * copied or allocated; the reader of a format takes the fields that it knows by number. Why no library does
 * this: docs/adr/0030-protobuf-is-walked.md.
 */
struct kwhy_protobuf_message {
	const unsigned char *at, *end;
};

enum kwhy_protobuf_wire {
	KWHY_PROTOBUF_VARINT = 0,
	KWHY_PROTOBUF_FIXED64 = 1,
	KWHY_PROTOBUF_BYTES = 2,
	KWHY_PROTOBUF_FIXED32 = 5,
};

struct kwhy_protobuf_field {
	uint32_t number;
	enum kwhy_protobuf_wire wire;
	uint64_t value;			    /* of the numbers; the length of bytes */
	struct kwhy_protobuf_message bytes; /* text, bytes, or a message */
};

/* Passes a variable-length integer. False: it is cut or longer than 10 bytes. */
bool kwhy_protobuf_varint(struct kwhy_protobuf_message *message, uint64_t *out);

/*
 * Passes a field. Below 0: the bytes are no message, or end inside the field; 0: the end of the message;
 * above 0: a field.
 */
int kwhy_protobuf_next(struct kwhy_protobuf_message *message, struct kwhy_protobuf_field *out);

/* Number and kind of a field by its key. False: no kind that is in use, or number 0. */
bool kwhy_protobuf_key(uint64_t key, struct kwhy_protobuf_field *out);

static inline size_t kwhy_protobuf_length(struct kwhy_protobuf_message message)
{
	return (size_t)(message.end - message.at);
}

/* A field's value as a double; its kind is FIXED64. */
double kwhy_protobuf_double(const struct kwhy_protobuf_field *field);

#endif
