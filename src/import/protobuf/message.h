/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_PROTOBUF_MESSAGE_H
#define KWHY_IMPORT_PROTOBUF_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A protocol-buffer message in memory, of which the bytes from `at` to `end` have not been read yet. Fields
 * are read one after the other (protobuf.dev, "Encoding"). Nothing is copied or allocated; callers ignore
 * fields whose numbers they do not know. docs/adr/0030-protobuf-is-walked.md states why no library is used.
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
	uint64_t value;			    /* VARINT, FIXED64 or FIXED32: the value; BYTES: the length */
	struct kwhy_protobuf_message bytes; /* BYTES: the content, which is a text, bytes or a message; other
					       encodings: both pointers are NULL */
};

/* Reads a variable-length integer of any length; called by kwhy_protobuf_varint(). */
bool kwhy_protobuf_long_varint(struct kwhy_protobuf_message *message, uint64_t *out);

/*
 * Reads a variable-length integer and moves past it. False: it is truncated or longer than 10 bytes. Integers
 * of one, two and four bytes are read here, since most have one or two bytes and Perfetto writes lengths in
 * four.
 */
static inline bool kwhy_protobuf_varint(struct kwhy_protobuf_message *message, uint64_t *out)
{
	const unsigned char *at = message->at;

	if (at < message->end && at[0] < 0x80) {
		message->at = at + 1;
		*out = at[0];
		return true;
	}
	if (message->end - at >= 2 && at[1] < 0x80) {
		message->at = at + 2;
		*out = (uint64_t)at[1] << 7 | (at[0] & 0x7F);
		return true;
	}
	if (message->end - at >= 4 && at[2] >= 0x80 && at[3] < 0x80) {
		message->at = at + 4;
		*out = (uint64_t)at[3] << 21 | (at[2] & 0x7Fu) << 14 | (at[1] & 0x7Fu) << 7 | (at[0] & 0x7Fu);
		return true;
	}
	return kwhy_protobuf_long_varint(message, out);
}

/*
 * Splits a field's key into number and encoding. False: the encoding does not exist or is deprecated, or
 * the number is 0.
 */
static inline bool kwhy_protobuf_key(uint64_t key, struct kwhy_protobuf_field *out)
{
	out->wire = (enum kwhy_protobuf_wire)(key & 7);
	out->number = (uint32_t)(key >> 3);
	return key >> 3 > 0 && key >> 3 <= UINT32_MAX &&
		(out->wire <= KWHY_PROTOBUF_BYTES || out->wire == KWHY_PROTOBUF_FIXED32);
}

/* Reads a field of any encoding; called by kwhy_protobuf_next(). */
int kwhy_protobuf_next_any(struct kwhy_protobuf_message *message, struct kwhy_protobuf_field *out);

/*
 * Reads a field and moves past it. Above 0: `out` holds a field; 0: the message has ended; below 0: the bytes
 * are not a message, or they end inside the field.
 */
static inline int kwhy_protobuf_next(struct kwhy_protobuf_message *message, struct kwhy_protobuf_field *out)
{
	struct kwhy_protobuf_message rest = {message->at + 1, message->end};
	unsigned key;

	if (message->at == message->end)
		return 0;
	key = *message->at;
	out->wire = (enum kwhy_protobuf_wire)(key & 7);
	out->number = key >> 3;
	/* fast path for most fields: a key of one byte, then a number or bytes */
	if (key < 8 || key >= 0x80 ||
		(out->wire != KWHY_PROTOBUF_VARINT && out->wire != KWHY_PROTOBUF_BYTES) ||
		!kwhy_protobuf_varint(&rest, &out->value))
		return kwhy_protobuf_next_any(message, out);
	out->bytes = (struct kwhy_protobuf_message){0};
	if (out->wire == KWHY_PROTOBUF_BYTES) {
		if (out->value > (uint64_t)(rest.end - rest.at))
			return -1;
		out->bytes.at = rest.at;
		out->bytes.end = rest.at += out->value;
	}
	message->at = rest.at;
	return 1;
}

static inline size_t kwhy_protobuf_length(struct kwhy_protobuf_message message)
{
	return (size_t)(message.end - message.at);
}

/* The bits of a FIXED64 field as a double. */
double kwhy_protobuf_double(const struct kwhy_protobuf_field *field);

#endif
