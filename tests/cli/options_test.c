/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the former names of options: they still work, warn in one line, and are absent from help. */
#include "cmocka_all.h"
#include "spawned_checks.h"

#include <string.h>

#define TINY KWHY_SOURCE_DIR "/tests/golden/tiny.csv"
#define PEAKS KWHY_SOURCE_DIR "/tests/golden/peaks.json"

static void a_former_name_is_read_as_the_name_of_now(void **state)
{
	struct spawned now = SPAWN("report", TINY, "--machine-profile", PEAKS, "--work", "flop_bf16=2e9");
	struct spawned former = SPAWN("report", TINY, "--profile", PEAKS, "--work", "flop_bf16=2e9");

	(void)state;
	assert_int_equal(now.exit, 0);
	assert_int_equal(former.exit, 0);
	assert_null(strstr(now.err.data, "--profile"));
	assert_non_null(strstr(former.err.data, "option --profile is now called --machine-profile"));
	assert_true(former.out.length > 1000);
	spawned_done(&now);
	spawned_done(&former);
}

static void a_former_name_takes_its_value_after_an_equals_sign(void **state)
{
	struct spawned former = SPAWN("report", TINY, "--profile=" PEAKS);

	(void)state;
	assert_int_equal(former.exit, 0);
	assert_non_null(strstr(former.err.data, "is now called --machine-profile"));
	spawned_done(&former);
}

static void help_and_completions_know_no_former_names(void **state)
{
	struct spawned all = SPAWN("help", "--all");
	struct spawned help = SPAWN("report", "--help");

	(void)state;
	assert_non_null(strstr(all.out.data, "--machine-profile"));
	assert_null(strstr(all.out.data, "--profile\t"));
	assert_null(strstr(all.out.data, "--replay\t"));
	assert_null(strstr(help.out.data, "--profile "));
	spawned_done(&all);
	spawned_done(&help);
}

static void a_name_that_another_command_had_is_unknown(void **state)
{
	(void)state;
	assert_fails(SPAWN("report", TINY, "--replay", "x"), 2, "--replay");
}

static void a_number_behind_an_optional_argument_is_no_file(void **state)
{
	(void)state;
	assert_fails(SPAWN("whatif", "--graph", "20", TINY), 2, "follows an equals sign: --graph=20");
}

static void a_name_of_no_range_is_no_name_of_steps(void **state)
{
	(void)state;
	assert_fails(SPAWN("report", TINY, "--steps", "nosuch"), 2, "--steps nosuch");
	assert_fails(SPAWN("whatif", "--plan", TINY, "--steps", "nosuch"), 2, "--steps nosuch");
}

static void the_least_gain_is_a_percentage_in_every_command(void **state)
{
	(void)state;
	assert_fails(SPAWN("report", TINY, "--min-gain", "500"), 2, "from 0 to 100");
	assert_fails(SPAWN("whatif", "--plan", TINY, "--min-gain", "500"), 2, "from 0 to 100");
	assert_fails(SPAWN("compare", TINY, TINY, "--min-gain", "500"), 2, "from 0 to 100");
	assert_fails(SPAWN("report", TINY, "--min-gain", "500ms"), 2, "takes a number");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_former_name_is_read_as_the_name_of_now),
		cmocka_unit_test(a_former_name_takes_its_value_after_an_equals_sign),
		cmocka_unit_test(help_and_completions_know_no_former_names),
		cmocka_unit_test(a_name_that_another_command_had_is_unknown),
		cmocka_unit_test(a_number_behind_an_optional_argument_is_no_file),
		cmocka_unit_test(a_name_of_no_range_is_no_name_of_steps),
		cmocka_unit_test(the_least_gain_is_a_percentage_in_every_command),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
