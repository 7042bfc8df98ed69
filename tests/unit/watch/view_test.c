/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/view.h"

#include "../live/made_snapshot.h"
#include "cmocka_all.h"

#include <math.h>
#include <string.h>

static void draw_and_compare(size_t columns, bool ascii, bool whole, const char *name)
{
	struct kwhy_view view = {.processes_most = 3, .whole = whole};
	struct kwhy_screen screen = {.columns = columns, .ascii = ascii};
	struct kwhy_text text = {0};

	kwhy_view_draw(made_snapshot(), &view, &screen);
	kwhy_screen_write(&screen, &text);
	assert_false(text.failed);
	assert_same_as_golden(name, text.data);
	kwhy_text_done(&text);
	kwhy_screen_done(&screen);
}

static void eighty_columns_are_as_before(void **state)
{
	(void)state;
	draw_and_compare(80, false, true, "watch-80.txt.golden");
}

static void a_hundred_and_twenty_columns_are_as_before(void **state)
{
	(void)state;
	draw_and_compare(120, false, false, "watch-120.txt.golden");
}

static void ascii_alone_is_as_before(void **state)
{
	(void)state;
	draw_and_compare(80, true, false, "watch-ascii.txt.golden");
}

static void nothing_known_is_shown_as_not_available(void **state)
{
	struct kwhy_view view = {.processes_most = 3};
	struct kwhy_screen screen = {.columns = 80};
	struct kwhy_text text = {0};

	(void)state;
	kwhy_view_draw(made_snapshot_bare(), &view, &screen);
	kwhy_screen_write(&screen, &text);
	assert_non_null(strstr(text.data, "1 GPU  n/a now, n/a in"));
	assert_non_null(strstr(text.data, "power: not available"));
	assert_null(strstr(text.data, "nan"));
	kwhy_text_done(&text);
	kwhy_screen_done(&screen);
}

static void four_busy_cards_fit_a_terminal_of_24_lines(void **state)
{
	struct kwhy_view view = {.processes_most = 3};
	struct kwhy_screen screen = {.columns = 80};
	struct kwhy_live_snapshot snapshot = *made_snapshot();
	struct kwhy_live_device devices[4];

	(void)state;
	for (size_t d = 0; d < 4; d++)
		devices[d] = snapshot.devices[0];
	snapshot.devices = devices;
	kwhy_view_draw(&snapshot, &view, &screen);
	assert_in_range(screen.lines, 13, 24);
	kwhy_screen_done(&screen);
}

static void sixty_columns_are_enough_to_draw(void **state)
{
	struct kwhy_view view = {.processes_most = 100, .whole = true};
	struct kwhy_screen screen = {.columns = 60};

	(void)state;
	kwhy_view_draw(made_snapshot(), &view, &screen);
	assert_false(screen.failed);
	kwhy_screen_done(&screen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eighty_columns_are_as_before),
		cmocka_unit_test(a_hundred_and_twenty_columns_are_as_before),
		cmocka_unit_test(ascii_alone_is_as_before),
		cmocka_unit_test(nothing_known_is_shown_as_not_available),
		cmocka_unit_test(four_busy_cards_fit_a_terminal_of_24_lines),
		cmocka_unit_test(sixty_columns_are_enough_to_draw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
