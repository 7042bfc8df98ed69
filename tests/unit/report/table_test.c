/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "report/shown_name.h"
#include "report/table.h"

#include <math.h>
#include <string.h>

static const struct kwhy_table_column columns[] = {
	{"", KWHY_COLUMN_BAR},
	{"what", KWHY_COLUMN_NAME},
	{"time", KWHY_COLUMN_RIGHT},
};

static void columns_are_aligned_and_a_sum_stands_below_a_line(void **state)
{
	struct kwhy_text_style style = {.columns = 80};
	struct kwhy_text out = {0};
	struct kwhy_table table;

	(void)state;
	kwhy_table_init(&table, columns, 3);
	kwhy_table_bar(&table, 0.5, 4);
	kwhy_table_cell(&table, "first");
	kwhy_table_time(&table, 1500);
	kwhy_table_rule(&table);
	kwhy_table_bar(&table, 1, 4);
	kwhy_table_cell(&table, "sum");
	kwhy_table_time(&table, 1000000);
	kwhy_table_write(&table, &style, &out);
	assert_string_equal(out.data,
		"        what      time\n"
		"  \u2588\u2588    first  1.50 \u00B5s\n"
		"  --------------------\n"
		"  \u2588\u2588\u2588\u2588  sum    1.00 ms\n");
	kwhy_text_done(&out);
}

static void an_empty_table_writes_nothing(void **state)
{
	struct kwhy_text_style style = {.columns = 80};
	struct kwhy_text out = {0};
	struct kwhy_table table;

	(void)state;
	kwhy_table_init(&table, columns, 3);
	kwhy_table_write(&table, &style, &out);
	assert_int_equal(out.length, 0);
	assert_false(out.failed);
	kwhy_text_done(&out);
}

static void there_may_be_as_many_columns_as_a_matrix_of_sixteen_gpus_has(void **state)
{
	struct kwhy_table_column many[20];
	struct kwhy_text_style style = {.columns = 80};
	struct kwhy_text out = {0};
	struct kwhy_table table;

	(void)state;
	for (size_t i = 0; i < 20; i++)
		many[i] = (struct kwhy_table_column){i == 19 ? "last" : "x", KWHY_COLUMN_RIGHT};
	kwhy_table_init(&table, many, 20);
	for (size_t i = 0; i < 20; i++)
		kwhy_table_count(&table, i);
	kwhy_table_write(&table, &style, &out);
	assert_non_null(strstr(out.data, "  last\n"));
	assert_non_null(strstr(out.data, "    19\n"));
	kwhy_text_done(&out);
}

static void what_is_unknown_is_never_a_zero(void **state)
{
	static const struct kwhy_table_column unknown[] = {{"", KWHY_COLUMN_LEFT}, {"", KWHY_COLUMN_LEFT},
		{"", KWHY_COLUMN_LEFT}, {"", KWHY_COLUMN_LEFT}, {"", KWHY_COLUMN_LEFT},
		{"", KWHY_COLUMN_LEFT}};
	struct kwhy_text_style style = {.columns = 80};
	struct kwhy_text out = {0};
	struct kwhy_table table;

	(void)state;
	kwhy_table_init(&table, unknown, 6);
	kwhy_table_time(&table, KWHY_UNKNOWN_NS);
	kwhy_table_energy(&table, KWHY_UNKNOWN_NJ);
	kwhy_table_bytes(&table, KWHY_UNKNOWN_BYTES);
	kwhy_table_percent(&table, NAN);
	kwhy_table_interval(&table, KWHY_UNKNOWN_NJ, 5);
	kwhy_table_real(&table, INFINITY, "W");
	kwhy_table_write(&table, &style, &out);
	assert_string_equal(out.data, "  n/a  n/a  n/a  n/a  n/a  n/a\n");
	kwhy_text_done(&out);
}

static void what_a_meter_read_has_no_width(void **state)
{
	static const struct kwhy_table_column spreads[] = {{"", KWHY_COLUMN_LEFT}, {"", KWHY_COLUMN_LEFT}};
	struct kwhy_text_style style = {.columns = 80};
	struct kwhy_text out = {0};
	struct kwhy_table table;

	(void)state;
	kwhy_table_init(&table, spreads, 2);
	kwhy_table_interval(&table, 0, 4000000000);
	kwhy_table_interval(&table, 5, 5);
	kwhy_table_write(&table, &style, &out);
	assert_string_equal(out.data, "  \u00B12.0 J\n");
	kwhy_text_done(&out);
}

static void the_name_gives_way_so_that_a_row_fits_the_terminal(void **state)
{
	struct kwhy_text_style style = {.columns = 40};
	struct kwhy_text out = {0};
	struct kwhy_table table;

	(void)state;
	kwhy_table_init(&table, columns, 3);
	kwhy_table_bar(&table, 0.1, 4);
	kwhy_table_kernel(&table, "void a_kernel_with_quite_a_long_name<and, some, arguments>(int, float*)");
	kwhy_table_time(&table, 999);
	kwhy_table_write(&table, &style, &out);
	for (char *line = strtok(out.data, "\n"); line; line = strtok(NULL, "\n"))
		assert_in_range(kwhy_shown_columns(line), 1, 40);
	kwhy_text_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_aligned_and_a_sum_stands_below_a_line),
		cmocka_unit_test(an_empty_table_writes_nothing),
		cmocka_unit_test(there_may_be_as_many_columns_as_a_matrix_of_sixteen_gpus_has),
		cmocka_unit_test(what_is_unknown_is_never_a_zero),
		cmocka_unit_test(what_a_meter_read_has_no_width),
		cmocka_unit_test(the_name_gives_way_so_that_a_row_fits_the_terminal),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
