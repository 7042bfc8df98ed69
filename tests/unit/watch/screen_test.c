/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/screen.h"

#include "cmocka_all.h"

#include <string.h>

static void assert_written(const struct kwhy_screen *screen, const char *wanted)
{
	struct kwhy_text text = {0};

	kwhy_screen_write(screen, &text);
	assert_string_equal(text.data ? text.data : "", wanted);
	kwhy_text_done(&text);
}

static void text_is_cut_where_the_line_ends(void **state)
{
	struct kwhy_screen screen = {.columns = 6};

	(void)state;
	kwhy_screen_begin_line(&screen, KWHY_STYLE_PLAIN);
	assert_int_equal(kwhy_screen_put(&screen, 4, KWHY_STYLE_NAME, "abcd"), 8);
	kwhy_screen_put(&screen, 100, KWHY_STYLE_NAME, "x");
	kwhy_screen_put_left_of(&screen, 3, KWHY_STYLE_FAULT, "yz");
	assert_written(&screen, " yz ab\n");
	assert_int_equal(kwhy_screen_cell(&screen, 0, 1).style, KWHY_STYLE_FAULT);
	kwhy_screen_done(&screen);
}

static void a_line_of_blanks_is_written_empty(void **state)
{
	struct kwhy_screen screen = {.columns = 80};

	(void)state;
	kwhy_screen_begin_line(&screen, KWHY_STYLE_TITLE);
	kwhy_screen_begin_line(&screen, KWHY_STYLE_PLAIN);
	assert_written(&screen, "\n\n");
	kwhy_screen_clear(&screen);
	assert_written(&screen, "");
	kwhy_screen_done(&screen);
}

static void utf8_takes_a_cell_a_letter_and_broken_bytes_show(void **state)
{
	struct kwhy_screen screen = {.columns = 20};

	(void)state;
	kwhy_screen_begin_line(&screen, KWHY_STYLE_PLAIN);
	kwhy_screen_put(
		&screen, 0, KWHY_STYLE_PLAIN, "\u00b5\u2588\U0001F50B|\xC3(\xFF\xC0\x80\x1B[2J\xE2\x96");
	assert_written(&screen, "\u00b5\u2588\U0001F50B|\uFFFD(\uFFFD\uFFFD\uFFFD[2J\uFFFD\n");
	kwhy_screen_done(&screen);
}

static void ascii_alone_where_that_is_wanted(void **state)
{
	struct kwhy_screen screen = {.columns = 20, .ascii = true};

	(void)state;
	kwhy_screen_begin_line(&screen, KWHY_STYLE_PLAIN);
	kwhy_screen_put(&screen, 0, KWHY_STYLE_PLAIN, "3 \u00b5s \u2588 ok");
	assert_written(&screen, "3 us ? ok\n");
	kwhy_screen_done(&screen);
}

static void many_lines_fit(void **state)
{
	struct kwhy_screen screen = {.columns = 3};

	(void)state;
	for (int i = 0; i < 1000; i++) {
		kwhy_screen_begin_line(&screen, KWHY_STYLE_PLAIN);
		kwhy_screen_put_code(&screen, 2, KWHY_STYLE_PLAIN, '0' + (uint32_t)i % 10);
	}
	assert_int_equal(screen.lines, 1000);
	assert_int_equal(kwhy_screen_cell(&screen, 567, 2).code, '7');
	kwhy_screen_done(&screen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_cut_where_the_line_ends),
		cmocka_unit_test(a_line_of_blanks_is_written_empty),
		cmocka_unit_test(utf8_takes_a_cell_a_letter_and_broken_bytes_show),
		cmocka_unit_test(ascii_alone_where_that_is_wanted),
		cmocka_unit_test(many_lines_fit),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
