/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/view.h"

#include "../live/made_snapshot.h"
#include "cmocka_all.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static void draw_and_compare(size_t columns, bool ascii, bool whole, const char *name)
{
	struct kwhy_view view = {.processes_most = 3, .more_lines = whole ? SIZE_MAX : 0};
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

static void forty_columns_are_as_before(void **state)
{
	(void)state;
	draw_and_compare(40, false, false, "watch-40.txt.golden");
}

static void forty_columns_by_ten_lines_show_power_limit_energy_and_loss(void **state)
{
	static const char *const wanted[] = {"GPU 0  358 W of 700 W  1.23 MJ",
		"GPU 1  700 W of 700 W  98.8 kJ", "held by power cap, software thermal\n",
		"GPU 3  lost: answers no more  12.5 J", " 3 GPUs  1058 W now, 1.33 MJ in 1:02:03\n"};
	struct kwhy_view view = {.processes_most = 3};
	struct kwhy_screen screen = {.columns = 40};
	struct kwhy_text text = {0};

	(void)state;
	kwhy_view_draw(made_snapshot(), &view, &screen);
	screen.lines = 10;
	kwhy_screen_write(&screen, &text);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!strstr(text.data, wanted[i]))
			fail_msg("no '%s' in:\n%s", wanted[i], text.data);
	kwhy_text_done(&text);
	kwhy_screen_done(&screen);
}

static void sentences_take_the_lines_that_are_free_and_no_more(void **state)
{
	static const struct kwhy_sensor_absence absences[] = {
		{.backend = "rapl",
			.text = "eleven words of which no two fit a line of this terminal side by side"},
		{.backend = "nvml", .text = "short one"},
		{.backend = "rocm", .text = "another that takes two lines of thirty-two columns"}};
	struct kwhy_live_snapshot snapshot = *made_snapshot_bare();
	struct kwhy_screen screen = {.columns = 32};
	struct kwhy_view view = {0};
	size_t cut_lines;

	(void)state;
	snapshot.absences = absences;
	snapshot.absence_count = 3;
	kwhy_view_draw(&snapshot, &view, &screen);
	cut_lines = screen.lines;
	for (view.more_lines = 0; view.more_lines < 6; view.more_lines++) {
		static const size_t taken[] = {0, 1, 2, 3, 3, 3};

		kwhy_screen_clear(&screen);
		kwhy_view_draw(&snapshot, &view, &screen);
		assert_int_equal(screen.lines, cut_lines + taken[view.more_lines]);
	}
	kwhy_screen_done(&screen);
}

static void the_fewest_columns_are_enough_to_draw(void **state)
{
	struct kwhy_view view = {.processes_most = 100, .more_lines = SIZE_MAX};
	struct kwhy_screen screen = {.columns = KWHY_VIEW_COLUMNS_MIN};

	(void)state;
	kwhy_view_draw(made_snapshot(), &view, &screen);
	assert_false(screen.failed);
	kwhy_screen_done(&screen);
}

static void a_gpu_that_was_divided_anew_says_so(void **state)
{
	const struct kwhy_live_metered metered = {.low_w = NAN, .mean_w = 300, .energy_j = 1};
	const struct kwhy_live_device devices[] = {
		{.name = "whole", .mig_index = -1, .metered = &metered, .division = KWHY_DIVISION_OTHER},
		{.name = "part", .mig_index = 1, .lost = true}};
	const struct kwhy_live_snapshot snapshot = {.devices = devices, .device_count = 2};
	struct kwhy_view view = {.processes_most = 100, .more_lines = SIZE_MAX};
	struct kwhy_screen screen = {.columns = 80};
	struct kwhy_text text = {0};

	(void)state;
	kwhy_view_draw(&snapshot, &view, &screen);
	kwhy_screen_write(&screen, &text);
	assert_non_null(strstr(text.data, "divided anew (MIG): restart"));
	assert_non_null(strstr(text.data, "gone: divided anew (MIG)"));
	kwhy_text_done(&text);
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
		cmocka_unit_test(forty_columns_are_as_before),
		cmocka_unit_test(forty_columns_by_ten_lines_show_power_limit_energy_and_loss),
		cmocka_unit_test(sentences_take_the_lines_that_are_free_and_no_more),
		cmocka_unit_test(the_fewest_columns_are_enough_to_draw),
		cmocka_unit_test(a_gpu_that_was_divided_anew_says_so),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
