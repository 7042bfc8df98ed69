/* SPDX-License-Identifier: Apache-2.0 */
#include "csv_file.h"

#include <math.h>

static enum kwhy_status import_text(const char *text, struct kwhy_learnt_powers **out)
{
	enum kwhy_status status;
	char path[32];

	write_file(path, text, strlen(text));
	status = kwhy_import_powers(path, out, &error);
	unlink(path);
	return status;
}

#define FRONT "{\"schema\":\"kwhy.powers/1\",\"device\":\"NVIDIA H200\",\"powers\":["
#define WATTS "\"above_idle_w\":{\"value\":300,\"spread\":9,\"unit\":\"W\"}"

static void a_file_of_powers_holds_names_grids_and_watts(void **state)
{
	struct kwhy_learnt_powers *powers;

	(void)state;
	OK(import_text(FRONT "{\"name\":\"gemm\",\"blocks\":132,\"threads_per_block\":384," WATTS
			     ",\"launches\":7,\"time_ns\":700},"
			     "{\"name\":\"h2d\",\"blocks\":null,\"other\":[1]," WATTS "}],"
			     "\"context_idle_w\":{\"value\":125,\"unit\":\"W\"}}",
		&powers));
	assert_string_equal(powers->device_name, "NVIDIA H200");
	assert_true(powers->context_idle_w == 125);
	assert_int_equal(powers->count, 2);
	assert_string_equal(powers->items[0].name, "gemm");
	assert_int_equal(powers->items[0].grid.blocks, 132);
	assert_int_equal(powers->items[0].grid.threads, 384);
	assert_true(powers->items[0].above_idle_w == 300 && powers->items[0].sd_w == 9);
	assert_int_equal(powers->items[0].count, 7);
	assert_int_equal(powers->items[1].grid.blocks, KWHY_UNKNOWN_BLOCKS);
	assert_int_equal(powers->items[1].grid.threads, KWHY_NONE);
	kwhy_learnt_powers_free(powers);
}

static void what_is_wrong_is_refused_with_its_place(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{"[]", "holds no learnt powers"},
		{"{\"schema\":\"kwhy.powers/2\"}", "holds no learnt powers"},
		{"{\"schema\":\"kwhy.powers/1\",\"powers\":[]}", "device is missing"},
		{"{\"schema\":\"kwhy.powers/1\",\"device\":\"\",\"powers\":[]}", "device is missing"},
		{FRONT "]}", "not a list of 1 to 65,536"},
		{FRONT "7]}", "powers[0]: is not an object"},
		{FRONT "{" WATTS "}]}", "the name of a power"},
		{FRONT "{\"name\":\"a\"}]}", "powers[0]: above_idle_w has not the unit"},
		{FRONT "{\"name\":\"a\",\"above_idle_w\":{\"value\":300000,\"spread\":1,\"unit\":\"mW\"}}]}",
			"has not the unit \"W\""},
		{FRONT "{\"name\":\"a\",\"above_idle_w\":{\"value\":-3,\"spread\":1,\"unit\":\"W\"}}]}",
			"has no value between"},
		{FRONT "{\"name\":\"a\",\"above_idle_w\":{\"value\":3,\"unit\":\"W\"}}]}", "has no spread"},
		{FRONT "{\"name\":\"a\",\"blocks\":0.5," WATTS "}]}", "blocks is not a whole number"},
		{FRONT "{\"name\":\"a\",\"threads_per_block\":-1," WATTS "}]}",
			"threads_per_block is not a whole number"},
		{FRONT "{\"name\":\"a\"," WATTS "}],\"context_idle_w\":{\"value\":1,\"unit\":\"kW\"}}",
			"context_idle_w has no value"},
		{FRONT "{\"name\":\"a\",\"name\":\"b\"," WATTS "}]}", "line 1"},
		{FRONT, "line 1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_learnt_powers *powers = NULL;

		assert_int_equal(import_text(cases[i].text, &powers), KWHY_E_INPUT);
		assert_null(powers);
		if (!strstr(error.text, cases[i].words))
			fail_msg("\"%s\" does not say \"%s\"", error.text, cases[i].words);
	}
}

static void a_file_that_is_not_there_is_an_error_of_its_own(void **state)
{
	struct kwhy_learnt_powers *powers = NULL;

	(void)state;
	assert_int_equal(kwhy_import_powers("/nonexistent/x.powers.json", &powers, &error), KWHY_E_IO);
	assert_non_null(strstr(error.text, "cannot be opened"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_of_powers_holds_names_grids_and_watts),
		cmocka_unit_test(what_is_wrong_is_refused_with_its_place),
		cmocka_unit_test(a_file_that_is_not_there_is_an_error_of_its_own),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
