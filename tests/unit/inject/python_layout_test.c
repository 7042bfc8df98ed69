/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/lines/python_layout.h"

#include "cmocka_all.h"

#include <string.h>

static void versions_from_3_9_on_are_known(void **state)
{
	struct kwhy_python_layout layout;

	(void)state;
	assert_false(kwhy_python_layout_of("2.7.18 (default)", NULL, &layout));
	assert_false(kwhy_python_layout_of("3.8.18 (default)", NULL, &layout));
	assert_true(kwhy_python_layout_of("3.9.18 (main)", NULL, &layout));
	assert_true(kwhy_python_layout_of("3.10.13 (main)", NULL, &layout));
	assert_true(kwhy_python_layout_of("3.11.7 (main)", NULL, &layout));
	assert_int_equal(layout.code_bytes, 184);
	assert_true(kwhy_python_layout_of("3.12.1 (main)", NULL, &layout));
	assert_false(kwhy_python_layout_of("3.13.0 (main)", NULL, &layout));
	assert_false(kwhy_python_layout_of("4.1.0 (main)", NULL, &layout));
}

static void later_versions_state_where_things_lie(void **state)
{
	uint64_t words[64] = {0};
	struct kwhy_python_layout layout;

	(void)state;
	memcpy(words, "xdebugpy", 8);
	words[1] = 0x030d00f0;
	words[23] = 72;
	words[30] = 16;
	words[43] = 200;
	assert_true(kwhy_python_layout_of("3.13.0 (main)", words, &layout));
	assert_int_equal(layout.thread_frame, 72);
	assert_int_equal(layout.frame_code, 16);
	assert_int_equal(layout.code_bytes, 200);
	assert_false(kwhy_python_layout_of("3.14.0 (main)", words, &layout));
	words[1] = 0x030e00f0;
	assert_true(kwhy_python_layout_of("3.14.0 (main)", words, &layout));
	words[2] = 1; /* a Python without global interpreter lock, which kwhy does not support */
	assert_false(kwhy_python_layout_of("3.14.0t (main)", words, &layout));
}

/*
 * Tables of line numbers in the formats of CPython 3.9 (lnotab), 3.10 (linetable) and 3.11 (locations), for
 * code with "x = 1" in line 7 and "y = 2" in line 10.
 */
static void lines_are_read_from_each_kind_of_table(void **state)
{
	const unsigned char lnotab[] = {4, 3}, linetable[] = {4, 0, 4, 3}, none[] = {4, 0x80, 4, 3},
			    locations[] = {0x80 | 10 << 3 | 1, 0, 5, 0x80 | 13 << 3 | 1, 6},
			    back[] = {0x80 | 13 << 3 | 0, 3, 0x80 | 15 << 3 | 0, 0x80 | 11 << 3 | 0, 0, 1};

	(void)state;
	assert_int_equal(kwhy_python_line_of(KWHY_PYTHON_LNOTAB, 7, lnotab, sizeof(lnotab), 2), 7);
	assert_int_equal(kwhy_python_line_of(KWHY_PYTHON_LNOTAB, 7, lnotab, sizeof(lnotab), 4), 10);
	assert_int_equal(kwhy_python_line_of(KWHY_PYTHON_LINETABLE, 7, linetable, sizeof(linetable), 2), 7);
	assert_int_equal(kwhy_python_line_of(KWHY_PYTHON_LINETABLE, 7, linetable, sizeof(linetable), 4), 10);
	assert_int_equal(kwhy_python_line_of(KWHY_PYTHON_LINETABLE, 7, none, sizeof(none), 2), 0);
	assert_int_equal(kwhy_python_line_of(KWHY_PYTHON_LINETABLE, 7, none, sizeof(none), 4), 10);
	assert_int_equal(kwhy_python_line_of(KWHY_PYTHON_LOCATIONS, 7, locations, sizeof(locations), 2), 7);
	assert_int_equal(kwhy_python_line_of(KWHY_PYTHON_LOCATIONS, 7, locations, sizeof(locations), 4), 10);
	assert_int_equal(kwhy_python_line_of(KWHY_PYTHON_LOCATIONS, 7, back, sizeof(back), 0), 6);
	assert_int_equal(kwhy_python_line_of(KWHY_PYTHON_LOCATIONS, 7, back, sizeof(back), 2), 0);
	assert_int_equal(kwhy_python_line_of(KWHY_PYTHON_LOCATIONS, 7, back, sizeof(back), 4), 7);
	assert_int_equal(kwhy_python_line_of(KWHY_PYTHON_LOCATIONS, 7, back, sizeof(back), 400), 0);
	assert_int_equal(kwhy_python_line_of(KWHY_PYTHON_LOCATIONS, 7, back, 0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_from_3_9_on_are_known),
		cmocka_unit_test(later_versions_state_where_things_lie),
		cmocka_unit_test(lines_are_read_from_each_kind_of_table),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
