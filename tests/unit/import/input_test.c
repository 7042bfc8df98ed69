/* SPDX-License-Identifier: Apache-2.0 */
#include "kineto_fixture.h"

#include "import/input_ahead.h"

#include <zlib.h>

/* Tests reading of input files, plain or compressed, at once or in pieces. */

enum { LENGTH = 3000000 };

static unsigned char *bytes;

static int make_bytes(void **state)
{
	uint32_t seed = 1;

	(void)state;
	bytes = malloc(LENGTH);
	if (!bytes)
		return -1;
	for (size_t i = 0; i < LENGTH; i++) {
		seed = seed * 1664525u + 1013904223u;
		bytes[i] = (unsigned char)('a' + (seed >> 28));
	}
	return 0;
}

static int free_bytes(void **state)
{
	(void)state;
	free(bytes);
	return 0;
}

static struct kwhy_input *open_plain(void)
{
	struct kwhy_input *input;

	write_bytes(bytes, LENGTH);
	OK(kwhy_input_open(kineto_path, &input, &error));
	unlink(kineto_path);
	return input;
}

static struct kwhy_input *open_packed(size_t cut_bytes)
{
	uLong size = compressBound(LENGTH) + 64;
	unsigned char *packed = malloc(size);
	z_stream pack = {.next_in = bytes, .avail_in = LENGTH, .next_out = packed, .avail_out = (uInt)size};
	struct kwhy_input *input;

	assert_int_equal(deflateInit2(&pack, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&pack, Z_FINISH), Z_STREAM_END);
	write_bytes(packed, size - pack.avail_out - cut_bytes);
	deflateEnd(&pack);
	free(packed);
	OK(kwhy_input_open(kineto_path, &input, &error));
	unlink(kineto_path);
	return input;
}

static void check_pieces(struct kwhy_input *input, size_t piece)
{
	unsigned char *out = malloc(piece);
	size_t at = 0, got = 1;

	while (got > 0) {
		OK(kwhy_input_read(input, out, piece, &got, &error));
		assert_true(got == piece || at + got == LENGTH);
		assert_memory_equal(out, bytes + at, got);
		at += got;
	}
	assert_int_equal(at, LENGTH);
	free(out);
	kwhy_input_close(input);
}

static void bytes_come_whole_in_pieces_of_any_size(void **state)
{
	static const size_t pieces[] = {977, 262144, 1000000, 5000000};

	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		check_pieces(open_plain(), pieces[i]);
		check_pieces(open_packed(0), pieces[i]);
	}
}

static void what_is_packed_is_known(void **state)
{
	struct kwhy_input *inputs[] = {open_plain(), open_packed(0)};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(kwhy_input_is_packed(inputs[i]), i == 1);
		kwhy_input_close(inputs[i]);
	}
}

static void text_in_utf16_is_refused_with_its_encoding(void **state)
{
	static const unsigned char texts[][6] = {{0xFF, 0xFE, 't', 0, 'i', 0}, {0xFE, 0xFF, 0, 't', 0, 'i'}};
	struct kwhy_input *input;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		write_bytes(texts[i], sizeof(texts[i]));
		assert_int_equal(kwhy_input_open(kineto_path, &input, &error), KWHY_E_INPUT);
		assert_non_null(strstr(error.text, "is text in UTF-16; save it as UTF-8"));
		unlink(kineto_path);
	}
}

static void check_ahead(struct kwhy_input *input)
{
	struct kwhy_ahead *ahead;
	unsigned char out[70000];
	size_t at = 0, got = 1;

	OK(kwhy_ahead_open(input, &ahead, &error));
	while (got > 0) {
		OK(kwhy_ahead_read(ahead, out, sizeof(out), &got, &error));
		assert_memory_equal(out, bytes + at, got);
		at += got;
	}
	assert_int_equal(at, LENGTH);
	OK(kwhy_ahead_read(ahead, out, sizeof(out), &got, &error));
	assert_int_equal(got, 0);
	kwhy_ahead_close(ahead);
}

static void reading_ahead_gives_the_same_bytes(void **state)
{
	(void)state;
	check_ahead(open_plain());
	check_ahead(open_packed(0));
}

static void reading_ahead_can_stop_anywhere(void **state)
{
	struct kwhy_ahead *ahead;
	unsigned char out[1000];
	size_t got;

	(void)state;
	OK(kwhy_ahead_open(open_packed(0), &ahead, &error));
	kwhy_ahead_close(ahead);
	OK(kwhy_ahead_open(open_packed(0), &ahead, &error));
	OK(kwhy_ahead_read(ahead, out, sizeof(out), &got, &error));
	kwhy_ahead_close(ahead);
}

static void what_is_whole_comes_before_the_failure_that_then_stays(void **state)
{
	struct kwhy_ahead *ahead;
	unsigned char *out = malloc(LENGTH);
	size_t at = 0, got = 0;

	(void)state;
	OK(kwhy_ahead_open(open_packed(1000), &ahead, &error));
	while (kwhy_ahead_read(ahead, out + at, LENGTH - at, &got, &error) == KWHY_OK)
		at += got;
	assert_true(at > LENGTH / 2 && at < LENGTH);
	assert_memory_equal(out, bytes, at);
	assert_non_null(strstr(error.text, "gzip data ends early at byte"));
	assert_int_equal(kwhy_ahead_read(ahead, out, 10, &got, &error), KWHY_E_INPUT);
	kwhy_ahead_close(ahead);
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_come_whole_in_pieces_of_any_size),
		cmocka_unit_test(what_is_packed_is_known),
		cmocka_unit_test(text_in_utf16_is_refused_with_its_encoding),
		cmocka_unit_test(reading_ahead_gives_the_same_bytes),
		cmocka_unit_test(reading_ahead_can_stop_anywhere),
		cmocka_unit_test(what_is_whole_comes_before_the_failure_that_then_stays),
	};

	return kwhy_test_main(tests, make_bytes, free_bytes);
}
