/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests what options of all commands have in common: a former name of an option still works, gives a warning
 * of one line, and is absent from the help; options that contradict each other are refused.
 */
#include "cmocka_all.h"
#include "spawned_checks.h"

#include <string.h>
#include <unistd.h>

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

/*
 * The output form by option (--json, --csv) must agree with the one that the extension of the output's name
 * stands for.
 */
static void an_option_and_the_name_of_the_output_do_not_say_different_forms(void **state)
{
	static const char *const commands[][8] = {{"report", TINY, "--json", "-o", "x.html"},
		{"report", TINY, "--brief", "--json", "-o", "x.html"},
		{"report", TINY, "--csv", "accounts", "-o", "x.json"}, {"doctor", "--json", "-o", "x.html"},
		{"compare", TINY, TINY, "--json", "-o", "x.html"},
		{"whatif", TINY, "--plan", "--json", "-o", "x.html"},
		{"replay", TINY, "--json", "-o", "x.txt"}, {"job", "--json", "-o", "x.csv"},
		{"job", "--csv", "-o", "x.txt"}, {"stat", "--csv", "-o", "x.json", "true"},
		{"calibrate", "--json", "-o", "x.txt"}, {"bench", "ops", "--json", "-o", "x.txt"},
		{"bench", "pairs", "--json", "-o", "x.csv"}, {"bench", "transfer", "--json", "-o", "x.csv"},
		{"llm", "--url", "http://localhost:1", "--json", "-o", "x.csv"}};

	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		assert_fails(spawn_run(&(struct spawn){.words = commands[i]}), 2, "say different forms");
	assert_fails(SPAWN("report", TINY, "--json", "-o", "x.json.gz"), 2, "leave .gz out of the name");
	assert_fails(SPAWN("job", "--json", "--csv"), 2, "are two forms");
	assert_fails(SPAWN("bench", "transfer", "--compat", "nvbandwidth", "-o", "x.json"), 2,
		"--compat writes text only");
	assert_fails(
		SPAWN("bench", "pairs", "--compat", "nccl-tests", "--json"), 2, "--compat writes text only");
	assert_int_not_equal(access("x.json", F_OK), 0);
}

static void the_name_of_an_export_fits_its_format(void **state)
{
	(void)state;
	assert_fails(SPAWN("export", TINY, "--to", "sqlite", "-o", "x.csv"), 2, "say different formats");
	assert_fails(SPAWN("export", TINY, "--to", "chrome", "-o", "x.powers.json"), 2, "different formats");
	assert_fails(SPAWN("export", TINY, "--to", "parquet", "-o", "x.parquet.gz"), 2, "leave .gz out");
	assert_fails(SPAWN("export", TINY, "-o", "x.sqlite.gz"), 2, "leave .gz out");
}

static void a_study_refuses_a_back_end_that_does_not_exist(void **state)
{
	(void)state;
	assert_fails(SPAWN("study", "transfers", "--backend", "foo"), 2, "takes cuda, hip or host");
	assert_int_not_equal(access("study-transfers", F_OK), 0);
}

/*
 * A file that cannot be read gives exit status 1, as bad input does; status 2 is only for a wrong command
 * line.
 */
static void a_missing_file_of_powers_is_bad_input_in_every_command(void **state)
{
	(void)state;
	assert_fails(SPAWN("report", TINY, "--powers", "nosuch"), 1, "nosuch");
	assert_fails(SPAWN("stat", "--powers", "nosuch", "true"), 1, "--powers nosuch cannot be read");
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
		cmocka_unit_test(an_option_and_the_name_of_the_output_do_not_say_different_forms),
		cmocka_unit_test(the_name_of_an_export_fits_its_format),
		cmocka_unit_test(a_study_refuses_a_back_end_that_does_not_exist),
		cmocka_unit_test(a_missing_file_of_powers_is_bad_input_in_every_command),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
