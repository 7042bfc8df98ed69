/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/proto.h"

#include <string.h>

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

enum { LENGTH_BYTES = 4 };

void kwhy_proto_varint(struct kwhy_text *out, unsigned field, uint64_t value)
{
	kwhy_text_add_varint(out, field << 3 | WIRE_VARINT);
	kwhy_text_add_varint(out, value);
}

void kwhy_proto_double(struct kwhy_text *out, unsigned field, double value)
{
	kwhy_text_add_varint(out, field << 3 | WIRE_FIXED64);
	kwhy_text_add_bytes(out, &value, sizeof(value)); /* little-endian, as on all supported machines */
}

void kwhy_proto_string(struct kwhy_text *out, unsigned field, const char *value)
{
	size_t length = strlen(value);

	kwhy_text_add_varint(out, field << 3 | WIRE_BYTES);
	kwhy_text_add_varint(out, length);
	kwhy_text_add_bytes(out, value, length);
}

size_t kwhy_proto_begin(struct kwhy_text *out, unsigned field)
{
	kwhy_text_add_varint(out, field << 3 | WIRE_BYTES);
	kwhy_text_add_bytes(out, "\x80\x80\x80", LENGTH_BYTES - 1);
	kwhy_text_add_bytes(out, "", 1);
	return out->length;
}

void kwhy_proto_end(struct kwhy_text *out, size_t begun)
{
	size_t length = out->length - begun;

	if (out->failed)
		return;
	for (size_t i = 0; i < LENGTH_BYTES; i++)
		out->data[begun - LENGTH_BYTES + i] = (char)((length >> (7 * i) & 0x7F) |
			(i + 1 < LENGTH_BYTES ? 0x80 : 0));
}
