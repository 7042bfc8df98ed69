/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv_cell.h"
#include "base/csv_line.h"
#include "cmocka_all.h"

#include <math.h>
#include <string.h>

static void a_text_is_quoted_only_where_it_must_be(void **state)
{
	struct kwhy_text out = {0};

	(void)state;
	kwhy_csv_add_text(&out, "gemm<float>|");
	kwhy_csv_add_text(&out, "a,b|");
	kwhy_csv_add_text(&out, "say \"x\"|");
	kwhy_csv_add_text(&out, "two\nlines|");
	kwhy_csv_add_text(&out, NULL);
	assert_string_equal(out.data, "gemm<float>|\"a,b|\"\"say \"\"x\"\"|\"\"two\nlines|\"");
	kwhy_text_done(&out);
}

static void a_spreadsheet_is_shown_no_formula(void **state)
{
	struct kwhy_text out = {0};

	(void)state;
	kwhy_csv_add_shown_text(&out, "=1+\"2\"");
	kwhy_csv_add_shown_text(&out, "|1=1|");
	kwhy_csv_add_shown_text(&out, "");
	kwhy_csv_add_shown_text(&out, "-a,b");
	assert_string_equal(out.data, "\"'=1+\"\"2\"\"\"|1=1|\"'-a,b\"");
	kwhy_text_done(&out);
}

static void a_number_that_is_unknown_is_an_empty_cell(void **state)
{
	struct kwhy_text out = {0};

	(void)state;
	kwhy_csv_add_real(&out, 0.1);
	kwhy_csv_add_real(&out, NAN);
	kwhy_csv_add_real(&out, INFINITY);
	kwhy_csv_add_real(&out, -123456789);
	assert_string_equal(out.data, ",0.1,,,-123456789");
	kwhy_text_done(&out);
}

static void what_is_written_is_read_back(void **state)
{
	static const char *const texts[] = {"", "plain", "a,\"b\",c", "\"", ",,"};
	struct kwhy_span fields[KWHY_CSV_LINE_FIELDS];
	struct kwhy_text out = {0};
	size_t count;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		kwhy_text_add(&out, i ? "," : "");
		kwhy_csv_add_text(&out, texts[i]);
	}
	assert_null(kwhy_csv_line_split(out.data, out.length, fields, &count));
	assert_int_equal(count, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(fields[i].length, strlen(texts[i]));
		assert_memory_equal(fields[i].bytes, texts[i], fields[i].length);
	}
	kwhy_text_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_is_quoted_only_where_it_must_be),
		cmocka_unit_test(a_spreadsheet_is_shown_no_formula),
		cmocka_unit_test(a_number_that_is_unknown_is_an_empty_cell),
		cmocka_unit_test(what_is_written_is_read_back),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
