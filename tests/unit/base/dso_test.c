/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dso.h"
#include "cmocka_all.h"

#include <string.h>

struct table {
	double (*cos)(double x);
	double (*no_such_call)(double x);
};

static struct kwhy_dso_library library(const char *const *sonames, struct kwhy_dso_symbol symbols[2])
{
	symbols[0] = (struct kwhy_dso_symbol){"cos", offsetof(struct table, cos), KWHY_DSO_REQUIRED};
	symbols[1] = (struct kwhy_dso_symbol){
		"no_such_call", offsetof(struct table, no_such_call), KWHY_DSO_OPTIONAL};
	return (struct kwhy_dso_library){
		.title = "the library of the test",
		.sonames = sonames,
		.symbols = symbols,
		.symbol_count = 2,
		.table_bytes = sizeof(struct table),
	};
}

static void the_first_soname_that_loads_fills_the_table_and_an_absent_optional_call_is_null(void **state)
{
	static const char *const sonames[] = {"libkwhy-no-such.so.1", "libm.so.6", NULL};
	struct kwhy_dso_symbol symbols[2];
	struct kwhy_dso_library m = library(sonames, symbols);
	struct table table = {.no_such_call = (double (*)(double))1};
	struct kwhy_error error;
	void *handle = NULL;

	(void)state;
	assert_int_equal(kwhy_dso_open(&m, &table, &handle, &error), KWHY_OK);
	assert_non_null(handle);
	assert_true(table.cos(0) == 1);
	assert_null(table.no_such_call);
	kwhy_dso_close(handle);
}

static void a_library_that_is_not_here_is_named_with_the_cure(void **state)
{
	static const char *const sonames[] = {"libkwhy-no-such.so.1", NULL};
	struct kwhy_dso_symbol symbols[2];
	struct kwhy_dso_library none = library(sonames, symbols);
	struct table table;
	struct kwhy_error error;
	void *handle = NULL;

	(void)state;
	assert_int_equal(kwhy_dso_open(&none, &table, &handle, &error), KWHY_E_UNSUPPORTED);
	assert_null(handle);
	assert_non_null(strstr(error.text, "the library of the test is not here (libkwhy-no-such.so.1"));
	assert_non_null(strstr(error.text, "LD_LIBRARY_PATH"));
	kwhy_dso_close(handle);
}

static void hardware_without_its_library_has_a_cure_of_its_own(void **state)
{
	static const char *const sonames[] = {"libkwhy-no-such.so.1", NULL};
	struct kwhy_dso_symbol symbols[2];
	struct kwhy_dso_library none = library(sonames, symbols);
	struct table table;
	struct kwhy_error error;
	void *handle = NULL;

	(void)state;
	none.device = "/dev/null";
	none.device_cure = "start the container with it";
	assert_int_equal(kwhy_dso_open(&none, &table, &handle, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "; start the container with it"));
	none.device = "/dev/no-such-device";
	assert_int_equal(kwhy_dso_open(&none, &table, &handle, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "LD_LIBRARY_PATH"));
}

static void a_missing_required_call_is_named_and_leaves_the_table_as_it_was(void **state)
{
	static const char *const sonames[] = {"libm.so.6", NULL};
	struct kwhy_dso_symbol symbols[2];
	struct kwhy_dso_library m = library(sonames, symbols);
	struct table table = {0};
	struct kwhy_error error;
	void *handle = NULL;

	(void)state;
	symbols[1].need = KWHY_DSO_REQUIRED;
	assert_int_equal(kwhy_dso_open(&m, &table, &handle, &error), KWHY_E_UNSUPPORTED);
	assert_null(handle);
	assert_null(table.cos);
	assert_non_null(strstr(error.text, "has no no_such_call"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hardware_without_its_library_has_a_cure_of_its_own),
		cmocka_unit_test(
			the_first_soname_that_loads_fills_the_table_and_an_absent_optional_call_is_null),
		cmocka_unit_test(a_library_that_is_not_here_is_named_with_the_cure),
		cmocka_unit_test(a_missing_required_call_is_named_and_leaves_the_table_as_it_was),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
