/* SPDX-License-Identifier: Apache-2.0 */
#include "import/protobuf/message.h"

#include <string.h>

enum { VARINT_BYTES_MAX = 10 };

bool kwhy_protobuf_long_varint(struct kwhy_protobuf_message *message, uint64_t *out)
{
	size_t held = kwhy_protobuf_length(*message);
	size_t length = held < VARINT_BYTES_MAX ? held : VARINT_BYTES_MAX;
	const unsigned char *at = message->at;
	uint64_t value = 0;

	for (size_t i = 0; i < length; i++) {
		value |= (uint64_t)(at[i] & 0x7F) << (7 * i);
		if (at[i] < 0x80) {
			message->at = at + i + 1;
			*out = value;
			return true;
		}
	}
	return false;
}

static bool take_fixed(struct kwhy_protobuf_message *message, size_t size, uint64_t *out)
{
	if (kwhy_protobuf_length(*message) < size)
		return false;
	*out = 0;
	memcpy(out, message->at,
		size); /* protocol buffers are little-endian, and so are all supported machines */
	message->at += size;
	return true;
}

static bool take_bytes(struct kwhy_protobuf_message *message, struct kwhy_protobuf_field *out)
{
	if (!kwhy_protobuf_varint(message, &out->value) || out->value > kwhy_protobuf_length(*message))
		return false;
	out->bytes.at = message->at;
	out->bytes.end = message->at += out->value;
	return true;
}

static bool take_value(struct kwhy_protobuf_message *message, struct kwhy_protobuf_field *out)
{
	switch (out->wire) {
	case KWHY_PROTOBUF_VARINT:
		return kwhy_protobuf_varint(message, &out->value);
	case KWHY_PROTOBUF_FIXED64:
		return take_fixed(message, 8, &out->value);
	case KWHY_PROTOBUF_FIXED32:
		return take_fixed(message, 4, &out->value);
	default:
		return take_bytes(message, out);
	}
}

int kwhy_protobuf_next_any(struct kwhy_protobuf_message *message, struct kwhy_protobuf_field *out)
{
	uint64_t key;

	out->bytes = (struct kwhy_protobuf_message){0};
	if (!kwhy_protobuf_varint(message, &key) || !kwhy_protobuf_key(key, out) || !take_value(message, out))
		return -1;
	return 1;
}

double kwhy_protobuf_double(const struct kwhy_protobuf_field *field)
{
	double value;

	memcpy(&value, &field->value, sizeof(value));
	return value;
}
