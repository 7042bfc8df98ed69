/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "cmocka_all.h"
#include "launch/lines.h"

#include <string.h>

static struct kwhy_error error;
static struct kwhy_text seen;
static int64_t last_ns;

/* Observer: appends the line and a "|" to `seen`, and keeps its time in `last_ns`. */
static void note(void *context, int64_t time_mono_ns, const char *line, size_t length)
{
	(void)context;
	last_ns = time_mono_ns;
	kwhy_text_add_bytes(&seen, line, length);
	kwhy_text_add(&seen, "|");
}

static int begin(void **state)
{
	static struct kwhy_lines lines;

	kwhy_text_done(&seen);
	*state = &lines;
	return kwhy_lines_init(&lines, note, NULL, &error) != KWHY_OK;
}

static int end(void **state)
{
	kwhy_lines_done(*state);
	kwhy_text_done(&seen);
	return 0;
}

static void a_line_may_come_in_any_pieces(void **state)
{
	const char text[] = "one\ntwo three\r\nfour\rlast";

	for (size_t piece = 1; piece < sizeof(text); piece++) {
		kwhy_text_clear(&seen);
		for (size_t at = 0; at < sizeof(text) - 1; at += piece) {
			size_t left = sizeof(text) - 1 - at;

			kwhy_lines_add(*state, (int64_t)at, text + at, left < piece ? left : piece);
		}
		kwhy_lines_finish(*state);
		assert_string_equal(seen.data, "one|two three|four|last|");
	}
}

static void bytes_of_any_kind_are_kept(void **state)
{
	kwhy_lines_add(*state, 1, "a\0b\xff\n", 5);
	assert_int_equal(seen.length, 5);
	assert_memory_equal(seen.data, "a\0b\xff|", 5);
}

static void a_line_has_the_time_of_its_last_piece(void **state)
{
	kwhy_lines_add(*state, 10, "half", 4);
	kwhy_lines_add(*state, 20, " whole\n", 7);
	assert_int_equal(last_ns, 20);
}

static void endless_lines_are_taken_in_pieces_and_counted(void **state)
{
	struct kwhy_lines *lines = *state;
	char zeros[1000];

	memset(zeros, '0', sizeof(zeros));
	for (int i = 0; i < 200; i++)
		kwhy_lines_add(lines, i, zeros, sizeof(zeros));
	kwhy_lines_finish(lines);
	assert_int_equal(lines->cut, 200000 / KWHY_LINE_BYTES);
	assert_int_equal(seen.length, 200000 + 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_line_may_come_in_any_pieces, begin, end),
		cmocka_unit_test_setup_teardown(bytes_of_any_kind_are_kept, begin, end),
		cmocka_unit_test_setup_teardown(a_line_has_the_time_of_its_last_piece, begin, end),
		cmocka_unit_test_setup_teardown(endless_lines_are_taken_in_pieces_and_counted, begin, end),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
