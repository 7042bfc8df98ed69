/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "import/protobuf/message.h"

#include <stdlib.h>
#include <string.h>

/* Tests reading of single fields of protocol buffers, valid and malformed (encoding: protobuf.dev). */

enum { BYTES_MAX = 16 };

/* Field 1 (key = 1 << 3 | wire) of each encoding. */
static const struct {
	const char *title;
	unsigned char bytes[BYTES_MAX];
	size_t length;
	enum kwhy_protobuf_wire wire;
	uint64_t value;
} whole[] = {
	{"one byte", {0x08, 0x07}, 2, KWHY_PROTOBUF_VARINT, 7},
	{"two bytes", {0x08, 0xAC, 0x02}, 3, KWHY_PROTOBUF_VARINT, 300},
	{"ten bytes", {0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}, 11,
		KWHY_PROTOBUF_VARINT, UINT64_MAX},
	{"64 bits", {0x09, 1, 2, 3, 4, 5, 6, 7, 8}, 9, KWHY_PROTOBUF_FIXED64, 0x0807060504030201},
	{"32 bits", {0x0D, 1, 2, 3, 4}, 5, KWHY_PROTOBUF_FIXED32, 0x04030201},
	{"bytes", {0x0A, 3, 'a', 'b', 'c'}, 5, KWHY_PROTOBUF_BYTES, 3},
	{"no bytes", {0x0A, 0}, 2, KWHY_PROTOBUF_BYTES, 0},
};

static const struct {
	const char *title;
	unsigned char bytes[BYTES_MAX];
	size_t length;
} malformed[] = {
	{"eleven bytes", {0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}, 12},
	{"number 0", {0x00, 1}, 2},
	{"a group", {0x0B, 1}, 2},
	{"the end of a group", {0x0C, 1}, 2},
	{"an encoding that does not exist", {0x0E, 1}, 2},
	{"more bytes than there are", {0x0A, 4, 'a', 'b', 'c'}, 5},
	{"far more bytes", {0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}, 11},
};

/*
 * Reads a field from a copy of the bytes in a block of exactly their size, so that a sanitizer or valgrind
 * reports reads beyond it. Sets *out_left to the number of bytes after the field.
 */
static int read_field(
	const unsigned char *bytes, size_t length, struct kwhy_protobuf_field *out, size_t *out_left)
{
	unsigned char *own = malloc(length + !length);
	struct kwhy_protobuf_message message = {own, own + length};
	int result;

	assert_non_null(own);
	memcpy(own, bytes, length);
	result = kwhy_protobuf_next(&message, out);
	*out_left = (size_t)(message.end - message.at);
	free(own);
	return result;
}

static void each_encoding_is_read(void **state)
{
	struct kwhy_protobuf_field field;
	size_t left;

	(void)state;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (read_field(whole[i].bytes, whole[i].length, &field, &left) != 1 || left ||
			field.number != 1 || field.wire != whole[i].wire || field.value != whole[i].value)
			fail_msg("%s: %llu", whole[i].title, (unsigned long long)field.value);
}

static void a_field_that_is_cut_anywhere_is_refused(void **state)
{
	struct kwhy_protobuf_field field;
	size_t left;

	(void)state;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		for (size_t length = 0; length < whole[i].length; length++)
			if (read_field(whole[i].bytes, length, &field, &left) != (length ? -1 : 0))
				fail_msg("%s: %zu bytes of it", whole[i].title, length);
}

static void what_is_no_field_is_refused(void **state)
{
	struct kwhy_protobuf_field field;
	size_t left;

	(void)state;
	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		if (read_field(malformed[i].bytes, malformed[i].length, &field, &left) != -1)
			fail_msg("%s", malformed[i].title);
}

static void a_double_is_the_bits_of_its_value(void **state)
{
	const struct kwhy_protobuf_field field = {1, KWHY_PROTOBUF_FIXED64, 0x3FF8000000000000, {NULL, NULL}};

	(void)state;
	assert_true(kwhy_protobuf_double(&field) == 1.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_encoding_is_read),
		cmocka_unit_test(a_field_that_is_cut_anywhere_is_refused),
		cmocka_unit_test(what_is_no_field_is_refused),
		cmocka_unit_test(a_double_is_the_bits_of_its_value),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
