/* SPDX-License-Identifier: Apache-2.0 */
#include "csv_file.h"
#include "import/own_result.h"

#include <zlib.h>

static bool is_stat(const char *text)
{
	char path[32];
	bool result;

	write_file(path, text, strlen(text));
	result = kwhy_own_result_is(path, "stat");
	unlink(path);
	return result;
}

static void a_result_is_known_by_its_schema(void **state)
{
	(void)state;
	assert_true(is_stat("{\"schema\":\"kwhy.stat/1\"}"));
	assert_true(is_stat(" {\n\t\"schema\" : \"kwhy.stat/2\""));
	assert_false(is_stat("{\"schema\":\"kwhy.statistics/1\"}"));
	assert_false(is_stat("{\"schema\":\"kwhy.report/1\",\"command\":\"cat kwhy.stat/1\"}"));
	assert_false(is_stat("{\"traceEvents\":[{\"name\":\"kwhy.stat/1\"}]}"));
	assert_false(is_stat("{\"traceEvents\":[],\"of\":[\"kwhy.stat/1\"]}"));
	assert_false(is_stat("{\"schema\":\"kw\"}"));
	assert_false(is_stat("{\"schema\":"));
	assert_false(kwhy_own_result_is("/nonexistent/stat.json", "stat"));
}

static void a_compressed_result_is_read(void **state)
{
	static const char json[] = "{\"schema\":\"kwhy.stat/1\"}";
	struct kwhy_text text = {0};
	char path[32];
	gzFile file;

	(void)state;
	write_file(path, "", 0);
	file = gzopen(path, "wb");
	assert_int_equal(gzwrite(file, json, sizeof(json) - 1), sizeof(json) - 1);
	assert_int_equal(gzclose(file), Z_OK);
	assert_true(kwhy_own_result_is(path, "stat"));
	OK(kwhy_own_result_read(path, sizeof(json) - 1, &text, &error));
	assert_string_equal(text.data, json);
	kwhy_text_clear(&text);
	assert_int_equal(kwhy_own_result_read(path, sizeof(json) - 2, &text, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "is larger than the"));
	kwhy_text_done(&text);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_result_is_known_by_its_schema),
		cmocka_unit_test(a_compressed_result_is_read),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
